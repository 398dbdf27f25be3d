-- When a job was edited last; 0: never.
ALTER TABLE job ADD COLUMN changed_ms INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 10;
