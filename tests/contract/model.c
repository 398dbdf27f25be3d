#include "model.h"

#include "filled.h"

static const struct str queues[] = {STR_INIT("default"), STR_INIT("mail"), STR_INIT("reports")};
static const struct str teams[] = {STR_INIT(""), STR_INIT("data"), STR_INIT("web")};
static const struct str owners[] = {STR_INIT("key:admin"), STR_INIT("key:ci")};
static const struct str names[] = {STR_INIT(""), STR_INIT(""), STR_INIT("nightly"),
                                   STR_INIT("weekly")};
static const struct str tags[] = {STR_INIT(""), STR_INIT("\nteam:ops\n"),
                                  STR_INIT("\nenv:prod\nteam:ops\n"), STR_INIT("\nenv:prod2\n")};

#define PICK(rng, array) ((array)[rng_below(rng, COUNT_OF(array))])

void model_free(struct model *m)
{
    arena_free(&m->arena);
}

static struct job_rec *find_job(const struct model *m, uint64_t id)
{
    for (size_t i = 0; i < m->jobs.len; i++) {
        if (m->jobs.items[i].id == id)
            return &m->jobs.items[i];
    }
    return NULL;
}

const struct job_rec *model_job(const struct model *m, uint64_t id)
{
    return find_job(m, id);
}

static struct exec_rec *find_exec(const struct model *m, uint64_t id)
{
    for (size_t i = 0; i < m->execs.len; i++) {
        if (m->execs.items[i].id == id)
            return &m->execs.items[i];
    }
    return NULL;
}

const struct exec_rec *model_exec(const struct model *m, uint64_t id)
{
    return find_exec(m, id);
}

/* ---- keeping */

static struct str longer(struct model *m, struct str trail, struct str step)
{
    return arena_printf(&m->arena, "%.*s%.*s", STR_ARG(trail), STR_ARG(step));
}

static void apply_job(struct model *m, const struct job_change *change)
{
    struct job_rec *job = find_job(m, change->job.id);
    if (job == NULL) {
        job = VEC_PUSH(&m->arena, &m->jobs);
        *job = change->job; /* its texts are literals */
        job->trail = arena_str(&m->arena, change->step);
        return;
    }
    if (change->redefined) {
        job->queue = change->job.queue;
        job->team = change->job.team;
        job->tags = change->job.tags;
        job->changed_ms = change->job.changed_ms;
        job->spec = change->job.spec;
        job->payload = change->job.payload;
    }
    job->version = change->job.version;
    job->state = change->job.state;
    job->priority = change->job.priority;
    job->finished_ms = change->job.finished_ms;
    job->last_exec = change->job.last_exec;
    job->trail = longer(m, job->trail, change->step);
}

static void apply_exec(struct model *m, const struct exec_change *change)
{
    struct exec_rec *exec = find_exec(m, change->exec.id);
    struct str trail = exec == NULL ? (struct str){0} : exec->trail;
    if (exec == NULL)
        exec = VEC_PUSH(&m->arena, &m->execs);
    *exec = change->exec;
    exec->trail = longer(m, trail, change->step);
}

void model_apply(struct model *m, const struct delta *delta)
{
    for (size_t i = 0; i < delta->job_count; i++)
        apply_job(m, &delta->jobs[i]);
    for (size_t i = 0; i < delta->exec_count; i++)
        apply_exec(m, &delta->execs[i]);
    for (size_t i = 0; i < delta->attempt_count; i++)
        *VEC_PUSH(&m->arena, &m->attempts) = delta->attempts[i];
}

/* ---- random lives */

/* A turn under construction. */
struct draft {
    struct arena *arena;
    VEC(struct job_change) jobs;
    VEC(struct exec_change) execs;
    VEC(struct attempt_rec) attempts;
};

static int64_t some_ms(struct rng *rng)
{
    return T0 + (int64_t)rng_below(rng, 50); /* few values, so that many are equal */
}

