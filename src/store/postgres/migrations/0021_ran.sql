-- Executions that ended more than an hour after they were made, by their end: timelines find the others by when
-- they were made (job/record/ran.h), and what tidies the past finds those of more than a day here as well.
CREATE INDEX history_slow ON belfry.history (finished_ms) WHERE finished_ms - created_ms > 3600000;
DROP INDEX belfry.history_late;
