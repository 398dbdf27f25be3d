/* The life that most jobs live: submitted once, leased, done. Stores keep it their shortest way, and nobody
 * must be able to tell. */
#include "model.h"

struct life {
    struct job_change job;
    struct exec_change exec;
};

static void commit(struct world *w, const struct life *l, bool with_job)
{
    world_commit(w, (struct delta){
                        .jobs = &l->job,
                        .job_count = with_job,
                        .execs = &l->exec,
                        .exec_count = 1,
                        .attempts = l->exec.ends_attempt,
                        .attempt_count = l->exec.ends_attempt != NULL,
                    });
}

/* Each step of a life, yet to be committed. */
static struct life born(struct world *w)
{
    struct life l = {.job = new_job(w)};
    l.job.job.team = STR("");
    l.exec = new_exec(w, &l.job, EXEC_QUEUED);
    l.exec.exec.first = true;
    l.exec.exec.ready_ms = T0 + 1;
    l.exec.step = STR("born\n");
    l.job.job.last_exec = l.exec.exec.id;
    return l;
}

static void leased(struct life *l)
{
    struct exec_rec *exec = &l->exec.exec;
    l->exec.kind = CHANGE_UPDATE;
    l->exec.step = STR("leased\n");
    exec->state = EXEC_RUNNING;
    exec->started_ms = T0 + 2;
    exec->attempts = 1;
    exec->token++;
    exec->worker_id = 77;
}

static struct attempt_rec attempt_of(const struct life *l)
{
    return (struct attempt_rec){
        .exec_id = l->exec.exec.id,
        .token = l->exec.exec.token,
        .number = 1,
        .worker_id = 77,
        .started_ms = T0 + 2,
        .ended_ms = T0 + 3,
        .outcome = OUTCOME_SUCCEEDED,
        .usage.exit_code = -1, /* a handler's, which knows nothing */
        .with_exec = true,
    };
}

static void finished(struct life *l, const struct attempt_rec *attempt)
{
    struct exec_rec *exec = &l->exec.exec;
    l->job.kind = CHANGE_UPDATE;
    l->job.with_exec = true;
    l->job.step = STR("over\n");
    l->job.job.state = JOB_COMPLETED;
    l->job.job.finished_ms = T0 + 3;
    l->exec.kind = CHANGE_FINISH;
    l->exec.step = STR("done\n");
    l->exec.ends_job = &l->job;
    l->exec.ends_attempt = attempt;
    exec->state = EXEC_COMPLETED;
    exec->finished_ms = T0 + 3;
    exec->worker_id = 0;
}

static struct life submit(struct world *w)
{
    struct life l = born(w);
    commit(w, &l, true);
    return l;
}

static void lease(struct world *w, struct life *l)
{
    leased(l);
    commit(w, l, false);
}

static void finish(struct world *w, struct life *l, const struct attempt_rec *attempt)
{
    finished(l, attempt);
    commit(w, l, true);
}

/* The execution as it was told last, with all of its steps. */
static void assert_exec(struct world *w, const struct life *l, struct str trail)
{
    struct exec_rec want = l->exec.exec;
    struct exec_rec got = read_exec(w, want.id);
    want.trail = trail;
    assert_same_exec(&got, &want, WHOLE);
}

static void assert_job(struct world *w, const struct life *l, struct str trail)
{
    struct job_rec want = l->job.job;
    struct job_rec got = read_job(w, want.id);
    want.trail = trail;
    assert_same_job(&got, &want, WHOLE);
}

PROMISE(a_plain_life_is_told_whole_at_every_step)
{
    struct world *w = *state;
    struct life l = submit(w);
    assert_exec(w, &l, STR("born\n"));
    assert_job(w, &l, STR("created\n"));
    lease(w, &l);
    assert_exec(w, &l, STR("born\nleased\n"));
    struct attempt_rec attempt = attempt_of(&l);
    finish(w, &l, &attempt);
    assert_exec(w, &l, STR("born\nleased\ndone\n"));
    assert_job(w, &l, STR("created\nover\n"));
    struct exec_rec exec;
    struct attempt_rec *attempts;
    size_t count;
    assert_rc(w->reader->ops->exec(w->reader, l.exec.exec.id, &w->arena, &exec, &attempts, &count,
                                   &w->err),
              RC_OK);
    assert_int_equal(count, 1);
    assert_int_equal(attempts[0].token, 1);
    assert_int_equal(attempts[0].worker_id, 77);
    assert_int_equal(attempts[0].started_ms, T0 + 2);
    assert_int_equal(attempts[0].ended_ms, T0 + 3);
    assert_int_equal(attempts[0].outcome, OUTCOME_SUCCEEDED);
    assert_int_equal(attempts[0].usage.exit_code, -1);
}

PROMISE(a_life_goes_on_after_a_restart)
{
    struct world *w = *state;
    struct life l = submit(w);
    world_reopen(w);
    lease(w, &l);
    world_reopen(w);
    struct attempt_rec attempt = attempt_of(&l);
    finish(w, &l, &attempt);
    assert_exec(w, &l, STR("born\nleased\ndone\n"));
    assert_job(w, &l, STR("created\nover\n"));
}

