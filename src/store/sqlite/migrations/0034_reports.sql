-- Reports of all keys of a scope side by side: how long what completed (6) took, so that those which take longest are
-- found without reading buckets, and rows about SLAs (scopes 6 and on) by the day.

ALTER TABLE tally_end ADD COLUMN sum_ms INTEGER NOT NULL DEFAULT 0;

UPDATE tally_end SET sum_ms = (SELECT sum(d.sum_ms) FROM tally_day d
    WHERE d.scope = tally_end.scope AND d.key = tally_end.key AND d.day = tally_end.day AND d.end = tally_end.end)
WHERE scope < 6;

-- With all that is read, since these are few beside all others, and a report may ask for a million of them.
CREATE INDEX tally_day_sla ON tally_day (scope, day, key, bucket, count, sum_ms) WHERE scope >= 6;

DROP TRIGGER tally_insert;
DROP TRIGGER tally_update;
DROP TRIGGER tally_delete;

CREATE TRIGGER tally_insert AFTER INSERT ON tally BEGIN
    INSERT INTO tally_day (scope, key, day, end, bucket, count, sum_ms)
    VALUES (new.scope, new.key, new.hour / 24, new.end, new.bucket, new.count, new.sum_ms)
    ON CONFLICT (scope, key, day, end, bucket)
    DO UPDATE SET count = count + excluded.count, sum_ms = sum_ms + excluded.sum_ms;
    INSERT INTO tally_end (scope, key, day, end, count, sum_ms)
    VALUES (new.scope, new.key, new.hour / 24, new.end, new.count, new.sum_ms)
    ON CONFLICT (scope, day, key, end)
    DO UPDATE SET count = count + excluded.count, sum_ms = sum_ms + excluded.sum_ms;
END;

CREATE TRIGGER tally_update AFTER UPDATE ON tally BEGIN
    INSERT INTO tally_day (scope, key, day, end, bucket, count, sum_ms)
    VALUES (new.scope, new.key, new.hour / 24, new.end, new.bucket, new.count - old.count, new.sum_ms - old.sum_ms)
    ON CONFLICT (scope, key, day, end, bucket)
    DO UPDATE SET count = count + excluded.count, sum_ms = sum_ms + excluded.sum_ms;
    INSERT INTO tally_end (scope, key, day, end, count, sum_ms)
    VALUES (new.scope, new.key, new.hour / 24, new.end, new.count - old.count, new.sum_ms - old.sum_ms)
    ON CONFLICT (scope, day, key, end)
    DO UPDATE SET count = count + excluded.count, sum_ms = sum_ms + excluded.sum_ms;
END;

CREATE TRIGGER tally_delete AFTER DELETE ON tally BEGIN
    UPDATE tally_day SET count = count - old.count, sum_ms = sum_ms - old.sum_ms
    WHERE scope = old.scope AND key = old.key AND day = old.hour / 24 AND end = old.end
        AND bucket = old.bucket;
    DELETE FROM tally_day
    WHERE scope = old.scope AND key = old.key AND day = old.hour / 24 AND end = old.end
        AND bucket = old.bucket AND count <= 0;
    UPDATE tally_end SET count = count - old.count, sum_ms = sum_ms - old.sum_ms
    WHERE scope = old.scope AND day = old.hour / 24 AND key = old.key AND end = old.end;
    DELETE FROM tally_end
    WHERE scope = old.scope AND day = old.hour / 24 AND key = old.key AND end = old.end AND count <= 0;
END;

-- Since when rows of SLAs are counted by queue, owner and team.
INSERT INTO meta (key, value)
VALUES ('sla_tallies_ms', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER));

PRAGMA user_version = 34;
