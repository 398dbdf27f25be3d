-- The trace context of who asked for an execution: its traceparent, and behind a space its tracestate; NULL: none.
-- Types and views that have it; servers of the version before go on with theirs.
ALTER TABLE belfry.alert ADD COLUMN trace text NOT NULL DEFAULT ''; -- the id of its execution's; empty: none
ALTER TABLE belfry.live ADD COLUMN trace text;
ALTER TABLE belfry.history ADD COLUMN trace text;

CREATE TYPE belfry.born_live AS (
    id bigint, job_id bigint, queue text, priority bigint, retry_of bigint, first boolean,
    origin bigint, slot_ms bigint, nominal_ms bigint, created_ms bigint, trace text, state
    bigint, due_ms bigint, ready_ms bigint, started_ms bigint, attempts bigint, lost bigint,
    returned bigint, late boolean, sla_since_ms bigint, sla_extra_ms bigint, sla_marks bigint,
    token bigint, worker_id bigint, effect_done boolean, error text, trail text);

CREATE TYPE belfry.ended_live AS (
    id bigint, job_id bigint, queue text, priority bigint, retry_of bigint, first boolean,
    origin bigint, slot_ms bigint, nominal_ms bigint, created_ms bigint, trace text, state
    bigint, due_ms bigint, ready_ms bigint, started_ms bigint, attempts bigint, lost bigint,
    returned bigint, late boolean, sla_since_ms bigint, sla_extra_ms bigint, sla_marks bigint,
    token bigint, worker_id bigint, effect_done boolean, error text, step text, finished_ms
    bigint, result text, slot_last_ms bigint, slot_count bigint, job_state bigint, job_step
    text, attempt_outcome bigint, attempt_number bigint, attempt_worker bigint,
    attempt_started_ms bigint, attempt_ended_ms bigint, attempt_usage text, attempt_error text,
    attempt_class bigint, attempt_fingerprint bigint, attempt_tail text);

-- Views of their own, since live_rec and history_rec are asked for all of their columns, by place, by servers of the
-- version before; no statement of ours reads those any more.
CREATE VIEW belfry.live_all AS
SELECT id, job_id, queue, priority, coalesce(retry_of, 0) AS retry_of, first, origin, slot_ms,
    coalesce(nominal_ms, 0) AS nominal_ms, created_ms, state, due_ms, ready_ms, started_ms,
    coalesce(attempts, 0) AS attempts, coalesce(lost, 0) AS lost, coalesce(returned, 0) AS returned,
    late, coalesce(sla_since_ms, 0) AS sla_since_ms, coalesce(sla_extra_ms, 0) AS sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, 0::bigint AS finished_ms,
    0::bigint AS slot_last_ms, 0::bigint AS slot_count,
    CASE WHEN coalesce(retry_of, 0) = 0 AND origin <> 2 THEN false
    ELSE EXISTS (SELECT 1 FROM belfry.exec_payload p WHERE p.exec_id = live.id OFFSET 0) END AS own_payload,
    coalesce(unseen, 0) AS unseen, coalesce(proven, false) AS proven, trace
FROM belfry.live;

CREATE VIEW belfry.history_all AS
SELECT id, job_id, queue, priority, coalesce(retry_of, 0) AS retry_of, first, origin, slot_ms,
    coalesce(nominal_ms, 0) AS nominal_ms, created_ms, state, due_ms, ready_ms, started_ms,
    coalesce(attempts, 0) AS attempts, coalesce(lost, 0) AS lost, coalesce(returned, 0) AS returned,
    late, coalesce(sla_since_ms, 0) AS sla_since_ms, coalesce(sla_extra_ms, 0) AS sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, finished_ms,
    coalesce(slot_last_ms, 0) AS slot_last_ms, coalesce(slot_count, 0) AS slot_count,
    CASE WHEN coalesce(retry_of, 0) = 0 AND origin <> 2 THEN false
    ELSE EXISTS (SELECT 1 FROM belfry.exec_payload p WHERE p.exec_id = history.id OFFSET 0) END AS own_payload,
    0::bigint AS unseen, false AS proven, trace
FROM belfry.history;
