-- The past of history.sql in a SQLite store, statement by statement, with :rows, :days and :now_ms; routes.py
-- runs it. The file is one that a server has made (and left), and is empty otherwise. Its triggers on tally are
-- away meanwhile, since the sums by the day are made at once.
CREATE TEMP TABLE past AS
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows)
SELECT i, :now_ms - :days * 86400000 + i * (:days * 86400000) / :rows AS ms,
    (i * 2654435761 >> 8) & 1023 AS bucket
FROM n;

-- Two hundred jobs that recur, older than everything else.
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199),
t AS (SELECT i, :now_ms - :days * 86400000 - 1000 AS ms FROM n)
INSERT INTO job (id, created_ms, finished_ms, changed_ms, last_exec, first_exec, told, version, priority,
    state, name, queue, owner, team, tags, trail, spec, payload)
SELECT ((ms - 1577836800000) << 22) | (i << 12), ms, 0, 0, 0, 0, 0, 1, 500, 1, 'cron-' || i,
    'default', 'admin', '', '', ms || char(9) || 'create' || char(9) || 'active' || char(9) || 'key:admin' || char(9, 10),
    '{"command":["/bin/true"],"priority":500,"queue":"default","schedule":{"cron":"* * * * *"}}', ''
FROM t;

CREATE TEMP TABLE recurring AS
SELECT id AS job_id, CAST(substr(name, 6) AS INTEGER) AS n FROM job WHERE name LIKE 'cron-%';
CREATE UNIQUE INDEX temp.recurring_n ON recurring (n, job_id);

-- Jobs that ran once: nine tenths of the rows.
INSERT INTO job (id, created_ms, finished_ms, changed_ms, last_exec, first_exec, told, version, priority,
    state, name, queue, owner, team, tags, trail, spec, payload)
SELECT ((ms - 1577836800000) << 22) | (bucket << 12), ms, 0, 0,
    ((ms - 1577836800000) << 22 | (bucket << 12)) + 1, ((ms - 1577836800000) << 22 | (bucket << 12)) + 1,
    0, 1, 500, 1,
    CASE WHEN i % 100 = 1 THEN 'name-' || (i / 100 % 5000) END,
    CASE WHEN i % 7 < 5 THEN 'default' ELSE 'queue-' || (i % 23) END,
    'owner-' || (i % 31), CASE WHEN i % 3 = 0 THEN 'team-' || (i % 11) ELSE '' END,
    CASE WHEN i % 10 = 1 THEN char(10) || 'env:prod' || char(10) || 'team:' || (i % 50) || char(10) ELSE '' END,
    ms || char(9) || 'create' || char(9) || 'active' || char(9) || 'key:admin' || char(9, 10),
    '{"command":["/bin/true"],"priority":500,"queue":"default","retry":{"max_retries":3,"policy":"exponential","delay":"1s","max_delay":"1h","jitter":0.3}}',
    ''
FROM past WHERE i % 10 <> 0;

-- One in a hundred failed.
INSERT INTO history (id, job_id, slot_ms, created_ms, due_ms, ready_ms, started_ms, token, worker_id,
    finished_ms, attempts, lost, retry_of, priority, state, first, queue, error, trail, result, job_state,
    job_step, attempt_outcome, attempt_number, attempt_worker, attempt_started_ms, attempt_ended_ms)
SELECT last_exec, id, created_ms, created_ms, 0, created_ms, created_ms + 5, 1, 0, created_ms + 65, 1, 0, 0,
    500, CASE WHEN ok THEN 6 ELSE 7 END, 1, queue, CASE WHEN ok THEN '' ELSE 'exit code 3' END,
    created_ms || char(9) || 'create' || char(9) || 'queued' || char(9) || 'key:admin' || char(9, 10) || created_ms
        || char(9) || 'lease' || char(9) || 'running' || char(9) || 'server' || char(9) || 'leased to wrk_0s8ab3q7w0400'
        || char(10) || created_ms || char(9) || 'succeed' || char(9) || 'completed' || char(9)
        || 'worker:wrk_0s8ab3q7w0400' || char(9, 10), '',
    CASE WHEN ok THEN 2 ELSE 3 END,
    created_ms || char(9) || 'finish' || char(9) || 'completed' || char(9) || 'worker:wrk_0s8ab3q7w0400' || char(9, 10),
    CASE WHEN ok THEN 1 ELSE 2 END, 1, 910091191117156352, created_ms + 5, created_ms + 65