static void add_job(struct world *w, struct draft *d)
{
    static const enum exec_state births[] = {EXEC_SCHEDULED, EXEC_QUEUED, EXEC_RUNNING,
                                             EXEC_CANCELLED};
    struct job_change job = new_job(w);
    job.job.queue = PICK(&w->rng, queues);
    job.job.owner = PICK(&w->rng, owners);
    job.job.team = PICK(&w->rng, teams);
    job.job.name = PICK(&w->rng, names);
    job.job.tags = PICK(&w->rng, tags);
    job.job.priority = (int32_t)rng_below(&w->rng, 1000);
    job.job.created_ms = some_ms(&w->rng); /* ids run ahead of it and stay behind */
    job.job.payload = STR("{\"n\":1}");
    struct exec_change exec = new_exec(w, &job, PICK(&w->rng, births));
    exec.exec.created_ms = job.job.created_ms;
    if (exec_is_waiting(exec.exec.state))
        exec.exec.due_ms = some_ms(&w->rng);
    exec.exec.origin = (enum origin)rng_below(&w->rng, ORIGINS);
    exec.exec.nominal_ms = exec.exec.origin == ORIGIN_SLOT ? some_ms(&w->rng) : 0;
    job.job.last_exec = exec.exec.id;
    exec.exec.first = rng_below(&w->rng, 2) == 0;
    *VEC_PUSH(d->arena, &d->jobs) = job;
    *VEC_PUSH(d->arena, &d->execs) = exec;
}

static void end_attempt(struct rng *rng, struct draft *d, const struct exec_rec *exec)
{
    *VEC_PUSH(d->arena, &d->attempts) = (struct attempt_rec){
        .exec_id = exec->id,
        .token = exec->token,
        .number = exec->attempts,
        .worker_id = exec->worker_id,
        .ended_ms = some_ms(rng),
        .outcome = (enum outcome)(1 + rng_below(rng, OUTCOMES - 1)),
        .usage = rng_below(rng, 2) == 0 ? (struct usage){.exit_code = -1}
                                        : (struct usage){3, 9, 12, 4096, 120, 20, 7},
        .error = rng_below(rng, 2) == 0 ? STR("why") : STR("exit code 1"),
        .class = (enum failure_class)rng_below(rng, FAILURE_CLASSES),
        .tail = rng_below(rng, 2) == 0 ? STR("") : STR("a line\nand another"),
    };
    struct attempt_rec *last = &d->attempts.items[d->attempts.len - 1];
    last->fingerprint = last->class == FAILURE_NONE ? 0 : 1 + rng_below(rng, INT64_C(1) << 48);
}

static void end_job(struct draft *d, const struct job_rec *job, enum exec_state final)
{
    struct job_change change = {.kind = CHANGE_UPDATE, .job = *job, .step = STR("ended\n")};
    change.job.state = job_state_after(final);
    change.job.finished_ms = T0 + 60;
    change.job.version++;
    *VEC_PUSH(d->arena, &d->jobs) = change;
}

/* The job's end says nothing that the execution's does not say; join_ends points to it. */
static void end_job_alike(struct draft *d, const struct job_rec *job, const struct exec_rec *exec)
{
    struct job_change change = {.kind = CHANGE_UPDATE, .job = *job, .step = STR("ended alike\n")};
    change.job.state = job_state_after(exec->state);
    change.job.finished_ms = exec->finished_ms;
    change.with_exec = true;
    *VEC_PUSH(d->arena, &d->jobs) = change;
}

/* A job changes at most once in a turn. */
static bool is_changed(const struct draft *d, const struct job_rec *job)
{
    for (size_t i = 0; i < d->jobs.len; i++) {
        if (d->jobs.items[i].job.id == job->id)
            return true;
    }
    return false;
}

