/* exec.c - executions in memory: making them, placing them, moving them. */
#include "engine/core/exec.h"
#include "base/mem.h"
#include "base/plant.h"
#include "engine/core/alerts.h"
#include "engine/core/letters.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/depend/depends.h"
#include "engine/estimate/estimate.h"
#include "engine/ready/breakers.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/queues.h"
#include "engine/ready/report.h"
#include "engine/ready/silence.h"
#include "engine/ready/workers.h"
#include "engine/submit/definition.h"
#include "engine/submit/unique.h"
#include "engine/time/calendars.h"
#include "engine/time/deadlines.h"
#include "engine/time/expect.h"
#include "engine/time/sla.h"
#include "engine/time/slots.h"
#include "engine/time/slow_runs.h"
#include "engine/time/steps.h"
#include "engine/trace/traces.h"
#include "job/record/trail.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_MAX = 2 * TRAIL_REASON_MAX + 128 };

/* ---- trails */

static void add_step(struct engine *e, struct touched *t, struct trail_step step)
{
    char line_bytes[STEP_MAX];
    struct buf line = {.ptr = line_bytes, .cap = sizeof line_bytes, .max = sizeof line_bytes};
    step.at_ms = e->now_ms;
    trail_add(&line, &step);
    size_t len = t->steps.len + line.len;
    char *both = arena_bytes(e->turn.arena, len);
    if (t->steps.len > 0)
        memcpy(both, t->steps.ptr, t->steps.len);
    memcpy(both + t->steps.len, line.ptr, line.len);
    t->steps = str_of(both, len);
    t->durable = true;
}

void job_set(struct engine *e, struct job *job, enum job_state state, struct str event,
             struct str actor, struct str reason)
{
    struct touched *t = touch_job(e, job);
    struct job_values to = job->v;
    to.state = state;
    to.finished_ms = job_is_over(state) ? later_ms(e->now_ms, job->created_ms) : 0;
    job_set_values(e, job, &to);
    add_step(e, t,
             (struct trail_step){
                 .event = event, .state = job_state_name(state), .actor = actor, .reason = reason});
}

void exec_note(struct engine *e, struct exec *x, struct str event, struct str actor,
               struct str reason)
{
    add_step(e, touch_exec(e, x),
             (struct trail_step){.event = event,
                                 .state = exec_state_name(x->v.state),
                                 .actor = actor,
                                 .reason = reason});
}

/* Of an attempt whose worker says that it is over; -1: this is no such event. */
static int64_t took_ms(const struct engine *e, const struct exec *x, enum exec_event event)
{
    bool ends = event == EV_SUCCEED || event == EV_RETRY || event == EV_EXHAUST ||
                event == EV_EXPIRE || event == EV_STOPPED;
    return ends && x->v.started_ms > 0 ? later_ms(e->now_ms - x->v.started_ms, 0) : -1;
}

/* Of an attempt that is over. The commit may forget it with the last job that has it. */
static struct str handler_of(struct engine *e, const struct exec *x, enum exec_event event,
                             int64_t attempt_ms)
{
    bool over = attempt_ms >= 0 || event == EV_LOST || event == EV_QUARANTINE;
    return over ? arena_str(e->turn.arena, x->job->v.def->rules.track->lane->handler) : STR("");
}

static void record(struct engine *e, struct exec *x, enum exec_event event, struct str actor,
                   struct str reason, uint64_t log_seq, int64_t before_ms)
{
    int64_t attempt_ms = took_ms(e, x, event);
    add_step(e, touch_exec(e, x),
             (struct trail_step){.event = exec_event_name(event),
                                 .state = exec_state_name(x->v.state),
                                 .actor = actor,
                                 .reason = reason});
    *VEC_PUSH(e->turn.arena, &e->turn.events) = (struct event){
        .at_ms = e->now_ms,
        .job_id = x->job->id,
        .exec_id = x->id,
        .token = x->v.lease.token,
        .log_seq = log_seq,
        .event = event,
        .waited_ms = event == EV_LEASE ? start_wait_ms(e, x, before_ms) : -1,
        .lag_ms = event == EV_LEASE ? start_lag_ms(e, x) : -1,
        .took_ms = attempt_ms,
        .state = x->v.state,
        .queue = x->job->v.def->rules.queue->name,
        .handler = handler_of(e, x, event, attempt_ms),
        .of_ping = x->origin == ORIGIN_PING,
    };
    trace_of_event(e, x);
}

