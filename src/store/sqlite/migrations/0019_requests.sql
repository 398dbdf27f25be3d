-- Idempotency keys apart from other claims: see requests.c. Rows stand in the order in which they
-- came, which is that in which they end.
CREATE TABLE request (
    id INTEGER PRIMARY KEY, -- never used twice
    key TEXT NOT NULL,
    holder INTEGER NOT NULL,
    until_ms INTEGER NOT NULL,
    note TEXT NOT NULL
);

-- Where a key may be found, by its hash. Of rows up to `indexed` all are here; what names a row that
-- is gone means nothing.
CREATE TABLE request_print (
    print INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (print, id)
) WITHOUT ROWID;

CREATE TABLE request_mark (
    indexed INTEGER NOT NULL
);
INSERT INTO request_mark VALUES (0);

INSERT INTO request (key, holder, until_ms, note)
SELECT key, holder, until_ms, note FROM claim WHERE kind = 2 ORDER BY until_ms;
DELETE FROM claim WHERE kind = 2;

-- No other claim ends by itself.
DROP INDEX claim_until;

PRAGMA user_version = 19;
