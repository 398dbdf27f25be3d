-- Numbers of reports go when they are old: the order in which they do.
CREATE INDEX tally_hour ON belfry.tally (hour, scope, key, "end", bucket);

-- SLA events go with their executions; those of executions that are gone have stayed until now.
DELETE FROM belfry.sla_event e
WHERE NOT EXISTS (SELECT 1 FROM belfry.live l WHERE l.id = e.exec_id)
    AND NOT EXISTS (SELECT 1 FROM belfry.history h WHERE h.id = e.exec_id);

-- Payloads of single executions: of those that were run again with another one than their job's.
CREATE TABLE belfry.exec_payload (
    exec_id bigint PRIMARY KEY,
    payload text NOT NULL
);

CREATE OR REPLACE VIEW belfry.live_row AS
SELECT id, job_id, queue, priority, coalesce(retry_of, 0) AS retry_of, first, origin, slot_ms,
    coalesce(nominal_ms, 0) AS nominal_ms, created_ms, state, due_ms, ready_ms, started_ms,
    coalesce(attempts, 0) AS attempts, coalesce(lost, 0) AS lost, coalesce(returned, 0) AS returned,
    late, coalesce(sla_since_ms, 0) AS sla_since_ms, coalesce(sla_extra_ms, 0) AS sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, 0::bigint AS finished_ms,
    0::bigint AS slot_last_ms, 0::bigint AS slot_count,
    CASE WHEN coalesce(retry_of, 0) = 0 THEN false
    ELSE EXISTS (SELECT 1 FROM belfry.exec_payload p WHERE p.exec_id = live.id) END AS own_payload
FROM belfry.live;

CREATE OR REPLACE VIEW belfry.history_row AS
SELECT id, job_id, queue, priority, coalesce(retry_of, 0) AS retry_of, first, origin, slot_ms,
    coalesce(nominal_ms, 0) AS nominal_ms, created_ms, state, due_ms, ready_ms, started_ms,
    coalesce(attempts, 0) AS attempts, coalesce(lost, 0) AS lost, coalesce(returned, 0) AS returned,
    late, coalesce(sla_since_ms, 0) AS sla_since_ms, coalesce(sla_extra_ms, 0) AS sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, finished_ms,
    coalesce(slot_last_ms, 0) AS slot_last_ms, coalesce(slot_count, 0) AS slot_count,
    CASE WHEN coalesce(retry_of, 0) = 0 THEN false
    ELSE EXISTS (SELECT 1 FROM belfry.exec_payload p WHERE p.exec_id = history.id) END AS own_payload
FROM belfry.history;
