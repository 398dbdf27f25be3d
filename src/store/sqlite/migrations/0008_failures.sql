-- Why attempts failed: the class, a number by which failures of one kind are found, and the last
-- lines of what was printed. NULL in history: it did not fail, as most do not. And leases that were
-- given back are counted, beside those that were lost.
ALTER TABLE attempt ADD COLUMN class INTEGER NOT NULL DEFAULT 0; -- enum failure_class
ALTER TABLE attempt ADD COLUMN fingerprint INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempt ADD COLUMN tail TEXT NOT NULL DEFAULT '';
ALTER TABLE history ADD COLUMN attempt_class INTEGER;
ALTER TABLE history ADD COLUMN attempt_fingerprint INTEGER;
ALTER TABLE history ADD COLUMN attempt_tail TEXT;

ALTER TABLE live ADD COLUMN returned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE history ADD COLUMN returned INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 8;
