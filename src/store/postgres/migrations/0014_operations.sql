-- An operation has a row for each partition, written by the partition's owner; and acts upon jobs and
-- executions, too (engine/core/operations.c). Servers of the version before go on with belfry.operation.
CREATE TABLE belfry.operation_part (
    id bigint NOT NULL,
    job_id bigint NOT NULL, -- which dead letters; empty or 0: any
    fingerprint bigint NOT NULL,
    died_after_ms bigint NOT NULL,
    died_before_ms bigint NOT NULL,
    states bigint NOT NULL, -- which jobs or executions: bits
    of_job bigint NOT NULL,
    created_after_ms bigint NOT NULL,
    created_before_ms bigint NOT NULL,
    created_ms bigint NOT NULL,
    finished_ms bigint NOT NULL,
    total bigint NOT NULL,
    done bigint NOT NULL,
    refused bigint NOT NULL,
    at_ms bigint NOT NULL, -- the place of the last one it has looked at
    at_id bigint NOT NULL,
    partition integer NOT NULL,
    parts integer NOT NULL,
    kind smallint NOT NULL,  -- enum operation_kind
    state smallint NOT NULL, -- enum operation_state
    class smallint NOT NULL,
    by_ids boolean NOT NULL,
    counted boolean NOT NULL,
    queue text NOT NULL,
    name text NOT NULL,
    queues text NOT NULL, -- these two one a line
    tags text NOT NULL,
    job_name text NOT NULL,
    owner text NOT NULL,
    team text NOT NULL,
    ids text NOT NULL, -- instead of a filter
    actor text NOT NULL,
    refusal text NOT NULL,
    refusals text NOT NULL,
    PRIMARY KEY (id, partition)
);

-- What is over stays as it was. What runs goes on in every partition, where it meets only what is still there.
INSERT INTO belfry.operation_part (id, partition, parts, kind, state, queue, name, class, fingerprint, job_id,
    died_after_ms, died_before_ms, actor, created_ms, finished_ms, total, done, refused, at_ms, at_id, refusal,
    states, of_job, created_after_ms, created_before_ms, by_ids, counted, queues, tags, job_name, owner, team,
    ids, refusals)
SELECT o.id, p.id, CASE WHEN o.state = 1 THEN n.partitions ELSE 1 END, o.kind, o.state, o.queue, o.name,
    o.class, o.fingerprint, o.job_id, o.died_after_ms, o.died_before_ms, o.actor, o.created_ms, o.finished_ms,
    CASE WHEN h.home THEN o.total ELSE 0 END, CASE WHEN h.home THEN o.done ELSE 0 END,
    CASE WHEN h.home THEN o.refused ELSE 0 END, 0, 0, CASE WHEN h.home THEN o.refusal ELSE '' END,
    0, 0, 0, 0, false, true, '', '', '', '', '', '', ''
FROM belfry.operation o
CROSS JOIN belfry.partition p
CROSS JOIN (SELECT count(*) AS partitions FROM belfry.partition) n
CROSS JOIN LATERAL (SELECT p.id = ((o.id >> 12) & 1023) * n.partitions >> 10 AS home) h
WHERE o.state = 1 OR h.home;
