#include "store/postgres/row.h"
#include "base/when.h"
#include "job/spec.h"
#include "store/postgres/cell.h"
#include "store/usage_text.h"

/* ---- records: field by field, since in an initialiser the order of calls is the compiler's */

bool pg_row_job(struct pg_row *row, struct job_rec *ret_job)
{
    struct job_rec job = {0};
    job.id = pg_row_id(row);
    job.version = pg_row_u32(row);
    job.state = (enum job_state)pg_row_range(row, JOB_NONE + 1, JOB_STATES - 1);
    job.name = pg_row_text_or_null(row);
    job.queue = pg_row_text(row);
    job.owner = pg_row_text(row);
    job.team = pg_row_text(row);
    job.tags = pg_row_text(row);
    job.priority = pg_row_i32(row);
    job.created_ms = pg_row_ms(row);
    job.finished_ms = pg_row_ms(row);
    job.changed_ms = pg_row_ms(row);
    job.last_exec = pg_row_u64(row);
    job.spec = pg_row_text(row);
    *ret_job = job;
    return pg_row_makes_sense(row);
}

bool pg_row_exec(struct pg_row *row, struct exec_rec *ret_exec)
{
    struct exec_rec exec = {0};
    exec.id = pg_row_id(row);
    exec.job_id = pg_row_id(row);
    exec.queue = pg_row_text(row);
    exec.priority = pg_row_i32(row);
    exec.retry_of = pg_row_u64(row);
    exec.first = pg_row_bool(row);
    exec.origin = (enum origin)pg_row_range(row, 0, ORIGINS - 1);
    exec.slot_ms = pg_row_ms(row);
    exec.nominal_ms = pg_row_ms(row);
    exec.created_ms = pg_row_ms(row);
    exec.state = (enum exec_state)pg_row_range(row, EXEC_NONE + 1, EXEC_STATES - 1);
    exec.due_ms = pg_row_ms(row);
    exec.ready_ms = pg_row_ms(row);
    exec.started_ms = pg_row_ms(row);
    exec.attempts = pg_row_u32(row);
    exec.lost = pg_row_u32(row);
    exec.returned = pg_row_u32(row);
    exec.late = pg_row_bool(row);
    exec.sla_since_ms = pg_row_ms(row);
    exec.sla_extra_ms = pg_row_range(row, 0, SPEC_DURATION_MAX_MS);
    exec.sla_marks = (uint32_t)pg_row_range(row, 0, SLA_MARKS);
    exec.token = pg_row_u64(row);
    exec.worker_id = pg_row_u64(row);
    exec.effect_done = pg_row_bool(row);
    exec.error = pg_row_text(row);
    exec.finished_ms = pg_row_ms(row);
    exec.slot_last_ms = pg_row_ms(row);
    exec.slot_count = pg_row_u64(row);
    exec.own_payload = pg_row_bool(row);
    *ret_exec = exec;
    return pg_row_makes_sense(row);
}

/* Where there is a text, it has all of it: see usage_text. */
static void pg_row_usage(struct pg_row *row, struct usage *ret_usage)
{
    struct usage usage = {0};
    usage.exit_code = pg_row_i32(row);
    usage.signal = pg_row_i32(row);
    usage.cpu_ms = pg_row_i64(row);
    usage.peak_memory_bytes = pg_row_i64(row);
    usage.output_bytes = pg_row_i64(row);
    usage.dropped_bytes = pg_row_i64(row);
    usage.log_seq = pg_row_u64(row);
    struct str text = pg_row_text_or_null(row);
    if (text.ptr != NULL && !usage_parse(text, &usage))
        row->bad = true;
    *ret_usage = usage;
}

bool pg_row_attempt(struct pg_row *row, struct attempt_rec *ret_attempt)
{
    struct attempt_rec attempt = {0};
    attempt.exec_id = pg_row_id(row);
    attempt.token = pg_row_u64(row);
    attempt.number = pg_row_u32(row);
    attempt.worker_id = pg_row_u64(row);
    attempt.started_ms = pg_row_ms(row);
    attempt.ended_ms = pg_row_ms(row);
    attempt.outcome = (enum outcome)pg_row_range(row, OUTCOME_NONE + 1, OUTCOMES - 1);
    attempt.error = pg_row_text(row);
    attempt.class = (enum failure_class)pg_row_range(row, FAILURE_NONE, FAILURE_CLASSES - 1);
    attempt.fingerprint = pg_row_u64(row);
    attempt.tail = pg_row_text(row);
    pg_row_usage(row, &attempt.usage);
    *ret_attempt = attempt;
    return pg_row_makes_sense(row);
}

