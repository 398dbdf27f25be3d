-- setup.sql - setting up a connection, and the database itself.

-- name: setup
-- Run whole on each new connection. Every statement of a turn reaches rows by key. The planner must
-- not think otherwise because a table was empty when a plan was made, so it may use nothing but
-- indexes and nested loops, and takes the order from indexes, too: it thinks that a job has a
-- handful of executions, and would rather sort a million of them than merge what the weeks have in
-- order. Where there is no index it still can. Nothing is worth remembering between two keys, or a
-- second process. No plan is worth making twice, or compiling. A commit that is answered is on
-- disk; how many standbys must have it, too, is the database's affair. Behind a pooler these are
-- said in each transaction: see setup_local.
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
SET max_parallel_workers_per_gather = 0;
SELECT set_config('enable_memoize', 'off', false)
    WHERE current_setting('server_version_num')::integer >= 140000;
SET plan_cache_mode = force_generic_plan;
SET jit = off;
SET statement_timeout = '15s';
SET lock_timeout = '5s';
SET idle_in_transaction_session_timeout = '5s';
SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off';
SET default_transaction_isolation = 'read committed';
SET TimeZone = 'UTC';

-- name: setup_local
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true), set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true),
    set_config('max_parallel_workers_per_gather', '0', true),
    CASE WHEN current_setting('server_version_num')::integer >= 140000
        THEN set_config('enable_memoize', 'off', true) END,
    set_config('jit', 'off', true), set_config('statement_timeout', '15s', true),
    set_config('lock_timeout', '5s', true),
    set_config('idle_in_transaction_session_timeout', '5s', true),
    CASE WHEN current_setting('synchronous_commit') = 'off'
        THEN set_config('synchronous_commit', 'on', true) END;

-- name: migrate_begin
-- Run whole. The lock ends with the transaction, so it works behind a pooler, too; a server that
-- comes second waits, and then finds nothing to do. A large migration takes its time, whatever the
-- role's time-outs are; but it does not stand before a locked table, with everybody else behind it,
-- for longer than the role may.
BEGIN;
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0;
SET LOCAL lock_timeout = 0;
SELECT pg_advisory_xact_lock(7163384699220917);
SET LOCAL lock_timeout TO DEFAULT;
CREATE SCHEMA IF NOT EXISTS belfry;
CREATE TABLE IF NOT EXISTS belfry.meta (key text PRIMARY KEY, value text NOT NULL)
    WITH (fillfactor = 50);
INSERT INTO belfry.meta (key, value) VALUES ('version', '0') ON CONFLICT DO NOTHING;

-- name: migrate_version
UPDATE belfry.meta SET value = $1::bigint::text WHERE key = 'version';

-- name: make_partitions
-- Once: how many there are is fixed when the cluster is made.
INSERT INTO belfry.partition (id) SELECT generate_series(0, $1::bigint - 1)
WHERE NOT EXISTS (SELECT 1 FROM belfry.partition);

-- name: admit_role
SELECT belfry.admit_role($1::text);

-- name: admit_roles
-- Those that were admitted once and are still there.
SELECT belfry.admit_role(s.role) FROM belfry.server_role s JOIN pg_roles r ON r.rolname = s.role;

-- name: types
-- The numbers of what pg.h calls enum pg_type, in that order.
SELECT coalesce(to_regtype('belfry.' || n.name)::oid, 0)
FROM unnest(ARRAY['new_job', 'born_live', 'changed_live', 'ended_live', 'plain_job', 'plain_live',
    'plain_change', 'plain_end', 'new_claim']) WITH ORDINALITY n (name, at)
ORDER BY n.at;
