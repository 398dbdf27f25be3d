-- The trace context of who asked for an execution: its traceparent, and behind a space its tracestate; NULL: none.
ALTER TABLE alert ADD COLUMN trace TEXT NOT NULL DEFAULT ''; -- the id of its execution's; empty: none
ALTER TABLE live ADD COLUMN trace TEXT;
ALTER TABLE history ADD COLUMN trace TEXT;

PRAGMA user_version = 35;
