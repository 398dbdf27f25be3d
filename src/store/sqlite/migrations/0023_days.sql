-- Sums of whole days, so that a report over a month or a year reads some hundreds of rows. They follow
-- table tally by themselves.

-- As tally.
CREATE TABLE tally_day (
    scope INTEGER NOT NULL,
    key TEXT NOT NULL,
    day INTEGER NOT NULL, -- since 1970
    end INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    count INTEGER NOT NULL,
    sum_ms INTEGER NOT NULL,
    PRIMARY KEY (scope, key, day, end, bucket)
) WITHOUT ROWID;

-- All keys of a scope side by side, without buckets.
CREATE TABLE tally_end (
    scope INTEGER NOT NULL,
    day INTEGER NOT NULL,
    key TEXT NOT NULL,
    end INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (scope, day, key, end)
) WITHOUT ROWID;

INSERT INTO tally_day (scope, key, day, end, bucket, count, sum_ms)
SELECT scope, key, hour / 24, end, bucket, sum(count), sum(sum_ms) FROM tally
GROUP BY scope, key, hour / 24, end, bucket;

INSERT INTO tally_end (scope, key, day, end, count)
SELECT scope, key, day, end, sum(count) FROM tally_day GROUP BY scope, key, day, end;

CREATE TRIGGER tally_insert AFTER INSERT ON tally BEGIN
    INSERT INTO tally_day (scope, key, day, end, bucket, count, sum_ms)
    VALUES (new.scope, new.key, new.hour / 24, new.end, new.bucket, new.count, new.sum_ms)
    ON CONFLICT (scope, key, day, end, bucket)
    DO UPDATE SET count = count + excluded.count, sum_ms = sum_ms + excluded.sum_ms;
    INSERT INTO tally_end (scope, key, day, end, count)
    VALUES (new.scope, new.key, new.hour / 24, new.end, new.count)
    ON CONFLICT (scope, day, key, end) DO UPDATE SET count = count + excluded.count;
END;

CREATE TRIGGER tally_update AFTER UPDATE ON tally BEGIN
    INSERT INTO tally_day (scope, key, day, end, bucket, count, sum_ms)
    VALUES (new.scope, new.key, new.hour / 24, new.end, new.bucket, new.count - old.count, new.sum_ms - old.sum_ms)
    ON CONFLICT (scope, key, day, end, bucket)
    DO UPDATE SET count = count + excluded.count, sum_ms = sum_ms + excluded.sum_ms;
    INSERT INTO tally_end (scope, key, day, end, count)
    VALUES (new.scope, new.key, new.hour / 24, new.end, new.count - old.count)
    ON CONFLICT (scope, day, key, end) DO UPDATE SET count = count + excluded.count;
END;

CREATE TRIGGER tally_delete AFTER DELETE ON tally BEGIN
    UPDATE tally_day SET count = count - old.count, sum_ms = sum_ms - old.sum_ms
    WHERE scope = old.scope AND key = old.key AND day = old.hour / 24 AND end = old.end
        AND bucket = old.bucket;
    DELETE FROM tally_day
    WHERE scope = old.scope AND key = old.key AND day = old.hour / 24 AND end = old.end
        AND bucket = old.bucket AND count <= 0;
    UPDATE tally_end SET count = count - old.count
    WHERE scope = old.scope AND day = old.hour / 24 AND key = old.key AND end = old.end;
    DELETE FROM tally_end
    WHERE scope = old.scope AND day = old.hour / 24 AND key = old.key AND end = old.end AND count <= 0;
END;

PRAGMA user_version = 23;
