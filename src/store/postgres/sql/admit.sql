-- admit.sql - what a turn asks before it decides.

-- name: find_job
SELECT {job_row.row.columns} FROM belfry.job_row WHERE id = $1::bigint;

-- name: find_met
SELECT {dependency.columns d}, {job_row.row.columns j}
FROM belfry.dependency d
CROSS JOIN LATERAL (SELECT * FROM belfry.job_row r WHERE r.id = d.upstream OFFSET 0) j
WHERE d.dependant = $1::bigint AND d.state = {DEPENDENCY_MET} ORDER BY d.upstream;

-- name: find_exec
SELECT {exec.row.columns}
FROM belfry.live_all WHERE id = $1::bigint
UNION ALL
SELECT {exec.row.columns}
FROM belfry.history_all WHERE id = $1::bigint;

-- name: find_job_of_exec
SELECT {job_row.row.columns j} FROM (
    SELECT job_id FROM belfry.live WHERE id = $1::bigint
    UNION ALL
    SELECT job_id FROM belfry.history WHERE id = $1::bigint) e
CROSS JOIN LATERAL (SELECT * FROM belfry.job_row r WHERE r.id = e.job_id OFFSET 0) j;

-- name: find_attempt
SELECT {attempt.columns}, usage FROM belfry.attempt_row WHERE exec_id = $1::bigint AND token = $2::bigint;

-- name: find_trail
-- An id is that of one thing: jobs and executions share the generator.
SELECT trail FROM belfry.job_full WHERE id = $1::bigint
UNION ALL
SELECT trail FROM belfry.live WHERE id = $1::bigint
UNION ALL
SELECT trail FROM belfry.history WHERE id = $1::bigint;

-- name: find_newest
SELECT {exec.row.columns l} FROM belfry.job j
CROSS JOIN LATERAL (SELECT * FROM belfry.live_all e WHERE e.id = j.last_exec OFFSET 0) l
WHERE j.id = $1::bigint;

-- name: find_newest_of_exec
-- The same for the job of an execution.
SELECT {exec.row.columns l} FROM (
    SELECT job_id FROM belfry.live WHERE id = $1::bigint
    UNION ALL
    SELECT job_id FROM belfry.history WHERE id = $1::bigint) e
CROSS JOIN LATERAL (SELECT o.last_exec FROM belfry.job o WHERE o.id = e.job_id OFFSET 0) j
CROSS JOIN LATERAL (SELECT * FROM belfry.live_all r WHERE r.id = j.last_exec OFFSET 0) l;

-- name: find_ahead
-- Here and below: what was made with the job is found by the job's row, the rest by the index. From
-- the newest on, so that it steps over nothing but runs that people asked for since.
SELECT {exec.row.columns}
FROM (SELECT * FROM belfry.live_all
    WHERE job_id = $1::bigint AND NOT first AND state = {EXEC_SCHEDULED}
    ORDER BY id DESC LIMIT 1) a
UNION ALL
SELECT {exec.row.columns l} FROM belfry.job j
CROSS JOIN LATERAL (SELECT * FROM belfry.live_all e
    WHERE e.id = j.first_exec AND e.first AND e.state = {EXEC_SCHEDULED} OFFSET 0) l
WHERE j.id = $1::bigint
ORDER BY id DESC LIMIT 1;

-- name: find_slot
-- The newest by id, since slots are made in their order. Each part stops at its first row; before
-- that it steps over runs that people asked for, and over slots later than the moment.
SELECT {exec.row.columns}
FROM (SELECT * FROM belfry.live_all
    WHERE job_id = $1::bigint AND NOT first AND origin = {ORIGIN_SLOT} AND slot_ms <= $2::bigint
    ORDER BY id DESC LIMIT 1) a
UNION ALL
SELECT {exec.row.columns}
FROM (SELECT * FROM belfry.history_all
    WHERE job_id = $1::bigint AND NOT first AND origin = {ORIGIN_SLOT} AND slot_ms <= $2::bigint
    ORDER BY id DESC LIMIT 1) b
