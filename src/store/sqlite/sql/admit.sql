-- admit.sql - what a turn asks before it decides.

-- name: find_job
SELECT * FROM job_row WHERE id = :id;

-- name: find_met
SELECT {dependency.columns d}, j.*
FROM dependency d JOIN job_row j ON j.id = d.upstream
WHERE d.dependant = :job_id AND d.state = {DEPENDENCY_MET} ORDER BY d.upstream;

-- name: find_exec
SELECT * FROM live_row WHERE id = :id
UNION ALL
SELECT * FROM history_row WHERE id = :id;

-- name: find_attempt
SELECT * FROM attempt_row WHERE exec_id = :exec_id AND token = :token;

-- name: find_trail
-- An id is that of one thing: jobs and executions share the generator.
SELECT trail FROM job_full WHERE id = :id
UNION ALL
SELECT trail FROM live WHERE id = :id
UNION ALL
SELECT trail FROM history WHERE id = :id;

-- name: find_live
SELECT * FROM live_row WHERE id = :id;

-- name: find_ahead
-- Here and below: what was made with the job is found by the job's row, the rest by the index. From
-- the newest on, so that it steps over nothing but runs that people asked for since.
SELECT * FROM (SELECT * FROM live_row
    WHERE job_id = :job_id AND first = 0 AND state = {EXEC_SCHEDULED}
    ORDER BY id DESC LIMIT 1)
UNION ALL
SELECT l.* FROM job j JOIN live_row l ON l.id = j.first_exec AND l.first <> 0
WHERE j.id = :job_id AND l.state = {EXEC_SCHEDULED}
ORDER BY id DESC LIMIT 1;

-- name: find_slot
-- The newest by id, since slots are made in their order. Each part stops at its first row; before
-- that it steps over runs that people asked for, and over slots later than the moment.
SELECT * FROM (SELECT * FROM live_row
    WHERE job_id = :job_id AND first = 0 AND origin = {ORIGIN_SLOT} AND slot_ms <= :until_ms
    ORDER BY id DESC LIMIT 1)
UNION ALL
SELECT * FROM (SELECT * FROM history_row
    WHERE job_id = :job_id AND first = 0 AND origin = {ORIGIN_SLOT} AND slot_ms <= :until_ms
    ORDER BY id DESC LIMIT 1)
UNION ALL
SELECT l.* FROM job j JOIN live_row l ON l.id = j.first_exec AND l.first <> 0
WHERE j.id = :job_id AND l.origin = {ORIGIN_SLOT} AND l.slot_ms <= :until_ms
UNION ALL
SELECT h.* FROM job j JOIN history_row h ON h.id = j.first_exec AND h.first <> 0
WHERE j.id = :job_id AND h.origin = {ORIGIN_SLOT} AND h.slot_ms <= :until_ms
ORDER BY id DESC LIMIT 1;

-- name: due
-- In two parts, what is left of the moment :after_ms and what comes later, so that both start by
-- the index: a million executions may be due at the same midnight, and a comparison of pairs would
-- walk through all of them for every page. Without a LIMIT: the caller stops reading, since rows
-- that make no sense must not fill a page.
SELECT l.*, j.* FROM live_row l LEFT JOIN job_kept j ON j.id = l.job_id
WHERE l.state IN ({exec.waiting}) AND l.due_ms = :after_ms AND l.id > :after_id
    AND l.due_ms <= :until_ms
UNION ALL
SELECT l.*, j.* FROM live_row l LEFT JOIN job_kept j ON j.id = l.job_id
WHERE l.state IN ({exec.waiting}) AND l.due_ms > :after_ms AND l.due_ms <= :until_ms
ORDER BY due_ms, id;

-- name: find_letter
SELECT * FROM letter_row WHERE exec_id = :exec_id;

-- name: find_letters
-- Without a LIMIT: the caller stops reading.
SELECT * FROM letter_row
WHERE (died_ms, exec_id) > (:after_ms, :after_id) AND died_ms <= :until_ms
ORDER BY died_ms, exec_id;

-- name: find_pace
-- Backwards along the primary key.
SELECT bucket, count FROM tally WHERE scope = :scope AND key = :key AND end = :end
ORDER BY hour DESC, bucket DESC LIMIT :limit;

-- name: find_counters
SELECT {counter.columns} FROM counter
WHERE kind IN ({counter.kinds}) AND queue = :queue AND value <> 0;

-- name: calendar_jobs
SELECT job_id FROM calendar_use WHERE calendar = :calendar ORDER BY job_id LIMIT :max;

-- name: find_worker
SELECT {worker.columns}
FROM worker WHERE id = :id;

-- name: find_alert
SELECT {alert.columns}
FROM alert WHERE id = :id;

-- name: fetch
SELECT coalesce(spec, (SELECT d.spec FROM document d WHERE d.job_id = job.id)),
    coalesce(payload, (SELECT d.payload FROM document d WHERE d.job_id = job.id))
FROM job WHERE id = :id;

-- name: fetch_payload
SELECT payload FROM exec_payload WHERE exec_id = :exec_id;
