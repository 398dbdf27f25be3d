/* depends_slots.c - slots that wait for slots.
 *
 * Where a job with a schedule is on either end of a dependency, what is kept is a *rule*: it stands
 * with the dependant for as long as that lives, and waits for nothing itself. When an execution of
 * the dependant is due, each rule says what it has to wait for: of an upstream with a schedule the
 * latest slot at or before its own, of any other the job. That is an edge of the execution, and
 * only in memory: a server that starts makes it anew from the rule, and comes to the same, since
 * slots that are over do not change, and new ones are later.
 *
 * Which slot is the latest, and how it ended, is often not in memory any more. So the execution is
 * blocked, and the next turn asks the store (ASK_SLOT), many that ask the same with one question.
 * From then on it waits for an execution by its id, whose end settles it in the same turn. */
#include "engine/depend/depends_slots.h"
#include "base/plant.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/depend/depends.h"
#include "engine/depend/depends_remote.h"
#include "engine/time/slots.h"

#include <assert.h>

/* NULL: it runs once. */
static const struct schedule *schedule_of(struct engine *e, const struct job_rec *rec)
{
    struct rules rules;
    struct err err;
    const struct job *job = map_get(&e->jobs, rec->id);
    if (job != NULL)
        return job->v.def->schedule;
    enum rc rc = e->options.read_rules(e->options.rules_arg, rec, e->turn.arena, &rules, &err);
    return rc == RC_OK ? rules.schedule : NULL;
}

bool depends_recurs(struct engine *e, const struct job_rec *rec)
{
    return schedule_of(e, rec) != NULL;
}

bool depends_expects(struct engine *e, const struct job_rec *rec)
{
    struct rules rules;
    struct err err;
    const struct job *job = map_get(&e->jobs, rec->id);
    if (job != NULL)
        return job->v.def->rules.expects;
    return e->options.read_rules(e->options.rules_arg, rec, e->turn.arena, &rules, &err) == RC_OK &&
           rules.expects;
}

/* ---- the time of an execution has come */

static struct edge_values wait_for(uint64_t id)
{
    return (struct edge_values){.state = DEPENDENCY_WAITING, .target = id};
}

static const struct edge_values ask = {.state = DEPENDENCY_WAITING, .asking = true};

/* The state that the rule comes to now. */
static struct edge_values apply(struct engine *e, const struct edge *rule)
{
    const struct job *up = map_get(&e->jobs, rule->upstream);
    if (up == NULL || up->v.def->schedule != NULL || depends_is_remote(e, rule->upstream))
        return ask;
    if (!job_is_over(up->v.state) || job_has_unfinished(up))
        return wait_for(up->id);
    return (struct edge_values){.state = dependency_after(rule->type, up->v.state)};
}

static void wait_by(struct engine *e, struct exec *x, struct edge *rule,
                    const struct edge_values *v)
{
    const struct dependency_rec rec = edge_record(rule);
    struct edge *edge = edge_new(e, &rec, x, rule, v);
    touch_new(touch_edge(e, edge), false)->durable = false;
}

void depends_ask_for(struct engine *e, struct exec *x, struct edge *rule)
{
    wait_by(e, x, rule, &ask);
}

static bool skip_impossible(struct engine *e, struct exec *x, const struct rulebook *st)
{
    LIST_EACH(&st->rules, node)
    {
        struct edge *rule = CONTAINER_OF(node, struct edge, sibling);
        if (rule->v.state != DEPENDENCY_PER_SLOT || apply(e, rule).state != DEPENDENCY_IMPOSSIBLE)
            continue;
        const struct job *up = map_get(&e->jobs, rule->upstream);
        struct str why =
            why_impossible(e, rule, &(struct ended){.id = up->id, .state = up->v.state});
        depends_settle_rule(e, x, rule, DEPENDENCY_IMPOSSIBLE, true);
        depends_skip(e, x, why);
        return true;
    }
    return false;
}

static struct str why_blocked(struct engine *e, const struct exec *x)
{
    char text[ID_TEXT_MAX];
    struct list_node *last = x->job->edges.head.prev;
    id_format(text, ID_JOB, CONTAINER_OF(last, struct edge, sibling)->upstream);
    if (x->waits_for == 1)
        return arena_printf(e->turn.arena, "waits for %s", text);
    return arena_printf(e->turn.arena, "waits for %s and %d more", text, x->waits_for - 1);
}

