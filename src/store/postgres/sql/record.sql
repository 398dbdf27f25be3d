-- record.sql - the other records that a turn keeps.

-- name: put_worker
INSERT INTO belfry.worker ({worker.columns})
VALUES ({worker.values})
ON CONFLICT (id) DO UPDATE
SET {worker.set};

-- name: forget_worker
DELETE FROM belfry.worker WHERE id = $1::bigint;

-- name: put_queue
INSERT INTO belfry.queue ({queue.columns})
VALUES ({queue.values})
ON CONFLICT (name) DO UPDATE
SET {queue.set};

-- name: forget_queue
DELETE FROM belfry.queue WHERE name = $1::text;

-- name: put_team
INSERT INTO belfry.team ({team.columns})
VALUES ({team.values})
ON CONFLICT (name) DO UPDATE
SET {team.set};

-- name: raise_settings
-- In the commit that changes a queue, a team, a calendar, a silence or a key.
UPDATE belfry.meta SET value = (value::bigint + 1)::text WHERE key = 'settings_version';

-- name: put_rate
INSERT INTO belfry.rate ({rate.columns}) VALUES ({rate.values})
ON CONFLICT (key) DO UPDATE SET {rate.set};

-- name: forget_rate
DELETE FROM belfry.rate WHERE key = $1::text;

-- name: insert_alert
INSERT INTO belfry.alert ({alert.columns})
VALUES ({alert.values});

-- name: mark_alert
UPDATE belfry.alert SET {alert.progress.set $} WHERE id = $2::bigint;

-- name: ack_alert
UPDATE belfry.alert SET {alert.edit.set $} WHERE id = $4::bigint;

-- name: put_silence
INSERT INTO belfry.alert_silence ({silence.columns})
VALUES ({silence.values})
ON CONFLICT (id) DO UPDATE
SET {silence.set};

-- name: forget_silence
DELETE FROM belfry.alert_silence WHERE id = $1::bigint;

-- name: insert_sla_event
INSERT INTO belfry.sla_event ({sla_event.columns})
VALUES ({sla_event.values});

-- name: put_clock
INSERT INTO belfry.clock (id, at_ms, by_ms) VALUES (1, $1::bigint, $2::bigint)
ON CONFLICT (id) DO UPDATE SET at_ms = excluded.at_ms, by_ms = excluded.by_ms;

-- name: put_breaker
INSERT INTO belfry.breaker (partition, {breaker.columns})
VALUES ($1::bigint, {breaker.values 2})
ON CONFLICT (partition, target) DO UPDATE
SET {breaker.set};

-- name: forget_breaker
-- In all of our partitions: the lowest one may have been another when it was put.
DELETE FROM belfry.breaker WHERE target = $1::text AND partition = ANY($2::bigint[]);

-- name: put_dependency
INSERT INTO belfry.dependency ({dependency.columns})
VALUES ({dependency.values})
ON CONFLICT (dependant, upstream) DO UPDATE SET {dependency.progress.set};

-- name: put_letters
-- The owner is the job's.
INSERT INTO belfry.dead_letter ({new_letter.columns}, owner)
SELECT n.*, coalesce((SELECT j.owner FROM belfry.job j WHERE j.id = n.job_id), '')
FROM unnest({new_letter.arrays})
    n ({new_letter.columns});

-- name: remove_letters
DELETE FROM belfry.dead_letter d USING unnest($1::bigint[], $2::bigint[]) n (died_ms, exec_id)
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.dead_letter e
    WHERE e.died_ms = n.died_ms AND e.exec_id = n.exec_id OFFSET 0) f
WHERE d.ctid = f.at;

-- name: put_operation
INSERT INTO belfry.operation_part ({operation.columns})
VALUES ({operation.values})
ON CONFLICT (id, partition) DO UPDATE
SET {operation.set};

-- name: move_operation
UPDATE belfry.operation_part SET {operation.progress+trail.set $}
WHERE id = $9::bigint AND partition = $10::bigint;

-- name: put_calendar
INSERT INTO belfry.calendar ({calendar.columns})
VALUES ({calendar.values})
ON CONFLICT (name) DO UPDATE
SET {calendar.set};

-- name: forget_calendar
DELETE FROM belfry.calendar WHERE name = $1::text;

-- name: put_calendar_use
-- NULL, which the column refuses, when another server has deleted the calendar since the job was accepted. The lock
-- keeps it from being deleted before this commit.
INSERT INTO belfry.calendar_use (calendar, job_id)
VALUES ((SELECT name FROM belfry.calendar WHERE name = $1::text FOR KEY SHARE), $2::bigint)
ON CONFLICT DO NOTHING;

-- name: forget_calendar_use
DELETE FROM belfry.calendar_use WHERE calendar = $1::text AND job_id = $2::bigint;

-- name: add_counters
INSERT INTO belfry.counter_delta (turn, partition, {counter.columns})
SELECT $1::bigint, n.*
FROM unnest($2::bigint[], {counter.arrays 3}) n (partition, {counter.columns});

