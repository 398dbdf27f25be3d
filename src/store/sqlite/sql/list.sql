-- list.sql - pages, newest first.
--
-- Every list has two statements. The first takes a window of at most :scan_max ids by an index and
-- looks at those rows only, so that a filter which fits nothing costs a page and not the table.
-- CROSS JOIN keeps the window in front, as a coroutine: rows come in its order, and a full page
-- ends it early. The second, asked only when the page did not fill, names the last id of that
-- window: there the next page goes on.

-- token: in_window
id >= :id_min AND id < :id_end

-- token: window
ORDER BY id DESC LIMIT :scan_max

-- token: edge
ORDER BY id DESC LIMIT 1 OFFSET :scan_max - 1

-- token: queue.fits
-- :queues has a line for each, and an empty one at both ends.
(:queues IS NULL OR instr(:queues, char(10) || queue || char(10)) > 0)

-- token: job.fits
(:states = 0 OR (:states >> state) & 1) AND {queue.fits}
    AND (:owner IS NULL OR owner = :owner) AND (:team IS NULL OR team = :team)
    AND (:tag IS NULL OR instr(tags, :tag) > 0)
    AND created_ms >= :created_after_ms AND created_ms < :created_before_ms
    AND finished_ms >= :finished_after_ms AND finished_ms < :finished_before_ms

-- token: job.listed
w CROSS JOIN job_row r ON r.id = w.id
WHERE {job.fits}

-- token: jobs_all
SELECT id FROM job WHERE {in_window}

-- token: jobs_found
-- By the index of one field. A value that is NULL finds nothing, so a field with an index of its own
-- adds UNION ALL and a SELECT.
SELECT id FROM job WHERE {in_window} AND name = :found_name

-- token: jobs_prefix
-- By the index of names, then in the order of ids: + keeps the primary key out of it.
SELECT id FROM job INDEXED BY job_name
    WHERE name >= :name_from AND name < :name_to AND +id >= :id_min AND +id < :id_end
    ORDER BY +id DESC

-- token: jobs_in_state
-- Those that are neither active nor completed. Either the job's own row says so, or that of an
-- execution, not necessarily the newest: a row that is found counts by the same rule as everywhere.
SELECT id FROM job WHERE state = :in_state AND state <> {JOB_ACTIVE} AND {in_window}
    UNION
    SELECT job_id FROM history
    WHERE job_state = :in_state AND job_state IN ({JOB_FAILED}, {JOB_CANCELLED})
        AND job_id >= :id_min AND job_id < :id_end
    {window}

-- token: exec.fits
(:states = 0 OR (:states >> state) & 1) AND {queue.fits}
    AND created_ms >= :created_after_ms AND created_ms < :created_before_ms
    AND started_ms >= :started_after_ms AND started_ms < :started_before_ms
    AND finished_ms >= :finished_after_ms AND finished_ms < :finished_before_ms

-- token: live.listed
w CROSS JOIN live_row r ON r.id = w.id
WHERE {exec.fits}

-- token: history.listed
w CROSS JOIN history_row r ON r.id = w.id
WHERE {exec.fits}

-- token: live_all
SELECT id FROM live WHERE {in_window}

-- token: live_of_job
-- The execution that was made with the job is found by the job's row, the others by the index.
SELECT id FROM live
    WHERE job_id = :job_id AND first = 0 AND {in_window}
    UNION ALL
    SELECT e.id FROM job j JOIN live e ON e.id = j.first_exec AND e.first <> 0
    WHERE j.id = :job_id AND e.id >= :id_min AND e.id < :id_end

-- token: history_all
SELECT id FROM history WHERE {in_window}

-- token: history_in_state
-- In any state but completed.
SELECT id FROM history WHERE state = :in_state AND state <> {EXEC_COMPLETED} AND {in_window}

-- token: history_of_job
SELECT id FROM history
    WHERE job_id = :job_id AND first = 0 AND {in_window}
    UNION ALL
    SELECT e.id FROM job j JOIN history e ON e.id = j.first_exec AND e.first <> 0
    WHERE j.id = :job_id AND e.id >= :id_min AND e.id < :id_end

-- name: list_alerts
SELECT {alert.columns} FROM alert
WHERE id < :before ORDER BY id DESC LIMIT :limit;

-- name: list_alerts_pending
SELECT {alert.columns} FROM alert
WHERE state = {ALERT_PENDING} AND id < :before ORDER BY id DESC LIMIT :limit;

-- name: list_rejected
SELECT {rejected.columns} FROM rejected
WHERE id < :before ORDER BY id DESC LIMIT :limit;

-- name: list_jobs
SELECT r.* FROM ({jobs_all} {window}) {job.listed};

-- name: edge_jobs
{jobs_all} {edge};

