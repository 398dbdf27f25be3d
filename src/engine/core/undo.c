/* undo.c - before-images of one turn, and the two ways it can end.
 *
 * The first touch of a thing in a turn keeps its values; undo puts them back. Things made in the
 * turn are freed by undo; things that ended in it stay in the maps until commit, so that a second
 * command of the same turn still finds them, and sees that they ended. Executions come first and
 * jobs last, both ways: an execution is placed on its worker and counted by its job. */
#include "engine/core/internal.h"
#include "engine/ready/limit_remote.h"

#include <string.h>

static struct touched *touch(struct engine *e, enum thing thing)
{
    struct touched *t = ARENA_NEW(e->arena, struct touched);
    t->thing = thing;
    t->stored = true; /* touch_new knows better */
    *VEC_PUSH(e->arena, &e->touched) = t;
    return t;
}

struct touched *touch_job(struct engine *e, struct job *job)
{
    if (job->touched == NULL) {
        job->touched = touch(e, THING_JOB);
        job->touched->job = job;
        job->touched->before.job = job->v;
    }
    return job->touched;
}

struct touched *touch_exec(struct engine *e, struct exec *x)
{
    if (x->touched == NULL) {
        x->touched = touch(e, THING_EXEC);
        x->touched->exec = x;
        x->touched->before.exec = x->v;
    }
    return x->touched;
}

struct touched *touch_worker(struct engine *e, struct worker *w)
{
    if (w->touched == NULL) {
        w->touched = touch(e, THING_WORKER);
        w->touched->worker = w;
        w->touched->before.worker = w->v;
    }
    return w->touched;
}

struct touched *touch_queue(struct engine *e, struct queue *q)
{
    if (q->touched == NULL) {
        q->touched = touch(e, THING_QUEUE);
        q->touched->queue = q;
        q->touched->before.queue = q->v;
    }
    return q->touched;
}

struct touched *touch_limit(struct engine *e, struct limit *limit)
{
    if (limit->touched == NULL) {
        limit->touched = touch(e, THING_LIMIT);
        limit->touched->limit = limit;
        limit->touched->before.limit = limit->v;
    }
    return limit->touched;
}

struct touched *touch_breaker(struct engine *e, struct breaker *b)
{
    if (b->touched == NULL) {
        b->touched = touch(e, THING_BREAKER);
        b->touched->breaker = b;
        b->touched->before.breaker = b->v;
    }
    return b->touched;
}

struct touched *touch_edge(struct engine *e, struct edge *edge)
{
    if (edge->touched == NULL) {
        edge->touched = touch(e, THING_EDGE);
        edge->touched->edge = edge;
        edge->touched->before.edge = edge->v;
    }
    return edge->touched;
}

struct touched *touch_operation(struct engine *e, struct operation *op)
{
    if (op->touched == NULL) {
        op->touched = touch(e, THING_OPERATION);
        op->touched->operation = op;
        struct operation_values *before = ARENA_NEW(e->arena, struct operation_values);
        *before = op->v;
        op->touched->before.operation = before;
    }
    return op->touched;
}

struct touched *touch_calendar(struct engine *e, struct named_calendar *calendar)
{
    if (calendar->touched == NULL) {
        calendar->touched = touch(e, THING_CALENDAR);
        calendar->touched->calendar = calendar;
        calendar->touched->before.calendar = calendar->v;
    }
    return calendar->touched;
}

struct touched *touch_permit(struct engine *e, struct permit *p)
{
    if (p->touched == NULL) {
        p->touched = touch(e, THING_PERMIT);
        p->touched->permit = p;
        p->touched->before.permit = p->v;
    }
    return p->touched;
}

struct touched *touch_new(struct engine *e, enum thing thing, void *ptr, bool stored)
{
    struct touched *t = thing == THING_JOB         ? touch_job(e, ptr)
                        : thing == THING_EXEC      ? touch_exec(e, ptr)
                        : thing == THING_EDGE      ? touch_edge(e, ptr)
                        : thing == THING_OPERATION ? touch_operation(e, ptr)
                        : thing == THING_PERMIT    ? touch_permit(e, ptr)
                                                   : touch_worker(e, ptr);
    t->is_new = true;
    t->stored = stored;
    t->durable = !stored;
    return t;
}

/* ---- undo */

static void undo_exec(struct engine *e, struct touched *t)
{
    struct exec *x = t->exec;
    x->touched = NULL;
    if (PLANTED(image_forgets_field))
        t->before.exec.attempts = x->v.attempts;
    if (t->is_new) {
        exec_unplace(e, x);
        exec_free(e, x);
    } else {
        exec_set(e, x, &t->before.exec);
        if (!x->v.recharged)
            charge_drop(e, x);
    }
}

