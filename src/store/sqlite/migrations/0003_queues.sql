-- What somebody decided about a queue. One that is not here is open and without limit.
CREATE TABLE queue (
    name TEXT PRIMARY KEY,
    concurrency INTEGER NOT NULL, -- leases at once; 0: no limit
    paused INTEGER NOT NULL,
    paused_ms INTEGER NOT NULL,
    paused_by TEXT NOT NULL,
    changed_ms INTEGER NOT NULL, -- the newest change, and whose it was
    changed_by TEXT NOT NULL
) WITHOUT ROWID;

-- One number per key whose starts are limited by rate: no start before it.
CREATE TABLE rate (
    key TEXT PRIMARY KEY,
    next_us INTEGER NOT NULL,    -- microseconds since 1970
    interval_us INTEGER NOT NULL -- between two starts, when it was set
) WITHOUT ROWID;

PRAGMA user_version = 3;
