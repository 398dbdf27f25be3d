-- columns.sql - the columns of each record, and sets of states, once. store/sql/statement.h tells
-- how statements name them.

-- columns: exec_last
-- The end of its job, and its last attempt, in the row of an execution that has ended.
job_state, job_step, attempt_outcome, attempt_number, attempt_worker, attempt_started_ms,
    attempt_ended_ms, attempt_usage, attempt_error, attempt_class, attempt_fingerprint, attempt_tail

-- columns: claim
kind, key, holder, until_ms, note

-- columns: request
id, key, holder, until_ms, note

-- columns: counter
kind, queue, state, value

-- columns: tally
scope, key, hour, end, bucket, count, sum_ms

-- columns: mail
{mail_head}, body

-- columns: mail_head
bucket, kind, sent_ms, about, sender, value, number, name, actor

-- columns: api_key
id key, name, role, hash, created_ms, sessions

-- columns: chunk
exec_id, token, seq, attempt, stream, at_ms, bytes

-- columns: checkpoint
exec_id key, token, at_ms, bytes

-- ---- states and kinds

-- token: exec.waiting
-- Their moment has not come.
{EXEC_SCHEDULED}, {EXEC_RETRYING}

-- token: job.over
{JOB_COMPLETED}, {JOB_FAILED}, {JOB_CANCELLED}

-- token: counter.kinds
{COUNTER_JOBS}, {COUNTER_EXECS}, {COUNTER_LETTERS}
