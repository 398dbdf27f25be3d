/* Runs that take much longer than those of their job usually do. */
#include "engine/core/exec.h"
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

enum { USUAL_MS = 60000, RUNS = 20 };

struct track_job {
    struct world *w;
    const struct submission *job;
    struct fake f;
};

/* Asks for a run of the job, which is leased; the worker is new, as the one before may be
 * forgotten. */
static struct poll_lease start_run(struct track_job *j)
{
    struct asked *asked = ask_about(j->w, CMD_TRIGGER_JOB, j->job->job_id);
    world_turn(j->w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    j->f = HIRE(j->w, .slots = 1);
    return fake_start(j->w, &j->f);
}

/* Time passes, and the worker says that it is still there. */
static void stay(struct track_job *j, int64_t ms)
{
    for (; ms > 0; ms -= 5000) {
        ask_poll(j->w, &j->f, 0)->cmd.poll.wait_ms = 0;
        world_pass(j->w, ms < 5000 ? ms : 5000);
    }
}

static void end_run(struct track_job *j, const struct poll_lease *lease, enum outcome outcome)
{
    ask_report(j->w, &j->f, lease, outcome);
    world_turn(j->w);
}

/* A job of which so many runs have taken a minute. */
static struct track_job job_with_past(struct world *w, unsigned runs)
{
    struct track_job j = {.w = w};
    j.job = SUBMIT(w, .name = "report", .every_ms = 1000 * HOUR_MS);
    world_turn(w);
    for (unsigned i = 0; i < runs; i++) {
        struct poll_lease lease = start_run(&j);
        stay(&j, USUAL_MS);
        end_run(&j, &lease, OUTCOME_SUCCEEDED);
    }
    return j;
}

static size_t slow_alerts(const struct world *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->table.alerts.len; i++)
        count += w->table.alerts.items[i]->kind == ALERT_SLOW;
    return count;
}

static const struct exec_rec *record_of(const struct world *w, uint64_t id)
{
    const struct exec_rec *x = map_get(&w->table.live, id);
    return x != NULL ? x : map_get(&w->table.history, id);
}

/* A bucket of a sketch is off by one part in sixteen. */
enum { SOON_MS = 2 * (USUAL_MS - USUAL_MS / 16), LATE_MS = 2 * (USUAL_MS + USUAL_MS / 16) };

TEST(a_run_of_twice_the_usual_time_is_told_once_while_it_runs)
{
    WORLD(w);
    struct track_job j = job_with_past(&w, RUNS);
    struct poll_lease lease = start_run(&j);
    stay(&j, SOON_MS - 1000);
    assert_int_equal(slow_alerts(&w), 0);
    stay(&j, LATE_MS - SOON_MS + 2000);
    assert_int_equal(slow_alerts(&w), 1);
    const struct alert_rec *alert = w.table.alerts.items[w.table.alerts.len - 1];
    assert_true(alert->exec_id == lease.exec_id && alert->job_id == j.job->job_id);
    assert_int_equal(alert->level, ALERT_WARNING);
    assert_true(str_starts(alert->text, STR("the job 'report' has run for 2m")));
    assert_int_equal(record_of(&w, lease.exec_id)->sla_marks, SLA_SLOW);
    world_restart(&w);
    stay(&j, 30 * MINUTE_MS); /* longer than one key is hushed */
    assert_int_equal(slow_alerts(&w), 1);
    end_run(&j, &lease, OUTCOME_SUCCEEDED);
    assert_int_equal(state_of(&w, lease.exec_id), EXEC_COMPLETED);
}

TEST(a_server_that_starts_looks_at_what_runs)
{
    WORLD(w);
    struct track_job j = job_with_past(&w, RUNS);
    start_run(&j);
    stay(&j, USUAL_MS);
    world_restart(&w);
    assert_int_equal(slow_alerts(&w), 0);
    stay(&j, LATE_MS - USUAL_MS + 2000);
    assert_int_equal(slow_alerts(&w), 1);
}

TEST(few_runs_say_nothing_about_what_is_usual)
{
    WORLD(w);
    struct track_job j = job_with_past(&w, RUNS - 1);
    start_run(&j);
    stay(&j, 10 * USUAL_MS);
    assert_int_equal(slow_alerts(&w), 0);
    assert_int_equal(w.engine->pacing.len, 0);
}

TEST(a_short_run_is_never_slow_and_nobody_is_asked_about_it)
{
    struct engine_options options = engine_defaults;
    options.alerts.slow_min_ms = 5 * USUAL_MS;
    WORLD_WITH(w, options);
    struct track_job j = job_with_past(&w, RUNS);
    struct poll_lease lease = start_run(&j);
    stay(&j, 5 * USUAL_MS - 5000);
    assert_int_equal(slow_alerts(&w), 0);
    const struct exec *x = map_get(&w.engine->execs, lease.exec_id);
    assert_int_equal(x->v.pace, PACE_UNKNOWN);
    stay(&j, 10000);
    assert_int_equal(slow_alerts(&w), 1);
}

TEST(a_rule_that_is_off_has_no_timers)
{
    struct engine_options options = engine_defaults;
    options.alerts.slow_pct = 0;
    WORLD_WITH(w, options);
    struct track_job j = job_with_past(&w, RUNS);
    struct poll_lease lease = start_run(&j);
    const struct exec *x = map_get(&w.engine->execs, lease.exec_id);
    assert_false(heap_holds(&x->due));
    stay(&j, 10 * USUAL_MS);
    assert_int_equal(slow_alerts(&w), 0);
}

TEST(a_job_that_runs_once_has_no_usual_time)
{
    WORLD(w);
    struct track_job j = {.w = &w, .job = SUBMIT(&w)};
    world_turn(&w);
    j.f = HIRE(&w, .slots = 1);
    struct poll_lease lease = fake_start(&w, &j.f);
    const struct exec *x = map_get(&w.engine->execs, lease.exec_id);
    assert_false(heap_holds(&x->due));
    stay(&j, HOUR_MS);
    assert_int_equal(slow_alerts(&w), 0);
}

TEST(the_next_attempt_has_a_time_of_its_own)
{
    struct engine_options options = engine_defaults;
    options.alerts.quiet_ms = 1;
    WORLD_WITH(w, options);
    struct track_job j = {.w = &w};
    j.job = SUBMIT(&w, .every_ms = 1000 * HOUR_MS, .retries = 1, .retry_ms = 1000);
    world_turn(&w);
    for (unsigned i = 0; i < RUNS; i++) {
        struct poll_lease lease = start_run(&j);
        stay(&j, USUAL_MS);
        end_run(&j, &lease, OUTCOME_SUCCEEDED);
    }
    struct poll_lease lease = start_run(&j);
    stay(&j, LATE_MS + 5000);
    assert_int_equal(slow_alerts(&w), 1);
    end_run(&j, &lease, OUTCOME_FAILED);
    world_pass(&w, 2000);
    j.f = HIRE(&w, .slots = 1);
    struct poll_lease second = fake_start(&w, &j.f);
    assert_int_equal(second.exec_id, lease.exec_id);
    stay(&j, USUAL_MS);
    assert_int_equal(slow_alerts(&w), 1);
    stay(&j, LATE_MS);
    assert_int_equal(slow_alerts(&w), 2);
}
