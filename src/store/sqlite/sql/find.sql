-- find.sql - what people write in place of an id: a name, or a part of the id.

-- name: find_named
-- An unfinished job holds the claim on its name; of those that have ended the newest is meant.
SELECT coalesce((SELECT holder FROM claim WHERE kind = {CLAIM_NAME} AND key = :name),
    (SELECT id FROM job WHERE name = :name ORDER BY id DESC LIMIT 1));

-- name: find_jobs
SELECT id FROM (
    SELECT id FROM job WHERE {in_window} ORDER BY id DESC LIMIT :scan_max)
WHERE id & :mask = :tail ORDER BY id DESC LIMIT :max;

-- name: find_execs
SELECT id FROM (
    SELECT id FROM live WHERE {in_window}
    UNION ALL
    SELECT id FROM history WHERE {in_window}
    ORDER BY id DESC LIMIT :scan_max)
WHERE id & :mask = :tail ORDER BY id DESC LIMIT :max;
