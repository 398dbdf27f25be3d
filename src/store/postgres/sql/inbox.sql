-- inbox.sql - what partitions tell each other: mail, and who waits or has a permit where.

-- token: mail.counted
-- With how many there are, how many bytes the texts have up to here, and which row it is.
f.*, count(*) OVER () AS found,
        sum(octet_length(f.name) + octet_length(f.actor) + octet_length(f.body))
            OVER (ORDER BY f.id) AS bytes,
        row_number() OVER (ORDER BY f.id) AS at

-- name: find_inbox
-- Rows of transactions that were not over in the snapshot $1: those that were under way, those that
-- began later, and the reader's own ($2), which a snapshot does not list. They are found first and
-- put in order then: else a plan may walk the index of ids, from its beginning, over all that was
-- ever read. The page is cut where its texts have more than $6 bytes, which are counted without
-- reading them; of the last columns the first says how many rows there were before that, the others
-- how many were found in all, and the highest id of those.
WITH found AS MATERIALIZED (
    SELECT i.id
    FROM (
        SELECT n.* FROM (SELECT e.id, e.kind, e.bucket FROM belfry.inbox e
            WHERE e.xid >= pg_snapshot_xmax($1::text::pg_snapshot) OFFSET 0) n
        UNION ALL
        SELECT n.* FROM pg_snapshot_xip($1::text::pg_snapshot) x
        CROSS JOIN LATERAL (SELECT e.id, e.kind, e.bucket FROM belfry.inbox e
            WHERE e.xid = x.x OFFSET 0) n
        UNION ALL
        SELECT n.* FROM (SELECT e.id, e.kind, e.bucket FROM belfry.inbox e
            WHERE e.xid = $2::bigint::text::xid8 OFFSET 0) n
        WHERE $2::bigint::text::xid8 < pg_snapshot_xmax($1::text::pg_snapshot)) i
    WHERE (i.kind = {INBOX_SUBMIT}) = $9::boolean AND i.id > $8::bigint
        AND belfry.is_owned(i.bucket::bigint << 12, $3::bigint::integer, $4::bigint)),
page AS MATERIALIZED (SELECT id FROM found ORDER BY id LIMIT $5::bigint)
SELECT p.id, {mail_head.columns p}, CASE WHEN p.kind < $7::bigint THEN p.body ELSE '' END, p.found,
    a.found, a.last_id
FROM (
    SELECT {mail.counted}
    FROM page n CROSS JOIN LATERAL (SELECT * FROM belfry.inbox e WHERE e.id = n.id OFFSET 0) f) p
CROSS JOIN (SELECT count(*) AS found, max(id) AS last_id FROM found) a
WHERE p.at = 1 OR p.bytes <= $6::bigint ORDER BY p.id;

-- name: walk_inbox
-- The next page of a round that has found many: they are not all looked for again, but met by their
-- ids, up to the highest that was found ($10). Other rows were read since the round began, or are
-- another server's.
SELECT p.id, {mail_head.columns p}, CASE WHEN p.kind < $7::bigint THEN p.body ELSE '' END, p.found
FROM (
    SELECT {mail.counted}
    FROM (SELECT * FROM belfry.inbox i
        WHERE i.id > $8::bigint AND i.id <= $10::bigint AND (i.kind = {INBOX_SUBMIT}) = $9::boolean
            AND belfry.is_owned(i.bucket::bigint << 12, $3::bigint::integer, $4::bigint)
            AND (NOT pg_visible_in_snapshot(i.xid, $1::text::pg_snapshot)
                OR i.xid = $2::bigint::text::xid8)
        ORDER BY i.id LIMIT $5::bigint) f) p
WHERE p.at = 1 OR p.bytes <= $6::bigint ORDER BY p.id;

-- name: find_left_mail
-- Mail that was told before and stayed, by its ids.
SELECT p.id, {mail_head.columns p}, CASE WHEN p.kind < $5::bigint THEN p.body ELSE '' END, p.found
FROM (
    SELECT {mail.counted}
    FROM (SELECT * FROM belfry.inbox i WHERE i.id = ANY($6::bigint[])
            AND belfry.is_owned(i.bucket::bigint << 12, $1::bigint::integer, $2::bigint)
        ORDER BY i.id LIMIT $3::bigint) f) p
WHERE p.at = 1 OR p.bytes <= $4::bigint ORDER BY p.id;

-- name: inbox_now
-- In front of find_inbox: what is committed between the two is then found a second time, when it is
-- gone already, and never missed. And which server of the database it is: another one may give the
-- numbers of transactions again that have passed here.
SELECT pg_current_snapshot()::text, coalesce(pg_current_xact_id_if_assigned()::text::bigint, 0),
    (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint;

-- name: insert_inbox
INSERT INTO belfry.inbox ({mail.columns})
SELECT {mail.columns}
FROM unnest({mail.arrays})
    WITH ORDINALITY n ({mail.columns}, at)
ORDER BY at;

-- name: delete_inbox
WITH gone AS (DELETE FROM belfry.inbox WHERE id = ANY($2::bigint[]) RETURNING 1)
SELECT {met_all} FROM gone;

-- name: put_waiter
INSERT INTO belfry.waiter ({waiter.columns})
VALUES ({waiter.values})
ON CONFLICT (upstream, exec_id) DO UPDATE
SET {waiter.set};

-- name: forget_waiter
DELETE FROM belfry.waiter WHERE upstream = $1::bigint AND exec_id = $2::bigint;

-- name: put_permit
INSERT INTO belfry.permit ({permit.columns})
VALUES ({permit.values})
ON CONFLICT (key, exec_id) DO UPDATE
SET {permit.set};

-- name: forget_permit
DELETE FROM belfry.permit WHERE key = $1::text AND exec_id = $2::bigint;

-- name: insert_rejected
INSERT INTO belfry.rejected ({rejected.columns})
VALUES ({rejected.values});

-- name: forget_rejected
-- Few are there, and this runs only when one more comes.
DELETE FROM belfry.rejected WHERE at_ms < $1::bigint;
