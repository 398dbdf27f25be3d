-- How executions ended, by the hour: see job/record/tally.h. Reports add these up and read no execution.
CREATE TABLE tally (
    scope INTEGER NOT NULL, -- enum tally_scope
    key TEXT NOT NULL,
    hour INTEGER NOT NULL,   -- since 1970
    end INTEGER NOT NULL,    -- enum exec_state
    bucket INTEGER NOT NULL, -- of the duration, or enum failure_class
    count INTEGER NOT NULL,
    sum_ms INTEGER NOT NULL,
    PRIMARY KEY (scope, key, hour, end, bucket)
) WITHOUT ROWID;

PRAGMA user_version = 9;
