-- Ownership that survives cuts, failovers and wrong clocks; plans that walk no dead rows.

-- ---- leases of servers that fell silent

-- What the server promises its workers: whoever takes over from it waits for these. 0: a server that
-- does not say.
ALTER TABLE belfry.node
    ADD COLUMN lease_ms bigint NOT NULL DEFAULT 0,
    ADD COLUMN grace_ms bigint NOT NULL DEFAULT 0,
    ADD COLUMN boot_id text NOT NULL DEFAULT '';

-- How long a lease of this partition that nobody has confirmed may still be alive somewhere, counted
-- from when the partition is loaded next: a duration, so it needs no clock.
ALTER TABLE belfry.partition ADD COLUMN unsure_ms bigint NOT NULL DEFAULT 0;

ALTER TABLE belfry.worker ADD COLUMN boot_id text NOT NULL DEFAULT '';

-- Inherited leases of this execution that ended in silence since it last reported an end; NULL: none.
ALTER TABLE belfry.live ADD COLUMN unseen bigint;

-- ---- marks of turns

-- ---- time

-- ---- the inbox

-- ---- indexes
