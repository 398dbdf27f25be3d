-- old.sql - what is too old: how it is found, and how it is deleted.

-- token: day_ms
86400000

-- token: week_ms
604800000

-- token: id.ms_max
-- A millisecond of ids counts from 2020 and is 2^22 wide, and there are 2^41 of them.
2199023255551

-- name: find_old_weeks
-- Those of which nothing is younger than the moment $1, by the end of the week, a day and the drift
-- $2; unless something of it has not ended, ended later all the same, is a dead letter, or is what
-- a standing rule names (see find_old; of the first executions the jobs tell).
INSERT INTO belfry.old_week (week, partition)
SELECT w.week, p.id
FROM (SELECT substring(c.relname FROM '_w([0-9]+)$')::bigint AS week
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'belfry.history'::regclass AND c.relname ~ '_w[0-9]+$') w
CROSS JOIN LATERAL (SELECT (w.week * {week_ms}) << 22 AS first_id,
    ((w.week + 1) * {week_ms}) << 22 AS end_id) ids
CROSS JOIN belfry.partition p
WHERE (w.week + 1) * {week_ms} + {day_ms} + $2::bigint <= $1::bigint - {ID_EPOCH_MS}
    AND NOT EXISTS (SELECT 1 FROM belfry.live l
        WHERE l.id >= ids.first_id AND l.id < ids.end_id OFFSET 0)
    AND NOT EXISTS (SELECT 1 FROM belfry.dead_letter d
        WHERE d.exec_id >= ids.first_id AND d.exec_id < ids.end_id OFFSET 0)
    AND NOT EXISTS (SELECT 1 FROM belfry.history h
        WHERE h.finished_ms >= $1::bigint AND h.finished_ms - h.created_ms > {day_ms}
            AND h.id >= ids.first_id AND h.id < ids.end_id OFFSET 0)
    AND NOT EXISTS (SELECT 1 FROM belfry.dependency r
        CROSS JOIN LATERAL (SELECT greatest(j.first_exec, (SELECT max(n.id) FROM belfry.history n
            WHERE n.job_id = r.upstream AND NOT n.first AND n.origin = {ORIGIN_SLOT})) AS id
            FROM belfry.job j WHERE j.id = r.upstream OFFSET 0) newest
        WHERE r.state = {DEPENDENCY_PER_SLOT} AND newest.id >= ids.first_id
            AND newest.id < ids.end_id OFFSET 0)
ON CONFLICT DO NOTHING;

-- name: old_ids
-- Behind which id, and up to which, there may be something old. A row that was created before the
-- moment $1 has an id from before it, too, but for the drift $2. Rows in no old week are left alone
-- for the time $3, too: perhaps their week becomes one. Rows of a week that our partitions ($4) are
-- done with wait for its end, and cost no more reading. The last column: whether there are others,
-- which want to be told how far we come.
SELECT coalesce((SELECT max(w.end_id) - 1 FROM (
        SELECT ((week + 1) * {week_ms}) << 22 AS end_id, min(forgotten_id) AS forgotten_id
        FROM belfry.old_week WHERE ($4::bigint >> partition) & 1 = 1 GROUP BY week) w
    WHERE w.forgotten_id >= w.end_id - 1), 0),
    least(greatest(least($1::bigint + $2::bigint - {ID_EPOCH_MS}, {id.ms_max}), 0) << 22,
        greatest((SELECT max(week + 1) * {week_ms} FROM belfry.old_week),
            least($1::bigint + $2::bigint - $3::bigint - {ID_EPOCH_MS}, {id.ms_max}), 0) << 22) - 1,
    EXISTS (SELECT 1 FROM belfry.old_week
        WHERE ($4::bigint >> partition) & 1 = 1
            AND forgotten_id < (((week + 1) * {week_ms}) << 22) - 1);

-- name: find_old
-- Ids are asked for by partition of the table.
-- A standing rule that waits for its job needs the newest slot.
SELECT h.id, h.finished_ms,
    EXISTS (SELECT 1 FROM belfry.dead_letter d WHERE d.exec_id = h.id OFFSET 0),
    EXISTS (SELECT 1 FROM belfry.dependency r
        WHERE r.upstream = h.job_id AND r.state = {DEPENDENCY_PER_SLOT} OFFSET 0)
        AND NOT EXISTS (SELECT 1 FROM belfry.history n
            WHERE n.job_id = h.job_id AND NOT n.first AND n.origin = {ORIGIN_SLOT}
                AND n.id > h.id OFFSET 0)