UNION ALL
SELECT {exec.row.columns l} FROM belfry.job j
CROSS JOIN LATERAL (SELECT * FROM belfry.live_all e
    WHERE e.id = j.first_exec AND e.first AND e.origin = {ORIGIN_SLOT}
        AND e.slot_ms <= $2::bigint OFFSET 0) l
WHERE j.id = $1::bigint
UNION ALL
SELECT {exec.row.columns h} FROM belfry.job j
CROSS JOIN LATERAL (SELECT * FROM belfry.history_all e
    WHERE e.id = j.first_exec AND e.first AND e.origin = {ORIGIN_SLOT}
        AND e.slot_ms <= $2::bigint OFFSET 0) h
WHERE j.id = $1::bigint
ORDER BY id DESC LIMIT 1;

-- name: due
-- $1 after (moment, id), until; then which partitions and how many rows. The comparison of pairs is
-- one that PostgreSQL's index knows.
SELECT {exec.row.columns l}, {job_row.row.columns j} FROM (
    SELECT id FROM belfry.live
    WHERE wait_ms IS NOT NULL AND (wait_ms, id) > ($1::bigint, $2::bigint) AND wait_ms <= $3::bigint
        AND belfry.is_owned(id, $4::bigint::integer, $5::bigint)
    ORDER BY wait_ms, id LIMIT $6::bigint) w
CROSS JOIN LATERAL (SELECT * FROM belfry.live_all e WHERE e.id = w.id OFFSET 0) l
LEFT JOIN LATERAL (SELECT * FROM belfry.job_kept e WHERE e.id = l.job_id OFFSET 0) j ON true
ORDER BY l.due_ms, l.id;

-- name: find_letter
SELECT * FROM belfry.letter_row WHERE exec_id = $1::bigint;

-- name: find_letters
SELECT * FROM belfry.letter_row
WHERE (died_ms, exec_id) > ($1::bigint, $2::bigint) AND died_ms <= $3::bigint
    AND belfry.is_owned(exec_id, $4::bigint::integer, $5::bigint)
ORDER BY died_ms, exec_id LIMIT $6::bigint;

-- name: find_pace
SELECT bucket, sum(count)::bigint FROM belfry.tally_row
WHERE scope = $1::bigint AND key = $2::text AND "end" = $3::bigint
GROUP BY hour, bucket ORDER BY hour DESC, bucket DESC LIMIT $4::bigint;

-- name: find_counters
-- Before a queue is deleted. The sums by their key, and all that was not folded yet.
SELECT kind, queue, state, sum(value)::bigint FROM (
    SELECT {counter.columns} FROM belfry.counter
    WHERE partition = ANY(ARRAY(SELECT p.id FROM belfry.partition p))
        AND kind = ANY('{{counter.kinds}}') AND queue = $1::text
    UNION ALL
    SELECT {counter.columns} FROM belfry.counter_delta WHERE queue = $1::text) n
GROUP BY kind, queue, state HAVING sum(value) <> 0;

-- name: lock_calendar
-- Before the question which jobs go by it, and until the commit that deletes it: a job that names it waits for that
-- commit, or was there first and is found. A statement of its own, since each sees what was committed before it began.
SELECT 1 FROM belfry.calendar WHERE name = $1::text FOR UPDATE;

-- name: calendar_jobs
SELECT job_id FROM belfry.calendar_use WHERE calendar = $1::text ORDER BY job_id LIMIT $2::bigint;

-- name: find_worker
SELECT {worker.columns}
FROM belfry.worker WHERE id = $1::bigint;

-- name: find_alert
SELECT {alert.columns}
FROM belfry.alert WHERE id = $1::bigint;

-- name: fetch
SELECT spec, payload FROM belfry.job WHERE id = $1::bigint;

-- name: fetch_payload
SELECT payload FROM belfry.exec_payload WHERE exec_id = $1::bigint;
