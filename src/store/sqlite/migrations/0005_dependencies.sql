-- Which job waits for which. The key serves who asks what a job waits for, the first index who asks
-- what waits for it, the second one a start: few wait at a time, and what is settled is not in it.
CREATE TABLE dependency (
    dependant INTEGER NOT NULL, -- job ids
    upstream INTEGER NOT NULL,
    type INTEGER NOT NULL,  -- enum dependency_type
    state INTEGER NOT NULL, -- enum dependency_state
    PRIMARY KEY (dependant, upstream)
) WITHOUT ROWID;

CREATE INDEX dependency_upstream ON dependency (upstream, dependant);
CREATE INDEX dependency_waiting ON dependency (dependant, upstream) WHERE state = 1;

PRAGMA user_version = 5;