/* What made it special may go again, and must not stay in the row. */
PROMISE(a_life_may_be_special_for_a_while)
{
    struct world *w = *state;
    struct life l = submit(w);
    l.exec.exec.sla_since_ms = T0 + 2;
    l.exec.exec.sla_extra_ms = 5;
    l.exec.exec.sla_marks = 1;
    l.exec.exec.late = true;
    l.exec.exec.returned = 2;
    l.exec.exec.unseen = 3;
    l.exec.exec.proven = true;
    lease(w, &l);
    assert_exec(w, &l, STR("born\nleased\n"));
    l.exec.exec.sla_since_ms = 0;
    l.exec.exec.sla_extra_ms = 0;
    l.exec.exec.sla_marks = 0;
    l.exec.exec.late = false;
    l.exec.exec.returned = 0;
    l.exec.exec.unseen = 0;
    l.exec.exec.proven = false;
    lease(w, &l);
    assert_exec(w, &l, STR("born\nleased\nleased\n"));
    struct attempt_rec attempt = attempt_of(&l);
    attempt.usage.cpu_ms = 12;
    l.exec.exec.result = STR("{\"n\":1}");
    finish(w, &l, &attempt);
    assert_exec(w, &l, STR("born\nleased\nleased\ndone\n"));
}

/* Many that change alike, and one among them that does not. */
PROMISE(many_that_change_alike_are_told_each)
{
    enum { MANY = 40 };
    struct world *w = *state;
    struct life lives[MANY];
    struct exec_change changes[MANY];
    for (size_t i = 0; i < MANY; i++) {
        lives[i] = submit(w);
        struct exec_rec *exec = &lives[i].exec.exec;
        lives[i].exec.kind = CHANGE_UPDATE;
        lives[i].exec.step = i == 7 ? STR("leased to another\n") : STR("leased\n");
        exec->state = EXEC_RUNNING;
        exec->started_ms = T0 + 2;
        exec->attempts = 1;
        exec->token = i == 9 ? 5 : 1;
        exec->worker_id = 70 + i / 20;
        changes[i] = lives[i].exec;
    }
    world_commit(w, (struct delta){.execs = changes, .exec_count = MANY});
    for (size_t i = 0; i < MANY; i++)
        assert_exec(w, &lives[i],
                    i == 7 ? STR("born\nleased to another\n") : STR("born\nleased\n"));
    changes[3].exec.id = world_id(w); /* which is not there */
    assert_rc(world_try(w, (struct delta){.execs = changes, .exec_count = MANY}), RC_CONFLICT);
}

enum { CROWD = 60 };

struct crowd {
    struct life lives[CROWD];
    struct attempt_rec attempts[CROWD];
};

/* All of them in one turn. */
static void commit_crowd(struct world *w, const struct crowd *c, bool with_jobs, bool with_attempts)
{
    struct job_change jobs[CROWD];
    struct exec_change execs[CROWD];
    for (size_t i = 0; i < CROWD; i++) {
        jobs[i] = c->lives[i].job;
        execs[i] = c->lives[i].exec;
    }
    world_commit(w, (struct delta){.jobs = jobs,
                                   .job_count = with_jobs ? CROWD : 0,
                                   .execs = execs,
                                   .exec_count = CROWD,
                                   .attempts = c->attempts,
                                   .attempt_count = with_attempts ? CROWD : 0});
}

/* Two halves that are each alike, and some among them that are not, each by something else. */
PROMISE(many_that_live_alike_are_told_each)
{
    struct world *w = *state;
    struct crowd *c = ARENA_NEW(&w->arena, struct crowd);
    for (size_t i = 0; i < CROWD; i++) {
        c->lives[i] = born(w);
        struct job_rec *job = &c->lives[i].job.job;
        struct exec_rec *exec = &c->lives[i].exec.exec;
        job->queue = exec->queue = i < CROWD / 2 ? STR("default") : STR("mail");
        job->spec = i == 3 ? STR("{\"handler\":\"other\"}") : job->spec;
        job->payload = i == 4 ? STR("{}") : job->payload;
        exec->ready_ms += i == 5;
    }
    commit_crowd(w, c, true, false);
    for (size_t i = 0; i < CROWD; i++) {
        assert_exec(w, &c->lives[i], STR("born\n"));
        assert_job(w, &c->lives[i], STR("created\n"));
        leased(&c->lives[i]);
    }
    commit_crowd(w, c, false, false);
    for (size_t i = 0; i < CROWD; i++) {
        c->attempts[i] = attempt_of(&c->lives[i]);
        c->attempts[i].started_ms += i == 6;
        finished(&c->lives[i], &c->attempts[i]);
        c->lives[i].exec.exec.result = i == 7 ? STR("{\"n\":1}") : STR("");
        c->lives[i].exec.step = i == 8 ? STR("done at last\n") : STR("done\n");
    }
    commit_crowd(w, c, true, true);
    for (size_t i = 0; i < CROWD; i++) {
        struct question q = {.kind = ASK_ATTEMPT, .id = c->lives[i].exec.exec.id, .token = 1};
        assert_exec(w, &c->lives[i],
                    i == 8 ? STR("born\nleased\ndone at last\n") : STR("born\nleased\ndone\n"));
        assert_job(w, &c->lives[i], STR("created\nover\n"));
        world_admit(w, &q);
        assert_non_null(q.answer.attempt);
        assert_int_equal(q.answer.attempt->started_ms, c->attempts[i].started_ms);
    }
}

/* A turn that failed left no step behind, also none that the store merely remembers. */
PROMISE(a_turn_that_was_not_kept_is_not_in_the_trail)
{
    struct world *w = *state;
    struct life l = submit(w);
    struct exec_change both[] = {l.exec, l.exec};
    both[0].kind = both[1].kind = CHANGE_UPDATE;
    both[0].step = STR("never\n");
    both[1].exec.id = world_id(w); /* which is not there */
    assert_rc(world_try(w, (struct delta){.execs = both, .exec_count = 2}), RC_CONFLICT);
    lease(w, &l);
    struct attempt_rec attempt = attempt_of(&l);
    finish(w, &l, &attempt);
    assert_exec(w, &l, STR("born\nleased\ndone\n"));
}
