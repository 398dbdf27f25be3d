-- Ownership that survives cuts, failovers and wrong clocks; plans that walk no dead rows.

-- ---- leases of servers that fell silent

-- What the server promises its workers: whoever takes over from it waits for these. 0: a server that
-- does not say.
ALTER TABLE belfry.node
    ADD COLUMN lease_ms bigint NOT NULL DEFAULT 0,
    ADD COLUMN grace_ms bigint NOT NULL DEFAULT 0,
    ADD COLUMN boot_id text NOT NULL DEFAULT '';

-- How long a lease of this partition that nobody has confirmed may still be alive somewhere, counted
-- from when the partition is loaded next: a duration, so it needs no clock.
ALTER TABLE belfry.partition ADD COLUMN unsure_ms bigint NOT NULL DEFAULT 0;

-- The machine's kernel that it was started under, and the worker that is dead for sure since it came.
ALTER TABLE belfry.worker
    ADD COLUMN boot_id text NOT NULL DEFAULT '',
    ADD COLUMN replaces bigint NOT NULL DEFAULT 0;

-- Inherited leases of this execution that ended in silence since it last reported an end; NULL: none. And
-- whether the newest has left its probation (engine/ready/silence.c).
ALTER TABLE belfry.live
    ADD COLUMN unseen bigint,
    ADD COLUMN proven boolean;

-- ---- marks of turns

-- Who the server is in table turn: its start, a slash, the writer. Empty: an older version, which forgets the
-- newest marks of others, so that nobody can rely on them.
ALTER TABLE belfry.node ADD COLUMN writer text NOT NULL DEFAULT '';

-- Tokens given in this partition are larger. It jumps when the database went back to an earlier state.
ALTER TABLE belfry.partition ADD COLUMN token_floor bigint NOT NULL DEFAULT 0;

-- ---- time

-- Which time the server goes by, at its newest renewal; 0: it does not know yet, or is too old to say.
ALTER TABLE belfry.node ADD COLUMN time_ms bigint NOT NULL DEFAULT 0;

-- The newest moment at which the clock was set by so much, or was so far from what the store had last seen,
-- that deletions wait behind it. One row.
CREATE TABLE belfry.clock (
    id bigint PRIMARY KEY CHECK (id = 1),
    at_ms bigint NOT NULL, -- by the clock as it went on
    by_ms bigint NOT NULL
);

-- ---- the inbox

-- ---- submissions