/* ---- executions */

struct exec *exec_new(struct engine *e, uint64_t id, struct job *job)
{
    struct exec *x = MEM_NEW(struct exec);
    x->id = id;
    x->job = job;
    x->term.kind = TERM_LEASE;
    x->v.unsure = e->moment.unsure;
    x->v.newer = steps_pending(e);
    job->exec_count++;
    list_push_back(&job->execs, &x->sibling);
    map_put(&e->execs, id, x);
    return x;
}

static int by_id(const void *a, const void *b)
{
    uint64_t left = (*(struct exec *const *)a)->id;
    uint64_t right = (*(struct exec *const *)b)->id;
    return left < right ? -1 : left > right;
}

void execs_sort(struct exec **execs, size_t count)
{
    if (count > 1)
        qsort(execs, count, sizeof(struct exec *), by_id);
}

void exec_free(struct engine *e, struct exec *x)
{
    struct job *job = x->job;
    assert(x->touched == NULL && job->exec_count > 0);
    assert(!heap_holds(&x->due) && !heap_holds(&x->ready) && !heap_holds(&x->term.node));
    map_remove(&e->execs, x->id);
    job->exec_count--;
    list_remove(&x->sibling);
    charge_drop(e, x);
    trace_drop(e, x);
    free(x);
    if (job->exec_count == 0 && job->touched == NULL)
        job_free(e, job);
}

/* Undo puts back what had left, last first, so a walk from the front is short. */
void lease_place(struct worker *w, struct exec *x)
{
    struct list_node *at = &w->leases.head;
    if (w->busy > 0 && CONTAINER_OF(at->prev, struct exec, on_worker)->v.granted > x->v.granted) {
        at = at->next;
        while (CONTAINER_OF(at, struct exec, on_worker)->v.granted < x->v.granted)
            at = at->next;
    }
    list_insert_before(at, &x->on_worker);
    w->busy++;
    w->worker_class->busy++;
}

static bool holds_permit(enum exec_state state)
{
    return !(PLANTED(permit_freed_early) && state == EXEC_STOPPING);
}

static bool waits_for_its_time(const struct exec *x)
{
    return exec_is_waiting(x->v.state) && x->job->v.state != JOB_PAUSED && !expect_is_missed(x);
}

/* Where its node stands: for what is leased see watch_place. */
static struct heap *timers_of(struct engine *e, const struct exec *x)
{
    bool due = waits_for_its_time(x) || exec_is_leased(x->v.state);
    return due ? &e->dues : &e->deadlines;
}

/* An execution that was due has no other use for the node. */
static void deadline_place(struct engine *e, struct exec *x)
{
    int64_t at_ms = deadline_ms(x);
    if (at_ms != NO_DEADLINE_MS)
        heap_push(&e->deadlines, &x->due, (uint64_t)at_ms, x->id);
}

struct track *exec_track(struct engine *e, const struct exec *x)
{
    struct track *track = x->job->v.def->rules.track;
    if (exec_is_suspect(x)) {
        track = ready_shadow(&e->ready, track);
        queue_join(e, x->job->v.def->rules.queue, track->lane);
    }
    return exec_has_permits(x) ? ready_twin(&e->ready, track) : track;
}

/* Permits that it has asked for count as if it ran, so no more are asked for than there can be. */
static void lend(struct engine *e, const struct exec *x, int by)
{
    struct track *track = x->job->v.def->rules.track;
    queue_lend(e, x->job->v.def->rules.queue, by);
    if (track->bars[BAR_CONCURRENCY].limit != NULL)
        ready_lend(&e->ready, track->bars[BAR_CONCURRENCY].limit, by);
    if (track->bars[BAR_TEAM].limit != NULL)
        ready_lend(&e->ready, track->bars[BAR_TEAM].limit, by);
    ready_want_rate(&e->ready, track, by);
}

