-- Claims that end by themselves, and what their holders want to find again. The index is the order
-- in which they end; those that last until they are released are not in it.
ALTER TABLE claim ADD COLUMN until_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE claim ADD COLUMN note TEXT NOT NULL DEFAULT '';

CREATE INDEX claim_until ON claim (until_ms) WHERE until_ms > 0;

-- A lease that had ended reported success, too late to be accepted.
ALTER TABLE live ADD COLUMN effect_done INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN effect_done INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 17;
