-- Every statement of the SQLite store, one named block each. The C code finds a block by its name
-- (sql.c), binds its parameters in the order in which they first appear, and never builds SQL.
-- Literal state numbers are those of job/state.h: scheduled 1, retrying 5; of a dependency, those
-- of job/dependency.h: waiting 1, met 2, per_slot 5; of an origin, those of job/record/record.h: slot 1.

-- ---- setting up a connection; these blocks are run whole

-- name: setup_writer
-- page_size: 4 KB is what disks and the page cache speak; 8 KB measured no faster.
-- auto_vacuum off: free pages are used again, and its bookkeeping would cost every commit.
-- mmap off: a failing disk must be an error to report, not a SIGBUS.
-- cache 64 MB: the newest leaves of all tables, some 100k jobs, so that a turn reads nothing.
-- The log is moved into the file by wal_checkpoint.c. After a burst, or a reader that held it open, it is cut
-- to 128 MB.
-- secure_delete off: Debian switches it on, and it writes zeros over every row that moves on: 2 %
-- of the instructions, though in time no difference was seen.
PRAGMA page_size = 4096;
PRAGMA auto_vacuum = NONE;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = OFF;
PRAGMA mmap_size = 0;
PRAGMA cache_size = -65536;
PRAGMA journal_size_limit = 134217728;
PRAGMA secure_delete = OFF;
PRAGMA temp_store = MEMORY;
PRAGMA busy_timeout = 2000;

-- name: sync_normal
-- Commits then survive the death of the process, but a power cut may undo the last ones.
PRAGMA synchronous = NORMAL;

-- name: setup_reader
PRAGMA mmap_size = 0;
PRAGMA cache_size = -8192;
PRAGMA temp_store = MEMORY;
PRAGMA busy_timeout = 2000;

-- name: setup_logs
-- synchronous NORMAL: output is not a promise. A power cut may take the last lines a command
-- printed; it cannot damage the file, and no job waits for a disk because another one talks.
PRAGMA page_size = 4096;
PRAGMA auto_vacuum = NONE;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA foreign_keys = OFF;
PRAGMA mmap_size = 0;
PRAGMA cache_size = -8192;
PRAGMA journal_size_limit = 67108864;
PRAGMA secure_delete = OFF;
PRAGMA temp_store = MEMORY;
PRAGMA busy_timeout = 2000;

-- name: views
-- How rows are read: one list of columns per record, in the order of store/sql/row.c. The views belong to
-- the connection, not to the file, so they change with the code and need no migration.
--
-- job_kept is a job's row as it stands, which is the truth while an execution of it is unfinished.
-- job_full also knows an end that is written in the newest execution's row.
CREATE TEMP VIEW job_kept AS
SELECT id, version, state, name, queue, owner, team, tags, priority, created_ms, finished_ms,
    changed_ms, last_exec,
    coalesce(spec, (SELECT d.spec FROM document d WHERE d.job_id = job.id)) AS spec
FROM job;
CREATE TEMP VIEW job_full AS
SELECT j.id, j.version, coalesce(h.job_state, j.state) AS state, j.name, j.queue, j.owner, j.team,
    j.tags, j.priority, j.created_ms, coalesce(h.finished_ms, j.finished_ms) AS finished_ms,
    j.changed_ms, j.last_exec,
    coalesce(j.spec, (SELECT d.spec FROM document d WHERE d.job_id = j.id)) AS spec,
    coalesce(j.payload, (SELECT d.payload FROM document d WHERE d.job_id = j.id)) AS payload,
    j.trail || coalesce(h.job_step, '') AS trail
FROM job j
LEFT JOIN history h ON h.id = j.last_exec AND h.job_state IS NOT NULL AND j.last_exec <> j.told;
CREATE TEMP VIEW job_row AS
SELECT id, version, state, name, queue, owner, team, tags, priority, created_ms, finished_ms,
    changed_ms, last_exec, spec
FROM job_full;
CREATE TEMP VIEW live_load AS
SELECT id, job_id, queue, priority, retry_of, first, origin, slot_ms, nominal_ms, created_ms, state,
    due_ms, ready_ms, started_ms, attempts, lost, returned, late, sla_since_ms, sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error,
    0 AS finished_ms, 0 AS slot_last_ms, 0 AS slot_count,
    CASE retry_of WHEN 0 THEN 0
    ELSE EXISTS (SELECT 1 FROM exec_payload p WHERE p.exec_id = live.id) END AS own_payload,
    unseen, proven, charged
FROM live;
CREATE TEMP VIEW live_row AS
SELECT id, job_id, queue, priority, retry_of, first, origin, slot_ms, nominal_ms, created_ms, state,
    due_ms, ready_ms, started_ms, attempts, lost, returned, late, sla_since_ms, sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, finished_ms, slot_last_ms, slot_count,
    own_payload, unseen, proven
FROM live_load;
CREATE TEMP VIEW history_row AS
SELECT id, job_id, queue, priority, retry_of, first, origin, slot_ms, nominal_ms, created_ms, state,
    due_ms, ready_ms, started_ms, attempts, lost, returned, late, sla_since_ms, sla_extra_ms,
    sla_marks, token, worker_id, effect_done, error, finished_ms, slot_last_ms, slot_count,
    CASE retry_of WHEN 0 THEN 0
    ELSE EXISTS (SELECT 1 FROM exec_payload p WHERE p.exec_id = history.id) END AS own_payload,
    0 AS unseen, 0 AS proven
FROM history;

-- Those in table attempt, and the one in an ended execution's own row unless it was told again
-- since.
CREATE TEMP VIEW attempt_row AS
SELECT exec_id, token, number, worker_id, started_ms, ended_ms, outcome, error, class,
    fingerprint, tail, exit_code, signal, cpu_ms, peak_memory_bytes, output_bytes, dropped_bytes,
    log_seq, NULL AS usage
FROM attempt
UNION ALL
SELECT id, token, attempt_number, attempt_worker, attempt_started_ms, attempt_ended_ms,
    attempt_outcome, coalesce(attempt_error, error), coalesce(attempt_class, 0),
    coalesce(attempt_fingerprint, 0), coalesce(attempt_tail, ''), -1, 0, 0, 0, 0, 0, 0,
    attempt_usage
FROM history h
WHERE attempt_outcome IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.exec_id = h.id AND a.token = h.token);

CREATE TEMP VIEW letter_row AS
SELECT died_ms, exec_id, job_id, state, queue, name, owner, reason, class, fingerprint, line, error,
    attempts, lost