FROM belfry.history h
WHERE h.id > $1::bigint AND h.id <= $2::bigint AND h.created_ms < $3::bigint
    AND belfry.is_owned(h.id, $4::bigint::integer, $5::bigint)
ORDER BY h.id LIMIT $6::bigint;

-- name: find_old_alerts
-- The same for alerts.
SELECT id, at_ms, state FROM belfry.alert
WHERE id > $1::bigint AND at_ms < $2::bigint
    AND id < greatest(least($2::bigint + $3::bigint - {ID_EPOCH_MS}, {id.ms_max}), 0) << 22
    AND belfry.is_owned(id, $4::bigint::integer, $5::bigint)
ORDER BY id LIMIT $6::bigint;

-- name: find_old_tallies
-- Sums that were not folded yet are seldom old.
SELECT {tally_key.columns} FROM (
    (SELECT {tally_key.columns} FROM belfry.tally WHERE hour < $1::bigint
    ORDER BY hour, scope, key, "end", bucket LIMIT $2::bigint)
    UNION
    (SELECT DISTINCT {tally_key.columns} FROM belfry.tally_delta WHERE hour < $1::bigint
    ORDER BY hour, scope, key, "end", bucket LIMIT $2::bigint)) old
ORDER BY hour, scope, key, "end", bucket LIMIT $2::bigint;

-- name: forget_jobs
-- Of a job that is over. The end may stand in the newest execution's row, as in job_full. It goes
-- when nothing of it is left but what goes now, or has gone and waits for the end of its week; and
-- with it what it waited for.
WITH gone AS (
    DELETE FROM belfry.job j
    USING (SELECT DISTINCT h.job_id FROM belfry.history h WHERE h.id = ANY($1::bigint[])) of
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.job e WHERE e.id = of.job_id OFFSET 0) f
    WHERE j.ctid = f.at
        AND CASE WHEN j.last_exec <> j.told THEN
            coalesce((SELECT h.job_state FROM belfry.history h
                WHERE h.id = j.last_exec AND h.id = ANY($1::bigint[])), j.state)
            ELSE j.state END IN ({job.over})
        AND NOT EXISTS (SELECT 1 FROM belfry.live e WHERE e.id = j.first_exec OFFSET 0)
        AND (j.first_exec = ANY($1::bigint[])
            OR NOT EXISTS (SELECT 1 FROM belfry.history e
                WHERE e.id = j.first_exec AND NOT belfry.is_forgotten(e.id) OFFSET 0))
        AND NOT EXISTS (SELECT 1 FROM belfry.live e WHERE e.job_id = j.id AND NOT e.first OFFSET 0)
        AND NOT EXISTS (SELECT 1 FROM belfry.history e
            WHERE e.job_id = j.id AND NOT e.first AND e.id <> ALL($1::bigint[])
                AND NOT belfry.is_forgotten(e.id) OFFSET 0)
    RETURNING j.id),
versions AS (
    DELETE FROM belfry.job_version v USING gone g
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.job_version e
        WHERE e.job_id = g.id OFFSET 0) f
    WHERE v.ctid = f.at)
DELETE FROM belfry.dependency d USING gone g
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.dependency e
    WHERE e.dependant = g.id OFFSET 0) f
WHERE d.ctid = f.at;

-- name: fold_jobs
-- As update_jobs takes over what the newest execution's row said, when that row goes and the job
-- stays.
UPDATE belfry.job j
SET state = h.job_state, finished_ms = h.finished_ms, trail = j.trail || coalesce(h.job_step, ''),
    told = h.id
FROM belfry.history h
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.job e
    WHERE e.id = h.job_id AND e.last_exec = h.id AND e.told <> h.id OFFSET 0) f
WHERE h.id = ANY($1::bigint[]) AND h.job_state IS NOT NULL AND j.ctid = f.at;

-- name: forget_attempts
-- Here and in forget_execs: rows of an old week go with it.
DELETE FROM belfry.attempt a WHERE a.exec_id = ANY($1::bigint[])
    AND NOT EXISTS (SELECT 1 FROM belfry.old_week w
        WHERE w.week = (a.exec_id >> 22) / {week_ms} OFFSET 0);

