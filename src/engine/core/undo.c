/* undo.c - before-images of one turn, and the two ways it can end.
 *
 * The first touch of a thing in a turn keeps its values; undo puts them back. Things made in the
 * turn are freed by undo; things that ended in it stay in the maps until commit, so that a second
 * command of the same turn still finds them, and sees that they ended. */
#include "engine/core/undo.h"
#include "base/plant.h"
#include "engine/core/alerts.h"
#include "engine/core/exec.h"
#include "engine/core/load.h"
#include "engine/core/mail.h"
#include "engine/core/model.h"
#include "engine/core/operations.h"
#include "engine/depend/depends.h"
#include "engine/estimate/forecast.h"
#include "engine/ready/breaker.h"
#include "engine/ready/breakers.h"
#include "engine/ready/forget.h"
#include "engine/ready/limit.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/queues.h"
#include "engine/ready/ready.h"
#include "engine/ready/workers.h"
#include "engine/submit/definition.h"
#include "engine/time/calendars.h"
#include "engine/time/tzdata.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- what holds of a thing when a turn has ended, one way or the other
 *
 * The places that a thing has follow from its values. Each check looks at one thing that the turn
 * touched, and walks nothing. */

static void check_exec(const struct exec *x)
{
    bool leased = exec_is_leased(x->v.state);
    assert(x->v.lease.held == leased);
    assert(list_linked(&x->on_worker) == leased);
    assert(heap_holds(&x->term.node) == (leased || exec_has_permits(x)));
    assert(!exec_is_final(x->v.state) || !heap_holds(&x->ready));
}

/* Only parked workers wait for work of their class. */
static void check_worker(const struct worker *w)
{
    assert(list_empty(&w->leases) == (w->busy == 0));
    assert(!list_linked(&w->waiting) || w->v.parked != NULL);
}

static void check_limit(const struct limit *limit)
{
    assert(limit->lent <= limit->held);
    assert(!limit->v.shut || limit->v.gone || heap_holds(&limit->wake));
    assert(list_empty(&limit->bars) || limit->members > 0);
}

static void check_queue(const struct queue *q)
{
    assert(q->lent <= q->held);
}

static void check_edge(const struct edge *edge)
{
    assert(edge->v.state != DEPENDENCY_WAITING || edge->exec == NULL || edge->exec->waits_for > 0);
}

/* ---- undo of one thing: its old values are put back, and it takes the places that follow */

static void undo_exec(struct engine *e, struct touched *t)
{
    struct exec *x = t->exec;
    if (PLANTED(image_forgets_field))
        t->before.exec.attempts = x->v.attempts;
    if (t->is_new) {
        exec_unplace(e, x);
        exec_free(e, x);
    } else {
        exec_set(e, x, &t->before.exec);
        if (!x->v.recharged)
            charge_drop(e, x);
        check_exec(x);
    }
}

static void undo_worker(struct engine *e, struct touched *t)
{
    struct worker *w = t->worker;
    worker_unplace(e, w);
    if (w->v.cordon != t->before.worker.cordon)
        free(w->v.cordon);
    w->v = t->before.worker;
    if (PLANTED(undo_forgets_parked))
        w->v.parked = NULL;
    if (t->is_new) {
        worker_disown(e, w);
        worker_free(e, w);
    } else {
        worker_place(e, w);
        check_worker(w);
    }
}

static void undo_job(struct engine *e, struct touched *t)
{
    struct definition *newer = t->job->v.def;
    job_set_values(e, t->job, &t->before.job);
    if (newer != t->job->v.def)
        definition_free(e, newer);
    if (t->job->exec_count == 0)
        job_free(e, t->job);
}

static void undo_queue(struct engine *e, struct touched *t)
{
    queue_set(e, t->queue, &t->before.queue);
    check_queue(t->queue);
    queue_undone(e, t->queue);
}

static void undo_limit(struct engine *e, struct touched *t)
{
    ready_limit(&e->ready, t->limit, &t->before.limit);
    check_limit(t->limit);
    if (limit_is_idle(t->limit))
        limit_free(&e->ready.limits, t->limit);
}

static void undo_breaker(struct engine *e, struct touched *t)
{
    ready_breaker(&e->ready, t->breaker, &t->before.breaker);
    breaker_forget_if_idle(&e->ready.breakers, t->breaker);
}

static void undo_edge(struct engine *e, struct touched *t)
{
    if (t->is_new)
        edge_free(e, t->edge);
    else
        edge_set(e, t->edge, &t->before.edge);
}

