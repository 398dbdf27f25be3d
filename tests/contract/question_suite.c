/* Questions: what a turn may ask about one job or execution, and is told. */
#include "world.h"

/* However many are unfinished: a question about a job must cost the same. */
PROMISE(a_question_about_a_job_tells_its_last_exec_while_that_is_unfinished)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change execs[] = {
        new_exec(w, &job, EXEC_COMPLETED),
        new_exec(w, &job, EXEC_QUEUED),
        new_exec(w, &job, EXEC_RUNNING),
    };
    job.job.last_exec = execs[1].exec.id;
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = execs, .exec_count = 3});
    world_submit(w, EXEC_QUEUED); /* of another job */
    struct question q = {.kind = ASK_JOB, .id = job.job.id};
    world_admit(w, &q);
    assert_int_equal(q.answer.job_count, 1);
    assert_str(q.answer.jobs[0].spec, job.job.spec);
    assert_int_equal(q.answer.jobs[0].trail.len, 0);
    assert_int_equal(q.answer.newest->id, execs[1].exec.id);
    assert_null(q.answer.exec);

    struct question finished = {.kind = ASK_EXEC, .id = execs[0].exec.id};
    world_admit(w, &finished);
    assert_int_equal(finished.answer.exec->state, EXEC_COMPLETED);
    assert_int_equal(finished.answer.job_count, 1);
    assert_int_equal(finished.answer.newest->id, execs[1].exec.id);

    struct job_change again = job;
    again.kind = CHANGE_UPDATE;
    again.job.last_exec = execs[0].exec.id;
    world_commit(w, (struct delta){.jobs = &again, .job_count = 1});
    world_admit(w, &q);
    world_admit(w, &finished);
    assert_null(q.answer.newest);
    assert_null(finished.answer.newest);
}

static struct exec_change new_slot(struct world *w, const struct job_change *job,
                                   enum exec_state state, enum origin origin, int64_t slot_ms)
{
    struct exec_change exec = new_exec(w, job, state);
    exec.exec.origin = origin;
    exec.exec.slot_ms = slot_ms;
    return exec;
}

PROMISE(a_question_about_the_slot_ahead_tells_what_is_scheduled)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct job_change first = new_job(w);
    struct job_change none = new_job(w);
    struct exec_change execs[] = {
        new_slot(w, &job, EXEC_RUNNING, ORIGIN_SLOT, T0 + 10),
        new_slot(w, &job, EXEC_SCHEDULED, ORIGIN_SLOT, T0 + 20),
        new_slot(w, &job, EXEC_QUEUED, ORIGIN_REQUEST, T0 + 15),
        new_slot(w, &first, EXEC_SCHEDULED, ORIGIN_SLOT, T0 + 20),
        new_slot(w, &none, EXEC_RETRYING, ORIGIN_SLOT, T0 + 20),
    };
    execs[0].exec.first = execs[3].exec.first = true;
    job.job.last_exec = execs[0].exec.id;
    first.job.last_exec = execs[3].exec.id;
    struct job_change jobs[] = {job, first, none};
    world_commit(w, (struct delta){.jobs = jobs, .job_count = 3, .execs = execs, .exec_count = 5});
    struct question q[] = {
        {.kind = ASK_AHEAD, .id = job.job.id},
        {.kind = ASK_AHEAD, .id = first.job.id},
        {.kind = ASK_AHEAD, .id = none.job.id},
        {.kind = ASK_AHEAD, .id = 99, .answer = {.job_count = 5}},
    };
    for (size_t i = 0; i < COUNT_OF(q); i++)
        world_admit(w, &q[i]);
    assert_int_equal(q[0].answer.exec->id, execs[1].exec.id);
    assert_int_equal(q[0].answer.newest->id, execs[0].exec.id);
    assert_int_equal(q[0].answer.jobs[0].id, job.job.id);
    assert_int_equal(q[1].answer.exec->id, execs[3].exec.id);
    assert_true(q[2].answer.job_count == 1 && q[2].answer.exec == NULL);
    assert_true(q[3].answer.job_count == 0 && q[3].answer.exec == NULL);
}

