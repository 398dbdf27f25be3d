-- old.sql - what is too old: how it is found, and how it is deleted.

-- token: old.id_end
-- A row that was created before a moment has an id from before it, too, but for the drift (see
-- keep_turn); a millisecond of ids counts from 2020 and is 2^22 wide, and there are 2^41 of them.
min(:until_ms + (SELECT max(drift_ms) FROM partition) - {ID_EPOCH_MS}, 2199023255551) << 22

-- name: find_old
-- A standing rule that waits for its job needs the newest slot.
SELECT h.id, h.finished_ms, EXISTS (SELECT 1 FROM dead_letter d WHERE d.exec_id = h.id),
    EXISTS (SELECT 1 FROM dependency r WHERE r.upstream = h.job_id
            AND r.state = {DEPENDENCY_PER_SLOT})
        AND NOT EXISTS (SELECT 1 FROM history n
            WHERE n.job_id = h.job_id AND n.first = 0 AND n.origin = {ORIGIN_SLOT} AND n.id > h.id)
FROM history h
WHERE h.id > :after_id AND h.created_ms < :until_ms
    AND h.id < {old.id_end}
ORDER BY h.id;

-- name: find_old_alerts
SELECT id, at_ms, state FROM alert
WHERE id > :after_id AND at_ms < :until_ms
    AND id < {old.id_end}
ORDER BY id;

-- name: find_old_tallies
SELECT scope, key, hour, end, bucket FROM tally INDEXED BY tally_hour
WHERE hour < :hour ORDER BY hour, scope, key, end, bucket;

-- name: forget_exec
DELETE FROM history WHERE id = :id
RETURNING job_id, coalesce(job_state, 0), finished_ms, coalesce(job_step, '');

-- name: forget_attempts
DELETE FROM attempt WHERE exec_id = :exec_id;

-- name: forget_sla_events
DELETE FROM sla_event WHERE exec_id = :exec_id;

-- name: forget_payload
DELETE FROM exec_payload WHERE exec_id = :exec_id;

-- name: forget_alert
DELETE FROM alert WHERE id = :id;

-- name: forget_operation
DELETE FROM operation_part WHERE id = :id;

-- name: forget_tally
DELETE FROM tally
WHERE scope = :scope AND key = :key AND hour = :hour AND end = :end AND bucket = :bucket;

-- name: forget_job
-- Of a job that is over. The end may have stood in the execution's row, as in job_full.
DELETE FROM job
WHERE id = :job_id
    AND iif(last_exec = :exec_id AND told <> :exec_id AND :job_state <> 0, :job_state, state)
        IN ({job.over})
    AND NOT EXISTS (SELECT 1 FROM live e WHERE e.id = job.first_exec)
    AND NOT EXISTS (SELECT 1 FROM history e WHERE e.id = job.first_exec)
    AND NOT EXISTS (SELECT 1 FROM live e WHERE e.job_id = job.id AND e.first = 0)
    AND NOT EXISTS (SELECT 1 FROM history e WHERE e.job_id = job.id AND e.first = 0);

-- name: forget_document
DELETE FROM document WHERE job_id = :job_id;

-- name: forget_versions
DELETE FROM job_version WHERE job_id = :job_id;

-- name: forget_dependencies
DELETE FROM dependency WHERE dependant = :job_id;

-- name: fold_job
-- As update_job takes over what the newest execution's row said, when that row goes and the job
-- stays.
UPDATE job
SET state = :job_state, finished_ms = :finished_ms, trail = trail || :step, told = :exec_id
WHERE id = :job_id AND last_exec = :exec_id AND told <> :exec_id;
