-- claims.sql - keys that one holder has at a time, and idempotency keys.

-- name: take_claims
-- Keys are given in their order, each once. An insert that meets another server's, not yet
-- committed, waits for its end.
INSERT INTO belfry.claim ({claim.columns})
SELECT * FROM unnest($1::belfry.new_claim[])
ON CONFLICT (kind, key) DO NOTHING;

-- name: claim_holders
SELECT n.at, c.holder, c.note, c.until_ms
FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY n (kind, key, at)
CROSS JOIN LATERAL (SELECT e.holder, e.note, e.until_ms FROM belfry.claim e
    WHERE e.kind = n.kind AND e.key = n.key OFFSET 0) c;

-- name: take_ended_claims
-- One that has ended gives way.
UPDATE belfry.claim c
SET {claim.set n}
FROM unnest({claim.arrays}, $6::bigint[])
    n ({claim.columns}, now_ms)
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.claim e
    WHERE e.kind = n.kind AND e.key = n.key AND e.until_ms > 0 AND e.until_ms <= n.now_ms OFFSET 0) f
WHERE c.ctid = f.at AND c.until_ms > 0 AND c.until_ms <= n.now_ms;

-- name: lock_kept_claims
-- One that has not ended yet may pass from its holder to another: one server decides about it at a time.
SELECT n.at, c.holder, c.note, c.until_ms
FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY n (kind, key, at)
CROSS JOIN LATERAL (SELECT e.holder, e.note, e.until_ms FROM belfry.claim e
    WHERE e.kind = n.kind AND e.key = n.key AND e.until_ms > 0 OFFSET 0 FOR UPDATE) c;

-- name: take_free_requests
-- The same for idempotency keys, where many are taken at once and nobody has them, at two thirds of
-- the price: ON CONFLICT writes each row so that it can be taken back. Where somebody has one it
-- fails (SQLSTATE 23505), with nothing done yet, and the turn begins again with take_requests.
INSERT INTO belfry.request ({request.columns})
SELECT unnest($1::uuid[]), unnest($2::bigint[]), unnest($3::bigint[]), unnest($4::text[]);

-- name: take_requests
INSERT INTO belfry.request ({request.columns})
SELECT unnest($1::uuid[]), unnest($2::bigint[]), unnest($3::bigint[]), unnest($4::text[])
ON CONFLICT (key) DO NOTHING;

-- name: take_ended_requests
-- One that has ended gives way.
UPDATE belfry.request r
SET {request.set n}
FROM unnest({request.arrays}, $5::bigint[])
    n ({request.columns}, now_ms)
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

-- name: release_claims
-- The holder is asked too: whoever took the key since keeps it.
DELETE FROM belfry.claim c
USING unnest($1::bigint[], $2::text[], $3::bigint[]) n (kind, key, holder)
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.claim e
    WHERE e.kind = n.kind AND e.key = n.key AND e.holder = n.holder OFFSET 0) f
WHERE c.ctid = f.at AND c.holder = n.holder;

-- name: put_claims
-- Of several words about one key the last one counts.
INSERT INTO belfry.claim ({claim.columns})
SELECT DISTINCT ON (kind, key) {claim.columns}
FROM unnest({claim.arrays})
    WITH ORDINALITY n ({claim.columns}, at)
ORDER BY kind, key, at DESC
ON CONFLICT (kind, key) DO UPDATE
SET {claim.set};

-- name: sweep_claims
-- Those that ended first. Rows that another server has locked are left to it: it takes them over.
DELETE FROM belfry.claim WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM belfry.claim WHERE until_ms > 0 AND until_ms <= $1::bigint
    ORDER BY until_ms LIMIT $2::bigint FOR UPDATE SKIP LOCKED))
AND until_ms > 0 AND until_ms <= $1::bigint;

-- name: release_requests
DELETE FROM belfry.request r USING unnest($1::uuid[], $2::bigint[]) n (key, holder)
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.request e
    WHERE e.key = n.key AND e.holder = n.holder OFFSET 0) f
WHERE r.ctid = f.at AND r.holder = n.holder;

-- name: put_requests
INSERT INTO belfry.request ({request.columns})
SELECT DISTINCT ON (key) {request.columns}
FROM unnest({request.arrays})
    WITH ORDINALITY n ({request.columns}, at)
ORDER BY key, at DESC
ON CONFLICT (key) DO UPDATE
SET {request.set};

-- name: sweep_requests
-- The lots that ended first, of $2 keys together or one lot at least, and of these the keys that
-- have ended. Rows that another server has locked are left to it: a server that takes an ended key
-- puts it into another lot.
WITH ended AS MATERIALIZED (
    SELECT row_id, keys, sum(cardinality(keys)) OVER (ORDER BY until_ms, row_id) AS total
    FROM (SELECT ctid AS row_id, until_ms, keys FROM belfry.request_lot
        WHERE until_ms <= $1::bigint ORDER BY until_ms LIMIT $2::bigint
        FOR UPDATE SKIP LOCKED) oldest),
gone AS (
    DELETE FROM belfry.request_lot
    WHERE ctid = ANY(ARRAY(SELECT row_id FROM ended
        WHERE total <= greatest($2::bigint, cardinality(keys))))
    RETURNING keys)
DELETE FROM belfry.request r
USING gone CROSS JOIN unnest(gone.keys) n (key)
CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.request e
    WHERE e.key = n.key AND e.until_ms > 0 AND e.until_ms <= $1::bigint
    OFFSET 0 FOR UPDATE SKIP LOCKED) f
WHERE r.ctid = f.at;
