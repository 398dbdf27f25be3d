-- What lists ask for by name and find seldom: each of these is over rows that are few beside those of a
-- life that went well, which writes nothing into any of them. An id stands behind every key by itself.

-- Executions that did not end as they should: all but completed (6).
CREATE INDEX history_odd ON history (state) WHERE state <> 6;

-- Jobs that failed (3) or were cancelled (4): their end stands in an execution's row, or in their own.
-- A job whose own row is as it was made, active (1), is in neither index.
CREATE INDEX history_ended ON history (job_state, job_id) WHERE job_state IN (3, 4);
CREATE INDEX job_state ON job (state) WHERE state <> 1;

-- Dead letters, by what people look for.
CREATE INDEX dead_letter_queue ON dead_letter (queue, died_ms, exec_id);
CREATE INDEX dead_letter_job ON dead_letter (job_id, died_ms, exec_id);
CREATE INDEX dead_letter_print ON dead_letter (fingerprint, died_ms, exec_id);
CREATE INDEX dead_letter_died ON dead_letter (died_ms, exec_id, fingerprint); -- for groups, without the rows
CREATE INDEX dead_letter_name ON dead_letter (name, died_ms, exec_id) WHERE name <> '';

-- How jobs that recur stand to their SLAs, by the hour (scope 6, enum tally_sla), of what has ended
-- until now: executions that completed (6), failed (7), timed out (8) or were deduplicated (13), and
-- overruns. Who recurs has numbers of its own (scope 3) already, under its id as the API spells it: 13
-- digits of five bits.
WITH past AS (
    SELECT job_id, finished_ms / 3600000 AS hour, state AS end,
        iif(sla_marks & 8, 1, 0) AS bucket, max(finished_ms - sla_since_ms, 0) AS ms
    FROM history WHERE sla_since_ms > 0 AND state IN (6, 7, 8, 13)
    UNION ALL
    SELECT job_id, at_ms / 3600000, 6, 2, max(actual_ms - max_ms, 0) FROM sla_event WHERE kind = 4),
named AS MATERIALIZED (
    SELECT id, 'job_' || substr(d, ((id >> 60) & 31) + 1, 1) ||
    substr(d, ((id >> 55) & 31) + 1, 1) ||
    substr(d, ((id >> 50) & 31) + 1, 1) ||
    substr(d, ((id >> 45) & 31) + 1, 1) ||
    substr(d, ((id >> 40) & 31) + 1, 1) ||
    substr(d, ((id >> 35) & 31) + 1, 1) ||
    substr(d, ((id >> 30) & 31) + 1, 1) ||
    substr(d, ((id >> 25) & 31) + 1, 1) ||
    substr(d, ((id >> 20) & 31) + 1, 1) ||
    substr(d, ((id >> 15) & 31) + 1, 1) ||
    substr(d, ((id >> 10) & 31) + 1, 1) ||
    substr(d, ((id >> 5) & 31) + 1, 1) ||
    substr(d, ((id >> 0) & 31) + 1, 1) AS key
    FROM (SELECT DISTINCT job_id AS id FROM past), (SELECT '0123456789abcdefghjkmnpqrstvwxyz' AS d))
INSERT INTO tally (scope, key, hour, end, bucket, count, sum_ms)
SELECT 6, n.key, p.hour, p.end, p.bucket, count(*), sum(p.ms)
FROM past p JOIN named n ON n.id = p.job_id
WHERE EXISTS (SELECT 1 FROM tally t WHERE t.scope = 3 AND t.key = n.key)
GROUP BY n.key, p.hour, p.end, p.bucket;

PRAGMA user_version = 22;
