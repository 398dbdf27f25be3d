/* depends.c - jobs that wait for other jobs.
 *
 * Each wait is an *edge*, owned by the dependant. While it waits it stands with the id of its
 * upstream, whether that job is in memory or not; what waits is always in memory, so the end of an
 * upstream finds all its edges by one look, and nothing is ever searched. An edge that is settled
 * leaves memory with the commit; the store keeps it for people to see.
 *
 * An upstream that ends settles its edges in the same turn. A dependant whose last edge is met goes
 * on; one that can never go on is skipped, which ends it and settles its own edges in turn: by a
 * list of work, since a chain may be longer than a stack is deep. */
#include "base/mem.h"
#include "engine/internal.h"

#include <assert.h>
#include <stdlib.h>

/* ---- edges and their places */

static void edge_place(struct engine *e, struct edge *edge)
{
    if (edge->v.state != DEPENDENCY_WAITING)
        return;
    struct upstream *up = map_get(&e->upstreams, edge->upstream);
    if (up == NULL) {
        up = MEM_NEW(struct upstream);
        map_put(&e->upstreams, edge->upstream, up);
    }
    heap_push(&up->edges, &edge->place, edge->job->id, 0);
    edge->job->waits_for++;
}

static void edge_unplace(struct engine *e, struct edge *edge)
{
    if (!heap_holds(&edge->place))
        return;
    struct upstream *up = map_get(&e->upstreams, edge->upstream);
    heap_remove(&up->edges, &edge->place);
    edge->job->waits_for--;
    if (heap_min(&up->edges) != NULL)
        return;
    map_remove(&e->upstreams, edge->upstream);
    upstream_free(up);
}

void upstream_free(struct upstream *up)
{
    heap_free(&up->edges);
    free(up);
}

void edge_set(struct engine *e, struct edge *edge, const struct edge_values *to)
{
    edge_unplace(e, edge);
    edge->v = *to;
    edge_place(e, edge);
}

static struct edge *edge_new(struct engine *e, struct job *job, const struct dependency_rec *rec)
{
    struct edge *edge = MEM_NEW(struct edge);
    edge->job = job;
    edge->upstream = rec->upstream;
    edge->type = rec->type;
    edge->v.state = rec->state;
    list_push_back(&job->edges, &edge->sibling);
    edge_place(e, edge);
    e->edge_count++;
    return edge;
}

void edge_free(struct engine *e, struct edge *edge)
{
    edge_unplace(e, edge);
    list_remove(&edge->sibling);
    free(edge);
    e->edge_count--;
}

struct dependency_rec edge_record(const struct edge *edge)
{
    return (struct dependency_rec){
        .upstream = edge->upstream,
        .dependant = edge->job->id,
        .type = edge->type,
        .state = edge->v.state,
    };
}

static void change(struct engine *e, struct edge *edge, enum dependency_state state)
{
    touch_edge(e, edge)->durable = true;
    edge_set(e, edge, &(struct edge_values){.state = state});
}

/* ---- what follows from an end */

static struct exec *find_blocked(const struct job *job)
{
    LIST_EACH(&job->execs, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, sibling);
        if (x->v.state == EXEC_BLOCKED)
            return x;
    }
    return NULL;
}

static struct str name_job(struct engine *e, const char *before, uint64_t id, const char *after)
{
    char text[ID_TEXT_MAX];
    id_format(text, ID_JOB, id);
    return arena_printf(e->arena, "%s%s%s", before, text, after);
}

/* Nothing is left that it waits for but, perhaps, its time. */
static void go_on(struct engine *e, struct exec *x, struct str reason)
{
    bool now = x->v.slot_ms <= e->now_ms;
    exec_move(e, x,
              &(struct move){.event = now ? EV_DUE : EV_PLAN,
                             .actor = SERVER,
                             .reason = reason,
                             .due_ms = x->v.slot_ms});
}

