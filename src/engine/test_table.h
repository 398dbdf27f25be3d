/* test_table.h - the simplest store there could be, for the engine's tests.
 *
 * A table remembers what deltas say, word for word and without thinking, and answers questions out
 * of it. Everything lives in one arena; nothing is ever fast. It asserts what a real store would
 * refuse: a second insert, an update of what is not there. */
#pragma once
#include "base/buf.h"
#include "base/id.h"
#include "base/map.h"
#include "base/vec.h"
#include "job/partition.h"
#include "job/record.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct table {
    struct arena arena;
    struct map jobs;      /* struct job_rec */
    struct map live;      /* struct exec_rec */
    struct map history;   /* struct exec_rec */
    struct map forgotten; /* struct exec_rec: they went on counting when they left history */
    struct map attempts;  /* struct attempt_rec, by attempt_key */
    struct map workers;   /* struct worker_rec */
    struct strmap claims[CLAIM_KINDS]; /* struct claim, by key */
    struct strmap queues;              /* struct queue_rec */
    struct strmap breakers;            /* struct breaker_rec */
    struct strmap teams;               /* struct team_rec */
    VEC(struct alert_rec *) alerts;
    VEC(struct sla_event_rec *) sla_events;
    VEC(struct tally) tallies; /* row by row, not added up */
    struct strmap rates;       /* struct rate_rec */
    struct strmap depends;     /* struct dependency_rec, by depend_key */
    struct map letters;        /* struct letter_rec, by execution */
    struct map operations;     /* struct operation_rec */
    struct strmap calendars;   /* struct calendar_rec */
    struct strmap uses;        /* struct calendar_use, by use_key */
    VEC(struct claim *) taken; /* by this turn's questions; undone with it */
    VEC(struct counter) counters;
    struct strmap waiters; /* struct waiter_change, by both ids */
    struct strmap permits; /* struct permit_rec, by permit_name */
    VEC(struct rejected_rec) rejected;
    struct post_box *box; /* NULL: nobody sends anything */
    struct partition_set owned;
    uint64_t newest_id;
    uint64_t turn;
};

/* The inbox that the tables of a test share. */
struct post_box {
    struct arena arena;
    VEC(struct inbox_rec) rows;
    uint64_t numbers;
    struct table *tables[4]; /* of all who write there: jobs are found in any */
};

static inline void table_free(struct table *t)
{
    map_free(&t->jobs);
    map_free(&t->live);
    map_free(&t->history);
    map_free(&t->forgotten);
    map_free(&t->attempts);
    map_free(&t->workers);
    for (size_t i = 0; i < CLAIM_KINDS; i++)
        strmap_free(&t->claims[i]);
    strmap_free(&t->queues);
    strmap_free(&t->breakers);
    strmap_free(&t->teams);
    strmap_free(&t->rates);
    strmap_free(&t->depends);
    strmap_free(&t->waiters);
    strmap_free(&t->permits);
    map_free(&t->letters);
    map_free(&t->operations);
    strmap_free(&t->calendars);
    strmap_free(&t->uses);
    arena_free(&t->arena);
}

static inline void *table_copy(struct table *t, const void *from, size_t bytes)
{
    void *copy = arena_alloc(&t->arena, bytes);
    memcpy(copy, from, bytes);
    return copy;
}

static inline struct claim *put_claim(struct table *t, const struct claim *claim)
{
    struct claim *kept = table_copy(t, claim, sizeof *claim);
    kept->key = arena_str(&t->arena, claim->key);
    kept->note = arena_str(&t->arena, claim->note);
    strmap_remove(&t->claims[kept->kind], kept->key);
    strmap_put(&t->claims[kept->kind], kept->key, kept);
    return kept;
}

static inline struct str table_join(struct table *t, struct str head, struct str tail)
{
    return arena_printf(&t->arena, "%.*s%.*s", STR_ARG(head), STR_ARG(tail));
}

static inline void table_saw(struct table *t, uint64_t id)
{
    if (id > t->newest_id)
        t->newest_id = id;
}

/* ---- keeping */

static inline uint64_t attempt_key(uint64_t exec_id, uint64_t token)
{
    return exec_id ^ token << 48; /* ids of a test share their highest bits */
}

/* What an execution points to as over with it is what record.h says it is, and pointed to once. */
static inline void check_ends(const struct table *t, const struct delta *d)
{
    size_t joined = 0;
    for (size_t i = 0; i < d->exec_count; i++) {
        const struct exec_change *x = &d->execs[i];
        assert_true(x->kind == CHANGE_FINISH || (x->ends_job == NULL && x->ends_attempt == NULL));
        if (x->ends_job != NULL) {
            const struct job_rec *to = &x->ends_job->job;
            const struct job_rec *from = map_get(&t->jobs, to->id);
            assert_true(x->ends_job->with_exec && x->ends_job->kind == CHANGE_UPDATE);
            assert_int_equal(to->id, x->exec.job_id);
            assert_int_equal(from->state, JOB_ACTIVE);
            assert_int_equal(to->finished_ms, x->exec.finished_ms);
            assert_int_equal(from->last_exec, x->exec.id);
            assert_int_equal(to->last_exec, x->exec.id);
            assert_int_equal(to->version, from->version);
            joined++;
        }
        if (x->ends_attempt != NULL) {
            assert_true(x->ends_attempt->with_exec);
            assert_int_equal(x->ends_attempt->exec_id, x->exec.id);
            assert_int_equal(x->ends_attempt->token, x->exec.token);
            assert_null(map_get(&t->attempts, attempt_key(x->exec.id, x->exec.token)));
            joined++;
        }
    }
    for (size_t i = 0; i < d->job_count; i++)
        joined -= d->jobs[i].with_exec;
    for (size_t i = 0; i < d->attempt_count; i++)
        joined -= d->attempts[i].with_exec;
    assert_int_equal(joined, 0);
}