-- name: add_tallies
INSERT INTO belfry.tally_delta (partition, turn, {tally.columns})
SELECT $1::bigint, $2::bigint, n.*
FROM unnest({tally.arrays 3}) n ({tally.columns});

-- name: move_counters
-- The numbers of queues $5, which are forgotten in the partitions $1 (how many there are) and $2
-- (bits of those we own), go on under the empty name. Turns before $4 were folded.
WITH owned AS MATERIALIZED (
    SELECT array_agg(p) AS partitions FROM generate_series(0, $1::bigint - 1) p
    WHERE ($2::bigint >> p::integer) & 1 = 1),
sums AS (
    DELETE FROM belfry.counter
    WHERE partition = ANY((SELECT partitions FROM owned)::integer[])
        AND kind = ANY('{{counter.kinds}}') AND queue = ANY($5::text[])
    RETURNING partition, kind, state, value),
added AS (
    DELETE FROM belfry.counter_delta
    WHERE partition = ANY((SELECT partitions FROM owned)::integer[]) AND turn >= $4::bigint
        AND queue = ANY($5::text[])
    RETURNING partition, kind, state, value)
INSERT INTO belfry.counter_delta (partition, turn, {counter.columns})
SELECT partition, $3::bigint, kind, '', state, sum(value)::bigint
FROM (SELECT * FROM sums UNION ALL SELECT * FROM added) n GROUP BY partition, kind, state;

-- name: fold_counters
-- Folds all that was added since turn $1. Sums are made in the order of their keys: another
-- server's partition has other rows, but two of them never wait for each other in a circle.
WITH added AS (
    DELETE FROM belfry.counter_delta WHERE partition = ANY($2::bigint[]) AND turn >= $1::bigint
    RETURNING partition, {counter.columns})
INSERT INTO belfry.counter AS c (partition, {counter.columns})
SELECT partition, kind, queue, state, sum(value)::bigint FROM added
GROUP BY partition, kind, queue, state ORDER BY partition, kind, queue, state
ON CONFLICT (partition, kind, queue, state) DO UPDATE SET value = c.value + excluded.value;

-- name: fold_tallies
WITH added AS (
    DELETE FROM belfry.tally_delta WHERE partition = ANY($2::bigint[]) AND turn >= $1::bigint
    RETURNING {tally.columns}),
days AS (
    INSERT INTO belfry.tally_day AS t (scope, key, day, "end", bucket, count, sum_ms)
    SELECT scope, key, hour / 24 AS day, "end", bucket, sum(count)::bigint, sum(sum_ms)::bigint
    FROM added
    GROUP BY scope, key, day, "end", bucket ORDER BY scope, key, day, "end", bucket
    ON CONFLICT (scope, key, day, "end", bucket)
    DO UPDATE SET count = t.count + excluded.count, sum_ms = t.sum_ms + excluded.sum_ms),
ends AS (
    INSERT INTO belfry.tally_end AS t (scope, key, day, "end", count, sum_ms)
    SELECT scope, key, hour / 24 AS day, "end", sum(count)::bigint, sum(sum_ms)::bigint FROM added
    GROUP BY scope, key, day, "end" ORDER BY scope, key, day, "end"
    ON CONFLICT (scope, day, key, "end")
    DO UPDATE SET count = t.count + excluded.count, sum_ms = t.sum_ms + excluded.sum_ms)
INSERT INTO belfry.tally AS t ({tally.columns})
SELECT scope, key, hour, "end", bucket, sum(count)::bigint, sum(sum_ms)::bigint FROM added
GROUP BY scope, key, hour, "end", bucket ORDER BY scope, key, hour, "end", bucket
ON CONFLICT (scope, key, hour, "end", bucket)
DO UPDATE SET count = t.count + excluded.count, sum_ms = t.sum_ms + excluded.sum_ms;

-- name: put_key
INSERT INTO belfry.api_key ({api_key.columns})
VALUES ({api_key.values})
ON CONFLICT (id) DO UPDATE
SET {api_key.set};

-- name: sign_key_out
UPDATE belfry.api_key SET sessions = sessions + 1 WHERE id = :id::bigint;

-- name: keep_first_version
-- What the job was until now, when nothing is written about that yet. Before the job changes.
INSERT INTO belfry.job_version ({version.columns})
SELECT id, version, CASE WHEN changed_ms > 0 THEN changed_ms ELSE created_ms END,
    CASE WHEN version = 1 THEN owner ELSE '' END, spec, coalesce(payload, '')
FROM belfry.job j WHERE id = $1::bigint
    AND NOT EXISTS (SELECT 1 FROM belfry.job_version v WHERE v.job_id = $1::bigint);

-- name: put_version
INSERT INTO belfry.job_version ({version.columns}) VALUES ({version.values})
ON CONFLICT (job_id, version) DO UPDATE SET {version.set};

-- name: trim_versions
DELETE FROM belfry.job_version WHERE job_id = $1::bigint AND version <= $2::bigint;
