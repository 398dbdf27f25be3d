-- The rows that a turn has many of, as one array of records each: see pg_records in pg.h. What is sent must
-- have exactly these types, in this order. A version that needs others makes types of other names, since
-- servers of two versions may run together.

CREATE TYPE belfry.new_job AS (
    id bigint, version bigint, state bigint, name text, queue text, owner text, team text, tags
    text, priority bigint, created_ms bigint, finished_ms bigint, last_exec bigint, changed_ms
    bigint, trail text, spec text, payload text);

CREATE TYPE belfry.new_live AS (
    id bigint, job_id bigint, queue text, priority bigint, retry_of bigint, first boolean, origin
    bigint, slot_ms bigint, nominal_ms bigint, created_ms bigint, state bigint, due_ms bigint,
    ready_ms bigint, started_ms bigint, attempts bigint, lost bigint, returned bigint, late boolean,
    sla_since_ms bigint, sla_extra_ms bigint, sla_marks bigint, token bigint, worker_id bigint,
    effect_done boolean, error text, trail text);

CREATE TYPE belfry.changed_live AS (
    id bigint, state bigint, due_ms bigint, ready_ms bigint, started_ms bigint, attempts bigint,
    lost bigint, returned bigint, late boolean, sla_since_ms bigint, sla_extra_ms bigint, sla_marks
    bigint, token bigint, worker_id bigint, effect_done boolean, error text, step text);

CREATE TYPE belfry.finished AS (
    id bigint, job_id bigint, queue text, priority bigint, retry_of bigint, first boolean, origin
    bigint, slot_ms bigint, nominal_ms bigint, created_ms bigint, state bigint, due_ms bigint,
    ready_ms bigint, started_ms bigint, attempts bigint, lost bigint, returned bigint, late boolean,
    sla_since_ms bigint, sla_extra_ms bigint, sla_marks bigint, token bigint, worker_id bigint,
    effect_done boolean, error text, step text, finished_ms bigint, result text, slot_last_ms
    bigint, slot_count bigint, job_state bigint, job_step text, attempt_outcome bigint,
    attempt_number bigint, attempt_worker bigint, attempt_started_ms bigint, attempt_ended_ms
    bigint, attempt_usage text, attempt_error text, attempt_class bigint, attempt_fingerprint
    bigint, attempt_tail text);

CREATE TYPE belfry.new_claim AS (kind bigint, key text, holder bigint, until_ms bigint, note text);

-- Most rows are plain: they ran once, on a handler, and nothing special became of them. What these types
-- leave out is then what the statement says.

CREATE TYPE belfry.plain_job AS (
    id bigint, created_ms bigint, last_exec bigint, priority bigint, queue text, owner text, step text,
    spec text);

CREATE TYPE belfry.plain_live AS (
    id bigint, job_id bigint, slot_ms bigint, created_ms bigint, due_ms bigint, ready_ms bigint,
    started_ms bigint, token bigint, worker_id bigint, attempts bigint, priority bigint, state bigint,
    queue text, step text);

CREATE TYPE belfry.plain_change AS (
    id bigint, due_ms bigint, ready_ms bigint, started_ms bigint, token bigint, worker_id bigint,
    attempts bigint, state bigint, step text);

CREATE TYPE belfry.plain_end AS (
    id bigint, job_id bigint, slot_ms bigint, created_ms bigint, ready_ms bigint, started_ms bigint,
    token bigint, worker_id bigint, finished_ms bigint, attempts bigint, attempt_worker bigint,
    attempt_started_ms bigint, attempt_ended_ms bigint, attempt_number bigint, priority bigint,
    attempt_outcome bigint, job_state bigint, state bigint, queue text, trail text, job_step text);
