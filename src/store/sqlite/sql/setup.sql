-- setup.sql - setting up a connection. These blocks are run whole, never prepared.

-- name: setup_writer
-- page_size: 4 KB is what disks and the page cache speak; 8 KB measured no faster.
-- auto_vacuum off: free pages are used again, and its bookkeeping would cost every commit.
-- mmap off: a failing disk must be an error to report, not a SIGBUS.
-- cache 64 MB: the newest leaves of all tables, some 100k jobs, so that a turn reads nothing.
-- The log is moved into the file by wal_checkpoint.c. After a burst, or a reader that held it open,
-- it is cut to 128 MB.
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
-- How rows are read: one list of columns per record, in its order. The views
-- belong to the connection, not to the file, so they change with the code and need no migration.
--
-- job_kept is a job's row as it stands, which is the truth while an execution of it is unfinished.
-- job_full also knows an end that is written in the newest execution's row.
CREATE TEMP VIEW job_kept AS
SELECT {job_row.head.columns},
    coalesce(spec, (SELECT d.spec FROM document d WHERE d.job_id = job.id)) AS spec
FROM job;
CREATE TEMP VIEW job_full AS
SELECT {job_row.key+birth+progress+edit.columns j}, coalesce(h.job_state, j.state) AS state,
    coalesce(h.finished_ms, j.finished_ms) AS finished_ms,
    coalesce(j.spec, (SELECT d.spec FROM document d WHERE d.job_id = j.id)) AS spec,
    coalesce(j.payload, (SELECT d.payload FROM document d WHERE d.job_id = j.id)) AS payload,
    j.trail || coalesce(h.job_step, '') AS trail{, job_indexed.columns j}
FROM job j
LEFT JOIN history h ON h.id = j.last_exec AND h.job_state IS NOT NULL AND j.last_exec <> j.told;
CREATE TEMP VIEW job_row AS
SELECT {job_row.row.columns}{, job_indexed.columns}
FROM job_full;
CREATE TEMP VIEW live_load AS
SELECT {exec.live.columns},
    0 AS finished_ms, 0 AS slot_last_ms, 0 AS slot_count,
    CASE WHEN retry_of = 0 AND origin <> {ORIGIN_REQUEST} THEN 0
    ELSE EXISTS (SELECT 1 FROM exec_payload p WHERE p.exec_id = live.id) END AS own_payload,
    {exec.mark.columns}, charged
FROM live;
CREATE TEMP VIEW live_row AS
SELECT {exec.row.columns}
FROM live_load;
CREATE TEMP VIEW history_row AS
SELECT {exec.live+end.columns},
    CASE WHEN retry_of = 0 AND origin <> {ORIGIN_REQUEST} THEN 0
    ELSE EXISTS (SELECT 1 FROM exec_payload p WHERE p.exec_id = history.id) END AS own_payload,
    0 AS unseen, 0 AS proven
FROM history;

-- Those in table attempt, and the one in an ended execution's own row unless it was told again
-- since.
CREATE TEMP VIEW attempt_row AS
SELECT {attempt.columns}, NULL AS usage
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
SELECT {letter.columns}
FROM dead_letter;
