-- Definitions of jobs that were edited (engine/submit/edit.c): the newest ones, and the first edit also writes the
-- one before it.
CREATE TABLE job_version (
    job_id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    actor TEXT NOT NULL, -- who made it so; empty: not known
    spec TEXT NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (job_id, version)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 28;