bool depends_begin(struct engine *e, struct exec *x)
{
    const struct rulebook *st =
        e->depends.rulebooks.len == 0 ? NULL : map_get(&e->depends.rulebooks, x->job->id);
    if (st == NULL || x->origin == ORIGIN_REQUEST || x->retry_of != 0)
        return false; /* a requested run is requested for now */
    if (skip_impossible(e, x, st))
        return true;
    LIST_EACH(&st->rules, node)
    {
        struct edge *rule = CONTAINER_OF(node, struct edge, sibling);
        struct edge_values v = apply(e, rule);
        if (rule->v.state != DEPENDENCY_PER_SLOT)
            continue;
        if (v.state == DEPENDENCY_WAITING)
            wait_by(e, x, rule, &v);
        else
            depends_settle_rule(e, x, rule, v.state, true);
    }
    if (x->waits_for > 0 && x->v.state != EXEC_BLOCKED)
        exec_move(e, x,
                  &(struct move){.event = EV_BLOCK, .actor = SERVER, .reason = why_blocked(e, x)});
    return x->waits_for > 0;
}

/* ---- asking */

/* Questions about one upstream, for several moments. */
struct slot_question {
    struct question question;
    struct slot_question *next;
};

static const struct question *find_question(struct engine *e, const struct edge *edge,
                                            struct map *by_upstream, struct question_list *list)
{
    struct slot_question *first = map_get(by_upstream, edge->upstream);
    for (struct slot_question *q = first; q != NULL; q = q->next) {
        if (q->question.until_ms == edge_slot_ms(edge))
            return &q->question;
    }
    struct slot_question *q = ARENA_NEW(e->turn.arena, struct slot_question);
    q->question =
        (struct question){.kind = ASK_SLOT, .id = edge->upstream, .until_ms = edge_slot_ms(edge)};
    q->next = first;
    map_remove(by_upstream, edge->upstream);
    map_put(by_upstream, edge->upstream, q);
    *VEC_PUSH(e->turn.arena, list) = &q->question;
    return &q->question;
}

void depends_ask_slots(struct engine *e, struct question_list *list)
{
    CLEANUP(map_free) struct map by_upstream = {0};
    const struct heap_item *first;
    while (e->turn.slots_asked.len < e->options.load_max &&
           (first = heap_min(&e->depends.asking)) != NULL) {
        struct edge *edge = CONTAINER_OF(first->node, struct edge, place);
        bool remote = depends_is_remote(e, edge->upstream); /* its owner is asked, by mail */
        heap_remove(&e->depends.asking,
                    &edge->place); /* for the moment, so that the next one is first */
        *VEC_PUSH(e->turn.arena, &e->turn.slots_asked) =
            (struct slot_asked){edge, remote ? NULL : find_question(e, edge, &by_upstream, list)};
    }
    for (size_t i = 0; i < e->turn.slots_asked.len; i++) {
        struct edge *edge = e->turn.slots_asked.items[i].edge;
        heap_push(&e->depends.asking, &edge->place, edge_exec_id(edge), edge->upstream);
    }
}

/* Another answer of this turn may have ended it since the store was asked. */
static void found_slot(struct engine *e, struct edge *edge, const struct exec_rec *slot)
{
    const struct exec *x = map_get(&e->execs, slot->id);
    enum exec_state state = x != NULL ? x->v.state : slot->state;
    struct edge_values v = wait_for(slot->id);
    v.unsure = state == EXEC_SCHEDULED;
    if (exec_is_final(state))
        depends_settle(
            e, edge,
            &(struct ended){.id = slot->id, .state = job_state_after(state), .slot = state});
    else
        edge_change(e, edge, v);
}

/* The same for a job that runs once. */
static void found_job(struct engine *e, struct edge *edge, const struct answer *a)
{
    const struct job *job = map_get(&e->jobs, edge->upstream);
    enum job_state state = job != NULL ? job->v.state : a->jobs[0].state;
    if (job_is_over(state) && (job != NULL ? !job_has_unfinished(job) : a->newest == NULL))
        depends_settle(e, edge,
                       &(struct ended){.id = edge->upstream, .state = state, .job_over = true});
    else
        edge_change(e, edge, wait_for(edge->upstream));
}

/* An upstream that is no more never comes. */
static void found_no_job(struct engine *e, struct edge *edge)
{
    depends_settle(e, edge, &(struct ended){.id = edge->upstream, .state = JOB_CANCELLED});
}

/* The upstream's first slot is not ahead of it any more, by memory or by the answer. */
static bool had_slots(const struct engine *e, const struct answer *a)
{
    const struct job *job = map_get(&e->jobs, a->jobs[0].id);
    const struct exec *ahead = job == NULL ? NULL : slot_ahead(job);
    return ahead != NULL ? !ahead->first : a->newest == NULL || !a->newest->first;
}

/* By its schedule it had slots by then, and it had some: so they are too old. An edited schedule
 * tells nothing about the time before. */
static bool was_purged(struct engine *e, const struct edge *edge, const struct answer *a)
{
    const struct job_rec *up = &a->jobs[0];
    struct schedule schedule = *schedule_of(e, up);
    struct slot first;
    schedule.start_ms = up->created_ms; /* of one that was read nobody has said so */
    return up->version == 1 && had_slots(e, a) && schedule_first(&schedule, &first) &&
           first.at_ms <= edge_slot_ms(edge);
}