-- name: list_jobs_found
SELECT r.* FROM ({jobs_found} {window}) {job.listed};

-- name: edge_jobs_found
{jobs_found} {edge};

-- name: look_for_names
-- A row when more names begin so than are sorted for a page.
SELECT 1 FROM job INDEXED BY job_name WHERE name >= :name_from AND name < :name_to
LIMIT 1 OFFSET :most;

-- name: list_jobs_prefix
SELECT r.* FROM ({jobs_prefix} LIMIT :scan_max) {job.listed};

-- name: edge_jobs_prefix
{jobs_prefix} LIMIT 1 OFFSET :scan_max - 1;

-- name: list_jobs_in_state
SELECT r.* FROM ({jobs_in_state}) {job.listed};

-- name: edge_jobs_in_state
SELECT id FROM ({jobs_in_state}) LIMIT 1 OFFSET :scan_max - 1;

-- name: list_by_name
-- Jobs in the order of their names, behind a place. In two parts, what is left of the name :after_name
-- and what comes later, so that both start by the index: a comparison of pairs would walk through all
-- jobs of that name for every page.
SELECT w.name, w.id, r.* FROM (
    SELECT name, id FROM job INDEXED BY job_name WHERE name = :after_name AND id > :after_id
    UNION ALL
    SELECT name, id FROM job INDEXED BY job_name WHERE name > :after_name
    ORDER BY name, id LIMIT :max) w CROSS JOIN job_row r ON r.id = w.id;

-- name: list_by_next_run
-- The jobs of executions whose moment has not come, by that moment, behind a place; in two parts, too.
SELECT w.due_ms, w.id, l.*, r.* FROM (
    SELECT due_ms, id, job_id FROM live INDEXED BY live_due
    WHERE state IN ({exec.waiting}) AND due_ms = :after_ms AND id > :after_id
    UNION ALL
    SELECT due_ms, id, job_id FROM live INDEXED BY live_due
    WHERE state IN ({exec.waiting}) AND due_ms > :after_ms
    ORDER BY due_ms, id LIMIT :max) w
CROSS JOIN live_row l ON l.id = w.id CROSS JOIN job_row r ON r.id = w.job_id;

-- name: list_live
SELECT r.* FROM ({live_all} {window}) {live.listed};

-- name: edge_live
{live_all} {edge};

-- name: list_live_of_job
SELECT r.* FROM ({live_of_job} {window}) {live.listed};

-- name: edge_live_of_job
{live_of_job} {edge};

-- name: list_history
SELECT r.* FROM ({history_all} {window}) {history.listed};

-- name: edge_history
{history_all} {edge};

-- name: list_history_in_state
SELECT r.* FROM ({history_in_state} {window}) {history.listed};

-- name: edge_history_in_state
{history_in_state} {edge};

-- name: list_history_of_job
SELECT r.* FROM ({history_of_job} {window}) {history.listed};

-- name: edge_history_of_job
{history_of_job} {edge};

-- token: ran.columns
id, job_id, state, queue, origin, retry_of, created_ms, slot_ms, ready_ms, started_ms,
    attempts + lost + returned

-- token: ran.begun
created_ms < :until_ms AND started_ms > 0 AND started_ms < :until_ms

-- token: history.slow
history INDEXED BY history_slow
    WHERE finished_ms - created_ms > {RAN_SLOW_MS} AND finished_ms >= :from_ms ORDER BY finished_ms

-- name: ran_live
-- Oldest first: what runs is mostly older than what waits.
SELECT {ran.columns}, 0, worker_id
FROM (SELECT * FROM live WHERE {in_window} ORDER BY id LIMIT :scan_max)
WHERE state IN ({EXEC_RUNNING}, {EXEC_STOPPING}) AND {ran.begun};

-- name: ran_soon
SELECT {ran.columns}, finished_ms, coalesce(attempt_worker, worker_id)
FROM (SELECT * FROM history WHERE {in_window} {window})
WHERE finished_ms - created_ms <= {RAN_SLOW_MS} AND finished_ms >= :from_ms
    AND {ran.begun};

-- name: ran_slow
SELECT {ran.columns}, finished_ms, coalesce(attempt_worker, worker_id)
FROM (SELECT * FROM {history.slow} LIMIT :scan_max)
WHERE {ran.begun};

-- name: edge_slow
SELECT id FROM {history.slow} LIMIT 1 OFFSET :scan_max - 1;

-- name: list_sla_events_of_job
SELECT {sla_event.columns}
FROM sla_event WHERE job_id = :job_id AND id < :before ORDER BY id DESC LIMIT :limit;

-- name: list_sla_events_of_exec
SELECT {sla_event.columns}
FROM sla_event WHERE exec_id = :exec_id AND id < :before ORDER BY id DESC LIMIT :limit;
