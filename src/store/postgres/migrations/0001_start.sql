-- The first shape of schema belfry: what migrations 1 to 17 of the SQLite store arrive at, cut for
-- PostgreSQL. Forward only: once released, this file never changes. It is run in one transaction, under
-- the lock of `belfry migrate`; the schema itself and table meta are there already.
--
-- Times are milliseconds since 1970, states are the numbers of job/state.h. Wide columns stand first,
-- so that rows need no padding. Text that is compared or sorted is so by its bytes (COLLATE "C"). Text is
-- kept byte for byte, also what is no UTF-8: see text.h.

INSERT INTO belfry.meta (key, value) VALUES
    ('store_id', replace(gen_random_uuid()::text, '-', '')), -- names this store for ever
    ('settings_version', '1'),                               -- of queues, teams, calendars and keys
    ('tended_ms', '0');                                      -- when belfry.tend did something last

-- ---- who decides

CREATE TABLE belfry.partition (
    id integer PRIMARY KEY,
    epoch bigint NOT NULL DEFAULT 0,      -- grows with every owner
    owner text NOT NULL DEFAULT '',       -- start of a node; empty: free
    former text NOT NULL DEFAULT '',      -- who had it before
    since_ms bigint NOT NULL DEFAULT 0,
    turn bigint NOT NULL DEFAULT 0,       -- floors, as they were when it was taken; what came since
    newest_id bigint NOT NULL DEFAULT 0,  -- is in table turn
    drift_ms bigint NOT NULL DEFAULT 0,   -- how far an id's own time ever was from its row's created_ms
    settled bigint NOT NULL DEFAULT 0     -- commits whose outcome had to be asked for
) WITH (fillfactor = 50);

