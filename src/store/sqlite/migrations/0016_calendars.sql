-- Calendars by name, and which unfinished jobs go by them. The document stands last: whoever lists them
-- does not read it.
CREATE TABLE calendar (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    policy INTEGER NOT NULL, -- enum calendar_policy
    entry_count INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    document TEXT NOT NULL
);

CREATE TABLE calendar_use (
    calendar TEXT NOT NULL,
    job_id INTEGER NOT NULL,
    PRIMARY KEY (calendar, job_id)
) WITHOUT ROWID;

PRAGMA user_version = 16;
