-- member.sql - who owns which partition, and the servers that share the store.

-- name: store_id
SELECT value FROM belfry.meta WHERE key = 'store_id';

-- name: take_partitions
-- $1 our start, $2 how long an owner may be silent, $3 the start that we replace, $7 which ones.
-- The silence of an owner without a row in node counts from when it took the partition. A silent
-- owner may keep leases alive for its grace and a lease: of its numbers and ours ($4 the lease, $5
-- the grace) the larger ones count, and $6 is added where it says nothing. A turn that works under
-- these rows has them locked in share mode: this waits for the end of that work, so that afterwards
-- all of it is there to be seen.
WITH free AS MATERIALIZED (
    SELECT p.id, p.owner, p.owner NOT IN ('', $1::text, $3::text) AS deprived,
        CASE WHEN coalesce(n.lease_ms, 0) = 0 THEN $4::bigint + $5::bigint + $6::bigint
            ELSE greatest(n.lease_ms, $4::bigint) + greatest(n.grace_ms, $5::bigint)
        END AS unsure_ms
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
-- The same for a member, which says whom it found silent: the owner $7 of $6 is deprived while its
-- newest beat is $8. A partition that is being worked on is left for another time: it may be a
-- server that was stopped in the middle of a turn, and nobody should wait for it. $2 to $5 are $3
-- to $6 there.
WITH free AS MATERIALIZED (
    SELECT p.id, p.owner, p.owner NOT IN ('', $1::text, $2::text) AS deprived,
        CASE WHEN coalesce(n.lease_ms, 0) = 0 THEN $3::bigint + $4::bigint + $5::bigint
            ELSE greatest(n.lease_ms, $3::bigint) + greatest(n.grace_ms, $4::bigint)
        END AS unsure_ms
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
-- Behind take_partitions, as a statement of its own: its snapshot is from after the locks were
-- granted, so no commit of a former owner is missing in it, and none can come any more. The maxima
-- of all turns become part of the rows that were taken; then those of other epochs can go.
WITH known AS MATERIALIZED (
    SELECT coalesce(max(turn) FILTER (WHERE kept), 0) AS turn, coalesce(max(newest_id),
        0) AS newest_id,
        coalesce(max(drift_ms), 0) AS drift_ms FROM belfry.turn)
UPDATE belfry.partition p
SET turn = greatest(p.turn, k.turn), drift_ms = greatest(p.drift_ms, k.drift_ms),
    newest_id = greatest(p.newest_id, k.newest_id, (SELECT max(id) FROM belfry.api_key))
FROM known k WHERE p.owner = $1::text AND p.id = ANY($2::bigint[])
RETURNING p.turn, p.newest_id, p.drift_ms, p.token_floor;

-- name: retake_partitions
-- The database has gone back to an earlier state. $1 our start, $2 and $3 the epochs that we knew
-- (0: not ours). Our partitions get epochs and tokens beyond all that were given in the lost time:
-- they would come again and mean something else. So does what we had taken and is somebody else's
-- again.
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
-- Behind that: what is known now stands in the partitions' rows. The newest of a writer stays,
-- whatever its epoch: the writer asks for it to see whether the database still knows what it has
-- kept.
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

-- name: renew_node
-- Nothing comes back when somebody else has the name, whose newest beat is not $7; or has taken
-- it from us ($8), for good. $9: a start that is dead for sure.
INSERT INTO belfry.node AS n (name, start, address, version, draining, clock_ms, started_ms,
    seen_ms, lease_ms, grace_ms, boot_id, time_ms)
SELECT $1::text, $2::text, $3::text, $4::text, $5::boolean, $6::bigint, t.ms, t.ms,
    $10::bigint, $11::bigint, $12::text, $13::bigint
FROM (SELECT belfry.now_ms() AS ms) t
ON CONFLICT (name) DO UPDATE
SET start = excluded.start, address = excluded.address, version = excluded.version,
    draining = excluded.draining, clock_ms = excluded.clock_ms, seen_ms = excluded.seen_ms,
    time_ms = excluded.time_ms, lease_ms = excluded.lease_ms, grace_ms = excluded.grace_ms,
    boot_id = excluded.boot_id,
    started_ms = CASE WHEN n.start = excluded.start THEN n.started_ms ELSE excluded.started_ms END
WHERE n.start = excluded.start
    OR (NOT $8::boolean AND (n.start = $9::text OR n.seen_ms = $7::bigint))
RETURNING n.start;

-- name: read_nodes
SELECT name, start, address, version, draining, started_ms, seen_ms, clock_ms, lease_ms, grace_ms,
    boot_id, time_ms
FROM belfry.node ORDER BY name;

-- name: read_partitions
SELECT id, epoch, owner, former, since_ms, unsure_ms FROM belfry.partition ORDER BY id;

-- name: name_writer
-- Our name in table turn, by which others know that we leave their newest marks alone. It begins
-- with our start: an older version that takes our name leaves this column as it is.
UPDATE belfry.node SET writer = $2::text WHERE start = $1::text AND writer <> $2::text;

-- name: read_cluster
-- Our newest turn, whether every server that is listed leaves that alone, and the newest id of all.
SELECT belfry.now_ms(), value::bigint,
    (SELECT coalesce(max(turn), 0) FROM belfry.turn WHERE writer = $1::text AND kept),
    NOT EXISTS (SELECT 1 FROM belfry.node WHERE NOT starts_with(writer, start || '/')),
    greatest((SELECT max(newest_id) FROM belfry.partition),
        (SELECT max(newest_id) FROM belfry.turn), (SELECT max(id) FROM belfry.api_key), 0)
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
UPDATE belfry.partition SET owner = '', former = owner, since_ms = belfry.now_ms()
WHERE owner = $1::text;

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