/* Somebody changes a job that is over, and it stays over. */
static void edit_job(struct rng *rng, struct draft *d, const struct job_rec *job)
{
    struct job_change change = {.kind = CHANGE_UPDATE, .job = *job, .step = STR("edited\n")};
    change.job.version++;
    change.job.priority++;
    if (rng_below(rng, 2) == 0) {
        change.redefined = true;
        change.job.team = PICK(rng, teams);
        change.job.queue = PICK(rng, queues);
        change.job.tags = PICK(rng, tags);
        change.job.changed_ms = some_ms(rng);
        change.job.payload = STR("{\"n\":2}");
    }
    *VEC_PUSH(d->arena, &d->jobs) = change;
}

/* Somebody asks for a finished one once more. */
static void run_again(struct world *w, struct draft *d, const struct job_rec *job,
                      const struct exec_rec *exec)
{
    struct job_change change = {.kind = CHANGE_UPDATE, .job = *job, .step = STR("again\n")};
    struct exec_change next = new_exec(w, &change, EXEC_QUEUED);
    next.exec.retry_of = exec->id;
    change.job.state = JOB_ACTIVE;
    change.job.finished_ms = 0;
    change.job.last_exec = next.exec.id;
    *VEC_PUSH(d->arena, &d->jobs) = change;
    *VEC_PUSH(d->arena, &d->execs) = next;
}

/* Points from executions that are over to what is over with them, once nothing moves any more. */
static void join_ends(struct draft *d)
{
    for (size_t i = 0; i < d->execs.len; i++) {
        struct exec_change *change = &d->execs.items[i];
        for (size_t j = 0; change->kind == CHANGE_FINISH && j < d->jobs.len; j++) {
            if (d->jobs.items[j].with_exec && d->jobs.items[j].job.id == change->exec.job_id)
                change->ends_job = &d->jobs.items[j];
        }
        for (size_t j = 0; change->kind == CHANGE_FINISH && j < d->attempts.len; j++) {
            struct attempt_rec *attempt = &d->attempts.items[j];
            if (attempt->exec_id != change->exec.id || change->ends_job == NULL)
                continue;
            change->ends_attempt = attempt;
            attempt->with_exec = true;
        }
    }
}

static void move_exec(struct world *w, const struct model *m, struct draft *d,
                      const struct exec_rec *exec, enum exec_state to)
{
    bool ends = exec_is_final(to);
    struct exec_change change = next_change(exec, ends ? CHANGE_FINISH : CHANGE_UPDATE, to);
    struct exec_rec *next = &change.exec;
    if (exec_is_leased(exec->state) && !exec_is_leased(to)) {
        end_attempt(&w->rng, d, exec);
        next->worker_id = 0;
        next->returned += (uint32_t)rng_below(&w->rng, 2);
        next->unseen = (uint32_t)rng_below(&w->rng, 4) == 0 ? next->unseen + 1 : 0;
        next->proven = next->unseen > 0 && rng_below(&w->rng, 2) == 0;
        next->error = STR("exit code 1");
    }
    if (to == EXEC_RUNNING) {
        next->token++;
        next->attempts++;
        next->worker_id = 1 + rng_below(&w->rng, 9);
        next->started_ms = some_ms(&w->rng);
        next->sla_since_ms = some_ms(&w->rng);
        next->sla_extra_ms = (int64_t)rng_below(&w->rng, 1000);
        next->sla_marks = (uint32_t)rng_below(&w->rng, SLA_MARKS + 1);
    }
    if (exec_is_waiting(to))
        next->due_ms = some_ms(&w->rng);
    if (to == EXEC_QUEUED)
        next->ready_ms = some_ms(&w->rng);
    if (to == EXEC_SKIPPED) {
        next->slot_last_ms = some_ms(&w->rng);
        next->slot_count = 2 + rng_below(&w->rng, 9);
    }
    if (ends) {
        next->finished_ms = some_ms(&w->rng);
        next->result = STR("[true]");
        const struct job_rec *job = model_job(m, exec->job_id);
        if (job->last_exec == exec->id && rng_below(&w->rng, 2) == 0)
            end_job_alike(d, job, next);
        else
            end_job(d, job, to);
    }
    *VEC_PUSH(d->arena, &d->execs) = change;
}

