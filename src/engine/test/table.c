#include "engine/test/table.h"

#include "base/arena.h"
#include "job/record/record_fields.h"

void table_free(struct table *t)
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
    map_free(&t->silences);
    strmap_free(&t->uses);
    arena_free(&t->arena);
}

static void *table_copy(struct table *t, const void *from, size_t bytes)
{
    void *copy = arena_alloc(&t->arena, bytes);
    memcpy(copy, from, bytes);
    return copy;
}

/* With texts of its own. */
static void *copy_record(struct table *t, const struct fields *fields, const void *record)
{
    void *copy = table_copy(t, record, fields->bytes);
    fields_copy(fields, copy, &t->arena);
    return copy;
}

struct claim *table_put_claim(struct table *t, const struct claim *claim)
{
    struct claim *kept = table_copy(t, claim, sizeof *claim);
    kept->key = arena_str(&t->arena, claim->key);
    kept->note = arena_str(&t->arena, claim->note);
    strmap_remove(&t->claims[kept->kind], kept->key);
    strmap_put(&t->claims[kept->kind], kept->key, kept);
    return kept;
}

static struct str table_join(struct table *t, struct str head, struct str tail)
{
    return arena_printf(&t->arena, "%.*s%.*s", STR_ARG(head), STR_ARG(tail));
}

static void table_saw(struct table *t, uint64_t id)
{
    if (id > t->newest_id)
        t->newest_id = id;
}

uint64_t attempt_key(uint64_t exec_id, uint64_t token)
{
    return exec_id ^ token << 48; /* ids of a test share their highest bits */
}

/* What an execution points to as over with it is what record.h says it is, and pointed to once. */
static void check_ends(const struct table *t, const struct delta *d)
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

static void keep_job(struct table *t, const struct job_change *change)
{
    struct job_rec *job = map_get(&t->jobs, change->job.id);
    assert_int_equal(change->kind, job == NULL ? CHANGE_INSERT : CHANGE_UPDATE);
    if (job == NULL) {
        job = copy_record(t, &job_row_fields, &change->job);
        map_put(&t->jobs, job->id, job);
        table_saw(t, job->id);
    }
    assert_true(!change->redefined || change->job.version > job->version);
    unsigned groups = FIELD_PROGRESS | FIELD_END;
    if (change->redefined)
        groups |= FIELD_EDIT | FIELD_DOCUMENT | FIELD_BULK;
    struct job_rec to = change->job;
    fields_copy(&job_row_fields, &to, &t->arena);
    fields_take(&job_row_fields, groups, job, &to);
    job->trail = table_join(t, job->trail, change->step);
}

static void keep_exec(struct table *t, const struct exec_change *change)
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
    struct exec_rec *exec = copy_record(t, &exec_fields, &change->exec);
    if (old != NULL)
        exec->payload = old->payload;
    exec->trail = table_join(t, old == NULL ? STR("") : old->trail, change->step);
    map_put(is_over ? &t->history : &t->live, exec->id, exec);
    table_saw(t, exec->id);
}

static void keep_attempt(struct table *t, const struct attempt_rec *attempt)
{
    struct attempt_rec *copy = copy_record(t, &attempt_fields, attempt);
    map_put(&t->attempts, attempt_key(attempt->exec_id, attempt->token), copy);
}

void table_keep_worker(struct table *t, const struct worker_change *change)
{
    map_remove(&t->workers, change->worker.id);
    if (change->forget)
        return;
    struct worker_rec *worker = copy_record(t, &worker_fields, &change->worker);
    map_put(&t->workers, worker->id, worker);
    table_saw(t, worker->id);
}

static void keep_queue(struct table *t, const struct queue_rec *rec)
{
    struct queue_rec *copy = copy_record(t, &queue_fields, rec);
    strmap_remove(&t->queues, rec->name);
    strmap_put(&t->queues, copy->name, copy);
}

static void keep_breaker(struct table *t, const struct breaker_rec *rec)
{
    strmap_remove(&t->breakers, rec->target);
    if (rec->state == BREAKER_CLOSED)
        return;
    struct breaker_rec *copy = copy_record(t, &breaker_fields, rec);
    strmap_put(&t->breakers, copy->target, copy);
}