bool pg_row_worker(struct pg_row *row, struct worker_rec *ret_worker)
{
    struct worker_rec worker = {0};
    worker.id = pg_row_id(row);
    worker.name = pg_row_text(row);
    worker.queues = pg_row_text(row);
    worker.handlers = pg_row_text(row);
    worker.runs_commands = pg_row_bool(row);
    worker.draining = pg_row_bool(row);
    worker.slots = pg_row_u32(row);
    worker.registered_ms = pg_row_ms(row);
    *ret_worker = worker;
    return pg_row_makes_sense(row);
}

bool pg_row_team(struct pg_row *row, struct team_rec *ret_team)
{
    struct team_rec team = {0};
    team.name = pg_row_text(row);
    team.concurrency = pg_row_u32(row);
    team.changed_ms = pg_row_ms(row);
    team.changed_by = pg_row_text(row);
    *ret_team = team;
    return pg_row_makes_sense(row);
}

bool pg_row_queue(struct pg_row *row, struct queue_rec *ret_queue)
{
    struct queue_rec queue = {0};
    queue.name = pg_row_text(row);
    queue.concurrency = pg_row_u32(row);
    queue.paused = pg_row_bool(row);
    queue.paused_ms = pg_row_ms(row);
    queue.paused_by = pg_row_text(row);
    queue.changed_ms = pg_row_ms(row);
    queue.changed_by = pg_row_text(row);
    *ret_queue = queue;
    return pg_row_makes_sense(row);
}

bool pg_row_rate(struct pg_row *row, struct rate_rec *ret_rate)
{
    struct rate_rec rate = {0};
    rate.key = pg_row_text(row);
    rate.next_us = pg_row_range(row, 0, WHEN_MAX_MS * 1000);
    rate.interval_us = pg_row_range(row, 0, SPEC_DURATION_MAX_MS * 1000);
    *ret_rate = rate;
    return pg_row_makes_sense(row);
}

bool pg_row_inbox(struct pg_row *row, struct inbox_rec *ret_rec)
{
    struct inbox_rec rec = {0};
    rec.id = pg_row_id(row);
    rec.bucket = (uint32_t)pg_row_range(row, 0, ID_BUCKETS - 1);
    rec.kind = (enum inbox_kind)pg_row_range(row, INBOX_SUBMIT, INBOX_KINDS - 1);
    rec.sent_ms = pg_row_ms(row);
    rec.about = pg_row_u64(row);
    rec.from = pg_row_u64(row);
    rec.value = pg_row_i64(row);
    rec.number = pg_row_i64(row);
    rec.name = pg_row_text(row);
    rec.actor = pg_row_text(row);
    rec.body = pg_row_text(row);
    *ret_rec = rec;
    return pg_row_makes_sense(row);
}

bool pg_row_waiter(struct pg_row *row, struct waiter_rec *ret_waiter)
{
    struct waiter_rec waiter = {0};
    waiter.upstream = pg_row_id(row);
    waiter.exec_id = pg_row_id(row);
    waiter.dependant = pg_row_id(row);
    waiter.type = (enum dependency_type)pg_row_range(row, DEPENDS_SUCCESS, DEPENDS_TYPES - 1);
    waiter.slot_ms = pg_row_ms(row);
    *ret_waiter = waiter;
    return pg_row_makes_sense(row);
}

bool pg_row_permit(struct pg_row *row, struct permit_rec *ret_permit)
{
    struct permit_rec permit = {0};
    permit.key = pg_row_text(row);
    permit.exec_id = pg_row_id(row);
    permit.bucket = (uint32_t)pg_row_range(row, 0, ID_BUCKETS - 1);
    permit.granted = pg_row_bool(row);
    permit.max = pg_row_i64(row);
    permit.rank = pg_row_i64(row);
    permit.ask = pg_row_u64(row);
    permit.asked_ms = pg_row_ms(row);
    *ret_permit = permit;
    return pg_row_makes_sense(row);
}

bool pg_row_rejected(struct pg_row *row, struct rejected_rec *ret_rec)
{
    struct rejected_rec rec = {0};
    rec.id = pg_row_id(row);
    rec.at_ms = pg_row_ms(row);
    rec.inbox_id = pg_row_u64(row);
    rec.team = pg_row_text(row);
    rec.actor = pg_row_text(row);
    rec.reason = pg_row_text(row);
    rec.head = pg_row_text(row);
    *ret_rec = rec;
    return pg_row_makes_sense(row);
}

