-- Jobs with a schedule: why an execution exists, which slot it is for, and, where it was skipped
-- together with others, up to which one and how many.
ALTER TABLE live ADD COLUMN origin INTEGER NOT NULL DEFAULT 0; -- enum origin
ALTER TABLE live ADD COLUMN nominal_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN nominal_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN slot_last_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN slot_count INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 4;
