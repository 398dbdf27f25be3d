/* row_live.c - what load_live and load_jobs tell, in few words.
 *
 * A server starts with all of them, and much of what that takes is columns: sending one takes
 * PostgreSQL some 60 ns, and us a copy. So a column is NULL where it has what nearly every row has
 * there; the queries and this file agree on what that is. */
#include "base/when.h"
#include "job/record/record_fields.h"
#include "store/postgres/postgres.h"
#include "store/sql/row.h"

static int64_t ms_or(struct row *row, int64_t usual)
{
    return row_range_or(row, usual, 0, WHEN_MAX_MS);
}

static int32_t priority_or_default(struct row *row)
{
    return (int32_t)row_range_or(row, SPEC_PRIORITY_DEFAULT, INT32_MIN, INT32_MAX);
}

/* Behind what is told of every row: the others, as the form `sparse` of load_jobs has them. */
#define READ_RARE(record, member, column, group, ...)                                              \
    READ_RARE_OF(record->member, FIELD_##group, __VA_ARGS__)
#define READ_RARE_OF(member, groups, kind, min, max, usual)                                        \
    if (((groups)&FIELD_TOLD) == 0 && ((groups)&RARE) != 0)                                        \
        READ_##kind(member, usual, min, max);
#define READ_FIELD_U64(member, usual, min, max) member = row_range_or(row, usual, min, max)
#define READ_FIELD_I64 READ_FIELD_U64
#define READ_FIELD_U32 READ_FIELD_U64
#define READ_FIELD_I32 READ_FIELD_U64
#define READ_FIELD_ENUM READ_FIELD_U64
#define READ_FIELD_BOOL READ_FIELD_U64
#define READ_FIELD_TEXT(member, ...) member = row_text_or_null(row)

bool postgres_row_live(struct row *row, struct exec_rec *exec)
{
    enum { RARE = FIELD_LIVE | FIELD_MARK };
    *exec = (struct exec_rec){0};
    exec->id = row_id(row);
    exec->job_id = row_id(row);
    exec->state = (enum exec_state)row_range(row, EXEC_NONE + 1, EXEC_STATES - 1);
    exec->queue = row_text(row);
    exec->priority = priority_or_default(row);
    exec->created_ms = row_ms(row);
    exec->slot_ms = ms_or(row, exec->created_ms);
    exec->ready_ms = ms_or(row, exec->created_ms);
    exec->due_ms = ms_or(row, 0);
    exec->started_ms = ms_or(row, 0);
    exec->attempts = (uint32_t)row_range_or(row, 0, 0, UINT32_MAX);
    exec->token = row_u64_or_null(row);
    exec->worker_id = row_u64_or_null(row);
    exec->own_payload = row_range_or(row, 0, 0, 1) != 0;
    EXEC_FIELDS(READ_RARE, exec)
    row_charged(row, exec);
    return row_makes_sense(row);
}

bool postgres_row_live_job(struct row *row, struct job_rec *job)
{
    enum { RARE = FIELD_ROW };
    *job = (struct job_rec){0};
    job->id = row_id(row);
    job->queue = row_text(row);
    job->owner = row_text(row);
    job->created_ms = row_ms(row);
    job->last_exec = row_u64(row);
    job->spec = row_text(row);
    job->priority = priority_or_default(row);
    JOB_ROW_FIELDS(READ_RARE, job)
    return row_makes_sense(row);
}