bool pg_row_tally(struct pg_row *row, struct tally *ret_tally)
{
    struct tally tally = {0};
    tally.end = (enum exec_state)pg_row_range(row, EXEC_NONE + 1, EXEC_STATES - 1);
    tally.bucket = pg_row_u32(row);
    tally.count = pg_row_u64(row);
    tally.sum_ms = pg_row_u64(row);
    *ret_tally = tally;
    return pg_row_makes_sense(row);
}

bool pg_row_tally_key(struct pg_row *row, struct tally_key *ret_key)
{
    struct tally_key key = {0};
    key.key = pg_row_text(row);
    key.completed = pg_row_u64(row);
    key.deduplicated = pg_row_u64(row);
    key.failed = pg_row_u64(row);
    *ret_key = key;
    return pg_row_makes_sense(row);
}

bool pg_row_alert(struct pg_row *row, struct alert_rec *ret_alert)
{
    struct alert_rec alert = {0};
    alert.id = pg_row_id(row);
    alert.at_ms = pg_row_ms(row);
    alert.kind = (enum alert_kind)pg_row_range(row, ALERT_NONE + 1, ALERT_KINDS - 1);
    alert.level = (enum alert_level)pg_row_range(row, ALERT_WARNING, ALERT_CRITICAL);
    alert.state = (enum alert_state)pg_row_range(row, ALERT_KEPT, ALERT_STATES - 1);
    alert.key = pg_row_text(row);
    alert.text = pg_row_text(row);
    alert.queue = pg_row_text(row);
    alert.job_id = pg_row_u64(row);
    alert.exec_id = pg_row_u64(row);
    alert.repeats = pg_row_u64(row);
    *ret_alert = alert;
    return pg_row_makes_sense(row);
}

bool pg_row_sla_event(struct pg_row *row, struct sla_event_rec *ret_event)
{
    struct sla_event_rec event = {0};
    event.id = pg_row_id(row);
    event.at_ms = pg_row_ms(row);
    event.kind = (enum sla_event_kind)pg_row_range(row, SLA_EVENT_WARNING, SLA_EVENT_KINDS - 1);
    event.policy = (enum sla_policy)pg_row_range(row, 0, SLA_POLICIES - 1);
    event.exec_id = pg_row_id(row);
    event.job_id = pg_row_id(row);
    event.attempt = pg_row_u32(row);
    event.expected_ms = pg_row_ms(row);
    event.max_ms = pg_row_ms(row);
    event.actual_ms = pg_row_ms(row);
    event.extended_ms = pg_row_ms(row);
    event.queue = pg_row_text(row);
    event.actor = pg_row_text(row);
    event.reason = pg_row_text(row);
    event.approver = pg_row_text(row);
    *ret_event = event;
    return pg_row_makes_sense(row);
}

bool pg_row_breaker(struct pg_row *row, struct breaker_rec *ret_breaker)
{
    struct breaker_rec breaker = {0};
    breaker.target = pg_row_text(row);
    breaker.state = (enum breaker_state)pg_row_range(row, BREAKER_OPEN, BREAKER_STATES - 1);
    breaker.opened_ms = pg_row_ms(row);
    breaker.until_ms = pg_row_ms(row);
    breaker.probe = (uint64_t)pg_row_range(row, 0, INT64_MAX);
    *ret_breaker = breaker;
    return pg_row_makes_sense(row);
}

bool pg_row_letter(struct pg_row *row, struct letter_rec *ret_letter)
{
    struct letter_rec letter = {0};
    letter.place.died_ms = pg_row_ms(row);
    letter.place.exec_id = pg_row_id(row);
    letter.job_id = pg_row_id(row);
    letter.state = (enum exec_state)pg_row_range(row, EXEC_NONE + 1, EXEC_STATES - 1);
    letter.queue = pg_row_text(row);
    letter.name = pg_row_text(row);
    letter.owner = pg_row_text(row);
    letter.reason = (enum letter_reason)pg_row_range(row, LETTER_NONE, LETTER_REASONS - 1);
    letter.class = (enum failure_class)pg_row_range(row, FAILURE_NONE, FAILURE_CLASSES - 1);
    letter.fingerprint = pg_row_u64(row);
    letter.line = pg_row_text(row);
    letter.error = pg_row_text(row);
    letter.attempts = pg_row_u32(row);
    letter.lost = pg_row_u32(row);
    *ret_letter = letter;
    return pg_row_makes_sense(row);
}