/* The id of the execution that has the latest slot until then; 0: none. */
static uint64_t latest_slot(struct world *w, uint64_t job_id, int64_t until_ms)
{
    struct question q = {.kind = ASK_SLOT, .id = job_id, .until_ms = until_ms};
    world_admit(w, &q);
    assert_int_equal(q.answer.job_count, 1);
    assert_int_equal(q.answer.jobs[0].id, job_id);
    return q.answer.exec == NULL ? 0 : q.answer.exec->id;
}

PROMISE(a_question_about_a_slot_tells_the_latest_until_then)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct job_change other = new_job(w);
    struct exec_change execs[] = {
        new_slot(w, &job, EXEC_SKIPPED, ORIGIN_SLOT, T0 + 10), /* of 10 to 30 */
        new_slot(w, &job, EXEC_RUNNING, ORIGIN_SLOT, T0 + 40),
        new_slot(w, &job, EXEC_FAILED, ORIGIN_SLOT, T0 + 50),
        new_slot(w, &job, EXEC_SCHEDULED, ORIGIN_SLOT, T0 + 60),
        new_slot(w, &job, EXEC_COMPLETED, ORIGIN_REQUEST, T0 + 55),
        new_slot(w, &other, EXEC_COMPLETED, ORIGIN_SLOT, T0 + 45),
        new_slot(w, &other, EXEC_QUEUED, ORIGIN_ONCE, T0 + 1),
    };
    execs[0].exec.first = true;
    job.job.last_exec = execs[0].exec.id;
    execs[0].exec.slot_count = 3;
    execs[0].exec.slot_last_ms = T0 + 30;
    struct job_change jobs[] = {job, other};
    world_commit(w, (struct delta){.jobs = jobs, .job_count = 2, .execs = execs, .exec_count = 7});
    world_reopen(w);
    assert_int_equal(latest_slot(w, job.job.id, T0 + 9), 0);
    assert_int_equal(latest_slot(w, job.job.id, T0 + 10), execs[0].exec.id);
    assert_int_equal(latest_slot(w, job.job.id, T0 + 39), execs[0].exec.id);
    assert_int_equal(latest_slot(w, job.job.id, T0 + 49), execs[1].exec.id);
    assert_int_equal(latest_slot(w, job.job.id, T0 + 59), execs[2].exec.id);
    assert_int_equal(latest_slot(w, job.job.id, T0 + 99), execs[3].exec.id);
    assert_int_equal(latest_slot(w, other.job.id, T0 + 44), 0);
    struct question nobody = {.kind = ASK_SLOT, .id = 99, .until_ms = T0};
    world_admit(w, &nobody);
    assert_true(nobody.answer.job_count == 0 && nobody.answer.exec == NULL);
}

PROMISE(a_question_about_what_is_met_tells_it_with_the_upstreams)
{
    struct world *w = *state;
    struct job_change jobs[] = {new_job(w), new_job(w), new_job(w), new_job(w)};
    uint64_t down = jobs[3].job.id;
    struct dependency_rec given[] = {
        {.upstream = jobs[1].job.id, .dependant = down, DEPENDS_COMPLETION, DEPENDENCY_MET},
        {.upstream = jobs[0].job.id, .dependant = down, DEPENDS_SUCCESS, DEPENDENCY_MET},
        {.upstream = jobs[2].job.id, .dependant = down, DEPENDS_SUCCESS, DEPENDENCY_PER_SLOT},
        {.upstream = 99, .dependant = down, DEPENDS_SUCCESS, DEPENDENCY_MET}, /* deleted since */
        {.upstream = jobs[2].job.id, .dependant = 98, DEPENDS_SUCCESS, DEPENDENCY_MET},
    };
    world_commit(w, (struct delta){.jobs = jobs,
                                   .job_count = 4,
                                   .dependencies = given,
                                   .dependency_count = COUNT_OF(given)});
    struct question q = {.kind = ASK_MET, .id = down};
    world_admit(w, &q);
    assert_int_equal(q.answer.job_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_memory_equal(&q.answer.met[i], &given[1 - i], sizeof given[0]);
        assert_int_equal(q.answer.jobs[i].id, jobs[i].job.id);
        assert_str(q.answer.jobs[i].spec, jobs[i].job.spec);
    }
    given[0].state = DEPENDENCY_PER_SLOT; /* it counts again */
    world_commit(w, (struct delta){.dependencies = given, .dependency_count = 1});
    struct question less = {.kind = ASK_MET, .id = down};
    world_admit(w, &less);
    assert_int_equal(less.answer.job_count, 1);
    assert_int_equal(less.answer.jobs[0].id, jobs[0].job.id);
}

