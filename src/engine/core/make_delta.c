/* make_delta.c - the records that a turn leaves to be kept: the difference between before and
 * after. */
#include "engine/core/make_delta.h"
#include "base/plant.h"
#include "engine/core/exec.h"
#include "engine/core/letters.h"
#include "engine/core/model.h"
#include "engine/core/operations.h"
#include "engine/core/tally.h"
#include "engine/core/undo.h"
#include "engine/depend/depends.h"
#include "engine/ready/breakers.h"
#include "engine/ready/limit.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/queues.h"
#include "engine/ready/teams.h"
#include "engine/ready/workers.h"
#include "engine/time/calendars.h"
#include "engine/time/steps.h"
#include "engine/trace/traces.h"

#include <assert.h>

/* The numbers that the turn adds to a queue in the partition of this id. */
static struct numbers *change_of(struct engine *e, struct queue *q, uint64_t id)
{
    uint32_t partition = partition_of(e->owned.count, id);
    if (q->changes == NULL) {
        q->changes = ARENA_ARRAY(e->turn.arena, struct numbers *, e->owned.count);
        list_push_back(&e->turn.changed_queues, &q->changed);
    }
    if (q->changes[partition] == NULL)
        q->changes[partition] = ARENA_NEW(e->turn.arena, struct numbers);
    return q->changes[partition];
}

/* Where a thing was counted at the beginning of the turn: an edit may have moved its job since. */
static struct queue *queue_before(const struct job *job)
{
    return job->touched != NULL ? job->touched->before.job.def->rules.queue
                                : job->v.def->rules.queue;
}

static void count_job(struct engine *e, const struct job *job, enum job_state before)
{
    struct queue *from = queue_before(job);
    struct queue *to = job->v.def->rules.queue;
    if (before == job->v.state && from == to)
        return;
    if (before != JOB_NONE)
        change_of(e, from, job->id)->jobs[before]--;
    change_of(e, to, job->id)->jobs[job->v.state]++;
}

static void count_exec(struct engine *e, const struct exec *x, enum exec_state before)
{
    struct queue *from = queue_before(x->job);
    struct queue *to = x->job->v.def->rules.queue;
    if (before == x->v.state && from == to)
        return;
    if (before != EXEC_NONE)
        change_of(e, from, x->id)->execs[before]--;
    change_of(e, to, x->id)->execs[x->v.state]++;
}

static bool was_edited(const struct job *job)
{
    const struct touched *t = job->touched;
    return t != NULL && t->stored && t->before.job.def->rules.version != job->v.def->rules.version;
}

static struct job_change job_changed(struct engine *e, const struct touched *t)
{
    const struct job *job = t->job;
    const struct definition *def = job->v.def;
    count_job(e, job, t->before.job.state);
    struct job_change change = {
        .kind = t->stored ? CHANGE_UPDATE : CHANGE_INSERT,
        .redefined = was_edited(job),
        .job =
            {
                .id = job->id,
                .version = def->rules.version,
                .state = job->v.state,
                .name = job_name(job),
                .queue = def->rules.queue->name,
                .priority = def->rules.priority,
                .created_ms = job->created_ms,
                .finished_ms = job->v.finished_ms,
                .changed_ms = t->before.job.def != def ? e->now_ms : 0,
                .last_exec = job->v.last_exec,
            },
        .step = t->steps,
    };
    if (t->submission != NULL) {
        change.job.owner = t->submission->owner;
        change.job.team = t->submission->team;
        change.job.tags = t->submission->tags;
        change.job.spec = t->submission->spec;
        change.job.payload = t->submission->payload;
    }
    return change;
}

static enum change_kind exec_change_kind(const struct touched *t)
{
    bool final = exec_is_final(t->exec->v.state);
    if (t->stored)
        return final ? CHANGE_FINISH : CHANGE_UPDATE;
    return final ? CHANGE_RECORD : CHANGE_INSERT;
}

static bool has_moved(const struct touched *t)
{
    const struct exec_values *before = &t->before.exec;
    return before->slot_ms != t->exec->v.slot_ms || before->nominal_ms != t->exec->v.nominal_ms;
}

