-- read.sql - one thing, or all of a kind, for readers.

-- name: read_job
SELECT {job_row.row.columns}, payload, trail
FROM belfry.job_full WHERE id = $1;

-- name: read_live
SELECT {exec.row.columns r}, '' AS result, l.trail
FROM belfry.live_all r JOIN belfry.live l ON l.id = r.id
WHERE r.id = $1;

-- name: read_payload
SELECT payload FROM belfry.exec_payload WHERE exec_id = $1;

-- name: read_history
SELECT {exec.row.columns r}, h.result, h.trail
FROM belfry.history_all r JOIN belfry.history h ON h.id = r.id
WHERE r.id = $1 AND h.id = $1;

-- name: read_attempts
SELECT {attempt.columns}, usage FROM belfry.attempt_row WHERE exec_id = $1 ORDER BY token;

-- name: read_grant
-- Always one row: who asks about what never was is told so by NULLs.
SELECT l.token, l.worker_id, coalesce(a.worker_id, h.attempt_worker)
FROM (SELECT $1::bigint AS exec_id, $2::bigint AS token) q
LEFT JOIN belfry.live l ON l.id = q.exec_id
LEFT JOIN belfry.attempt a ON a.exec_id = q.exec_id AND a.token = q.token
LEFT JOIN belfry.history h ON h.id = q.exec_id AND h.token = q.token;

-- name: read_upstreams
SELECT {dependency.columns} FROM belfry.dependency
WHERE dependant = $1 ORDER BY upstream LIMIT $2;

-- name: read_dependants
SELECT {dependency.columns} FROM belfry.dependency
WHERE upstream = $1 ORDER BY dependant LIMIT $2;

-- name: read_calendar
SELECT {calendar.columns}
FROM belfry.calendar WHERE name = $1;

-- name: read_silences
SELECT {silence.columns}
FROM belfry.alert_silence ORDER BY id;

-- name: read_calendars
SELECT name, version, policy, entry_count, changed_ms, changed_by, '' FROM belfry.calendar
ORDER BY name;

-- name: read_drift
SELECT greatest((SELECT max(drift_ms) FROM belfry.partition),
    (SELECT max(drift_ms) FROM belfry.turn), 0);

-- name: read_tally
-- Here and below: whole days as such, by the hour what is left at both ends, and what was not
-- folded yet.
SELECT "end", bucket, sum(count)::bigint, sum(sum_ms)::bigint FROM (
    SELECT "end", bucket, count, sum_ms FROM belfry.tally_day
    WHERE scope = $1::bigint AND key = $2 AND day >= ($3::bigint + 23) / 24
        AND day < $4::bigint / 24
    UNION ALL
    SELECT "end", bucket, count, sum_ms FROM belfry.tally
    WHERE scope = $1::bigint AND key = $2
        AND hour >= $3::bigint AND hour < least(($3::bigint + 23) / 24 * 24, $4::bigint)
    UNION ALL
    SELECT "end", bucket, count, sum_ms FROM belfry.tally
    WHERE scope = $1::bigint AND key = $2
        AND hour >= greatest(($3::bigint + 23) / 24, $4::bigint / 24) * 24 AND hour < $4::bigint
    UNION ALL
    SELECT "end", bucket, count, sum_ms FROM belfry.tally_delta
    WHERE scope = $1::bigint AND key = $2 AND hour >= $3::bigint AND hour < $4::bigint) part
GROUP BY "end", bucket;

-- name: read_tallies
-- All keys of a scope, each with a row for each way to end. The sum of a day of which a server of the
-- version before has counted a part may be below 0, when the oldest hours are taken off.
SELECT key, "end", 0::bigint, sum(count)::bigint, greatest(sum(sum_ms), 0)::bigint FROM (
    SELECT key, "end", count, sum_ms FROM belfry.tally_end
    WHERE scope = $1::bigint AND day >= ($2::bigint + 23) / 24 AND day < $3::bigint / 24
    UNION ALL
    SELECT key, "end", count, sum_ms FROM belfry.tally
    WHERE scope = $1::bigint AND hour >= $2::bigint
        AND hour < least(($2::bigint + 23) / 24 * 24, $3::bigint)
    UNION ALL
    SELECT key, "end", count, sum_ms FROM belfry.tally
    WHERE scope = $1::bigint AND hour >= greatest(($2::bigint + 23) / 24, $3::bigint / 24) * 24
        AND hour < $3::bigint
    UNION ALL
    SELECT key, "end", count, sum_ms FROM belfry.tally_delta
    WHERE scope = $1::bigint AND hour >= $2::bigint AND hour < $3::bigint) part
