-- columns.sql - the columns of each record, with the types of parameters, and sets of states, once.
-- store/sql/statement.h tells how statements name them.

-- columns: job
-- In the order of row_job (store/sql/row.c).
{job_head}, spec

-- columns: job_head
id, version, state, name, queue, owner, team, tags, priority, created_ms, finished_ms, changed_ms,
    last_exec

-- columns: job_change
-- Written by every change of a job.
id bigint key, version bigint, state bigint, priority bigint, finished_ms bigint, last_exec bigint

-- columns: job_edit
-- Written by an edit besides, and by nothing else.
id bigint key, queue text, team text, tags text, changed_ms bigint, spec text, payload text

-- columns: plain_job
-- In the order of those that are made with nothing but the usual (narrow_row.h), which stands last.
id, created_ms, last_exec, first_exec, priority, queue, owner, trail, spec, finished_ms, changed_ms,
    told, version, state, team, tags, payload

-- columns: exec
-- Executions in both tables, in the order of row_exec.
{exec_birth}, {exec_progress}, error text

-- columns: exec_birth
-- Of these only an edit of the job changes any.
id bigint key, job_id bigint, queue text, priority bigint, retry_of bigint, first boolean,
    origin bigint, slot_ms bigint, nominal_ms bigint, created_ms bigint

-- columns: exec_moved
-- Those that it changes.
id bigint key, queue text, priority bigint, slot_ms bigint, nominal_ms bigint

-- columns: exec_progress
-- Written by every step.
state bigint, due_ms bigint, ready_ms bigint, started_ms bigint, attempts bigint, lost bigint,
    returned bigint, late boolean, sla_since_ms bigint, sla_extra_ms bigint, sla_marks bigint,
    token bigint, worker_id bigint, effect_done boolean

-- columns: exec_end
-- Of executions that have ended.
finished_ms bigint, result text, slot_last_ms bigint, slot_count bigint

-- columns: exec_recorded
-- An execution that enters history with its whole trail.
{exec}, trail text, {exec_end}

-- columns: exec_last
-- The end of its job, and its last attempt, in the row of an execution that has ended.
job_state, job_step, attempt_outcome, attempt_number, attempt_worker, attempt_started_ms,
    attempt_ended_ms, attempt_usage, attempt_error, attempt_class, attempt_fingerprint, attempt_tail

-- columns: usual
-- Where most executions have the same, which is exec.usual.
sla_marks, origin, first, late, effect_done, error

-- token: exec.usual
0, {ORIGIN_ONCE}, true, false, false, ''

-- columns: alike
-- Executions of a group have these in common (grouped_rows.h), …
slot_ms bigint, created_ms bigint, priority bigint, queue text, due_ms bigint, ready_ms bigint,
    started_ms bigint, token bigint, worker_id bigint, attempts bigint, state bigint, trail text

-- columns: alike_end
-- … and those of a group that has ended besides.
finished_ms bigint, attempt_worker bigint, attempt_started_ms bigint, attempt_ended_ms bigint,
    attempt_number bigint, attempt_outcome bigint, job_state bigint, job_step text

-- columns: attempt
exec_id bigint key, token bigint key, number bigint, worker_id bigint, started_ms bigint,
    ended_ms bigint, outcome bigint, exit_code bigint, signal bigint, cpu_ms bigint,
    peak_memory_bytes bigint, output_bytes bigint, dropped_bytes bigint, log_seq bigint, error text,
    class bigint, fingerprint bigint, tail text

-- columns: new_letter
-- As a turn writes them: the owner is the job's.
died_ms bigint, exec_id bigint, job_id bigint, state bigint, queue text, name text, reason bigint,
    class bigint, fingerprint bigint, line text, error text, attempts bigint, lost bigint

-- columns: claim
kind bigint key, key text key, holder bigint, until_ms bigint, note text

-- columns: request
key uuid key, holder bigint, until_ms bigint, note text

-- columns: dependency
upstream, dependant, type, state

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
id bigint key, name text, role text, hash text, created_ms bigint

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
