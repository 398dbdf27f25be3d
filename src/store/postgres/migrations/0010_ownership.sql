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

-- Who the server is in table turn: its start, a slash, the writer. Empty: an older version, which forgets the
-- newest marks of others, so that nobody can rely on them.
ALTER TABLE belfry.node ADD COLUMN writer text NOT NULL DEFAULT '';

-- Tokens given in this partition are larger. It jumps when the database went back to an earlier state.
ALTER TABLE belfry.partition ADD COLUMN token_floor bigint NOT NULL DEFAULT 0;

-- ---- time

-- ---- the inbox

-- ---- indexes