-- The mark that each commit leaves, and that settle looks for. Numbers are cumulative: the newest row
-- of a writer knows all that its older ones knew, so these are deleted now and then. The check is how a
-- commit fails whose owner was deposed: it inserts `fenced` as false.
CREATE TABLE belfry.turn (
    writer text COLLATE "C" NOT NULL, -- a name that each connection of a turn thread gives itself
    turn bigint NOT NULL,
    try bigint NOT NULL,        -- which one of the tries to commit a turn of this number
    newest_id bigint NOT NULL,
    drift_ms bigint NOT NULL,
    epoch bigint NOT NULL,      -- of partition, the lowest that it owned: with another one of that the row is
    partition integer NOT NULL, -- of no use any more
    kept boolean NOT NULL,      -- false: settle called it lost, and this row keeps it so
    fenced boolean NOT NULL,
    PRIMARY KEY (writer, turn, try),
    CONSTRAINT turn_fenced CHECK (fenced)
) WITH (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.0,
    autovacuum_analyze_threshold = 100000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE belfry.node (
    name text COLLATE "C" PRIMARY KEY,
    start text NOT NULL,
    address text NOT NULL,
    version text NOT NULL,
    draining boolean NOT NULL,
    started_ms bigint NOT NULL,
    seen_ms bigint NOT NULL,
    clock_ms bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0.0);

-- ---- jobs and executions

-- Large texts are kept apart and compressed by PostgreSQL itself, and stay where they are when the rest of
-- the row changes.
CREATE TABLE belfry.job (
    id bigint PRIMARY KEY,
    created_ms bigint NOT NULL,
    finished_ms bigint NOT NULL,
    changed_ms bigint NOT NULL,
    last_exec bigint NOT NULL,
    first_exec bigint NOT NULL, -- made with the job: found by this number, and in no index by job
    told bigint NOT NULL,       -- the execution whose words about this job's end are in this row
    version bigint NOT NULL,
    priority integer NOT NULL,
    state smallint NOT NULL,
    name text COLLATE "C",      -- NULL: nobody gave one
    queue text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    team text COLLATE "C" NOT NULL,
    tags text COLLATE "C" NOT NULL,
    trail text NOT NULL,
    spec text NOT NULL,
    payload text NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.2);

CREATE INDEX job_name ON belfry.job (name, id) WHERE name IS NOT NULL;

-- One narrow row per unfinished execution, reached by key. An update leaves all indexed columns as they
-- are, so PostgreSQL writes the new row beside the old one and no index (HOT): wait_ms is there because
-- an index on state or due_ms would spoil that. More than half of each page is left free for it, since the
-- new row has a longer trail.
CREATE TABLE belfry.live (
    id bigint PRIMARY KEY,
    job_id bigint NOT NULL,
    slot_ms bigint NOT NULL,
    created_ms bigint NOT NULL,
    due_ms bigint NOT NULL,
    ready_ms bigint NOT NULL,
    started_ms bigint NOT NULL,
    token bigint NOT NULL,
    worker_id bigint NOT NULL,
    wait_ms bigint,      -- due_ms while it waits for a moment (scheduled 1, retrying 5), else NULL
    retry_of bigint,     -- NULL in these: 0, which most rows have
    nominal_ms bigint,
    sla_since_ms bigint,
    sla_extra_ms bigint,
    attempts bigint,
    lost bigint,
    returned bigint,
    priority integer NOT NULL,
    sla_marks smallint NOT NULL,
    state smallint NOT NULL,
    origin smallint NOT NULL,
    first boolean NOT NULL,
    late boolean NOT NULL,
    effect_done boolean NOT NULL,
    queue text COLLATE "C" NOT NULL,
    error text NOT NULL,
    trail text NOT NULL
) WITH (fillfactor = 40, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_threshold = 20000,
    autovacuum_analyze_scale_factor = 0.1);

CREATE INDEX live_job ON belfry.live (job_id) WHERE NOT first;
CREATE INDEX live_wait ON belfry.live (wait_ms, id) WHERE wait_ms IS NOT NULL;

-- What is over. Only ever appended to, and cut by the time in the ids: see belfry.tend.
CREATE TABLE belfry.history (
    id bigint NOT NULL,
    job_id bigint NOT NULL,
    slot_ms bigint NOT NULL,
    created_ms bigint NOT NULL,
    due_ms bigint NOT NULL,
    ready_ms bigint NOT NULL,
    started_ms bigint NOT NULL,
    token bigint NOT NULL,
    worker_id bigint NOT NULL,
    finished_ms bigint NOT NULL,
    retry_of bigint,
    nominal_ms bigint,
    sla_since_ms bigint,
    sla_extra_ms bigint,
    attempts bigint,
    lost bigint,
    returned bigint,
    slot_last_ms bigint,
    slot_count bigint,
    -- The attempt that ended with the execution, under its token; all but this one are in table attempt.
    -- NULL as outcome: there was none. NULL as usage: a handler's, which knows nothing; NULL as error:
    -- the execution's own.
    attempt_worker bigint,
    attempt_started_ms bigint,
    attempt_ended_ms bigint,
    attempt_fingerprint bigint,
    attempt_number bigint,
    priority integer NOT NULL,
    attempt_outcome smallint,
    attempt_class smallint,
    -- How the job ended, when it ended with its newest execution. NULL: the job's own row says it. They
    -- count until the job's row is written again; that then names the execution in `told`.
    job_state smallint,
    sla_marks smallint NOT NULL,
    state smallint NOT NULL,
    origin smallint NOT NULL,
    first boolean NOT NULL,
    late boolean NOT NULL,
    effect_done boolean NOT NULL,
    queue text COLLATE "C" NOT NULL,
    error text NOT NULL,
    trail text NOT NULL,
    result text NOT NULL,
    job_step text,
    attempt_usage text,
    attempt_error text,
    attempt_tail text,
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);

CREATE INDEX history_job ON belfry.history (job_id, id) INCLUDE (state) WHERE NOT first;

CREATE TABLE belfry.attempt (
    exec_id bigint NOT NULL,
    token bigint NOT NULL,
    number bigint NOT NULL,
    worker_id bigint NOT NULL,
    started_ms bigint NOT NULL,
    ended_ms bigint NOT NULL,
    cpu_ms bigint NOT NULL,
    peak_memory_bytes bigint NOT NULL,
    output_bytes bigint NOT NULL,
    dropped_bytes bigint NOT NULL,
    log_seq bigint NOT NULL,
    fingerprint bigint NOT NULL,
    exit_code integer NOT NULL,
    signal integer NOT NULL,
    outcome smallint NOT NULL,
    class smallint NOT NULL,
    error text NOT NULL,
    tail text NOT NULL,
    PRIMARY KEY (exec_id, token)
) PARTITION BY RANGE (exec_id);

-- A late finish, or a plan of years, never fails for want of a partition.
CREATE TABLE belfry.history_default PARTITION OF belfry.history DEFAULT;
CREATE TABLE belfry.attempt_default PARTITION OF belfry.attempt DEFAULT;

CREATE TABLE belfry.dependency (
    dependant bigint NOT NULL, -- job ids
    upstream bigint NOT NULL,
    type smallint NOT NULL,
    state smallint NOT NULL,
    PRIMARY KEY (dependant, upstream)
);

CREATE INDEX dependency_upstream ON belfry.dependency (upstream, dependant);
CREATE INDEX dependency_waiting ON belfry.dependency (dependant, upstream) WHERE state IN (1, 5);

-- Keys that are unique while their holder lives, for all servers.
CREATE TABLE belfry.claim (
    kind smallint NOT NULL,
    key text COLLATE "C" NOT NULL,
    holder bigint NOT NULL,
    until_ms bigint NOT NULL, -- 0: until it is released
    note text NOT NULL,
    PRIMARY KEY (kind, key)
) WITH (fillfactor = 80, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX claim_until ON belfry.claim (until_ms) WHERE until_ms > 0;

CREATE TABLE belfry.dead_letter (
    died_ms bigint NOT NULL,
    exec_id bigint NOT NULL,
    job_id bigint NOT NULL,
    fingerprint bigint NOT NULL,
    attempts bigint NOT NULL,
    lost bigint NOT NULL,
    state smallint NOT NULL,
    reason smallint NOT NULL,
    class smallint NOT NULL,
    queue text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL, -- of the job; empty: none
    owner text COLLATE "C" NOT NULL,
    line text NOT NULL,
    error text NOT NULL,
    PRIMARY KEY (died_ms, exec_id)
);

CREATE UNIQUE INDEX dead_letter_exec ON belfry.dead_letter (exec_id);

CREATE TABLE belfry.operation (
    id bigint PRIMARY KEY,
    fingerprint bigint NOT NULL,
    job_id bigint NOT NULL,
    died_after_ms bigint NOT NULL,
    died_before_ms bigint NOT NULL,
    created_ms bigint NOT NULL,
    finished_ms bigint NOT NULL,
    total bigint NOT NULL,
    done bigint NOT NULL,
    refused bigint NOT NULL,
    at_ms bigint NOT NULL,
    at_id bigint NOT NULL,
    kind smallint NOT NULL,
    state smallint NOT NULL,
    class smallint NOT NULL,
    queue text NOT NULL,
    name text NOT NULL,
    actor text NOT NULL,
    refusal text NOT NULL
);

CREATE TABLE belfry.alert (
    id bigint PRIMARY KEY,
    at_ms bigint NOT NULL,
    job_id bigint NOT NULL,
    exec_id bigint NOT NULL,
    repeats bigint NOT NULL,
    kind smallint NOT NULL,
    level smallint NOT NULL,
    state smallint NOT NULL,
    key text NOT NULL,
    text text NOT NULL,
    queue text NOT NULL
);

CREATE INDEX alert_pending ON belfry.alert (id) WHERE state = 2;

CREATE TABLE belfry.sla_event (
    id bigint PRIMARY KEY,
    at_ms bigint NOT NULL,
    exec_id bigint NOT NULL,
    job_id bigint NOT NULL,
    expected_ms bigint NOT NULL,
    max_ms bigint NOT NULL,
    actual_ms bigint NOT NULL,
    extended_ms bigint NOT NULL,
    attempt bigint NOT NULL,
    kind smallint NOT NULL,
    policy smallint NOT NULL,
    queue text NOT NULL,
    actor text NOT NULL,
    reason text NOT NULL,
    approver text NOT NULL
);

CREATE INDEX sla_event_of_job ON belfry.sla_event (job_id, id);
CREATE INDEX sla_event_of_exec ON belfry.sla_event (exec_id, id);

-- ---- what is known about workers, queues and the rest

CREATE TABLE belfry.worker (
    id bigint PRIMARY KEY,
    registered_ms bigint NOT NULL,
    slots bigint NOT NULL,
    runs_commands boolean NOT NULL,
    draining boolean NOT NULL,
    name text NOT NULL,
    queues text NOT NULL,
    handlers text NOT NULL
);

CREATE TABLE belfry.queue (
    name text COLLATE "C" PRIMARY KEY,
    concurrency bigint NOT NULL,
    paused boolean NOT NULL,
    paused_ms bigint NOT NULL,
    paused_by text NOT NULL,
    changed_ms bigint NOT NULL,
    changed_by text NOT NULL
);

CREATE TABLE belfry.team (
    name text COLLATE "C" PRIMARY KEY,
    concurrency bigint NOT NULL,
    changed_ms bigint NOT NULL,
    changed_by text NOT NULL
);

CREATE TABLE belfry.rate (
    key text COLLATE "C" PRIMARY KEY,
    next_us bigint NOT NULL,
    interval_us bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.1);

-- Each server sees its own calls: the row is that of its lowest partition.
CREATE TABLE belfry.breaker (
    partition integer NOT NULL,
    target text COLLATE "C" NOT NULL,
    state smallint NOT NULL,
    opened_ms bigint NOT NULL,
    until_ms bigint NOT NULL,
    probe bigint NOT NULL,
    PRIMARY KEY (partition, target)
);

CREATE TABLE belfry.calendar (
    name text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    policy smallint NOT NULL,
    entry_count bigint NOT NULL,
    changed_ms bigint NOT NULL,
    changed_by text NOT NULL,
    document text NOT NULL
);

CREATE TABLE belfry.calendar_use (
    calendar text COLLATE "C" NOT NULL,
    job_id bigint NOT NULL,
    PRIMARY KEY (calendar, job_id)
);

CREATE TABLE belfry.api_key (
    id bigint PRIMARY KEY,
    name text NOT NULL,
    role text NOT NULL,
    hash text NOT NULL,
    created_ms bigint NOT NULL
);

-- ---- sums, as what was added to them: a row that every commit changes would become a chain of dead
-- versions, longer with every transaction that somebody keeps open. A commit in some hundreds folds what
-- its owner has added since the last time; `turn` lets it start where that ended, and not walk through what
-- is dead already.

CREATE TABLE belfry.counter (
    partition integer NOT NULL, -- the lowest that the writer owned
    kind smallint NOT NULL,
    state smallint NOT NULL,
    queue text COLLATE "C" NOT NULL,
    value bigint NOT NULL,
    PRIMARY KEY (partition, kind, queue, state)
) WITH (fillfactor = 50);

CREATE TABLE belfry.counter_delta (
    turn bigint NOT NULL,
    value bigint NOT NULL,
    partition integer NOT NULL,
    kind smallint NOT NULL,
    state smallint NOT NULL,
    queue text COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.0,
    autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_threshold = 1000000);

CREATE INDEX counter_delta_turn ON belfry.counter_delta (partition, turn);

CREATE TABLE belfry.tally (
    hour bigint NOT NULL, -- since 1970
    count bigint NOT NULL,
    sum_ms bigint NOT NULL,
    bucket bigint NOT NULL,
    scope smallint NOT NULL,
    "end" smallint NOT NULL,
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (scope, key, hour, "end", bucket)
) WITH (fillfactor = 70);

CREATE TABLE belfry.tally_delta (
    turn bigint NOT NULL,
    hour bigint NOT NULL,
    count bigint NOT NULL,
    sum_ms bigint NOT NULL,
    bucket bigint NOT NULL,
    partition integer NOT NULL,
    scope smallint NOT NULL,
    "end" smallint NOT NULL,
    key text COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.0,
    autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_threshold = 1000000);

CREATE INDEX tally_delta_turn ON belfry.tally_delta (partition, turn);

-- What readers add up.
CREATE VIEW belfry.counter_row AS
SELECT partition, kind, queue, state, value FROM belfry.counter
UNION ALL
SELECT partition, kind, queue, state, value FROM belfry.counter_delta;

CREATE VIEW belfry.tally_row AS
SELECT scope, key, hour, "end", bucket, count, sum_ms FROM belfry.tally
UNION ALL
SELECT scope, key, hour, "end", bucket, count, sum_ms FROM belfry.tally_delta;

-- ---- output of commands, and their checkpoints

CREATE TABLE belfry.chunk (
    exec_id bigint NOT NULL,
    token bigint NOT NULL,
    seq bigint NOT NULL,
    at_ms bigint NOT NULL,
    attempt bigint NOT NULL,
    stream smallint NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (exec_id, token, seq)
) PARTITION BY RANGE (exec_id);

CREATE INDEX chunk_at ON belfry.chunk (at_ms);
CREATE TABLE belfry.chunk_default PARTITION OF belfry.chunk DEFAULT;

CREATE TABLE belfry.checkpoint (
    exec_id bigint PRIMARY KEY,
    token bigint NOT NULL,
    at_ms bigint NOT NULL,
    bytes bytea NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.1);

-- ---- how rows are read: one list of columns per record, in the order of row.c

CREATE VIEW belfry.job_kept AS
SELECT id, version, state, name, queue, owner, team, tags, priority, created_ms, finished_ms,
    changed_ms, last_exec, spec
FROM belfry.job;

-- Also knows an end that is written in the newest execution's row.
CREATE VIEW belfry.job_full AS
SELECT j.id, j.version, coalesce(h.job_state, j.state) AS state, j.name, j.queue, j.owner, j.team,
    j.tags, j.priority, j.created_ms, coalesce(h.finished_ms, j.finished_ms) AS finished_ms,
    j.changed_ms, j.last_exec, j.spec, j.payload, j.trail || coalesce(h.job_step, '') AS trail
FROM belfry.job j
LEFT JOIN belfry.history h
    ON h.id = j.last_exec AND h.job_state IS NOT NULL AND j.last_exec <> j.told;

CREATE VIEW belfry.job_row AS
SELECT id, version, state, name, queue, owner, team, tags, priority, created_ms, finished_ms,
    changed_ms, last_exec, spec
FROM belfry.job_full;

CREATE VIEW belfry.live_row AS
SELECT id, job_id, queue, priority, coalesce(retry_of, 0) AS retry_of, first, origin, slot_ms,
    coalesce(nominal_ms, 0) AS nominal_ms, created_ms, state, due_ms, ready_ms, started_ms,
    coalesce(attempts, 0) AS attempts, coalesce(lost, 0) AS lost, coalesce(returned, 0) AS returned,
    late, coalesce(sla_since_ms, 0) AS sla_since_ms, coalesce(sla_extra_ms, 0) AS sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, 0::bigint AS finished_ms,
    0::bigint AS slot_last_ms, 0::bigint AS slot_count
FROM belfry.live;

CREATE VIEW belfry.history_row AS
SELECT id, job_id, queue, priority, coalesce(retry_of, 0) AS retry_of, first, origin, slot_ms,
    coalesce(nominal_ms, 0) AS nominal_ms, created_ms, state, due_ms, ready_ms, started_ms,
    coalesce(attempts, 0) AS attempts, coalesce(lost, 0) AS lost, coalesce(returned, 0) AS returned,
    late, coalesce(sla_since_ms, 0) AS sla_since_ms, coalesce(sla_extra_ms, 0) AS sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, finished_ms,
    coalesce(slot_last_ms, 0) AS slot_last_ms, coalesce(slot_count, 0) AS slot_count
FROM belfry.history;

-- Those in table attempt, and the one in an ended execution's own row unless it was told again since.
CREATE VIEW belfry.attempt_row AS
SELECT exec_id, token, number, worker_id, started_ms, ended_ms, outcome, error, class, fingerprint,
    tail, exit_code, signal, cpu_ms, peak_memory_bytes, output_bytes, dropped_bytes, log_seq,
    NULL::text AS usage
FROM belfry.attempt
UNION ALL
SELECT id, token, attempt_number, attempt_worker, attempt_started_ms, attempt_ended_ms,
    attempt_outcome, coalesce(attempt_error, error), coalesce(attempt_class, 0::smallint),
    coalesce(attempt_fingerprint, 0), coalesce(attempt_tail, ''), -1, 0, 0, 0, 0, 0, 0,
    attempt_usage
FROM belfry.history h
WHERE attempt_outcome IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM belfry.attempt a WHERE a.exec_id = h.id AND a.token = h.token);

CREATE VIEW belfry.letter_row AS
SELECT died_ms, exec_id, job_id, state, queue, name, owner, reason, class, fingerprint, line, error,
    attempts, lost
FROM belfry.dead_letter;

-- ---- functions

-- The database's clock, which is the one that counts.
CREATE FUNCTION belfry.now_ms() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE AS
$$SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint$$;

-- Whether an id is in one of the partitions whose bits are given, of so many: base/id.h has its bucket
-- in 10 bits above 12, job/partition.h has the rest.
CREATE FUNCTION belfry.is_owned(id bigint, partitions integer, bits bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$SELECT (bits >> ((((id >> 12) & 1023) * partitions) >> 10)::integer) & 1 = 1$$;

-- Makes the weeks ahead for what is cut by time, and drops those that retention has emptied: a week's
-- table, once all its rows are gone, is only in the way. SECURITY DEFINER: a server needs no right to
-- change the schema. Waits for nobody: what is in use is tended another time. Tells how many tables it made
-- and dropped.
CREATE FUNCTION belfry.tend(weeks_ahead integer DEFAULT 4) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = belfry, pg_temp SET lock_timeout = '200ms' AS $$
DECLARE
    width constant bigint := 604800000;                           -- a week, in milliseconds
    week bigint := (belfry.now_ms() - 1577836800000) / width;     -- since 2020, as ids count
    parent text;
    child text;
    w bigint;
    has_rows boolean;
    done integer := 0;
BEGIN
    IF NOT pg_try_advisory_xact_lock(7163384699220918) THEN
        RETURN 0;                                                 -- somebody is at it
    END IF;
    UPDATE meta SET value = belfry.now_ms()::text WHERE key = 'tended_ms';
    FOREACH parent IN ARRAY ARRAY['history', 'attempt', 'chunk'] LOOP
        FOR w IN week .. week + weeks_ahead LOOP
            child := parent || '_w' || w;
            CONTINUE WHEN to_regclass('belfry.' || child) IS NOT NULL;
            BEGIN
                -- Attached, not made as a partition: that would lock out everybody.
                EXECUTE format('CREATE TABLE belfry.%I (LIKE belfry.%I INCLUDING ALL)', child, parent);
                EXECUTE format('ALTER TABLE belfry.%I ATTACH PARTITION belfry.%I FOR VALUES FROM (%s) TO (%s)',
                    parent, child, (w * width) << 22, ((w + 1) * width) << 22);
                done := done + 1;
            EXCEPTION WHEN lock_not_available OR check_violation THEN
                NULL;  -- busy; or the default partition has rows of that week, and goes on having them
            END;
        END LOOP;
        FOR child IN
            SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = ('belfry.' || parent)::regclass AND c.relname ~ '_w[0-9]+$'
                AND substring(c.relname FROM '_w([0-9]+)$')::bigint < week - 1
        LOOP
            BEGIN
                EXECUTE format('LOCK TABLE belfry.%I IN SHARE MODE', child);
                EXECUTE format('SELECT EXISTS (SELECT 1 FROM belfry.%I)', child) INTO has_rows;
                CONTINUE WHEN has_rows;
                EXECUTE format('DROP TABLE belfry.%I', child);
                done := done + 1;
            EXCEPTION WHEN lock_not_available THEN
                NULL;
            END;
        END LOOP;
    END LOOP;
    RETURN done;
END $$;

REVOKE EXECUTE ON FUNCTION belfry.tend(integer) FROM PUBLIC;

-- Who was admitted: a migration that makes new tables admits them again.
CREATE TABLE belfry.server_role (
    role text COLLATE "C" PRIMARY KEY
);

-- What the role of a server needs and no more: no right to change the schema, to make anything, to read
-- anything else, or to admit others. Time-outs belong to the role, so that they hold whatever connects under
-- its name: a server that was stopped in the middle of a turn must not keep its locks from its successor.
CREATE FUNCTION belfry.admit_role(role text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    function regprocedure;
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA belfry TO %I', role);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA belfry TO %I', role);
    EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA belfry TO %I', role);
    FOR function IN SELECT p.oid FROM pg_proc p
        WHERE p.pronamespace = 'belfry'::regnamespace AND p.proname LIKE 'admit%'
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM %I', function, role);
    END LOOP;
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE ON belfry.server_role FROM %I', role);
    EXECUTE format('ALTER ROLE %I SET statement_timeout = ''15s''', role);
    EXECUTE format('ALTER ROLE %I SET lock_timeout = ''5s''', role);
    EXECUTE format('ALTER ROLE %I SET idle_in_transaction_session_timeout = ''5s''', role);
    EXECUTE format('ALTER ROLE %I SET tcp_user_timeout = ''10s''', role);
    INSERT INTO belfry.server_role VALUES (role) ON CONFLICT DO NOTHING;
END $$;

REVOKE EXECUTE ON FUNCTION belfry.admit_role(text) FROM PUBLIC;
SELECT belfry.tend();
