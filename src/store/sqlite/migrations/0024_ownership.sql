-- What migration 10 of the PostgreSQL store adds, as far as one server alone needs it.

-- The machine's kernel that it was started under, and the worker that is dead for sure since it came.
ALTER TABLE worker ADD COLUMN boot_id TEXT NOT NULL DEFAULT '';
ALTER TABLE worker ADD COLUMN replaces INTEGER NOT NULL DEFAULT 0;

-- Inherited leases of this execution that ended in silence since it last reported an end; and whether the
-- newest has left its probation (engine/ready/silence.c).
ALTER TABLE live ADD COLUMN unseen INTEGER NOT NULL DEFAULT 0;
ALTER TABLE live ADD COLUMN proven INTEGER NOT NULL DEFAULT 0;

-- ---- time

-- The newest moment at which the clock was set by so much, or was so far from what the store had last seen,
-- that deletions wait behind it. One row.
CREATE TABLE clock (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    at_ms INTEGER NOT NULL, -- by the clock as it went on
    by_ms INTEGER NOT NULL
) STRICT;

-- ---- indexes

PRAGMA user_version = 24;
