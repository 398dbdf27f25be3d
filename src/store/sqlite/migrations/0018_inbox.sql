-- What partitions tell each other, and keep for one another. A file has one partition, so all of this stays
-- empty in it; it is here so that a database that is moved to a cluster, and back, has the same tables.
CREATE TABLE inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice: rows are read in its order
    bucket INTEGER NOT NULL,
    kind INTEGER NOT NULL, -- enum inbox_kind
    sent_ms INTEGER NOT NULL,
    about INTEGER NOT NULL,
    sender INTEGER NOT NULL,
    value INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    actor TEXT NOT NULL,
    body TEXT NOT NULL
);

CREATE TABLE waiter (
    upstream INTEGER NOT NULL,
    exec_id INTEGER NOT NULL,
    dependant INTEGER NOT NULL,
    type INTEGER NOT NULL, -- enum dependency_type
    slot_ms INTEGER NOT NULL,
    PRIMARY KEY (upstream, exec_id)
) WITHOUT ROWID;

CREATE TABLE permit (
    key TEXT NOT NULL,
    exec_id INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    granted INTEGER NOT NULL,
    max INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    ask INTEGER NOT NULL,
    asked_ms INTEGER NOT NULL,
    PRIMARY KEY (key, exec_id)
) WITHOUT ROWID;

CREATE TABLE rejected (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    inbox_id INTEGER NOT NULL,
    team TEXT NOT NULL,
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    head TEXT NOT NULL
);

PRAGMA user_version = 18;
