-- Since when a worker takes no new work, by whom and why; 0: it takes work.

ALTER TABLE worker ADD COLUMN cordoned_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN cordoned_by TEXT NOT NULL DEFAULT '';
ALTER TABLE worker ADD COLUMN cordon_reason TEXT NOT NULL DEFAULT '';
CREATE INDEX worker_cordoned ON worker (id) WHERE cordoned_ms > 0;

PRAGMA user_version = 29;
