-- A database with a past, for measuring what lists and reports cost beside it:
--
--     psql -v rows=10000000 -v days=30 -f history.sql DATABASE
--
-- DATABASE has belfry's schema (`belfry migrate`) and nothing else. Nine tenths of the rows are jobs
-- that ran once; the rest are slots of 200 jobs that recur. One in a hundred failed and is a dead letter;
-- names, tags, owners, teams and queues are spread unevenly, as in life. Ids carry their time, as
-- base/id.h has it: milliseconds since 2020, ten bits of bucket, twelve of sequence.
\set ON_ERROR_STOP 1
SET synchronous_commit = off;
SET work_mem = '256MB';
SET search_path = belfry;

-- The weeks that have passed, which belfry.tend would have made when they were ahead: enough for 56 days.
DO $$
DECLARE
    width constant bigint := 604800000;
    week bigint := (belfry.now_ms() - 1577836800000) / width;
    parent text;
BEGIN
    FOR w IN week - 8 .. week - 1 LOOP
        FOREACH parent IN ARRAY ARRAY['history', 'attempt', 'chunk'] LOOP
            CONTINUE WHEN to_regclass('belfry.' || parent || '_w' || w) IS NOT NULL;
            EXECUTE format('CREATE TABLE belfry.%I PARTITION OF belfry.%I FOR VALUES FROM (%s) TO (%s)',
                parent || '_w' || w, parent, (w * width) << 22, ((w + 1) * width) << 22);
        END LOOP;
    END LOOP;
END $$;

CREATE TEMP TABLE past AS SELECT belfry.now_ms() AS now_ms;

CREATE FUNCTION pg_temp.queue_of(i bigint) RETURNS text LANGUAGE sql IMMUTABLE AS
$$SELECT CASE WHEN i % 7 < 5 THEN 'default' ELSE 'queue-' || (i % 23) END$$;

INSERT INTO job (id, created_ms, finished_ms, changed_ms, last_exec, first_exec, told, version, priority,
    state, name, queue, owner, team, tags, trail, spec, payload)
SELECT id, ms, 0, 0, id + 1, id + 1, 0, 1, 500, 1,
    CASE WHEN i % 100 = 1 THEN 'name-' || (i / 100 % 5000) END, pg_temp.queue_of(i),
    'owner-' || (i % 31), CASE WHEN i % 3 = 0 THEN 'team-' || (i % 11) ELSE '' END,
    CASE WHEN i % 10 = 1 THEN E'\nenv:prod\nteam:' || (i % 50) || E'\n' ELSE '' END,
    ms || E'\tcreate\tactive\tkey:admin\t\n',
    '{"command":["/bin/true"],"priority":500,"queue":"default","retry":{"max_retries":3,"policy":"exponential","delay":"1s","max_delay":"1h","jitter":0.3}}',
    ''
FROM (SELECT i, ms, ((ms - 1577836800000) << 22) | ((hashint8(i) & 1023) << 12) AS id
    FROM (SELECT i, now_ms - :days * 86400000::bigint + i * :days * 86400000::bigint / :rows AS ms
        FROM past, generate_series(1, :rows) i WHERE i % 10 <> 0) t) j;

-- Those that recur: two hundred jobs, older than everything else.
INSERT INTO job (id, created_ms, finished_ms, changed_ms, last_exec, first_exec, told, version, priority,
    state, name, queue, owner, team, tags, trail, spec, payload)
SELECT ((ms - 1577836800000) << 22) | (i << 12), ms, 0, 0, 0, 0, 0, 1, 500, 1, 'cron-' || i,
    'default', 'admin', '', '', ms || E'\tcreate\tactive\tkey:admin\t\n',
    '{"command":["/bin/true"],"priority":500,"queue":"default","schedule":{"cron":"* * * * *"}}', ''
FROM (SELECT i, now_ms - :days * 86400000::bigint - 1000 AS ms FROM past, generate_series(0, 199) i) t;

INSERT INTO history (id, job_id, slot_ms, created_ms, due_ms, ready_ms, started_ms, token, worker_id,
    finished_ms, attempts, priority, sla_marks, state, origin, first, late, effect_done, queue, error,
    trail, result, job_state, job_step, attempt_outcome, attempt_number, attempt_worker,
    attempt_started_ms, attempt_ended_ms)
