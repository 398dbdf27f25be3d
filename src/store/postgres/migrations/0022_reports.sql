-- Reports of all keys of a scope side by side: how long what completed (6) took, so that those which take longest are
-- found without reading buckets, and rows about SLAs (scopes 6 and on) by the day. Servers of the version before go on
-- without the sum: what they fold meanwhile is missing in the order of a report, but not in its numbers.

ALTER TABLE belfry.tally_end ADD COLUMN sum_ms bigint NOT NULL DEFAULT 0;

UPDATE belfry.tally_end t SET sum_ms = d.sum_ms
FROM (SELECT scope, key, day, "end", sum(sum_ms)::bigint AS sum_ms FROM belfry.tally_day WHERE scope < 6
    GROUP BY scope, key, day, "end") d
WHERE d.scope = t.scope AND d.key = t.key AND d.day = t.day AND d."end" = t."end" AND d.sum_ms <> 0;

-- Without the numbers, so that a row that grows stays where it is.
CREATE INDEX tally_day_sla ON belfry.tally_day (scope, day) WHERE scope >= 6;

-- Since when rows of SLAs are counted by queue, owner and team.
INSERT INTO belfry.meta (key, value) VALUES ('sla_tallies_ms', belfry.now_ms()::text);