static void undo_operation(struct engine *e, struct touched *t)
{
    t->operation->v = *t->before.operation;
    if (t->is_new)
        operation_free(e, t->operation);
}

static void undo_calendar(struct engine *e, struct touched *t)
{
    struct book *newer = t->calendar->v.book;
    calendar_set(e, t->calendar, &t->before.calendar);
    if (newer != t->calendar->v.book)
        book_free(newer);
    calendar_forget_if_unused(e, t->calendar);
}

static void undo_permit(struct engine *e, struct touched *t)
{
    if (t->is_new)
        permit_free(e, t->permit);
    else
        permit_set(e, t->permit, &t->before.permit);
}

/* ---- commit of one thing: its values are final, and what has ended leaves memory */

static void commit_operation(struct engine *e, struct touched *t)
{
    if (t->operation->v.state != OPERATION_RUNNING)
        operation_free(e, t->operation);
}

static void commit_edge(struct engine *e, struct touched *t)
{
    struct edge *edge = t->edge;
    check_edge(edge);
    if (edge->v.state != DEPENDENCY_WAITING && edge->v.state != DEPENDENCY_PER_SLOT)
        edge_free(e, edge);
}

static void commit_exec(struct engine *e, struct touched *t)
{
    struct exec *x = t->exec;
    check_exec(x);
    if (!x->v.recharged)
        charge_drop(e, x);
    if (exec_is_final(x->v.state))
        alerts_count(e, x);
    if (exec_is_final(x->v.state) || beyond_horizon(e, x)) {
        exec_unplace(e, x);
        exec_free(e, x);
    }
}

static void commit_queue(struct engine *e, struct touched *t)
{
    check_queue(t->queue);
    queue_commit(e, t->queue);
}

static void commit_worker(struct engine *e, struct touched *t)
{
    check_worker(t->worker);
    if (t->worker->v.cordon != t->before.worker.cordon)
        free(t->before.worker.cordon);
    if (t->worker->v.gone)
        worker_free(e, t->worker);
}

static void commit_job(struct engine *e, struct touched *t)
{
    struct job *job = t->job;
    if (t->before.job.def != job->v.def)
        definition_free(e, t->before.job.def);
    if (job->exec_count == 0)
        job_free(e, job);
}

static void commit_limit(struct engine *e, struct touched *t)
{
    struct limit *limit = t->limit;
    check_limit(limit);
    if (limit->v.gone || limit_is_idle(limit))
        limit_free(&e->ready.limits, limit);
}

static void commit_breaker(struct engine *e, struct touched *t)
{
    breaker_forget_if_idle(&e->ready.breakers, t->breaker);
}

static void commit_permit(struct engine *e, struct touched *t)
{
    if (t->permit->v.gone)
        permit_free(e, t->permit);
}

static void commit_calendar(struct engine *e, struct touched *t)
{
    if (t->before.calendar.book != t->calendar->v.book)
        book_free(t->before.calendar.book);
    calendar_forget_if_unused(e, t->calendar);
}

/* ---- the table of all that can be touched */

enum { UNDO_PASSES = 10, UNDO_CALENDARS = UNDO_PASSES - 1, COMMIT_PASSES = 4 };

/* One row per kind of thing: where its values stand, and how either end of a turn treats it.
 *
 * Both ends go by passes. Undo has a pass for each kind, and takes the newest touch first: whatever
 * holds work back (queues, limits, permits, breakers) is as it was before executions are placed
 * again; edges go before their executions, executions before the workers and jobs that count them,
 * and calendars last, when no definition of the turn names them any more. Commit takes the oldest
 * touch first: limits and breakers while something still names them, edges before their executions,
 * executions before their jobs, and then the rest together. */
struct thing_kind {
    size_t values_at; /* offset of `v` */
    size_t values_size;
    size_t touched_at; /* offset of `touched` */
    bool apart;        /* the values are many bytes: copied beside struct touched, not into it */
    unsigned undo_pass;
    unsigned commit_pass;
    void (*undo)(struct engine *, struct touched *);
    void (*commit)(struct engine *, struct touched *);
};

#define VALUES_OF(type)                                                                            \
    .values_at = offsetof(struct type, v), .values_size = sizeof(((struct type *)NULL)->v),        \
    .touched_at = offsetof(struct type, touched)