static void keep_team(struct table *t, const struct team_rec *rec)
{
    struct team_rec *copy = copy_record(t, &team_fields, rec);
    strmap_remove(&t->teams, rec->name);
    strmap_put(&t->teams, copy->name, copy);
}

static void keep_rate(struct table *t, const struct rate_change *change)
{
    assert_true(!change->forget || strmap_get(&t->rates, change->rate.key) != NULL);
    strmap_remove(&t->rates, change->rate.key);
    if (change->forget)
        return;
    struct rate_rec *copy = copy_record(t, &rate_fields, &change->rate);
    strmap_put(&t->rates, copy->key, copy);
}

struct str depend_key(const struct dependency_rec *rec)
{
    return str_of((const char *)rec, offsetof(struct dependency_rec, type));
}

static void keep_dependency(struct table *t, const struct dependency_rec *rec)
{
    struct dependency_rec *old = strmap_get(&t->depends, depend_key(rec));
    if (old != NULL) {
        assert_int_equal(old->type, rec->type);
        bool again = old->state == DEPENDENCY_MET && rec->state == DEPENDENCY_PER_SLOT;
        assert_true(old->state == DEPENDENCY_WAITING || old->state == DEPENDENCY_PER_SLOT || again);
        assert_int_not_equal(rec->state, DEPENDENCY_WAITING);
        old->state = rec->state;
        return;
    }
    struct dependency_rec *copy = table_copy(t, rec, sizeof *copy);
    strmap_put(&t->depends, depend_key(copy), copy);
}

static void keep_letter(struct table *t, const struct letter_rec *rec)
{
    const struct exec_rec *x = map_get(&t->history, rec->place.exec_id);
    assert_non_null(x);
    assert_true(x->state == rec->state && x->finished_ms == rec->place.died_ms);
    assert_null(map_get(&t->letters, x->id));
    struct letter_rec *copy = copy_record(t, &letter_fields, rec);
    map_put(&t->letters, x->id, copy);
}

/* One partition: by the id alone. */
static void keep_operation(struct table *t, const struct operation_change *change)
{
    const struct operation_rec *kept = map_get(&t->operations, change->operation.id);
    table_saw(t, change->operation.id);
    assert_int_equal(change->progress, kept != NULL);
    struct operation_rec *copy = copy_record(t, &operation_fields, &change->operation);
    map_put(&t->operations, copy->id, copy);
}

static void forget_alert(struct table *t, uint64_t id)
{
    size_t at = 0;
    while (at < t->alerts.len && t->alerts.items[at]->id != id)
        at++;
    assert_true(at < t->alerts.len);
    for (t->alerts.len--; at < t->alerts.len; at++)
        t->alerts.items[at] = t->alerts.items[at + 1];
}

static void forget_tally(struct table *t, const struct tally *row)
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
static void forget_exec(struct table *t, uint64_t exec_id)
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

static void keep_calendar(struct table *t, const struct calendar_change *change)
{
    struct calendar_rec *rec = copy_record(t, &calendar_fields, &change->calendar);
    strmap_remove(&t->calendars, rec->name);
    if (!change->forget)
        strmap_put(&t->calendars, rec->name, rec);
}

static void keep_use(struct table *t, const struct calendar_use *use)
{
    struct calendar_use *kept = table_copy(t, use, sizeof *use);
    kept->calendar = arena_str(&t->arena, use->calendar);
    struct str key = arena_printf(&t->arena, "%.*s|%" PRIu64, STR_ARG(use->calendar), use->job_id);
    bool was_there = strmap_remove(&t->uses, key) != NULL;
    assert_true(was_there == use->forget);
    if (!use->forget)
        strmap_put(&t->uses, key, kept);
}

struct str waiter_name(const struct waiter_rec *rec)
{
    return str_of((const char *)rec, offsetof(struct waiter_rec, dependant));
}

