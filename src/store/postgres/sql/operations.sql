-- operations.sql - what is done with many jobs, executions or dead letters.

-- name: find_live_jobs
-- What is unfinished behind $1 in the partitions $2 and $3, at most $4, each with its job, with
-- its document if $5.
SELECT {exec.row.columns l}, {job_row.head.columns j},
    CASE WHEN $5::boolean THEN j.spec ELSE ''::text END AS spec FROM (
    SELECT id FROM belfry.live
    WHERE id > $1::bigint AND belfry.is_owned(id, $2::bigint::integer, $3::bigint)
    ORDER BY id LIMIT $4::bigint) w
CROSS JOIN LATERAL (SELECT * FROM belfry.live_all e WHERE e.id = w.id OFFSET 0) l
LEFT JOIN LATERAL (SELECT * FROM belfry.job e WHERE e.id = l.job_id OFFSET 0) j ON true
ORDER BY l.id;

-- name: find_operations
-- Without its texts. One part of which is missing yet is not over.
SELECT id, min(state) <> {OPERATION_RUNNING} AND count(*) = max(parts)
FROM belfry.operation_part GROUP BY id ORDER BY id;

-- name: read_operation
SELECT {operation.columns} FROM belfry.operation_part WHERE id = $1::bigint ORDER BY partition;

-- name: list_operations
-- Without the long texts, of which a hundred operations may have as many megabytes.
SELECT {operation.head.columns}, ''::text AS ids, ''::text AS refusals
FROM belfry.operation_part ORDER BY id DESC, partition;
