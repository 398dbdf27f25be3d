-- Every statement of the PostgreSQL store, one named block each: names and order are those of the SQLite
-- store, where both have them. The C code finds a block by its name (query.c), binds its parameters in
-- order, in binary, and never builds SQL.
--
-- What a turn has many of comes as arrays: unnest makes rows of them, one statement for all. A statement that
-- must meet every row it names divides by whether it did: an error (SQLSTATE 22012) is the only way to stop a
-- COMMIT that is on the wire already behind it.
--
-- A plan may be made while a table is tiny, or has few rows that live among many that died and must stay
-- (somebody holds a transaction open). For a join the planner then likes to walk all of the table, which costs
-- little by its numbers. So whatever is looked up by a key that another row names stands in a LATERAL query
-- (or EXISTS) that ends with OFFSET 0, which the planner does not take apart: it can only go by the key, once
-- for each row. What is to be changed is found in the same way, and then by its ctid. That is good for rows
-- which only their partition's owner writes, and for those where missing one that another server has just
-- changed does no harm: the row that was found is not there any more then, and is left alone. Releases of PostgreSQL
-- before November 2025 do not leave it alone: they look at everything again but the ctid, and change what the
-- other server has made of the row. So what others change must be asked for beside the ctid, too.
--
-- Literal state numbers are those of job/state.h: scheduled 1, retrying 5; of a dependency, those of
-- job/dependency.h: waiting 1, met 2, per_slot 5; of an origin, those of job/record/record.h: slot 1.

-- ---- setting up a connection

-- name: setup
-- Run whole on each new connection. Every statement of a turn reaches rows by key. The planner must not
-- think otherwise because a table was empty when a plan was made, so it may use nothing but indexes and
-- nested loops, and takes the order from indexes, too: it thinks that a job has a handful of executions, and
-- would rather sort a million of them than merge what the weeks have in order. Where there is no index it
-- still can. Nothing is worth remembering between two keys, or a second process. No plan is worth making
-- twice, or compiling.
-- A commit that is answered is on disk; how many standbys must have it, too, is the database's affair.
-- Behind a pooler these are said in each transaction: see setup_local.
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
SET max_parallel_workers_per_gather = 0;
SELECT set_config('enable_memoize', 'off', false) WHERE current_setting('server_version_num')::integer >= 140000;
SET plan_cache_mode = force_generic_plan;
SET jit = off;
SET statement_timeout = '15s';
SET lock_timeout = '5s';
SET idle_in_transaction_session_timeout = '5s';
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
SET default_transaction_isolation = 'read committed';
SET TimeZone = 'UTC';

-- name: setup_local
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true), set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true), set_config('max_parallel_workers_per_gather', '0', true),
    CASE WHEN current_setting('server_version_num')::integer >= 140000
        THEN set_config('enable_memoize', 'off', true) END,
    set_config('jit', 'off', true), set_config('statement_timeout', '15s', true),
    set_config('lock_timeout', '5s', true),
    set_config('idle_in_transaction_session_timeout', '5s', true),
    CASE WHEN current_setting('synchronous_commit') = 'off'
        THEN set_config('synchronous_commit', 'on', true) END;

-- ---- migrations, outside of pipelines

-- name: migrate_begin
-- Run whole. The lock ends with the transaction, so it works behind a pooler, too; whoever comes second
-- waits, and then finds nothing to do. What migrates much takes its time, whatever the role's time-outs are;
-- but it does not stand before a locked table, with everybody else behind it, for longer than the role may.
BEGIN;
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0;
SET LOCAL lock_timeout = 0;
SELECT pg_advisory_xact_lock(7163384699220917);
SET LOCAL lock_timeout TO DEFAULT;
CREATE SCHEMA IF NOT EXISTS belfry;
CREATE TABLE IF NOT EXISTS belfry.meta (key text PRIMARY KEY, value text NOT NULL) WITH (fillfactor = 50);
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
FROM unnest(ARRAY['new_job', 'new_live', 'changed_live', 'finished', 'plain_job', 'plain_live',
    'plain_change', 'plain_end', 'new_claim']) WITH ORDINALITY n (name, at)
ORDER BY n.at;

-- ---- every connection

-- name: version
SELECT value::bigint FROM belfry.meta WHERE key = 'version';

-- name: begin_read
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: begin_write
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- ---- ownership

-- name: take_partitions
-- $1 our start, $2 how long somebody may be silent, $3 the start that we replace, $7 which ones. Who has no row in
-- node counts from when it took the partition. A silent owner may keep leases alive for its grace and a lease:
-- of its numbers and ours ($4 the lease, $5 the grace) the larger ones count, and $6 is added where it says
-- nothing. Whoever works under these rows has them locked in share mode: this waits for the end
-- of that work, so that afterwards all of it is there to be seen.
WITH free AS MATERIALIZED (
    SELECT p.id, p.owner, p.owner NOT IN ('', $1::text, $3::text) AS deprived,
        CASE WHEN coalesce(n.lease_ms, 0) = 0 THEN $4::bigint + $5::bigint + $6::bigint
            ELSE greatest(n.lease_ms, $4::bigint) + greatest(n.grace_ms, $5::bigint) END AS unsure_ms
    FROM belfry.partition p LEFT JOIN belfry.node n ON n.start = p.owner
    WHERE p.id = ANY($7::bigint[])
        AND (p.owner IN ('', $1::text, $3::text)
            OR coalesce(n.seen_ms, p.since_ms) <= belfry.now_ms() - $2::bigint)
    ORDER BY p.id FOR UPDATE OF p)
UPDATE belfry.partition p
SET owner = $1::text, former = f.owner, epoch = p.epoch + 1, since_ms = belfry.now_ms(),
    unsure_ms = CASE WHEN f.deprived THEN greatest(p.unsure_ms, f.unsure_ms) ELSE p.unsure_ms END
FROM free f WHERE p.id = f.id
RETURNING p.id, p.epoch, p.unsure_ms, f.deprived;

-- name: take_partitions_now
-- The same for a member, which says whom it found silent: the owner $7 of $6 is deprived while its newest beat is
-- $8. What is being worked on is left for another time: it may be a server that was stopped in the middle of a
-- turn, and nobody should wait for it. $2 to $5 are $3 to $6 there.
WITH free AS MATERIALIZED (
    SELECT p.id, p.owner, p.owner NOT IN ('', $1::text, $2::text) AS deprived,
        CASE WHEN coalesce(n.lease_ms, 0) = 0 THEN $3::bigint + $4::bigint + $5::bigint
            ELSE greatest(n.lease_ms, $3::bigint) + greatest(n.grace_ms, $4::bigint) END AS unsure_ms
    FROM unnest($6::bigint[], $7::text[], $8::bigint[]) o (id, owner, beat_ms)
    JOIN belfry.partition p ON p.id = o.id LEFT JOIN belfry.node n ON n.start = p.owner
    WHERE p.owner IN ('', $1::text, $2::text) OR n.start IS NULL
        OR (p.owner = o.owner AND n.seen_ms = o.beat_ms)
    ORDER BY p.id FOR UPDATE OF p SKIP LOCKED)
UPDATE belfry.partition p
SET owner = $1::text, former = f.owner, epoch = p.epoch + 1, since_ms = belfry.now_ms(),
    unsure_ms = CASE WHEN f.deprived THEN greatest(p.unsure_ms, f.unsure_ms) ELSE p.unsure_ms END
FROM free f WHERE p.id = f.id
RETURNING p.id, p.epoch, p.unsure_ms, f.deprived;

-- name: raise_floors
-- Behind take_partitions, as a statement of its own: its snapshot is from after the locks were granted, so no
-- commit of a former owner is missing in it, and none can come any more. What turns knew becomes part of the
-- rows that were taken; then those of other epochs can go.
WITH known AS MATERIALIZED (
    SELECT coalesce(max(turn) FILTER (WHERE kept), 0) AS turn, coalesce(max(newest_id), 0) AS newest_id,
        coalesce(max(drift_ms), 0) AS drift_ms FROM belfry.turn)
UPDATE belfry.partition p
SET turn = greatest(p.turn, k.turn), drift_ms = greatest(p.drift_ms, k.drift_ms),
    newest_id = greatest(p.newest_id, k.newest_id, (SELECT max(id) FROM belfry.api_key))
FROM known k WHERE p.owner = $1::text AND p.id = ANY($2::bigint[])
RETURNING p.turn, p.newest_id, p.drift_ms, p.token_floor;

-- name: retake_partitions
-- The database has gone back to an earlier state. $1 our start, $2 and $3 the epochs that we knew (0: not
-- ours). What is ours gets an epoch, and tokens, beyond all that were given in what is lost: they would come
-- again and mean something else. So does what we had taken and is somebody else's again.
WITH held AS MATERIALIZED (
    SELECT p.id, greatest(p.epoch, o.epoch) AS epoch FROM belfry.partition p
    JOIN unnest($2::bigint[], $3::bigint[]) o (id, epoch) ON p.id = o.id
    WHERE p.owner = $1::text OR p.epoch < o.epoch
    ORDER BY p.id FOR UPDATE OF p),
moved AS (
    UPDATE belfry.partition p
    SET epoch = h.epoch + 1048576, token_floor = p.token_floor + 1048576, since_ms = belfry.now_ms()
    FROM held h WHERE p.id = h.id
    RETURNING p.id, p.epoch, p.owner, p.unsure_ms)
SELECT id, epoch, unsure_ms, false FROM moved WHERE owner = $1::text;

-- name: jump_settings
UPDATE belfry.meta SET value = (value::bigint + 1048576)::text WHERE key = 'settings_version';

-- name: forget_turns
-- Behind that: what is known now stands in the partitions' rows. The newest of a writer stays, whatever its
-- epoch: the writer asks for it to see whether the database still knows what it has kept.
DELETE FROM belfry.turn t
WHERE NOT EXISTS (SELECT 1 FROM belfry.partition p WHERE p.id = t.partition AND p.epoch = t.epoch)
    AND EXISTS (SELECT 1 FROM belfry.partition p WHERE p.owner = $1::text)
    AND (NOT t.kept OR EXISTS (SELECT 1 FROM belfry.turn n
        WHERE n.writer = t.writer AND n.turn > t.turn AND n.kept));

-- name: forget_marks
-- The newest of those that are gone: nobody asks for it any more.
DELETE FROM belfry.turn t
WHERE t.kept AND t.newest_id >> 22 <= belfry.now_ms() - $1::bigint
    AND NOT EXISTS (SELECT 1 FROM belfry.partition p WHERE p.id = t.partition AND p.epoch = t.epoch)
    AND NOT EXISTS (SELECT 1 FROM belfry.node n WHERE n.writer = n.start || '/' || t.writer);

-- name: count_partitions
SELECT count(*), bool_or(owner = $1::text),
    coalesce(max(coalesce(n.seen_ms, p.since_ms)), 0)
FROM belfry.partition p LEFT JOIN belfry.node n ON n.start = p.owner;

-- name: pause
SELECT pg_sleep($1::bigint / 1000.0);

-- name: check_epochs
-- In share mode until the end of the transaction: whoever wants to take one of them waits. $1 our start; $2 who
-- we are in table turn and $3 the newest turn that we know as kept (0: none). None when that is missing: then
-- memory and database have not the same past.
SELECT p.id FROM belfry.partition p
JOIN unnest($4::bigint[], $5::bigint[]) o (id, epoch) ON p.id = o.id AND p.epoch = o.epoch
WHERE p.owner = $1::text AND ($3::bigint = 0 OR EXISTS (SELECT 1 FROM belfry.turn t
    WHERE t.writer = $2::text AND t.turn = $3::bigint AND t.kept))
ORDER BY p.id FOR SHARE OF p;

-- name: keep_turn
INSERT INTO belfry.turn (writer, turn, try, newest_id, drift_ms, partition, epoch, kept, fenced)
VALUES ($1::text, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint, $7::bigint, true, true);

-- name: keep_turn_fenced
-- The same for a turn that asked nothing: begins with its fence, and fails by constraint turn_fenced when
-- one of the $8 partitions has another epoch or owner ($10), or our newest turn ($9; 0: none) is missing.
WITH held AS MATERIALIZED (
    SELECT p.id FROM belfry.partition p
    JOIN unnest($11::bigint[], $12::bigint[]) o (id, epoch) ON p.id = o.id AND p.epoch = o.epoch
    WHERE p.owner = $10::text
    ORDER BY p.id FOR SHARE OF p)
INSERT INTO belfry.turn (writer, turn, try, newest_id, drift_ms, partition, epoch, kept, fenced)
SELECT $1::text, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint, $7::bigint, true,
    (SELECT count(*) FROM held) = $8::bigint
    AND ($9::bigint = 0 OR EXISTS (SELECT 1 FROM belfry.turn t
        WHERE t.writer = $1::text AND t.turn = $9::bigint AND t.kept));