GROUP BY key, "end";

-- name: read_sla_tallies
-- The same of a scope of SLAs (>= 6, which the index is about), with a row for each kind of event.
SELECT key, {EXEC_COMPLETED}::bigint, bucket, sum(count)::bigint, sum(sum_ms)::bigint FROM (
    SELECT key, bucket, count, sum_ms FROM belfry.tally_day
    WHERE scope = $1::bigint AND scope >= 6
        AND day >= ($2::bigint + 23) / 24 AND day < $3::bigint / 24
    UNION ALL
    SELECT key, bucket, count, sum_ms FROM belfry.tally
    WHERE scope = $1::bigint AND hour >= $2::bigint
        AND hour < least(($2::bigint + 23) / 24 * 24, $3::bigint)
    UNION ALL
    SELECT key, bucket, count, sum_ms FROM belfry.tally
    WHERE scope = $1::bigint AND hour >= greatest(($2::bigint + 23) / 24, $3::bigint / 24) * 24
        AND hour < $3::bigint
    UNION ALL
    SELECT key, bucket, count, sum_ms FROM belfry.tally_delta
    WHERE scope = $1::bigint AND hour >= $2::bigint AND hour < $3::bigint) part
GROUP BY key, bucket;

-- name: read_sla_since
SELECT value::bigint FROM belfry.meta WHERE key = 'sla_tallies_ms';

-- name: read_counters
SELECT kind, queue, state, sum(value)::bigint FROM belfry.counter_row
GROUP BY kind, queue, state HAVING sum(value) <> 0 ORDER BY kind, queue, state;

-- name: read_versions
SELECT {version.columns} FROM belfry.job_version
WHERE job_id = $1::bigint AND version <= $2::bigint ORDER BY version DESC LIMIT $3::bigint;

-- name: read_heads
-- What jobs were submitted with, for lists of their executions. Here and below, rows begin with the
-- place of the id that they are about.
SELECT k.n, j.*
FROM unnest(:ids::bigint[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (SELECT {job_row.head.columns}, ''::text AS spec
    FROM belfry.job e WHERE e.id = k.id OFFSET 0) j;

-- name: read_standings
SELECT k.n, j.*
FROM unnest(:ids::bigint[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (SELECT {job_row.row.columns}
    FROM belfry.job_row e WHERE e.id = k.id OFFSET 0) j;

-- name: read_newest_attempts
SELECT k.n, a.exec_id, a.token, a.worker_id, a.class, a.fingerprint
FROM unnest(:ids::bigint[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (SELECT exec_id, token, worker_id, class, fingerprint FROM belfry.attempt_row r
    WHERE r.exec_id = k.id ORDER BY r.token DESC LIMIT 1) a;

-- name: read_unfinished
-- Here and below: what was made with the job is found by the job's row, the rest by the index.
SELECT k.n, {exec.row.columns r}
FROM (SELECT :max::bigint AS most) m
CROSS JOIN unnest(:ids::bigint[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
    (SELECT * FROM belfry.live_all e WHERE e.job_id = k.id AND NOT e.first
    ORDER BY e.id DESC LIMIT :max)
    UNION ALL
    (SELECT * FROM belfry.live_all e
    WHERE e.id = (SELECT j.first_exec FROM belfry.job j WHERE j.id = k.id) AND e.first)
    OFFSET 0) r
ORDER BY k.n, r.id DESC;

-- name: read_ended
SELECT k.n, {exec.row.columns r}
FROM (SELECT :max::bigint AS most) m
CROSS JOIN unnest(:ids::bigint[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (SELECT * FROM (
    (SELECT * FROM belfry.history_all e WHERE e.job_id = k.id AND NOT e.first
    ORDER BY e.id DESC LIMIT :max)
    UNION ALL
    (SELECT * FROM belfry.history_all e
    WHERE e.id = (SELECT j.first_exec FROM belfry.job j WHERE j.id = k.id) AND e.first)) u
    ORDER BY u.id DESC LIMIT :max) r
ORDER BY k.n, r.id DESC;

-- name: read_about
-- A pooler in between hands out numbers of its own for processes: the client's is not this one then.
SELECT current_setting('server_version'), current_setting('fsync'), current_setting('full_page_writes'),
    current_setting('synchronous_commit'), current_setting('max_connections'),
    (SELECT count(*) FROM pg_stat_get_activity(NULL) a WHERE a.backend_type = 'client backend')::text,
    pg_is_in_recovery()::text, pg_database_size(current_database())::text, pg_backend_pid()::bigint,
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
