/* depends.c - jobs that wait for other jobs.
 *
 * Each wait is an *edge*. While it waits it stands with the id of what has to end: a job that runs
 * once, or the execution of a slot, whether that is in memory or not. An execution that waits is
 * always in memory, so the end of an upstream finds all its edges by one look, and nothing is ever
 * searched. An edge that is settled leaves memory with the commit; the store keeps it for people to
 * see.
 *
 * A job that ends settles its edges in the same turn. A dependant whose last edge is met goes on;
 * one that can never go on is skipped, which ends it and settles its own edges in turn: by a list
 * of work, since a chain may be longer than a stack is deep.
 *
 * Where a job with a schedule is on either end, the edge that is kept is only a *rule*
 * (depends_slots.c). */
#include "engine/depend/depends.h"
#include "base/mem.h"
#include "base/plant.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/depend/depends_remote.h"
#include "engine/depend/depends_slots.h"

#include <assert.h>
#include <stdlib.h>

static_assert(SPEC_DEPENDS_MAX <= UINT16_MAX, "exec.waits_for counts them");

/* ---- edges and their places */

bool depends_is_remote(const struct engine *e, uint64_t job_id)
{
    return !partition_has(&e->owned, job_id);
}

uint64_t edge_exec_id(const struct edge *edge)
{
    return edge->exec != NULL ? edge->exec->id : edge->waiter;
}

int64_t edge_slot_ms(const struct edge *edge)
{
    return edge->exec != NULL ? edge->exec->v.slot_ms : edge->v.slot_ms;
}

static void edge_place(struct engine *e, struct edge *edge)
{
    if (edge->v.state != DEPENDENCY_WAITING)
        return;
    assert(edge->exec != NULL || edge->waiter != 0); /* a rule never waits itself */
    if (edge->exec != NULL)
        edge->exec->waits_for++;
    if (edge->v.asking) {
        heap_push(&e->depends.asking, &edge->place, edge_exec_id(edge), edge->upstream);
        return;
    }
    struct upstream *up = map_get(&e->depends.upstreams, edge->v.target);
    if (up == NULL) {
        up = MEM_NEW(struct upstream);
        map_put(&e->depends.upstreams, edge->v.target, up);
    }
    heap_push(&up->edges, &edge->place, edge_exec_id(edge), 0);
}

static void edge_unplace(struct engine *e, struct edge *edge)
{
    if (!heap_holds(&edge->place))
        return;
    if (edge->exec != NULL)
        edge->exec->waits_for--;
    if (edge->v.asking) {
        heap_remove(&e->depends.asking, &edge->place);
        return;
    }
    struct upstream *up = map_get(&e->depends.upstreams, edge->v.target);
    heap_remove(&up->edges, &edge->place);
    if (heap_min(&up->edges) != NULL)
        return;
    map_remove(&e->depends.upstreams, edge->v.target);
    upstream_free(up);
}

void upstream_free(struct upstream *up)
{
    heap_free(&up->edges);
    free(up);
}

void rulebook_free(struct rulebook *st)
{
    for (struct list_node *node; (node = list_pop_front(&st->rules)) != NULL;)
        free(CONTAINER_OF(node, struct edge, sibling));
    free(st);
}

void edge_set(struct engine *e, struct edge *edge, const struct edge_values *to)
{
    edge_unplace(e, edge);
    edge->v = *to;
    edge_place(e, edge);
}

static struct list *rules_of(struct engine *e, uint64_t job_id)
{
    struct rulebook *st = map_get(&e->depends.rulebooks, job_id);
    if (st == NULL) {
        st = MEM_NEW(struct rulebook);
        list_init(&st->rules);
        map_put(&e->depends.rulebooks, job_id, st);
    }
    return &st->rules;
}

struct edge *edge_new(struct engine *e, const struct dependency_rec *rec, struct exec *x,
                      struct edge *rule, const struct edge_values *v)
{
    struct edge *edge = MEM_NEW(struct edge);
    edge->dependant = rec->dependant;
    edge->exec = x;
    edge->rule = rule;
    edge->upstream = rec->upstream;
    edge->type = rec->type;
    edge->v = *v;
    list_push_back(x != NULL ? &x->job->edges : rules_of(e, rec->dependant), &edge->sibling);
    edge_place(e, edge);
    e->depends.edge_count++;
    return edge;
}

/* Both ids, as bytes of the edge itself. */
static struct str waiter_key(const struct edge *edge)
{
    static_assert(offsetof(struct edge, waiter) ==
                      offsetof(struct edge, upstream) + sizeof(uint64_t),
                  "they stand side by side");
    return str_of((const char *)&edge->upstream, 2 * sizeof(uint64_t));
}

struct edge *waiter_find(struct engine *e, uint64_t upstream, uint64_t exec_id)
{
    return strmap_get(&e->depends.waiters,
                      waiter_key(&(struct edge){.upstream = upstream, .waiter = exec_id}));
}