static struct exec_change exec_changed(struct engine *e, const struct touched *t)
{
    const struct exec *x = t->exec;
    const struct exec_values *v = &x->v;
    const struct definition *def = x->job->v.def;
    count_exec(e, x, t->before.exec.state);
    return (struct exec_change){
        .kind = exec_change_kind(t),
        .moved = t->stored && (was_edited(x->job) || has_moved(t)),
        .exec =
            {
                .id = x->id,
                .job_id = x->job->id,
                .state = v->state,
                .queue = def->rules.queue->name,
                .priority = def->rules.priority,
                .retry_of = x->retry_of,
                .first = x->first,
                .origin = x->origin,
                .slot_ms = x->v.slot_ms,
                .nominal_ms = x->v.nominal_ms,
                .slot_last_ms = v->slot_last_ms,
                .slot_count = v->slot_count,
                .created_ms = x->created_ms,
                .trace = trace_context(e, x),
                .due_ms = PLANTED(backoff_not_stored) && v->state == EXEC_RETRYING ? e->now_ms
                                                                                   : v->due_ms,
                .ready_ms = v->ready_ms,
                .started_ms = v->started_ms,
                .finished_ms = v->finished_ms,
                .attempts = v->attempts,
                .lost = v->lost,
                .returned = v->returned,
                .unseen = v->unseen,
                .proven = v->proven,
                .recharged = v->recharged,
                .charged = v->recharged ? *charge_of(e, x) : STR(""),
                .late = v->late,
                .sla_since_ms = v->sla_since_ms,
                .sla_extra_ms = v->sla_extra_ms,
                .sla_marks = v->sla_marks,
                .token = v->lease.token,
                .worker_id = lease_holder(&v->lease),
                .effect_done = v->effect_done,
                .own_payload = x->own_payload,
                .payload = t->payload,
                .result = t->result,
                .error = t->error,
            },
        .step = t->steps,
    };
}

/* The job's row would say nothing that the execution's does not: that it ended, when, and how. But
 * while a run of the job is still stopping, a start goes by the job's own row. */
static bool ends_job(const struct touched *exec, const struct touched *job)
{
    const struct job_values *before = &job->before.job;
    const struct job_values *after = &job->job->v;
    return job->durable && job->stored && after->last_exec == exec->exec->id &&
           before->last_exec == after->last_exec && before->def == after->def &&
           before->state == JOB_ACTIVE && after->state != JOB_ACTIVE &&
           after->finished_ms == exec->exec->v.finished_ms && !job_has_unfinished(job->job);
}

/* Points from an execution that is over to what is over with it. */
static void join_ends(struct engine *e, const struct touched *t, struct exec_change *change)
{
    const struct touched *job = t->exec->job->touched;
    if (change->kind != CHANGE_FINISH)
        return;
    if (job != NULL && ends_job(t, job)) {
        change->ends_job = job->change;
        job->change->with_exec = true;
    }
    /* A success that is late takes the place of a record that an earlier turn wrote. */
    if (t->attempt > 0 && exec_is_leased(t->before.exec.state)) {
        struct attempt_rec *attempt = &e->turn.attempts.items[t->attempt - 1];
        change->ends_attempt = attempt;
        attempt->with_exec = true;
    }
}

typedef VEC(struct counter) counter_vec;

static void add_numbers(struct engine *e, counter_vec *out, const struct queue *q,
                        uint32_t partition)
{
    const struct numbers *n = q->changes[partition];
    const struct {
        enum counter_kind kind;
        uint32_t states;
        const int64_t *values;
    } kinds[] = {{COUNTER_JOBS, JOB_STATES, n->jobs},
                 {COUNTER_EXECS, EXEC_STATES, n->execs},
                 {COUNTER_LETTERS, EXEC_STATES, n->letters}};
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        for (uint32_t i = 0; i < kinds[k].states; i++) {
            if (kinds[k].values[i] != 0)
                *VEC_PUSH(e->turn.arena, out) =
                    (struct counter){kinds[k].kind, q->name, i, kinds[k].values[i], partition};
        }
    }
}

static void add_counters(struct engine *e, struct delta *d)
{
    counter_vec counters = {0};
    LIST_EACH(&e->turn.changed_queues, node)
    {
        const struct queue *q = CONTAINER_OF(node, struct queue, changed);
        for (uint32_t p = 0; p < e->owned.count; p++) {
            if (q->changes[p] != NULL)
                add_numbers(e, &counters, q, p);
        }
    }
    d->counters = counters.items;
    d->counter_count = counters.len;
}