FROM dead_letter;

-- ---- every connection

-- name: version
PRAGMA user_version;

-- name: begin_read
BEGIN;

-- name: begin_write
-- IMMEDIATE: waiting for another writer happens here, never in the middle of a turn.
BEGIN IMMEDIATE;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- ---- ownership

-- name: take_partition
UPDATE partition SET owner = :node, epoch = epoch + 1
WHERE id = 0 RETURNING epoch, newest_id, turn;

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

-- name: raise_newest
UPDATE partition SET newest_id = max(newest_id, :id);

-- ---- admission

-- name: take_claim
-- One that has ended gives way.
INSERT INTO claim (kind, key, holder, until_ms, note)
VALUES (:kind, :key, :holder, :until_ms, :note)
ON CONFLICT (kind, key) DO UPDATE
SET holder = excluded.holder, until_ms = excluded.until_ms, note = excluded.note
WHERE until_ms > 0 AND until_ms <= :now_ms;

-- name: claim_holder
SELECT holder, note FROM claim WHERE kind = :kind AND key = :key;

-- name: find_job
SELECT * FROM job_row WHERE id = :id;

-- name: find_met
SELECT d.upstream, d.dependant, d.type, d.state, j.*
FROM dependency d JOIN job_row j ON j.id = d.upstream
WHERE d.dependant = :job_id AND d.state = 2 ORDER BY d.upstream;

-- name: find_exec
SELECT * FROM live_row WHERE id = :id
UNION ALL
SELECT * FROM history_row WHERE id = :id;

-- name: find_attempt
SELECT * FROM attempt_row WHERE exec_id = :exec_id AND token = :token;

-- name: find_trail
-- An id is that of one thing: jobs and executions share the generator.
SELECT trail FROM job_full WHERE id = :id
UNION ALL
SELECT trail FROM live WHERE id = :id
UNION ALL
SELECT trail FROM history WHERE id = :id;

-- name: find_live
SELECT * FROM live_row WHERE id = :id;

-- name: find_ahead
-- Here and below: what was made with the job is found by the job's row, the rest by the index. From
-- the newest on, so that it steps over nothing but runs that people asked for since.
SELECT * FROM (SELECT * FROM live_row
    WHERE job_id = :job_id AND first = 0 AND state = 1
    ORDER BY id DESC LIMIT 1)
UNION ALL
SELECT l.* FROM job j JOIN live_row l ON l.id = j.first_exec AND l.first <> 0
WHERE j.id = :job_id AND l.state = 1
ORDER BY id DESC LIMIT 1;

-- name: find_slot
-- The newest by id, since slots are made in their order. Each part stops at its first row; before
-- that it steps over runs that people asked for, and over slots later than the moment.
SELECT * FROM (SELECT * FROM live_row
    WHERE job_id = :job_id AND first = 0 AND origin = 1 AND slot_ms <= :until_ms
    ORDER BY id DESC LIMIT 1)
UNION ALL
SELECT * FROM (SELECT * FROM history_row
    WHERE job_id = :job_id AND first = 0 AND origin = 1 AND slot_ms <= :until_ms
    ORDER BY id DESC LIMIT 1)
UNION ALL
SELECT l.* FROM job j JOIN live_row l ON l.id = j.first_exec AND l.first <> 0
WHERE j.id = :job_id AND l.origin = 1 AND l.slot_ms <= :until_ms
UNION ALL
SELECT h.* FROM job j JOIN history_row h ON h.id = j.first_exec AND h.first <> 0
WHERE j.id = :job_id AND h.origin = 1 AND h.slot_ms <= :until_ms
ORDER BY id DESC LIMIT 1;

-- name: due
-- In two parts, what is left of the moment :after_ms and what comes later, so that both start by
-- the index: a million executions may be due at the same midnight, and a comparison of pairs would
-- walk through all of them for every page. Without a LIMIT: the caller stops reading, since rows
-- that make no sense must not fill a page.
SELECT l.*, j.* FROM live_row l LEFT JOIN job_kept j ON j.id = l.job_id
WHERE l.state IN (1, 5) AND l.due_ms = :after_ms AND l.id > :after_id AND l.due_ms <= :until_ms
UNION ALL
SELECT l.*, j.* FROM live_row l LEFT JOIN job_kept j ON j.id = l.job_id
WHERE l.state IN (1, 5) AND l.due_ms > :after_ms AND l.due_ms <= :until_ms
ORDER BY due_ms, id;

-- name: find_letter
SELECT * FROM letter_row WHERE exec_id = :exec_id;

-- name: find_letters
-- Without a LIMIT: the caller stops reading.
SELECT * FROM letter_row
WHERE (died_ms, exec_id) > (:after_ms, :after_id) AND died_ms <= :until_ms
ORDER BY died_ms, exec_id;

-- name: find_old
-- What was created before a moment has an id from before it, too, but for the drift (see
-- keep_turn); a millisecond of ids counts from 2020 and is 2^22 wide, and there are 2^41 of them.
-- A standing rule (state 5: job/dependency.h) that waits for its job needs the newest slot (origin 1).
SELECT h.id, h.finished_ms, EXISTS (SELECT 1 FROM dead_letter d WHERE d.exec_id = h.id),
    EXISTS (SELECT 1 FROM dependency r WHERE r.upstream = h.job_id AND r.state = 5)
        AND NOT EXISTS (SELECT 1 FROM history n
            WHERE n.job_id = h.job_id AND n.first = 0 AND n.origin = 1 AND n.id > h.id)
FROM history h
WHERE h.id > :after_id AND h.created_ms < :until_ms
    AND h.id < min(:until_ms + (SELECT max(drift_ms) FROM partition) - 1577836800000,
        2199023255551) << 22
ORDER BY h.id;

-- name: find_old_alerts
-- The same for alerts.
SELECT id, at_ms, state FROM alert
WHERE id > :after_id AND at_ms < :until_ms
    AND id < min(:until_ms + (SELECT max(drift_ms) FROM partition) - 1577836800000,
        2199023255551) << 22
ORDER BY id;

-- name: find_old_tallies
SELECT scope, key, hour, end, bucket FROM tally INDEXED BY tally_hour
WHERE hour < :hour ORDER BY hour, scope, key, end, bucket;

-- name: find_pace
-- Backwards along the primary key.
SELECT bucket, count FROM tally WHERE scope = :scope AND key = :key AND end = :end
ORDER BY hour DESC, bucket DESC LIMIT :limit;

-- name: find_counters
SELECT kind, queue, state, value FROM counter
WHERE kind IN (1, 2, 3) AND queue = :queue AND value <> 0;