-- name: hold_partitions
-- Settling begins by taking the rows for ourselves, which waits for the end of the commit in doubt. It
-- writes, so it also tells whether the store takes commits.
WITH held AS MATERIALIZED (
    SELECT p.id FROM belfry.partition p
    JOIN unnest($2::bigint[], $3::bigint[]) o (id, epoch) ON p.id = o.id AND p.epoch = o.epoch
    WHERE p.owner = $1::text
    ORDER BY p.id FOR UPDATE OF p)
UPDATE belfry.partition p SET settled = settled + 1 FROM held h WHERE p.id = h.id RETURNING p.id;

-- name: settle
-- A statement of its own, for the same reason as raise_floors.
SELECT coalesce(max(turn), 0) FROM belfry.turn WHERE writer = $1::text AND kept;

-- name: settle_lost
-- The commit in doubt may not have begun: its words can lie in the socket of a backend that was stopped.
-- With this row there it never can, since it would insert the same key. Nothing when it was kept; one that is
-- under way is waited for. Partition and epoch are those that it was sent under: as soon as that epoch is
-- over it cannot be kept anyway, and not before that this row may go.
INSERT INTO belfry.turn (writer, turn, try, newest_id, drift_ms, partition, epoch, kept, fenced)
VALUES ($1::text, $2::bigint, $3::bigint, 0, 0, $4::bigint, $5::bigint, false, true)
ON CONFLICT DO NOTHING;

-- ---- admission

-- name: take_claims
-- Keys are given in their order, each once. An insert that meets another server's, not yet committed, waits
-- for its end.
INSERT INTO belfry.claim (kind, key, holder, until_ms, note)
SELECT * FROM unnest($1::belfry.new_claim[])
ON CONFLICT (kind, key) DO NOTHING;

-- name: claim_holders
SELECT n.at, c.holder, c.note, c.until_ms
FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY n (kind, key, at)
CROSS JOIN LATERAL (SELECT e.holder, e.note, e.until_ms FROM belfry.claim e
    WHERE e.kind = n.kind AND e.key = n.key OFFSET 0) c;

-- name: take_free_requests
-- The same for idempotency keys, where many are taken at once and nobody has them, at two thirds of the price:
-- ON CONFLICT writes each row so that it can be taken back. Where somebody has one it fails (SQLSTATE 23505),
-- with nothing done yet, and the turn begins again with take_requests.
INSERT INTO belfry.request (key, holder, until_ms, note)
SELECT unnest($1::uuid[]), unnest($2::bigint[]), unnest($3::bigint[]), unnest($4::text[]);

-- name: take_requests
INSERT INTO belfry.request (key, holder, until_ms, note)
SELECT unnest($1::uuid[]), unnest($2::bigint[]), unnest($3::bigint[]), unnest($4::text[])
ON CONFLICT (key) DO NOTHING;

-- name: take_ended_requests
-- One that has ended gives way.
UPDATE belfry.request r
SET holder = n.holder, until_ms = n.until_ms, note = n.note
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[])
    n (key, holder, until_ms, note, now_ms)
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.request e
    WHERE e.key = n.key AND e.until_ms > 0 AND e.until_ms <= n.now_ms OFFSET 0) f
WHERE r.ctid = f.at AND r.until_ms > 0 AND r.until_ms <= n.now_ms;

-- name: keep_lots
-- A hundred keys make a row that PostgreSQL keeps in one piece.
INSERT INTO belfry.request_lot (until_ms, keys)
SELECT $1::bigint, ($2::uuid[])[n : n + 99] FROM generate_series(1, cardinality($2::uuid[]), 100) n;

-- name: request_holders
SELECT n.at, r.holder, r.note, r.until_ms
FROM unnest($1::uuid[]) WITH ORDINALITY n (key, at)
CROSS JOIN LATERAL (SELECT e.holder, e.note, e.until_ms FROM belfry.request e
    WHERE e.key = n.key OFFSET 0) r;

-- name: find_job
SELECT * FROM belfry.job_row WHERE id = $1::bigint;

-- name: find_met
SELECT d.upstream, d.dependant, d.type, d.state, j.*
FROM belfry.dependency d
CROSS JOIN LATERAL (SELECT * FROM belfry.job_row r WHERE r.id = d.upstream OFFSET 0) j
WHERE d.dependant = $1::bigint AND d.state = 2 ORDER BY d.upstream;

-- name: find_exec
SELECT * FROM belfry.live_rec WHERE id = $1::bigint
UNION ALL
SELECT * FROM belfry.history_rec WHERE id = $1::bigint;

-- name: find_job_of_exec
SELECT j.* FROM (
    SELECT job_id FROM belfry.live WHERE id = $1::bigint
    UNION ALL
    SELECT job_id FROM belfry.history WHERE id = $1::bigint) e
CROSS JOIN LATERAL (SELECT * FROM belfry.job_row r WHERE r.id = e.job_id OFFSET 0) j;

-- name: find_attempt
SELECT * FROM belfry.attempt_row WHERE exec_id = $1::bigint AND token = $2::bigint;

-- name: find_trail
-- An id is that of one thing: jobs and executions share the generator.
SELECT trail FROM belfry.job_full WHERE id = $1::bigint
UNION ALL
SELECT trail FROM belfry.live WHERE id = $1::bigint
UNION ALL
SELECT trail FROM belfry.history WHERE id = $1::bigint;

-- name: find_newest
SELECT l.* FROM belfry.job j
CROSS JOIN LATERAL (SELECT * FROM belfry.live_rec e WHERE e.id = j.last_exec OFFSET 0) l
WHERE j.id = $1::bigint;

-- name: find_newest_of_exec
-- The same for the job of an execution.
SELECT l.* FROM (
    SELECT job_id FROM belfry.live WHERE id = $1::bigint
    UNION ALL
    SELECT job_id FROM belfry.history WHERE id = $1::bigint) e
CROSS JOIN LATERAL (SELECT o.last_exec FROM belfry.job o WHERE o.id = e.job_id OFFSET 0) j
CROSS JOIN LATERAL (SELECT * FROM belfry.live_rec r WHERE r.id = j.last_exec OFFSET 0) l;

-- name: find_ahead
-- Here and below: what was made with the job is found by the job's row, the rest by the index. From the newest
-- on, so that it steps over nothing but runs that people asked for since.
SELECT * FROM (SELECT * FROM belfry.live_rec
    WHERE job_id = $1::bigint AND NOT first AND state = 1
    ORDER BY id DESC LIMIT 1) a
UNION ALL
SELECT l.* FROM belfry.job j
CROSS JOIN LATERAL (SELECT * FROM belfry.live_rec e
    WHERE e.id = j.first_exec AND e.first AND e.state = 1 OFFSET 0) l
WHERE j.id = $1::bigint
ORDER BY id DESC LIMIT 1;

-- name: find_slot
-- The newest by id, since slots are made in their order. Each part stops at its first row; before that it
-- steps over runs that people asked for, and over slots later than the moment.
SELECT * FROM (SELECT * FROM belfry.live_rec
    WHERE job_id = $1::bigint AND NOT first AND origin = 1 AND slot_ms <= $2::bigint
    ORDER BY id DESC LIMIT 1) a
UNION ALL
SELECT * FROM (SELECT * FROM belfry.history_rec
    WHERE job_id = $1::bigint AND NOT first AND origin = 1 AND slot_ms <= $2::bigint
    ORDER BY id DESC LIMIT 1) b
UNION ALL
SELECT l.* FROM belfry.job j
CROSS JOIN LATERAL (SELECT * FROM belfry.live_rec e
    WHERE e.id = j.first_exec AND e.first AND e.origin = 1 AND e.slot_ms <= $2::bigint OFFSET 0) l
WHERE j.id = $1::bigint
UNION ALL
SELECT h.* FROM belfry.job j
CROSS JOIN LATERAL (SELECT * FROM belfry.history_rec e
    WHERE e.id = j.first_exec AND e.first AND e.origin = 1 AND e.slot_ms <= $2::bigint OFFSET 0) h
WHERE j.id = $1::bigint
ORDER BY id DESC LIMIT 1;

-- name: due
-- $1 after (moment, id), until; then which partitions and how many rows. The comparison of pairs is one that
-- PostgreSQL's index knows.
SELECT l.*, j.* FROM (
    SELECT id FROM belfry.live
    WHERE wait_ms IS NOT NULL AND (wait_ms, id) > ($1::bigint, $2::bigint) AND wait_ms <= $3::bigint
        AND belfry.is_owned(id, $4::bigint::integer, $5::bigint)
    ORDER BY wait_ms, id LIMIT $6::bigint) w
CROSS JOIN LATERAL (SELECT * FROM belfry.live_rec e WHERE e.id = w.id OFFSET 0) l
LEFT JOIN LATERAL (SELECT * FROM belfry.job_kept e WHERE e.id = l.job_id OFFSET 0) j ON true
ORDER BY l.due_ms, l.id;

-- name: find_letter
SELECT * FROM belfry.letter_row WHERE exec_id = $1::bigint;

-- name: find_letters
SELECT * FROM belfry.letter_row
WHERE (died_ms, exec_id) > ($1::bigint, $2::bigint) AND died_ms <= $3::bigint
    AND belfry.is_owned(exec_id, $4::bigint::integer, $5::bigint)
ORDER BY died_ms, exec_id LIMIT $6::bigint;

-- name: find_old_weeks
-- Those of which nothing is younger than the moment $1, by the end of the week, a day and the drift $2; unless
-- something of it has not ended, ended later all the same, is a dead letter, or is what a standing rule names
-- (see find_old; of the first executions the jobs tell).
INSERT INTO belfry.old_week (week, partition)
SELECT w.week, p.id
FROM (SELECT substring(c.relname FROM '_w([0-9]+)$')::bigint AS week
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'belfry.history'::regclass AND c.relname ~ '_w[0-9]+$') w
CROSS JOIN LATERAL (SELECT (w.week * 604800000) << 22 AS first_id,
    ((w.week + 1) * 604800000) << 22 AS end_id) ids
CROSS JOIN belfry.partition p
WHERE (w.week + 1) * 604800000 + 86400000 + $2::bigint <= $1::bigint - 1577836800000
    AND NOT EXISTS (SELECT 1 FROM belfry.live l WHERE l.id >= ids.first_id AND l.id < ids.end_id OFFSET 0)
    AND NOT EXISTS (SELECT 1 FROM belfry.dead_letter d
        WHERE d.exec_id >= ids.first_id AND d.exec_id < ids.end_id OFFSET 0)
    AND NOT EXISTS (SELECT 1 FROM belfry.history h
        WHERE h.finished_ms >= $1::bigint AND h.finished_ms - h.created_ms > 86400000
            AND h.id >= ids.first_id AND h.id < ids.end_id OFFSET 0)
    AND NOT EXISTS (SELECT 1 FROM belfry.dependency r
        CROSS JOIN LATERAL (SELECT greatest(j.first_exec, (SELECT max(n.id) FROM belfry.history n
            WHERE n.job_id = r.upstream AND NOT n.first AND n.origin = 1)) AS id
            FROM belfry.job j WHERE j.id = r.upstream OFFSET 0) newest
        WHERE r.state = 5 AND newest.id >= ids.first_id AND newest.id < ids.end_id OFFSET 0)
ON CONFLICT DO NOTHING;

-- name: old_ids
-- Behind which id, and up to which, there may be something old. What was created before the moment $1 has an id
-- from before it, too, but for the drift $2; a millisecond of ids counts from 2020 and is 2^22 wide, and there
-- are 2^41 of them. What is in no old week is left alone for the time $3, too: perhaps its week becomes one. And
-- what is in one that our partitions ($4) are done with waits for its end, and keeps nobody busy. The last
-- column: whether there are others, which want to be told how far we come.
SELECT coalesce((SELECT max(w.end_id) - 1 FROM (
        SELECT ((week + 1) * 604800000) << 22 AS end_id, min(forgotten_id) AS forgotten_id
        FROM belfry.old_week WHERE ($4::bigint >> partition) & 1 = 1 GROUP BY week) w
    WHERE w.forgotten_id >= w.end_id - 1), 0),
    least(greatest(least($1::bigint + $2::bigint - 1577836800000, 2199023255551), 0) << 22,
        greatest((SELECT max(week + 1) * 604800000 FROM belfry.old_week),
            least($1::bigint + $2::bigint - $3::bigint - 1577836800000, 2199023255551), 0) << 22) - 1,
    EXISTS (SELECT 1 FROM belfry.old_week
        WHERE ($4::bigint >> partition) & 1 = 1
            AND forgotten_id < (((week + 1) * 604800000) << 22) - 1);