/* A leased execution waits for no moment of its own: the node says when to look at how long it
 * takes, for its SLA or because that is unusual. */
static void watch_place(struct engine *e, struct exec *x)
{
    int64_t sla_ms = sla_next_ms(x);
    int64_t pace_ms = pace_next_ms(e, x);
    int64_t at_ms = sla_ms == 0 || (pace_ms > 0 && pace_ms < sla_ms) ? pace_ms : sla_ms;
    if (at_ms > 0)
        heap_set(&e->dues, &x->due, (uint64_t)at_ms, x->id);
    else
        heap_remove(&e->dues, &x->due);
    if (x->v.pace == PACE_ASKING && slow_runs_watches(e, x))
        heap_set(&e->pacing, &x->ready, x->id, 0);
    else
        heap_remove(&e->pacing, &x->ready);
}

void exec_place(struct engine *e, struct exec *x)
{
    assert(!list_linked(&x->on_worker)); /* heaps look after their own nodes */
    bool paused = x->job->v.state == JOB_PAUSED;
    if (waits_for_its_time(x)) {
        heap_push(&e->dues, &x->due, (uint64_t)x->v.due_ms, x->id);
        if (exec_is_held(x))
            heap_push(&e->calendars.held, &x->ready, x->v.looked, x->id);
    } else {
        deadline_place(e, x);
    }
    if (exec_has_permits(x)) {
        heap_push(&e->terms, &x->term.node, (uint64_t)x->v.give_back_ms, x->id);
        lend(e, x, 1);
    }
    if (x->v.state == EXEC_QUEUED && !paused && x->v.wants == 0) {
        bool lost_rank = PLANTED(order_lost_on_requeue) && x->v.lease.token > 0;
        ready_put(&e->ready, exec_track(e, x), &x->ready,
                  lost_rank ? 0 : x->job->v.def->rules.priority, x->v.ready_ms, x->id);
    } else if (exec_is_leased(x->v.state)) {
        heap_push(&e->terms, &x->term.node, (uint64_t)x->v.lease.ends_ms, x->id);
        if (holds_permit(x->v.state))
            permits_take(e, x->job);
        struct worker *w = map_get(&e->workers, x->v.lease.worker_id);
        if (w != NULL)
            lease_place(w, x);
        else /* another server registered it, and it has not polled here yet; or it is forgotten */
            list_push_back(&e->orphans, &x->on_worker);
        watch_place(e, x);
    }
    unique_place(e, x);
}

void exec_unplace(struct engine *e, struct exec *x)
{
    unique_unplace(e, x);
    heap_remove(timers_of(e, x), &x->due);
    if (exec_is_held(x))
        heap_remove(&e->calendars.held, &x->ready);
    else if (exec_is_leased(x->v.state))
        heap_remove(&e->pacing, &x->ready);
    else if (heap_holds(&x->ready))
        ready_remove(&e->ready, exec_track(e, x), &x->ready);
    if (heap_holds(&x->term.node)) {
        heap_remove(&e->terms, &x->term.node);
        if (x->v.state == EXEC_QUEUED)
            lend(e, x, -1);
        else if (holds_permit(x->v.state))
            permits_return(e, x->job);
    }
    if (list_linked(&x->on_worker)) {
        struct worker *w = map_get(&e->workers, x->v.lease.worker_id);
        list_remove(&x->on_worker);
        if (w != NULL) {
            assert(w->busy > 0);
            w->busy--;
            w->worker_class->busy--;
        }
    }
}

/* Cancelling and renewing a run move nothing but its end, and when to look at it. */
static bool same_lease(const struct exec_values *a, const struct exec_values *b)
{
    return exec_is_leased(a->state) && exec_is_leased(b->state) && a->granted == b->granted;
}