static void keep_waiter(struct table *t, const struct waiter_change *change)
{
    struct waiter_rec *copy = table_copy(t, &change->waiter, sizeof *copy);
    bool was_there = strmap_remove(&t->waiters, waiter_name(copy)) != NULL;
    assert_true(was_there || !change->forget);
    if (!change->forget)
        strmap_put(&t->waiters, waiter_name(copy), copy);
}

struct str permit_name(struct arena *arena, struct str key, uint64_t exec_id)
{
    return arena_printf(arena, "%.*s|%" PRIu64, STR_ARG(key), exec_id);
}

void table_keep_permit(struct table *t, const struct permit_change *change)
{
    struct permit_rec *copy = copy_record(t, &permit_fields, &change->permit);
    struct str name = permit_name(&t->arena, copy->key, copy->exec_id);
    strmap_remove(&t->permits, name);
    if (!change->forget)
        strmap_put(&t->permits, name, copy);
}

static void keep_rejected(struct table *t, const struct rejected_rec *rec)
{
    struct rejected_rec *copy = VEC_PUSH(&t->arena, &t->rejected);
    *copy = *rec;
    fields_copy(&rejected_fields, copy, &t->arena);
    table_saw(t, rec->id);
}

void post_put(struct post_box *box, const struct inbox_rec *rec)
{
    struct inbox_rec *row = VEC_PUSH(&box->arena, &box->rows);
    *row = *rec;
    row->id = ++box->numbers;
    row->name = arena_str(&box->arena, rec->name);
    row->actor = arena_str(&box->arena, rec->actor);
    row->body = arena_str(&box->arena, rec->body);
}

static void post_remove(struct post_box *box, uint64_t id)
{
    size_t at = 0;
    while (at < box->rows.len && box->rows.items[at].id != id)
        at++;
    assert_true(at < box->rows.len); /* it is read once */
    for (box->rows.len--; at < box->rows.len; at++)
        box->rows.items[at] = box->rows.items[at + 1];
}

static void keep_mail(struct table *t, const struct delta *d)
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
        table_keep_permit(t, &d->permits[i]);
    for (size_t i = 0; i < d->rejected_count; i++)
        keep_rejected(t, &d->rejected[i]);
}

int64_t *table_counter(struct table *t, enum counter_kind kind, struct str queue, uint32_t state)
{
    for (size_t i = 0; i < t->counters.len; i++) {
        struct counter *c = &t->counters.items[i];
        if (c->kind == kind && c->state == state && str_eq(c->queue, queue))
            return &c->value;
    }
    struct counter *c = VEC_PUSH(&t->arena, &t->counters);
    *c = (struct counter){kind, arena_str(&t->arena, queue), state, 0, 0};
    return &c->value;
}

static void forget_queue(struct table *t, const struct queue_gone *gone)
{
    size_t kept = 0;
    VEC(struct counter) moved = {0};
    if (gone->settings)
        strmap_remove(&t->queues, gone->name);
    if (!gone->numbers)
        return;
    for (size_t i = 0; i < t->counters.len; i++) {
        const struct counter c = t->counters.items[i];
        if (!str_eq(c.queue, gone->name))
            t->counters.items[kept++] = c;
        else
            *VEC_PUSH(&t->arena, &moved) = c;
    }
    t->counters.len = kept;
    for (size_t i = 0; i < moved.len; i++) {
        const struct counter *c = &moved.items[i];
        *table_counter(t, c->kind, STR(""), c->state) += c->value;
    }
}

static void keep_sla_event(struct table *t, const struct sla_event_rec *event)
{
    struct sla_event_rec *copy = copy_record(t, &sla_event_fields, event);
    *VEC_PUSH(&t->arena, &t->sla_events) = copy;
    table_saw(t, copy->id);
}

static void keep_alert(struct table *t, const struct alert_rec *alert)
{
    struct alert_rec *copy = copy_record(t, &alert_fields, alert);
    *VEC_PUSH(&t->arena, &t->alerts) = copy;
}

