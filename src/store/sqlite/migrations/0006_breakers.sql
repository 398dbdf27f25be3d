-- Targets that are left alone for a while. One that is not here is closed.
CREATE TABLE breaker (
    target TEXT PRIMARY KEY,
    state INTEGER NOT NULL,     -- enum breaker_state
    opened_ms INTEGER NOT NULL, -- not closed since
    until_ms INTEGER NOT NULL,  -- open: when a probe may go
    probe INTEGER NOT NULL      -- half open: the execution that is tried; 0: none yet
) WITHOUT ROWID;

PRAGMA user_version = 6;
