-- Idempotency keys get tables of their own. There are as many of them as jobs, they are random, and all of
-- them end; names and unique work, which stay in table claim, are few and do not.

-- A key is 128 bits of a hash, so it is kept as what it is: a third of the text's size in the index, and
-- compared at once. Nothing but the key is indexed.
CREATE TABLE belfry.request (
    holder bigint NOT NULL,
    until_ms bigint NOT NULL, -- 0: until it is released
    key uuid PRIMARY KEY,
    note text NOT NULL
) WITH (fillfactor = 90, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.02);

-- Keys that were taken together, to be found when their time is over: a row and an entry of an index for a
-- hundred of them. It may name too many, never too few; which have ended is asked of each.
CREATE TABLE belfry.request_lot (
    until_ms bigint NOT NULL, -- when the last of them ends
    keys uuid[] NOT NULL
) WITH (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX request_lot_until ON belfry.request_lot (until_ms);

INSERT INTO belfry.request (key, holder, until_ms, note)
SELECT key::uuid, holder, until_ms, note FROM belfry.claim WHERE kind = 2;

INSERT INTO belfry.request_lot (until_ms, keys)
SELECT max(until_ms), array_agg(key) FROM (
    SELECT key, until_ms, row_number() OVER (ORDER BY until_ms) / 100 AS lot
    FROM belfry.request WHERE until_ms > 0) r
GROUP BY lot;

-- A server of an older version would put them where nobody looks any more: it is stopped instead.
DELETE FROM belfry.claim WHERE kind = 2;
ALTER TABLE belfry.claim ADD CONSTRAINT claim_of_no_request CHECK (kind <> 2);
DROP INDEX belfry.claim_until;