/* The parts of the delta that come from things that were touched: P(thing, many, type). */
#define TOUCHED_PARTS(P)                                                                           \
    P(THING_JOB, jobs, struct job_change)                                                          \
    P(THING_EXEC, execs, struct exec_change)                                                       \
    P(THING_WORKER, workers, struct worker_change)                                                 \
    P(THING_QUEUE, queues, struct queue_rec)                                                       \
    P(THING_QUEUE, queues_gone, struct queue_gone)                                                 \
    P(THING_LIMIT, teams, struct team_rec)                                                         \
    P(THING_LIMIT, rates, struct rate_change)                                                      \
    P(THING_BREAKER, breakers, struct breaker_rec)                                                 \
    P(THING_EDGE, dependencies, struct dependency_rec)                                             \
    P(THING_EDGE, waiters, struct waiter_change)                                                   \
    P(THING_OPERATION, operations, struct operation_change)                                        \
    P(THING_CALENDAR, calendars, struct calendar_change)

struct room {
#define ROOM_MEMBER(thing, many, type) type *many;
    TOUCHED_PARTS(ROOM_MEMBER)
};

/* Room in the delta for all that is to be kept, found by counting first: a turn of heartbeats
 * touches much and keeps nothing. */
static struct room make_room(struct engine *e, struct delta *d)
{
    size_t counts[THINGS] = {0};
    struct room room;
    for (size_t i = 0; i < e->turn.touched.len; i++)
        counts[e->turn.touched.items[i]->thing] += e->turn.touched.items[i]->durable;
#define MAKE_ROOM(thing, many, type)                                                               \
    d->many = room.many = ARENA_ROOM(e->turn.arena, type, counts[thing]);
    TOUCHED_PARTS(MAKE_ROOM)
    return room;
}

static void limit_changed(struct delta *d, const struct room *room, const struct limit *limit)
{
    if (limit->kind == LIMIT_TEAM)
        room->teams[d->team_count++] = team_record(limit);
    else
        room->rates[d->rate_count++] = (struct rate_change){
            .forget = limit->v.gone,
            .rate = {limit->key, limit->v.next_us, limit->v.interval_us},
        };
}

/* The settings of a queue are kept by the owner of the first partition alone: another server that
 * forgets the queue may not have heard of them yet. */
static void queue_changed(const struct engine *e, struct delta *d, const struct room *room,
                          const struct touched *t)
{
    const struct queue *q = t->queue;
    bool settings = t->before.queue.changed_ms != 0 && partition_has_bucket(&e->owned, 0);
    if (!q->v.gone && q->v.changed_ms != 0)
        room->queues[d->queue_count++] = queue_record(q);
    else if (q->v.gone || settings)
        room->queues_gone[d->queue_gone_count++] =
            (struct queue_gone){q->name, settings, q->v.gone};
}

/* One that was granted and used up in the turn that asked for it was never kept. */
static void permit_kept(struct engine *e, const struct touched *t)
{
    if (t->stored || !t->permit->v.gone)
        *VEC_PUSH(e->turn.arena, &e->turn.permit_changes) = permit_changed(t->permit);
}

/* One that was told in the turn in which it came to wait was never kept. */
static void edge_changed(struct delta *d, const struct room *room, const struct touched *t)
{
    if (t->edge->waiter == 0)
        room->dependencies[d->dependency_count++] = edge_record(t->edge);
    else if (t->stored || t->edge->v.state == DEPENDENCY_WAITING)
        room->waiters[d->waiter_count++] = waiter_changed(t->edge);
}

static void add_change(struct engine *e, struct delta *d, const struct room *room,
                       struct touched *t)
{
    switch (t->thing) {
    case THING_JOB:
        t->change = &room->jobs[d->job_count++];
        *t->change = job_changed(e, t);
        calendars_seal(e, t);
        break;
    case THING_EXEC: room->execs[d->exec_count++] = exec_changed(e, t); break;
    case THING_WORKER:
        room->workers[d->worker_count++] = (struct worker_change){
            .forget = t->worker->v.gone,
            .cordon = t->worker->v.cordon != t->before.worker.cordon,
            .worker = worker_record(t->worker),
        };
        break;
    case THING_QUEUE: queue_changed(e, d, room, t); break;
    case THING_BREAKER: room->breakers[d->breaker_count++] = breaker_record(t->breaker); break;
    case THING_OPERATION:
        room->operations[d->operation_count++] =
            (struct operation_change){t->stored, operation_record(t->operation)};
        break;
    case THING_CALENDAR: room->calendars[d->calendar_count++] = calendar_changed(t); break;
    case THING_EDGE: edge_changed(d, room, t); break;
    case THING_PERMIT: permit_kept(e, t); break;
    case THING_LIMIT: limit_changed(d, room, t->limit); break;
    case THINGS: assert(false);
    }
}