static inline void keep_job(struct table *t, const struct job_change *change)
{
    struct job_rec *job = map_get(&t->jobs, change->job.id);
    assert_int_equal(change->kind, job == NULL ? CHANGE_INSERT : CHANGE_UPDATE);
    if (job == NULL) {
        job = table_copy(t, &change->job, sizeof *job);
        job->name = arena_str(&t->arena, job->name);
        job->queue = arena_str(&t->arena, job->queue);
        job->owner = arena_str(&t->arena, job->owner);
        job->tags = arena_str(&t->arena, job->tags);
        job->spec = arena_str(&t->arena, job->spec);
        job->payload = arena_str(&t->arena, job->payload);
        map_put(&t->jobs, job->id, job);
        table_saw(t, job->id);
    }
    assert_true(!change->redefined || change->job.version > job->version);
    if (change->redefined) {
        job->version = change->job.version;
        job->priority = change->job.priority;
        job->changed_ms = change->job.changed_ms;
        job->queue = arena_str(&t->arena, change->job.queue);
        job->team = arena_str(&t->arena, change->job.team);
        job->tags = arena_str(&t->arena, change->job.tags);
        job->spec = arena_str(&t->arena, change->job.spec);
        job->payload = arena_str(&t->arena, change->job.payload);
    }
    job->state = change->job.state;
    job->finished_ms = change->job.finished_ms;
    job->last_exec = change->job.last_exec;
    job->trail = table_join(t, job->trail, change->step);
}

static inline void keep_exec(struct table *t, const struct exec_change *change)
{
    bool is_new = change->kind == CHANGE_INSERT || change->kind == CHANGE_RECORD;
    bool is_over = change->kind == CHANGE_FINISH || change->kind == CHANGE_RECORD;
    const struct exec_rec *old = map_remove(&t->live, change->exec.id);
    assert_true(is_new == (old == NULL));
    assert_null(map_get(&t->history, change->exec.id));
    assert_true(old == NULL || change->exec.token >= old->token);
    assert_true(change->kind != CHANGE_UPDATE || change->moved ||
                (str_eq(change->exec.queue, old->queue) && change->exec.slot_ms == old->slot_ms &&
                 change->exec.priority == old->priority));
    assert_true(is_over == exec_is_final(change->exec.state));
    struct exec_rec *exec = table_copy(t, &change->exec, sizeof *exec);
    exec->queue = arena_str(&t->arena, exec->queue);
    exec->result = arena_str(&t->arena, exec->result);
    exec->payload = old != NULL ? old->payload : arena_str(&t->arena, exec->payload);
    exec->error = arena_str(&t->arena, exec->error);
    exec->trail = table_join(t, old == NULL ? STR("") : old->trail, change->step);
    map_put(is_over ? &t->history : &t->live, exec->id, exec);
    table_saw(t, exec->id);
}

static inline void keep_attempt(struct table *t, const struct attempt_rec *attempt)
{
    struct attempt_rec *copy = table_copy(t, attempt, sizeof *copy);
    copy->error = arena_str(&t->arena, attempt->error);
    map_put(&t->attempts, attempt_key(attempt->exec_id, attempt->token), copy);
}

static inline void keep_worker(struct table *t, const struct worker_change *change)
{
    map_remove(&t->workers, change->worker.id);
    if (change->forget)
        return;
    struct worker_rec *worker = table_copy(t, &change->worker, sizeof *worker);
    worker->name = arena_str(&t->arena, worker->name);
    worker->queues = arena_str(&t->arena, worker->queues);
    worker->handlers = arena_str(&t->arena, worker->handlers);
    map_put(&t->workers, worker->id, worker);
    table_saw(t, worker->id);
}

static inline void keep_queue(struct table *t, const struct queue_rec *rec)
{
    struct queue_rec *copy = table_copy(t, rec, sizeof *copy);
    copy->name = arena_str(&t->arena, rec->name);
    copy->paused_by = arena_str(&t->arena, rec->paused_by);
    copy->changed_by = arena_str(&t->arena, rec->changed_by);
    strmap_remove(&t->queues, rec->name);
    strmap_put(&t->queues, copy->name, copy);
}

static inline void keep_breaker(struct table *t, const struct breaker_rec *rec)
{
    strmap_remove(&t->breakers, rec->target);
    if (rec->state == BREAKER_CLOSED)
        return;
    struct breaker_rec *copy = table_copy(t, rec, sizeof *copy);
    copy->target = arena_str(&t->arena, rec->target);
    strmap_put(&t->breakers, copy->target, copy);
}

static inline void keep_team(struct table *t, const struct team_rec *rec)
{
    struct team_rec *copy = table_copy(t, rec, sizeof *copy);
    copy->name = arena_str(&t->arena, rec->name);
    copy->changed_by = arena_str(&t->arena, rec->changed_by);
    strmap_remove(&t->teams, rec->name);
    strmap_put(&t->teams, copy->name, copy);
}

static inline void keep_rate(struct table *t, const struct rate_change *change)
{
    assert_true(!change->forget || strmap_get(&t->rates, change->rate.key) != NULL);
    strmap_remove(&t->rates, change->rate.key);
    if (change->forget)
        return;
    struct rate_rec *copy = table_copy(t, &change->rate, sizeof *copy);
    copy->key = arena_str(&t->arena, copy->key);
    strmap_put(&t->rates, copy->key, copy);
}

