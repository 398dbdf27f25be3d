-- commit.sql - jobs, executions and attempts of a turn.

-- name: insert_jobs
INSERT INTO belfry.job ({job_row.columns}{, job_indexed.columns}, first_exec, told)
SELECT n.*, last_exec, 0
FROM unnest($1::belfry.new_job[]{, job_indexed.arrays 2}) n;

-- name: insert_plain_jobs
-- Those with nothing but the usual: see narrow_row.h.
INSERT INTO belfry.job (id, created_ms, last_exec, first_exec, priority, queue, owner, trail, spec,
    told, {job_row.rare})
SELECT id, created_ms, last_exec, last_exec, priority, queue, owner, step, spec, 0, {job_row.usual}
FROM unnest($1::belfry.plain_job[]);

-- name: insert_alike_jobs
-- The same for many that differ by their ids ($7, and $8 of their executions) alone: see
-- grouped_rows.h. Two unnest side by side go in step, and make no table of their rows first as they
-- do in FROM.
INSERT INTO belfry.job (id, created_ms, last_exec, first_exec, priority, queue, owner, trail, spec,
    told, {job_row.rare})
SELECT n.id, $1::bigint, n.exec_id, n.exec_id, $2::bigint, $3::text, $4::text, $5::text, $6::text,
    0, {job_row.usual}
FROM (SELECT unnest($7::bigint[]) AS id, unnest($8::bigint[]) AS exec_id) n;

-- name: update_jobs
-- Touches no indexed column. An end that was told by the newest execution's row so far becomes part
-- of this one. (What stands right of an = is the row before the update.)
WITH changed AS (
    UPDATE belfry.job j
    SET {job_row.progress+end.set n},
        trail = j.trail || coalesce((SELECT h.job_step FROM belfry.history h
            WHERE h.id = j.last_exec AND j.last_exec <> j.told), '') || n.step,
        told = coalesce((SELECT h.id FROM belfry.history h
            WHERE h.id = j.last_exec AND h.job_state IS NOT NULL), j.told)
    FROM unnest($2::text[], {job_row.key+progress+end.arrays 3})
        n (step, {job_row.key+progress+end.columns})
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.job e WHERE e.id = n.id OFFSET 0) f
    WHERE j.ctid = f.at
    RETURNING 1)
SELECT {met_all} FROM changed;

-- name: redefine_jobs
-- Behind update_jobs: what an edit changes and nothing else does.
WITH changed AS (
    UPDATE belfry.job j
    SET {job_row.edit+document+bulk.set n}{, job_indexed.set n}
    FROM unnest({job_row.key+edit+document+bulk.arrays 2}{, job_indexed.arrays +})
        n ({job_row.key+edit+document+bulk.columns}{, job_indexed.columns})
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.job e WHERE e.id = n.id OFFSET 0) f
    WHERE j.ctid = f.at
    RETURNING 1)
SELECT {met_all} FROM changed;

-- name: insert_live
INSERT INTO belfry.live ({exec.live+trail.columns}, wait_ms)
SELECT n.*, CASE WHEN state IN ({exec.waiting}) THEN due_ms END
FROM unnest($1::belfry.born_live[]) n;

-- name: insert_plain_live
INSERT INTO belfry.live (id, job_id, slot_ms, created_ms, due_ms, ready_ms, started_ms, token,
    worker_id, attempts, priority, state, queue, trail, wait_ms, {exec.live.rare})
SELECT n.*, CASE WHEN n.state IN ({exec.waiting}) THEN n.due_ms END, {exec.live.usual}
FROM unnest($1::belfry.plain_live[]) n;

-- name: insert_alike_live
INSERT INTO belfry.live (id, job_id, {alike.columns}, wait_ms, {exec.live.rare})
SELECT n.id, n.job_id, {alike.values},
    CASE WHEN $11::bigint IN ({exec.waiting}) THEN $5::bigint END, {exec.live.usual}
FROM (SELECT unnest($13::bigint[]) AS id, unnest($14::bigint[]) AS job_id) n;

-- name: update_live
-- An empty error keeps the one that is there: why the last attempt failed is still worth knowing
-- while the next one waits.
WITH changed AS (
    UPDATE belfry.live l
    SET {exec.progress.set n},
        error = CASE WHEN n.error = '' THEN l.error ELSE n.error END, trail = l.trail || n.step,
        unseen = NULL, proven = NULL, charged = NULL,
        wait_ms = CASE WHEN n.state IN ({exec.waiting}) THEN n.due_ms END
    FROM unnest($2::belfry.changed_live[]) n
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.live e WHERE e.id = n.id OFFSET 0) f
    WHERE l.ctid = f.at
    RETURNING 1)
SELECT {met_all} FROM changed;

-- name: update_plain_live
WITH changed AS (
    UPDATE belfry.live l
    SET state = n.state, due_ms = n.due_ms, ready_ms = n.ready_ms, started_ms = n.started_ms,
        attempts = n.attempts, token = n.token, worker_id = n.worker_id, {exec.progress.reset},
        trail = l.trail || n.step, unseen = NULL, proven = NULL, charged = NULL,
        wait_ms = CASE WHEN n.state IN ({exec.waiting}) THEN n.due_ms END
    FROM unnest($2::belfry.plain_change[]) n
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.live e WHERE e.id = n.id OFFSET 0) f
    WHERE l.ctid = f.at
    RETURNING 1)