-- name: calendar_jobs
SELECT job_id FROM calendar_use WHERE calendar = :calendar ORDER BY job_id LIMIT :max;

-- name: find_worker
SELECT id, name, queues, handlers, runs_commands, draining, slots, registered_ms, boot_id, replaces
FROM worker WHERE id = :id;

-- name: find_inbox
-- Without a LIMIT, as find_letters.
SELECT id, bucket, kind, sent_ms, about, sender, value, number, name, actor,
    CASE WHEN kind < :kinds THEN body ELSE '' END
FROM inbox WHERE id > :after_id AND (kind = 1) = :submissions ORDER BY id;

-- name: find_left_mail
SELECT id, bucket, kind, sent_ms, about, sender, value, number, name, actor,
    CASE WHEN kind < :kinds THEN body ELSE '' END
FROM inbox WHERE id = :id;

-- name: fetch
SELECT coalesce(spec, (SELECT d.spec FROM document d WHERE d.job_id = job.id)),
    coalesce(payload, (SELECT d.payload FROM document d WHERE d.job_id = job.id))
FROM job WHERE id = :id;

-- name: fetch_payload
SELECT payload FROM exec_payload WHERE exec_id = :exec_id;

-- ---- a turn's delta

-- name: insert_job
INSERT INTO job (id, version, state, name, queue, owner, team, tags, priority, created_ms,
    finished_ms, last_exec, first_exec, changed_ms, trail, spec, payload)
VALUES (:id, :version, :state, :name, :queue, :owner, :team, :tags, :priority, :created_ms,
    :finished_ms, :last_exec, :last_exec, :changed_ms, :step, :spec, :payload);

-- name: insert_document
INSERT INTO document (job_id, spec, payload) VALUES (:job_id, :spec, :payload);

-- name: update_job
-- Touches no indexed column. An end that was told by the newest execution's row so far becomes part
-- of this one. (What stands right of an = is the row before the update.)
UPDATE job
SET version = :version, state = :state, priority = :priority, finished_ms = :finished_ms,
    last_exec = :last_exec,
    trail = trail || coalesce((SELECT h.job_step FROM history h
        WHERE h.id = last_exec AND last_exec <> told), '') || :step,
    told = coalesce((SELECT h.id FROM history h
        WHERE h.id = last_exec AND h.job_state IS NOT NULL), told)
WHERE id = :id;

-- name: redefine_job
-- Beside update_job, in the same turn: what an edit changes and nothing else does.
UPDATE job
SET queue = :queue, team = :team, tags = :tags, changed_ms = :changed_ms, spec = :spec,
    payload = :payload
WHERE id = :id;

-- name: delete_document
DELETE FROM document WHERE job_id = :job_id;

-- name: insert_live
INSERT INTO live (id, job_id, queue, priority, retry_of, first, origin, slot_ms, nominal_ms,
    created_ms, state, due_ms, ready_ms, started_ms, attempts, lost, returned, late, sla_since_ms,
    sla_extra_ms, sla_marks, token, worker_id, effect_done,
    error, trail, unseen, proven)
VALUES (:id, :job_id, :queue, :priority, :retry_of, :first, :origin, :slot_ms, :nominal_ms,
    :created_ms, :state, :due_ms, :ready_ms, :started_ms, :attempts, :lost, :returned,
    :late, :sla_since_ms, :sla_extra_ms, :sla_marks, :token,
    :worker_id, :effect_done, :error, :step, :unseen, :proven);

-- name: insert_payload
INSERT INTO exec_payload (exec_id, payload) VALUES (:exec_id, :payload);

-- name: update_live
-- An empty error keeps the one that is there: why the last attempt failed is still worth knowing
-- while the next one waits.
UPDATE live
SET state = :state, due_ms = :due_ms, ready_ms = :ready_ms, started_ms = :started_ms,
    attempts = :attempts, lost = :lost, returned = :returned, late = :late, sla_since_ms = :sla_since_ms,
    sla_extra_ms = :sla_extra_ms, sla_marks = :sla_marks, token = :token, worker_id = :worker_id,
    effect_done = :effect_done, error = iif(:error = '', error, :error), trail = trail || :step,
    unseen = :unseen, proven = :proven, charged = NULL
WHERE id = :id;

-- name: move_live
-- Beside update_live, when the job was edited: what an execution is born with otherwise.
UPDATE live
SET queue = :queue, priority = :priority, slot_ms = :slot_ms, nominal_ms = :nominal_ms
WHERE id = :id;

-- name: charge_live
-- Beside update_live, for the few that have one.
UPDATE live SET charged = :charged WHERE id = :id;

-- name: finish_live
-- A plain insert that fetches the trail: INSERT … SELECT takes half as many instructions again,
-- since SQLite prepares for it to stop half-way. Where the row is missing the trail is NULL,
-- which history refuses.
INSERT INTO history (id, job_id, queue, priority, retry_of, first, origin, slot_ms, nominal_ms,
    created_ms, state, due_ms, ready_ms, started_ms, attempts, lost, returned, late, sla_since_ms,
    sla_extra_ms, sla_marks, token, worker_id, effect_done,
    error, trail, finished_ms, result, slot_last_ms, slot_count, job_state, job_step,
    attempt_outcome, attempt_number, attempt_worker, attempt_started_ms, attempt_ended_ms,
    attempt_usage, attempt_error, attempt_class, attempt_fingerprint, attempt_tail)
VALUES (:id, :job_id, :queue, :priority, :retry_of, :first, :origin, :slot_ms, :nominal_ms,
    :created_ms, :state, :due_ms, :ready_ms, :started_ms, :attempts, :lost, :returned,
    :late, :sla_since_ms, :sla_extra_ms, :sla_marks, :token,
    :worker_id, :effect_done, :error, (SELECT trail FROM live WHERE id = :id) || :step, :finished_ms,
    :result, :slot_last_ms, :slot_count, :job_state, :job_step, :attempt_outcome, :attempt_number, :attempt_worker,
    :attempt_started_ms, :attempt_ended_ms, :attempt_usage, :attempt_error, :attempt_class,
    :attempt_fingerprint, :attempt_tail);

-- name: delete_live
DELETE FROM live WHERE id = :id;

-- name: insert_history
INSERT INTO history (id, job_id, queue, priority, retry_of, first, origin, slot_ms, nominal_ms,
    created_ms, state, due_ms, ready_ms, started_ms, attempts, lost, returned, late, sla_since_ms,
    sla_extra_ms, sla_marks, token, worker_id, effect_done,
    error, trail, finished_ms, result, slot_last_ms, slot_count)
