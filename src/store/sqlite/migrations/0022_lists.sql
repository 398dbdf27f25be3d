-- What lists ask for by name and find seldom: each of these is over rows that are few beside those of a
-- life that went well, which writes nothing into any of them. An id stands behind every key by itself.

-- Executions that did not end as they should: all but completed (6).
CREATE INDEX history_odd ON history (state) WHERE state <> 6;

-- Jobs that failed (3) or were cancelled (4): their end stands in an execution's row, or in their own.
-- A job whose own row is as it was made, active (1), is in neither index.
CREATE INDEX history_ended ON history (job_state, job_id) WHERE job_state IN (3, 4);
CREATE INDEX job_state ON job (state) WHERE state <> 1;

-- Dead letters, by what people look for.
CREATE INDEX dead_letter_queue ON dead_letter (queue, died_ms, exec_id);
CREATE INDEX dead_letter_job ON dead_letter (job_id, died_ms, exec_id);
CREATE INDEX dead_letter_print ON dead_letter (fingerprint, died_ms, exec_id);
CREATE INDEX dead_letter_died ON dead_letter (died_ms, exec_id, fingerprint); -- for groups, without the rows
CREATE INDEX dead_letter_name ON dead_letter (name, died_ms, exec_id) WHERE name <> '';

PRAGMA user_version = 22;
