-- The team of a job; empty: of none.
ALTER TABLE job ADD COLUMN team TEXT NOT NULL DEFAULT '';

-- What somebody decided about a team. One that is not here is without limit.
CREATE TABLE team (
    name TEXT PRIMARY KEY,
    concurrency INTEGER NOT NULL, -- leases at once, in all queues; 0: no limit
    changed_ms INTEGER NOT NULL,  -- the newest change, and whose it was
    changed_by TEXT NOT NULL
) WITHOUT ROWID;

PRAGMA user_version = 11;