VALUES (:id, :job_id, :queue, :priority, :retry_of, :first, :origin, :slot_ms, :nominal_ms,
    :created_ms, :state, :due_ms, :ready_ms, :started_ms, :attempts, :lost, :returned,
    :late, :sla_since_ms, :sla_extra_ms, :sla_marks, :token,
    :worker_id, :effect_done, :error, :step, :finished_ms, :result, :slot_last_ms, :slot_count);

-- name: put_attempt
-- REPLACE: a late success takes the place of the loss that was written down before it came.
REPLACE INTO attempt (exec_id, token, number, worker_id, started_ms, ended_ms, outcome, exit_code,
    signal, cpu_ms, peak_memory_bytes, output_bytes, dropped_bytes, log_seq, error, class,
    fingerprint, tail)
VALUES (:exec_id, :token, :number, :worker_id, :started_ms, :ended_ms, :outcome, :exit_code,
    :signal, :cpu_ms, :peak_memory_bytes, :output_bytes, :dropped_bytes, :log_seq, :error,
    :class, :fingerprint, :tail);

-- name: release_claim
-- The holder is asked too: whoever took the key since keeps it.
DELETE FROM claim WHERE kind = :kind AND key = :key AND holder = :holder;

-- name: put_claim
REPLACE INTO claim (kind, key, holder, until_ms, note)
VALUES (:kind, :key, :holder, :until_ms, :note);

-- name: request_mark
SELECT indexed FROM request_mark;

-- name: load_requests
SELECT id, key FROM request WHERE id > :indexed ORDER BY id;

-- name: read_request
SELECT id, holder, until_ms, note FROM request WHERE id = :id AND key = :key;

-- name: find_request
-- CROSS JOIN: by the print, never by a walk over all requests.
SELECT r.id, r.holder, r.until_ms, r.note FROM request_print p CROSS JOIN request r ON r.id = p.id
WHERE p.print = :print AND r.key = :key;

-- name: insert_request
INSERT INTO request (id, key, holder, until_ms, note)
VALUES (:id, :key, :holder, :until_ms, :note);

-- name: update_request
UPDATE request SET holder = :holder, note = :note WHERE id = :id;

-- name: oldest_requests
SELECT id, until_ms FROM request ORDER BY id LIMIT :max;

-- name: delete_requests
DELETE FROM request WHERE id BETWEEN :first AND :last;

-- name: put_print
INSERT INTO request_print (print, id) VALUES (:print, :id) ON CONFLICT DO NOTHING;

-- name: clean_prints
DELETE FROM request_print WHERE print BETWEEN :from AND :until AND id < :oldest;

-- name: put_request_mark
UPDATE request_mark SET indexed = :indexed;

-- name: put_worker
INSERT INTO worker (id, name, queues, handlers, runs_commands, draining, slots, registered_ms,
    boot_id, replaces)
VALUES (:id, :name, :queues, :handlers, :runs_commands, :draining, :slots, :registered_ms, :boot_id,
    :replaces)
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, queues = excluded.queues, handlers = excluded.handlers,
    runs_commands = excluded.runs_commands, draining = excluded.draining, slots = excluded.slots,
    registered_ms = excluded.registered_ms, boot_id = excluded.boot_id,
    replaces = excluded.replaces;

-- name: forget_worker
DELETE FROM worker WHERE id = :id;

-- name: put_queue
REPLACE INTO queue (name, concurrency, paused, paused_ms, paused_by, changed_ms, changed_by)
VALUES (:name, :concurrency, :paused, :paused_ms, :paused_by, :changed_ms, :changed_by);

-- name: forget_queue
DELETE FROM queue WHERE name = :name;

-- name: move_counters
-- To the empty name. By its key: those of each kind stand together.
INSERT INTO counter (kind, queue, state, value)
SELECT kind, '', state, value FROM counter WHERE kind IN (1, 2, 3) AND queue = :queue AND value <> 0
ON CONFLICT (kind, queue, state) DO UPDATE SET value = value + excluded.value;

-- name: forget_counters
DELETE FROM counter WHERE kind IN (1, 2, 3) AND queue = :queue;

-- name: put_team
REPLACE INTO team (name, concurrency, changed_ms, changed_by)
VALUES (:name, :concurrency, :changed_ms, :changed_by);

-- name: put_rate
REPLACE INTO rate (key, next_us, interval_us) VALUES (:key, :next_us, :interval_us);

-- name: forget_rate
DELETE FROM rate WHERE key = :key;

-- name: insert_alert
INSERT INTO alert (id, at_ms, kind, level, state, key, text, queue, job_id, exec_id, repeats)
VALUES (:id, :at_ms, :kind, :level, :state, :key, :text, :queue, :job_id, :exec_id, :repeats);

-- name: mark_alert
UPDATE alert SET state = :state WHERE id = :id;

-- name: insert_sla_event
INSERT INTO sla_event (id, at_ms, kind, policy, exec_id, job_id, attempt, expected_ms, max_ms,
    actual_ms, extended_ms, queue, actor, reason, approver)
VALUES (:id, :at_ms, :kind, :policy, :exec_id, :job_id, :attempt, :expected_ms, :max_ms,
    :actual_ms, :extended_ms, :queue, :actor, :reason, :approver);

-- name: put_clock
REPLACE INTO clock (only_row, at_ms, by_ms) VALUES (1, :at_ms, :by_ms);

-- name: put_breaker
REPLACE INTO breaker (target, state, opened_ms, until_ms, probe)
VALUES (:target, :state, :opened_ms, :until_ms, :probe);

-- name: forget_breaker
DELETE FROM breaker WHERE target = :target;

-- name: put_dependency
INSERT INTO dependency (dependant, upstream, type, state)
VALUES (:dependant, :upstream, :type, :state)
ON CONFLICT (dependant, upstream) DO UPDATE SET state = excluded.state;

-- name: put_letter
-- The owner is the job's.
INSERT INTO dead_letter (died_ms, exec_id, job_id, state, queue, name, owner, reason, class,
    fingerprint, line, error, attempts, lost)
VALUES (:died_ms, :exec_id, :job_id, :state, :queue, :name,
    coalesce((SELECT owner FROM job WHERE id = :job_id), ''), :reason, :class, :fingerprint, :line,
    :error, :attempts, :lost);

-- name: remove_letter
DELETE FROM dead_letter WHERE died_ms = :died_ms AND exec_id = :exec_id;