/* Both ids as bytes, of the record itself. */
static inline struct str depend_key(const struct dependency_rec *rec)
{
    return str_of((const char *)rec, offsetof(struct dependency_rec, type));
}

static inline void keep_dependency(struct table *t, const struct dependency_rec *rec)
{
    struct dependency_rec *old = strmap_get(&t->depends, depend_key(rec));
    if (old != NULL) {
        assert_int_equal(old->type, rec->type);
        assert_true(old->state == DEPENDENCY_WAITING || old->state == DEPENDENCY_PER_SLOT);
        assert_int_not_equal(rec->state, DEPENDENCY_WAITING);
        old->state = rec->state;
        return;
    }
    struct dependency_rec *copy = table_copy(t, rec, sizeof *copy);
    strmap_put(&t->depends, depend_key(copy), copy);
}

static inline void keep_letter(struct table *t, const struct letter_rec *rec)
{
    const struct exec_rec *x = map_get(&t->history, rec->place.exec_id);
    assert_non_null(x);
    assert_true(x->state == rec->state && x->finished_ms == rec->place.died_ms);
    assert_null(map_get(&t->letters, x->id));
    struct letter_rec *copy = table_copy(t, rec, sizeof *copy);
    copy->queue = arena_str(&t->arena, rec->queue);
    copy->name = arena_str(&t->arena, rec->name);
    copy->line = arena_str(&t->arena, rec->line);
    copy->error = arena_str(&t->arena, rec->error);
    map_put(&t->letters, x->id, copy);
}

static inline void keep_operation(struct table *t, const struct operation_change *change)
{
    map_remove(&t->operations, change->operation.id);
    table_saw(t, change->operation.id);
    if (change->forget)
        return;
    struct operation_rec *copy = table_copy(t, &change->operation, sizeof *copy);
    copy->filter.queue = arena_str(&t->arena, copy->filter.queue);
    copy->filter.name = arena_str(&t->arena, copy->filter.name);
    copy->by = arena_str(&t->arena, copy->by);
    copy->refusal = arena_str(&t->arena, copy->refusal);
    map_put(&t->operations, copy->id, copy);
}

static inline void forget_alert(struct table *t, uint64_t id)
{
    size_t at = 0;
    while (at < t->alerts.len && t->alerts.items[at]->id != id)
        at++;
    assert_true(at < t->alerts.len);
    for (t->alerts.len--; at < t->alerts.len; at++)
        t->alerts.items[at] = t->alerts.items[at + 1];
}

static inline void forget_tally(struct table *t, const struct tally *row)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->tallies.len; i++) {
        const struct tally *other = &t->tallies.items[i];
        if (other->scope != row->scope || other->hour != row->hour || other->end != row->end ||
            other->bucket != row->bucket || !str_eq(other->key, row->key))
            t->tallies.items[kept++] = *other;
    }
    t->tallies.len = kept;
}

/* Jobs stay: what becomes of those is the stores' business, and held by their contract. */
static inline void forget_exec(struct table *t, uint64_t exec_id)
{
    struct exec_rec *x = map_remove(&t->history, exec_id);
    assert_null(map_get(&t->letters, exec_id));
    assert_non_null(x);
    map_put(&t->forgotten, exec_id, x);
    size_t kept = 0;
    for (size_t i = 0; i < t->sla_events.len; i++) {
        if (t->sla_events.items[i]->exec_id != exec_id)
            t->sla_events.items[kept++] = t->sla_events.items[i];
    }
    t->sla_events.len = kept;
}

static inline void keep_calendar(struct table *t, const struct calendar_change *change)
{
    struct calendar_rec *rec = table_copy(t, &change->calendar, sizeof *rec);
    rec->name = arena_str(&t->arena, rec->name);
    rec->document = arena_str(&t->arena, rec->document);
    rec->changed_by = arena_str(&t->arena, rec->changed_by);
    strmap_remove(&t->calendars, rec->name);
    if (!change->forget)
        strmap_put(&t->calendars, rec->name, rec);
}

static inline void keep_use(struct table *t, const struct calendar_use *use)
{
    struct calendar_use *kept = table_copy(t, use, sizeof *use);
    kept->calendar = arena_str(&t->arena, use->calendar);
    struct str key = arena_printf(&t->arena, "%.*s|%" PRIu64, STR_ARG(use->calendar), use->job_id);
    bool was_there = strmap_remove(&t->uses, key) != NULL;
    assert_true(was_there == use->forget);
    if (!use->forget)
        strmap_put(&t->uses, key, kept);
}

/* Both ids as bytes, of the record itself. */
static inline struct str waiter_name(const struct waiter_rec *rec)
{
    return str_of((const char *)rec, offsetof(struct waiter_rec, dependant));
}

static inline void keep_waiter(struct table *t, const struct waiter_change *change)
{
    struct waiter_rec *copy = table_copy(t, &change->waiter, sizeof *copy);
    bool was_there = strmap_remove(&t->waiters, waiter_name(copy)) != NULL;
    assert_true(was_there || !change->forget);
    if (!change->forget)
        strmap_put(&t->waiters, waiter_name(copy), copy);
}

static inline struct str permit_name(struct arena *arena, struct str key, uint64_t exec_id)
{
    return arena_printf(arena, "%.*s|%" PRIu64, STR_ARG(key), exec_id);
}

static inline void keep_permit(struct table *t, const struct permit_change *change)
{
    struct permit_rec *copy = table_copy(t, &change->permit, sizeof *copy);
    copy->key = arena_str(&t->arena, copy->key);
    struct str name = permit_name(&t->arena, copy->key, copy->exec_id);
    strmap_remove(&t->permits, name);
    if (!change->forget)
        strmap_put(&t->permits, name, copy);
}