/* clang-format off */
static const struct thing_kind kinds[THINGS] = {
    [THING_OPERATION] = {VALUES_OF(operation), .apart = true,
                         .undo_pass = 0, .undo = undo_operation,
                         .commit_pass = 3, .commit = commit_operation},
    [THING_QUEUE] = {VALUES_OF(queue), .undo_pass = 1, .undo = undo_queue,
                     .commit_pass = 3, .commit = commit_queue},
    [THING_LIMIT] = {VALUES_OF(limit), .undo_pass = 2, .undo = undo_limit,
                     .commit_pass = 0, .commit = commit_limit},
    [THING_PERMIT] = {VALUES_OF(permit), .undo_pass = 3, .undo = undo_permit,
                      .commit_pass = 3, .commit = commit_permit},
    [THING_BREAKER] = {VALUES_OF(breaker), .undo_pass = 4, .undo = undo_breaker,
                       .commit_pass = 0, .commit = commit_breaker},
    [THING_EDGE] = {VALUES_OF(edge), .undo_pass = 5, .undo = undo_edge,
                    .commit_pass = 1, .commit = commit_edge},
    [THING_EXEC] = {VALUES_OF(exec), .undo_pass = 6, .undo = undo_exec,
                    .commit_pass = 2, .commit = commit_exec},
    [THING_WORKER] = {VALUES_OF(worker), .undo_pass = 7, .undo = undo_worker,
                      .commit_pass = 3, .commit = commit_worker},
    [THING_JOB] = {VALUES_OF(job), .undo_pass = 8, .undo = undo_job,
                   .commit_pass = 3, .commit = commit_job},
    [THING_CALENDAR] = {VALUES_OF(named_calendar), .undo_pass = UNDO_CALENDARS,
                        .undo = undo_calendar, .commit_pass = 3, .commit = commit_calendar},
};
/* clang-format on */

static struct touched **touched_of(enum thing thing, void *ptr)
{
    return (struct touched **)(void *)((char *)ptr + kinds[thing].touched_at);
}

/* The thing is as if it had never been touched; *t lives on in the turn's arena. */
static void let_go(struct touched *t)
{
    struct touched **touched = touched_of(t->thing, t->ptr);
    assert(*touched == t);
    *touched = NULL;
}

/* ---- touch */

/* The first touch of a thing in this turn. */
static struct touched *touch(struct engine *e, enum thing thing, void *ptr)
{
    const struct thing_kind *kind = &kinds[thing];
    const char *values = (const char *)ptr + kind->values_at;
    assert(in_turn(e));
    struct touched *t = ARENA_NEW(e->turn.arena, struct touched);
    t->thing = thing;
    t->ptr = ptr;
    t->stored = true; /* touch_new knows better */
    void *image = kind->apart ? arena_alloc(e->turn.arena, kind->values_size) : &t->before;
    memcpy(image, values, kind->values_size);
    if (kind->apart)
        t->before.apart = image;
    *VEC_PUSH(e->turn.arena, &e->turn.touched) = t;
    *touched_of(thing, ptr) = t;
    return t;
}

struct touched *touch_job(struct engine *e, struct job *job)
{
    return job->touched != NULL ? job->touched : touch(e, THING_JOB, job);
}

struct touched *touch_exec(struct engine *e, struct exec *x)
{
    return x->touched != NULL ? x->touched : touch(e, THING_EXEC, x);
}

struct touched *touch_worker(struct engine *e, struct worker *w)
{
    return w->touched != NULL ? w->touched : touch(e, THING_WORKER, w);
}

struct touched *touch_queue(struct engine *e, struct queue *q)
{
    return q->touched != NULL ? q->touched : touch(e, THING_QUEUE, q);
}

struct touched *touch_limit(struct engine *e, struct limit *limit)
{
    return limit->touched != NULL ? limit->touched : touch(e, THING_LIMIT, limit);
}

struct touched *touch_breaker(struct engine *e, struct breaker *b)
{
    return b->touched != NULL ? b->touched : touch(e, THING_BREAKER, b);
}

struct touched *touch_edge(struct engine *e, struct edge *edge)
{
    return edge->touched != NULL ? edge->touched : touch(e, THING_EDGE, edge);
}

struct touched *touch_operation(struct engine *e, struct operation *op)
{
    return op->touched != NULL ? op->touched : touch(e, THING_OPERATION, op);
}

struct touched *touch_calendar(struct engine *e, struct named_calendar *calendar)
{
    return calendar->touched != NULL ? calendar->touched : touch(e, THING_CALENDAR, calendar);
}

struct touched *touch_permit(struct engine *e, struct permit *p)
{
    return p->touched != NULL ? p->touched : touch(e, THING_PERMIT, p);
}