FROM (SELECT *, (id >> 12) % 100 <> 0 AS ok FROM job WHERE last_exec <> 0);

-- Slots of those that recur.
INSERT INTO history (id, job_id, slot_ms, created_ms, due_ms, ready_ms, started_ms, token, worker_id,
    finished_ms, attempts, lost, retry_of, nominal_ms, priority, state, origin, first, queue, error, trail,
    result, attempt_outcome, attempt_number, attempt_worker, attempt_started_ms, attempt_ended_ms)
SELECT ((ms - 1577836800000) << 22) | ((i / 10 % 200) << 12), job_id, ms, ms, 0, ms, ms + 5, 1, 0, ms + 65,
    1, 0, 0, ms, 500, 6, 1, 0, 'default', '',
    ms || char(9) || 'create' || char(9) || 'queued' || char(9) || 'server' || char(9, 10)
        || ms || char(9) || 'lease' || char(9) || 'running' || char(9) || 'server' || char(9)
        || 'leased to wrk_0s8ab3q7w0400' || char(10)
        || ms || char(9) || 'succeed' || char(9) || 'completed' || char(9) || 'worker:wrk_0s8ab3q7w0400' || char(9, 10),
    '', 1, 1, 910091191117156352, ms + 5, ms + 65
FROM past JOIN recurring ON n = i / 10 % 200 WHERE i % 10 = 0;

INSERT INTO dead_letter (died_ms, exec_id, job_id, fingerprint, attempts, lost, state, reason, class, queue,
    name, owner, line, error)
SELECT finished_ms, id, job_id, (id >> 22) & 255, 1, 0, 7, 1, 1, queue, '', 'owner-1', 'exit code N', error
FROM history WHERE state = 7;

INSERT INTO counter (kind, state, value, queue)
SELECT 2, state, count(*), queue FROM history GROUP BY state, queue
UNION ALL
SELECT 1, CASE state WHEN 6 THEN 2 ELSE 3 END, count(*), queue FROM history WHERE first GROUP BY state, queue
UNION ALL
SELECT 3, 7, count(*), queue FROM dead_letter GROUP BY queue;

-- Sums by the hour: of everything (1), a queue (2), a job that recurs (3), an owner (4).
CREATE TEMP TABLE ended AS
SELECT finished_ms / 3600000 AS hour, state, queue, CASE WHEN NOT first THEN job_id END AS job_id,
    (id >> 22) % 31 AS owner, CASE WHEN state = 6 THEN 24 + ((id >> 24) & 15) ELSE 1 END AS bucket,
    count(*) AS count
FROM history GROUP BY 1, 2, 3, 4, 5, 6;

INSERT INTO tally (scope, key, hour, end, bucket, count, sum_ms)
SELECT 1, '', hour, state, bucket, sum(count), sum(count) * 60 FROM ended GROUP BY hour, state, bucket;

INSERT INTO tally (scope, key, hour, end, bucket, count, sum_ms)
SELECT 2, queue, hour, state, bucket, sum(count), sum(count) * 60 FROM ended GROUP BY queue, hour, state, bucket;

INSERT INTO tally (scope, key, hour, end, bucket, count, sum_ms)
SELECT 3, id_text('job_', job_id), hour, state, bucket, sum(count), sum(count) * 60 FROM ended
WHERE job_id IS NOT NULL GROUP BY job_id, hour, state, bucket;

INSERT INTO tally (scope, key, hour, end, bucket, count, sum_ms)
SELECT 4, 'owner-' || owner, hour, state, bucket, sum(count), sum(count) * 60 FROM ended
GROUP BY owner, hour, state, bucket;

INSERT INTO tally_day (scope, key, day, end, bucket, count, sum_ms)
SELECT scope, key, hour / 24, end, bucket, sum(count), sum(sum_ms) FROM tally GROUP BY 1, 2, 3, 4, 5;

INSERT INTO tally_end (scope, key, day, end, count)
SELECT scope, key, day, end, sum(count) FROM tally_day GROUP BY 1, 2, 3, 4;
