#include "store/sql/row.h"
#include "base/log.h"
#include "job/record/record_fields.h"
#include "store/usage_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool row_makes_sense(const struct row *row)
{
    char id[24];
    if (!row->bad)
        return true;
    struct cell first = row->kind->cell(row, 0);
    struct row_origin origin = row->kind->origin(row);
    snprintf(id, sizeof id, "%" PRId64, first.kind == CELL_NUMBER ? first.number : 0);
    log_warn("a corrupt row was left out", origin.noun, origin.name, "query", origin.query,
             "first_column", id, NULL);
    return false;
}

/* ---- records whose fields are listed */

static void read_fields(struct row *row, const struct fields *fields, void *record)
{
    memset(record, 0, fields->bytes);
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *field = &fields->items[i];
        if (field->kind == FIELD_TEXT)
            field_set_text(field, record, row_text(row));
        else
            field_set_number(field, record, row_range(row, field->min, field->max));
    }
}

bool row_record(struct row *row, const struct fields *fields, void *record)
{
    read_fields(row, fields, record);
    return row_makes_sense(row);
}

bool row_worker(struct row *row, struct worker_rec *worker)
{
    return row_record(row, &worker_fields, worker);
}

bool row_queue(struct row *row, struct queue_rec *queue)
{
    return row_record(row, &queue_fields, queue);
}

bool row_team(struct row *row, struct team_rec *team)
{
    return row_record(row, &team_fields, team);
}

bool row_rate(struct row *row, struct rate_rec *rate)
{
    return row_record(row, &rate_fields, rate);
}

bool row_silence(struct row *row, struct silence_rec *silence)
{
    return row_record(row, &silence_fields, silence);
}

bool row_alert(struct row *row, struct alert_rec *alert)
{
    return row_record(row, &alert_fields, alert);
}

bool row_breaker(struct row *row, struct breaker_rec *breaker)
{
    return row_record(row, &breaker_fields, breaker);
}

bool row_calendar(struct row *row, struct calendar_rec *calendar)
{
    return row_record(row, &calendar_fields, calendar);
}

bool row_sla_event(struct row *row, struct sla_event_rec *event)
{
    return row_record(row, &sla_event_fields, event);
}

bool row_letter(struct row *row, struct letter_rec *letter)
{
    return row_record(row, &letter_fields, letter);
}

bool row_operation(struct row *row, struct operation_rec *op)
{
    return row_record(row, &operation_fields, op);
}

bool row_version(struct row *row, struct version_rec *version)
{
    return row_record(row, &version_fields, version);
}

/* Where there is a text behind the rest, it has all of what was used: see usage_text. */
bool row_attempt(struct row *row, struct attempt_rec *attempt)
{
    read_fields(row, &attempt_fields, attempt);
    struct str usage = row_text_or_null(row);
    if (usage.ptr != NULL && !usage_parse(usage, &attempt->usage))
        row->bad = true;
    return row_makes_sense(row);
}

bool row_dependency(struct row *row, struct dependency_rec *dependency)
{
    return row_record(row, &dependency_fields, dependency);
}

bool row_waiter(struct row *row, struct waiter_rec *waiter)
{
    return row_record(row, &waiter_fields, waiter);
}

bool row_permit(struct row *row, struct permit_rec *permit)
{
    return row_record(row, &permit_fields, permit);
}

bool row_rejected(struct row *row, struct rejected_rec *rec)
{
    return row_record(row, &rejected_fields, rec);
}

/* ---- those that a start reads very many of: straight-line code of the same lists */

#define READ(record, member, column, group, ...) READ_OF(record->member, FIELD_##group, __VA_ARGS__)
#define READ_OF(member, groups, kind, min, max, usual)                                             \
    if (((groups)&FIELD_ROW) != 0)                                                                 \
        READ_##kind(member, groups, min, max);
#define READ_FIELD_U64(member, groups, min, max) member = row_range(row, min, max)
#define READ_FIELD_I64 READ_FIELD_U64
#define READ_FIELD_U32 READ_FIELD_U64
#define READ_FIELD_I32 READ_FIELD_U64
#define READ_FIELD_ENUM READ_FIELD_U64
#define READ_FIELD_BOOL READ_FIELD_U64
#define READ_FIELD_TEXT(member, groups, min, max)                                                  \
    member = ((groups)&FIELD_NULLED) != 0 ? row_text_or_null(row) : row_text(row)

bool row_job(struct row *row, struct job_rec *job)
{
    *job = (struct job_rec){0};
    JOB_ROW_FIELDS(READ, job)
    return row_makes_sense(row);
}

bool row_sorted_job(struct row *row, enum job_sort sort, struct sorted_job *job)
{
    *job = (struct sorted_job){0};
    if (sort == SORT_NAME)
        job->place.name = row_text(row);
    else
        job->place.due_ms = row_i64(row);
    job->place.id = row_id(row);
    bool makes_sense = sort == SORT_NAME || row_exec(row, &job->exec);
    return row_job(row, &job->job) && makes_sense;
}

bool row_exec(struct row *row, struct exec_rec *exec)
{
    *exec = (struct exec_rec){0};
    EXEC_FIELDS(READ, exec)
    return row_makes_sense(row);
}