static struct alert_rec *find_alert(struct table *t, uint64_t id)
{
    for (size_t i = 0; i < t->alerts.len; i++) {
        if (t->alerts.items[i]->id == id)
            return t->alerts.items[i];
    }
    return NULL;
}

/* Of alerts that are there; others are passed over. */
static void mark_alerts(struct table *t, const struct delta *d)
{
    for (size_t i = 0; i < d->alert_mark_count; i++) {
        struct alert_rec *alert = find_alert(t, d->alert_marks[i].id);
        if (alert != NULL)
            alert->state = d->alert_marks[i].state;
    }
    for (size_t i = 0; i < d->alert_ack_count; i++) {
        struct alert_rec *alert = find_alert(t, d->alert_acks[i].id);
        if (alert == NULL)
            continue;
        alert->acked_ms = d->alert_acks[i].at_ms;
        alert->acked_by = arena_str(&t->arena, d->alert_acks[i].by);
        alert->ack_note = arena_str(&t->arena, d->alert_acks[i].note);
    }
}

static void keep_silence(struct table *t, const struct silence_change *change)
{
    (void)map_remove(&t->silences, change->silence.id);
    if (!change->forget)
        map_put(&t->silences, change->silence.id,
                copy_record(t, &silence_fields, &change->silence));
    table_saw(t, change->silence.id);
}

static void keep_tally(struct table *t, const struct tally *tally)
{
    struct tally *row = VEC_PUSH(&t->arena, &t->tallies);
    *row = *tally;
    row->key = arena_str(&t->arena, row->key);
}

static void keep_attempts(struct table *t, const struct delta *d)
{
    for (size_t i = 0; i < d->attempt_count; i++) {
        for (size_t k = 0; k < i; k++) /* some stores cannot replace one twice in a commit */
            assert_true(d->attempts[k].exec_id != d->attempts[i].exec_id ||
                        d->attempts[k].token != d->attempts[i].token);
        keep_attempt(t, &d->attempts[i]);
    }
}

static void release_claim(struct table *t, const struct claim *claim)
{
    struct strmap *claims = &t->claims[claim->kind];
    const struct claim *held = strmap_get(claims, claim->key);
    if (held != NULL && held->holder == claim->holder)
        strmap_remove(claims, claim->key);
}

void table_keep(struct table *t, const struct delta *d)
{
    if (d->clock.at_ms != 0)
        t->clock = d->clock;
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
    for (size_t i = 0; i < d->sla_event_count; i++)
        keep_sla_event(t, &d->sla_events[i]);
    for (size_t i = 0; i < d->alert_count; i++)
        keep_alert(t, &d->alerts[i]);
    mark_alerts(t, d);
    for (size_t i = 0; i < d->silence_count; i++)
        keep_silence(t, &d->silences[i]);
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
    keep_attempts(t, d);
    for (size_t i = 0; i < d->worker_count; i++)
        table_keep_worker(t, &d->workers[i]);
    for (size_t i = 0; i < d->letter_gone_count; i++)
        assert_non_null(map_remove(&t->letters, d->letters_gone[i].exec_id));
    for (size_t i = 0; i < d->letter_count; i++)
        keep_letter(t, &d->letters[i]);
    for (size_t i = 0; i < d->operation_count; i++)
        keep_operation(t, &d->operations[i]);
    for (size_t i = 0; i < d->operation_gone_count; i++)
        assert_non_null(map_remove(&t->operations, d->operations_gone[i]));
    for (size_t i = 0; i < d->tally_count; i++)
        keep_tally(t, &d->tallies[i]);
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
    for (size_t i = 0; i < d->queue_gone_count; i++)
        forget_queue(t, &d->queues_gone[i]);
    for (size_t i = 0; i < d->claim_count; i++)
        table_put_claim(t, &d->claims[i]);
    for (size_t i = 0; i < d->released_count; i++)
        release_claim(t, &d->released[i]);
}

void table_abort(struct table *t)
{
    for (size_t i = 0; i < t->taken.len; i++)
        strmap_remove(&t->claims[t->taken.items[i]->kind], t->taken.items[i]->key);
    memset(&t->taken, 0, sizeof t->taken);
}
