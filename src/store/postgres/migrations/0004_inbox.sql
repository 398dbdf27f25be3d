-- What partitions tell each other, what they keep for one another, and how a user's own transaction submits
-- jobs.
--
-- A row is written in its sender's commit and deleted in the commit of the owner that acts upon it. It is
-- found by xid: whoever reads keeps the snapshot of the last time, and looks only at rows of transactions
-- that were not over then (xid in the snapshot's list, or at or behind its xmax). So a row that commits days
-- after one with a higher number is found, and what was read and deleted since is never looked at again,
-- however long somebody holds back vacuum. A snapshot is of one server of the database: after a new
-- connection the first read looks at everything.
CREATE TABLE belfry.inbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    sent_ms bigint NOT NULL,
    about bigint NOT NULL DEFAULT 0,
    sender bigint NOT NULL DEFAULT 0,
    value bigint NOT NULL DEFAULT 0,
    number bigint NOT NULL DEFAULT 0,
    bucket integer NOT NULL, -- whose partition's owner reads it
    kind smallint NOT NULL,  -- enum inbox_kind
    name text NOT NULL,
    actor text NOT NULL DEFAULT '',
    body text NOT NULL DEFAULT ''
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.0,
    autovacuum_analyze_threshold = 100000, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX inbox_xid ON belfry.inbox (xid);

CREATE TABLE belfry.waiter (
    upstream bigint NOT NULL, -- its partition is the row's
    exec_id bigint NOT NULL,
    dependant bigint NOT NULL,
    slot_ms bigint NOT NULL,
    type smallint NOT NULL,   -- enum dependency_type
    PRIMARY KEY (upstream, exec_id)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.02);

CREATE TABLE belfry.permit (
    exec_id bigint NOT NULL,
    max bigint NOT NULL,
    rank bigint NOT NULL,
    ask bigint NOT NULL,
    asked_ms bigint NOT NULL,
    bucket integer NOT NULL, -- its partition is the row's
    granted boolean NOT NULL,
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (key, exec_id)
) WITH (fillfactor = 70, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0);

CREATE TABLE belfry.rejected (
    id bigint PRIMARY KEY,
    at_ms bigint NOT NULL,
    inbox_id bigint NOT NULL,
    team text NOT NULL,
    actor text NOT NULL,
    reason text NOT NULL,
    head text NOT NULL
);

-- ---- for users

-- Which roles may submit, and for which team: the role that is logged in decides, whatever the document or
-- SET ROLE say.
CREATE TABLE belfry.submitter (
    role text COLLATE "C" PRIMARY KEY,
    team text COLLATE "C" NOT NULL
);

-- Puts a job, as POST /api/v1/jobs takes it, into the inbox of a partition. It exists if and only if the
-- caller's transaction commits; a server makes it within a second or so. Returns a number by which a
-- submission that was rejected can be known again.
CREATE FUNCTION belfry.submit(job jsonb) RETURNS bigint
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
    IF octet_length(job::text) > 33554432 THEN
        RAISE program_limit_exceeded USING MESSAGE = 'belfry.submit: a job has at most 32 MiB';
    END IF;
    INSERT INTO belfry.inbox (bucket, kind, sent_ms, name, actor, body)
    VALUES (floor(random() * 1024)::integer, 1, belfry.now_ms(), of_team, 'sql:' || session_user, job::text)
    RETURNING id INTO ticket;
    RETURN ticket;
END $$;

-- The number in an id as the API spells it: 13 digits of Crockford's base 32 (base/id.h).
CREATE FUNCTION belfry.id_of(prefix text, id text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    result bigint := 0;
BEGIN
    IF id !~ ('^' || prefix || '[0-7][0-9abcdefghjkmnpqrstvwxyz]{12}$') THEN
        RAISE invalid_text_representation USING MESSAGE =
            format('''%s'' is not an id: expected %s and 13 digits', left(id, 64), prefix);
    END IF;
    FOR i IN 1 .. 13 LOOP
        result := (result << 5)
            | (strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, length(prefix) + i, 1)) - 1);
    END LOOP;
    RETURN result;
END $$;

-- Cancels a job of the role's team, when the caller's transaction commits.
CREATE FUNCTION belfry.cancel(job text, reason text DEFAULT '') RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = belfry, pg_temp AS $$
DECLARE
    of_team text;
    job_id bigint := belfry.id_of('job_', job);
    ticket bigint;
BEGIN
    SELECT s.team INTO of_team FROM belfry.submitter s WHERE s.role = session_user;
    IF NOT FOUND THEN
        RAISE insufficient_privilege USING MESSAGE = format('role %s may not cancel jobs', session_user),
            HINT = format('SELECT belfry.admit_submitter(%L, ''TEAM'')', session_user);
    END IF;
    IF job_id IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'belfry.cancel: the job must not be NULL';
    END IF;
    INSERT INTO belfry.inbox (bucket, kind, sent_ms, about, name, actor, body)
    VALUES (((job_id >> 12) & 1023)::integer, 2, belfry.now_ms(), job_id, of_team, 'sql:' || session_user,
        left(coalesce(reason, ''), 1000))
    RETURNING id INTO ticket;
    RETURN ticket;
END $$;

REVOKE EXECUTE ON FUNCTION belfry.submit(jsonb) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION belfry.cancel(text, text) FROM PUBLIC;

-- Lets a role submit and cancel jobs of a team, and nothing else: it reads no table of belfry's. For whoever
-- owns the schema.
CREATE FUNCTION belfry.admit_submitter(role text, team text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF team !~ '^[A-Za-z0-9_.:-]{1,200}$' THEN
        RAISE invalid_parameter_value USING MESSAGE = format('''%s'' is not the name of a team', team);
    END IF;
    INSERT INTO belfry.submitter (role, team) VALUES ($1, $2)
    ON CONFLICT ON CONSTRAINT submitter_pkey DO UPDATE SET team = excluded.team;
    EXECUTE format('GRANT USAGE ON SCHEMA belfry TO %I', role);
    EXECUTE format('GRANT EXECUTE ON FUNCTION belfry.submit(jsonb) TO %I', role);
    EXECUTE format('GRANT EXECUTE ON FUNCTION belfry.cancel(text, text) TO %I', role);
END $$;

REVOKE EXECUTE ON FUNCTION belfry.admit_submitter(text, text) FROM PUBLIC;
