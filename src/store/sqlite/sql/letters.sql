-- letters.sql - dead letters, for readers.

-- name: read_letter
SELECT * FROM letter_row WHERE exec_id = :exec_id;

-- token: letters.before
-- Newest first. Without a LIMIT: the caller stops reading, since rows that make no sense must not
-- fill a page.
(died_ms, exec_id) < (:before_ms, :before_id) AND died_ms >= :after_ms
ORDER BY died_ms DESC, exec_id DESC

-- name: list_letters
-- Here and below: each by its own index.
SELECT * FROM letter_row
WHERE {letters.before};

-- name: list_letters_of_job
SELECT * FROM letter_row
WHERE job_id = :job_id AND {letters.before};

-- name: list_letters_of_kind
SELECT * FROM letter_row
WHERE fingerprint = :fingerprint AND {letters.before};

-- name: list_letters_named
SELECT * FROM letter_row
WHERE name = :name AND name <> '' AND {letters.before};

-- name: list_letters_of_queue
SELECT * FROM letter_row
WHERE queue = :queue AND {letters.before};

-- name: group_letters
-- Of the newest :scan_max between two moments. A group shows its newest letter, which is
-- found again by the moment: few die in the same millisecond. The last column: how many
-- were looked at.
WITH kind AS MATERIALIZED (
    SELECT fingerprint, count(*) AS count, min(died_ms) AS oldest_ms, max(died_ms) AS newest_ms
    FROM (SELECT died_ms, fingerprint FROM dead_letter INDEXED BY dead_letter_died
        WHERE died_ms >= :after_ms AND died_ms < :before_ms
        ORDER BY died_ms DESC, exec_id DESC LIMIT :scan_max) newest
    GROUP BY fingerprint)
SELECT k.fingerprint, l.class, l.line, k.count, l.died_ms, l.exec_id, k.oldest_ms,
    (sum(k.count) OVER ()) AS looked
FROM kind k CROSS JOIN dead_letter l ON l.died_ms = k.newest_ms AND l.exec_id = (
    SELECT max(d.exec_id) FROM dead_letter d
    WHERE d.died_ms = k.newest_ms AND d.fingerprint = k.fingerprint)
ORDER BY k.count DESC, l.died_ms DESC, l.exec_id DESC LIMIT :limit;

-- name: group_letters_fitting
WITH kind AS MATERIALIZED (
    SELECT fingerprint, count(*) AS count, min(died_ms) AS oldest_ms, max(died_ms) AS newest_ms
    FROM (SELECT died_ms, fingerprint, queue, name, class, job_id FROM dead_letter
        WHERE died_ms >= :after_ms AND died_ms < :before_ms
        ORDER BY died_ms DESC, exec_id DESC LIMIT :scan_max) newest
    WHERE :limit > 0 AND (:queue IS NULL OR queue = :queue) AND (:name IS NULL OR name = :name)
        AND (:class = 0 OR class = :class) AND (:fingerprint = 0 OR fingerprint = :fingerprint)
        AND (:job_id = 0 OR job_id = :job_id)
    GROUP BY fingerprint)
SELECT k.fingerprint, l.class, l.line, k.count, l.died_ms, l.exec_id, k.oldest_ms, 0 AS looked
FROM kind k CROSS JOIN dead_letter l ON l.died_ms = k.newest_ms AND l.exec_id = (
    SELECT max(d.exec_id) FROM dead_letter d
    WHERE d.died_ms = k.newest_ms AND d.fingerprint = k.fingerprint
        AND (:queue IS NULL OR d.queue = :queue) AND (:name IS NULL OR d.name = :name)
        AND (:class = 0 OR d.class = :class) AND (:job_id = 0 OR d.job_id = :job_id))
ORDER BY k.count DESC, l.died_ms DESC, l.exec_id DESC LIMIT :limit;

-- name: edge_letters
SELECT 1 FROM dead_letter WHERE died_ms >= :after_ms AND died_ms < :before_ms
ORDER BY died_ms DESC, exec_id DESC LIMIT 1 OFFSET :scan_max;
