-- Unique keys that are kept after success end by themselves: the order in which they are swept.

CREATE INDEX claim_until ON belfry.claim (until_ms) WHERE until_ms > 0;
