/* Records whose fields are listed (job/record/record_fields.h): every field comes back as it was
 * kept. */
#include "filled.h"
#include "loaded.h"

PROMISE(every_field_of_a_setting_is_kept)
{
    struct world *w = *state;
    struct queue_rec queue = {0};
    struct team_rec team = {0};
    struct silence_change silence = {0};
    fill(w, &queue_fields, FIELD_ANY, 0, &queue);
    fill(w, &team_fields, FIELD_ANY, 0, &team);
    fill(w, &silence_fields, FIELD_ANY, 0, &silence.silence);
    world_commit(w, (struct delta){.queues = &queue,
                                   .queue_count = 1,
                                   .teams = &team,
                                   .team_count = 1,
                                   .silences = &silence,
                                   .silence_count = 1});
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_true(l.queues.len == 1 && l.teams.len == 1 && l.silences.len == 1);
    assert_same(&silence_fields, FIELD_ANY, &l.silences.items[0], &silence.silence);
    assert_same(&queue_fields, FIELD_ANY, &l.queues.items[0], &queue);
    assert_same(&team_fields, FIELD_ANY, &l.teams.items[0], &team);
}

PROMISE(every_field_of_a_worker_and_of_a_rate_is_kept)
{
    struct world *w = *state;
    struct worker_change worker = {0};
    struct rate_change rate = {0};
    fill(w, &worker_fields, FIELD_ANY, 0, &worker.worker);
    fill(w, &rate_fields, FIELD_ANY, 0, &rate.rate);
    world_commit(
        w, (struct delta){.workers = &worker, .worker_count = 1, .rates = &rate, .rate_count = 1});
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_true(l.workers.len == 1 && l.rates.len == 1);
    assert_same(&worker_fields, FIELD_ANY, &l.workers.items[0], &worker.worker);
    assert_same(&rate_fields, FIELD_ANY, &l.rates.items[0], &rate.rate);
}

PROMISE(every_field_of_a_breaker_a_calendar_and_an_operation_is_kept)
{
    struct world *w = *state;
    struct breaker_rec breaker = {0};
    struct calendar_change calendar = {0};
    struct operation_change operation = {0};
    struct operation_rec *parts;
    size_t count;
    fill(w, &breaker_fields, FIELD_ANY, 0, &breaker);
    fill(w, &calendar_fields, FIELD_ANY, 0, &calendar.calendar);
    fill(w, &operation_fields, FIELD_ANY, 0, &operation.operation);
    world_commit(w, (struct delta){.breakers = &breaker,
                                   .breaker_count = 1,
                                   .calendars = &calendar,
                                   .calendar_count = 1,
                                   .operations = &operation,
                                   .operation_count = 1});
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_true(l.breakers.len == 1 && l.calendars.len == 1);
    assert_same(&breaker_fields, FIELD_ANY, &l.breakers.items[0], &breaker);
    assert_same(&calendar_fields, FIELD_ANY, &l.calendars.items[0], &calendar.calendar);
    assert_rc(w->reader->ops->operations(w->reader, operation.operation.id, &w->arena, &parts,
                                         &count, &w->err),
              RC_OK);
    assert_int_equal(count, 1);
    assert_same(&operation_fields, FIELD_ANY, &parts[0], &operation.operation);
}

PROMISE(every_field_of_a_dependency_is_kept)
{
    struct world *w = *state;
    struct dependency_rec dependency = {0};
    fill(w, &dependency_fields, FIELD_ANY, 0, &dependency);
    dependency.state = DEPENDENCY_WAITING;
    world_commit(w, (struct delta){.dependencies = &dependency, .dependency_count = 1});
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_int_equal(l.dependencies.len, 1);
    assert_same(&dependency_fields, FIELD_ANY, &l.dependencies.items[0], &dependency);
}

PROMISE(every_field_of_an_sla_event_is_kept)
{
    struct world *w = *state;
    const struct page newest = {.limit = 2};
    struct sla_event_rec event = {0};
    struct sla_page page;
    fill(w, &sla_event_fields, FIELD_ANY, 0, &event);
    world_commit(w, (struct delta){.sla_events = &event, .sla_event_count = 1});
    assert_rc(
        w->reader->ops->sla_events(w->reader, event.job_id, 0, &newest, &w->arena, &page, &w->err),
        RC_OK);
    assert_int_equal(page.count, 1);
    assert_same(&sla_event_fields, FIELD_ANY, &page.events[0], &event);
}

PROMISE(every_field_of_an_alert_is_kept)
{
    struct world *w = *state;
    const struct page newest = {.limit = 2};
    struct alert_rec alert = {0};
    struct alert_page page;
    fill(w, &alert_fields, FIELD_ANY, 0, &alert);
    world_commit(w, (struct delta){.alerts = &alert, .alert_count = 1});
    assert_rc(w->reader->ops->alerts(w->reader, 0, &newest, &w->arena, &page, &w->err), RC_OK);
    assert_int_equal(page.count, 1);
    assert_same(&alert_fields, FIELD_ANY, &page.alerts[0], &alert);
}

