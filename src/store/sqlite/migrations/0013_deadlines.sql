-- Whether an execution had not started when it should have, and that was told: once, whatever dies
-- in between.
ALTER TABLE live ADD COLUMN late INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN late INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 13;