PROMISE(a_question_about_an_attempt_tells_the_one_with_that_token)
{
    struct world *w = *state;
    struct attempt_rec attempts[] = {
        {.exec_id = 7, .token = 1, .worker_id = 3, .outcome = OUTCOME_LOST},
        {.exec_id = 7, .token = 2, .worker_id = 4, .outcome = OUTCOME_FAILED, .error = STR("no")},
        {.exec_id = 8, .token = 2, .worker_id = 5, .outcome = OUTCOME_SUCCEEDED},
    };
    world_commit(w, (struct delta){.attempts = attempts, .attempt_count = 3});
    struct question q = {.kind = ASK_ATTEMPT, .id = 7, .token = 2};
    world_admit(w, &q);
    assert_non_null(q.answer.attempt);
    assert_int_equal(q.answer.attempt->worker_id, 4);
    assert_int_equal(q.answer.attempt->outcome, OUTCOME_FAILED);
    assert_str(q.answer.attempt->error, STR("no"));
    struct question other = {.kind = ASK_ATTEMPT, .id = 8, .token = 1, .answer = q.answer};
    world_admit(w, &other);
    assert_null(other.answer.attempt);
}

PROMISE(a_question_about_a_trail_tells_all_steps_of_a_job_or_an_execution)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change execs[] = {
        new_exec(w, &job, EXEC_COMPLETED),
        new_exec(w, &job, EXEC_QUEUED),
    };
    job.step = STR("born\n");
    execs[0].step = STR("over\n");
    execs[1].step = STR("waits\n");
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = execs, .exec_count = 2});
    job.kind = CHANGE_UPDATE;
    job.step = STR("paused\n");
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1});
    const struct {
        uint64_t id;
        struct str trail;
    } cases[] = {
        {job.job.id, STR("born\npaused\n")},
        {execs[0].exec.id, STR("over\n")},
        {execs[1].exec.id, STR("waits\n")},
        {99, STR("")},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct question q = {.kind = ASK_TRAIL, .id = cases[i].id};
        world_admit(w, &q);
        assert_str(q.answer.trail, cases[i].trail);
    }
}

PROMISE(a_trail_also_tells_the_end_that_came_with_the_newest_execution)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change exec = new_exec(w, &job, EXEC_RUNNING);
    job.job.last_exec = exec.exec.id;
    job.step = STR("born\n");
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    job.kind = CHANGE_UPDATE;
    job.with_exec = true;
    job.job.state = JOB_COMPLETED;
    job.job.finished_ms = T0 + 5;
    job.step = STR("over\n");
    exec.kind = CHANGE_FINISH;
    exec.exec.state = EXEC_COMPLETED;
    exec.exec.finished_ms = T0 + 5;
    exec.ends_job = &job;
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    struct question q = {.kind = ASK_TRAIL, .id = job.job.id};
    world_admit(w, &q);
    assert_str(q.answer.trail, STR("born\nover\n"));
}

PROMISE(a_question_about_nothing_is_answered_with_nothing)
{
    struct world *w = *state;
    struct question job = {.kind = ASK_JOB, .id = 99, .answer = {.job_count = 5}};
    struct question exec = {.kind = ASK_EXEC, .id = 99, .answer = {.job_count = 5}};
    world_admit(w, &job);
    world_admit(w, &exec);
    assert_int_equal(job.answer.job_count, 0);
    assert_int_equal(exec.answer.job_count, 0);
    assert_null(exec.answer.exec);
}