static void undo_worker(struct engine *e, struct touched *t)
{
    struct worker *w = t->worker;
    worker_unplace(e, w);
    w->v = t->before.worker;
    if (PLANTED(undo_forgets_parked))
        w->v.parked = NULL;
    w->touched = NULL;
    if (t->is_new) {
        worker_disown(e, w);
        worker_free(e, w);
    } else {
        worker_place(e, w);
    }
}

static void undo_job(struct engine *e, struct touched *t)
{
    struct definition *newer = t->job->v.def;
    t->job->touched = NULL;
    job_set_values(e, t->job, &t->before.job);
    if (newer != t->job->v.def)
        definition_free(e, newer);
    if (t->job->exec_count == 0)
        job_free(e, t->job);
}

static void undo_queue(struct engine *e, struct touched *t)
{
    t->queue->touched = NULL;
    queue_set(e, t->queue, &t->before.queue);
    queue_undone(e, t->queue);
}

static void undo_limit(struct engine *e, struct touched *t)
{
    t->limit->touched = NULL;
    ready_limit(&e->ready, t->limit, &t->before.limit);
    if (limit_is_idle(t->limit))
        limit_free(&e->ready.limits, t->limit);
}

static void undo_breaker(struct engine *e, struct touched *t)
{
    t->breaker->touched = NULL;
    ready_breaker(&e->ready, t->breaker, &t->before.breaker);
    breaker_forget_if_idle(&e->ready.breakers, t->breaker);
}

static void undo_edge(struct engine *e, struct touched *t)
{
    t->edge->touched = NULL;
    if (t->is_new)
        edge_free(e, t->edge);
    else
        edge_set(e, t->edge, &t->before.edge);
}

static void undo_operation(struct engine *e, struct touched *t)
{
    t->operation->touched = NULL;
    t->operation->v = *t->before.operation;
    if (t->is_new)
        operation_free(e, t->operation);
}

static void undo_calendar(struct engine *e, struct touched *t)
{
    struct book *newer = t->calendar->v.book;
    t->calendar->touched = NULL;
    calendar_set(e, t->calendar, &t->before.calendar);
    if (newer != t->calendar->v.book)
        book_free(newer);
    calendar_forget_if_unused(e, t->calendar);
}

static void undo_permit(struct engine *e, struct touched *t)
{
    t->permit->touched = NULL;
    if (t->is_new)
        permit_free(e, t->permit);
    else
        permit_set(e, t->permit, &t->before.permit);
}

static void undo_things(struct engine *e, enum thing thing,
                        void (*undo)(struct engine *, struct touched *))
{
    for (size_t i = e->touched.len; i-- > 0;) {
        if (e->touched.items[i]->thing == thing)
            undo(e, e->touched.items[i]);
    }
}

static void close_polls(struct engine *e)
{
    for (struct list_node *node; (node = list_pop_front(&e->open)) != NULL;) {
        struct worker *w = CONTAINER_OF(node, struct worker, turn.node);
        memset(&w->turn, 0, sizeof w->turn);
    }
}

static void free_passed_over(struct engine *e)
{
    for (size_t i = 0; i < e->passed_over.len; i++)
        definition_free(e, e->passed_over.items[i]);
}

static void leave_letters(struct engine *e)
{
    for (size_t i = 0; i < e->letters_gone.len; i++)
        queue_leave(e, e->letters_gone.items[i].queue);
}

static void numbers_commit(const struct engine *e, struct queue *q)
{
    for (uint32_t p = 0; p < e->owned.count; p++) {
        if (q->changes[p] != NULL)
            numbers_add(&q->now, q->changes[p]);
    }
}

void engine_undo(struct engine *e)
{
    close_polls(e);
    e->idle_next = NULL;
    while (list_pop_front(&e->done) != NULL) /* their owner has them; they are asked again */
        continue;
    for (struct list_node *node; (node = list_pop_front(&e->changed_queues)) != NULL;) {
        struct queue *q = CONTAINER_OF(node, struct queue, changed);
        if (PLANTED(counter_drifts))
            numbers_commit(e, q);
        q->changes = NULL;
    }
    undo_things(e, THING_OPERATION, undo_operation);
    undo_things(e, THING_QUEUE, undo_queue);
    undo_things(e, THING_LIMIT, undo_limit);
    undo_things(e, THING_PERMIT, undo_permit);
    undo_things(e, THING_BREAKER, undo_breaker);
    undo_things(e, THING_EDGE, undo_edge);
    undo_things(e, THING_EXEC, undo_exec);
    undo_things(e, THING_WORKER, undo_worker);
    undo_things(e, THING_JOB, undo_job);
    free_passed_over(e);
    leave_letters(e);
    undo_things(e, THING_CALENDAR, undo_calendar);
    e->calendar_changes = e->calendar_changes_before;
    e->horizon = e->horizon_before;
    e->bucket = e->bucket_before; /* decided again, everything goes to the same partitions */
    e->retain = e->retain_before;
    e->clock = e->clock_before;
    e->newest_ready_ms = e->newest_ready_before_ms;
    mail_undo(e);
    e->arena = NULL;
}

