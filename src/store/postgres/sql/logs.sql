-- logs.sql - output of commands and their checkpoints.

-- name: relax
-- Output is not a promise: this transaction's commit does not wait for the disk.
SELECT set_config('synchronous_commit', 'off', true);

-- name: append_chunks
INSERT INTO belfry.chunk ({chunk.columns})
SELECT * FROM unnest({chunk.arrays})
ON CONFLICT DO NOTHING;

-- name: read_chunks
-- All up to and including the one that reaches so many bytes: a sum over those before tells. Not
-- more than 1000 at once, so that reading a long log page by page does not add all of it up for
-- each.
SELECT {chunk.columns} FROM (
    SELECT *, sum(length(bytes)) OVER (ORDER BY token, seq
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (SELECT * FROM belfry.chunk WHERE exec_id = $1 AND (token, seq) > ($2, $3)
        ORDER BY token, seq LIMIT 1000) page) c
WHERE before IS NULL OR before < $4::bigint
ORDER BY token, seq;

-- name: trim_weeks
SELECT belfry.trim_chunks($1);

-- name: trim_chunks
DELETE FROM belfry.chunk c
USING (SELECT exec_id, token, seq FROM belfry.chunk WHERE at_ms < $1 ORDER BY at_ms LIMIT $2) old
WHERE c.exec_id = old.exec_id AND c.token = old.token AND c.seq = old.seq;

-- name: put_checkpoint
INSERT INTO belfry.checkpoint AS c ({checkpoint.columns}) VALUES ($1, $2, $3, $4)
ON CONFLICT (exec_id) DO UPDATE
SET {checkpoint.set}
WHERE excluded.token >= c.token;

-- name: read_checkpoint
SELECT {checkpoint.columns} FROM belfry.checkpoint WHERE exec_id = $1 AND length(bytes) > 0;

-- name: list_checkpoints
SELECT exec_id, token, at_ms, ''::bytea FROM belfry.checkpoint WHERE exec_id > $1
ORDER BY exec_id LIMIT $2;

-- name: drop_checkpoint
DELETE FROM belfry.checkpoint WHERE exec_id = $1;