void exec_set(struct engine *e, struct exec *x, const struct exec_values *to)
{
    if (same_lease(&x->v, to) && holds_permit(x->v.state) == holds_permit(to->state)) {
        x->v = *to;
        heap_set(&e->terms, &x->term.node, (uint64_t)x->v.lease.ends_ms, x->id);
        watch_place(e, x);
        return;
    }
    exec_unplace(e, x);
    x->v = *to;
    exec_place(e, x);
}

int64_t exec_limit_ms(const struct engine *e, const struct exec *x)
{
    int64_t timeout_ms = x->job->v.def->rules.timeout_ms;
    return timeout_ms == 0 ? 0 : timeout_ms + e->options.kill_grace_ms;
}

bool exec_timed_out(const struct engine *e, const struct exec *x)
{
    return x->v.times_out_ms != 0 && e->boot_ms >= x->v.times_out_ms;
}

void exec_start_clock(struct engine *e, struct exec *x)
{
    int64_t limit_ms = exec_limit_ms(e, x);
    touch_exec(e, x);
    x->v.times_out_ms = limit_ms == 0 ? 0 : e->boot_ms + limit_ms;
}

/* A job that runs once ends with its execution; one with a schedule when it is cancelled. */
static void finish(struct engine *e, struct exec *x, const struct move *move)
{
    struct job *job = x->job;
    depends_exec_over(e, x);
    if (job->v.def->schedule != NULL && !job_is_over(job->v.state)) {
        slot_unblock(e, job);
        return;
    }
    if (job_has_unfinished(job))
        return;
    if (!job_is_over(job->v.state))
        job_set(e, job, job_state_after(x->v.state), STR("finish"), move->actor, move->reason);
    if (job->name_len > 0) /* held until now, so that two of one name never run side by side */
        *VEC_PUSH(e->turn.arena, &e->turn.released) =
            (struct claim){.kind = CLAIM_NAME, .key = job_name(job), .holder = job->id};
    depends_over(e, job);
}

/* The attempt ends by its outcome, not by a cancel. */
static bool ends_attempt(enum exec_event event, enum exec_state next)
{
    return event == EV_RETRY || (exec_is_final(next) && event != EV_CANCEL);
}

/* A reason and an error for the record of the execution. */
static void note_end(struct touched *t, const struct move *move)
{
    t->why = move->why;
    if (move->event == EV_LEASE)
        t->error = (struct str){0}; /* of the attempt before */
    if (move->event == EV_SKIP || move->event == EV_OVERDUE)
        t->error = move->reason; /* lists show it */
}

/* Computes the values after the step, gives the execution the place that follows from them, and
 * then tells all that are concerned. The order is part of the promise that the same commands are
 * decided the same way:
 *
 *   1. the SLA, while the old values still say since when its clock runs;
 *   2. the homes of its permits, which go back in this turn, since that clears `wants` and `has`
 *      among the new values;
 *   3. the execution's place;
 *   4. its unique key, which is free from here on;
 *   5. its trail and the events that watchers see;
 *   6. the breaker of its target;
 *   7. the record's error and reason;
 *   8. the alert about a failure for good (one that a ping tells of has its own: expect.c);
 *   9. its job: dependants of the slot, the next run that waited for this one, the end of the job,
 *      its name, dependants of the job. That may move other executions, so all that concerns this
 *      one is done by then;
 *  10. another move, when the work turns out to be done already. */
