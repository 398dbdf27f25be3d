-- A life that went well leaves one row in history and no second word anywhere else. Most jobs run
-- once: their execution is made with them, has one attempt, and ends them. So what used to cost two
-- index entries, a row in attempt and a second writing of the job now stands in that one row.
-- Rows from before have none of it and are read as they were.

-- The execution that was made together with the job: it is found by this number, so it needs no
-- entry in the indexes by job, which are for all later ones.
ALTER TABLE job ADD COLUMN first_exec INTEGER NOT NULL DEFAULT 0;
ALTER TABLE live ADD COLUMN first INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN first INTEGER NOT NULL DEFAULT 0;

DROP INDEX live_job;
DROP INDEX history_job;
CREATE INDEX live_job ON live (job_id) WHERE first = 0;
CREATE INDEX history_job ON history (job_id, id) WHERE first = 0;

-- How the job ended, when it ended with its newest execution: the job's state and its trail's last
-- lines. NULL: the job's own row says it. They count until the job's row is written again; then
-- they have become part of that, and the row names the execution in `told`.
ALTER TABLE history ADD COLUMN job_state INTEGER;
ALTER TABLE history ADD COLUMN job_step TEXT;
ALTER TABLE job ADD COLUMN told INTEGER NOT NULL DEFAULT 0;

-- The attempt that ended with the execution, under its token; all but this one are in table
-- attempt. NULL as outcome: there was none. NULL as usage: a handler's, which knows nothing;
-- NULL as error: the execution's own.
ALTER TABLE history ADD COLUMN attempt_outcome INTEGER;
ALTER TABLE history ADD COLUMN attempt_number INTEGER;
ALTER TABLE history ADD COLUMN attempt_worker INTEGER;
ALTER TABLE history ADD COLUMN attempt_started_ms INTEGER;
ALTER TABLE history ADD COLUMN attempt_ended_ms INTEGER;
ALTER TABLE history ADD COLUMN attempt_usage TEXT;
ALTER TABLE history ADD COLUMN attempt_error TEXT;

PRAGMA user_version = 2;