bool row_ran(struct row *row, struct ran_rec *ran)
{
    ran->id = row_id(row);
    ran->job_id = row_id(row);
    ran->state = (enum exec_state)row_range(row, EXEC_NONE + 1, EXEC_STATES - 1);
    ran->queue = row_text(row);
    ran->origin = (enum origin)row_range(row, 0, ORIGINS - 1);
    ran->retry_of = row_u64(row);
    ran->created_ms = row_ms(row);
    ran->slot_ms = row_ms(row);
    ran->ready_ms = row_ms(row);
    ran->started_ms = row_ms(row);
    ran->starts = (uint32_t)row_range(row, 0, UINT32_MAX);
    ran->finished_ms = row_ms(row);
    ran->worker_id = row_u64(row);
    return row_makes_sense(row);
}

void row_charged(struct row *row, struct exec_rec *exec)
{
    struct cell cell = row_cell(row);
    exec->recharged = cell.kind != CELL_NULL;
    if (exec->recharged)
        exec->charged = cell_bytes(cell, row, CELL_TEXT);
}

/* ---- others: field by field, since in an initialiser the order of calls is the compiler's */

bool row_attempt_head(struct row *row, struct attempt_rec *attempt)
{
    *attempt = (struct attempt_rec){0};
    attempt->exec_id = row_id(row);
    attempt->token = row_u64(row);
    attempt->worker_id = row_u64(row);
    attempt->class = (enum failure_class)row_range(row, FAILURE_NONE, FAILURE_CLASSES - 1);
    attempt->fingerprint = row_u64(row);
    return row_makes_sense(row);
}

bool row_inbox(struct row *row, struct inbox_rec *rec)
{
    *rec = (struct inbox_rec){0};
    rec->id = row_id(row);
    rec->bucket = (uint32_t)row_range(row, 0, ID_BUCKETS - 1);
    rec->kind =
        (enum inbox_kind)row_range(row, INBOX_SUBMIT, INT16_MAX); /* also of newer versions */
    rec->sent_ms = row_ms(row);
    rec->about = row_u64(row);
    rec->from = row_u64(row);
    rec->value = row_i64(row);
    rec->number = row_i64(row);
    rec->name = row_text(row);
    rec->actor = row_text(row);
    rec->body = row_text(row);
    return row_makes_sense(row);
}

bool row_tally(struct row *row, struct tally *tally)
{
    *tally = (struct tally){0};
    tally->end = (enum exec_state)row_range(row, EXEC_NONE + 1, EXEC_STATES - 1);
    tally->bucket = row_u32(row);
    tally->count = row_u64(row);
    tally->sum_ms = row_u64(row);
    return row_makes_sense(row);
}

bool row_tally_of_key(struct row *row, enum tally_scope scope, struct tally *tally)
{
    struct str key = row_text(row);
    bool good = row_tally(row, tally);
    tally->scope = scope;
    tally->key = key;
    return good;
}

bool row_letter_group(struct row *row, struct letter_group *group)
{
    *group = (struct letter_group){0};
    group->fingerprint = row_u64(row);
    group->class = (enum failure_class)row_range(row, FAILURE_NONE, FAILURE_CLASSES - 1);
    group->line = row_text(row);
    group->count = row_u64(row);
    group->newest.died_ms = row_ms(row);
    group->newest.exec_id = row_u64(row);
    group->oldest_ms = row_ms(row);
    return row_makes_sense(row);
}

bool row_counter(struct row *row, struct counter *counter)
{
    *counter = (struct counter){0};
    counter->kind = (enum counter_kind)row_range(row, COUNTER_JOBS, COUNTER_KINDS - 1);
    counter->queue = row_text(row);
    uint32_t states = counter->kind == COUNTER_JOBS ? JOB_STATES : EXEC_STATES;
    counter->state = (uint32_t)row_range(row, 0, states - 1);
    counter->value = row_i64(row);
    return row_makes_sense(row);
}

bool row_key(struct row *row, struct key_rec *key)
{
    *key = (struct key_rec){0};
    key->id = row_id(row);
    key->name = row_text(row);
    key->role = row_text(row);
    key->hash = row_text(row);
    key->created_ms = row_ms(row);
    key->sessions = row_u64(row);
    return row_makes_sense(row);
}

bool row_chunk(struct row *row, struct log_chunk *chunk)
{
    *chunk = (struct log_chunk){0};
    chunk->exec_id = row_id(row);
    chunk->token = row_u64(row);
    chunk->seq = row_u64(row);
    chunk->attempt = row_u32(row);
    chunk->stream = (enum log_stream)row_range(row, LOG_STDOUT, LOG_NOTE);
    chunk->at_ms = row_ms(row);
    chunk->bytes = row_blob(row);
    return row_makes_sense(row);
}

bool row_checkpoint(struct row *row, struct checkpoint *checkpoint)
{
    *checkpoint = (struct checkpoint){0};
    checkpoint->exec_id = row_id(row);
    checkpoint->token = row_u64(row);
    checkpoint->at_ms = row_ms(row);
    checkpoint->bytes = row_blob(row);
    return row_makes_sense(row);
}

bool row_grant(struct row *row, struct grant *grant)
{
    *grant = (struct grant){.live = !row_is_null(row)};
    grant->newest = row_u64_or_null(row);
    grant->holder_id = row_u64_or_null(row);
    grant->past_id = row_u64_or_null(row);
    return row_makes_sense(row);
}
