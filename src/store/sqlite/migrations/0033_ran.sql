-- Executions that ended more than an hour after they were made, by their end: timelines find the others by when
-- they were made (job/record/ran.h).
CREATE INDEX history_slow ON history (finished_ms) WHERE finished_ms - created_ms > 3600000;

PRAGMA user_version = 33;
