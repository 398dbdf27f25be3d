-- The first shape of logs.db: the output of commands, apart from everything else, so that a
-- talkative job costs the turn nothing and may be thrown away without touching a job.

-- WITHOUT ROWID: the chunks of one attempt lie side by side, in the order they are read.
CREATE TABLE chunk (
    exec_id INTEGER NOT NULL,
    token INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (exec_id, token, seq)
) WITHOUT ROWID;

-- Trimming goes by time. An execution's id tells when it was planned, which may be a year before
-- it printed anything, so the key alone would not do.
CREATE INDEX chunk_at ON chunk (at_ms);

PRAGMA user_version = 1;
