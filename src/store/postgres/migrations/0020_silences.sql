-- Alerts: the silence that kept one from being sent, and who has acknowledged it.
ALTER TABLE belfry.alert
    ADD COLUMN silenced_by bigint NOT NULL DEFAULT 0, -- 0: none
    ADD COLUMN acked_ms bigint NOT NULL DEFAULT 0,    -- 0: nobody has
    ADD COLUMN acked_by text NOT NULL DEFAULT '',
    ADD COLUMN ack_note text NOT NULL DEFAULT '';

-- Alerts that are not to be sent for a while (engine/core/silences.h).
CREATE TABLE belfry.alert_silence (
    id bigint PRIMARY KEY,
    key text NOT NULL, -- a whole key, or the beginning of keys with * behind it
    until_ms bigint NOT NULL,
    reason text NOT NULL,
    actor text NOT NULL,
    created_ms bigint NOT NULL
);
