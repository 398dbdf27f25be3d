-- How long runs take, against how long they should. Since when the clock of an execution's newest
-- attempt runs, how much time was added, and what has been told (enum sla_mark).
ALTER TABLE live ADD COLUMN sla_since_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE live ADD COLUMN sla_extra_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE live ADD COLUMN sla_marks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN sla_since_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN sla_extra_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN sla_marks INTEGER NOT NULL DEFAULT 0;

-- Only appended to.
CREATE TABLE sla_event (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    kind INTEGER NOT NULL,   -- enum sla_event_kind
    policy INTEGER NOT NULL, -- enum sla_policy
    exec_id INTEGER NOT NULL,
    job_id INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    expected_ms INTEGER NOT NULL,
    max_ms INTEGER NOT NULL,
    actual_ms INTEGER NOT NULL,
    extended_ms INTEGER NOT NULL,
    queue TEXT NOT NULL,
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    approver TEXT NOT NULL
);

CREATE INDEX sla_event_of_job ON sla_event (job_id, id);
CREATE INDEX sla_event_of_exec ON sla_event (exec_id, id);

PRAGMA user_version = 15;
