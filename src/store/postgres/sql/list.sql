-- list.sql - pages, newest first.
--
-- Every list has two statements. The first takes a window of at most :scan_max ids by an index and
-- looks at those rows only, so that a filter which fits nothing costs a page and not the table.
-- Rows come in the window's order, and a full page ends it early. The second, asked only when the
-- page did not fill, names the last id of that window: there the next page goes on.

-- token: in_window
id >= :id_min AND id < :id_end

-- token: window
ORDER BY id DESC LIMIT :scan_max

-- token: edge
ORDER BY id DESC LIMIT 1 OFFSET :scan_max::bigint - 1

-- token: page
ORDER BY id DESC LIMIT :limit

-- token: job.listed
-- As view job_row has them, with the window in front, and in the order of JOB_ROW_FIELDS.
j.id, j.version, coalesce(h.job_state, j.state), j.name, j.queue, j.owner, j.team, j.tags,
    j.priority, j.created_ms, coalesce(h.finished_ms, j.finished_ms), j.last_exec, j.changed_ms,
        j.spec

-- token: job.end
-- OFFSET 0 keeps the look at the newest execution one by key, for the rows that pass everything
-- else.
LEFT JOIN LATERAL (SELECT e.job_state, e.finished_ms FROM belfry.history e
    WHERE e.id = j.last_exec AND e.job_state IS NOT NULL
        AND j.last_exec <> j.told OFFSET 0) h ON true

-- token: job.fits
(:states::bigint = 0 OR :states::bigint >> coalesce(h.job_state, j.state) & 1 = 1)
    AND (:queues::text IS NULL OR strpos(:queues::text, chr(10) || j.queue || chr(10)) > 0)
    AND (:owner::text IS NULL OR j.owner = :owner::text)
    AND (:team::text IS NULL OR j.team = :team::text)
    AND (:tag::text IS NULL OR strpos(j.tags, :tag::text) > 0)
    AND j.created_ms >= :created_after_ms AND j.created_ms < :created_before_ms
    AND coalesce(h.finished_ms, j.finished_ms) >= :finished_after_ms
    AND coalesce(h.finished_ms, j.finished_ms) < :finished_before_ms

-- token: jobs_found
-- By the index of one field. A value that is NULL finds nothing, so a field with an index of its own
-- adds UNION ALL and a SELECT.
SELECT * FROM belfry.job WHERE {in_window} AND name = :found_name::text

-- token: jobs_prefix
-- By the index of names, which has the ids; OFFSET 0 keeps the planner from walking the ids instead.
SELECT id FROM (SELECT id FROM belfry.job
        WHERE name >= :name_from::text AND name < :name_to::text AND {in_window} OFFSET 0) k

-- token: jobs_in_state
-- Jobs that are neither active nor completed. Either the job's own row says so, …
SELECT id FROM belfry.job WHERE state = :in_state::bigint AND state <> {JOB_ACTIVE} AND {in_window}

-- token: jobs_ended_in_state
-- … or that of an execution, not necessarily the newest: a row that is found counts by the same
-- rule as everywhere.
SELECT job_id FROM belfry.history
    WHERE job_state = :in_state::bigint AND job_state IN ({JOB_FAILED}, {JOB_CANCELLED})
        AND job_id >= :id_min AND job_id < :id_end
    ORDER BY job_id DESC

-- token: history.in_state
-- In any state but completed.
state = :in_state::bigint AND state <> {EXEC_COMPLETED} AND {in_window}

-- token: of_job
-- The executions of a job except the one that was made with it: that one is found by the job's row,
-- the others by the index. Two statements, so that each gives its rows in order and stops.
job_id = :job_id AND NOT first AND {in_window}

-- token: first_of_job
id = (SELECT first_exec FROM belfry.job WHERE id = :job_id) AND first AND {in_window}
    AND :scan_max::bigint > 0

-- token: exec.fits
(:states::bigint = 0 OR :states::bigint >> state & 1 = 1) AND {exec.fits_besides}

