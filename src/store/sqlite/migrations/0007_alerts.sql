-- What somebody should know about. Few: those of one key are told once in a while.
CREATE TABLE alert (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    kind INTEGER NOT NULL,  -- enum alert_kind
    level INTEGER NOT NULL, -- enum alert_level
    state INTEGER NOT NULL, -- enum alert_state
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    queue TEXT NOT NULL,
    job_id INTEGER NOT NULL,
    exec_id INTEGER NOT NULL,
    repeats INTEGER NOT NULL
);

CREATE INDEX alert_pending ON alert (id) WHERE state = 2;

PRAGMA user_version = 7;