/* An upstream that had no slot yet at or before this one keeps nobody waiting: as if it had gone
 * well, and had gone wrong. Of one that is deleted it is known that it is over, and no more. */
static void found_no_slot(struct engine *e, struct edge *edge, bool purged)
{
    enum job_state good = edge->type == DEPENDS_FAILURE ? JOB_FAILED : JOB_COMPLETED;
    depends_settle(e, edge,
                   &(struct ended){.id = edge->upstream,
                                   .state = purged ? JOB_CANCELLED : good,
                                   .purged = purged});
}

/* It runs once, and a server that started took it for due; or the clock was set back since. */
static void not_yet(struct engine *e, struct edge *edge)
{
    edge_change(e, edge, (struct edge_values){.state = DEPENDENCY_MOOT});
    if (edge->exec->waits_for == 0)
        depends_go_on(e, edge->exec, STR("its time has not come"));
}

/* Of an upstream elsewhere its owner says what it comes to: from now on the edge waits for that. */
static void ask_elsewhere(struct engine *e, struct edge *edge)
{
    edge_change(e, edge, wait_for(edge->upstream));
    remote_wait(e, edge);
}

/* a: NULL when its upstream is elsewhere. */
static void answer(struct engine *e, struct edge *edge, const struct answer *a)
{
    const struct exec *x = edge->exec;
    bool whole =
        x == NULL ? edge->v.slot_ms == 0 : edge->rule == NULL; /* the job counts, no slot */
    if (x != NULL && !whole && x->origin == ORIGIN_ONCE && x->v.slot_ms > e->now_ms)
        not_yet(e, edge);
    else if (a == NULL)
        ask_elsewhere(e, edge);
    else if (a->job_count == 0)
        found_no_job(e, edge);
    else if (!whole && a->exec != NULL)
        found_slot(e, edge, a->exec);
    else if (!whole && depends_recurs(e, a->jobs))
        found_no_slot(e, edge, was_purged(e, edge, a));
    else
        found_job(e, edge, a); /* in the state that it has now */
}

void depends_answer(struct engine *e)
{
    for (size_t i = 0; i < e->turn.slots_asked.len; i++) {
        const struct slot_asked *asked = &e->turn.slots_asked.items[i];
        if (asked->edge->v.state == DEPENDENCY_WAITING && asked->edge->v.asking)
            answer(e, asked->edge, asked->question == NULL ? NULL : &asked->question->answer);
    }
}

/* ---- loading */

static bool is_started(const struct exec *x)
{
    return x->v.state == EXEC_QUEUED || x->v.state == EXEC_RETRYING || exec_is_leased(x->v.state);
}

/* It was blocked by what it depends on, and not by another run of its job: of those that may not
 * overlap that is the first. */
static bool was_begun(const struct exec *x)
{
    if (x->v.state != EXEC_BLOCKED || x->origin == ORIGIN_REQUEST)
        return false;
    if (x->origin == ORIGIN_ONCE)
        return true; /* or its time has not come: the answer will see that */
    if (x->job->v.def->rules.overlap == OVERLAP_PARALLEL)
        return true;
    LIST_EACH(&x->job->execs, node)
    {
        const struct exec *other = CONTAINER_OF(node, struct exec, sibling);
        if (is_started(other) || (other->v.state == EXEC_BLOCKED && other->id < x->id))
            return false;
    }
    return true;
}

static void load_rule(struct engine *e, const struct dependency_rec *rec)
{
    const struct edge_values standing = {.state = DEPENDENCY_PER_SLOT};
    struct edge *rule = edge_new(e, rec, NULL, NULL, &standing);
    const struct job *job = map_get(&e->jobs, rec->dependant);
    if (job == NULL)
        return;
    LIST_EACH(&job->execs, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, sibling);
        if (was_begun(x))
            edge_new(e, rec, x, rule, &ask);
    }
}

/* Partitions come and go: both ends were of one server, and are not any more, so nobody has asked
 * the upstream's owner; or the upstream has ended since, where nobody knew of us. */
static bool may_have_parted(const struct engine *e)
{
    return e->owned.count > 1 && !PLANTED(parted_wait_forgotten);
}

static void load_wait(struct engine *e, const struct dependency_rec *rec)
{
    const struct job *job = map_get(&e->jobs, rec->dependant);
    if (job == NULL)
        return; /* its record made no sense, and was left out */
    LIST_EACH(&job->execs, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, sibling);
        if (x->v.state == EXEC_BLOCKED) {
            const struct edge_values v = wait_for(rec->upstream);
            edge_new(e, rec, x, NULL, may_have_parted(e) ? &ask : &v);
            return;
        }
    }
}

void engine_load_dependency(struct engine *e, const struct dependency_rec *rec)
{
    if (PLANTED(dependency_forgotten))
        return;
    if (rec->state == DEPENDENCY_PER_SLOT)
        load_rule(e, rec);
    else if (rec->state == DEPENDENCY_WAITING)
        load_wait(e, rec);
}
