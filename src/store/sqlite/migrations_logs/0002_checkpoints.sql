-- What an attempt leaves for the next one of its execution: one row each, the newest. Beside the
-- output and not in belfry.db, since it is written by the same thread, every few seconds while a
-- command runs, and may be a megabyte: no turn should wait for that.

-- A rowid table, unlike chunk: bytes are large, and a row WITHOUT ROWID would carry them in the index.
CREATE TABLE checkpoint (
    exec_id INTEGER PRIMARY KEY,
    token INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    bytes BLOB NOT NULL -- the last column: whoever asks for the others does not read it
);

PRAGMA user_version = 2;
