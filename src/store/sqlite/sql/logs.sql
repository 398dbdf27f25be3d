-- logs.sql - output of commands and their checkpoints (logs.db).

-- name: append_chunk
INSERT INTO chunk ({chunk.columns})
VALUES ({chunk.values})
ON CONFLICT DO NOTHING;

-- name: read_chunks
SELECT {chunk.columns} FROM chunk
WHERE exec_id = :exec_id AND (token, seq) > (:token, :seq)
ORDER BY token, seq;

-- name: trim_chunks
DELETE FROM chunk WHERE (exec_id, token, seq) IN (
    SELECT exec_id, token, seq FROM chunk WHERE at_ms < :before_ms ORDER BY at_ms LIMIT :max);

-- name: put_checkpoint
INSERT INTO checkpoint ({checkpoint.columns}) VALUES ({checkpoint.values})
ON CONFLICT (exec_id) DO UPDATE
SET {checkpoint.set}
WHERE excluded.token >= checkpoint.token;

-- name: read_checkpoint
SELECT {checkpoint.columns} FROM checkpoint
WHERE exec_id = :exec_id AND length(bytes) > 0;

-- name: list_checkpoints
SELECT exec_id, token, at_ms, x'' FROM checkpoint WHERE exec_id > :after
ORDER BY exec_id LIMIT :max;

-- name: drop_checkpoint
DELETE FROM checkpoint WHERE exec_id = :exec_id;