static struct str why_impossible(struct engine *e, const struct edge *edge, enum job_state ended)
{
    char text[ID_TEXT_MAX];
    id_format(text, ID_JOB, edge->upstream);
    return arena_printf(e->arena, "it waited for the %.*s of %s, which is %.*s",
                        STR_ARG(dependency_type_name(edge->type)), text,
                        STR_ARG(job_state_name(ended)));
}

static void skip(struct engine *e, struct exec *x, struct str reason)
{
    exec_move(e, x, &(struct move){.event = EV_SKIP, .actor = SERVER, .reason = reason});
}

static void settle(struct engine *e, struct edge *edge, enum job_state ended)
{
    struct job *job = edge->job;
    struct exec *x = find_blocked(job);
    change(e, edge, dependency_after(edge->type, ended));
    if (x == NULL || PLANTED(dependency_signal_lost))
        return; /* its record made no sense, and was left out */
    if (edge->v.state == DEPENDENCY_IMPOSSIBLE)
        skip(e, x, why_impossible(e, edge, ended));
    else if (job->waits_for == 0)
        go_on(e, x, name_job(e, "the last it waited for is over: ", edge->upstream, ""));
}

/* By id: with its last edge the upstream is gone. */
static void settle_all(struct engine *e, const struct ended *ended)
{
    const struct upstream *up;
    while ((up = map_get(&e->upstreams, ended->job_id)) != NULL) {
        struct heap_node *first = heap_min(&up->edges)->node;
        settle(e, CONTAINER_OF(first, struct edge, place), ended->state);
    }
}

void depends_over(struct engine *e, struct job *job)
{
    LIST_EACH(&job->edges, node)
    {
        struct edge *edge = CONTAINER_OF(node, struct edge, sibling);
        if (edge->v.state == DEPENDENCY_WAITING)
            change(e, edge, DEPENDENCY_MOOT);
    }
    if (map_get(&e->upstreams, job->id) == NULL)
        return;
    *VEC_PUSH(e->arena, &e->ended) = (struct ended){job->id, job->v.state};
    if (e->ended.len > 1) {
        e->ended.len -= PLANTED(skip_stops_early);
        return; /* the loop of the one that came first gets to it */
    }
    for (size_t i = 0; i < e->ended.len; i++) {
        struct ended next = e->ended.items[i];
        settle_all(e, &next);
    }
    e->ended.len = 0;
}

/* ---- what a new job waits for */

/* How the upstream stands now, by memory or else by the store's answer. */
struct outlook {
    bool known;
    bool recurs;
    bool over; /* with all that it did */
    enum job_state state;
};

static struct outlook outlook_of(const struct engine *e, const struct command *cmd,
                                 const struct dependency_wish *wish, size_t question)
{
    const struct job *job = map_get(&e->jobs, wish->upstream);
    if (job != NULL)
        return (struct outlook){
            .known = true,
            .recurs = job->v.def->schedule != NULL,
            .over = job_is_over(job->v.state) &&
                    (!job_has_unfinished(job) || PLANTED(stopping_counts_as_over)),
            .state = job->v.state,
        };
    if (!wish->asked)
        return (struct outlook){0};
    const struct answer *a = &cmd->questions[question].answer;
    bool over = a->job_count > 0 && job_is_over(a->jobs[0].state) && a->live_count == 0;
    return (struct outlook){
        .known = a->job_count > 0,
        .recurs = !over && (a->live_count == 0 || a->live[0].origin != ORIGIN_ONCE),
        .over = over,
        .state = a->job_count > 0 ? a->jobs[0].state : JOB_NONE,
    };
}

void depends_ask(struct engine *e, struct command *cmd, struct submission *item,
                 struct question_list *list)
{
    for (size_t i = 0; i < item->depends_count; i++) {
        struct dependency_wish *wish = &item->depends_on[i];
        wish->asked = wish->job_id != 0 && map_get(&e->jobs, wish->job_id) == NULL;
        if (!wish->asked)
            continue;
        struct question *q = command_ask(e, cmd, list);
        q->kind = ASK_JOB;
        q->id = wish->job_id;
    }
}

