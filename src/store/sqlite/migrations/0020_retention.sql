-- Numbers of reports go when they are old: the order in which they do.
CREATE INDEX tally_hour ON tally (hour);

-- SLA events go with their executions; those of executions that are gone have stayed until now.
DELETE FROM sla_event
WHERE exec_id NOT IN (SELECT id FROM live) AND exec_id NOT IN (SELECT id FROM history);

PRAGMA user_version = 20;