-- name: find_old
-- Ids are asked for by partition of the table.
-- A standing rule that waits for its job needs the newest slot.
SELECT h.id, h.finished_ms, EXISTS (SELECT 1 FROM belfry.dead_letter d WHERE d.exec_id = h.id OFFSET 0),
    EXISTS (SELECT 1 FROM belfry.dependency r WHERE r.upstream = h.job_id AND r.state = 5 OFFSET 0)
        AND NOT EXISTS (SELECT 1 FROM belfry.history n
            WHERE n.job_id = h.job_id AND NOT n.first AND n.origin = 1 AND n.id > h.id OFFSET 0)
FROM belfry.history h
WHERE h.id > $1::bigint AND h.id <= $2::bigint AND h.created_ms < $3::bigint
    AND belfry.is_owned(h.id, $4::bigint::integer, $5::bigint)
ORDER BY h.id LIMIT $6::bigint;

-- name: find_old_alerts
-- The same for alerts.
SELECT id, at_ms, state FROM belfry.alert
WHERE id > $1::bigint AND at_ms < $2::bigint
    AND id < greatest(least($2::bigint + $3::bigint - 1577836800000, 2199023255551), 0) << 22
    AND belfry.is_owned(id, $4::bigint::integer, $5::bigint)
ORDER BY id LIMIT $6::bigint;

-- name: find_old_tallies
-- What was not folded yet is seldom old.
SELECT scope, key, hour, "end", bucket FROM (
    (SELECT scope, key, hour, "end", bucket FROM belfry.tally WHERE hour < $1::bigint
    ORDER BY hour, scope, key, "end", bucket LIMIT $2::bigint)
    UNION
    (SELECT DISTINCT scope, key, hour, "end", bucket FROM belfry.tally_delta WHERE hour < $1::bigint
    ORDER BY hour, scope, key, "end", bucket LIMIT $2::bigint)) old
ORDER BY hour, scope, key, "end", bucket LIMIT $2::bigint;

-- name: find_pace
SELECT bucket, sum(count)::bigint FROM belfry.tally_row
WHERE scope = $1::bigint AND key = $2::text AND "end" = $3::bigint
GROUP BY hour, bucket ORDER BY hour DESC, bucket DESC LIMIT $4::bigint;

-- name: find_counters
-- Before a queue is deleted. The sums by their key, and all that was not folded yet.
SELECT kind, queue, state, sum(value)::bigint FROM (
    SELECT kind, queue, state, value FROM belfry.counter
    WHERE partition = ANY(ARRAY(SELECT p.id FROM belfry.partition p)) AND kind = ANY('{1,2,3}')
        AND queue = $1::text
    UNION ALL
    SELECT kind, queue, state, value FROM belfry.counter_delta WHERE queue = $1::text) n
GROUP BY kind, queue, state HAVING sum(value) <> 0;

-- name: lock_calendar
-- Before the question which jobs go by it, and until the commit that deletes it: a job that names it waits for that
-- commit, or was there first and is found. A statement of its own, since each sees what was committed before it began.
SELECT 1 FROM belfry.calendar WHERE name = $1::text FOR UPDATE;

-- name: calendar_jobs
SELECT job_id FROM belfry.calendar_use WHERE calendar = $1::text ORDER BY job_id LIMIT $2::bigint;

-- name: find_worker
SELECT id, name, queues, handlers, runs_commands, draining, slots, registered_ms, boot_id, replaces
FROM belfry.worker WHERE id = $1::bigint;

-- name: find_inbox
-- Rows of transactions that were not over in the snapshot $1: those that were under way, those that began
-- later, and the reader's own ($2), which a snapshot does not list. They are found first and put in order then:
-- else a plan may walk the index of ids, from its beginning, over all that was ever read. The page is cut where
-- its texts have more than $6 bytes, which are counted without reading them; of the last columns the first says how
-- many rows there were before that, the others how many were found in all, and the highest id of those.
WITH found AS MATERIALIZED (
    SELECT i.id
    FROM (
        SELECT n.* FROM (SELECT e.id, e.kind, e.bucket FROM belfry.inbox e
            WHERE e.xid >= pg_snapshot_xmax($1::text::pg_snapshot) OFFSET 0) n
        UNION ALL
        SELECT n.* FROM pg_snapshot_xip($1::text::pg_snapshot) x
        CROSS JOIN LATERAL (SELECT e.id, e.kind, e.bucket FROM belfry.inbox e WHERE e.xid = x.x OFFSET 0) n
        UNION ALL
        SELECT n.* FROM (SELECT e.id, e.kind, e.bucket FROM belfry.inbox e
            WHERE e.xid = $2::bigint::text::xid8 OFFSET 0) n
        WHERE $2::bigint::text::xid8 < pg_snapshot_xmax($1::text::pg_snapshot)) i
    WHERE (i.kind = 1) = $9::boolean AND i.id > $8::bigint
        AND belfry.is_owned(i.bucket::bigint << 12, $3::bigint::integer, $4::bigint)),
page AS MATERIALIZED (SELECT id FROM found ORDER BY id LIMIT $5::bigint)
SELECT p.id, p.bucket, p.kind, p.sent_ms, p.about, p.sender, p.value, p.number, p.name, p.actor,
    CASE WHEN p.kind < $7::bigint THEN p.body ELSE '' END, p.found, a.found, a.last_id
FROM (
    SELECT f.*, count(*) OVER () AS found,
        sum(octet_length(f.name) + octet_length(f.actor) + octet_length(f.body)) OVER (ORDER BY f.id) AS bytes,
        row_number() OVER (ORDER BY f.id) AS at
    FROM page n CROSS JOIN LATERAL (SELECT * FROM belfry.inbox e WHERE e.id = n.id OFFSET 0) f) p
CROSS JOIN (SELECT count(*) AS found, max(id) AS last_id FROM found) a
WHERE p.at = 1 OR p.bytes <= $6::bigint ORDER BY p.id;

-- name: walk_inbox
-- The next page of a round that has found many: they are not all looked for again, but met by their ids, up to the
-- highest that was found ($10). What is met besides was read since the round began, or is another server's.
SELECT p.id, p.bucket, p.kind, p.sent_ms, p.about, p.sender, p.value, p.number, p.name, p.actor,
    CASE WHEN p.kind < $7::bigint THEN p.body ELSE '' END, p.found
FROM (
    SELECT f.*, count(*) OVER () AS found,
        sum(octet_length(f.name) + octet_length(f.actor) + octet_length(f.body)) OVER (ORDER BY f.id) AS bytes,
        row_number() OVER (ORDER BY f.id) AS at
    FROM (SELECT * FROM belfry.inbox i
        WHERE i.id > $8::bigint AND i.id <= $10::bigint AND (i.kind = 1) = $9::boolean
            AND belfry.is_owned(i.bucket::bigint << 12, $3::bigint::integer, $4::bigint)
            AND (NOT pg_visible_in_snapshot(i.xid, $1::text::pg_snapshot) OR i.xid = $2::bigint::text::xid8)
        ORDER BY i.id LIMIT $5::bigint) f) p
WHERE p.at = 1 OR p.bytes <= $6::bigint ORDER BY p.id;

-- name: find_left_mail
-- What was told before and stayed, by its ids.
SELECT p.id, p.bucket, p.kind, p.sent_ms, p.about, p.sender, p.value, p.number, p.name, p.actor,
    CASE WHEN p.kind < $5::bigint THEN p.body ELSE '' END, p.found
FROM (
    SELECT f.*, count(*) OVER () AS found,
        sum(octet_length(f.name) + octet_length(f.actor) + octet_length(f.body)) OVER (ORDER BY f.id) AS bytes,
        row_number() OVER (ORDER BY f.id) AS at
    FROM (SELECT * FROM belfry.inbox i WHERE i.id = ANY($6::bigint[])
            AND belfry.is_owned(i.bucket::bigint << 12, $1::bigint::integer, $2::bigint)
        ORDER BY i.id LIMIT $3::bigint) f) p
WHERE p.at = 1 OR p.bytes <= $4::bigint ORDER BY p.id;

-- name: inbox_now
-- In front of find_inbox: what is committed between the two is then found a second time, when it is gone
-- already, and never missed. And which server of the database it is: another one may give the numbers of
-- transactions again that have passed here.
SELECT pg_current_snapshot()::text, coalesce(pg_current_xact_id_if_assigned()::text::bigint, 0),
    (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint;

-- name: fetch
SELECT spec, payload FROM belfry.job WHERE id = $1::bigint;

-- name: fetch_payload
SELECT payload FROM belfry.exec_payload WHERE exec_id = $1::bigint;

-- ---- a turn's delta

-- name: insert_jobs
INSERT INTO belfry.job (id, version, state, name, queue, owner, team, tags, priority, created_ms,
    finished_ms, last_exec, changed_ms, trail, spec, payload, first_exec, told)
SELECT n.*, last_exec, 0
FROM unnest($1::belfry.new_job[]) n;

-- name: insert_plain_jobs
INSERT INTO belfry.job (id, created_ms, last_exec, first_exec, priority, queue, owner, trail, spec,
    finished_ms, changed_ms, told, version, state, team, tags, payload)
SELECT id, created_ms, last_exec, last_exec, priority, queue, owner, step, spec, 0, 0, 0, 1, 1, '', '', ''
FROM unnest($1::belfry.plain_job[]);

-- name: insert_alike_jobs
-- The same for many that differ by their ids ($7, and $8 of their executions) alone: see grouped_rows.h. Two unnest
-- side by side go in step, and make no table of their rows first as they do in FROM.
INSERT INTO belfry.job (id, created_ms, last_exec, first_exec, priority, queue, owner, trail, spec,
    finished_ms, changed_ms, told, version, state, team, tags, payload)
SELECT n.id, $1::bigint, n.exec_id, n.exec_id, $2::bigint, $3::text, $4::text, $5::text, $6::text,
    0, 0, 0, 1, 1, '', '', ''
FROM (SELECT unnest($7::bigint[]) AS id, unnest($8::bigint[]) AS exec_id) n;

-- name: update_jobs
-- Touches no indexed column. An end that was told by the newest execution's row so far becomes part of this
-- one. (What stands right of an = is the row before the update.)
WITH changed AS (
    UPDATE belfry.job j
    SET version = n.version, state = n.state, priority = n.priority, finished_ms = n.finished_ms,
        last_exec = n.last_exec,
        trail = j.trail || coalesce((SELECT h.job_step FROM belfry.history h
            WHERE h.id = j.last_exec AND j.last_exec <> j.told), '') || n.step,
        told = coalesce((SELECT h.id FROM belfry.history h
            WHERE h.id = j.last_exec AND h.job_state IS NOT NULL), j.told)
    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
        $8::text[]) n (id, version, state, priority, finished_ms, last_exec, step)
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.job e WHERE e.id = n.id OFFSET 0) f
    WHERE j.ctid = f.at
    RETURNING 1)
SELECT 1 / (count(*) = $1::bigint)::integer FROM changed;

-- name: redefine_jobs
-- Behind update_jobs: what an edit changes and nothing else does.
WITH changed AS (
    UPDATE belfry.job j
    SET queue = n.queue, team = n.team, tags = n.tags, changed_ms = n.changed_ms, spec = n.spec,
        payload = n.payload
    FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[],
        $8::text[]) n (id, queue, team, tags, changed_ms, spec, payload)
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.job e WHERE e.id = n.id OFFSET 0) f
    WHERE j.ctid = f.at
    RETURNING 1)
SELECT 1 / (count(*) = $1::bigint)::integer FROM changed;

-- name: insert_live
INSERT INTO belfry.live (id, job_id, queue, priority, retry_of, first, origin, slot_ms, nominal_ms,
    created_ms, state, due_ms, ready_ms, started_ms, attempts, lost, returned, late, sla_since_ms,
    sla_extra_ms, sla_marks, token, worker_id, effect_done, error, trail, wait_ms)
SELECT n.*, CASE WHEN state IN (1, 5) THEN due_ms END
FROM unnest($1::belfry.new_live[]) n;

-- name: insert_plain_live
INSERT INTO belfry.live (id, job_id, slot_ms, created_ms, due_ms, ready_ms, started_ms, token, worker_id,
    attempts, priority, state, queue, trail, wait_ms, sla_marks, origin, first, late, effect_done, error)
SELECT n.*, CASE WHEN n.state IN (1, 5) THEN n.due_ms END, 0, 0, true, false, false, ''
FROM unnest($1::belfry.plain_live[]) n;

