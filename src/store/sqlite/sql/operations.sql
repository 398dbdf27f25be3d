-- operations.sql - what is done with many jobs, executions or dead letters.

-- name: find_live_jobs
-- What is unfinished, each with its job but for the document. Without a LIMIT: the caller stops
-- reading, since rows that make no sense must not fill a page.
SELECT l.*, {job_row.head.columns j}, '' AS spec
FROM live_row l LEFT JOIN job j ON j.id = l.job_id
WHERE l.id > :after_id ORDER BY l.id;

-- name: find_operations
-- Without its texts. One part of which is missing yet is not over.
SELECT id, min(state) <> {OPERATION_RUNNING} AND count(*) = max(parts)
FROM operation_part GROUP BY id ORDER BY id;

-- name: read_operations
SELECT {operation.columns} FROM operation_part
WHERE :id = 0 OR id = :id ORDER BY id DESC, partition;