-- name: put_operation
REPLACE INTO operation (id, kind, state, queue, name, class, fingerprint, job_id, died_after_ms,
    died_before_ms, actor, created_ms, finished_ms, total, done, refused, at_ms, at_id, refusal)
VALUES (:id, :kind, :state, :queue, :name, :class, :fingerprint, :job_id, :died_after_ms,
    :died_before_ms, :actor, :created_ms, :finished_ms, :total, :done, :refused, :at_ms, :at_id,
    :refusal);

-- name: forget_operation
DELETE FROM operation WHERE id = :id;

-- name: forget_exec
DELETE FROM history WHERE id = :id
RETURNING job_id, coalesce(job_state, 0), finished_ms, coalesce(job_step, '');

-- name: forget_attempts
DELETE FROM attempt WHERE exec_id = :exec_id;

-- name: forget_sla_events
DELETE FROM sla_event WHERE exec_id = :exec_id;

-- name: forget_payload
DELETE FROM exec_payload WHERE exec_id = :exec_id;

-- name: forget_alert
DELETE FROM alert WHERE id = :id;

-- name: forget_tally
DELETE FROM tally
WHERE scope = :scope AND key = :key AND hour = :hour AND end = :end AND bucket = :bucket;

-- name: forget_job
-- Of a job that is over: completed 2, failed 3, cancelled 4 (job/state.h). The end may have stood
-- in the execution's row, as in job_full.
DELETE FROM job
WHERE id = :job_id
    AND iif(last_exec = :exec_id AND told <> :exec_id AND :job_state <> 0, :job_state, state)
        IN (2, 3, 4)
    AND NOT EXISTS (SELECT 1 FROM live e WHERE e.id = job.first_exec)
    AND NOT EXISTS (SELECT 1 FROM history e WHERE e.id = job.first_exec)
    AND NOT EXISTS (SELECT 1 FROM live e WHERE e.job_id = job.id AND e.first = 0)
    AND NOT EXISTS (SELECT 1 FROM history e WHERE e.job_id = job.id AND e.first = 0);

-- name: forget_document
DELETE FROM document WHERE job_id = :job_id;

-- name: forget_dependencies
DELETE FROM dependency WHERE dependant = :job_id;

-- name: fold_job
-- As update_job takes over what the newest execution's row said, when that row goes and the job
-- stays.
UPDATE job
SET state = :job_state, finished_ms = :finished_ms, trail = trail || :step, told = :exec_id
WHERE id = :job_id AND last_exec = :exec_id AND told <> :exec_id;

-- name: put_calendar
REPLACE INTO calendar (name, version, policy, entry_count, changed_ms, changed_by, document)
VALUES (:name, :version, :policy, :entry_count, :changed_ms, :changed_by, :document);

-- name: forget_calendar
DELETE FROM calendar WHERE name = :name;

-- name: put_calendar_use
-- NULL, which the column refuses, when there is no such calendar.
INSERT INTO calendar_use (calendar, job_id)
VALUES ((SELECT name FROM calendar WHERE name = :calendar), :job_id) ON CONFLICT DO NOTHING;

-- name: forget_calendar_use
DELETE FROM calendar_use WHERE calendar = :calendar AND job_id = :job_id;

-- name: insert_inbox
INSERT INTO inbox (bucket, kind, sent_ms, about, sender, value, number, name, actor, body)
VALUES (:bucket, :kind, :sent_ms, :about, :sender, :value, :number, :name, :actor, :body);

-- name: delete_inbox
DELETE FROM inbox WHERE id = :id;

-- name: put_waiter
REPLACE INTO waiter (upstream, exec_id, dependant, type, slot_ms)
VALUES (:upstream, :exec_id, :dependant, :type, :slot_ms);

-- name: forget_waiter
DELETE FROM waiter WHERE upstream = :upstream AND exec_id = :exec_id;

-- name: put_permit
REPLACE INTO permit (key, exec_id, bucket, granted, max, rank, ask, asked_ms)
VALUES (:key, :exec_id, :bucket, :granted, :max, :rank, :ask, :asked_ms);

-- name: forget_permit
DELETE FROM permit WHERE key = :key AND exec_id = :exec_id;

-- name: insert_rejected
INSERT INTO rejected (id, at_ms, inbox_id, team, actor, reason, head)
VALUES (:id, :at_ms, :inbox_id, :team, :actor, :reason, :head);

-- name: forget_rejected
-- Few are there, and this runs only when one more comes.
DELETE FROM rejected WHERE at_ms < :from_ms;

-- name: add_counter
INSERT INTO counter (kind, queue, state, value) VALUES (:kind, :queue, :state, :value)
ON CONFLICT (kind, queue, state) DO UPDATE SET value = value + excluded.value;

-- name: add_tally
INSERT INTO tally (scope, key, hour, end, bucket, count, sum_ms)
VALUES (:scope, :key, :hour, :end, :bucket, :count, :sum_ms)
ON CONFLICT (scope, key, hour, end, bucket)
DO UPDATE SET count = count + excluded.count, sum_ms = sum_ms + excluded.sum_ms;

-- ---- loading

-- name: load_counters
SELECT kind, queue, state, value FROM counter WHERE value <> 0 ORDER BY kind, queue, state;

-- name: load_queues
SELECT name, concurrency, paused, paused_ms, paused_by, changed_ms, changed_by
FROM queue ORDER BY name;

-- name: load_teams
SELECT name, concurrency, changed_ms, changed_by FROM team ORDER BY name;

-- name: load_rates
SELECT key, next_us, interval_us FROM rate ORDER BY key;

-- name: load_clock
SELECT at_ms, by_ms FROM clock;

-- name: load_breakers
SELECT target, state, opened_ms, until_ms, probe FROM breaker ORDER BY target;

-- name: load_operations
SELECT id, kind, state, queue, name, class, fingerprint, job_id, died_after_ms, died_before_ms,
    actor, created_ms, finished_ms, total, done, refused, at_ms, at_id, refusal
FROM operation ORDER BY id;

-- name: load_workers
SELECT id, name, queues, handlers, runs_commands, draining, slots, registered_ms, boot_id, replaces
FROM worker ORDER BY id;

-- name: load_calendars
SELECT name, version, policy, entry_count, changed_ms, changed_by, document
FROM calendar ORDER BY name;

-- name: load_permits
SELECT key, exec_id, bucket, granted, max, rank, ask, asked_ms FROM permit ORDER BY key, exec_id;

