-- Definitions of jobs that were edited (engine/submit/edit.c): the newest ones, and the first edit also writes the
-- one before it.
CREATE TABLE belfry.job_version (
    job_id bigint NOT NULL,
    version bigint NOT NULL,
    at_ms bigint NOT NULL,
    actor text NOT NULL, -- who made it so; empty: not known
    spec text NOT NULL,
    payload text NOT NULL,
    PRIMARY KEY (job_id, version)
);