static void assert_kept(struct world *w, const struct attempt_rec *want)
{
    struct question q = {.kind = ASK_ATTEMPT, .id = want->exec_id, .token = want->token};
    world_admit(w, &q);
    assert_non_null(q.answer.attempt);
    assert_same(&attempt_fields, FIELD_ANY, q.answer.attempt, want);
}

PROMISE(every_field_of_an_attempt_is_kept)
{
    struct world *w = *state;
    struct attempt_rec attempt = {0};
    fill(w, &attempt_fields, FIELD_ANY, 0, &attempt);
    world_commit(w, (struct delta){.attempts = &attempt, .attempt_count = 1});
    assert_kept(w, &attempt);
    attempt.tail = STR("told again");
    attempt.usage.exit_code = -1;
    world_commit(w, (struct delta){.attempts = &attempt, .attempt_count = 1});
    assert_kept(w, &attempt);
}

PROMISE(every_field_of_an_attempt_is_kept_with_the_execution_that_it_ends)
{
    struct world *w = *state;
    struct attempt_rec attempt = {0};
    struct exec_rec exec = read_exec(w, world_submit(w, EXEC_QUEUED));
    struct exec_change change = next_change(&exec, CHANGE_FINISH, EXEC_FAILED);
    fill(w, &attempt_fields, FIELD_ANY, 0, &attempt);
    attempt.exec_id = exec.id;
    attempt.token = exec.token;
    attempt.with_exec = true;
    change.ends_attempt = &attempt;
    world_commit(w,
                 (struct delta){
                     .execs = &change, .exec_count = 1, .attempts = &attempt, .attempt_count = 1});
    assert_kept(w, &attempt);
}

static struct job_change filled_job(struct world *w)
{
    struct job_change change = new_job(w);
    fill(w, &job_row_fields, FIELD_ROW | FIELD_BULK, 0, &change.job);
    change.job.id = world_id(w);
    change.job.spec = STR("{\"a\":1}");
    return change;
}

static void assert_job(struct world *w, const struct job_change *told)
{
    struct job_rec got = read_job(w, told->job.id);
    assert_same(&job_row_fields, FIELD_ROW | FIELD_BULK, &got, &told->job);
    struct question q = {.kind = ASK_JOB, .id = told->job.id};
    world_admit(w, &q);
    assert_int_equal(q.answer.job_count, 1);
    assert_same(&job_row_fields, FIELD_ROW, &q.answer.jobs[0], &told->job);
}

PROMISE(every_field_of_a_job_is_kept)
{
    struct world *w = *state;
    struct job_change change = filled_job(w);
    world_commit(w, (struct delta){.jobs = &change, .job_count = 1});
    assert_job(w, &change);
    change.kind = CHANGE_UPDATE;
    fill(w, &job_row_fields, FIELD_PROGRESS | FIELD_END, 100, &change.job);
    world_commit(w, (struct delta){.jobs = &change, .job_count = 1});
    assert_job(w, &change);
    change.redefined = true;
    fill(w, &job_row_fields, FIELD_EDIT | FIELD_BULK, 200, &change.job);
    change.job.spec = STR("{\"a\":2}");
    world_commit(w, (struct delta){.jobs = &change, .job_count = 1});
    assert_job(w, &change);
}

PROMISE(an_edit_keeps_what_a_job_was_born_with)
{
    struct world *w = *state;
    struct job_change change = filled_job(w);
    struct job_change other = change;
    world_commit(w, (struct delta){.jobs = &change, .job_count = 1});
    other.kind = CHANGE_UPDATE;
    fill(w, &job_row_fields, FIELD_BIRTH, 100, &other.job);
    world_commit(w, (struct delta){.jobs = &other, .job_count = 1});
    other.redefined = true;
    world_commit(w, (struct delta){.jobs = &other, .job_count = 1});
    assert_job(w, &change);
}

/* A row that is short since nothing is special about it must not leave out what is. */
PROMISE(whatever_is_special_about_a_job_is_kept)
{
    struct world *w = *state;
    for (size_t i = 0; i < job_row_fields.len; i++) {
        const struct fields one = {sizeof(struct job_rec), &job_row_fields.items[i], 1};
        struct job_change change = new_job(w);
        if ((one.items->groups & FIELD_TOLD) != 0)
            continue;
        fill_usual(&job_row_fields, &change.job);
        fill(w, &one, FIELD_ANY, 7, &change.job);
        world_commit(w, (struct delta){.jobs = &change, .job_count = 1});
        assert_job(w, &change);
    }
}