-- name: forget_sla_events
DELETE FROM belfry.sla_event WHERE exec_id = ANY($1::bigint[]);

-- name: forget_payloads
DELETE FROM belfry.exec_payload WHERE exec_id = ANY($1::bigint[]);

-- name: forget_alerts
DELETE FROM belfry.alert WHERE id = ANY($1::bigint[]);

-- name: forget_operations
DELETE FROM belfry.operation_part WHERE id = ANY($1::bigint[]);

-- name: forget_tallies
-- The sums lose what they had of them: as by an insert, which finds each by its key, and waits for
-- a server that is adding to it.
WITH old AS (
    SELECT n.* FROM unnest({tally_key.arrays}) n ({tally_key.columns})),
gone AS (
    DELETE FROM belfry.tally t USING old o
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.tally e
        WHERE e.scope = o.scope AND e.key = o.key AND e.hour = o.hour AND e."end" = o."end"
            AND e.bucket = o.bucket OFFSET 0) f
    WHERE t.ctid = f.at
    RETURNING t.scope, t.key, t.hour / 24 AS day, t."end", t.bucket, t.count, t.sum_ms),
days AS (
    INSERT INTO belfry.tally_day AS t (scope, key, day, "end", bucket, count, sum_ms)
    SELECT scope, key, day, "end", bucket, -sum(count)::bigint, -sum(sum_ms)::bigint FROM gone
    GROUP BY scope, key, day, "end", bucket ORDER BY scope, key, day, "end", bucket
    ON CONFLICT (scope, key, day, "end", bucket)
    DO UPDATE SET count = t.count + excluded.count, sum_ms = t.sum_ms + excluded.sum_ms),
ends AS (
    INSERT INTO belfry.tally_end AS t (scope, key, day, "end", count, sum_ms)
    SELECT scope, key, day, "end", -sum(count)::bigint, -sum(sum_ms)::bigint FROM gone
    GROUP BY scope, key, day, "end" ORDER BY scope, key, day, "end"
    ON CONFLICT (scope, day, key, "end")
    DO UPDATE SET count = t.count + excluded.count, sum_ms = t.sum_ms + excluded.sum_ms)
DELETE FROM belfry.tally_delta t USING old o
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.tally_delta e
    WHERE e.scope = o.scope AND e.key = o.key AND e.hour = o.hour AND e."end" = o."end"
        AND e.bucket = o.bucket OFFSET 0) f
WHERE t.ctid = f.at;

-- name: forget_days
-- Behind that: sums of which nothing is left.
WITH old AS (
    SELECT n.scope, n.key, n.hour / 24 AS day, n."end", n.bucket
    FROM unnest({tally_key.arrays}) n ({tally_key.columns})),
ends AS (
    DELETE FROM belfry.tally_end t USING old o
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.tally_end e
        WHERE e.scope = o.scope AND e.day = o.day AND e.key = o.key AND e."end" = o."end"
            AND e.count <= 0 OFFSET 0) f
    WHERE t.ctid = f.at AND t.count <= 0)
DELETE FROM belfry.tally_day t USING old o
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.tally_day e
    WHERE e.scope = o.scope AND e.key = o.key AND e.day = o.day AND e."end" = o."end"
        AND e.bucket = o.bucket AND e.count <= 0 OFFSET 0) f
WHERE t.ctid = f.at AND t.count <= 0;

-- name: forget_execs
DELETE FROM belfry.history h WHERE h.id = ANY($1::bigint[])
    AND NOT EXISTS (SELECT 1 FROM belfry.old_week w
        WHERE w.week = (h.id >> 22) / {week_ms} OFFSET 0);

-- name: mark_forgotten
-- Behind $2 and up to $3 nothing is left but $4. A week goes on where the stretch before has ended;
-- one that has something left does not.
UPDATE belfry.old_week SET forgotten_id = $3::bigint
WHERE ($1::bigint >> partition) & 1 = 1 AND forgotten_id < $3::bigint
    AND (forgotten_id >= $2::bigint OR (week * {week_ms}) << 22 > $2::bigint)
    AND NOT EXISTS (SELECT 1 FROM unnest($4::bigint[]) stays (id)
        WHERE (stays.id >> 22) / {week_ms} = week);