/* ---- commit */

static void commit_counters(struct engine *e)
{
    for (struct list_node *node; (node = list_pop_front(&e->changed_queues)) != NULL;) {
        struct queue *q = CONTAINER_OF(node, struct queue, changed);
        numbers_commit(e, q);
        q->changes = NULL;
        if (q->now.execs[EXEC_QUEUED] > 0)
            alerts_arm(e);
        q->known = true;
        queue_look(e, q);
    }
}

static void commit_operation(struct engine *e, struct operation *op)
{
    op->touched = NULL;
    if (op->v.gone)
        operation_free(e, op);
}

static void commit_edge(struct engine *e, struct edge *edge)
{
    edge->touched = NULL;
    if (edge->v.state != DEPENDENCY_WAITING && edge->v.state != DEPENDENCY_PER_SLOT)
        edge_free(e, edge);
}

static void commit_exec(struct engine *e, struct exec *x)
{
    x->touched = NULL;
    if (!x->v.recharged)
        charge_drop(e, x);
    if (exec_is_final(x->v.state))
        alerts_count(e, x);
    if (exec_is_final(x->v.state) || beyond_horizon(e, x)) {
        exec_unplace(e, x);
        exec_free(e, x);
    }
}

static void commit_worker(struct engine *e, struct worker *w)
{
    w->touched = NULL;
    if (w->v.gone)
        worker_free(e, w);
}

static void commit_job(struct engine *e, struct touched *t)
{
    struct job *job = t->job;
    job->touched = NULL;
    if (t->before.job.def != job->v.def)
        definition_free(e, t->before.job.def);
    if (job->exec_count == 0)
        job_free(e, job);
}

static void commit_limit(struct engine *e, struct limit *limit)
{
    limit->touched = NULL;
    if (limit->v.gone || limit_is_idle(limit))
        limit_free(&e->ready.limits, limit);
}

static void commit_breaker(struct engine *e, struct breaker *b)
{
    b->touched = NULL;
    breaker_forget_if_idle(&e->ready.breakers, b);
}

static void commit_permit(struct engine *e, struct permit *p)
{
    p->touched = NULL;
    if (p->v.gone)
        permit_free(e, p);
}

static void commit_calendar(struct engine *e, struct touched *t)
{
    t->calendar->touched = NULL;
    if (t->before.calendar.book != t->calendar->v.book)
        book_free(t->before.calendar.book);
    calendar_forget_if_unused(e, t->calendar);
}

void engine_commit(struct engine *e, struct list *ret_done, const struct event **ret_events,
                   size_t *ret_event_count)
{
    close_polls(e);
    e->idle_next = NULL;
    if (!e->away) {
        zones_renewed(e);
        e->slept = false;
    }
    if (!delta_is_empty(&e->delta))
        e->turn = e->delta.turn;
    alerts_commit(e);
    mail_commit(e);
    commit_counters(e);
    for (size_t i = 0; i < e->touched.len; i++) { /* before the last that names one can be gone */
        if (e->touched.items[i]->thing == THING_LIMIT)
            commit_limit(e, e->touched.items[i]->limit);
        else if (e->touched.items[i]->thing == THING_BREAKER)
            commit_breaker(e, e->touched.items[i]->breaker);
    }
    for (size_t i = 0; i < e->touched.len; i++) {
        if (e->touched.items[i]->thing == THING_EDGE) /* before its job can be gone */
            commit_edge(e, e->touched.items[i]->edge);
    }
    for (size_t i = 0; i < e->touched.len; i++) {
        if (e->touched.items[i]->thing == THING_EXEC)
            commit_exec(e, e->touched.items[i]->exec);
    }
    for (size_t i = 0; i < e->touched.len; i++) {
        struct touched *t = e->touched.items[i];
        if (t->thing == THING_JOB)
            commit_job(e, t);
        else if (t->thing == THING_WORKER)
            commit_worker(e, t->worker);
        else if (t->thing == THING_QUEUE)
            queue_commit(e, t->queue);
        else if (t->thing == THING_OPERATION)
            commit_operation(e, t->operation);
        else if (t->thing == THING_CALENDAR)
            commit_calendar(e, t);
        else if (t->thing == THING_PERMIT)
            commit_permit(e, t->permit);
    }
    free_passed_over(e);
    leave_letters(e);
    list_splice_back(ret_done, &e->done);
    *ret_events = e->events.items;
    *ret_event_count = e->events.len;
    e->arena = NULL;
}
