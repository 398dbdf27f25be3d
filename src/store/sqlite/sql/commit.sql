-- commit.sql - jobs, executions and attempts of a turn.

-- name: insert_job
INSERT INTO job ({job_row.head.columns}, first_exec, trail, spec, payload{, job_indexed.columns})
VALUES ({job_row.head.values}, :last_exec, :step, :spec, :payload{, job_indexed.values});

-- name: insert_document
INSERT INTO document (job_id, spec, payload) VALUES (:job_id, :spec, :payload);

-- name: update_job
-- Touches no indexed column. An end that was told by the newest execution's row so far becomes part
-- of this one. (What stands right of an = is the row before the update.)
UPDATE job
SET {job_row.progress+end.set :},
    trail = trail || coalesce((SELECT h.job_step FROM history h
        WHERE h.id = last_exec AND last_exec <> told), '') || :step,
    told = coalesce((SELECT h.id FROM history h
        WHERE h.id = last_exec AND h.job_state IS NOT NULL), told)
WHERE id = :id;

-- name: redefine_job
-- Beside update_job, in the same turn: what an edit changes and nothing else does.
UPDATE job
SET {job_row.edit+document+bulk.set :}{, job_indexed.set :}
WHERE id = :id;

-- name: delete_document
DELETE FROM document WHERE job_id = :job_id;

-- name: insert_live
INSERT INTO live ({exec.live+trail+mark.columns})
VALUES ({exec.live.values}, :step, {exec.mark.values});

-- name: insert_payload
INSERT INTO exec_payload (exec_id, payload) VALUES (:exec_id, :payload);

-- name: update_live
-- An empty error keeps the one that is there: why the last attempt failed is still worth knowing
-- while the next one waits.
UPDATE live
SET {exec.progress.set :}, error = iif(:error = '', error, :error), trail = trail || :step,
    {exec.mark.set :}, charged = NULL
WHERE id = :id;

-- name: move_live
-- Beside update_live, when the job was edited: what an execution is born with otherwise.
UPDATE live
SET {exec.moved.set :}
WHERE id = :id;

-- name: charge_live
-- Beside update_live, for the few that have one.
UPDATE live SET charged = :charged WHERE id = :id;

-- name: finish_live
-- A plain insert that fetches the trail: INSERT … SELECT takes half as many instructions again,
-- since SQLite prepares for it to stop half-way. Where the row is missing the trail is NULL,
-- which history refuses.
INSERT INTO history ({exec.live+trail+end+bulk.columns}, {exec_last.columns})
VALUES ({exec.live.values}, (SELECT trail FROM live WHERE id = :id) || :step,
    {exec.end+bulk.values}, {exec_last.values});

-- name: delete_live
DELETE FROM live WHERE id = :id;

-- name: insert_history
INSERT INTO history ({exec.live+trail+end+bulk.columns})
VALUES ({exec.live.values}, :step, {exec.end+bulk.values});

-- name: put_attempt
-- REPLACE: a late success takes the place of the loss that was written down before it came.
REPLACE INTO attempt ({attempt.columns})
VALUES ({attempt.values});