static inline void keep_rejected(struct table *t, const struct rejected_rec *rec)
{
    struct rejected_rec *copy = VEC_PUSH(&t->arena, &t->rejected);
    *copy = *rec;
    copy->reason = arena_str(&t->arena, rec->reason);
    copy->head = arena_str(&t->arena, rec->head);
    copy->team = arena_str(&t->arena, rec->team);
    copy->actor = arena_str(&t->arena, rec->actor);
    table_saw(t, rec->id);
}

static inline void post_put(struct post_box *box, const struct inbox_rec *rec)
{
    struct inbox_rec *row = VEC_PUSH(&box->arena, &box->rows);
    *row = *rec;
    row->id = ++box->numbers;
    row->name = arena_str(&box->arena, rec->name);
    row->actor = arena_str(&box->arena, rec->actor);
    row->body = arena_str(&box->arena, rec->body);
}

static inline void post_remove(struct post_box *box, uint64_t id)
{
    size_t at = 0;
    while (at < box->rows.len && box->rows.items[at].id != id)
        at++;
    assert_true(at < box->rows.len); /* it is read once */
    for (box->rows.len--; at < box->rows.len; at++)
        box->rows.items[at] = box->rows.items[at + 1];
}

static inline void keep_mail(struct table *t, const struct delta *d)
{
    assert_true(t->box != NULL || d->mail_count + d->mail_read_count == 0);
    for (size_t i = 0; i < d->mail_read_count; i++)
        post_remove(t->box, d->mail_read[i]);
    for (size_t i = 0; i < d->mail_count; i++) {
        assert_false(
            partition_has_bucket(&t->owned, d->mail[i].bucket)); /* nobody writes to himself */
        post_put(t->box, &d->mail[i]);
    }
    for (size_t i = 0; i < d->waiter_count; i++)
        keep_waiter(t, &d->waiters[i]);
    for (size_t i = 0; i < d->permit_count; i++)
        keep_permit(t, &d->permits[i]);
    for (size_t i = 0; i < d->rejected_count; i++)
        keep_rejected(t, &d->rejected[i]);
}

static inline int64_t *table_counter(struct table *t, enum counter_kind kind, struct str queue,
                                     uint32_t state)
{
    for (size_t i = 0; i < t->counters.len; i++) {
        struct counter *c = &t->counters.items[i];
        if (c->kind == kind && c->state == state && str_eq(c->queue, queue))
            return &c->value;
    }
    struct counter *c = VEC_PUSH(&t->arena, &t->counters);
    *c = (struct counter){kind, arena_str(&t->arena, queue), state, 0};
    return &c->value;
}

static inline void table_keep(struct table *t, const struct delta *d)
{
    assert_int_equal(d->turn, ++t->turn);
    memset(&t->taken, 0, sizeof t->taken);
    check_ends(t, d);
    for (size_t i = 0; i < d->job_count; i++)
        keep_job(t, &d->jobs[i]);
    for (size_t i = 0; i < d->exec_count; i++)
        keep_exec(t, &d->execs[i]);
    for (size_t i = 0; i < d->queue_count; i++)
        keep_queue(t, &d->queues[i]);
    for (size_t i = 0; i < d->breaker_count; i++)
        keep_breaker(t, &d->breakers[i]);
    for (size_t i = 0; i < d->sla_event_count; i++) {
        struct sla_event_rec *copy = table_copy(t, &d->sla_events[i], sizeof *copy);
        copy->queue = arena_str(&t->arena, copy->queue);
        copy->actor = arena_str(&t->arena, copy->actor);
        copy->reason = arena_str(&t->arena, copy->reason);
        copy->approver = arena_str(&t->arena, copy->approver);
        *VEC_PUSH(&t->arena, &t->sla_events) = copy;
        table_saw(t, copy->id);
    }
    for (size_t i = 0; i < d->alert_count; i++) {
        struct alert_rec *copy = table_copy(t, &d->alerts[i], sizeof *copy);
        copy->key = arena_str(&t->arena, copy->key);
        copy->text = arena_str(&t->arena, copy->text);
        *VEC_PUSH(&t->arena, &t->alerts) = copy;
    }
    for (size_t i = 0; i < d->team_count; i++)
        keep_team(t, &d->teams[i]);
    for (size_t i = 0; i < d->rate_count; i++)
        keep_rate(t, &d->rates[i]);
    for (size_t i = 0; i < d->dependency_count; i++)
        keep_dependency(t, &d->dependencies[i]);
    for (size_t i = 0; i < d->calendar_count; i++)
        keep_calendar(t, &d->calendars[i]);
    for (size_t i = 0; i < d->calendar_use_count; i++)
        keep_use(t, &d->calendar_uses[i]);
    for (size_t i = 0; i < d->attempt_count; i++) {
        for (size_t k = 0; k < i; k++) /* some stores cannot replace one twice in a commit */
            assert_true(d->attempts[k].exec_id != d->attempts[i].exec_id ||
                        d->attempts[k].token != d->attempts[i].token);
        keep_attempt(t, &d->attempts[i]);
    }
    for (size_t i = 0; i < d->worker_count; i++)
        keep_worker(t, &d->workers[i]);
    for (size_t i = 0; i < d->letter_gone_count; i++)
        assert_non_null(map_remove(&t->letters, d->letters_gone[i].exec_id));
    for (size_t i = 0; i < d->letter_count; i++)
        keep_letter(t, &d->letters[i]);
    for (size_t i = 0; i < d->operation_count; i++)
        keep_operation(t, &d->operations[i]);
    for (size_t i = 0; i < d->tally_count; i++) {
        struct tally *row = VEC_PUSH(&t->arena, &t->tallies);
        *row = d->tallies[i];
        row->key = arena_str(&t->arena, row->key);
    }
    for (size_t i = 0; i < d->forgotten_count; i++)
        forget_exec(t, d->forgotten[i]);
    keep_mail(t, d);
    for (size_t i = 0; i < d->alert_gone_count; i++)
        forget_alert(t, d->alerts_gone[i]);
    for (size_t i = 0; i < d->tally_gone_count; i++)
        forget_tally(t, &d->tallies_gone[i]);
    for (size_t i = 0; i < d->counter_count; i++)
        *table_counter(t, d->counters[i].kind, d->counters[i].queue, d->counters[i].state) +=
            d->counters[i].value;
    for (size_t i = 0; i < d->claim_count; i++)
        put_claim(t, &d->claims[i]);
    for (size_t i = 0; i < d->released_count; i++) {
        struct strmap *claims = &t->claims[d->released[i].kind];
        const struct claim *held = strmap_get(claims, d->released[i].key);
        if (held != NULL && held->holder == d->released[i].holder)
            strmap_remove(claims, d->released[i].key);
    }
}