-- name: insert_alike_live
INSERT INTO belfry.live (id, job_id, slot_ms, created_ms, priority, queue, due_ms, ready_ms, started_ms,
    token, worker_id, attempts, state, trail, wait_ms, sla_marks, origin, first, late, effect_done, error)
SELECT n.id, n.job_id, $1::bigint, $2::bigint, $3::bigint, $4::text, $5::bigint, $6::bigint, $7::bigint,
    $8::bigint, $9::bigint, $10::bigint, $11::bigint, $12::text,
    CASE WHEN $11::bigint IN (1, 5) THEN $5::bigint END, 0, 0, true, false, false, ''
FROM (SELECT unnest($13::bigint[]) AS id, unnest($14::bigint[]) AS job_id) n;

-- name: update_live
-- An empty error keeps the one that is there: why the last attempt failed is still worth knowing while the
-- next one waits.
WITH changed AS (
    UPDATE belfry.live l
    SET state = n.state, due_ms = n.due_ms, ready_ms = n.ready_ms, started_ms = n.started_ms,
        attempts = n.attempts, lost = n.lost, returned = n.returned, late = n.late,
        sla_since_ms = n.sla_since_ms, sla_extra_ms = n.sla_extra_ms, sla_marks = n.sla_marks,
        token = n.token, worker_id = n.worker_id, effect_done = n.effect_done,
        error = CASE WHEN n.error = '' THEN l.error ELSE n.error END, trail = l.trail || n.step,
        unseen = NULL, proven = NULL, charged = NULL, wait_ms = CASE WHEN n.state IN (1, 5) THEN n.due_ms END
    FROM unnest($2::belfry.changed_live[]) n
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.live e WHERE e.id = n.id OFFSET 0) f
    WHERE l.ctid = f.at
    RETURNING 1)
SELECT 1 / (count(*) = $1::bigint)::integer FROM changed;

-- name: update_plain_live
WITH changed AS (
    UPDATE belfry.live l
    SET state = n.state, due_ms = n.due_ms, ready_ms = n.ready_ms, started_ms = n.started_ms,
        attempts = n.attempts, lost = NULL, returned = NULL, late = false, sla_since_ms = NULL,
        sla_extra_ms = NULL, sla_marks = 0, token = n.token, worker_id = n.worker_id,
        effect_done = false, trail = l.trail || n.step, unseen = NULL, proven = NULL, charged = NULL,
        wait_ms = CASE WHEN n.state IN (1, 5) THEN n.due_ms END
    FROM unnest($2::belfry.plain_change[]) n
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.live e WHERE e.id = n.id OFFSET 0) f
    WHERE l.ctid = f.at
    RETURNING 1)
SELECT 1 / (count(*) = $1::bigint)::integer FROM changed;

-- name: update_alike_live
-- The same for many that differ by their ids ($10) alone: 4.6 us each instead of 6.
WITH changed AS (
    UPDATE belfry.live
    SET state = $8::bigint, due_ms = $2::bigint, ready_ms = $3::bigint, started_ms = $4::bigint,
        attempts = $7::bigint, lost = NULL, returned = NULL, late = false, sla_since_ms = NULL,
        sla_extra_ms = NULL, sla_marks = 0, token = $5::bigint, worker_id = $6::bigint,
        effect_done = false, trail = trail || $9::text, unseen = NULL, proven = NULL, charged = NULL,
        wait_ms = CASE WHEN $8::bigint IN (1, 5) THEN $2::bigint END
    WHERE id = ANY($10::bigint[])
    RETURNING 1)
SELECT 1 / (count(*) = $1::bigint)::integer FROM changed;

-- name: mark_unseen
-- Behind insert_live and update_live, for the few that have any.
WITH changed AS (
    UPDATE belfry.live l
    SET unseen = n.unseen, proven = n.proven
    FROM unnest($2::bigint[], $3::bigint[], $4::boolean[]) n (id, unseen, proven)
    WHERE l.id = n.id AND l.id = ANY($2::bigint[])
    RETURNING 1)
SELECT 1 / (count(*) = $1::bigint)::integer FROM changed;

-- name: charge_live
-- Behind update_live, for the few that have one.
WITH changed AS (
    UPDATE belfry.live l
    SET charged = n.charged
    FROM unnest($2::bigint[], $3::text[]) n (id, charged)
    WHERE l.id = n.id AND l.id = ANY($2::bigint[])
    RETURNING 1)
SELECT 1 / (count(*) = $1::bigint)::integer FROM changed;

-- name: move_live
-- Behind update_live, when the job was edited: what an execution is born with otherwise.
WITH changed AS (
    UPDATE belfry.live l
    SET queue = n.queue, priority = n.priority, slot_ms = n.slot_ms, nominal_ms = n.nominal_ms
    FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
        n (id, queue, priority, slot_ms, nominal_ms)
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.live e WHERE e.id = n.id OFFSET 0) f
    WHERE l.ctid = f.at
    RETURNING 1)
SELECT 1 / (count(*) = $1::bigint)::integer FROM changed;

-- name: finish_live
-- Leaves live and enters history in one statement, which takes the trail along.
WITH gone AS (
    DELETE FROM belfry.live l
    USING unnest($2::belfry.finished[]) n
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.live e WHERE e.id = n.id OFFSET 0) f
    WHERE l.ctid = f.at
    RETURNING n.*, l.trail),
kept AS (
    INSERT INTO belfry.history (id, job_id, queue, priority, retry_of, first, origin, slot_ms,
        nominal_ms, created_ms, state, due_ms, ready_ms, started_ms, attempts, lost, returned, late,
        sla_since_ms, sla_extra_ms, sla_marks, token, worker_id, effect_done, error, trail,
        finished_ms, result, slot_last_ms, slot_count, job_state, job_step, attempt_outcome,
        attempt_number, attempt_worker, attempt_started_ms, attempt_ended_ms, attempt_usage,
        attempt_error, attempt_class, attempt_fingerprint, attempt_tail)
    SELECT id, job_id, queue, priority, retry_of, first, origin, slot_ms, nominal_ms, created_ms, state,
        due_ms, ready_ms, started_ms, attempts, lost, returned, late, sla_since_ms, sla_extra_ms,
        sla_marks, token, worker_id, effect_done, error, trail || step, finished_ms, result,
        slot_last_ms, slot_count, job_state, job_step, attempt_outcome, attempt_number,
        attempt_worker, attempt_started_ms, attempt_ended_ms, attempt_usage, attempt_error,
        attempt_class, attempt_fingerprint, attempt_tail
    FROM gone
    RETURNING 1)
SELECT 1 / (count(*) = $1::bigint)::integer FROM kept;

-- name: delete_live
-- In front of finish_known.
WITH gone AS (DELETE FROM belfry.live WHERE id = ANY($2::bigint[]) RETURNING 1)
SELECT 1 / (count(*) = $1::bigint)::integer FROM gone;

-- name: finish_known
-- The same in two statements, where the whole trail is known and comes as the step.
INSERT INTO belfry.history (id, job_id, queue, priority, retry_of, first, origin, slot_ms, nominal_ms,
    created_ms, state, due_ms, ready_ms, started_ms, attempts, lost, returned, late, sla_since_ms,
    sla_extra_ms, sla_marks, token, worker_id, effect_done, error, trail, finished_ms, result,
    slot_last_ms, slot_count, job_state, job_step, attempt_outcome, attempt_number, attempt_worker,
    attempt_started_ms, attempt_ended_ms, attempt_usage, attempt_error, attempt_class,
    attempt_fingerprint, attempt_tail)
SELECT * FROM unnest($1::belfry.finished[]);

-- name: finish_plain
INSERT INTO belfry.history (id, job_id, slot_ms, created_ms, ready_ms, started_ms, token, worker_id,
    finished_ms, attempts, attempt_worker, attempt_started_ms, attempt_ended_ms, attempt_number, priority,
    attempt_outcome, job_state, state, queue, trail, job_step, due_ms, sla_marks, origin, first, late,
    effect_done, error, result)
SELECT n.*, 0, 0, 0, true, false, false, '', '' FROM unnest($1::belfry.plain_end[]) n;

-- name: finish_alike
INSERT INTO belfry.history (id, job_id, slot_ms, created_ms, priority, queue, due_ms, ready_ms, started_ms,
    token, worker_id, attempts, state, trail, finished_ms, attempt_worker, attempt_started_ms,
    attempt_ended_ms, attempt_number, attempt_outcome, job_state, job_step, sla_marks, origin, first, late,
    effect_done, error, result)
SELECT n.id, n.job_id, $1::bigint, $2::bigint, $3::bigint, $4::text, $5::bigint, $6::bigint, $7::bigint,
    $8::bigint, $9::bigint, $10::bigint, $11::bigint, $12::text, $13::bigint, $14::bigint, $15::bigint,
    $16::bigint, $17::bigint, $18::bigint, $19::bigint, $20::text, 0, 0, true, false, false, '', ''
FROM (SELECT unnest($21::bigint[]) AS id, unnest($22::bigint[]) AS job_id) n;

-- name: insert_history
INSERT INTO belfry.history (id, job_id, queue, priority, retry_of, first, origin, slot_ms, nominal_ms,
    created_ms, state, due_ms, ready_ms, started_ms, attempts, lost, returned, late, sla_since_ms,
    sla_extra_ms, sla_marks, token, worker_id, effect_done, error, trail, finished_ms, result,
    slot_last_ms, slot_count)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::boolean[],
    $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[],
    $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::boolean[],
    $19::bigint[], $20::bigint[], $21::bigint[], $22::bigint[], $23::bigint[], $24::boolean[],
    $25::text[], $26::text[], $27::bigint[], $28::text[], $29::bigint[], $30::bigint[]);

-- name: insert_payloads
INSERT INTO belfry.exec_payload (exec_id, payload)
SELECT n.* FROM unnest($1::bigint[], $2::text[]) n (exec_id, payload);

-- name: put_attempts
-- A late success takes the place of the loss that was written down before it came.
INSERT INTO belfry.attempt (exec_id, token, number, worker_id, started_ms, ended_ms, outcome,
    exit_code, signal, cpu_ms, peak_memory_bytes, output_bytes, dropped_bytes, log_seq, error,
    class, fingerprint, tail)
SELECT DISTINCT ON (exec_id, token) exec_id, token, number, worker_id, started_ms, ended_ms, outcome,
    exit_code, signal, cpu_ms, peak_memory_bytes, output_bytes, dropped_bytes, log_seq, error,
    class, fingerprint, tail
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
    $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[],
    $13::bigint[], $14::bigint[], $15::text[], $16::bigint[], $17::bigint[], $18::text[])
    WITH ORDINALITY n (exec_id, token, number, worker_id, started_ms, ended_ms, outcome, exit_code,
        signal, cpu_ms, peak_memory_bytes, output_bytes, dropped_bytes, log_seq, error, class,
        fingerprint, tail, at)
ORDER BY exec_id, token, at DESC
ON CONFLICT (exec_id, token) DO UPDATE
SET number = excluded.number, worker_id = excluded.worker_id, started_ms = excluded.started_ms,
    ended_ms = excluded.ended_ms, outcome = excluded.outcome, exit_code = excluded.exit_code,
    signal = excluded.signal, cpu_ms = excluded.cpu_ms,
    peak_memory_bytes = excluded.peak_memory_bytes, output_bytes = excluded.output_bytes,
    dropped_bytes = excluded.dropped_bytes, log_seq = excluded.log_seq, error = excluded.error,
    class = excluded.class, fingerprint = excluded.fingerprint, tail = excluded.tail;

-- name: release_claims
-- The holder is asked too: whoever took the key since keeps it.
DELETE FROM belfry.claim c
USING unnest($1::bigint[], $2::text[], $3::bigint[]) n (kind, key, holder)
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.claim e
    WHERE e.kind = n.kind AND e.key = n.key AND e.holder = n.holder OFFSET 0) f
WHERE c.ctid = f.at AND c.holder = n.holder;

-- name: put_claims
-- Of several words about one key the last one counts.
INSERT INTO belfry.claim (kind, key, holder, until_ms, note)
SELECT DISTINCT ON (kind, key) kind, key, holder, until_ms, note
FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[])
    WITH ORDINALITY n (kind, key, holder, until_ms, note, at)
ORDER BY kind, key, at DESC
ON CONFLICT (kind, key) DO UPDATE
SET holder = excluded.holder, until_ms = excluded.until_ms, note = excluded.note;

-- name: release_requests
DELETE FROM belfry.request r USING unnest($1::uuid[], $2::bigint[]) n (key, holder)
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.request e
    WHERE e.key = n.key AND e.holder = n.holder OFFSET 0) f
