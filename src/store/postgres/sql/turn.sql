-- turn.sql - the marks of a turn: its owner, its number, and what became of it.

-- name: check_epochs
-- In share mode until the end of the transaction: whoever wants to take one of them waits. $1 our
-- start; $2 who we are in table turn and $3 the newest turn that we know as kept (0: none). None
-- when that is missing: then memory and database have not the same past.
SELECT p.id FROM belfry.partition p
JOIN unnest($4::bigint[], $5::bigint[]) o (id, epoch) ON p.id = o.id AND p.epoch = o.epoch
WHERE p.owner = $1::text AND ($3::bigint = 0 OR EXISTS (SELECT 1 FROM belfry.turn t
    WHERE t.writer = $2::text AND t.turn = $3::bigint AND t.kept))
ORDER BY p.id FOR SHARE OF p;

-- name: keep_turn
INSERT INTO belfry.turn ({turn.columns})
VALUES ({turn_mark.values}, true, true);

-- name: keep_turn_fenced
-- The same for a turn that asked nothing: begins with its fence, and fails by constraint
-- turn_fenced when one of the $8 partitions has another epoch or owner ($10), or our newest turn
-- ($9; 0: none) is missing.
WITH held AS MATERIALIZED (
    SELECT p.id FROM belfry.partition p
    JOIN unnest($11::bigint[], $12::bigint[]) o (id, epoch) ON p.id = o.id AND p.epoch = o.epoch
    WHERE p.owner = $10::text
    ORDER BY p.id FOR SHARE OF p)
INSERT INTO belfry.turn ({turn.columns})
SELECT {turn_mark.values}, true,
    (SELECT count(*) FROM held) = $8::bigint
    AND ($9::bigint = 0 OR EXISTS (SELECT 1 FROM belfry.turn t
        WHERE t.writer = $1::text AND t.turn = $9::bigint AND t.kept));

-- name: hold_partitions
-- Settling begins by taking the rows for ourselves, which waits for the end of the commit in doubt.
-- It writes, so it also tells whether the store takes commits.
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
-- The commit in doubt may not have begun: its words can lie in the socket of a backend that was
-- stopped. With this row there it never can, since it would insert the same key. Nothing when it
-- was kept; one that is under way is waited for. Partition and epoch are those that it was sent
-- under: as soon as that epoch is over it cannot be kept anyway, and not before that this row may
-- go.
INSERT INTO belfry.turn ({turn.columns})
VALUES ($1::text, $2::bigint, $3::bigint, 0, 0, $4::bigint, $5::bigint, false, true)
ON CONFLICT DO NOTHING;

-- name: forget_own_turns
-- A turn that was called lost stays: the commit that it keeps out may still lie in the socket of a
-- backend that was stopped. Such rows are few, and go with their epoch (forget_turns).
DELETE FROM belfry.turn WHERE writer = $1::text AND turn >= $2::bigint AND turn < $3::bigint
    AND kept;
