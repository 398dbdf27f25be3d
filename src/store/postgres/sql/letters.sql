-- letters.sql - dead letters, for readers.

-- name: read_letter
SELECT * FROM belfry.letter_row WHERE exec_id = $1;

-- token: letters.before
-- Before a place ($1, $2), not older than $3, newest first.
(died_ms, exec_id) < ($1, $2) AND died_ms >= $3
ORDER BY died_ms DESC, exec_id DESC LIMIT $4

-- name: list_letters
-- Here and below: each by its own index.
SELECT * FROM belfry.letter_row WHERE {letters.before};

-- name: list_letters_of_job
SELECT * FROM belfry.letter_row
WHERE job_id = $5::bigint AND {letters.before};

-- name: list_letters_of_kind
SELECT * FROM belfry.letter_row
WHERE fingerprint = $5::bigint AND {letters.before};

-- name: list_letters_named
SELECT * FROM belfry.letter_row
WHERE name = $5::text AND name <> '' AND {letters.before};

-- name: list_letters_of_queue
SELECT * FROM belfry.letter_row
WHERE queue = $5::text AND {letters.before};

-- name: group_letters
-- Of the newest $3 between two moments. A group shows its newest letter, which is found
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
SELECT k.fingerprint, l.class, l.line, k.count, l.died_ms, l.exec_id, k.oldest_ms,
    0::bigint AS looked
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
