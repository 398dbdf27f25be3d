-- Sums of whole days, so that a report over a month or a year reads some hundreds of rows. What is folded into
-- table tally is added here in the same statement, and what is deleted there is taken off; what was not folded
-- yet is in tally_delta alone.

-- As tally.
CREATE TABLE belfry.tally_day (
    day bigint NOT NULL, -- since 1970
    count bigint NOT NULL,
    sum_ms bigint NOT NULL,
    bucket bigint NOT NULL,
    scope smallint NOT NULL,
    "end" smallint NOT NULL,
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (scope, key, day, "end", bucket)
) WITH (fillfactor = 70);

-- All keys of a scope side by side, without buckets.
CREATE TABLE belfry.tally_end (
    day bigint NOT NULL,
    count bigint NOT NULL,
    scope smallint NOT NULL,
    "end" smallint NOT NULL,
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (scope, day, key, "end")
) WITH (fillfactor = 70);

INSERT INTO belfry.tally_day (scope, key, day, "end", bucket, count, sum_ms)
SELECT scope, key, hour / 24, "end", bucket, sum(count), sum(sum_ms) FROM belfry.tally
GROUP BY scope, key, hour / 24, "end", bucket;

INSERT INTO belfry.tally_end (scope, key, day, "end", count)
SELECT scope, key, day, "end", sum(count) FROM belfry.tally_day GROUP BY scope, key, day, "end";
