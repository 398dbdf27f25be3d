-- operations.sql - what is done with many jobs, executions or dead letters.

-- name: find_live_jobs
-- What is unfinished, each with its job; with the document where a filter asks for it, which may stand aside.
-- Without a LIMIT: the caller stops reading, since rows that make no sense must not fill a page.
SELECT l.*, {job_row.head.columns j}, CASE WHEN :with_document
    THEN coalesce(j.spec, (SELECT d.spec FROM document d WHERE d.job_id = j.id)) ELSE '' END AS spec
FROM live_row l LEFT JOIN job j ON j.id = l.job_id
WHERE l.id > :after_id ORDER BY l.id;

-- name: find_operations
-- Without its texts. One part of which is missing yet is not over.
SELECT id, min(state) <> {OPERATION_RUNNING} AND count(*) = max(parts)
FROM operation_part GROUP BY id ORDER BY id;

-- name: read_operation
SELECT {operation.columns} FROM operation_part WHERE id = :id ORDER BY partition;

-- name: list_operations
-- Without the long texts, of which a hundred operations may have as many megabytes.
SELECT {operation.head.columns}, '' AS ids, '' AS refusals
FROM operation_part ORDER BY id DESC, partition;
