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

-- Which time the server goes by, at its newest renewal; 0: it does not know yet, or is too old to say.
ALTER TABLE belfry.node ADD COLUMN time_ms bigint NOT NULL DEFAULT 0;

-- The newest moment at which the clock was set by so much, or was so far from what the store had last seen,
-- that deletions wait behind it. One row.
CREATE TABLE belfry.clock (
    only boolean PRIMARY KEY DEFAULT true CHECK (only),
    at_ms bigint NOT NULL, -- by the clock as it went on
    by_ms bigint NOT NULL
);

-- ---- the inbox

-- ---- indexes
