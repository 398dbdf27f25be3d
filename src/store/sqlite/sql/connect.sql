-- connect.sql - what every connection runs.

-- name: version
PRAGMA user_version;

-- name: begin_read
BEGIN;

-- name: begin_write
-- IMMEDIATE: waiting for another writer happens here, never in the middle of a turn.
BEGIN IMMEDIATE;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;
