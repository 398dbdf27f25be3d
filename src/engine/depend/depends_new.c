/* depends_new.c - what a job that is submitted wants to wait for: whether it may, and what that
 * comes to. */
#include "engine/depend/depends_new.h"
#include "base/plant.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/depend/depends.h"
#include "engine/depend/depends_remote.h"
#include "engine/depend/depends_slots.h"

/* How the upstream stands now, by memory or else by the store's answer. */
struct outlook {
    bool known;
    bool recurs;
    bool expects; /* pings: nothing of it runs */
    bool over;    /* with all that it did */
    enum job_state state;
};

/* Of the same batch, and made when that came the first time. */
static const struct answer *original(const struct command *cmd, const struct dependency_wish *wish)
{
    if (wish->item == SIZE_MAX || cmd->submit.items[wish->item].once.original == NULL)
        return NULL;
    return &cmd->submit.items[wish->item].once.original->answer;
}

static struct outlook outlook_of(struct engine *e, const struct command *cmd,
                                 const struct dependency_wish *wish, size_t question)
{
    const struct job *job = map_get(&e->jobs, wish->upstream);
    if (job != NULL && !depends_is_remote(e, wish->upstream))
        return (struct outlook){
            .known = true,
            .recurs = job->v.def->schedule != NULL,
            .expects = job->v.def->rules.expects,
            .over = job_is_over(job->v.state) &&
                    (!job_has_unfinished(job) || PLANTED(stopping_counts_as_over)),
            .state = job->v.state,
        };
    const struct answer *a = wish->asked ? &cmd->questions[question].answer : original(cmd, wish);
    if (a == NULL || a->job_count == 0)
        return (struct outlook){0};
    return (struct outlook){
        .known = true,
        .recurs = depends_recurs(e, a->jobs),
        .expects = depends_expects(e, a->jobs),
        /* How it stands elsewhere is told by who decides about it, never by a read. */
        .over = job_is_over(a->jobs[0].state) && a->newest == NULL &&
                !depends_is_remote(e, wish->upstream),
        .state = a->jobs[0].state,
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
                       "depends_on: no job has the name '%.*s', or it was refused in this batch",
                       STR_ARG(wish->name));
    return err_set(err, RC_INVALID, "depends_on: #%llu is not in this batch, or was refused",
                   (unsigned long long)wish->number);
}

static enum rc look_at(struct engine *e, struct command *cmd, const struct submission *item,
                       struct dependency_wish *wish, size_t question, struct err *err)
{
    char id[ID_TEXT_MAX];
    struct outlook now = outlook_of(e, cmd, wish, question);
    id_format(id, ID_JOB, wish->upstream);
    if (!now.known)
        return err_set(err, RC_INVALID, "depends_on: there is no job %s", id);
    if (now.expects)
        return err_set(err, RC_INVALID,
                       "depends_on: the job %s expects pings and is not run here, so nothing can "
                       "wait for it",
                       id);
    wish->state = now.recurs || item->rules.schedule != NULL ? DEPENDENCY_PER_SLOT
                  : now.over ? dependency_after(wish->type, now.state)
                             : DEPENDENCY_WAITING;
    return RC_OK;
}

enum rc depends_check(struct engine *e, struct command *cmd, struct submission *item,
                      struct err *err)
{
    CLEANUP(map_free) struct map seen = {0};
    size_t question = item->asked + (item->name.len > 0);
    if (e->depends.edge_count + item->depends_count > e->options.edges_max)
        return err_set(err, RC_BUSY, "the server holds as many dependencies as it may");
    for (size_t i = 0; i < item->depends_count; i++) {
        struct dependency_wish *wish = &item->depends_on[i];
        TRY(find_upstream(cmd, wish, err));
        TRY(look_at(e, cmd, item, wish, question, err));
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

static bool has_rules(const struct submission *item)
{
    for (size_t i = 0; i < item->depends_count; i++) {
        if (item->depends_on[i].state == DEPENDENCY_PER_SLOT)
            return true;
    }
    return false;
}

/* Rules are for when it is due, which it may be. */
bool depends_hold(const struct engine *e, const struct submission *item, int64_t due_ms)
{
    for (size_t i = 0; i < item->depends_count; i++) {
        if (item->depends_on[i].state != DEPENDENCY_MET &&
            item->depends_on[i].state != DEPENDENCY_PER_SLOT)
            return true;
    }
    return due_ms <= e->now_ms && has_rules(item);
}

static struct edge *add(struct engine *e, const struct dependency_wish *wish, struct exec *x)
{
    const struct dependency_rec rec = {
        .upstream = wish->upstream, .dependant = x->job->id, .type = wish->type};
    const struct edge_values v = {.state = wish->state, .target = wish->upstream};
    bool rule = wish->state == DEPENDENCY_PER_SLOT;
    struct edge *edge = edge_new(e, &rec, rule ? NULL : x, NULL, &v);
    touch_new(touch_edge(e, edge), false);
    if (wish->state == DEPENDENCY_WAITING && depends_is_remote(e, wish->upstream))
        remote_wait(e, edge);
    return edge;
}

void depends_add(struct engine *e, const struct submission *item, struct exec *x)
{
    char id[ID_TEXT_MAX];
    const struct edge *impossible = NULL;
    for (size_t i = 0; i < item->depends_count; i++) {
        const struct edge *edge = add(e, &item->depends_on[i], x);
        if (edge->v.state == DEPENDENCY_IMPOSSIBLE && impossible == NULL)
            impossible = edge;
    }
    if (impossible != NULL)
        depends_skip(e, x,
                     arena_printf(e->turn.arena,
                                  "it can never run: %s ended otherwise than it waits for",
                                  id_format(id, ID_JOB, impossible->upstream).ptr));
    else if (x->v.state == EXEC_BLOCKED && x->waits_for == 0)
        depends_go_on(e, x, STR("nothing to wait for"));
}
