-- Numbers of a queue are those of the partition of what is counted. Servers of the version before added them
-- under the lowest partition that they owned, so after partitions had moved some rows were too large and
-- others below zero; their sums were right. What is unfinished, and dead letters, decide whether a queue is
-- still needed: these are counted once more. One statement, so one moment: a commit of a server that still runs
-- is in both, the rows and their numbers, or in neither.
WITH size AS (
    SELECT count(*)::integer AS partitions FROM belfry.partition
), truth AS (
    -- 2: executions, by state
    SELECT 2 AS kind, id, queue, state FROM belfry.live
    UNION ALL
    -- 3: dead letters, by the state in which the execution ended
    SELECT 3, exec_id, queue, state FROM belfry.dead_letter
    UNION ALL
    -- 1: jobs, active (1) or paused (5), which are those with an unfinished execution
    SELECT 1, id, queue, state FROM belfry.job j
    WHERE state IN (1, 5) AND EXISTS (SELECT FROM belfry.live l WHERE l.job_id = j.id)
), change AS (
    SELECT (((id >> 12) & 1023) * partitions >> 10)::integer AS partition, kind, queue, state,
           count(*) AS value
    FROM truth, size GROUP BY 1, 2, 3, 4
    UNION ALL
    SELECT partition, kind, queue, state, -value FROM belfry.counter_row
    WHERE kind = 3 OR kind = 2 AND state IN (1, 2, 3, 4, 5, 11) OR kind = 1 AND state IN (1, 5)
)
INSERT INTO belfry.counter AS c (partition, kind, queue, state, value)
SELECT partition, kind, queue, state, sum(value)::bigint FROM change
GROUP BY partition, kind, queue, state HAVING sum(value) <> 0
ON CONFLICT (partition, kind, queue, state) DO UPDATE SET value = c.value + excluded.value;