struct touched *touch_new(struct touched *t, bool stored)
{
    assert(!t->is_new);
    t->is_new = true;
    t->stored = stored;
    t->durable = !stored;
    return t;
}

/* ---- the two ends of a turn */

static void undo_pass(struct engine *e, unsigned pass)
{
    for (size_t i = e->turn.touched.len; i-- > 0;) {
        struct touched *t = e->turn.touched.items[i];
        if (kinds[t->thing].undo_pass == pass) {
            let_go(t);
            kinds[t->thing].undo(e, t);
        }
    }
}

static void commit_pass(struct engine *e, unsigned pass)
{
    for (size_t i = 0; i < e->turn.touched.len; i++) {
        struct touched *t = e->turn.touched.items[i];
        if (kinds[t->thing].commit_pass == pass) {
            let_go(t);
            kinds[t->thing].commit(e, t);
        }
    }
}

static void close_polls(struct engine *e)
{
    for (struct list_node *node; (node = list_pop_front(&e->turn.open)) != NULL;) {
        struct worker *w = CONTAINER_OF(node, struct worker, turn.node);
        memset(&w->turn, 0, sizeof w->turn);
    }
}

/* Between turns all idle queues are looked at again (queues_wait_ms). */
static void end_turn(struct engine *e)
{
    e->turn.idle_next = NULL;
    e->turn.arena = NULL;
}

static void free_passed_over(struct engine *e)
{
    for (size_t i = 0; i < e->turn.passed_over.len; i++)
        definition_free(e, e->turn.passed_over.items[i]);
}

static void leave_letters(struct engine *e)
{
    for (size_t i = 0; i < e->turn.letters_gone.len; i++)
        queue_leave(e, e->turn.letters_gone.items[i].queue);
}

static void numbers_commit(const struct engine *e, struct queue *q)
{
    for (uint32_t p = 0; p < e->owned.count; p++) {
        if (q->changes[p] != NULL)
            numbers_add(&q->now, q->changes[p]);
    }
}

static void commit_counters(struct engine *e)
{
    for (struct list_node *node; (node = list_pop_front(&e->turn.changed_queues)) != NULL;) {
        struct queue *q = CONTAINER_OF(node, struct queue, changed);
        numbers_commit(e, q);
        q->changes = NULL;
        if (q->now.execs[EXEC_QUEUED] > 0)
            alerts_arm(e);
        q->known = true;
        queue_look(e, q);
    }
}

void engine_undo(struct engine *e)
{
    assert(in_turn(e));
    close_polls(e);
    forecast_drop(e->forecast);
    while (list_pop_front(&e->turn.done) != NULL) /* their owner has them; they are asked again */
        continue;
    for (struct list_node *node; (node = list_pop_front(&e->turn.changed_queues)) != NULL;) {
        struct queue *q = CONTAINER_OF(node, struct queue, changed);
        if (PLANTED(counter_drifts))
            numbers_commit(e, q);
        q->changes = NULL;
    }
    for (unsigned pass = 0; pass < UNDO_CALENDARS; pass++)
        undo_pass(e, pass);
    free_passed_over(e);
    leave_letters(e);
    undo_pass(e, UNDO_CALENDARS);
    e->calendars.changes = e->turn.before.calendar_changes;
    e->horizon = e->turn.before.horizon;
    e->bucket = e->turn.before.bucket; /* decided again, all jobs go to the same partitions */
    e->retain = e->turn.before.retain;
    e->operations.pace = e->turn.before.pace;
    e->clock.v = e->turn.before.clock;
    e->newest_ready_ms = e->turn.before.newest_ready_ms;
    mail_undo(e);
    end_turn(e);
}

void engine_commit(struct engine *e, struct list *ret_done, const struct event **ret_events,
                   size_t *ret_event_count)
{
    assert(in_turn(e) && e->turn.sealed);
    close_polls(e);
    if (!e->turn.away) {
        zones_renewed(e);
        e->slept = false;
    }
    if (!delta_is_empty(&e->turn.delta)) {
        assert(e->turn.delta.turn > e->newest.turn);
        e->newest.turn = e->turn.delta.turn;
    }
    alerts_commit(e);
    silences_commit(e);
    mail_commit(e);
    operations_commit(e);
    commit_counters(e);
    for (unsigned pass = 0; pass < COMMIT_PASSES; pass++)
        commit_pass(e, pass);
    free_passed_over(e);
    leave_letters(e);
    list_splice_back(ret_done, &e->turn.done);
    *ret_events = e->turn.events.items;
    *ret_event_count = e->turn.events.len;
    end_turn(e);
}