SELECT {met_all} FROM changed;

-- name: update_alike_live
-- The same for many that differ by their ids ($10) alone: 4.6 us each instead of 6.
WITH changed AS (
    UPDATE belfry.live
    SET state = $8::bigint, due_ms = $2::bigint, ready_ms = $3::bigint, started_ms = $4::bigint,
        attempts = $7::bigint, token = $5::bigint, worker_id = $6::bigint, {exec.progress.reset},
        trail = trail || $9::text, unseen = NULL, proven = NULL, charged = NULL,
        wait_ms = CASE WHEN $8::bigint IN ({exec.waiting}) THEN $2::bigint END
    WHERE id = ANY($10::bigint[])
    RETURNING 1)
SELECT {met_all} FROM changed;

-- name: mark_unseen
-- Behind insert_live and update_live, for the few that have any.
WITH changed AS (
    UPDATE belfry.live l
    SET {exec.mark.set n}
    FROM unnest({exec.key+mark.arrays 2}) n ({exec.key+mark.columns})
    WHERE l.id = n.id AND l.id = ANY($2::bigint[])
    RETURNING 1)
SELECT {met_all} FROM changed;

-- name: charge_live
-- Behind update_live, for the few that have one.
WITH changed AS (
    UPDATE belfry.live l
    SET charged = n.charged
    FROM unnest($2::bigint[], $3::text[]) n (id, charged)
    WHERE l.id = n.id AND l.id = ANY($2::bigint[])
    RETURNING 1)
SELECT {met_all} FROM changed;

-- name: move_live
-- Behind update_live, when the job was edited: what an execution is born with otherwise.
WITH changed AS (
    UPDATE belfry.live l
    SET {exec.moved.set n}
    FROM unnest({exec.key+moved.arrays 2}) n ({exec.key+moved.columns})
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.live e WHERE e.id = n.id OFFSET 0) f
    WHERE l.ctid = f.at
    RETURNING 1)
SELECT {met_all} FROM changed;

-- name: finish_live
-- Leaves live and enters history in one statement, which takes the trail along.
WITH gone AS (
    DELETE FROM belfry.live l
    USING unnest($2::belfry.ended_live[]) n
    CROSS JOIN LATERAL (SELECT e.ctid AS at FROM belfry.live e WHERE e.id = n.id OFFSET 0) f
    WHERE l.ctid = f.at
    RETURNING n.*, l.trail),
kept AS (
    INSERT INTO belfry.history ({exec.live+trail+end+bulk.columns}, {exec_last.columns})
    SELECT {exec.live.columns}, trail || step, {exec.end+bulk.columns}, {exec_last.columns}
    FROM gone
    RETURNING 1)
SELECT {met_all} FROM kept;

-- name: delete_live
-- In front of finish_known.
WITH gone AS (DELETE FROM belfry.live WHERE id = ANY($2::bigint[]) RETURNING 1)
SELECT {met_all} FROM gone;

-- name: finish_known
-- The same in two statements, where the whole trail is known and comes as the step.
INSERT INTO belfry.history ({exec.live+trail+end+bulk.columns}, {exec_last.columns})
SELECT * FROM unnest($1::belfry.ended_live[]);

-- name: finish_plain
INSERT INTO belfry.history (id, job_id, slot_ms, created_ms, ready_ms, started_ms, token, worker_id,
    finished_ms, attempts, attempt_worker, attempt_started_ms, attempt_ended_ms, attempt_number,
    priority, attempt_outcome, job_state, state, queue, trail, job_step, due_ms,
    {exec.live+end+bulk.rare})
SELECT n.*, 0, {exec.live+end+bulk.usual} FROM unnest($1::belfry.plain_end[]) n;

-- name: finish_alike
INSERT INTO belfry.history (id, job_id, {alike.columns}, {alike_end.columns},
    {exec.live+end+bulk.rare})
SELECT n.id, n.job_id, {alike.values}, {alike_end.values 13}, {exec.live+end+bulk.usual}
FROM (SELECT unnest($21::bigint[]) AS id, unnest($22::bigint[]) AS job_id) n;

-- name: insert_history
INSERT INTO belfry.history ({exec.live+trail+end+bulk.columns})
SELECT * FROM unnest({exec.live+trail+end+bulk.arrays});

-- name: insert_payloads
INSERT INTO belfry.exec_payload (exec_id, payload)
SELECT n.* FROM unnest($1::bigint[], $2::text[]) n (exec_id, payload);

-- name: put_attempts
-- A late success takes the place of the loss that was written down before it came.
INSERT INTO belfry.attempt ({attempt.columns})
SELECT DISTINCT ON (exec_id, token) {attempt.columns}
FROM unnest({attempt.arrays})
    WITH ORDINALITY n ({attempt.columns}, at)
ORDER BY exec_id, token, at DESC
ON CONFLICT (exec_id, token) DO UPDATE
SET {attempt.set};
