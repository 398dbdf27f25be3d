-- Since when a worker takes no new work, by whom and why; 0: it takes work. Every server reads those that take none,
-- of whatever partition, with the settings.
ALTER TABLE belfry.worker
    ADD COLUMN cordoned_ms bigint NOT NULL DEFAULT 0,
    ADD COLUMN cordoned_by text NOT NULL DEFAULT '',
    ADD COLUMN cordon_reason text NOT NULL DEFAULT '';
CREATE INDEX worker_cordoned ON belfry.worker (id) WHERE cordoned_ms > 0;
