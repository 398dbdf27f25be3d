-- record.sql - the other records that a turn keeps.

-- name: put_worker
INSERT INTO worker ({worker.columns})
VALUES ({worker.values})
ON CONFLICT (id) DO UPDATE
SET {worker.set};

-- name: forget_worker
DELETE FROM worker WHERE id = :id;

-- name: put_queue
REPLACE INTO queue ({queue.columns})
VALUES ({queue.values});

-- name: forget_queue
DELETE FROM queue WHERE name = :name;

-- name: move_counters
-- To the empty name. By its key: those of each kind stand together.
INSERT INTO counter ({counter.columns})
SELECT kind, '', state, value FROM counter
WHERE kind IN ({counter.kinds}) AND queue = :queue AND value <> 0
ON CONFLICT (kind, queue, state) DO UPDATE SET value = value + excluded.value;

-- name: forget_counters
DELETE FROM counter WHERE kind IN ({counter.kinds}) AND queue = :queue;

-- name: put_team
REPLACE INTO team ({team.columns})
VALUES ({team.values});

-- name: put_rate
REPLACE INTO rate ({rate.columns}) VALUES ({rate.values});

-- name: forget_rate
DELETE FROM rate WHERE key = :key;

-- name: insert_alert
INSERT INTO alert ({alert.columns})
VALUES ({alert.values});

-- name: mark_alert
UPDATE alert SET {alert.progress.set :} WHERE id = :id;

-- name: ack_alert
UPDATE alert SET {alert.edit.set :} WHERE id = :id;

-- name: put_silence
REPLACE INTO alert_silence ({silence.columns})
VALUES ({silence.values});

-- name: forget_silence
DELETE FROM alert_silence WHERE id = :id;

-- name: insert_sla_event
INSERT INTO sla_event ({sla_event.columns})
VALUES ({sla_event.values});

-- name: put_clock
REPLACE INTO clock (only_row, at_ms, by_ms) VALUES (1, :at_ms, :by_ms);

-- name: put_breaker
REPLACE INTO breaker ({breaker.columns})
VALUES ({breaker.values});

-- name: forget_breaker
DELETE FROM breaker WHERE target = :target;

-- name: put_dependency
INSERT INTO dependency ({dependency.columns})
VALUES ({dependency.values})
ON CONFLICT (dependant, upstream) DO UPDATE SET {dependency.progress.set};

-- name: put_letter
-- The owner is the job's.
INSERT INTO dead_letter ({letter.columns})
VALUES (:died_ms, :exec_id, :job_id, :state, :queue, :name,
    coalesce((SELECT owner FROM job WHERE id = :job_id), ''), :reason, :class, :fingerprint, :line,
    :error, :attempts, :lost);

-- name: remove_letter
DELETE FROM dead_letter WHERE died_ms = :died_ms AND exec_id = :exec_id;

-- name: put_operation
REPLACE INTO operation_part ({operation.columns})
VALUES ({operation.values});

-- name: move_operation
UPDATE operation_part SET {operation.progress+trail.set :} WHERE id = :id AND partition = :partition;

-- name: put_calendar
REPLACE INTO calendar ({calendar.columns})
VALUES ({calendar.values});

-- name: forget_calendar
DELETE FROM calendar WHERE name = :name;

-- name: put_calendar_use
-- NULL, which the column refuses, when there is no such calendar.
INSERT INTO calendar_use (calendar, job_id)
VALUES ((SELECT name FROM calendar WHERE name = :calendar), :job_id) ON CONFLICT DO NOTHING;

-- name: forget_calendar_use
DELETE FROM calendar_use WHERE calendar = :calendar AND job_id = :job_id;

-- name: add_counter
INSERT INTO counter ({counter.columns}) VALUES ({counter.values})
ON CONFLICT (kind, queue, state) DO UPDATE SET value = value + excluded.value;

-- name: add_tally
INSERT INTO tally ({tally.columns})
VALUES ({tally.values})
ON CONFLICT (scope, key, hour, end, bucket)
DO UPDATE SET count = count + excluded.count, sum_ms = sum_ms + excluded.sum_ms;

-- name: put_key
INSERT INTO api_key ({api_key.columns})
VALUES ({api_key.values})
ON CONFLICT (id) DO UPDATE
SET {api_key.set};

-- name: sign_key_out
UPDATE api_key SET sessions = sessions + 1 WHERE id = :id;

-- name: keep_first_version
-- What the job was until now, when nothing is written about that yet. Before the job changes.
INSERT INTO job_version ({version.columns})
SELECT id, version, iif(changed_ms > 0, changed_ms, created_ms), iif(version = 1, owner, ''),
    coalesce(spec, (SELECT d.spec FROM document d WHERE d.job_id = job.id)),
    coalesce(payload, (SELECT d.payload FROM document d WHERE d.job_id = job.id), '')
FROM job WHERE id = :job_id
    AND NOT EXISTS (SELECT 1 FROM job_version v WHERE v.job_id = job.id);

-- name: put_version
REPLACE INTO job_version ({version.columns}) VALUES ({version.values});

-- name: trim_versions
DELETE FROM job_version WHERE job_id = :job_id AND version <= :oldest;
