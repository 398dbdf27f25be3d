-- load.sql - what a start reads.

-- name: load_counters
SELECT {counter.columns} FROM counter WHERE value <> 0 ORDER BY kind, queue, state;

-- name: load_queues
SELECT {queue.columns}
FROM queue ORDER BY name;

-- name: load_teams
SELECT {team.columns} FROM team ORDER BY name;

-- name: load_rates
SELECT {rate.columns} FROM rate ORDER BY key;

-- name: load_clock
SELECT at_ms, by_ms FROM clock;

-- name: load_breakers
SELECT {breaker.columns} FROM breaker ORDER BY target;

-- name: load_operations
SELECT {operation.columns}
FROM operation_part WHERE state = {OPERATION_RUNNING} ORDER BY id, partition;

-- name: load_workers
SELECT {worker.columns}
FROM worker ORDER BY id;

-- name: load_cordoned
SELECT {worker.columns}
FROM worker WHERE cordoned_ms > 0 ORDER BY id;

-- name: load_calendars
SELECT {calendar.columns}
FROM calendar ORDER BY name;

-- name: load_silences
SELECT {silence.columns}
FROM alert_silence ORDER BY id;

-- name: load_permits
SELECT {permit.columns} FROM permit ORDER BY key, exec_id;

-- name: load_waiters
SELECT {waiter.columns} FROM waiter ORDER BY upstream, exec_id;

-- name: load_live
-- LEFT JOIN: an execution whose job is gone must be seen, and reported, not silently left out. In
-- the order of the table, and nearly that of the jobs': a million rows are read without a sort.
SELECT l.*, j.* FROM live_load l LEFT JOIN job_kept j ON j.id = l.job_id
WHERE l.state NOT IN ({exec.waiting}) OR l.due_ms <= :until_ms
    OR (l.state = {EXEC_RETRYING} AND l.origin != {ORIGIN_ONCE})
    OR (l.state = {EXEC_SCHEDULED} AND l.ready_ms > 0)
ORDER BY l.id;

-- name: load_dependencies
SELECT {dependency.columns} FROM dependency INDEXED BY dependency_waiting
WHERE state IN ({DEPENDENCY_WAITING}, {DEPENDENCY_PER_SLOT}) ORDER BY dependant, upstream;

-- name: load_keys
SELECT {api_key.columns} FROM api_key ORDER BY id;