WHERE r.ctid = f.at AND r.holder = n.holder;

-- name: put_requests
INSERT INTO belfry.request (key, holder, until_ms, note)
SELECT DISTINCT ON (key) key, holder, until_ms, note
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[])
    WITH ORDINALITY n (key, holder, until_ms, note, at)
ORDER BY key, at DESC
ON CONFLICT (key) DO UPDATE
SET holder = excluded.holder, until_ms = excluded.until_ms, note = excluded.note;

-- name: sweep_requests
-- The lots that ended first, of $2 keys together or one lot at least, and of these the keys that have ended.
-- What another server is busy with is its own affair: who takes an ended key puts it into another lot.
WITH ended AS MATERIALIZED (
    SELECT row_id, keys, sum(cardinality(keys)) OVER (ORDER BY until_ms, row_id) AS total
    FROM (SELECT ctid AS row_id, until_ms, keys FROM belfry.request_lot
        WHERE until_ms <= $1::bigint ORDER BY until_ms LIMIT $2::bigint FOR UPDATE SKIP LOCKED) oldest),
gone AS (
    DELETE FROM belfry.request_lot
    WHERE ctid = ANY(ARRAY(SELECT row_id FROM ended WHERE total <= greatest($2::bigint, cardinality(keys))))
    RETURNING keys)
DELETE FROM belfry.request r
USING gone CROSS JOIN unnest(gone.keys) n (key)
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.request e
    WHERE e.key = n.key AND e.until_ms > 0 AND e.until_ms <= $1::bigint
    OFFSET 0 FOR UPDATE SKIP LOCKED) f
WHERE r.ctid = f.at;

-- name: put_worker
INSERT INTO belfry.worker (id, name, queues, handlers, runs_commands, draining, slots, registered_ms,
    boot_id, replaces)
VALUES ($1::bigint, $2::text, $3::text, $4::text, $5::boolean, $6::boolean, $7::bigint, $8::bigint,
    $9::text, $10::bigint)
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, queues = excluded.queues, handlers = excluded.handlers,
    runs_commands = excluded.runs_commands, draining = excluded.draining, slots = excluded.slots,
    registered_ms = excluded.registered_ms, boot_id = excluded.boot_id,
    replaces = excluded.replaces;

-- name: forget_worker
DELETE FROM belfry.worker WHERE id = $1::bigint;

-- name: put_queue
INSERT INTO belfry.queue (name, concurrency, paused, paused_ms, paused_by, changed_ms, changed_by)
VALUES ($1::text, $2::bigint, $3::boolean, $4::bigint, $5::text, $6::bigint, $7::text)
ON CONFLICT (name) DO UPDATE
SET concurrency = excluded.concurrency, paused = excluded.paused, paused_ms = excluded.paused_ms,
    paused_by = excluded.paused_by, changed_ms = excluded.changed_ms,
    changed_by = excluded.changed_by;

-- name: forget_queue
DELETE FROM belfry.queue WHERE name = $1::text;

-- name: put_team
INSERT INTO belfry.team (name, concurrency, changed_ms, changed_by)
VALUES ($1::text, $2::bigint, $3::bigint, $4::text)
ON CONFLICT (name) DO UPDATE
SET concurrency = excluded.concurrency, changed_ms = excluded.changed_ms,
    changed_by = excluded.changed_by;

-- name: raise_settings
-- In the commit that changes a queue, a team, a calendar or a key.
UPDATE belfry.meta SET value = (value::bigint + 1)::text WHERE key = 'settings_version';

-- name: put_rate
INSERT INTO belfry.rate (key, next_us, interval_us) VALUES ($1::text, $2::bigint, $3::bigint)
ON CONFLICT (key) DO UPDATE SET next_us = excluded.next_us, interval_us = excluded.interval_us;

-- name: forget_rate
DELETE FROM belfry.rate WHERE key = $1::text;

-- name: insert_alert
INSERT INTO belfry.alert (id, at_ms, kind, level, state, key, text, queue, job_id, exec_id, repeats)
VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::text, $7::text, $8::text,
    $9::bigint, $10::bigint, $11::bigint);

-- name: mark_alert
UPDATE belfry.alert SET state = $1::bigint WHERE id = $2::bigint;

-- name: insert_sla_event
INSERT INTO belfry.sla_event (id, at_ms, kind, policy, exec_id, job_id, attempt, expected_ms, max_ms,
    actual_ms, extended_ms, queue, actor, reason, approver)
VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint, $7::bigint, $8::bigint,
    $9::bigint, $10::bigint, $11::bigint, $12::text, $13::text, $14::text, $15::text);

-- name: put_clock
INSERT INTO belfry.clock (id, at_ms, by_ms) VALUES (1, $1::bigint, $2::bigint)
ON CONFLICT (id) DO UPDATE SET at_ms = excluded.at_ms, by_ms = excluded.by_ms;

-- name: put_breaker
INSERT INTO belfry.breaker (partition, target, state, opened_ms, until_ms, probe)
VALUES ($1::bigint, $2::text, $3::bigint, $4::bigint, $5::bigint, $6::bigint)
ON CONFLICT (partition, target) DO UPDATE
SET state = excluded.state, opened_ms = excluded.opened_ms, until_ms = excluded.until_ms,
    probe = excluded.probe;

-- name: forget_breaker
-- In all of our partitions: the lowest one may have been another when it was put.
DELETE FROM belfry.breaker WHERE target = $1::text AND partition = ANY($2::bigint[]);

-- name: put_dependency
INSERT INTO belfry.dependency (dependant, upstream, type, state)
VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint)
ON CONFLICT (dependant, upstream) DO UPDATE SET state = excluded.state;

-- name: put_letters
-- The owner is the job's.
INSERT INTO belfry.dead_letter (died_ms, exec_id, job_id, state, queue, name, reason, class,
    fingerprint, line, error, attempts, lost, owner)
SELECT n.*, coalesce((SELECT j.owner FROM belfry.job j WHERE j.id = n.job_id), '')
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[],
    $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::bigint[], $13::bigint[])
    n (died_ms, exec_id, job_id, state, queue, name, reason, class, fingerprint, line, error,
        attempts, lost);

-- name: remove_letters
DELETE FROM belfry.dead_letter d USING unnest($1::bigint[], $2::bigint[]) n (died_ms, exec_id)
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.dead_letter e
    WHERE e.died_ms = n.died_ms AND e.exec_id = n.exec_id OFFSET 0) f
WHERE d.ctid = f.at;

-- name: put_operation
INSERT INTO belfry.operation (id, kind, state, queue, name, class, fingerprint, job_id, died_after_ms,
    died_before_ms, actor, created_ms, finished_ms, total, done, refused, at_ms, at_id, refusal)
VALUES ($1::bigint, $2::bigint, $3::bigint, $4::text, $5::text, $6::bigint, $7::bigint, $8::bigint,
    $9::bigint, $10::bigint, $11::text, $12::bigint, $13::bigint, $14::bigint, $15::bigint,
    $16::bigint, $17::bigint, $18::bigint, $19::text)
ON CONFLICT (id) DO UPDATE
SET kind = excluded.kind, state = excluded.state, queue = excluded.queue, name = excluded.name,
    class = excluded.class, fingerprint = excluded.fingerprint, job_id = excluded.job_id,
    died_after_ms = excluded.died_after_ms, died_before_ms = excluded.died_before_ms,
    actor = excluded.actor, created_ms = excluded.created_ms, finished_ms = excluded.finished_ms,
    total = excluded.total, done = excluded.done, refused = excluded.refused,
    at_ms = excluded.at_ms, at_id = excluded.at_id, refusal = excluded.refusal;

-- name: forget_operation
DELETE FROM belfry.operation WHERE id = $1::bigint;

-- name: forget_jobs
-- Of a job that is over: completed 2, failed 3, cancelled 4 (job/state.h). The end may stand in the newest
-- execution's row, as in job_full. It goes when nothing of it is left but what goes now, or has gone and waits for
-- the end of its week; and with it what it waited for.
WITH gone AS (
    DELETE FROM belfry.job j
    USING (SELECT DISTINCT h.job_id FROM belfry.history h WHERE h.id = ANY($1::bigint[])) of
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.job e WHERE e.id = of.job_id OFFSET 0) f
    WHERE j.ctid = f.at
        AND CASE WHEN j.last_exec <> j.told THEN
            coalesce((SELECT h.job_state FROM belfry.history h
                WHERE h.id = j.last_exec AND h.id = ANY($1::bigint[])), j.state)
            ELSE j.state END IN (2, 3, 4)
        AND NOT EXISTS (SELECT 1 FROM belfry.live e WHERE e.id = j.first_exec OFFSET 0)
        AND (j.first_exec = ANY($1::bigint[])
            OR NOT EXISTS (SELECT 1 FROM belfry.history e
                WHERE e.id = j.first_exec AND NOT belfry.is_forgotten(e.id) OFFSET 0))
        AND NOT EXISTS (SELECT 1 FROM belfry.live e WHERE e.job_id = j.id AND NOT e.first OFFSET 0)
        AND NOT EXISTS (SELECT 1 FROM belfry.history e
            WHERE e.job_id = j.id AND NOT e.first AND e.id <> ALL($1::bigint[])
                AND NOT belfry.is_forgotten(e.id) OFFSET 0)
    RETURNING j.id)
DELETE FROM belfry.dependency d USING gone g
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.dependency e WHERE e.dependant = g.id OFFSET 0) f
WHERE d.ctid = f.at;

-- name: fold_jobs
-- As update_jobs takes over what the newest execution's row said, when that row goes and the job stays.
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
    AND NOT EXISTS (SELECT 1 FROM belfry.old_week w WHERE w.week = (a.exec_id >> 22) / 604800000 OFFSET 0);

-- name: forget_sla_events
DELETE FROM belfry.sla_event WHERE exec_id = ANY($1::bigint[]);

-- name: forget_payloads
DELETE FROM belfry.exec_payload WHERE exec_id = ANY($1::bigint[]);

-- name: forget_alerts
DELETE FROM belfry.alert WHERE id = ANY($1::bigint[]);

-- name: forget_tallies
-- The sums lose what they had of them: as by an insert, which finds each by its key, and waits for a server that
-- is adding to it.
WITH old AS (
    SELECT n.* FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
        n (scope, key, hour, "end", bucket)),
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
    INSERT INTO belfry.tally_end AS t (scope, key, day, "end", count)
    SELECT scope, key, day, "end", -sum(count)::bigint FROM gone
    GROUP BY scope, key, day, "end" ORDER BY scope, key, day, "end"
    ON CONFLICT (scope, day, key, "end") DO UPDATE SET count = t.count + excluded.count)
DELETE FROM belfry.tally_delta t USING old o
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.tally_delta e
    WHERE e.scope = o.scope AND e.key = o.key AND e.hour = o.hour AND e."end" = o."end"
        AND e.bucket = o.bucket OFFSET 0) f
WHERE t.ctid = f.at;

-- name: forget_days
-- Behind that: sums of which nothing is left.
WITH old AS (
    SELECT n.scope, n.key, n.hour / 24 AS day, n."end", n.bucket
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
        n (scope, key, hour, "end", bucket)),
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
    AND NOT EXISTS (SELECT 1 FROM belfry.old_week w WHERE w.week = (h.id >> 22) / 604800000 OFFSET 0);

-- name: mark_forgotten
-- Behind $2 and up to $3 nothing is left but $4. A week goes on where the stretch before has ended; one that
-- has something left does not.
UPDATE belfry.old_week SET forgotten_id = $3::bigint
WHERE ($1::bigint >> partition) & 1 = 1 AND forgotten_id < $3::bigint
    AND (forgotten_id >= $2::bigint OR (week * 604800000) << 22 > $2::bigint)
    AND NOT EXISTS (SELECT 1 FROM unnest($4::bigint[]) stays (id) WHERE (stays.id >> 22) / 604800000 = week);

-- name: put_calendar
INSERT INTO belfry.calendar (name, version, policy, entry_count, changed_ms, changed_by, document)
VALUES ($1::text, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::text, $7::text)
ON CONFLICT (name) DO UPDATE
SET version = excluded.version, policy = excluded.policy, entry_count = excluded.entry_count,
    changed_ms = excluded.changed_ms, changed_by = excluded.changed_by,
    document = excluded.document;

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

-- name: insert_inbox
INSERT INTO belfry.inbox (bucket, kind, sent_ms, about, sender, value, number, name, actor, body)
SELECT bucket, kind, sent_ms, about, sender, value, number, name, actor, body
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
    $7::bigint[], $8::text[], $9::text[], $10::text[])
    WITH ORDINALITY n (bucket, kind, sent_ms, about, sender, value, number, name, actor, body, at)