/* The turn is not kept: its claims were not taken. */
static inline void table_abort(struct table *t)
{
    for (size_t i = 0; i < t->taken.len; i++)
        strmap_remove(&t->claims[t->taken.items[i]->kind], t->taken.items[i]->key);
    memset(&t->taken, 0, sizeof t->taken);
}

/* ---- answering */

static inline int due_order(const void *a, const void *b)
{
    const struct exec_rec *left = a;
    const struct exec_rec *right = b;
    if (left->due_ms != right->due_ms)
        return left->due_ms < right->due_ms ? -1 : 1;
    return left->id < right->id ? -1 : left->id > right->id;
}

static inline void answer_due(struct table *t, struct question *q)
{
    struct exec_rec *live = ARENA_ARRAY(&t->arena, struct exec_rec, t->live.len);
    size_t len = 0;
    MAP_EACH(&t->live, slot)
    {
        const struct exec_rec *x = slot->value;
        bool after = x->due_ms != q->after_ms ? x->due_ms > q->after_ms : x->id > q->after_id;
        if (exec_is_waiting(x->state) && after && x->due_ms <= q->until_ms)
            live[len++] = *x;
    }
    if (len > 0)
        qsort(live, len, sizeof *live, due_order);
    q->answer.more = len > q->limit;
    q->answer.live = live;
    q->answer.live_count = len < q->limit ? len : q->limit;
    struct job_rec *jobs = ARENA_ARRAY(&t->arena, struct job_rec, q->answer.live_count);
    for (size_t i = 0; i < q->answer.live_count; i++)
        jobs[i] = *(const struct job_rec *)map_get(&t->jobs, live[i].job_id);
    q->answer.jobs = jobs;
    q->answer.job_count = q->answer.live_count;
}

static inline void answer_job(struct table *t, struct question *q, uint64_t job_id)
{
    const struct job_rec *job = map_get(&t->jobs, job_id);
    if (job == NULL)
        return;
    q->answer.jobs = job;
    q->answer.job_count = 1;
    q->answer.newest = map_get(&t->live, job->last_exec);
}

static inline void answer_ahead(struct table *t, struct question *q)
{
    MAP_EACH(&t->live, slot)
    {
        const struct exec_rec *x = slot->value;
        if (x->job_id == q->id && x->state == EXEC_SCHEDULED &&
            (q->answer.exec == NULL || x->id > q->answer.exec->id))
            q->answer.exec = x;
    }
    answer_job(t, q, q->id);
}

static inline void answer_exec(struct table *t, struct question *q)
{
    const struct exec_rec *x = map_get(&t->live, q->id);
    q->answer.exec = x != NULL ? x : map_get(&t->history, q->id);
    if (q->answer.exec != NULL)
        answer_job(t, q, q->answer.exec->job_id);
    q->answer.letters = map_get(&t->letters, q->id);
    q->answer.letter_count = q->answer.letters != NULL;
}

static inline int letter_by_place(const void *a, const void *b)
{
    return letter_order(((const struct letter_rec *)a)->place,
                        ((const struct letter_rec *)b)->place);
}

static inline void answer_letters(struct table *t, struct question *q)
{
    struct letter_rec *letters = ARENA_ARRAY(&t->arena, struct letter_rec, t->letters.len);
    size_t len = 0;
    MAP_EACH(&t->letters, slot)
    {
        const struct letter_rec *letter = slot->value;
        if (letter_order(letter->place, q->place) > 0 && letter->place.died_ms <= q->until_ms &&
            letter_fits(&q->filter, letter))
            letters[len++] = *letter;
    }
    if (len > 0)
        qsort(letters, len, sizeof *letters, letter_by_place);
    q->answer.more = len > q->limit;
    q->answer.letters = letters;
    q->answer.letter_count = q->answer.more ? q->limit : len;
    if (q->answer.letter_count > 0)
        q->answer.place = letters[q->answer.letter_count - 1].place;
}

static inline int old_order(const void *a, const void *b)
{
    const struct old_exec *left = a;
    const struct old_exec *right = b;
    return left->id < right->id ? -1 : left->id > right->id;
}

static inline void answer_old(struct table *t, struct question *q)
{
    struct old_exec *old = ARENA_ARRAY(&t->arena, struct old_exec, t->history.len);
    size_t len = 0;
    MAP_EACH(&t->history, slot)
    {
        const struct exec_rec *x = slot->value;
        if (x->id > q->after_id && x->created_ms < q->until_ms)
            old[len++] =
                (struct old_exec){x->id, x->finished_ms, map_get(&t->letters, x->id) != NULL};
    }
    if (len > 0)
        qsort(old, len, sizeof *old, old_order);
    q->answer.more = len > q->limit;
    q->answer.old = old;
    q->answer.old_count = q->answer.more ? q->limit : len;
}