-- token: exec.fits_besides
-- Every filter except that of the state. :queues has a line for each, and an empty one at both ends.
(:queues::text IS NULL OR strpos(:queues::text, chr(10) || queue || chr(10)) > 0)
    AND created_ms >= :created_after_ms AND created_ms < :created_before_ms
    AND started_ms >= :started_after_ms AND started_ms < :started_before_ms
    AND finished_ms >= :finished_after_ms AND finished_ms < :finished_before_ms

-- name: list_alerts
SELECT {alert.columns} FROM belfry.alert
WHERE id < $1 ORDER BY id DESC LIMIT $2;

-- name: list_alerts_pending
SELECT {alert.columns} FROM belfry.alert
WHERE state = {ALERT_PENDING} AND id < $1 ORDER BY id DESC LIMIT $2;

-- token: ran.columns
id, job_id, state, queue, origin, coalesce(retry_of, 0), created_ms, slot_ms, ready_ms, started_ms,
    coalesce(attempts, 0) + coalesce(lost, 0) + coalesce(returned, 0)

-- token: ran.begun
created_ms < :until_ms::bigint AND started_ms > 0 AND started_ms < :until_ms::bigint

-- token: history.slow
belfry.history
    WHERE finished_ms - created_ms > {RAN_SLOW_MS} AND finished_ms >= :from_ms::bigint
    ORDER BY finished_ms

-- name: ran_live
-- Oldest first: what runs is mostly older than what waits.
SELECT {ran.columns}, 0, worker_id
FROM (SELECT * FROM belfry.live WHERE {in_window} ORDER BY id LIMIT :scan_max) l
WHERE state IN ({EXEC_RUNNING}, {EXEC_STOPPING}) AND {ran.begun};

-- name: ran_soon
SELECT {ran.columns}, finished_ms, coalesce(attempt_worker, worker_id)
FROM (SELECT * FROM belfry.history WHERE {in_window} {window}) h
WHERE finished_ms - created_ms <= {RAN_SLOW_MS} AND finished_ms >= :from_ms::bigint
    AND {ran.begun};

-- name: ran_slow
SELECT {ran.columns}, finished_ms, coalesce(attempt_worker, worker_id)
FROM (SELECT * FROM {history.slow} LIMIT :scan_max::bigint) h
WHERE {ran.begun};

-- name: edge_slow
SELECT id FROM {history.slow} LIMIT 1 OFFSET :scan_max::bigint - 1;

-- name: list_sla_events_of_job
SELECT {sla_event.columns}
FROM belfry.sla_event WHERE job_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3;

-- name: list_sla_events_of_exec
SELECT {sla_event.columns}
FROM belfry.sla_event WHERE exec_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3;

-- name: list_rejected
SELECT {rejected.columns} FROM belfry.rejected
WHERE id < $1::bigint ORDER BY id DESC LIMIT $2::bigint;

-- name: list_jobs
SELECT {job.listed}
FROM (SELECT * FROM belfry.job WHERE {in_window} {window}) j
{job.end}
WHERE {job.fits}
ORDER BY j.id DESC LIMIT :limit;

-- name: edge_jobs
SELECT id FROM belfry.job WHERE {in_window} {edge};

-- name: list_jobs_found
SELECT {job.listed}
FROM ({jobs_found} {window}) j
{job.end}
WHERE {job.fits}
ORDER BY j.id DESC LIMIT :limit;

-- name: edge_jobs_found
SELECT id FROM ({jobs_found} {edge}) j;

-- name: look_for_names
-- A row when more names begin so than are sorted for a page.
SELECT 1 FROM belfry.job WHERE name >= :name_from::text AND name < :name_to::text
LIMIT 1 OFFSET :most::bigint;

-- name: list_jobs_prefix
SELECT {job.listed}
FROM ({jobs_prefix} {window}) w
JOIN LATERAL (SELECT * FROM belfry.job e WHERE e.id = w.id OFFSET 0) j ON true
{job.end}
WHERE {job.fits}
ORDER BY w.id DESC LIMIT :limit;

-- name: edge_jobs_prefix
{jobs_prefix} {edge};

