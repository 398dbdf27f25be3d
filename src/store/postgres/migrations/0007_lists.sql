-- What lists ask for by name and find seldom: each of these is over rows that are few beside those of a life
-- that went well, which writes nothing into any of them. Making them reads the history once.

-- Executions that did not end as they should: all but completed (6).
CREATE INDEX history_odd ON belfry.history (state, id) WHERE state <> 6;

-- Jobs that failed (3) or were cancelled (4): their end stands in an execution's row, or in their own. A job
-- whose own row is as it was made, active (1), is in neither index.
CREATE INDEX history_ended ON belfry.history (job_state, job_id) WHERE job_state IN (3, 4);
CREATE INDEX job_state ON belfry.job (state, id) WHERE state <> 1;

-- Dead letters, by what people look for. The key tells their kinds, too: groups are counted without the rows.
ALTER TABLE belfry.dead_letter DROP CONSTRAINT dead_letter_pkey;
ALTER TABLE belfry.dead_letter ADD PRIMARY KEY (died_ms, exec_id) INCLUDE (fingerprint);
CREATE INDEX dead_letter_queue ON belfry.dead_letter (queue, died_ms, exec_id);
CREATE INDEX dead_letter_job ON belfry.dead_letter (job_id, died_ms, exec_id);
CREATE INDEX dead_letter_print ON belfry.dead_letter (fingerprint, died_ms, exec_id);
CREATE INDEX dead_letter_name ON belfry.dead_letter (name, died_ms, exec_id) WHERE name <> '';

-- An id as the API spells it: the other way round than belfry.id_of.
CREATE FUNCTION belfry.id_text(prefix text, id bigint) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$SELECT prefix || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz',
    ((id >> (60 - 5 * place)) & 31)::integer + 1, 1), '' ORDER BY place)
FROM generate_series(0, 12) place$$;

-- How jobs that recur stand to their SLAs, by the hour (scope 6, enum tally_sla), of what has ended until now:
-- executions that completed (6), failed (7), timed out (8) or were deduplicated (13), and overruns. Who recurs
-- has numbers of its own (scope 3) already.
INSERT INTO belfry.tally (scope, key, hour, "end", bucket, count, sum_ms)
SELECT 6, belfry.id_text('job_', job_id), hour, "end", bucket, count(*), sum(ms)::bigint FROM (
    SELECT job_id, finished_ms / 3600000 AS hour, state AS "end",
        CASE WHEN sla_marks & 8 = 0 THEN 0 ELSE 1 END AS bucket,
        greatest(finished_ms - sla_since_ms, 0) AS ms
    FROM belfry.history WHERE sla_since_ms > 0 AND state IN (6, 7, 8, 13)
    UNION ALL
    SELECT job_id, at_ms / 3600000, 6, 2, greatest(actual_ms - max_ms, 0)
    FROM belfry.sla_event WHERE kind = 4) past
WHERE EXISTS (SELECT 1 FROM belfry.tally t
    WHERE t.scope = 3 AND t.key = belfry.id_text('job_', past.job_id))
GROUP BY job_id, hour, "end", bucket;
