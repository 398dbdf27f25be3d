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

-- The machine's kernel that it was started under, and the worker that is dead for sure since it came.
ALTER TABLE belfry.worker
    ADD COLUMN boot_id text NOT NULL DEFAULT '',
    ADD COLUMN replaces bigint NOT NULL DEFAULT 0;

-- Inherited leases of this execution that ended in silence since it last reported an end; NULL: none. And
-- whether the newest has left its probation (engine/silence.c).
ALTER TABLE belfry.live
    ADD COLUMN unseen bigint,
    ADD COLUMN proven boolean;

CREATE OR REPLACE VIEW belfry.live_row AS
SELECT id, job_id, queue, priority, coalesce(retry_of, 0) AS retry_of, first, origin, slot_ms,
    coalesce(nominal_ms, 0) AS nominal_ms, created_ms, state, due_ms, ready_ms, started_ms,
    coalesce(attempts, 0) AS attempts, coalesce(lost, 0) AS lost, coalesce(returned, 0) AS returned,
    late, coalesce(sla_since_ms, 0) AS sla_since_ms, coalesce(sla_extra_ms, 0) AS sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, 0::bigint AS finished_ms,
    0::bigint AS slot_last_ms, 0::bigint AS slot_count,
    CASE WHEN coalesce(retry_of, 0) = 0 THEN false
    ELSE EXISTS (SELECT 1 FROM belfry.exec_payload p WHERE p.exec_id = live.id) END AS own_payload,
    coalesce(unseen, 0) AS unseen, coalesce(proven, false) AS proven
FROM belfry.live;

CREATE OR REPLACE VIEW belfry.history_row AS
SELECT id, job_id, queue, priority, coalesce(retry_of, 0) AS retry_of, first, origin, slot_ms,
    coalesce(nominal_ms, 0) AS nominal_ms, created_ms, state, due_ms, ready_ms, started_ms,
    coalesce(attempts, 0) AS attempts, coalesce(lost, 0) AS lost, coalesce(returned, 0) AS returned,
    late, coalesce(sla_since_ms, 0) AS sla_since_ms, coalesce(sla_extra_ms, 0) AS sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, finished_ms,
    coalesce(slot_last_ms, 0) AS slot_last_ms, coalesce(slot_count, 0) AS slot_count,
    CASE WHEN coalesce(retry_of, 0) = 0 THEN false
    ELSE EXISTS (SELECT 1 FROM belfry.exec_payload p WHERE p.exec_id = history.id) END AS own_payload,
    0::bigint AS unseen, false AS proven
FROM belfry.history;

-- ---- marks of turns

-- ---- time

-- ---- the inbox

-- ---- indexes
