/* row_live.c - what load_live tells: an execution and its job, in few words.
 *
 * A server starts with all of them, and most of what that takes is columns: each costs PostgreSQL as much
 * as four comparisons, and us a copy. So a column is NULL where it has what nearly every row has there;
 * the query and this file agree on what that is. */
#include "base/when.h"
#include "job/spec.h"
#include "store/postgres/cell.h"

static int64_t ms_or(struct pg_row *row, int64_t usual)
{
    return pg_row_range_or(row, usual, 0, WHEN_MAX_MS);
}

static uint32_t u32_or_zero(struct pg_row *row)
{
    return (uint32_t)pg_row_range_or(row, 0, 0, UINT32_MAX);
}

static bool bool_or(struct pg_row *row, bool usual)
{
    return pg_row_range_or(row, usual, 0, 1) != 0;
}

static struct exec_rec read_exec(struct pg_row *row)
{
    struct exec_rec exec = {0};
    exec.id = pg_row_id(row);
    exec.job_id = pg_row_id(row);
    exec.state = (enum exec_state)pg_row_range(row, EXEC_NONE + 1, EXEC_STATES - 1);
    exec.queue = pg_row_text(row);
    exec.priority = pg_row_i32(row);
    exec.created_ms = pg_row_ms(row);
    exec.first = bool_or(row, true);
    exec.slot_ms = ms_or(row, exec.created_ms);
    exec.ready_ms = ms_or(row, exec.created_ms);
    exec.retry_of = pg_row_u64_or_null(row);
    exec.own_payload = bool_or(row, false);
    exec.origin = (enum origin)pg_row_range_or(row, 0, 0, ORIGINS - 1);
    exec.nominal_ms = ms_or(row, 0);
    exec.due_ms = ms_or(row, 0);
    exec.started_ms = ms_or(row, 0);
    exec.attempts = u32_or_zero(row);
    exec.lost = u32_or_zero(row);
    exec.returned = u32_or_zero(row);
    exec.late = bool_or(row, false);
    exec.sla_since_ms = ms_or(row, 0);
    exec.sla_extra_ms = pg_row_range_or(row, 0, 0, SPEC_DURATION_MAX_MS);
    exec.sla_marks = (uint32_t)pg_row_range_or(row, 0, 0, SLA_MARKS);
    exec.token = pg_row_u64_or_null(row);
    exec.worker_id = pg_row_u64_or_null(row);
    exec.effect_done = bool_or(row, false);
    exec.error = pg_row_text_or(row, STR(""));
    return exec;
}

/* What a job has like its execution is not told twice. One that is gone has no state. */
static struct job_rec read_job(struct pg_row *row, const struct exec_rec *exec)
{
    struct job_rec job = {.id = exec->job_id};
    job.state = (enum job_state)pg_row_range(row, JOB_NONE + 1, JOB_STATES - 1);
    job.version = (uint32_t)pg_row_range_or(row, 1, 0, UINT32_MAX);
    job.name = pg_row_text_or_null(row);
    job.queue = pg_row_text_or(row, exec->queue);
    job.owner = pg_row_text(row);
    job.team = pg_row_text_or(row, STR(""));
    job.tags = pg_row_text_or(row, STR(""));
    job.priority = (int32_t)pg_row_range_or(row, exec->priority, INT32_MIN, INT32_MAX);
    job.created_ms = ms_or(row, exec->created_ms);
    job.finished_ms = ms_or(row, 0);
    job.changed_ms = ms_or(row, 0);
    job.last_exec = (uint64_t)pg_row_range_or(row, (int64_t)exec->id, 0, INT64_MAX);
    job.spec = pg_row_text(row);
    return job;
}

bool pg_row_live(struct pg_row *row, struct exec_rec *ret_exec, struct job_rec *ret_job)
{
    *ret_exec = read_exec(row);
    *ret_job = read_job(row, ret_exec);
    return pg_row_makes_sense(row);
}