void exec_move(struct engine *e, struct exec *x, const struct move *move)
{
    struct touched *t = touch_exec(e, x);
    enum exec_state next = exec_next(x->v.state, move->event);
    assert(next != EXEC_NONE);
    if (x->v.sla_since_ms > 0 && ends_attempt(move->event, next))
        sla_end(e, x);
    int64_t started_ms = x->v.started_ms;
    bool recharged = x->v.recharged;
    bool was_leased = exec_is_leased(x->v.state);
    bool was_unique = unique_held(x);
    struct exec_values to;
    exec_values_after(e, x, move, next, &to);
    bool waits_on = next == EXEC_QUEUED && x->v.state == EXEC_QUEUED;
    if ((to.wants | to.has) != 0 && !exec_is_leased(next) && !waits_on)
        permits_end(e, x, &to);
    exec_set(e, x, &to);
    if (move->event == EV_LEASE)
        exec_start_clock(e, x);
    if (was_unique && !unique_held(x))
        unique_release(e, x);
    record(e, x, move->event, move->actor, move->reason, move->log_seq, started_ms);
    if (was_leased)
        breaker_heard(e, x, move, recharged);
    note_end(t, move);
    if (exec_is_dead(x))
        alert_job_failed(e, x, move->reason);
    if (exec_is_final(next))
        finish(e, x, move);
    if (next == EXEC_QUEUED && to.effect_done) /* it is not to be done again */
        exec_deduplicate(e, x);
}

void exec_deduplicate(struct engine *e, struct exec *x)
{
    exec_move(e, x,
              &(struct move){.event = EV_DEDUPLICATE, .actor = SERVER, .reason = DONE_BEFORE});
}

void exec_cancel(struct engine *e, struct exec *x, struct str actor, struct str reason)
{
    if (exec_next(x->v.state, EV_CANCEL) == EXEC_NONE)
        return; /* over, or stopping already */
    if (PLANTED(report_after_cancel) && exec_is_leased(x->v.state))
        return;
    exec_move(e, x, &(struct move){.event = EV_CANCEL, .actor = actor, .reason = reason});
    if (PLANTED(stopping_given_away) && x->v.state == EXEC_STOPPING)
        report_silence(e, x, reason, BLAME_NONE);
    struct worker *w = map_get(&e->workers, x->v.lease.worker_id);
    if (x->v.state == EXEC_STOPPING && w != NULL && w->v.parked != NULL)
        worker_open(e, w); /* tell it now */
}

void exec_renew(struct engine *e, struct exec *x)
{
    touch_exec(e, x);
    struct exec_values to = x->v;
    if (!exec_timed_out(e, x) || PLANTED(timeout_renewed)) /* else it ends with its term */
        lease_renew(&to.lease, e->boot_ms, e->options.lease_ms);
    exec_set(e, x, &to);
}

void exec_created(struct engine *e, struct exec *x, struct str actor, struct str reason)
{
    exec_place(e, x);
    record(e, x, EV_CREATE, actor, reason, 0, 0);
}

/* The record of this attempt; the one that this turn wrote already, when a loss and the report
 * that was late for it came together. */
static struct attempt_rec *attempt_record(struct engine *e, struct exec *x)
{
    struct touched *t = touch_exec(e, x);
    if (t->attempt > 0 && e->turn.attempts.items[t->attempt - 1].token == x->v.lease.token)
        return &e->turn.attempts.items[t->attempt - 1];
    struct attempt_rec *record = VEC_PUSH(e->turn.arena, &e->turn.attempts);
    t->attempt = e->turn.attempts.len;
    return record;
}

void exec_end_attempt(struct engine *e, struct exec *x, const struct attempt_end *end)
{
    bool failed = end->class != FAILURE_NONE;
    if (end->outcome != OUTCOME_LOST && end->outcome != OUTCOME_RETURNED)
        estimate_learn(x, e->now_ms - x->v.started_ms);
    *attempt_record(e, x) = (struct attempt_rec){
        .exec_id = x->id,
        .token = x->v.lease.token,
        .number = x->v.attempts,
        .worker_id = x->v.lease.worker_id,
        .started_ms = x->v.started_ms,
        .ended_ms = later_ms(e->now_ms, x->v.started_ms),
        .outcome = end->outcome,
        .usage = end->usage,
        .error = end->error,
        .class = end->class,
        .fingerprint = failed ? failure_fingerprint(end->class, end->usage.exit_code,
                                                    end->usage.signal, end->tail, end->error)
                              : 0,
        .tail = end->tail,
    };
}
