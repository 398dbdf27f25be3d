-- The first shape of belfry.db. Forward only: once released, this file never changes.
--
-- Ids are INTEGER PRIMARY KEY, which is SQLite's rowid: no second index, and rows lie in the order
-- of their making, so that inserts append. Times are milliseconds since 1970, states are the
-- numbers of job/state.h. Text is never NULL unless it says why.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- Names this database for ever; a copy or a backup carries it along.
INSERT INTO meta VALUES ('store_id', lower(hex(randomblob(16))));

-- Who decides. One row on SQLite.
CREATE TABLE partition (
    id INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    epoch INTEGER NOT NULL,     -- grows with every owner
    turn INTEGER NOT NULL,      -- the newest that was committed
    newest_id INTEGER NOT NULL, -- of anything, also of what was deleted since
    drift_ms INTEGER NOT NULL,  -- how far an id's own time ever was from its row's created_ms
    settled INTEGER NOT NULL    -- commits whose outcome had to be asked for
);

INSERT INTO partition VALUES (0, '', 0, 0, 0, 0, 0);

CREATE TABLE job (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    state INTEGER NOT NULL,
    name TEXT, -- NULL: nobody gave one
    queue TEXT NOT NULL,
    owner TEXT NOT NULL,
    tags TEXT NOT NULL,
    priority INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    finished_ms INTEGER NOT NULL,
    last_exec INTEGER NOT NULL,
    trail TEXT NOT NULL,
    spec TEXT,   -- NULL: both are in document
    payload TEXT -- NULL: as above
);

-- Most jobs have no name and cost nothing here.
CREATE INDEX job_name ON job (name) WHERE name IS NOT NULL;

-- What jobs carry that is large. A job's row is written again whenever its job changes, and SQLite
-- writes a row whole; so a megabyte of payload stands aside, and small ones save themselves a row.
CREATE TABLE document (
    job_id INTEGER PRIMARY KEY,
    spec TEXT NOT NULL,
    payload TEXT NOT NULL
);

-- One row per unfinished execution, reached by key only while work goes on.
CREATE TABLE live (
    id INTEGER PRIMARY KEY,
    job_id INTEGER NOT NULL,
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    retry_of INTEGER NOT NULL,
    slot_ms INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    state INTEGER NOT NULL,
    due_ms INTEGER NOT NULL,
    ready_ms INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    token INTEGER NOT NULL,
    worker_id INTEGER NOT NULL,
    error TEXT NOT NULL,
    trail TEXT NOT NULL
);

CREATE INDEX live_job ON live (job_id);

-- The plan beyond the horizon, in time order: scheduled (1) and retrying (5). What is queued or
-- running, which is where rows change, is not in it.
CREATE INDEX live_due ON live (due_ms, id) WHERE state IN (1, 5);

-- What is over. Only ever appended to.
CREATE TABLE history (
    id INTEGER PRIMARY KEY,
    job_id INTEGER NOT NULL,
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    retry_of INTEGER NOT NULL,
    slot_ms INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    state INTEGER NOT NULL,
    due_ms INTEGER NOT NULL,
    ready_ms INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    token INTEGER NOT NULL,
    worker_id INTEGER NOT NULL,
    finished_ms INTEGER NOT NULL,
    error TEXT NOT NULL,
    trail TEXT NOT NULL,
    result TEXT NOT NULL
);

CREATE INDEX history_job ON history (job_id, id);

-- WITHOUT ROWID where the key is not a single number: the row stands in the index itself.
CREATE TABLE attempt (
    exec_id INTEGER NOT NULL,
    token INTEGER NOT NULL,
    number INTEGER NOT NULL,
    worker_id INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    exit_code INTEGER NOT NULL,
    signal INTEGER NOT NULL,
    cpu_ms INTEGER NOT NULL,
    peak_memory_bytes INTEGER NOT NULL,
    output_bytes INTEGER NOT NULL,
    dropped_bytes INTEGER NOT NULL,
    log_seq INTEGER NOT NULL,
    error TEXT NOT NULL,
    PRIMARY KEY (exec_id, token)
) WITHOUT ROWID;

-- Keys that are unique while their holder lives.
CREATE TABLE claim (
    kind INTEGER NOT NULL,
    key TEXT NOT NULL,
    holder INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
) WITHOUT ROWID;

CREATE TABLE worker (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    queues TEXT NOT NULL,
    handlers TEXT NOT NULL,
    runs_commands INTEGER NOT NULL,
    draining INTEGER NOT NULL,
    slots INTEGER NOT NULL,
    registered_ms INTEGER NOT NULL
);

CREATE TABLE counter (
    kind INTEGER NOT NULL,
    queue TEXT NOT NULL,
    state INTEGER NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (kind, queue, state)
) WITHOUT ROWID;

CREATE TABLE api_key (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    hash TEXT NOT NULL,
    created_ms INTEGER NOT NULL
);

PRAGMA user_version = 1;
