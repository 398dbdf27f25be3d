-- inbox.sql - what partitions tell each other: mail, and who waits or has a permit where.

-- token: mail.read
-- The body of a kind that is not known is not read.
id, {mail_head.columns}, CASE WHEN kind < :kinds THEN body ELSE '' END

-- name: find_inbox
-- Without a LIMIT, as find_letters.
SELECT {mail.read}
FROM inbox WHERE id > :after_id AND (kind = {INBOX_SUBMIT}) = :submissions ORDER BY id;

-- name: find_left_mail
SELECT {mail.read}
FROM inbox WHERE id = :id;

-- name: insert_inbox
INSERT INTO inbox ({mail.columns})
VALUES ({mail.values});

-- name: delete_inbox
DELETE FROM inbox WHERE id = :id;

-- name: put_waiter
REPLACE INTO waiter ({waiter.columns})
VALUES ({waiter.values});

-- name: forget_waiter
DELETE FROM waiter WHERE upstream = :upstream AND exec_id = :exec_id;

-- name: put_permit
REPLACE INTO permit ({permit.columns})
VALUES ({permit.values});

-- name: forget_permit
DELETE FROM permit WHERE key = :key AND exec_id = :exec_id;

-- name: insert_rejected
INSERT INTO rejected ({rejected.columns})
VALUES ({rejected.values});

-- name: forget_rejected
-- Few are there, and this runs only when one more comes.
DELETE FROM rejected WHERE at_ms < :from_ms;
