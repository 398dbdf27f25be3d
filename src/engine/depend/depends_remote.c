/* depends_remote.c - jobs that wait for jobs of other partitions.
 *
 * How a job stands is decided by its owner and by nobody else, so whoever waits for one elsewhere
 * never goes by a read: it is blocked, and a row in the inbox asks the upstream's owner for word of
 * the end (INBOX_WAIT). That one makes an edge of it whose execution is elsewhere (edge.waiter),
 * and keeps it as a waiter; it asks the store how the upstream stands as it does for edges of its
 * own, and says so now or when it ends (INBOX_OVER). The waiter goes in the commit that sends the
 * word, and the word in the commit that acts upon it. So whoever dies in between, one of three rows
 * is there, and nothing is told twice.
 *
 * An edge that follows from a rule is only in memory. A server that starts asks again, which takes
 * the place of what was asked before; a word that is about another slot than the execution's is
 * passed over.
 *
 *   INBOX_WAIT   about: upstream   from: execution  value: its slot, 0: the job counts  number:
 *   type name: the dependant's job
 *   INBOX_OVER   about: execution  from: upstream   value: the same  number: job state, and that of
 *   the slot times STATES  name: the slot's execution
 *   INBOX_UNWAIT about: upstream   from: execution */
#include "engine/depend/depends_remote.h"
#include "base/plant.h"
#include "engine/core/mail.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/depend/depends.h"

enum { STATES = 256 };

static struct str name_id(struct engine *e, const char *prefix, uint64_t id)
{
    char text[ID_TEXT_MAX];
    return arena_str(e->turn.arena, id_format(text, prefix, id));
}

static uint64_t read_id(const char *prefix, struct str text)
{
    uint64_t id = 0;
    struct err err;
    return id_parse(text, prefix, &id, &err) == RC_OK ? id : 0;
}

/* Of a plain dependency the whole job counts, whatever its schedule has become since. */
static int64_t asked_slot_ms(const struct edge *edge)
{
    return edge->rule == NULL ? 0 : edge->exec->v.slot_ms;
}

void remote_wait(struct engine *e, const struct edge *edge)
{
    struct inbox_rec *rec = mail_send(e, INBOX_WAIT, id_bucket(edge->upstream));
    rec->about = edge->upstream;
    rec->from = edge->exec->id;
    rec->value = asked_slot_ms(edge);
    rec->number = edge->type;
    rec->name = name_id(e, ID_JOB, edge->dependant);
}

void remote_unwait(struct engine *e, const struct edge *edge)
{
    struct inbox_rec *rec = mail_send(e, INBOX_UNWAIT, id_bucket(edge->upstream));
    rec->about = edge->upstream;
    rec->from = edge->exec->id;
}

void remote_over(struct engine *e, const struct edge *edge, const struct ended *ended)
{
    if (PLANTED(remote_signal_lost))
        return;
    struct inbox_rec *rec = mail_send(e, INBOX_OVER, id_bucket(edge->waiter));
    rec->about = edge->waiter;
    rec->from = edge->upstream;
    rec->value = edge->v.slot_ms;
    rec->number = (int64_t)ended->state + (int64_t)ended->slot * STATES;
    if (ended->slot != EXEC_NONE)
        rec->name = name_id(e, ID_EXEC, ended->id);
}

/* ---- what others say */

void heard_wait(struct engine *e, const struct inbox_rec *rec)
{
    struct waiter_rec waiter = {
        .upstream = rec->about,
        .exec_id = rec->from,
        .dependant = read_id(ID_JOB, rec->name),
        .type = (enum dependency_type)rec->number,
        .slot_ms = rec->value,
    };
    if (rec->number < DEPENDS_SUCCESS || rec->number >= DEPENDS_TYPES || waiter.exec_id == 0 ||
        waiter.dependant == 0)
        return; /* of another version, or damaged: there is nobody to answer */
    struct edge *edge = waiter_find(e, waiter.upstream, waiter.exec_id);
    if (edge == NULL) {
        touch_new(touch_edge(e, waiter_new(e, &waiter)), false);
        return;
    }
    /* Asked again. When that is for another slot, the one before has ended for it. */
    touch_edge(e, edge)->durable = true;
    edge_set(e, edge,
             &(struct edge_values){
                 .state = DEPENDENCY_WAITING, .asking = true, .slot_ms = waiter.slot_ms});
}

void heard_unwait(struct engine *e, const struct inbox_rec *rec)
{
    struct edge *edge = waiter_find(e, rec->about, rec->from);
    if (edge != NULL)
        edge_change(e, edge, (struct edge_values){.state = DEPENDENCY_MOOT});
}

static struct edge *find_waiting(const struct exec *x, const struct inbox_rec *rec)
{
    LIST_EACH(&x->job->edges, node)
    {
        struct edge *edge = CONTAINER_OF(node, struct edge, sibling);
        if (edge->exec == x && edge->upstream == rec->from && edge->v.state == DEPENDENCY_WAITING &&
            !edge->v.asking && asked_slot_ms(edge) == rec->value)
            return edge;
    }
    return NULL;
}

void heard_over(struct engine *e, const struct inbox_rec *rec)
{
    const struct exec *x = map_get(&e->execs, rec->about); /* blocked executions are in memory */
    struct edge *edge = x == NULL ? NULL : find_waiting(x, rec);
    int64_t state = rec->number % STATES;
    int64_t slot = rec->number / STATES;
    if (edge == NULL || state <= JOB_NONE || state >= JOB_STATES || slot < 0 || slot >= EXEC_STATES)
        return; /* it is over, or waits for something else by now */
    struct ended ended = {
        .id = rec->from, .state = (enum job_state)state, .slot = (enum exec_state)slot};
    if (slot != EXEC_NONE)
        ended.id = read_id(ID_EXEC, rec->name);
    depends_settle(e, edge, &ended);
}

void engine_load_waiter(struct engine *e, const struct waiter_rec *rec)
{
    if (waiter_find(e, rec->upstream, rec->exec_id) == NULL && !PLANTED(dependency_forgotten))
        waiter_new(e, rec); /* the first turn asks how its upstream stands */
}