-- What every form of belfry.submit does with the text of the job.
CREATE FUNCTION belfry.put_submission(job text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = belfry, pg_temp AS $$
DECLARE
    of_team text;
    ticket bigint;
BEGIN
    SELECT s.team INTO of_team FROM belfry.submitter s WHERE s.role = session_user;
    IF NOT FOUND THEN
        RAISE insufficient_privilege USING MESSAGE = format('role %s may not submit jobs', session_user),
            HINT = format('SELECT belfry.admit_submitter(%L, ''TEAM'')', session_user);
    END IF;
    IF job IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'belfry.submit: the job must not be NULL';
    END IF;
    IF octet_length(job) > 33554432 THEN
        RAISE program_limit_exceeded USING MESSAGE = 'belfry.submit: a job has at most 32 MiB';
    END IF;
    INSERT INTO belfry.inbox (bucket, kind, sent_ms, name, actor, body)
    VALUES (floor(random() * 1024)::integer, 1, belfry.now_ms(), of_team, 'sql:' || session_user, job)
    RETURNING id INTO ticket;
    RETURN ticket;
END $$;

-- jsonb has lost what was written: the order of keys, spaces, the first of two equal keys, 1.0e2 for 100.
CREATE OR REPLACE FUNCTION belfry.submit(job jsonb) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = belfry, pg_temp AS $$
    SELECT belfry.put_submission(job::text)
$$;

-- Keeps the text, byte for byte.
CREATE FUNCTION belfry.submit(job json) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = belfry, pg_temp AS $$
    SELECT belfry.put_submission(job::text)
$$;

-- The same. A literal without a type has to find one of these forms, and between json and jsonb alone it could
-- not choose: of several functions PostgreSQL takes the one for text.
CREATE FUNCTION belfry.submit(job text) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = belfry, pg_temp AS $$
    SELECT belfry.put_submission(job::json::text)
$$;

REVOKE EXECUTE ON FUNCTION belfry.put_submission(text), belfry.submit(json), belfry.submit(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION belfry.admit_submitter(role text, team text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF team !~ '^[A-Za-z0-9_.:-]{1,200}$' THEN
        RAISE invalid_parameter_value USING MESSAGE = format('''%s'' is not the name of a team', team);
    END IF;
    INSERT INTO belfry.submitter (role, team) VALUES ($1, $2)
    ON CONFLICT ON CONSTRAINT submitter_pkey DO UPDATE SET team = excluded.team;
    EXECUTE format('GRANT USAGE ON SCHEMA belfry TO %I', role);
    EXECUTE format('GRANT EXECUTE ON FUNCTION belfry.submit(jsonb), belfry.submit(json), belfry.submit(text),
        belfry.cancel(text, text) TO %I', role);
END $$;

-- Those who were let in before.
DO $$
DECLARE
    admitted text;
BEGIN
    FOR admitted IN SELECT s.role FROM belfry.submitter s JOIN pg_roles r ON r.rolname = s.role LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION belfry.submit(json), belfry.submit(text) TO %I', admitted);
    END LOOP;
END $$;

-- ---- indexes

-- The newest of a job's executions first, without a look at those of others.
DROP INDEX belfry.live_job;
CREATE INDEX live_job ON belfry.live (job_id, id) WHERE NOT first;

-- What was not folded yet is asked for by what it is about, too.
CREATE INDEX tally_delta_key ON belfry.tally_delta (scope, key, hour);

-- OFFSET 0 as in queries.sql: what one row names is looked up by its key, whatever the planner thinks of the
-- other table's size.
CREATE OR REPLACE VIEW belfry.job_full AS
SELECT j.id, j.version, coalesce(h.job_state, j.state) AS state, j.name, j.queue, j.owner, j.team,
    j.tags, j.priority, j.created_ms, coalesce(h.finished_ms, j.finished_ms) AS finished_ms,
    j.changed_ms, j.last_exec, j.spec, j.payload, j.trail || coalesce(h.job_step, '') AS trail
FROM belfry.job j
LEFT JOIN LATERAL (SELECT e.job_state, e.finished_ms, e.job_step FROM belfry.history e
    WHERE e.id = j.last_exec AND e.job_state IS NOT NULL AND j.last_exec <> j.told OFFSET 0) h ON true;

-- Views of their own, since live_row and history_row are asked for all of their columns, by place, by servers of the
-- version before, which may be at work until the last of them is replaced.
CREATE VIEW belfry.live_rec AS
SELECT id, job_id, queue, priority, coalesce(retry_of, 0) AS retry_of, first, origin, slot_ms,
    coalesce(nominal_ms, 0) AS nominal_ms, created_ms, state, due_ms, ready_ms, started_ms,
    coalesce(attempts, 0) AS attempts, coalesce(lost, 0) AS lost, coalesce(returned, 0) AS returned,
    late, coalesce(sla_since_ms, 0) AS sla_since_ms, coalesce(sla_extra_ms, 0) AS sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, 0::bigint AS finished_ms,
    0::bigint AS slot_last_ms, 0::bigint AS slot_count,
    CASE WHEN coalesce(retry_of, 0) = 0 THEN false
    ELSE EXISTS (SELECT 1 FROM belfry.exec_payload p WHERE p.exec_id = live.id OFFSET 0) END AS own_payload,
    coalesce(unseen, 0) AS unseen, coalesce(proven, false) AS proven
FROM belfry.live;

CREATE VIEW belfry.history_rec AS
SELECT id, job_id, queue, priority, coalesce(retry_of, 0) AS retry_of, first, origin, slot_ms,
    coalesce(nominal_ms, 0) AS nominal_ms, created_ms, state, due_ms, ready_ms, started_ms,
    coalesce(attempts, 0) AS attempts, coalesce(lost, 0) AS lost, coalesce(returned, 0) AS returned,
    late, coalesce(sla_since_ms, 0) AS sla_since_ms, coalesce(sla_extra_ms, 0) AS sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, finished_ms,
    coalesce(slot_last_ms, 0) AS slot_last_ms, coalesce(slot_count, 0) AS slot_count,
    CASE WHEN coalesce(retry_of, 0) = 0 THEN false
    ELSE EXISTS (SELECT 1 FROM belfry.exec_payload p WHERE p.exec_id = history.id OFFSET 0) END AS own_payload,
    0::bigint AS unseen, false AS proven
FROM belfry.history;
