-- read.sql - one thing, or all of a kind, for readers.

-- name: read_job
SELECT {job_row.row.columns}, payload, trail FROM job_full WHERE id = :id;

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
SELECT {dependency.columns} FROM dependency
WHERE dependant = :job_id ORDER BY upstream LIMIT :max;

-- name: read_dependants
SELECT {dependency.columns} FROM dependency
WHERE upstream = :job_id ORDER BY dependant LIMIT :max;

-- name: read_calendar
SELECT {calendar.columns}
FROM calendar WHERE name = :name;

-- name: read_silences
SELECT {silence.columns}
FROM alert_silence ORDER BY id;

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
    WHERE scope = :scope AND key = :key
        AND hour >= :from AND hour < min((:from + 23) / 24 * 24, :until)
    UNION ALL
    SELECT end, bucket, count, sum_ms FROM tally
    WHERE scope = :scope AND key = :key AND hour >= max((:from + 23) / 24, :until / 24) * 24
        AND hour < :until)
GROUP BY end, bucket;

-- name: read_tallies
-- All keys of a scope. Not grouped: the reader adds up faster than a sorter would.
SELECT key, end, 0, count, sum_ms FROM tally_end
WHERE scope = :scope AND day >= (:from + 23) / 24 AND day < :until / 24
UNION ALL
SELECT key, end, 0, count, sum_ms FROM tally INDEXED BY tally_hour
WHERE scope = :scope AND hour >= :from AND hour < min((:from + 23) / 24 * 24, :until)
UNION ALL
SELECT key, end, 0, count, sum_ms FROM tally INDEXED BY tally_hour
WHERE scope = :scope AND hour >= max((:from + 23) / 24, :until / 24) * 24 AND hour < :until;

-- name: read_sla_tallies
-- The same of a scope of SLAs (>= 6, which the index is about), with the kinds of events.
SELECT key, {EXEC_COMPLETED}, bucket, count, sum_ms FROM tally_day INDEXED BY tally_day_sla
WHERE scope = :scope AND scope >= 6 AND day >= (:from + 23) / 24 AND day < :until / 24
UNION ALL
SELECT key, {EXEC_COMPLETED}, bucket, count, sum_ms FROM tally INDEXED BY tally_hour
WHERE scope = :scope AND hour >= :from AND hour < min((:from + 23) / 24 * 24, :until)
UNION ALL
SELECT key, {EXEC_COMPLETED}, bucket, count, sum_ms FROM tally INDEXED BY tally_hour
WHERE scope = :scope AND hour >= max((:from + 23) / 24, :until / 24) * 24 AND hour < :until;

-- name: read_sla_since
SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'sla_tallies_ms';

-- name: read_counters
SELECT {counter.columns} FROM counter WHERE value <> 0 ORDER BY kind, queue, state;

-- name: read_versions
SELECT {version.columns} FROM job_version
WHERE job_id = :job_id AND version <= :newest ORDER BY version DESC LIMIT :limit;

-- name: read_head
-- What a job was submitted with, for lists of its executions.
SELECT {job_row.head.columns}, '' FROM job WHERE id = :id;

-- name: read_standing
SELECT * FROM job_row WHERE id = :id;

-- name: read_newest_attempt
SELECT exec_id, token, worker_id, class, fingerprint FROM attempt_row
WHERE exec_id = :exec_id ORDER BY token DESC LIMIT 1;

-- name: read_about
SELECT sqlite_version(), p.page_count * z.page_size, f.freelist_count * z.page_size
FROM pragma_page_count p, pragma_page_size z, pragma_freelist_count f;

-- name: read_journal_mode
PRAGMA journal_mode;
