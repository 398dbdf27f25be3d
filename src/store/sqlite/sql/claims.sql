-- claims.sql - keys that one holder has at a time, and idempotency keys (requests.h).

-- name: take_claim
-- One that has ended gives way.
INSERT INTO claim ({claim.columns})
VALUES ({claim.values})
ON CONFLICT (kind, key) DO UPDATE
SET holder = excluded.holder, until_ms = excluded.until_ms, note = excluded.note
WHERE until_ms > 0 AND until_ms <= :now_ms;

-- name: claim_holder
SELECT holder, note FROM claim WHERE kind = :kind AND key = :key;

-- name: release_claim
-- The holder is asked too: whoever took the key since keeps it.
DELETE FROM claim WHERE kind = :kind AND key = :key AND holder = :holder;

-- name: put_claim
REPLACE INTO claim ({claim.columns})
VALUES ({claim.values});

-- name: sweep_claims
-- Those that ended first.
DELETE FROM claim WHERE (kind, key) IN (
    SELECT kind, key FROM claim WHERE until_ms > 0 AND until_ms <= :now_ms
    ORDER BY until_ms LIMIT :max);

-- name: request_mark
SELECT indexed FROM request_mark;

-- name: load_requests
SELECT id, key FROM request WHERE id > :indexed ORDER BY id;

-- name: read_request
SELECT id, holder, until_ms, note FROM request WHERE id = :id AND key = :key;

-- name: find_request
-- CROSS JOIN: by the print, never by a walk over all requests.
SELECT r.id, r.holder, r.until_ms, r.note FROM request_print p CROSS JOIN request r ON r.id = p.id
WHERE p.print = :print AND r.key = :key;

-- name: insert_request
INSERT INTO request ({request.columns})
VALUES ({request.values});

-- name: update_request
UPDATE request SET holder = :holder, note = :note WHERE id = :id;

-- name: oldest_requests
SELECT id, until_ms FROM request ORDER BY id LIMIT :max;

-- name: delete_requests
DELETE FROM request WHERE id BETWEEN :first AND :last;

-- name: put_print
INSERT INTO request_print (print, id) VALUES (:print, :id) ON CONFLICT DO NOTHING;

-- name: clean_prints
DELETE FROM request_print WHERE print BETWEEN :from AND :until AND id < :oldest;

-- name: put_request_mark
UPDATE request_mark SET indexed = :indexed;
