-- load.sql - what a start reads: all that is in the partitions $1 (how many there are) and $2 (bits
-- of those we own).

-- name: load_counters
SELECT kind, queue, state, sum(value)::bigint FROM belfry.counter_row
WHERE ($2::bigint >> partition) & 1 = 1 AND partition < $1::bigint
GROUP BY kind, queue, state HAVING sum(value) <> 0 ORDER BY kind, queue, state;

-- name: load_queues
SELECT {queue.columns}
FROM belfry.queue ORDER BY name;

-- name: load_teams
SELECT {team.columns} FROM belfry.team ORDER BY name;

-- name: load_rates
SELECT {rate.columns} FROM belfry.rate ORDER BY key;

-- name: load_clock
SELECT at_ms, by_ms FROM belfry.clock WHERE id = 1;

-- name: load_breakers
-- One target may have rows of two servers that were: the one that is left alone longer counts.
SELECT DISTINCT ON (target) {breaker.columns} FROM belfry.breaker
WHERE ($2::bigint >> partition) & 1 = 1 AND partition < $1::bigint
ORDER BY target, until_ms DESC;

-- name: load_operations
SELECT {operation.columns}
FROM belfry.operation_part
WHERE state = {OPERATION_RUNNING} AND ($2::bigint >> partition) & 1 = 1 AND partition < $1::bigint
ORDER BY id, partition;

-- name: load_workers
SELECT {worker.columns}
FROM belfry.worker WHERE belfry.is_owned(id, $1::bigint::integer, $2::bigint) ORDER BY id;

-- name: load_cordoned
-- By all servers, of all partitions.
SELECT {worker.columns}
FROM belfry.worker WHERE cordoned_ms > 0 ORDER BY id;

-- name: load_silences
SELECT {silence.columns}
FROM belfry.alert_silence ORDER BY id;

-- name: load_calendars
SELECT {calendar.columns}
FROM belfry.calendar ORDER BY name;

-- name: load_permits
SELECT {permit.columns} FROM belfry.permit
WHERE belfry.is_owned(bucket::bigint << 12, $1::bigint::integer, $2::bigint) ORDER BY key, exec_id;

-- name: load_waiters
SELECT {waiter.columns} FROM belfry.waiter
WHERE belfry.is_owned(upstream, $1::bigint::integer, $2::bigint) ORDER BY upstream, exec_id;

-- name: load_live
-- A page of them. NULL is what most rows have: see row_live.c, which reads this.
SELECT id, job_id, state, queue, nullif(priority, {SPEC_PRIORITY_DEFAULT}), created_ms,
    nullif(slot_ms, created_ms), nullif(ready_ms, created_ms), nullif(due_ms, 0),
    nullif(started_ms, 0), attempts, nullif(token, 0), nullif(worker_id, 0),
    CASE WHEN retry_of <> 0 OR origin = {ORIGIN_REQUEST}
        THEN EXISTS (SELECT 1 FROM belfry.exec_payload p WHERE p.exec_id = live.id) END,
    {exec.live+mark.sparse}, charged
FROM belfry.live
WHERE id > $4::bigint AND belfry.is_owned(id, $1::bigint::integer, $2::bigint)
    AND (state NOT IN ({exec.waiting}) OR due_ms <= $3::bigint
        OR (state = {EXEC_RETRYING} AND origin <> {ORIGIN_ONCE})
        OR (state = {EXEC_SCHEDULED} AND ready_ms > 0))
ORDER BY id LIMIT $5::bigint;

-- name: load_jobs
-- Those of a page, in runs from one number to another. NULL as above.
SELECT j.id, j.queue, j.owner, j.created_ms, j.last_exec, j.spec,
    nullif(j.priority, {SPEC_PRIORITY_DEFAULT}), {job_row.row.sparse j}
FROM unnest($1::bigint[], $2::bigint[]) r (first, last)
JOIN belfry.job j ON j.id BETWEEN r.first AND r.last;

-- name: load_dependencies
SELECT {dependency.columns} FROM belfry.dependency
WHERE state IN ({DEPENDENCY_WAITING}, {DEPENDENCY_PER_SLOT})
    AND (belfry.is_owned(dependant, $1::bigint::integer, $2::bigint)
        OR belfry.is_owned(upstream, $1::bigint::integer, $2::bigint))
ORDER BY dependant, upstream;

-- name: load_keys
SELECT {api_key.columns} FROM belfry.api_key ORDER BY id;