ORDER BY at;

-- name: delete_inbox
WITH gone AS (DELETE FROM belfry.inbox WHERE id = ANY($2::bigint[]) RETURNING 1)
SELECT 1 / (count(*) = $1::bigint)::integer FROM gone;

-- name: put_waiter
INSERT INTO belfry.waiter (upstream, exec_id, dependant, type, slot_ms)
VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint)
ON CONFLICT (upstream, exec_id) DO UPDATE
SET dependant = excluded.dependant, type = excluded.type, slot_ms = excluded.slot_ms;

-- name: forget_waiter
DELETE FROM belfry.waiter WHERE upstream = $1::bigint AND exec_id = $2::bigint;

-- name: put_permit
INSERT INTO belfry.permit (key, exec_id, bucket, granted, max, rank, ask, asked_ms)
VALUES ($1::text, $2::bigint, $3::bigint, $4::boolean, $5::bigint, $6::bigint, $7::bigint, $8::bigint)
ON CONFLICT (key, exec_id) DO UPDATE
SET bucket = excluded.bucket, granted = excluded.granted, max = excluded.max, rank = excluded.rank,
    ask = excluded.ask, asked_ms = excluded.asked_ms;

-- name: forget_permit
DELETE FROM belfry.permit WHERE key = $1::text AND exec_id = $2::bigint;

-- name: insert_rejected
INSERT INTO belfry.rejected (id, at_ms, inbox_id, team, actor, reason, head)
VALUES ($1::bigint, $2::bigint, $3::bigint, $4::text, $5::text, $6::text, $7::text);

-- name: forget_rejected
-- Few are there, and this runs only when one more comes.
DELETE FROM belfry.rejected WHERE at_ms < $1::bigint;

-- name: add_counters
INSERT INTO belfry.counter_delta (turn, partition, kind, queue, state, value)
SELECT $1::bigint, n.*
FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[])
    n (partition, kind, queue, state, value);

-- name: add_tallies
INSERT INTO belfry.tally_delta (partition, turn, scope, key, hour, "end", bucket, count, sum_ms)
SELECT $1::bigint, $2::bigint, n.*
FROM unnest($3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::bigint[]) n (scope, key, hour, "end", bucket, count, sum_ms);

-- name: move_counters
-- The numbers of queues $5, which are forgotten in the partitions $1 (how many there are) and $2 (bits of those
-- we own), go on under the empty name. Turns before $4 were folded.
WITH owned AS MATERIALIZED (
    SELECT array_agg(p) AS partitions FROM generate_series(0, $1::bigint - 1) p
    WHERE ($2::bigint >> p::integer) & 1 = 1),
sums AS (
    DELETE FROM belfry.counter
    WHERE partition = ANY((SELECT partitions FROM owned)::integer[]) AND kind = ANY('{1,2,3}')
        AND queue = ANY($5::text[])
    RETURNING partition, kind, state, value),
added AS (
    DELETE FROM belfry.counter_delta
    WHERE partition = ANY((SELECT partitions FROM owned)::integer[]) AND turn >= $4::bigint
        AND queue = ANY($5::text[])
    RETURNING partition, kind, state, value)
INSERT INTO belfry.counter_delta (partition, turn, kind, queue, state, value)
SELECT partition, $3::bigint, kind, '', state, sum(value)::bigint
FROM (SELECT * FROM sums UNION ALL SELECT * FROM added) n GROUP BY partition, kind, state;

-- name: fold_counters
-- What was added since turn $1. Sums are made in the order of their keys: another server's partition has
-- other rows, but two of them never wait for each other in a circle.
WITH added AS (
    DELETE FROM belfry.counter_delta WHERE partition = ANY($2::bigint[]) AND turn >= $1::bigint
    RETURNING partition, kind, queue, state, value)
INSERT INTO belfry.counter AS c (partition, kind, queue, state, value)
SELECT partition, kind, queue, state, sum(value)::bigint FROM added
GROUP BY partition, kind, queue, state ORDER BY partition, kind, queue, state
ON CONFLICT (partition, kind, queue, state) DO UPDATE SET value = c.value + excluded.value;

-- name: fold_tallies
WITH added AS (
    DELETE FROM belfry.tally_delta WHERE partition = ANY($2::bigint[]) AND turn >= $1::bigint
    RETURNING scope, key, hour, "end", bucket, count, sum_ms),
days AS (
    INSERT INTO belfry.tally_day AS t (scope, key, day, "end", bucket, count, sum_ms)
    SELECT scope, key, hour / 24 AS day, "end", bucket, sum(count)::bigint, sum(sum_ms)::bigint FROM added
    GROUP BY scope, key, day, "end", bucket ORDER BY scope, key, day, "end", bucket
    ON CONFLICT (scope, key, day, "end", bucket)
    DO UPDATE SET count = t.count + excluded.count, sum_ms = t.sum_ms + excluded.sum_ms),
ends AS (
    INSERT INTO belfry.tally_end AS t (scope, key, day, "end", count)
    SELECT scope, key, hour / 24 AS day, "end", sum(count)::bigint FROM added
    GROUP BY scope, key, day, "end" ORDER BY scope, key, day, "end"
    ON CONFLICT (scope, day, key, "end") DO UPDATE SET count = t.count + excluded.count)
INSERT INTO belfry.tally AS t (scope, key, hour, "end", bucket, count, sum_ms)
SELECT scope, key, hour, "end", bucket, sum(count)::bigint, sum(sum_ms)::bigint FROM added
GROUP BY scope, key, hour, "end", bucket ORDER BY scope, key, hour, "end", bucket
ON CONFLICT (scope, key, hour, "end", bucket)
DO UPDATE SET count = t.count + excluded.count, sum_ms = t.sum_ms + excluded.sum_ms;

-- name: forget_own_turns
-- What was called lost stays: the commit that it keeps out may still lie in the socket of a backend that was
-- stopped. Such rows are few, and go with their epoch (forget_turns).
DELETE FROM belfry.turn WHERE writer = $1::text AND turn >= $2::bigint AND turn < $3::bigint AND kept;

-- ---- loading: what is in the partitions $1 (how many there are) and $2 (bits of those we own)

-- name: load_counters
SELECT kind, queue, state, sum(value)::bigint FROM belfry.counter_row
WHERE ($2::bigint >> partition) & 1 = 1 AND partition < $1::bigint
GROUP BY kind, queue, state HAVING sum(value) <> 0 ORDER BY kind, queue, state;

-- name: load_queues
SELECT name, concurrency, paused, paused_ms, paused_by, changed_ms, changed_by
FROM belfry.queue ORDER BY name;

-- name: load_teams
SELECT name, concurrency, changed_ms, changed_by FROM belfry.team ORDER BY name;

-- name: load_rates
SELECT key, next_us, interval_us FROM belfry.rate ORDER BY key;

-- name: load_clock
SELECT at_ms, by_ms FROM belfry.clock WHERE id = 1;

-- name: load_breakers
-- One target may have rows of two servers that were: the one that is left alone longer counts.
SELECT DISTINCT ON (target) target, state, opened_ms, until_ms, probe FROM belfry.breaker
WHERE ($2::bigint >> partition) & 1 = 1 AND partition < $1::bigint
ORDER BY target, until_ms DESC;

-- name: load_operations
SELECT id, kind, state, queue, name, class, fingerprint, job_id, died_after_ms, died_before_ms,
    actor, created_ms, finished_ms, total, done, refused, at_ms, at_id, refusal
FROM belfry.operation WHERE belfry.is_owned(id, $1::bigint::integer, $2::bigint) ORDER BY id;

-- name: load_workers
SELECT id, name, queues, handlers, runs_commands, draining, slots, registered_ms, boot_id, replaces
FROM belfry.worker WHERE belfry.is_owned(id, $1::bigint::integer, $2::bigint) ORDER BY id;

-- name: load_calendars
SELECT name, version, policy, entry_count, changed_ms, changed_by, document
FROM belfry.calendar ORDER BY name;

-- name: load_permits
SELECT key, exec_id, bucket, granted, max, rank, ask, asked_ms FROM belfry.permit
WHERE belfry.is_owned(bucket::bigint << 12, $1::bigint::integer, $2::bigint) ORDER BY key, exec_id;

-- name: load_waiters
SELECT upstream, exec_id, dependant, type, slot_ms FROM belfry.waiter
WHERE belfry.is_owned(upstream, $1::bigint::integer, $2::bigint) ORDER BY upstream, exec_id;

-- name: load_live
-- A page of them. NULL is what most rows have: see row_live.c, which reads this.
SELECT id, job_id, state, queue, nullif(priority, 500), created_ms,
    nullif(first, true), nullif(slot_ms, created_ms), nullif(ready_ms, created_ms), retry_of,
    CASE WHEN retry_of <> 0 THEN EXISTS (SELECT 1 FROM belfry.exec_payload p WHERE p.exec_id = live.id) END,
    nullif(origin, 0), nominal_ms, nullif(due_ms, 0), nullif(started_ms, 0), attempts, lost, returned,
    nullif(late, false), sla_since_ms, sla_extra_ms, nullif(sla_marks, 0), nullif(token, 0),
    nullif(worker_id, 0), nullif(effect_done, false), nullif(error, ''), unseen, proven,
    charged
FROM belfry.live
WHERE id > $4::bigint AND belfry.is_owned(id, $1::bigint::integer, $2::bigint)
    AND (state NOT IN (1, 5) OR due_ms <= $3::bigint OR (state = 5 AND origin <> 0)
        OR (state = 1 AND ready_ms > 0))
ORDER BY id LIMIT $5::bigint;

-- name: load_jobs
-- Those of a page, in runs from one number to another. NULL as above.
SELECT j.id, j.queue, j.owner, j.created_ms, j.last_exec, j.spec, nullif(j.state, 1),
    nullif(j.priority, 500), nullif(j.version, 1), j.name, nullif(j.team, ''), nullif(j.tags, ''),
    nullif(j.finished_ms, 0), nullif(j.changed_ms, 0)
FROM unnest($1::bigint[], $2::bigint[]) r (first, last)
JOIN belfry.job j ON j.id BETWEEN r.first AND r.last;

-- name: load_dependencies
SELECT upstream, dependant, type, state FROM belfry.dependency
WHERE state IN (1, 5) AND (belfry.is_owned(dependant, $1::bigint::integer, $2::bigint)
    OR belfry.is_owned(upstream, $1::bigint::integer, $2::bigint))
ORDER BY dependant, upstream;

-- name: load_keys
SELECT id, name, role, hash, created_ms FROM belfry.api_key ORDER BY id;

-- name: put_key
INSERT INTO belfry.api_key (id, name, role, hash, created_ms)
VALUES ($1::bigint, $2::text, $3::text, $4::text, $5::bigint)
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, role = excluded.role, hash = excluded.hash,
    created_ms = excluded.created_ms;

-- ---- other servers

-- name: renew_node
-- Nothing comes back when somebody else has the name, whose newest beat is not $7; or has taken
-- it from us ($8), for good. $9: a start that is dead for sure.
INSERT INTO belfry.node AS n (name, start, address, version, draining, clock_ms, started_ms, seen_ms,
    lease_ms, grace_ms, boot_id, time_ms)
SELECT $1::text, $2::text, $3::text, $4::text, $5::boolean, $6::bigint, t.ms, t.ms,
    $10::bigint, $11::bigint, $12::text, $13::bigint
FROM (SELECT belfry.now_ms() AS ms) t
ON CONFLICT (name) DO UPDATE
SET start = excluded.start, address = excluded.address, version = excluded.version,
    draining = excluded.draining, clock_ms = excluded.clock_ms, seen_ms = excluded.seen_ms,
    time_ms = excluded.time_ms,
    lease_ms = excluded.lease_ms, grace_ms = excluded.grace_ms, boot_id = excluded.boot_id,
    started_ms = CASE WHEN n.start = excluded.start THEN n.started_ms ELSE excluded.started_ms END
WHERE n.start = excluded.start
    OR (NOT $8::boolean AND (n.start = $9::text OR n.seen_ms = $7::bigint))
RETURNING n.start;

-- name: read_nodes
SELECT name, start, address, version, draining, started_ms, seen_ms, clock_ms, lease_ms, grace_ms, boot_id,
    time_ms
FROM belfry.node ORDER BY name;

-- name: read_partitions
SELECT id, epoch, owner, former, since_ms, unsure_ms FROM belfry.partition ORDER BY id;

-- name: name_writer
-- Who we are in table turn, by which others know that we leave their newest marks alone. It begins with our
-- start: an older version that takes our name leaves this column as it is.
UPDATE belfry.node SET writer = $2::text WHERE start = $1::text AND writer <> $2::text;