-- name: list_jobs_in_state
-- A job may have several executions that ended so: a window of :scan_max rows of each kind has
-- fewer jobs. It ends where the first of the two does, since behind that the other kind is not
-- known yet.
SELECT {job.listed}
FROM (SELECT DISTINCT id FROM (
        ({jobs_in_state} {window})
        UNION ALL
        ({jobs_ended_in_state} LIMIT :scan_max)) e
    WHERE id >= greatest(
        ({jobs_in_state} {edge}),
        ({jobs_ended_in_state} LIMIT 1 OFFSET :scan_max::bigint - 1), 0)
    ORDER BY id DESC) w
JOIN LATERAL (SELECT * FROM belfry.job e WHERE e.id = w.id OFFSET 0) j ON true
{job.end}
WHERE {job.fits}
ORDER BY w.id DESC LIMIT :limit;

-- name: edge_jobs_in_state
SELECT max(id) FROM (
    ({jobs_in_state} {edge})
    UNION ALL
    ({jobs_ended_in_state} LIMIT 1 OFFSET :scan_max::bigint - 1)) e
HAVING count(*) > 0;

-- name: list_by_name
-- Jobs in the order of their names, behind a place. The comparison of pairs is one that the index knows.
SELECT w.name, w.id, {job.listed}
FROM (SELECT name, id FROM belfry.job
    WHERE name IS NOT NULL AND (name, id) > ($1::text, $2::bigint)
    ORDER BY name, id LIMIT $3::bigint) w
JOIN LATERAL (SELECT * FROM belfry.job e WHERE e.id = w.id OFFSET 0) j ON true
{job.end}
ORDER BY w.name, w.id;

-- name: list_by_next_run
-- The jobs of executions whose moment has not come, by that moment, behind a place.
SELECT w.wait_ms, w.id, {exec.row.columns l}, {job.listed}
FROM (SELECT wait_ms, id FROM belfry.live
    WHERE wait_ms IS NOT NULL AND (wait_ms, id) > ($1::bigint, $2::bigint)
    ORDER BY wait_ms, id LIMIT $3::bigint) w
JOIN LATERAL (SELECT * FROM belfry.live_all e WHERE e.id = w.id OFFSET 0) l ON true
JOIN LATERAL (SELECT * FROM belfry.job e WHERE e.id = l.job_id OFFSET 0) j ON true
{job.end}
ORDER BY w.wait_ms, w.id;

-- name: list_live
SELECT {exec.row.columns}
FROM (SELECT * FROM belfry.live_all WHERE {in_window} {window}) r
WHERE {exec.fits} {page};

-- name: edge_live
SELECT id FROM belfry.live WHERE {in_window} {edge};

-- name: list_live_of_job
SELECT {exec.row.columns}
FROM (SELECT * FROM belfry.live_all WHERE {of_job} {window}) r
WHERE {exec.fits} {page};

-- name: edge_live_of_job
SELECT id FROM belfry.live WHERE {of_job} {edge};

-- name: list_live_first
SELECT {exec.row.columns r} FROM belfry.live_all r
WHERE {first_of_job} AND {exec.fits} LIMIT :limit;

-- name: list_history
SELECT {exec.row.columns}
FROM (SELECT * FROM belfry.history_all WHERE {in_window} {window}) r
WHERE {exec.fits} {page};

-- name: edge_history
SELECT id FROM belfry.history WHERE {in_window} {edge};

-- name: list_history_in_state
SELECT {exec.row.columns}
FROM (SELECT * FROM belfry.history_all WHERE {history.in_state} {window}) r
WHERE {exec.fits} {page};

-- name: edge_history_in_state
SELECT id FROM belfry.history WHERE {history.in_state} {edge};

-- name: list_history_of_job
-- The state stands in the index, so what does not fit is not fetched.
SELECT {exec.row.columns r}
FROM (SELECT id, state FROM belfry.history WHERE {of_job} {window}) w
JOIN LATERAL (SELECT * FROM belfry.history_all e WHERE e.id = w.id OFFSET 0) r ON true
WHERE (:states::bigint = 0 OR :states::bigint >> w.state & 1 = 1)
    AND {exec.fits_besides}
ORDER BY w.id DESC LIMIT :limit;

-- name: edge_history_of_job
SELECT id FROM belfry.history WHERE {of_job} {edge};

-- name: list_history_first
SELECT {exec.row.columns r} FROM belfry.history_all r
WHERE {first_of_job} AND {exec.fits} LIMIT :limit;
