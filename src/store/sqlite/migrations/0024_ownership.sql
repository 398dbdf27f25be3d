-- What migration 10 of the PostgreSQL store adds, as far as one server alone needs it.

ALTER TABLE worker ADD COLUMN boot_id TEXT NOT NULL DEFAULT '';

-- Inherited leases of this execution that ended in silence since it last reported an end; NULL: none.
ALTER TABLE live ADD COLUMN unseen INTEGER;

-- ---- time

-- ---- indexes

PRAGMA user_version = 24;
