-- An operation has a row for each partition, of which this store has one; and acts upon jobs and executions,
-- too (engine/core/operations.c).
CREATE TABLE operation_part (
    id INTEGER NOT NULL,
    partition INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    kind INTEGER NOT NULL,  -- enum operation_kind
    state INTEGER NOT NULL, -- enum operation_state
    queue TEXT NOT NULL,    -- which dead letters; empty or 0: any
    name TEXT NOT NULL,
    class INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL,
    job_id INTEGER NOT NULL,
    died_after_ms INTEGER NOT NULL,
    died_before_ms INTEGER NOT NULL,
    states INTEGER NOT NULL, -- which jobs or executions: bits, …
    queues TEXT NOT NULL,    -- … these two one a line
    tags TEXT NOT NULL,
    job_name TEXT NOT NULL,
    owner TEXT NOT NULL,
    team TEXT NOT NULL,
    of_job INTEGER NOT NULL,
    created_after_ms INTEGER NOT NULL,
    created_before_ms INTEGER NOT NULL,
    by_ids INTEGER NOT NULL, -- or those that are named
    ids TEXT NOT NULL,
    actor TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    finished_ms INTEGER NOT NULL,
    counted INTEGER NOT NULL,
    total INTEGER NOT NULL,
    done INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    at_ms INTEGER NOT NULL, -- the place of the last one it has looked at
    at_id INTEGER NOT NULL,
    refusal TEXT NOT NULL,
    refusals TEXT NOT NULL,
    PRIMARY KEY (id, partition)
) STRICT;

INSERT INTO operation_part
SELECT id, 0, 1, kind, state, queue, name, class, fingerprint, job_id, died_after_ms, died_before_ms,
    0, '', '', '', '', '', 0, 0, 0, 0, '', actor, created_ms, finished_ms, 1, total, done, refused,
    at_ms, at_id, refusal, ''
FROM operation;

DROP TABLE operation;

PRAGMA user_version = 27;