-- name: load_waiters
SELECT upstream, exec_id, dependant, type, slot_ms FROM waiter ORDER BY upstream, exec_id;

-- name: load_live
-- LEFT JOIN: an execution whose job is gone must be seen, and reported, not silently left out. In
-- the order of the table, and nearly that of the jobs': a million rows are read without a sort.
SELECT l.*, j.* FROM live_load l LEFT JOIN job_kept j ON j.id = l.job_id
WHERE l.state NOT IN (1, 5) OR l.due_ms <= :until_ms OR (l.state = 5 AND l.origin != 0)
    OR (l.state = 1 AND l.ready_ms > 0)
ORDER BY l.id;

-- name: load_dependencies
SELECT upstream, dependant, type, state FROM dependency INDEXED BY dependency_waiting
WHERE state IN (1, 5) ORDER BY dependant, upstream;

-- name: load_keys
SELECT id, name, role, hash, created_ms FROM api_key ORDER BY id;

-- name: put_key
INSERT INTO api_key (id, name, role, hash, created_ms)
VALUES (:id, :name, :role, :hash, :created_ms)
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, role = excluded.role, hash = excluded.hash,
    created_ms = excluded.created_ms;

-- ---- reading
--
-- Every list has two statements. The first takes a window of at most :scan_max ids by an index and
-- looks at those rows only, so that a filter which fits nothing costs a page and not the table.
-- CROSS JOIN keeps the window in front, as a coroutine: rows come in its order, and a full page
-- ends it early. The second, asked only when the page did not fill, names the last id of that
-- window: there the next page goes on.

-- name: read_job
SELECT * FROM job_full WHERE id = :id;

-- name: read_live
SELECT r.*, '' AS result, l.trail FROM live_row r JOIN live l ON l.id = r.id WHERE r.id = :id;

-- name: read_payload
SELECT payload FROM exec_payload WHERE exec_id = :exec_id;

-- name: read_history
SELECT r.*, h.result, h.trail FROM history_row r JOIN history h ON h.id = r.id WHERE r.id = :id;

-- name: read_attempts
SELECT * FROM attempt_row WHERE exec_id = :exec_id ORDER BY token;

-- name: read_grant
-- Always one row: who asks about what never was is told so by NULLs.
SELECT l.token, l.worker_id, coalesce(a.worker_id, h.attempt_worker)
FROM (SELECT :exec_id AS exec_id, :token AS token) q
LEFT JOIN live l ON l.id = q.exec_id
LEFT JOIN attempt a ON a.exec_id = q.exec_id AND a.token = q.token
LEFT JOIN history h ON h.id = q.exec_id AND h.token = q.token;

-- name: read_upstreams
SELECT upstream, dependant, type, state FROM dependency
WHERE dependant = :job_id ORDER BY upstream LIMIT :max;

-- name: read_dependants
SELECT upstream, dependant, type, state FROM dependency
WHERE upstream = :job_id ORDER BY dependant LIMIT :max;

-- name: read_letter
SELECT * FROM letter_row WHERE exec_id = :exec_id;

-- name: list_letters
-- Without a LIMIT, as find_letters. Here and below: each by its own index.
SELECT * FROM letter_row
WHERE (died_ms, exec_id) < (:before_ms, :before_id) AND died_ms >= :after_ms
ORDER BY died_ms DESC, exec_id DESC;

-- name: list_letters_of_job
SELECT * FROM letter_row
WHERE job_id = :job_id AND (died_ms, exec_id) < (:before_ms, :before_id) AND died_ms >= :after_ms
ORDER BY died_ms DESC, exec_id DESC;

-- name: list_letters_of_kind
SELECT * FROM letter_row
WHERE fingerprint = :fingerprint AND (died_ms, exec_id) < (:before_ms, :before_id) AND died_ms >= :after_ms
ORDER BY died_ms DESC, exec_id DESC;

-- name: list_letters_named
SELECT * FROM letter_row
WHERE name = :name AND name <> '' AND (died_ms, exec_id) < (:before_ms, :before_id) AND died_ms >= :after_ms
ORDER BY died_ms DESC, exec_id DESC;

-- name: list_letters_of_queue
SELECT * FROM letter_row
WHERE queue = :queue AND (died_ms, exec_id) < (:before_ms, :before_id) AND died_ms >= :after_ms
ORDER BY died_ms DESC, exec_id DESC;

-- name: group_letters
-- Of the newest :scan_max between two moments. What a group says of itself is its newest letter's, which is
-- found again by the moment: few die in the same millisecond. The last column: how many
-- were looked at.
WITH kind AS MATERIALIZED (
    SELECT fingerprint, count(*) AS count, min(died_ms) AS oldest_ms, max(died_ms) AS newest_ms
    FROM (SELECT died_ms, fingerprint FROM dead_letter INDEXED BY dead_letter_died
        WHERE died_ms >= :after_ms AND died_ms < :before_ms
        ORDER BY died_ms DESC, exec_id DESC LIMIT :scan_max) newest
    GROUP BY fingerprint)
SELECT k.fingerprint, l.class, l.line, k.count, l.died_ms, l.exec_id, k.oldest_ms,
    (sum(k.count) OVER ()) AS looked
FROM kind k CROSS JOIN dead_letter l ON l.died_ms = k.newest_ms AND l.exec_id = (
    SELECT max(d.exec_id) FROM dead_letter d
    WHERE d.died_ms = k.newest_ms AND d.fingerprint = k.fingerprint)
ORDER BY k.count DESC, l.died_ms DESC, l.exec_id DESC LIMIT :limit;

-- name: group_letters_fitting
WITH kind AS MATERIALIZED (
    SELECT fingerprint, count(*) AS count, min(died_ms) AS oldest_ms, max(died_ms) AS newest_ms
    FROM (SELECT died_ms, fingerprint, queue, name, class, job_id FROM dead_letter
        WHERE died_ms >= :after_ms AND died_ms < :before_ms
        ORDER BY died_ms DESC, exec_id DESC LIMIT :scan_max) newest
    WHERE :limit > 0 AND (:queue IS NULL OR queue = :queue) AND (:name IS NULL OR name = :name)
        AND (:class = 0 OR class = :class) AND (:fingerprint = 0 OR fingerprint = :fingerprint)
        AND (:job_id = 0 OR job_id = :job_id)
    GROUP BY fingerprint)