static void look_back(struct world *w, const struct model *m, struct draft *d,
                      const struct exec_rec *exec)
{
    const struct job_rec *job = model_job(m, exec->job_id);
    uint64_t dice = rng_below(&w->rng, 16);
    if (job->last_exec != exec->id || is_changed(d, job))
        return;
    if (dice == 0)
        run_again(w, d, job, exec);
    else if (dice == 1)
        edit_job(&w->rng, d, job);
}

/* One step of a random execution, if it is under way and the event that was drawn exists for it;
 * at most one step per execution and turn. */
static void add_step(struct world *w, const struct model *m, struct draft *d)
{
    const struct exec_rec *exec = &m->execs.items[rng_below(&w->rng, m->execs.len)];
    enum exec_state to = exec_next(exec->state, (enum exec_event)rng_below(&w->rng, EXEC_EVENTS));
    for (size_t i = 0; i < d->execs.len; i++) {
        if (d->execs.items[i].exec.id == exec->id)
            return;
    }
    if (to != EXEC_NONE)
        move_exec(w, m, d, exec, to);
    else if (exec_is_final(exec->state))
        look_back(w, m, d, exec);
}

struct delta model_turn(struct world *w, const struct model *m, size_t count, struct arena *arena)
{
    struct draft d = {.arena = arena};
    w->ids.last_ms += (int64_t)rng_below(&w->rng, 3);
    for (size_t i = rng_below(&w->rng, count + 1); i > 0; i--)
        add_job(w, &d);
    for (size_t i = 0; i < 4 * count && m->execs.len > 0; i++)
        add_step(w, m, &d);
    join_ends(&d);
    return (struct delta){
        .jobs = d.jobs.items,
        .job_count = d.jobs.len,
        .execs = d.execs.items,
        .exec_count = d.execs.len,
        .attempts = d.attempts.items,
        .attempt_count = d.attempts.len,
    };
}

/* The delta, with a last change that cannot fit. */
static void fail_turn(struct world *w, struct delta delta, struct arena *arena)
{
    VEC(struct exec_change) execs = {0};
    for (size_t i = 0; i < delta.exec_count; i++)
        *VEC_PUSH(arena, &execs) = delta.execs[i];
    struct job_change nobody = new_job(w);
    *VEC_PUSH(arena, &execs) = new_exec(w, &nobody, EXEC_QUEUED);
    execs.items[execs.len - 1].kind = CHANGE_UPDATE;
    delta.execs = execs.items;
    delta.exec_count = execs.len;
    assert_rc(world_try(w, delta), RC_CONFLICT);
}

void model_live(struct world *w, struct model *m, size_t turns)
{
    for (size_t i = 0; i < turns; i++) {
        struct delta delta = model_turn(w, m, 6, &m->arena);
        if (rng_below(&w->rng, 8) == 0) {
            fail_turn(w, delta, &m->arena);
            continue;
        }
        world_commit(w, delta);
        model_apply(m, &delta);
        if (rng_below(&w->rng, 50) == 0)
            world_reopen(w);
    }
}

/* ---- comparing */

void assert_same_job(const struct job_rec *got, const struct job_rec *want, enum detail detail)
{
    enum { LONG = FIELD_BULK | FIELD_TRAIL };
    assert_same(&job_row_fields, FIELD_ROW, got, want);
    if (detail == WHOLE)
        assert_same(&job_row_fields, LONG, got, want);
    else
        assert_no_text(&job_row_fields, LONG, got);
}

void assert_same_exec(const struct exec_rec *got, const struct exec_rec *want, enum detail detail)
{
    enum { LONG = FIELD_BULK | FIELD_TRAIL };
    static const struct exec_rec none;
    assert_same(&exec_fields, FIELD_LIVE | FIELD_END, got, want);
    assert_same(&exec_fields, FIELD_MARK, got, exec_is_final(want->state) ? &none : want);
    if (detail == WHOLE)
        assert_same(&exec_fields, LONG, got, want);
    else
        assert_no_text(&exec_fields, LONG, got);
}