-- name: read_cluster
-- Our newest turn, whether every server that is listed leaves that alone, and the newest id of all.
SELECT belfry.now_ms(), value::bigint,
    (SELECT coalesce(max(turn), 0) FROM belfry.turn WHERE writer = $1::text AND kept),
    NOT EXISTS (SELECT 1 FROM belfry.node WHERE NOT starts_with(writer, start || '/')),
    greatest((SELECT max(newest_id) FROM belfry.partition), (SELECT max(newest_id) FROM belfry.turn),
        (SELECT max(id) FROM belfry.api_key), 0)
FROM belfry.meta WHERE key = 'settings_version';

-- name: release_partitions
UPDATE belfry.partition p
SET owner = '', former = p.owner, since_ms = belfry.now_ms(), unsure_ms = o.unsure_ms
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) o (id, epoch, unsure_ms)
WHERE p.id = o.id AND p.epoch = o.epoch;

-- name: ensure_partitions
UPDATE belfry.partition p SET unsure_ms = 0
FROM unnest($1::bigint[], $2::bigint[]) o (id, epoch)
WHERE p.id = o.id AND p.epoch = o.epoch;

-- name: release_all
UPDATE belfry.partition SET owner = '', former = owner, since_ms = belfry.now_ms() WHERE owner = $1::text;

-- name: leave_node
DELETE FROM belfry.node WHERE start = $1::text;

-- name: forget_nodes
DELETE FROM belfry.node n USING unnest($1::text[], $2::bigint[]) o (start, beat_ms)
WHERE n.start = o.start AND n.seen_ms = o.beat_ms
    AND NOT EXISTS (SELECT 1 FROM belfry.partition p WHERE p.owner = n.start);

-- name: tend
SELECT CASE WHEN (SELECT value::bigint FROM belfry.meta WHERE key = 'tended_ms')
    < belfry.now_ms() - $1::bigint THEN belfry.tend() ELSE 0 END;

-- name: drop_week
SELECT belfry.drop_week();

-- ---- reading
--
-- Every list has two statements. The first takes a window of at most $scan_max ids by an index and
-- looks at those rows only, so that a filter which fits nothing costs a page and not the table. Rows come
-- in the window's order, and a full page ends it early. The second, asked only when the page did not fill,
-- names the last id of that window: there the next page goes on.

-- name: read_job
SELECT id, version, state, name, queue, owner, team, tags, priority, created_ms, finished_ms,
    changed_ms, last_exec, spec, payload, trail
FROM belfry.job_full WHERE id = $1;

-- name: read_live
SELECT r.*, '' AS result, l.trail FROM belfry.live_rec r JOIN belfry.live l ON l.id = r.id
WHERE r.id = $1;

-- name: read_payload
SELECT payload FROM belfry.exec_payload WHERE exec_id = $1;

-- name: read_history
SELECT r.*, h.result, h.trail FROM belfry.history_rec r JOIN belfry.history h ON h.id = r.id
WHERE r.id = $1 AND h.id = $1;

-- name: read_attempts
SELECT * FROM belfry.attempt_row WHERE exec_id = $1 ORDER BY token;

-- name: read_grant
-- Always one row: who asks about what never was is told so by NULLs.
SELECT l.token, l.worker_id, coalesce(a.worker_id, h.attempt_worker)
FROM (SELECT $1::bigint AS exec_id, $2::bigint AS token) q
LEFT JOIN belfry.live l ON l.id = q.exec_id
LEFT JOIN belfry.attempt a ON a.exec_id = q.exec_id AND a.token = q.token
LEFT JOIN belfry.history h ON h.id = q.exec_id AND h.token = q.token;

-- name: read_upstreams
SELECT upstream, dependant, type, state FROM belfry.dependency
WHERE dependant = $1 ORDER BY upstream LIMIT $2;

-- name: read_dependants
SELECT upstream, dependant, type, state FROM belfry.dependency
WHERE upstream = $1 ORDER BY dependant LIMIT $2;

-- name: read_letter
SELECT * FROM belfry.letter_row WHERE exec_id = $1;

-- name: list_letters
-- Before a place ($1, $2), not older than $3. Here and below: each by its own index.
SELECT * FROM belfry.letter_row WHERE (died_ms, exec_id) < ($1, $2) AND died_ms >= $3
ORDER BY died_ms DESC, exec_id DESC LIMIT $4;

-- name: list_letters_of_job
SELECT * FROM belfry.letter_row
WHERE job_id = $5::bigint AND (died_ms, exec_id) < ($1, $2) AND died_ms >= $3
ORDER BY died_ms DESC, exec_id DESC LIMIT $4;

-- name: list_letters_of_kind
SELECT * FROM belfry.letter_row
WHERE fingerprint = $5::bigint AND (died_ms, exec_id) < ($1, $2) AND died_ms >= $3
ORDER BY died_ms DESC, exec_id DESC LIMIT $4;

-- name: list_letters_named
SELECT * FROM belfry.letter_row
WHERE name = $5::text AND name <> '' AND (died_ms, exec_id) < ($1, $2) AND died_ms >= $3
ORDER BY died_ms DESC, exec_id DESC LIMIT $4;

-- name: list_letters_of_queue
SELECT * FROM belfry.letter_row
WHERE queue = $5::text AND (died_ms, exec_id) < ($1, $2) AND died_ms >= $3
ORDER BY died_ms DESC, exec_id DESC LIMIT $4;

-- name: group_letters
-- Of the newest $3 between two moments. What a group says of itself is its newest letter's, which is found
-- again by the moment: few die in the same millisecond. The last column: how many were looked at.
WITH kind AS (
    SELECT fingerprint, count(*) AS count, min(died_ms) AS oldest_ms, max(died_ms) AS newest_ms
    FROM (SELECT died_ms, fingerprint FROM belfry.dead_letter
        WHERE died_ms >= $1::bigint AND died_ms < $2::bigint
        ORDER BY died_ms DESC, exec_id DESC LIMIT $3::bigint) newest
    GROUP BY fingerprint)
SELECT k.fingerprint, l.class, l.line, k.count, l.died_ms, l.exec_id, k.oldest_ms,
    (sum(k.count) OVER ())::bigint AS looked
FROM kind k CROSS JOIN LATERAL (
    SELECT d.died_ms, d.exec_id, d.class, d.line FROM belfry.dead_letter d
    WHERE d.died_ms = k.newest_ms AND d.fingerprint = k.fingerprint
    ORDER BY d.exec_id DESC LIMIT 1) l
ORDER BY k.count DESC, l.died_ms DESC, l.exec_id DESC LIMIT $4::bigint;

-- name: group_letters_fitting
WITH kind AS (
    SELECT fingerprint, count(*) AS count, min(died_ms) AS oldest_ms, max(died_ms) AS newest_ms
    FROM (SELECT died_ms, fingerprint, queue, name, class, job_id FROM belfry.dead_letter
        WHERE died_ms >= $1::bigint AND died_ms < $2::bigint
        ORDER BY died_ms DESC, exec_id DESC LIMIT $3::bigint) newest
    WHERE ($5::text IS NULL OR queue = $5::text) AND ($6::text IS NULL OR name = $6::text)
        AND ($7::bigint = 0 OR class = $7::bigint) AND ($8::bigint = 0 OR fingerprint = $8::bigint)
        AND ($9::bigint = 0 OR job_id = $9::bigint)
    GROUP BY fingerprint)
SELECT k.fingerprint, l.class, l.line, k.count, l.died_ms, l.exec_id, k.oldest_ms, 0::bigint AS looked
FROM kind k CROSS JOIN LATERAL (
    SELECT d.died_ms, d.exec_id, d.class, d.line FROM belfry.dead_letter d
    WHERE d.died_ms = k.newest_ms AND d.fingerprint = k.fingerprint
        AND ($5::text IS NULL OR d.queue = $5::text) AND ($6::text IS NULL OR d.name = $6::text)
        AND ($7::bigint = 0 OR d.class = $7::bigint) AND ($9::bigint = 0 OR d.job_id = $9::bigint)
    ORDER BY d.exec_id DESC LIMIT 1) l
ORDER BY k.count DESC, l.died_ms DESC, l.exec_id DESC LIMIT $4::bigint;

-- name: edge_letters
SELECT 1 FROM belfry.dead_letter WHERE died_ms >= $1 AND died_ms < $2
ORDER BY died_ms DESC, exec_id DESC LIMIT 1 OFFSET $3::bigint;

-- name: read_calendar
SELECT name, version, policy, entry_count, changed_ms, changed_by, document
FROM belfry.calendar WHERE name = $1;

-- name: read_calendars
SELECT name, version, policy, entry_count, changed_ms, changed_by, '' FROM belfry.calendar
ORDER BY name;

-- name: read_drift
SELECT greatest((SELECT max(drift_ms) FROM belfry.partition),
    (SELECT max(drift_ms) FROM belfry.turn), 0);

-- name: read_tally
-- Here and below: whole days as such, by the hour what is left at both ends, and what was not folded yet.
SELECT "end", bucket, sum(count)::bigint, sum(sum_ms)::bigint FROM (
    SELECT "end", bucket, count, sum_ms FROM belfry.tally_day
    WHERE scope = $1::bigint AND key = $2 AND day >= ($3::bigint + 23) / 24 AND day < $4::bigint / 24
    UNION ALL
    SELECT "end", bucket, count, sum_ms FROM belfry.tally
    WHERE scope = $1::bigint AND key = $2
        AND hour >= $3::bigint AND hour < least(($3::bigint + 23) / 24 * 24, $4::bigint)
    UNION ALL
    SELECT "end", bucket, count, sum_ms FROM belfry.tally
    WHERE scope = $1::bigint AND key = $2
        AND hour >= greatest(($3::bigint + 23) / 24, $4::bigint / 24) * 24 AND hour < $4::bigint
    UNION ALL
    SELECT "end", bucket, count, sum_ms FROM belfry.tally_delta
    WHERE scope = $1::bigint AND key = $2 AND hour >= $3::bigint AND hour < $4::bigint) part
GROUP BY "end", bucket;

-- name: read_tally_keys
SELECT key, coalesce(sum(count) FILTER (WHERE "end" = $1::bigint), 0)::bigint,
    coalesce(sum(count) FILTER (WHERE "end" = $2::bigint), 0)::bigint,
    coalesce(sum(count) FILTER (WHERE "end" NOT IN ($1::bigint, $2::bigint)), 0)::bigint AS failed
FROM (
    SELECT key, "end", count FROM belfry.tally_end
    WHERE scope = $3::bigint AND day >= ($4::bigint + 23) / 24 AND day < $5::bigint / 24
    UNION ALL
    SELECT key, "end", count FROM belfry.tally
    WHERE scope = $3::bigint AND hour >= $4::bigint
        AND hour < least(($4::bigint + 23) / 24 * 24, $5::bigint)
    UNION ALL
    SELECT key, "end", count FROM belfry.tally
    WHERE scope = $3::bigint AND hour >= greatest(($4::bigint + 23) / 24, $5::bigint / 24) * 24
        AND hour < $5::bigint
    UNION ALL
    SELECT key, "end", count FROM belfry.tally_delta
    WHERE scope = $3::bigint AND hour >= $4::bigint AND hour < $5::bigint) part
GROUP BY key ORDER BY failed DESC, key LIMIT $6;

-- name: read_counters
SELECT kind, queue, state, sum(value)::bigint FROM belfry.counter_row
GROUP BY kind, queue, state HAVING sum(value) <> 0 ORDER BY kind, queue, state;

-- name: list_alerts
SELECT id, at_ms, kind, level, state, key, text, queue, job_id, exec_id, repeats FROM belfry.alert
WHERE id < $1 ORDER BY id DESC LIMIT $2;

-- name: list_alerts_pending
SELECT id, at_ms, kind, level, state, key, text, queue, job_id, exec_id, repeats FROM belfry.alert
WHERE state = 2 AND id < $1 ORDER BY id DESC LIMIT $2;

-- name: list_sla_events_of_job
SELECT id, at_ms, kind, policy, exec_id, job_id, attempt, expected_ms, max_ms, actual_ms,
    extended_ms, queue, actor, reason, approver
FROM belfry.sla_event WHERE job_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3;

-- name: list_sla_events_of_exec
SELECT id, at_ms, kind, policy, exec_id, job_id, attempt, expected_ms, max_ms, actual_ms,
    extended_ms, queue, actor, reason, approver
FROM belfry.sla_event WHERE exec_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3;

-- name: list_rejected
SELECT id, at_ms, inbox_id, team, actor, reason, head FROM belfry.rejected
WHERE id < $1::bigint ORDER BY id DESC LIMIT $2::bigint;

