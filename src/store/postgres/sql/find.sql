-- find.sql - what people write in place of an id: a name, or a part of the id.

-- name: find_named
-- An unfinished job holds the claim on its name; of those that have ended the newest is meant.
SELECT coalesce((SELECT holder FROM belfry.claim
        WHERE kind = {CLAIM_NAME}::smallint AND key = :name::text),
    (SELECT id FROM belfry.job WHERE name = :name::text ORDER BY id DESC LIMIT 1));

-- name: find_jobs
SELECT id FROM (
    SELECT id FROM belfry.job WHERE {in_window} ORDER BY id DESC LIMIT :scan_max) w
WHERE id & :mask::bigint = :tail::bigint ORDER BY id DESC LIMIT :max;

-- name: find_execs
-- The newest of both tables: each gives as many as could be among them, by its own index.
SELECT id FROM (
    (SELECT id FROM belfry.live WHERE {in_window} ORDER BY id DESC LIMIT :scan_max)
    UNION ALL
    (SELECT id FROM belfry.history WHERE {in_window} ORDER BY id DESC LIMIT :scan_max)
    ORDER BY id DESC LIMIT :scan_max) w
WHERE id & :mask::bigint = :tail::bigint ORDER BY id DESC LIMIT :max;