/* ---- executions */

enum {
    EXEC_TOLD = FIELD_LIVE | FIELD_MARK,            /* while it is not over, and … */
    EXEC_KEPT = FIELD_LIVE | FIELD_END | FIELD_BULK /* … when it is */
};

static struct exec_change filled_exec(struct world *w, enum exec_state state, unsigned groups)
{
    struct job_change job = new_job(w);
    struct exec_change change = new_exec(w, &job, state);
    fill(w, &exec_fields, groups & ~(unsigned)FIELD_KEY, 0, &change.exec);
    change.exec.id = world_id(w);
    change.exec.job_id = job.job.id;
    change.exec.state = state;
    change.exec.trail = (struct str){0};
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1});
    return change;
}

static void commit_exec(struct world *w, const struct exec_change *change)
{
    world_commit(w, (struct delta){.execs = change, .exec_count = 1});
}

/* However it is asked for: alone, by its job, in lists and at a start. */
static void assert_live(struct world *w, const struct exec_rec *want)
{
    struct exec_rec got = read_exec(w, want->id);
    assert_same(&exec_fields, EXEC_TOLD, &got, want);
    struct question q = {.kind = ASK_EXEC, .id = want->id};
    world_admit(w, &q);
    assert_non_null(q.answer.exec);
    assert_same(&exec_fields, EXEC_TOLD, q.answer.exec, want);
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, INT64_MAX, &l), RC_OK);
    size_t at = 0;
    while (at < l.execs.len && l.execs.items[at].id != want->id)
        at++;
    assert_true(at < l.execs.len);
    assert_same(&exec_fields, EXEC_TOLD, &l.execs.items[at], want);
}

PROMISE(every_field_of_an_execution_is_kept_while_it_lives)
{
    struct world *w = *state;
    struct exec_change change = filled_exec(w, EXEC_QUEUED, EXEC_TOLD);
    commit_exec(w, &change);
    assert_live(w, &change.exec);
    change.kind = CHANGE_UPDATE;
    fill(w, &exec_fields, FIELD_PROGRESS | FIELD_ERROR | FIELD_MARK, 100, &change.exec);
    change.exec.state = EXEC_RUNNING;
    commit_exec(w, &change);
    assert_live(w, &change.exec);
    change.moved = true;
    fill(w, &exec_fields, FIELD_MOVED, 200, &change.exec);
    commit_exec(w, &change);
    assert_live(w, &change.exec);
}

PROMISE(every_field_of_an_execution_is_kept_when_it_is_over)
{
    struct world *w = *state;
    struct exec_change change = filled_exec(w, EXEC_RUNNING, EXEC_TOLD);
    commit_exec(w, &change);
    change.kind = CHANGE_FINISH;
    fill(w, &exec_fields, FIELD_PROGRESS | FIELD_ERROR | FIELD_END | FIELD_BULK, 100, &change.exec);
    change.exec.state = EXEC_FAILED;
    commit_exec(w, &change);
    struct exec_rec got = read_exec(w, change.exec.id);
    assert_same(&exec_fields, EXEC_KEPT, &got, &change.exec);
    change = filled_exec(w, EXEC_SKIPPED, EXEC_KEPT);
    commit_exec(w, &change);
    got = read_exec(w, change.exec.id);
    assert_same(&exec_fields, EXEC_KEPT, &got, &change.exec);
}

static struct exec_change usual_exec(struct world *w)
{
    struct exec_change change = filled_exec(w, EXEC_RUNNING, FIELD_LIVE);
    fill_usual(&exec_fields, &change.exec);
    return change;
}

/* What is rare may be what a row begins with, or come later and go again. */
PROMISE(whatever_is_special_about_an_execution_is_kept)
{
    struct world *w = *state;
    for (size_t i = 0; i < exec_fields.len; i++) {
        const struct fields one = {sizeof(struct exec_rec), &exec_fields.items[i], 1};
        bool steps = field_is_in(one.items, FIELD_PROGRESS);
        struct exec_change change = usual_exec(w);
        struct exec_change usual = change;
        if ((one.items->groups & FIELD_TOLD) != 0 || !field_is_in(one.items, FIELD_LIVE))
            continue;
        fill(w, &one, FIELD_ANY, 7, &change.exec);
        if (one.items->kind == FIELD_BOOL)
            field_set_number(one.items, &change.exec, one.items->usual == 0);
        commit_exec(w, &change);
        assert_live(w, &change.exec);
        if (!steps)
            continue;
        usual.kind = change.kind = CHANGE_UPDATE;
        commit_exec(w, &usual);
        assert_live(w, &usual.exec);
        commit_exec(w, &change);
        assert_live(w, &change.exec);
    }
}