/* They are kept in the order of their ids. */
static inline void answer_old_alerts(struct table *t, struct question *q)
{
    struct old_alert *old = ARENA_ARRAY(&t->arena, struct old_alert, t->alerts.len);
    size_t len = 0;
    for (size_t i = 0; i < t->alerts.len; i++) {
        const struct alert_rec *alert = t->alerts.items[i];
        if (alert->id > q->after_id && alert->at_ms < q->until_ms)
            old[len++] = (struct old_alert){alert->id, alert->at_ms, alert->state};
    }
    q->answer.more = len > q->limit;
    q->answer.old_alerts = old;
    q->answer.old_alert_count = q->answer.more ? q->limit : len;
}

/* … and these in the order of their hours, as long as nobody sets the clock back. */
static inline void answer_old_tallies(struct table *t, struct question *q)
{
    struct tally *old = ARENA_ARRAY(&t->arena, struct tally, t->tallies.len);
    size_t len = 0;
    for (size_t i = 0; i < t->tallies.len; i++) {
        if (t->tallies.items[i].hour < q->hour)
            old[len++] = t->tallies.items[i];
    }
    q->answer.more = len > q->limit;
    q->answer.tallies = old;
    q->answer.tally_count = q->answer.more ? q->limit : len;
}

static inline void answer_pace(struct table *t, struct question *q)
{
    struct sketch *pace = ARENA_NEW(&t->arena, struct sketch);
    for (size_t i = 0; i < t->tallies.len; i++) {
        const struct tally *row = &t->tallies.items[i];
        if (row->scope == TALLY_JOB && row->end == EXEC_COMPLETED && str_eq(row->key, q->name))
            sketch_put(pace, row->bucket, row->count);
    }
    q->answer.pace = pace;
}

static inline void answer_slot(struct table *t, struct question *q)
{
    const struct map *both[] = {&t->live, &t->history};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        MAP_EACH(both[i], slot)
        {
            const struct exec_rec *x = slot->value;
            const struct exec_rec *best = q->answer.exec;
            if (x->job_id == q->id && x->origin == ORIGIN_SLOT && x->slot_ms <= q->until_ms &&
                (best == NULL || x->slot_ms > best->slot_ms))
                q->answer.exec = x;
        }
    }
    answer_job(t, q, q->id);
}

static inline void answer_attempt(struct table *t, struct question *q)
{
    q->answer.attempt = map_get(&t->attempts, attempt_key(q->id, q->token));
}

static inline void answer_trail(struct table *t, struct question *q)
{
    const struct job_rec *job = map_get(&t->jobs, q->id);
    const struct exec_rec *x = map_get(&t->live, q->id);
    if (x == NULL)
        x = map_get(&t->history, q->id);
    q->answer.trail = job != NULL ? job->trail : x != NULL ? x->trail : STR("");
}

static inline void answer_claim(struct table *t, struct question *q)
{
    struct claim *claim = strmap_get(&t->claims[q->claim.kind], q->claim.key);
    if (claim == NULL || (claim->until_ms > 0 && claim->until_ms <= q->now_ms)) {
        claim = put_claim(t, &q->claim);
        *VEC_PUSH(&t->arena, &t->taken) = claim;
    } else {
        q->answer.note = claim->note;
    }
    q->answer.holder = claim->holder;
}

static inline void answer_calendar(struct table *t, struct question *q)
{
    uint64_t *ids = ARENA_ARRAY(&t->arena, uint64_t, t->uses.len);
    size_t len = 0;
    for (size_t i = 0; i < t->uses.cap; i++) {
        const struct calendar_use *use = t->uses.slots[i].value;
        if (use != NULL && str_eq(use->calendar, q->name))
            ids[len++] = use->job_id;
    }
    q->answer.ids = ids;
    q->answer.id_count = len < q->limit ? len : q->limit;
}

static inline void answer_inbox(struct table *t, struct question *q)
{
    struct inbox_rec *mail = ARENA_ARRAY(&t->arena, struct inbox_rec, t->box->rows.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < t->box->rows.len; i++) {
        if (partition_has_bucket(&t->owned, t->box->rows.items[i].bucket))
            mail[len++] = t->box->rows.items[i];
    }
    q->answer.more = len > q->limit;
    q->answer.mail = mail;
    q->answer.mail_count = len < q->limit ? len : q->limit;
}

static inline void answer_any_job(struct table *t, struct question *q)
{
    answer_job(t, q, q->id);
    for (size_t i = 0; t->box != NULL && q->answer.job_count == 0 && i < COUNT_OF(t->box->tables);
         i++) {
        if (t->box->tables[i] != NULL)
            answer_job(t->box->tables[i], q, q->id);
    }
}

static inline void table_answer(struct table *t, struct question *q)
{
    switch (q->kind) {
    case ASK_CLAIM: answer_claim(t, q); break;
    case ASK_JOB: answer_any_job(t, q); break;
    case ASK_AHEAD: answer_ahead(t, q); break;
    case ASK_INBOX: answer_inbox(t, q); break;
    case ASK_EXEC: answer_exec(t, q); break;
    case ASK_ATTEMPT: answer_attempt(t, q); break;
    case ASK_TRAIL: answer_trail(t, q); break;
    case ASK_LETTERS: answer_letters(t, q); break;
    case ASK_OLD: answer_old(t, q); break;
    case ASK_OLD_ALERTS: answer_old_alerts(t, q); break;
    case ASK_OLD_TALLIES: answer_old_tallies(t, q); break;
    case ASK_PACE: answer_pace(t, q); break;
    case ASK_SLOT: answer_slot(t, q); break;
    case ASK_CALENDAR: answer_calendar(t, q); break;
    case ASK_WORKER: q->answer.worker = map_get(&t->workers, q->id); break;
    default: answer_due(t, q); break;
    }
}

