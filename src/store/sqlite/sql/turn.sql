-- turn.sql - the marks of a turn: its owner, its number, and what became of it.

-- name: check_epoch
SELECT 1 FROM partition WHERE id = :id AND epoch = :epoch;

-- name: keep_turn
-- Checks the owner and leaves the mark that settle looks for, in one row that is always cached.
UPDATE partition
SET turn = :turn, newest_id = max(newest_id, :newest_id), drift_ms = max(drift_ms, :drift_ms)
WHERE id = :id AND epoch = :epoch;

-- name: settle
-- Writes although it only asks: see sqlite_settle in turn.c.
UPDATE partition SET settled = settled + 1
WHERE id = :id AND epoch = :epoch RETURNING turn;
