-- Executions that failed for good, in the order of their deaths, until somebody decides about them.
-- What failed before this version is in the history only.
CREATE TABLE dead_letter (
    died_ms INTEGER NOT NULL,
    exec_id INTEGER NOT NULL,
    job_id INTEGER NOT NULL,
    state INTEGER NOT NULL, -- enum exec_state
    queue TEXT NOT NULL,
    name TEXT NOT NULL, -- of the job; empty: none
    owner TEXT NOT NULL,
    reason INTEGER NOT NULL, -- enum letter_reason
    class INTEGER NOT NULL,  -- enum failure_class
    fingerprint INTEGER NOT NULL,
    line TEXT NOT NULL,
    error TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    PRIMARY KEY (died_ms, exec_id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX dead_letter_exec ON dead_letter (exec_id);

-- What is done with many of them, and how far it has come.
CREATE TABLE operation (
    id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,  -- enum operation_kind
    state INTEGER NOT NULL, -- enum operation_state
    queue TEXT NOT NULL,    -- the filter; empty or 0: any
    name TEXT NOT NULL,
    class INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL,
    job_id INTEGER NOT NULL,
    died_after_ms INTEGER NOT NULL,
    died_before_ms INTEGER NOT NULL,
    actor TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    finished_ms INTEGER NOT NULL,
    total INTEGER NOT NULL,
    done INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    at_ms INTEGER NOT NULL, -- the place of the last one it has looked at
    at_id INTEGER NOT NULL,
    refusal TEXT NOT NULL
);

PRAGMA user_version = 12;