/* ---- a delta as text, in which two decisions about the same commands are alike: an id that the
 * turn made is its number among those the text has named so far */

struct printer {
    struct buf *out;
    struct arena *arena;
    uint64_t newest_id; /* larger ones are new */
    VEC(uint64_t) fresh;
};

static inline void print_id(struct printer *p, const char *what, uint64_t id)
{
    size_t i = 0;
    if (id <= p->newest_id) {
        buf_printf(p->out, " %s=%" PRIu64, what, id);
        return;
    }
    while (i < p->fresh.len && p->fresh.items[i] != id)
        i++;
    if (i == p->fresh.len)
        *VEC_PUSH(p->arena, &p->fresh) = id;
    buf_printf(p->out, " %s=new%zu", what, i);
}

/* A record may name something that is new in this turn: "exec_" or "job_", and 13 characters. */
static inline struct str without_ids(struct arena *arena, struct str text)
{
    char *copy = arena_bytes(arena, text.len);
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    for (size_t i = 0; i + 17 <= text.len; i++) {
        if (i + 18 <= text.len && memcmp(copy + i, "exec_", 5) == 0)
            memset(copy + i + 5, '*', 13);
        else if (memcmp(copy + i, "job_", 4) == 0)
            memset(copy + i + 4, '*', 13);
    }
    return str_of(copy, text.len);
}

static inline void print_job(struct printer *p, const struct job_change *change)
{
    const struct job_rec *j = &change->job;
    buf_printf(p->out, "job %d%s", (int)change->kind, change->redefined ? " redefined" : "");
    print_id(p, "id", j->id);
    print_id(p, "last", j->last_exec);
    buf_printf(p->out,
               " v%" PRIu32 " %d name=%.*s %.*s %.*s %.*s p%" PRId32 " %" PRId64 " %" PRId64
               " %.*s %.*s\n%.*s",
               j->version, (int)j->state, STR_ARG(j->name), STR_ARG(j->queue), STR_ARG(j->owner),
               STR_ARG(j->tags), j->priority, j->created_ms, j->finished_ms, STR_ARG(j->spec),
               STR_ARG(j->payload), STR_ARG(without_ids(p->arena, change->step)));
}

static inline void print_exec(struct printer *p, const struct exec_change *change)
{
    const struct exec_rec *x = &change->exec;
    buf_printf(p->out, "exec %d%s", (int)change->kind, change->moved ? " moved" : "");
    print_id(p, "id", x->id);
    print_id(p, "job", x->job_id);
    print_id(p, "of", x->retry_of);
    print_id(p, "worker", x->worker_id);
    buf_printf(p->out,
               " %d %.*s p%" PRId32 " slot=%" PRId64 " created=%" PRId64 " due=%" PRId64
               " ready=%" PRId64 " started=%" PRId64 " finished=%" PRId64 " %" PRIu32 "+%" PRIu32
               "+%" PRIu32 " late=%d sla=%" PRId64 "+%" PRId64 ",%" PRIu32 " token=%" PRIu64
               " done=%d result=%.*s error=%.*s\n%.*s",
               (int)x->state, STR_ARG(x->queue), x->priority, x->slot_ms, x->created_ms, x->due_ms,
               x->ready_ms, x->started_ms, x->finished_ms, x->attempts, x->lost, x->returned,
               x->late, x->sla_since_ms, x->sla_extra_ms, x->sla_marks, x->token, x->effect_done,
               STR_ARG(x->result), STR_ARG(without_ids(p->arena, x->error)),
               STR_ARG(without_ids(p->arena, change->step)));
}

static inline void print_attempt(struct printer *p, const struct attempt_rec *a)
{
    buf_printf(p->out, "attempt");
    print_id(p, "of", a->exec_id);
    print_id(p, "worker", a->worker_id);
    buf_printf(p->out,
               " token=%" PRIu64 " number=%" PRIu32 " %" PRId64 "-%" PRId64 " %d exit=%" PRId32
               " log=%" PRIu64 " %.*s\n",
               a->token, a->number, a->started_ms, a->ended_ms, (int)a->outcome, a->usage.exit_code,
               a->usage.log_seq, STR_ARG(a->error));
}

static inline void print_worker(struct printer *p, const struct worker_change *change)
{
    const struct worker_rec *w = &change->worker;
    buf_printf(p->out, "worker %d", change->forget);
    print_id(p, "id", w->id);
    buf_printf(p->out, " %.*s %.*s %.*s %d %d %" PRIu32 " %" PRId64 "\n", STR_ARG(w->name),
               STR_ARG(w->queues), STR_ARG(w->handlers), w->runs_commands, w->draining, w->slots,
               w->registered_ms);
}

