-- connect.sql - what every connection runs.

-- name: version
SELECT value::bigint FROM belfry.meta WHERE key = 'version';

-- name: begin_read
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: begin_write
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;