bool pg_row_operation(struct pg_row *row, struct operation_rec *ret_operation)
{
    struct operation_rec op = {0};
    op.id = pg_row_id(row);
    op.kind = (enum operation_kind)pg_row_range(row, OPERATION_RETRY, OPERATION_KINDS - 1);
    op.state = (enum operation_state)pg_row_range(row, OPERATION_RUNNING, OPERATION_STATES - 1);
    op.filter.queue = pg_row_text(row);
    op.filter.name = pg_row_text(row);
    op.filter.class = (enum failure_class)pg_row_range(row, FAILURE_NONE, FAILURE_CLASSES - 1);
    op.filter.fingerprint = pg_row_u64(row);
    op.filter.job_id = pg_row_u64(row);
    op.filter.died_after_ms = pg_row_ms(row);
    op.filter.died_before_ms = pg_row_ms(row);
    op.by = pg_row_text(row);
    op.created_ms = pg_row_ms(row);
    op.finished_ms = pg_row_ms(row);
    op.total = pg_row_u64(row);
    op.done = pg_row_u64(row);
    op.refused = pg_row_u64(row);
    op.at.died_ms = pg_row_ms(row);
    op.at.exec_id = pg_row_u64(row);
    op.refusal = pg_row_text(row);
    *ret_operation = op;
    return pg_row_makes_sense(row);
}

bool pg_row_counter(struct pg_row *row, struct counter *ret_counter)
{
    struct counter counter = {0};
    counter.kind = (enum counter_kind)pg_row_range(row, COUNTER_JOBS, COUNTER_KINDS - 1);
    counter.queue = pg_row_text(row);
    uint32_t states = counter.kind == COUNTER_JOBS ? JOB_STATES : EXEC_STATES;
    counter.state = (uint32_t)pg_row_range(row, 0, states - 1);
    counter.value = pg_row_i64(row);
    *ret_counter = counter;
    return pg_row_makes_sense(row);
}

bool pg_row_dependency(struct pg_row *row, struct dependency_rec *ret_dependency)
{
    struct dependency_rec dependency = {0};
    dependency.upstream = pg_row_id(row);
    dependency.dependant = pg_row_id(row);
    dependency.type = (enum dependency_type)pg_row_range(row, DEPENDS_SUCCESS, DEPENDS_TYPES - 1);
    dependency.state =
        (enum dependency_state)pg_row_range(row, DEPENDENCY_WAITING, DEPENDENCY_STATES - 1);
    *ret_dependency = dependency;
    return pg_row_makes_sense(row);
}

bool pg_row_calendar(struct pg_row *row, struct calendar_rec *ret_calendar)
{
    struct calendar_rec calendar = {0};
    calendar.name = pg_row_text(row);
    calendar.version = pg_row_u32(row);
    calendar.policy = (enum calendar_policy)pg_row_range(row, CALENDAR_SKIP, CALENDAR_POLICIES - 1);
    calendar.entry_count = pg_row_u32(row);
    calendar.changed_ms = pg_row_ms(row);
    calendar.changed_by = pg_row_text(row);
    calendar.document = pg_row_text(row);
    *ret_calendar = calendar;
    return pg_row_makes_sense(row);
}

bool pg_row_key(struct pg_row *row, struct key_rec *ret_key)
{
    struct key_rec key = {0};
    key.id = pg_row_id(row);
    key.name = pg_row_text(row);
    key.role = pg_row_text(row);
    key.hash = pg_row_text(row);
    key.created_ms = pg_row_ms(row);
    *ret_key = key;
    return pg_row_makes_sense(row);
}

bool pg_row_chunk(struct pg_row *row, struct log_chunk *ret_chunk)
{
    struct log_chunk chunk = {0};
    chunk.exec_id = pg_row_id(row);
    chunk.token = pg_row_u64(row);
    chunk.seq = pg_row_u64(row);
    chunk.attempt = pg_row_u32(row);
    chunk.stream = (enum log_stream)pg_row_range(row, LOG_STDOUT, LOG_NOTE);
    chunk.at_ms = pg_row_ms(row);
    chunk.bytes = pg_row_blob(row);
    *ret_chunk = chunk;
    return pg_row_makes_sense(row);
}

bool pg_row_checkpoint(struct pg_row *row, struct checkpoint *ret_checkpoint)
{
    struct checkpoint checkpoint = {0};
    checkpoint.exec_id = pg_row_id(row);
    checkpoint.token = pg_row_u64(row);
    checkpoint.at_ms = pg_row_ms(row);
    checkpoint.bytes = pg_row_blob(row);
    *ret_checkpoint = checkpoint;
    return pg_row_makes_sense(row);
}

bool pg_row_grant(struct pg_row *row, struct grant *ret_grant)
{
    struct grant grant = {.live = !pg_row_is_null(row)};
    grant.newest = pg_row_u64_or_null(row);
    grant.holder_id = pg_row_u64_or_null(row);
    grant.past_id = pg_row_u64_or_null(row);
    *ret_grant = grant;
    return pg_row_makes_sense(row);
}
