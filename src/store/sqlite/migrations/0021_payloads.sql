-- Payloads of single executions: of those that were run again with another one than their job's.
CREATE TABLE exec_payload (
    exec_id INTEGER PRIMARY KEY,
    payload TEXT NOT NULL
);

PRAGMA user_version = 21;
