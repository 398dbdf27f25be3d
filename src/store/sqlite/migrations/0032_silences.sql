-- Alerts: the silence that kept one from being sent, and who has acknowledged it.
ALTER TABLE alert ADD COLUMN silenced_by INTEGER NOT NULL DEFAULT 0; -- 0: none
ALTER TABLE alert ADD COLUMN acked_ms INTEGER NOT NULL DEFAULT 0;    -- 0: nobody has
ALTER TABLE alert ADD COLUMN acked_by TEXT NOT NULL DEFAULT '';
ALTER TABLE alert ADD COLUMN ack_note TEXT NOT NULL DEFAULT '';

-- Alerts that are not to be sent for a while (engine/core/silences.h).
CREATE TABLE alert_silence (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL, -- a whole key, or the beginning of keys with * behind it
    until_ms INTEGER NOT NULL,
    reason TEXT NOT NULL,
    actor TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;

PRAGMA user_version = 32;