struct edge *waiter_new(struct engine *e, const struct waiter_rec *rec)
{
    struct edge *edge = MEM_NEW(struct edge);
    edge->dependant = rec->dependant;
    edge->upstream = rec->upstream;
    edge->waiter = rec->exec_id;
    edge->type = rec->type;
    edge->v =
        (struct edge_values){.state = DEPENDENCY_WAITING, .asking = true, .slot_ms = rec->slot_ms};
    strmap_put(&e->depends.waiters, waiter_key(edge), edge);
    edge_place(e, edge);
    e->depends.edge_count++;
    return edge;
}

struct waiter_change waiter_changed(const struct edge *edge)
{
    return (struct waiter_change){
        .forget = edge->v.state != DEPENDENCY_WAITING,
        .waiter = {.upstream = edge->upstream,
                   .exec_id = edge->waiter,
                   .dependant = edge->dependant,
                   .type = edge->type,
                   .slot_ms = edge->v.slot_ms},
    };
}

static void waiter_free(struct engine *e, struct edge *edge)
{
    edge_unplace(e, edge);
    strmap_remove(&e->depends.waiters, waiter_key(edge));
    free(edge);
    e->depends.edge_count--;
}

void edge_free(struct engine *e, struct edge *edge)
{
    if (edge->waiter != 0) {
        waiter_free(e, edge);
        return;
    }
    assert(edge->touched == NULL && e->depends.edge_count > 0);
    edge_unplace(e, edge);
    list_remove(&edge->sibling);
    struct rulebook *st =
        edge->exec == NULL ? map_get(&e->depends.rulebooks, edge->dependant) : NULL;
    if (st != NULL && list_empty(&st->rules)) {
        map_remove(&e->depends.rulebooks, edge->dependant);
        rulebook_free(st);
    }
    free(edge);
    e->depends.edge_count--;
}

struct dependency_rec edge_record(const struct edge *edge)
{
    return (struct dependency_rec){
        .upstream = edge->upstream,
        .dependant = edge->dependant,
        .type = edge->type,
        .state = edge->v.state,
    };
}

void edge_change(struct engine *e, struct edge *edge, struct edge_values to)
{
    struct touched *t = touch_edge(e, edge);
    bool same = to.state == edge->v.state; /* its row says no more */
    t->durable |= edge->rule == NULL && !same;
    to.slot_ms = edge->v.slot_ms; /* a dependant elsewhere says when that changes */
    edge_set(e, edge, &to);
}

static void change(struct engine *e, struct edge *edge, enum dependency_state state)
{
    edge_change(e, edge, (struct edge_values){.state = state});
}

/* ---- what follows from an end */

static struct str name_job(struct engine *e, const char *before, uint64_t id)
{
    char text[ID_TEXT_MAX];
    id_format(text, ID_JOB, id);
    return arena_printf(e->turn.arena, "%s%s", before, text);
}

static void make_due(struct engine *e, struct exec *x, struct str reason)
{
    exec_move(e, x, &(struct move){.event = EV_DUE, .actor = SERVER, .reason = reason});
}

void depends_go_on(struct engine *e, struct exec *x, struct str reason)
{
    const struct definition *def = x->job->v.def;
    bool asks = def->rules.calendars != NULL && def->schedule == NULL;
    bool later = x->v.slot_ms > e->now_ms;
    if (later || asks)
        exec_move(e, x,
                  &(struct move){
                      .event = EV_PLAN, .actor = SERVER, .reason = reason, .due_ms = x->v.slot_ms});
    if (!later && asks)
        exec_come_due(e, x);
    else if (!later && !depends_begin(e, x))
        make_due(e, x, reason);
}

struct str why_impossible(struct engine *e, const struct edge *edge, const struct ended *ended)
{
    char job[ID_TEXT_MAX];
    char slot[ID_TEXT_MAX];
    struct str type = dependency_type_name(edge->type);
    id_format(job, ID_JOB, edge->upstream);
    if (ended->slot == EXEC_NONE)
        return ended->purged
                   ? arena_printf(e->turn.arena,
                                  "it waited for the %.*s of %s, whose slot before it is deleted",
                                  STR_ARG(type), job)
                   : arena_printf(e->turn.arena, "it waited for the %.*s of %s, which is %.*s",
                                  STR_ARG(type), job, STR_ARG(job_state_name(ended->state)));
    id_format(slot, ID_EXEC, ended->id);
    return arena_printf(e->turn.arena,
                        "it waited for the %.*s of %s, whose slot before it (%s) is %.*s",
                        STR_ARG(type), job, slot, STR_ARG(exec_state_name(ended->slot)));
}

void depends_skip(struct engine *e, struct exec *x, struct str reason)
{
    exec_move(e, x, &(struct move){.event = EV_SKIP, .actor = SERVER, .reason = reason});
}