SELECT k.fingerprint, l.class, l.line, k.count, l.died_ms, l.exec_id, k.oldest_ms, 0 AS looked
FROM kind k CROSS JOIN dead_letter l ON l.died_ms = k.newest_ms AND l.exec_id = (
    SELECT max(d.exec_id) FROM dead_letter d
    WHERE d.died_ms = k.newest_ms AND d.fingerprint = k.fingerprint
        AND (:queue IS NULL OR d.queue = :queue) AND (:name IS NULL OR d.name = :name)
        AND (:class = 0 OR d.class = :class) AND (:job_id = 0 OR d.job_id = :job_id))
ORDER BY k.count DESC, l.died_ms DESC, l.exec_id DESC LIMIT :limit;

-- name: edge_letters
SELECT 1 FROM dead_letter WHERE died_ms >= :after_ms AND died_ms < :before_ms
ORDER BY died_ms DESC, exec_id DESC LIMIT 1 OFFSET :scan_max;

-- name: read_calendar
SELECT name, version, policy, entry_count, changed_ms, changed_by, document
FROM calendar WHERE name = :name;

-- name: read_calendars
SELECT name, version, policy, entry_count, changed_ms, changed_by, '' FROM calendar ORDER BY name;

-- name: read_drift
SELECT max(drift_ms) FROM partition;

-- name: read_tally
-- Here and below: whole days as such, and by the hour what is left at both ends.
SELECT end, bucket, sum(count), sum(sum_ms) FROM (
    SELECT end, bucket, count, sum_ms FROM tally_day
    WHERE scope = :scope AND key = :key AND day >= (:from + 23) / 24 AND day < :until / 24
    UNION ALL
    SELECT end, bucket, count, sum_ms FROM tally
    WHERE scope = :scope AND key = :key AND hour >= :from AND hour < min((:from + 23) / 24 * 24, :until)
    UNION ALL
    SELECT end, bucket, count, sum_ms FROM tally
    WHERE scope = :scope AND key = :key AND hour >= max((:from + 23) / 24, :until / 24) * 24
        AND hour < :until)
GROUP BY end, bucket;

-- name: read_tally_keys
SELECT key, sum(iif(end = :completed, count, 0)), sum(iif(end = :deduplicated, count, 0)),
    sum(iif(end IN (:completed, :deduplicated), 0, count)) AS failed
FROM (
    SELECT key, end, count FROM tally_end
    WHERE scope = :scope AND day >= (:from + 23) / 24 AND day < :until / 24
    UNION ALL
    SELECT key, end, count FROM tally INDEXED BY tally_hour
    WHERE scope = :scope AND hour >= :from AND hour < min((:from + 23) / 24 * 24, :until)
    UNION ALL
    SELECT key, end, count FROM tally INDEXED BY tally_hour
    WHERE scope = :scope AND hour >= max((:from + 23) / 24, :until / 24) * 24 AND hour < :until)
GROUP BY key ORDER BY failed DESC, key LIMIT :limit;

-- name: read_counters
SELECT kind, queue, state, value FROM counter WHERE value <> 0 ORDER BY kind, queue, state;

-- name: list_alerts
SELECT id, at_ms, kind, level, state, key, text, queue, job_id, exec_id, repeats FROM alert
WHERE id < :before ORDER BY id DESC LIMIT :limit;

-- name: list_alerts_pending
SELECT id, at_ms, kind, level, state, key, text, queue, job_id, exec_id, repeats FROM alert
WHERE state = 2 AND id < :before ORDER BY id DESC LIMIT :limit;

-- name: list_rejected
SELECT id, at_ms, inbox_id, team, actor, reason, head FROM rejected
WHERE id < :before ORDER BY id DESC LIMIT :limit;

-- name: list_jobs
SELECT r.* FROM (
    SELECT id FROM job
    WHERE id >= :id_min AND id < :id_end
    ORDER BY id DESC LIMIT :scan_max) w
CROSS JOIN job_row r ON r.id = w.id
WHERE (:state = 0 OR state = :state) AND (:queue IS NULL OR queue = :queue)
    AND (:owner IS NULL OR owner = :owner) AND (:team IS NULL OR team = :team)
    AND (:tag IS NULL OR instr(tags, :tag) > 0)
    AND created_ms >= :created_after_ms AND created_ms < :created_before_ms;

-- name: edge_jobs
SELECT id FROM job
WHERE id >= :id_min AND id < :id_end
ORDER BY id DESC LIMIT 1 OFFSET :scan_max - 1;

-- name: list_jobs_named
SELECT r.* FROM (
    SELECT id FROM job
    WHERE name = :name AND id >= :id_min AND id < :id_end
    ORDER BY id DESC LIMIT :scan_max) w
CROSS JOIN job_row r ON r.id = w.id
WHERE (:state = 0 OR state = :state) AND (:queue IS NULL OR queue = :queue)
    AND (:owner IS NULL OR owner = :owner) AND (:team IS NULL OR team = :team)
    AND (:tag IS NULL OR instr(tags, :tag) > 0)
    AND created_ms >= :created_after_ms AND created_ms < :created_before_ms;

-- name: edge_jobs_named
SELECT id FROM job
WHERE name = :name AND id >= :id_min AND id < :id_end
ORDER BY id DESC LIMIT 1 OFFSET :scan_max - 1;

-- name: list_jobs_in_state
-- Of those that are neither active nor completed. Either the job's own row says so, or that of an
-- execution, not necessarily the newest: what is found counts by the same rule as everywhere.
SELECT r.* FROM (
    SELECT id FROM job WHERE state = :in_state AND state <> 1 AND id >= :id_min AND id < :id_end
    UNION
    SELECT job_id FROM history
    WHERE job_state = :in_state AND job_state IN (3, 4) AND job_id >= :id_min AND job_id < :id_end
    ORDER BY id DESC LIMIT :scan_max) w
CROSS JOIN job_row r ON r.id = w.id
WHERE (:state = 0 OR state = :state) AND (:queue IS NULL OR queue = :queue)
    AND (:owner IS NULL OR owner = :owner) AND (:team IS NULL OR team = :team)
    AND (:tag IS NULL OR instr(tags, :tag) > 0)
    AND created_ms >= :created_after_ms AND created_ms < :created_before_ms;

-- name: edge_jobs_in_state
SELECT id FROM (
    SELECT id FROM job WHERE state = :in_state AND state <> 1 AND id >= :id_min AND id < :id_end
    UNION
    SELECT job_id FROM history
    WHERE job_state = :in_state AND job_state IN (3, 4) AND job_id >= :id_min AND job_id < :id_end
    ORDER BY id DESC LIMIT :scan_max)
LIMIT 1 OFFSET :scan_max - 1;