-- name: list_jobs
-- As job_row, with the window in front. OFFSET 0 keeps the look at the newest execution one by key, for
-- the rows that pass everything else.
SELECT j.id, j.version, coalesce(h.job_state, j.state), j.name, j.queue, j.owner, j.team, j.tags,
    j.priority, j.created_ms, coalesce(h.finished_ms, j.finished_ms), j.changed_ms, j.last_exec, j.spec
FROM (SELECT * FROM belfry.job WHERE id >= $1 AND id < $2 ORDER BY id DESC LIMIT $3) j
LEFT JOIN LATERAL (SELECT e.job_state, e.finished_ms FROM belfry.history e
    WHERE e.id = j.last_exec AND e.job_state IS NOT NULL AND j.last_exec <> j.told OFFSET 0) h ON true
WHERE ($4::bigint = 0 OR coalesce(h.job_state, j.state) = $4::bigint)
    AND ($5::text IS NULL OR j.queue = $5::text) AND ($6::text IS NULL OR j.owner = $6::text)
    AND ($7::text IS NULL OR j.team = $7::text) AND ($8::text IS NULL OR strpos(j.tags, $8::text) > 0)
    AND j.created_ms >= $9 AND j.created_ms < $10
ORDER BY j.id DESC LIMIT $11;

-- name: edge_jobs
SELECT id FROM belfry.job WHERE id >= $1 AND id < $2 ORDER BY id DESC LIMIT 1 OFFSET $3::bigint - 1;

-- name: list_jobs_named
SELECT j.id, j.version, coalesce(h.job_state, j.state), j.name, j.queue, j.owner, j.team, j.tags,
    j.priority, j.created_ms, coalesce(h.finished_ms, j.finished_ms), j.changed_ms, j.last_exec, j.spec
FROM (SELECT * FROM belfry.job WHERE name = $1 AND id >= $2 AND id < $3 ORDER BY id DESC LIMIT $4) j
LEFT JOIN LATERAL (SELECT e.job_state, e.finished_ms FROM belfry.history e
    WHERE e.id = j.last_exec AND e.job_state IS NOT NULL AND j.last_exec <> j.told OFFSET 0) h ON true
WHERE ($5::bigint = 0 OR coalesce(h.job_state, j.state) = $5::bigint)
    AND ($6::text IS NULL OR j.queue = $6::text) AND ($7::text IS NULL OR j.owner = $7::text)
    AND ($8::text IS NULL OR j.team = $8::text) AND ($9::text IS NULL OR strpos(j.tags, $9::text) > 0)
    AND j.created_ms >= $10 AND j.created_ms < $11
ORDER BY j.id DESC LIMIT $12;

-- name: edge_jobs_named
SELECT id FROM belfry.job WHERE name = $1 AND id >= $2 AND id < $3
ORDER BY id DESC LIMIT 1 OFFSET $4::bigint - 1;

-- name: list_jobs_in_state
-- Of those that are neither active nor completed. Either the job's own row says so, or that of an execution,
-- not necessarily the newest: what is found counts by the same rule as everywhere. A job may have several such
-- executions, so a window of $4 rows of each kind has fewer jobs; it ends where the first of the two does,
-- since behind that the other kind is not known yet.
SELECT j.id, j.version, coalesce(h.job_state, j.state), j.name, j.queue, j.owner, j.team, j.tags,
    j.priority, j.created_ms, coalesce(h.finished_ms, j.finished_ms), j.changed_ms, j.last_exec, j.spec
FROM (SELECT DISTINCT id FROM (
        (SELECT id FROM belfry.job
        WHERE state = $1::bigint AND state <> 1 AND id >= $2 AND id < $3 ORDER BY id DESC LIMIT $4)
        UNION ALL
        (SELECT job_id FROM belfry.history
        WHERE job_state = $1::bigint AND job_state IN (3, 4) AND job_id >= $2 AND job_id < $3
        ORDER BY job_id DESC LIMIT $4)) e
    WHERE id >= greatest(
        (SELECT id FROM belfry.job
        WHERE state = $1::bigint AND state <> 1 AND id >= $2 AND id < $3
        ORDER BY id DESC LIMIT 1 OFFSET $4::bigint - 1),
        (SELECT job_id FROM belfry.history
        WHERE job_state = $1::bigint AND job_state IN (3, 4) AND job_id >= $2 AND job_id < $3
        ORDER BY job_id DESC LIMIT 1 OFFSET $4::bigint - 1), 0)
    ORDER BY id DESC) w
JOIN LATERAL (SELECT * FROM belfry.job e WHERE e.id = w.id OFFSET 0) j ON true
LEFT JOIN LATERAL (SELECT e.job_state, e.finished_ms FROM belfry.history e
    WHERE e.id = j.last_exec AND e.job_state IS NOT NULL AND j.last_exec <> j.told OFFSET 0) h ON true
WHERE ($5::bigint = 0 OR coalesce(h.job_state, j.state) = $5::bigint)
    AND ($6::text IS NULL OR j.queue = $6::text) AND ($7::text IS NULL OR j.owner = $7::text)
    AND ($8::text IS NULL OR j.team = $8::text) AND ($9::text IS NULL OR strpos(j.tags, $9::text) > 0)
    AND j.created_ms >= $10 AND j.created_ms < $11
ORDER BY w.id DESC LIMIT $12;

-- name: edge_jobs_in_state
SELECT max(id) FROM (
    (SELECT id FROM belfry.job
    WHERE state = $1::bigint AND state <> 1 AND id >= $2 AND id < $3
    ORDER BY id DESC LIMIT 1 OFFSET $4::bigint - 1)
    UNION ALL
    (SELECT job_id FROM belfry.history
    WHERE job_state = $1::bigint AND job_state IN (3, 4) AND job_id >= $2 AND job_id < $3
    ORDER BY job_id DESC LIMIT 1 OFFSET $4::bigint - 1)) e
HAVING count(*) > 0;

-- name: list_live
-- $5 is stopping when $4 is running, since users see one as the other.
SELECT * FROM (SELECT * FROM belfry.live_rec WHERE id >= $1 AND id < $2 ORDER BY id DESC LIMIT $3) r
WHERE ($4::bigint = 0 OR state IN ($4::bigint, $5::bigint)) AND ($6::text IS NULL OR queue = $6::text)
    AND created_ms >= $7 AND created_ms < $8
ORDER BY id DESC LIMIT $9;

-- name: edge_live
SELECT id FROM belfry.live WHERE id >= $1 AND id < $2 ORDER BY id DESC LIMIT 1 OFFSET $3::bigint - 1;

-- name: list_live_of_job
-- Here and below: what was made with the job is found by the job's row, the rest by the index. Two
-- statements, so that each gives its rows in order and stops.
SELECT * FROM (SELECT * FROM belfry.live_rec WHERE job_id = $1 AND NOT first AND id >= $2 AND id < $3
    ORDER BY id DESC LIMIT $4) r
WHERE ($5::bigint = 0 OR state IN ($5::bigint, $6::bigint)) AND ($7::text IS NULL OR queue = $7::text)
    AND created_ms >= $8 AND created_ms < $9
ORDER BY id DESC LIMIT $10;

-- name: edge_live_of_job
SELECT id FROM belfry.live WHERE job_id = $1 AND NOT first AND id >= $2 AND id < $3
ORDER BY id DESC LIMIT 1 OFFSET $4::bigint - 1;

-- name: list_live_first
SELECT r.* FROM belfry.live_rec r
WHERE id = (SELECT first_exec FROM belfry.job WHERE id = $1) AND first AND id >= $2 AND id < $3
    AND $4::bigint > 0
    AND ($5::bigint = 0 OR state IN ($5::bigint, $6::bigint)) AND ($7::text IS NULL OR queue = $7::text)
    AND created_ms >= $8 AND created_ms < $9 LIMIT $10;

-- name: list_history
SELECT * FROM (SELECT * FROM belfry.history_rec WHERE id >= $1 AND id < $2
    ORDER BY id DESC LIMIT $3) r
WHERE ($4::bigint = 0 OR state IN ($4::bigint, $5::bigint)) AND ($6::text IS NULL OR queue = $6::text)
    AND created_ms >= $7 AND created_ms < $8
ORDER BY id DESC LIMIT $9;

-- name: edge_history
SELECT id FROM belfry.history WHERE id >= $1 AND id < $2
ORDER BY id DESC LIMIT 1 OFFSET $3::bigint - 1;

-- name: list_history_in_state
-- Of any but completed.
SELECT * FROM (SELECT * FROM belfry.history_rec
    WHERE state = $1::bigint AND state <> 6 AND id >= $2 AND id < $3 ORDER BY id DESC LIMIT $4) r
WHERE state IN ($5::bigint, $6::bigint) AND ($7::text IS NULL OR queue = $7::text)
    AND created_ms >= $8 AND created_ms < $9
ORDER BY id DESC LIMIT $10;

-- name: edge_history_in_state
SELECT id FROM belfry.history
WHERE state = $1::bigint AND state <> 6 AND id >= $2 AND id < $3
ORDER BY id DESC LIMIT 1 OFFSET $4::bigint - 1;

-- name: list_history_of_job
-- The state stands in the index, so what does not fit is not fetched.
SELECT r.* FROM (
    SELECT id, state FROM belfry.history WHERE job_id = $1 AND NOT first AND id >= $2 AND id < $3
    ORDER BY id DESC LIMIT $4) w
JOIN LATERAL (SELECT * FROM belfry.history_rec e WHERE e.id = w.id OFFSET 0) r ON true
WHERE ($5::bigint = 0 OR w.state IN ($5::bigint, $6::bigint)) AND ($7::text IS NULL OR r.queue = $7::text)
    AND r.created_ms >= $8 AND r.created_ms < $9
ORDER BY w.id DESC LIMIT $10;

-- name: edge_history_of_job
SELECT id FROM belfry.history WHERE job_id = $1 AND NOT first AND id >= $2 AND id < $3
ORDER BY id DESC LIMIT 1 OFFSET $4::bigint - 1;

-- name: list_history_first
SELECT r.* FROM belfry.history_rec r
WHERE id = (SELECT first_exec FROM belfry.job WHERE id = $1) AND first AND id >= $2 AND id < $3
    AND $4::bigint > 0
    AND ($5::bigint = 0 OR state IN ($5::bigint, $6::bigint)) AND ($7::text IS NULL OR queue = $7::text)
    AND created_ms >= $8 AND created_ms < $9 LIMIT $10;

-- ---- output of commands and their checkpoints

-- name: relax
-- Output is not a promise: this transaction's commit does not wait for the disk.
SELECT set_config('synchronous_commit', 'off', true);

-- name: append_chunks
INSERT INTO belfry.chunk (exec_id, token, seq, attempt, stream, at_ms, bytes)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
    $7::bytea[])
ON CONFLICT DO NOTHING;

-- name: read_chunks
-- All up to and including the one that reaches so many bytes: a sum over those before tells. Not more than
-- 1000 at once, so that reading a long log page by page does not add all of it up for each.
SELECT exec_id, token, seq, attempt, stream, at_ms, bytes FROM (
    SELECT *, sum(length(bytes)) OVER (ORDER BY token, seq
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (SELECT * FROM belfry.chunk WHERE exec_id = $1 AND (token, seq) > ($2, $3)
        ORDER BY token, seq LIMIT 1000) page) c
WHERE before IS NULL OR before < $4::bigint
ORDER BY token, seq;

-- name: trim_weeks
SELECT belfry.trim_chunks($1);

-- name: trim_chunks
DELETE FROM belfry.chunk c
USING (SELECT exec_id, token, seq FROM belfry.chunk WHERE at_ms < $1 ORDER BY at_ms LIMIT $2) old
WHERE c.exec_id = old.exec_id AND c.token = old.token AND c.seq = old.seq;

-- name: put_checkpoint
INSERT INTO belfry.checkpoint AS c (exec_id, token, at_ms, bytes) VALUES ($1, $2, $3, $4)
ON CONFLICT (exec_id) DO UPDATE
SET token = excluded.token, at_ms = excluded.at_ms, bytes = excluded.bytes
WHERE excluded.token >= c.token;

-- name: read_checkpoint
SELECT exec_id, token, at_ms, bytes FROM belfry.checkpoint WHERE exec_id = $1 AND length(bytes) > 0;

-- name: list_checkpoints
SELECT exec_id, token, at_ms, ''::bytea FROM belfry.checkpoint WHERE exec_id > $1
ORDER BY exec_id LIMIT $2;

-- name: drop_checkpoint
DELETE FROM belfry.checkpoint WHERE exec_id = $1;