static inline void print_delta(struct buf *out, struct arena *arena, const struct delta *d,
                               uint64_t newest_id)
{
    struct printer p = {.out = out, .arena = arena, .newest_id = newest_id};
    buf_printf(out, "turn %" PRIu64 "\n", d->turn);
    for (size_t i = 0; i < d->job_count; i++)
        print_job(&p, &d->jobs[i]);
    for (size_t i = 0; i < d->exec_count; i++)
        print_exec(&p, &d->execs[i]);
    for (size_t i = 0; i < d->attempt_count; i++)
        print_attempt(&p, &d->attempts[i]);
    for (size_t i = 0; i < d->sla_event_count; i++) {
        const struct sla_event_rec *event = &d->sla_events[i];
        buf_printf(out, "sla %d", (int)event->kind);
        print_id(&p, "of", event->exec_id);
        buf_printf(out, " %" PRId64 " %" PRId64 " %" PRId64 "\n", event->actual_ms,
                   event->expected_ms, event->max_ms);
    }
    for (size_t i = 0; i < d->worker_count; i++)
        print_worker(&p, &d->workers[i]);
    for (size_t i = 0; i < d->dependency_count; i++) {
        buf_add(out, STR("dependency"));
        print_id(&p, "of", d->dependencies[i].dependant);
        print_id(&p, "on", d->dependencies[i].upstream);
        buf_printf(out, " %d %d\n", (int)d->dependencies[i].type, (int)d->dependencies[i].state);
    }
    for (size_t i = 0; i < d->mail_count; i++) {
        const struct inbox_rec *m = &d->mail[i];
        buf_printf(out, "mail %.*s", STR_ARG(inbox_kind_name(m->kind)));
        print_id(&p, "about", m->about);
        print_id(&p, "from", m->from);
        buf_printf(out, " %" PRId64 " %" PRId64 " %.*s %.*s\n",
                   m->kind == INBOX_ASK || m->kind == INBOX_GRANT ? 0 : m->value, m->number,
                   STR_ARG(without_ids(p.arena, m->name)), STR_ARG(m->body));
    }
    for (size_t i = 0; i < d->mail_read_count; i++)
        buf_printf(out, "read %" PRIu64 "\n", d->mail_read[i]);
    for (size_t i = 0; i < d->waiter_count; i++) {
        const struct waiter_rec *rec = &d->waiters[i].waiter;
        buf_printf(out, "waiter %d %" PRIu64 " %" PRIu64 " %d %" PRId64 "\n", d->waiters[i].forget,
                   rec->upstream, rec->exec_id, (int)rec->type, rec->slot_ms);
    }
    for (size_t i = 0; i < d->permit_count; i++) {
        const struct permit_rec *rec = &d->permits[i].permit;
        buf_printf(out, "permit %d %.*s", d->permits[i].forget, STR_ARG(rec->key));
        print_id(&p, "for", rec->exec_id);
        buf_printf(out, " %d %" PRId64 " %" PRId64 "\n", rec->granted, rec->max, rec->rank);
    }
    for (size_t i = 0; i < d->rejected_count; i++)
        buf_printf(out, "rejected %.*s: %.*s\n", STR_ARG(d->rejected[i].head),
                   STR_ARG(d->rejected[i].reason));
    for (size_t i = 0; i < d->letter_count; i++) {
        const struct letter_rec *l = &d->letters[i];
        buf_add(out, STR("letter"));
        print_id(&p, "of", l->place.exec_id);
        buf_printf(out, " %" PRId64 " %d %d %d %" PRIx64 " %.*s: %.*s\n", l->place.died_ms,
                   (int)l->state, (int)l->reason, (int)l->class, l->fingerprint, STR_ARG(l->line),
                   STR_ARG(l->error));
    }
    for (size_t i = 0; i < d->letter_gone_count; i++)
        buf_printf(out, "letter gone %" PRIu64 "\n", d->letters_gone[i].exec_id);
    for (size_t i = 0; i < d->operation_count; i++) {
        const struct operation_rec *op = &d->operations[i].operation;
        buf_add(out, STR("operation"));
        print_id(&p, "id", op->id);
        buf_printf(out, " %d %d %" PRIu64 " %" PRIu64 " %" PRId64 " %.*s\n", (int)op->kind,
                   (int)op->state, op->done, op->refused, op->at.died_ms, STR_ARG(op->refusal));
    }
    for (size_t i = 0; i < d->forgotten_count; i++)
        buf_printf(out, "forgotten %" PRIu64 "\n", d->forgotten[i]);
    for (size_t i = 0; i < d->alert_gone_count; i++)
        buf_printf(out, "alert gone %" PRIu64 "\n", d->alerts_gone[i]);
    buf_printf(out, "%zu tallies, %zu gone\n", d->tally_count, d->tally_gone_count);
    for (size_t i = 0; i < d->calendar_count; i++) {
        const struct calendar_rec *rec = &d->calendars[i].calendar;
        buf_printf(out, "calendar %d %.*s v%" PRIu32 " %.*s %.*s\n", d->calendars[i].forget,
                   STR_ARG(rec->name), rec->version, STR_ARG(rec->document),
                   STR_ARG(rec->changed_by));
    }
    for (size_t i = 0; i < d->calendar_use_count; i++) {
        buf_printf(out, "use %d %.*s", d->calendar_uses[i].forget,
                   STR_ARG(d->calendar_uses[i].calendar));
        print_id(&p, "by", d->calendar_uses[i].job_id);
        buf_add_char(out, '\n');
    }
    for (size_t i = 0; i < d->released_count; i++) {
        buf_printf(out, "release %.*s", STR_ARG(d->released[i].key));
        print_id(&p, "holder", d->released[i].holder);
        buf_add_char(out, '\n');
    }
    for (size_t i = 0; i < d->claim_count; i++) {
        buf_printf(out, "claim %d %.*s", (int)d->claims[i].kind, STR_ARG(d->claims[i].key));
        print_id(&p, "holder", d->claims[i].holder);
        buf_printf(out, " %" PRId64 "\n", d->claims[i].until_ms);
    }
    for (size_t i = 0; i < d->counter_count; i++)
        buf_printf(out, "count %d %.*s %" PRIu32 " %+" PRId64 "\n", (int)d->counters[i].kind,
                   STR_ARG(d->counters[i].queue), d->counters[i].state, d->counters[i].value);
}