-- name: list_live
-- :state_too is stopping when :state is running, since users see one as the other.
SELECT r.* FROM (
    SELECT id FROM live
    WHERE id >= :id_min AND id < :id_end
    ORDER BY id DESC LIMIT :scan_max) w
CROSS JOIN live_row r ON r.id = w.id
WHERE (:state = 0 OR state IN (:state, :state_too)) AND (:queue IS NULL OR queue = :queue)
    AND created_ms >= :created_after_ms AND created_ms < :created_before_ms;

-- name: edge_live
SELECT id FROM live
WHERE id >= :id_min AND id < :id_end
ORDER BY id DESC LIMIT 1 OFFSET :scan_max - 1;

-- name: list_live_of_job
SELECT r.* FROM (
    SELECT id FROM live
    WHERE job_id = :job_id AND first = 0 AND id >= :id_min AND id < :id_end
    UNION ALL
    SELECT e.id FROM job j JOIN live e ON e.id = j.first_exec AND e.first <> 0
    WHERE j.id = :job_id AND e.id >= :id_min AND e.id < :id_end
    ORDER BY id DESC LIMIT :scan_max) w
CROSS JOIN live_row r ON r.id = w.id
WHERE (:state = 0 OR state IN (:state, :state_too)) AND (:queue IS NULL OR queue = :queue)
    AND created_ms >= :created_after_ms AND created_ms < :created_before_ms;

-- name: edge_live_of_job
SELECT id FROM live
WHERE job_id = :job_id AND first = 0 AND id >= :id_min AND id < :id_end
UNION ALL
SELECT e.id FROM job j JOIN live e ON e.id = j.first_exec AND e.first <> 0
WHERE j.id = :job_id AND e.id >= :id_min AND e.id < :id_end
ORDER BY id DESC LIMIT 1 OFFSET :scan_max - 1;

-- name: list_history
SELECT r.* FROM (
    SELECT id FROM history
    WHERE id >= :id_min AND id < :id_end
    ORDER BY id DESC LIMIT :scan_max) w
CROSS JOIN history_row r ON r.id = w.id
WHERE (:state = 0 OR state IN (:state, :state_too)) AND (:queue IS NULL OR queue = :queue)
    AND created_ms >= :created_after_ms AND created_ms < :created_before_ms;

-- name: edge_history
SELECT id FROM history
WHERE id >= :id_min AND id < :id_end
ORDER BY id DESC LIMIT 1 OFFSET :scan_max - 1;

-- name: list_history_in_state
-- Of any but completed.
SELECT r.* FROM (
    SELECT id FROM history
    WHERE state = :in_state AND state <> 6 AND id >= :id_min AND id < :id_end
    ORDER BY id DESC LIMIT :scan_max) w
CROSS JOIN history_row r ON r.id = w.id
WHERE (:state = 0 OR state IN (:state, :state_too)) AND (:queue IS NULL OR queue = :queue)
    AND created_ms >= :created_after_ms AND created_ms < :created_before_ms;

-- name: edge_history_in_state
SELECT id FROM history
WHERE state = :in_state AND state <> 6 AND id >= :id_min AND id < :id_end
ORDER BY id DESC LIMIT 1 OFFSET :scan_max - 1;

-- name: list_history_of_job
SELECT r.* FROM (
    SELECT id FROM history
    WHERE job_id = :job_id AND first = 0 AND id >= :id_min AND id < :id_end
    UNION ALL
    SELECT e.id FROM job j JOIN history e ON e.id = j.first_exec AND e.first <> 0
    WHERE j.id = :job_id AND e.id >= :id_min AND e.id < :id_end
    ORDER BY id DESC LIMIT :scan_max) w
CROSS JOIN history_row r ON r.id = w.id
WHERE (:state = 0 OR state IN (:state, :state_too)) AND (:queue IS NULL OR queue = :queue)
    AND created_ms >= :created_after_ms AND created_ms < :created_before_ms;

-- name: edge_history_of_job
SELECT id FROM history
WHERE job_id = :job_id AND first = 0 AND id >= :id_min AND id < :id_end
UNION ALL
SELECT e.id FROM job j JOIN history e ON e.id = j.first_exec AND e.first <> 0
WHERE j.id = :job_id AND e.id >= :id_min AND e.id < :id_end
ORDER BY id DESC LIMIT 1 OFFSET :scan_max - 1;

-- name: list_sla_events_of_job
SELECT id, at_ms, kind, policy, exec_id, job_id, attempt, expected_ms, max_ms, actual_ms,
    extended_ms, queue, actor, reason, approver
FROM sla_event WHERE job_id = :job_id AND id < :before ORDER BY id DESC LIMIT :limit;

-- name: list_sla_events_of_exec
SELECT id, at_ms, kind, policy, exec_id, job_id, attempt, expected_ms, max_ms, actual_ms,
    extended_ms, queue, actor, reason, approver
FROM sla_event WHERE exec_id = :exec_id AND id < :before ORDER BY id DESC LIMIT :limit;

-- ---- output of commands and their checkpoints (logs.db)

-- name: append_chunk
INSERT INTO chunk (exec_id, token, seq, attempt, stream, at_ms, bytes)
VALUES (:exec_id, :token, :seq, :attempt, :stream, :at_ms, :bytes)
ON CONFLICT DO NOTHING;

-- name: read_chunks
SELECT exec_id, token, seq, attempt, stream, at_ms, bytes FROM chunk
WHERE exec_id = :exec_id AND (token, seq) > (:token, :seq)
ORDER BY token, seq;

-- name: trim_chunks
DELETE FROM chunk WHERE (exec_id, token, seq) IN (
    SELECT exec_id, token, seq FROM chunk WHERE at_ms < :before_ms ORDER BY at_ms LIMIT :max);

-- name: put_checkpoint
INSERT INTO checkpoint (exec_id, token, at_ms, bytes) VALUES (:exec_id, :token, :at_ms, :bytes)
ON CONFLICT (exec_id) DO UPDATE
SET token = excluded.token, at_ms = excluded.at_ms, bytes = excluded.bytes
WHERE excluded.token >= checkpoint.token;

-- name: read_checkpoint
SELECT exec_id, token, at_ms, bytes FROM checkpoint
WHERE exec_id = :exec_id AND length(bytes) > 0;

-- name: list_checkpoints
SELECT exec_id, token, at_ms, x'' FROM checkpoint WHERE exec_id > :after ORDER BY exec_id LIMIT :max;

-- name: drop_checkpoint
DELETE FROM checkpoint WHERE exec_id = :exec_id;