SELECT last_exec, id, created_ms, created_ms, 0, created_ms, created_ms + 5, 1, 0, created_ms + 65, 1, 500,
    0, CASE WHEN ok THEN 6 ELSE 7 END, 0, true, false, false, queue,
    CASE WHEN ok THEN '' ELSE 'exit code 3' END,
    created_ms || E'\tcreate\tqueued\tkey:admin\t\n' || created_ms
        || E'\tlease\trunning\tserver\tleased to wrk_0s8ab3q7w0400\n' || created_ms
        || E'\tsucceed\tcompleted\tworker:wrk_0s8ab3q7w0400\t\n', '',
    CASE WHEN ok THEN 2 ELSE 3 END, created_ms || E'\tfinish\tcompleted\tworker:wrk_0s8ab3q7w0400\t\n',
    CASE WHEN ok THEN 1 ELSE 2 END, 1, 910091191117156352, created_ms + 5, created_ms + 65
FROM (SELECT *, hashint8(id) % 100 <> 0 AS ok FROM job WHERE last_exec <> 0) j;

INSERT INTO history (id, job_id, slot_ms, created_ms, due_ms, ready_ms, started_ms, token, worker_id,
    finished_ms, attempts, nominal_ms, priority, sla_marks, state, origin, first, late, effect_done, queue,
    error, trail, result, attempt_outcome, attempt_number, attempt_worker, attempt_started_ms,
    attempt_ended_ms)
SELECT ((ms - 1577836800000) << 22) | ((i / 10 % 200) << 12), job_id, ms, ms, 0, ms, ms + 5, 1, 0, ms + 65,
    1, ms, 500, 0, 6, 1, false, false, false, 'default', '',
    ms || E'\tcreate\tqueued\tserver\t\n' || ms
        || E'\tlease\trunning\tserver\tleased to wrk_0s8ab3q7w0400\n' || ms
        || E'\tsucceed\tcompleted\tworker:wrk_0s8ab3q7w0400\t\n', '', 1, 1, 910091191117156352,
    ms + 5, ms + 65
FROM (SELECT i, now_ms - :days * 86400000::bigint + i * :days * 86400000::bigint / :rows AS ms
    FROM past, generate_series(10, :rows, 10) i) t
JOIN (SELECT id AS job_id, substring(name FROM 6)::bigint AS n FROM job WHERE name LIKE 'cron-%') c
    ON c.n = i / 10 % 200;

INSERT INTO dead_letter (died_ms, exec_id, job_id, fingerprint, attempts, lost, state, reason, class, queue,
    name, owner, line, error)
SELECT finished_ms, id, job_id, hashint8(id) & 255, 1, 0, 7, 1, 1, queue, '', 'owner-1',
    'exit code N', error
FROM history WHERE state = 7;

INSERT INTO counter (partition, kind, state, value, queue)
SELECT 0, 2, state, count(*), queue FROM history GROUP BY state, queue
UNION ALL
SELECT 0, 1, CASE state WHEN 6 THEN 2 ELSE 3 END, count(*), queue FROM history WHERE first
GROUP BY state, queue
UNION ALL
SELECT 0, 3, 7, count(*), queue FROM dead_letter GROUP BY queue;

-- Sums by the hour: of everything (1), a queue (2), a job that recurs (3), an owner (4). Durations are spread over
-- some buckets, as in life; a failure is of a class. Then by the day.
INSERT INTO tally (hour, count, sum_ms, bucket, scope, "end", key)
SELECT hour, count(*), count(*) * 60, bucket,
    CASE grouping(queue, job_id, owner) WHEN 7 THEN 1 WHEN 3 THEN 2 WHEN 5 THEN 3 ELSE 4 END, state,
    coalesce(queue, belfry.id_text('job_', job_id), 'owner-' || owner, '')
FROM (SELECT finished_ms / 3600000 AS hour, state, queue, CASE WHEN NOT first THEN job_id END AS job_id,
        (id >> 22) % 31 AS owner, CASE WHEN state = 6 THEN 24 + (hashint8(id) & 15) ELSE 1 END AS bucket
    FROM history) h
GROUP BY GROUPING SETS ((hour, state, bucket), (hour, state, bucket, queue), (hour, state, bucket, job_id),
    (hour, state, bucket, owner))
HAVING grouping(job_id) = 1 OR job_id IS NOT NULL;

INSERT INTO tally_day (scope, key, day, "end", bucket, count, sum_ms)
SELECT scope, key, hour / 24, "end", bucket, sum(count), sum(sum_ms) FROM tally GROUP BY 1, 2, 3, 4, 5;

INSERT INTO tally_end (scope, key, day, "end", count)
SELECT scope, key, day, "end", sum(count) FROM tally_day GROUP BY 1, 2, 3, 4;

VACUUM ANALYZE;
