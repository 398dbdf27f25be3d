-- Dependencies that are for each slot (5) stand for as long as their job: a start needs them, too.
DROP INDEX dependency_waiting;
CREATE INDEX dependency_waiting ON dependency (dependant, upstream) WHERE state IN (1, 5);

PRAGMA user_version = 14;