/* The job that a wish means, by its id. */
static enum rc find_upstream(struct command *cmd, struct dependency_wish *wish, struct err *err)
{
    wish->upstream = wish->job_id;
    if (wish->job_id != 0)
        return RC_OK;
    const struct submission *other = wish->item == SIZE_MAX ? NULL : &cmd->submit.items[wish->item];
    if (other != NULL && other->rc == RC_OK) {
        wish->upstream = other->job_id;
        return RC_OK;
    }
    if (wish->name.len > 0)
        return err_set(err, RC_INVALID,
                       "depends_on: 'name:%.*s' is not in this batch, or was refused",
                       STR_ARG(wish->name));
    return err_set(err, RC_INVALID, "depends_on: #%llu is not in this batch, or was refused",
                   (unsigned long long)wish->number);
}

static enum rc look_at(struct engine *e, struct command *cmd, struct dependency_wish *wish,
                       size_t question, struct err *err)
{
    char id[ID_TEXT_MAX];
    struct outlook now = outlook_of(e, cmd, wish, question);
    id_format(id, ID_JOB, wish->upstream);
    if (!now.known)
        return err_set(err, RC_INVALID, "depends_on: there is no job %s", id);
    if (now.recurs)
        return err_set(err, RC_INVALID,
                       "depends_on: %s has a recurring schedule, and waiting for one is not "
                       "supported by this version yet",
                       id);
    wish->state = now.over ? dependency_after(wish->type, now.state) : DEPENDENCY_WAITING;
    return RC_OK;
}

enum rc depends_check(struct engine *e, struct command *cmd, struct submission *item,
                      struct err *err)
{
    CLEANUP(map_free) struct map seen = {0};
    size_t question = item->asked + (item->name.len > 0);
    if (item->depends_count > 0 && item->rules.schedule != NULL)
        return err_set(err, RC_INVALID,
                       "depends_on together with a recurring schedule is not supported by this "
                       "version yet");
    if (e->edge_count + item->depends_count > e->options.edges_max)
        return err_set(err, RC_BUSY, "the server holds as many dependencies as it may");
    for (size_t i = 0; i < item->depends_count; i++) {
        struct dependency_wish *wish = &item->depends_on[i];
        TRY(find_upstream(cmd, wish, err));
        TRY(look_at(e, cmd, wish, question, err));
        question += wish->asked;
        if (map_get(&seen, wish->upstream) != NULL) {
            char id[ID_TEXT_MAX];
            id_format(id, ID_JOB, wish->upstream);
            return err_set(err, RC_INVALID, "depends_on: %s is there twice", id);
        }
        map_put(&seen, wish->upstream, wish);
    }
    return RC_OK;
}

bool depends_hold(const struct submission *item)
{
    for (size_t i = 0; i < item->depends_count; i++) {
        if (item->depends_on[i].state != DEPENDENCY_MET)
            return true;
    }
    return false;
}

void depends_add(struct engine *e, const struct submission *item, struct exec *x)
{
    const struct edge *impossible = NULL;
    for (size_t i = 0; i < item->depends_count; i++) {
        const struct dependency_wish *wish = &item->depends_on[i];
        const struct dependency_rec rec = {
            .upstream = wish->upstream, .type = wish->type, .state = wish->state};
        struct edge *edge = edge_new(e, x->job, &rec);
        touch_new(e, THING_EDGE, edge, false);
        if (edge->v.state == DEPENDENCY_IMPOSSIBLE && impossible == NULL)
            impossible = edge;
    }
    if (impossible != NULL)
        skip(e, x,
             name_job(e, "it can never run: ", impossible->upstream,
                      " ended otherwise than it waits for"));
}

/* ---- loading */

void engine_load_dependency(struct engine *e, const struct dependency_rec *rec)
{
    struct job *job = map_get(&e->jobs, rec->dependant);
    if (PLANTED(dependency_forgotten))
        return;
    if (job != NULL && rec->state == DEPENDENCY_WAITING && find_blocked(job) != NULL)
        edge_new(e, job, rec);
}