/* Another execution of the job waits by the rule. */
static bool is_in_use(const struct edge *rule, const struct job *job)
{
    LIST_EACH(&job->edges, node)
    {
        const struct edge *edge = CONTAINER_OF(node, struct edge, sibling);
        if (edge->rule == rule && edge->v.state == DEPENDENCY_WAITING)
            return true;
    }
    return false;
}

/* An impossible rule stays: the upstream may be run again. A settled one is gone with the commit,
 * so no edge may need it any more. */
void depends_settle_rule(struct engine *e, const struct exec *x, struct edge *rule,
                         enum dependency_state state, bool for_good)
{
    bool once = x->job->v.def->schedule == NULL;
    bool met = for_good && state == DEPENDENCY_MET && !is_in_use(rule, x->job);
    if (rule->v.state == DEPENDENCY_PER_SLOT && (once || met))
        change(e, rule, state);
}

void depends_settle(struct engine *e, struct edge *edge, const struct ended *ended)
{
    struct exec *x = edge->exec;
    change(e, edge, dependency_after(edge->type, ended->state));
    if (x == NULL) {
        remote_over(e, edge, ended);
        return;
    }
    if (edge->rule != NULL)
        depends_settle_rule(e, x, edge->rule, edge->v.state, ended->job_over);
    if (PLANTED(dependency_signal_lost))
        return;
    if (edge->v.state == DEPENDENCY_IMPOSSIBLE) {
        depends_skip(e, x, why_impossible(e, edge, ended));
    } else if (x->waits_for == 0) {
        struct str reason = name_job(e, "the last it waited for is over: ", edge->upstream);
        if (x->job->v.def->schedule != NULL)
            make_due(e, x, reason);
        else
            depends_go_on(e, x, reason);
    }
}

static void ask_again(struct engine *e, struct edge *edge)
{
    edge_change(e, edge, (struct edge_values){.state = DEPENDENCY_WAITING, .asking = true});
}

/* By id: with its last edge the upstream is gone. An edge that waits for a slot which was ahead
 * when it was found has to ask again: by now later ones may be at or before its own. */
static void settle_all(struct engine *e, const struct ended *ended)
{
    const struct upstream *up;
    while ((up = map_get(&e->depends.upstreams, ended->id)) != NULL) {
        struct heap_node *first = heap_min(&up->edges)->node;
        struct edge *edge = CONTAINER_OF(first, struct edge, place);
        if (edge->v.unsure)
            ask_again(e, edge);
        else
            depends_settle(e, edge, ended);
    }
}

void depends_slot_moved(struct engine *e, const struct exec *x)
{
    const struct upstream *up;
    while ((up = map_get(&e->depends.upstreams, x->id)) != NULL) {
        struct heap_node *first = heap_min(&up->edges)->node;
        ask_again(e, CONTAINER_OF(first, struct edge, place));
    }
}

void depends_moved(struct engine *e, struct exec *x)
{
    LIST_EACH(&x->job->edges, node)
    {
        struct edge *edge = CONTAINER_OF(node, struct edge, sibling);
        if (edge->exec == x && edge->rule != NULL && edge->v.state == DEPENDENCY_WAITING)
            ask_again(e, edge);
    }
}

static void tell(struct engine *e, struct ended ended)
{
    if (map_get(&e->depends.upstreams, ended.id) == NULL)
        return;
    *VEC_PUSH(e->turn.arena, &e->turn.ended) = ended;
    if (e->turn.ended.len > 1) {
        e->turn.ended.len -= PLANTED(skip_stops_early);
        return; /* the loop of the one that came first gets to it */
    }
    for (size_t i = 0; i < e->turn.ended.len; i++) {
        struct ended next = e->turn.ended.items[i];
        settle_all(e, &next);
    }
    e->turn.ended.len = 0;
}

void depends_exec_over(struct engine *e, struct exec *x)
{
    for (struct list_node *node = x->job->edges.head.next;
         x->waits_for > 0 && node != &x->job->edges.head; node = node->next) {
        struct edge *edge = CONTAINER_OF(node, struct edge, sibling);
        if (edge->exec != x || edge->v.state != DEPENDENCY_WAITING)
            continue;
        if (!edge->v.asking && depends_is_remote(e, edge->upstream))
            remote_unwait(e, edge);
        change(e, edge, DEPENDENCY_MOOT);
    }
    if (x->origin == ORIGIN_SLOT && !PLANTED(slot_signal_lost))
        tell(e,
             (struct ended){.id = x->id, .state = job_state_after(x->v.state), .slot = x->v.state});
}

void depends_over(struct engine *e, struct job *job)
{
    const struct rulebook *st = map_get(&e->depends.rulebooks, job->id);
    if (st != NULL) {
        LIST_EACH(&st->rules, node)
        {
            struct edge *rule = CONTAINER_OF(node, struct edge, sibling);
            if (rule->v.state == DEPENDENCY_PER_SLOT)
                change(e, rule, DEPENDENCY_MOOT);
        }
    }
    tell(e, (struct ended){.id = job->id, .state = job->v.state, .job_over = true});
}
