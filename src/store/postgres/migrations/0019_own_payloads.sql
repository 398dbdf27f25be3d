-- A run that was asked for with a payload has one of its own, too: the views knew it of those alone that were run
-- again. Nothing else of them changes.

CREATE OR REPLACE VIEW belfry.live_row AS
SELECT id, job_id, queue, priority, coalesce(retry_of, 0) AS retry_of, first, origin, slot_ms,
    coalesce(nominal_ms, 0) AS nominal_ms, created_ms, state, due_ms, ready_ms, started_ms,
    coalesce(attempts, 0) AS attempts, coalesce(lost, 0) AS lost, coalesce(returned, 0) AS returned,
    late, coalesce(sla_since_ms, 0) AS sla_since_ms, coalesce(sla_extra_ms, 0) AS sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, 0::bigint AS finished_ms,
    0::bigint AS slot_last_ms, 0::bigint AS slot_count,
    CASE WHEN coalesce(retry_of, 0) = 0 AND origin <> 2 THEN false
    ELSE EXISTS (SELECT 1 FROM belfry.exec_payload p WHERE p.exec_id = live.id) END AS own_payload
FROM belfry.live;

CREATE OR REPLACE VIEW belfry.history_row AS
SELECT id, job_id, queue, priority, coalesce(retry_of, 0) AS retry_of, first, origin, slot_ms,
    coalesce(nominal_ms, 0) AS nominal_ms, created_ms, state, due_ms, ready_ms, started_ms,
    coalesce(attempts, 0) AS attempts, coalesce(lost, 0) AS lost, coalesce(returned, 0) AS returned,
    late, coalesce(sla_since_ms, 0) AS sla_since_ms, coalesce(sla_extra_ms, 0) AS sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, finished_ms,
    coalesce(slot_last_ms, 0) AS slot_last_ms, coalesce(slot_count, 0) AS slot_count,
    CASE WHEN coalesce(retry_of, 0) = 0 AND origin <> 2 THEN false
    ELSE EXISTS (SELECT 1 FROM belfry.exec_payload p WHERE p.exec_id = history.id) END AS own_payload
FROM belfry.history;

CREATE OR REPLACE VIEW belfry.live_rec AS
SELECT id, job_id, queue, priority, coalesce(retry_of, 0) AS retry_of, first, origin, slot_ms,
    coalesce(nominal_ms, 0) AS nominal_ms, created_ms, state, due_ms, ready_ms, started_ms,
    coalesce(attempts, 0) AS attempts, coalesce(lost, 0) AS lost, coalesce(returned, 0) AS returned,
    late, coalesce(sla_since_ms, 0) AS sla_since_ms, coalesce(sla_extra_ms, 0) AS sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, 0::bigint AS finished_ms,
    0::bigint AS slot_last_ms, 0::bigint AS slot_count,
    CASE WHEN coalesce(retry_of, 0) = 0 AND origin <> 2 THEN false
    ELSE EXISTS (SELECT 1 FROM belfry.exec_payload p WHERE p.exec_id = live.id OFFSET 0) END AS own_payload,
    coalesce(unseen, 0) AS unseen, coalesce(proven, false) AS proven
FROM belfry.live;

CREATE OR REPLACE VIEW belfry.history_rec AS
SELECT id, job_id, queue, priority, coalesce(retry_of, 0) AS retry_of, first, origin, slot_ms,
    coalesce(nominal_ms, 0) AS nominal_ms, created_ms, state, due_ms, ready_ms, started_ms,
    coalesce(attempts, 0) AS attempts, coalesce(lost, 0) AS lost, coalesce(returned, 0) AS returned,
    late, coalesce(sla_since_ms, 0) AS sla_since_ms, coalesce(sla_extra_ms, 0) AS sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, finished_ms,
    coalesce(slot_last_ms, 0) AS slot_last_ms, coalesce(slot_count, 0) AS slot_count,
    CASE WHEN coalesce(retry_of, 0) = 0 AND origin <> 2 THEN false
    ELSE EXISTS (SELECT 1 FROM belfry.exec_payload p WHERE p.exec_id = history.id OFFSET 0) END AS own_payload,
    0::bigint AS unseen, false AS proven
FROM belfry.history;
