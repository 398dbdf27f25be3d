-- columns.sql - the columns of each record, with the types of parameters, and sets of states, once.
-- store/sql/statement.h tells how statements name them.

-- columns: exec_last
-- The end of its job, and its last attempt, in the row of an execution that has ended.
job_state, job_step, attempt_outcome, attempt_number, attempt_worker, attempt_started_ms,
    attempt_ended_ms, attempt_usage, attempt_error, attempt_class, attempt_fingerprint, attempt_tail

-- columns: alike
-- Executions of a group have these in common (grouped_rows.h), …
slot_ms bigint, created_ms bigint, priority bigint, queue text, due_ms bigint, ready_ms bigint,
    started_ms bigint, token bigint, worker_id bigint, attempts bigint, state bigint, trail text

-- columns: alike_end
-- … and those of a group that has ended besides.
finished_ms bigint, attempt_worker bigint, attempt_started_ms bigint, attempt_ended_ms bigint,
    attempt_number bigint, attempt_outcome bigint, job_state bigint, job_step text

-- columns: new_letter
-- As a turn writes them: the owner is the job's.
died_ms bigint, exec_id bigint, job_id bigint, state bigint, queue text, name text, reason bigint,
    class bigint, fingerprint bigint, line text, error text, attempts bigint, lost bigint

-- columns: claim
kind bigint key, key text key, holder bigint, until_ms bigint, note text

-- columns: request
key uuid key, holder bigint, until_ms bigint, note text

-- columns: counter
kind bigint, queue text, state bigint, value bigint

-- columns: tally
{tally_key}, count bigint, sum_ms bigint

-- columns: tally_key
scope bigint, key text, hour bigint, "end" bigint, bucket bigint

-- columns: mail
{mail_head}, body text

-- columns: mail_head
bucket bigint, kind bigint, sent_ms bigint, about bigint, sender bigint, value bigint,
    number bigint,
    name text, actor text

-- columns: api_key
id bigint key, name text, role text, hash text, created_ms bigint, sessions bigint

-- columns: chunk
exec_id bigint, token bigint, seq bigint, attempt bigint, stream bigint, at_ms bigint, bytes bytea

-- columns: checkpoint
exec_id key, token, at_ms, bytes

-- columns: turn
{turn_mark}, kept boolean, fenced boolean

-- columns: turn_mark
writer text, turn bigint, try bigint, newest_id bigint, drift_ms bigint, partition bigint,
    epoch bigint

-- ---- what many statements ask

-- token: met_all
-- Divides by zero unless as many rows were met as $1 says: see README.md.
1 / (count(*) = $1::bigint)::integer

-- ---- states and kinds

-- token: exec.waiting
-- Their moment has not come.
{EXEC_SCHEDULED}, {EXEC_RETRYING}

-- token: job.over
{JOB_COMPLETED}, {JOB_FAILED}, {JOB_CANCELLED}

-- token: counter.kinds
{COUNTER_JOBS},{COUNTER_EXECS},{COUNTER_LETTERS}