/* An execution that failed for good is among the dead letters from the same commit on. */
static void add_letters(struct engine *e, struct delta *d)
{
    VEC(struct letter_rec) letters = {0};
    for (size_t i = 0; i < e->turn.touched.len; i++) {
        const struct touched *t = e->turn.touched.items[i];
        if (!t->durable || t->thing != THING_EXEC || !exec_is_dead(t->exec))
            continue;
        *VEC_PUSH(e->turn.arena, &letters) = letter_of(e, t);
        change_of(e, t->exec->job->v.def->rules.queue, t->exec->id)->letters[t->exec->v.state]++;
    }
    d->letters = letters.items;
    d->letter_count = letters.len;
}

static void remove_letters(struct engine *e, struct delta *d)
{
    struct letter_place *gone =
        ARENA_ARRAY(e->turn.arena, struct letter_place, e->turn.letters_gone.len);
    for (size_t i = 0; i < e->turn.letters_gone.len; i++) {
        const struct gone_letter *letter = &e->turn.letters_gone.items[i];
        gone[i] = letter->place;
        change_of(e, letter->queue, letter->place.exec_id)->letters[letter->state]--;
    }
    d->letters_gone = gone;
    d->letter_gone_count = e->turn.letters_gone.len;
}

/* Parts that the turn has collected in the form in which they are kept. */
static void take_collected(struct engine *e, struct delta *d)
{
    const struct engine_turn *turn = &e->turn;
#define TAKE(one, many, vec) d->many = (vec).items, d->one##_count = (vec).len
    TAKE(attempt, attempts, turn->attempts);
    TAKE(claim, claims, turn->claims);
    TAKE(released, released, turn->released);
    TAKE(calendar_use, calendar_uses, turn->calendar_uses);
    TAKE(silence, silences, turn->silences.changes);
    TAKE(mail_read, mail_read, turn->mail.read);
    TAKE(mail, mail, turn->mail.sent);
    TAKE(permit, permits, turn->permit_changes);
    TAKE(rejected, rejected, turn->mail.rejected);
    TAKE(sla_event, sla_events, turn->sla_events);
    TAKE(alert, alerts, turn->alerts.raised);
    TAKE(alert_mark, alert_marks, turn->alerts.marks);
    TAKE(alert_ack, alert_acks, turn->alerts.acks);
    TAKE(alert_gone, alerts_gone, turn->alerts.gone);
    TAKE(version, versions, turn->versions);
    TAKE(operation_gone, operations_gone, turn->operations_gone);
    TAKE(forgotten, forgotten, turn->forgotten);
    if (turn->old.tallies != NULL) {
        d->tallies_gone = turn->old.tallies->answer.tallies;
        d->tally_gone_count = turn->old.tallies->answer.tally_count;
    }
}

void make_delta(struct engine *e)
{
    struct delta *d = &e->turn.delta;
    *d = (struct delta){
        .turn = e->newest.turn + 1,
        .claims_now_ms = steps_hold_deletions(e) ? 0 : e->now_ms,
        .rejected_from_ms = steps_hold_deletions(e) ? 0 : e->now_ms - e->options.rejected_keep_ms,
        .past = e->turn.past,
        .clock = e->turn.clock_rec,
    };
    const struct room room = make_room(e, d);
    for (size_t i = 0; i < e->turn.touched.len; i++) {
        if (e->turn.touched.items[i]->durable)
            add_change(e, d, &room, e->turn.touched.items[i]);
    }
    for (size_t i = 0, at = 0; i < e->turn.touched.len; i++) {
        const struct touched *t = e->turn.touched.items[i];
        if (!t->durable || t->thing != THING_EXEC)
            continue;
        struct exec_change *change = &room.execs[at++];
        join_ends(e, t, change);
        assert(exec_change_holds(change));
        if (e->options.trace.on)
            trace_ended(e, t, change);
    }
    take_collected(e, d);
    add_letters(e, d);
    remove_letters(e, d);
    add_counters(e, d);
    tally_seal(e);
}
