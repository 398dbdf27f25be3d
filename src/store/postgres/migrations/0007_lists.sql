-- What lists ask for by name and find seldom: each of these is over rows that are few beside those of a life
-- that went well, which writes nothing into any of them. Making them reads the history once.

-- Executions that did not end as they should: all but completed (6).
CREATE INDEX history_odd ON belfry.history (state, id) WHERE state <> 6;

-- Jobs that failed (3) or were cancelled (4): their end stands in an execution's row, or in their own. A job
-- whose own row is as it was made, active (1), is in neither index.
CREATE INDEX history_ended ON belfry.history (job_state, job_id) WHERE job_state IN (3, 4);
CREATE INDEX job_state ON belfry.job (state, id) WHERE state <> 1;

-- Dead letters, by what people look for. The key tells their kinds, too: groups are counted without the rows.
ALTER TABLE belfry.dead_letter DROP CONSTRAINT dead_letter_pkey;
ALTER TABLE belfry.dead_letter ADD PRIMARY KEY (died_ms, exec_id) INCLUDE (fingerprint);
CREATE INDEX dead_letter_queue ON belfry.dead_letter (queue, died_ms, exec_id);
CREATE INDEX dead_letter_job ON belfry.dead_letter (job_id, died_ms, exec_id);
CREATE INDEX dead_letter_print ON belfry.dead_letter (fingerprint, died_ms, exec_id);
CREATE INDEX dead_letter_name ON belfry.dead_letter (name, died_ms, exec_id) WHERE name <> '';
