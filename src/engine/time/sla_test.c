/* Runs that take longer than they should: each limit is told once, whatever dies meanwhile. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

#define EXPECTED_MS (5 * MINUTE_MS)
#define MAX_MS (10 * MINUTE_MS)

/* A world with a job that runs, confirmed, on one worker. */
struct stage {
    struct world w;
    struct fake f;
    const struct submission *job;
    struct poll_lease lease;
    int64_t began_ms;
};

static struct stage *stage_new(struct wish wish)
{
    struct stage *s = MEM_NEW(struct stage);
    world_init(&s->w, &engine_defaults);
    s->f = HIRE(&s->w);
    s->job = ask_submit_one(&s->w, wish);
    s->began_ms = s->w.now_ms;
    world_turn(&s->w);
    s->lease = fake_start(&s->w, &s->f);
    return s;
}

static void stage_free(struct stage **s)
{
    world_free(&(*s)->w);
    free(*s);
}

#define STAGE(name, how, ...)                                                                      \
    CLEANUP(stage_free)                                                                            \
    struct stage *name = stage_new((struct wish){                                                  \
        .sla = {.expected_ms = EXPECTED_MS, .max_ms = MAX_MS, .policy = (how)}, __VA_ARGS__})

/* The worker goes on saying that it is there, until so long after the run began. */
static const struct poll_reply *go_on(struct stage *s, int64_t until_ms)
{
    const struct poll_reply *reply = NULL;
    do {
        int64_t left_ms = s->began_ms + until_ms - s->w.now_ms;
        struct asked *asked = ask_poll(&s->w, &s->f, 0);
        asked->cmd.poll.wait_ms = 0;
        world_pass(&s->w, left_ms < 10000 ? left_ms : 10000);
        reply = &asked->cmd.reply.poll;
    } while (s->w.now_ms < s->began_ms + until_ms);
    return reply;
}

static size_t told(const struct stage *s, enum sla_event_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < s->w.table.sla_events.len; i++)
        count += s->w.table.sla_events.items[i]->kind == kind;
    return count;
}

static const struct sla_event_rec *newest(const struct stage *s)
{
    assert_true(s->w.table.sla_events.len > 0);
    return s->w.table.sla_events.items[s->w.table.sla_events.len - 1];
}

static size_t alerts(const struct stage *s, enum alert_kind kind, enum alert_level level)
{
    size_t count = 0;
    for (size_t i = 0; i < s->w.table.alerts.len; i++)
        count +=
            s->w.table.alerts.items[i]->kind == kind && s->w.table.alerts.items[i]->level == level;
    return count;
}

/* Takes a turn. */
static void report(struct stage *s, enum outcome outcome)
{
    struct asked *asked = ask_report(&s->w, &s->f, &s->lease, outcome);
    world_turn(&s->w);
    assert_true(was_accepted(asked));
}

static bool is_told_to_stop(const struct poll_reply *reply)
{
    return reply->stop_count == 1;
}

static struct asked *ask_extend(struct stage *s, int64_t by_ms)
{
    struct asked *asked = ask_about(&s->w, CMD_EXTEND_SLA, s->job->job_id);
    asked->cmd.target.by_ms = by_ms;
    asked->cmd.target.reason = STR("the month's end");
    asked->cmd.target.approver = STR("ada");
    return asked;
}

/* ---- limits */

TEST(each_limit_is_told_once_and_never_early)
{
    STAGE(s, SLA_FLEXIBLE);
    go_on(s, EXPECTED_MS - 1);
    assert_int_equal(told(s, SLA_EVENT_WARNING), 0);
    assert_int_equal(world_wait_ms(&s->w), 1);
    go_on(s, EXPECTED_MS);
    assert_int_equal(told(s, SLA_EVENT_WARNING), 1);
    assert_int_equal(newest(s)->actual_ms, EXPECTED_MS);
    assert_int_equal(alerts(s, ALERT_SLA_WARNING, ALERT_WARNING), 1);
    go_on(s, MAX_MS - 1);
    assert_int_equal(told(s, SLA_EVENT_VIOLATION), 0);
    go_on(s, MAX_MS);
    assert_int_equal(told(s, SLA_EVENT_VIOLATION), 1);
    assert_int_equal(alerts(s, ALERT_SLA_VIOLATED, ALERT_CRITICAL), 1);
    assert_false(is_told_to_stop(go_on(s, 2 * MAX_MS)));
    assert_int_equal(s->w.table.sla_events.len, 2);
    report(s, OUTCOME_SUCCEEDED);
    assert_int_equal(state_of(&s->w, s->job->exec_id), EXEC_COMPLETED);
    assert_int_equal(newest(s)->kind, SLA_EVENT_END);
    assert_int_equal(sla_event_overrun_percent(newest(s)), 100);
}

TEST(a_run_in_time_leaves_nothing_but_its_clock)
{
    STAGE(s, SLA_FLEXIBLE);
    go_on(s, MINUTE_MS);
    report(s, OUTCOME_SUCCEEDED);
    const struct exec_rec *x = map_get(&s->w.table.history, s->job->exec_id);
    assert_int_equal(s->w.table.sla_events.len, 0);
    assert_int_equal(x->sla_since_ms, s->began_ms);
    assert_int_equal(x->sla_marks, SLA_COUNTED); /* none was exceeded, and that is known */
}

TEST(a_job_may_have_one_of_both)
{
    CLEANUP(stage_free)
    struct stage *s = stage_new((struct wish){.sla = {.max_ms = MAX_MS}});
    CLEANUP(stage_free)
    struct stage *t = stage_new((struct wish){.sla = {.expected_ms = EXPECTED_MS}});
    go_on(s, 2 * MAX_MS);
    go_on(t, 2 * MAX_MS);
    assert_int_equal(s->w.table.sla_events.len, 1);
    assert_int_equal(newest(s)->kind, SLA_EVENT_VIOLATION);
    assert_int_equal(t->w.table.sla_events.len, 1);
    assert_int_equal(newest(t)->kind, SLA_EVENT_WARNING);
}

static uint32_t marks_of(const struct stage *s)
{
    const struct exec_rec *x = map_get(&s->w.table.history, s->job->exec_id);
    return x->sla_marks & (SLA_BROKEN | SLA_EXCEEDED | SLA_COUNTED);
}

TEST(without_max_expected_decides_about_a_violation)
{
    CLEANUP(stage_free)
    struct stage *s = stage_new((struct wish){.sla = {.expected_ms = EXPECTED_MS}});
    go_on(s, EXPECTED_MS + EXPECTED_MS / 4);
    assert_int_equal(alerts(s, ALERT_SLA_WARNING, ALERT_WARNING), 1);
    assert_true(sla_event_is_violation(newest(s)));
    report(s, OUTCOME_SUCCEEDED);
    assert_int_equal(newest(s)->kind, SLA_EVENT_END);
    assert_int_equal(sla_event_overrun_ms(newest(s)), EXPECTED_MS / 4);
    assert_int_equal(sla_event_violation_bp(newest(s)), 2500);
    assert_int_equal(marks_of(s), SLA_BROKEN | SLA_EXCEEDED | SLA_COUNTED);
    assert_int_equal(alerts(s, ALERT_SLA_VIOLATED, ALERT_CRITICAL), 0);
}

TEST(with_max_expected_is_exceeded_and_not_violated)
{
    STAGE(s, SLA_FLEXIBLE);
    go_on(s, EXPECTED_MS);
    assert_false(sla_event_is_violation(newest(s)));
    report(s, OUTCOME_SUCCEEDED);
    assert_int_equal(told(s, SLA_EVENT_END), 0);
    assert_int_equal(marks_of(s), SLA_EXCEEDED | SLA_COUNTED);
}

TEST(what_was_exceeded_stays_marked_through_a_retry_and_a_restart)
{
    STAGE(s, SLA_FLEXIBLE, .retries = 1, .retry_ms = 1000);
    go_on(s, EXPECTED_MS);
    report(s, OUTCOME_FAILED);
    world_restart(&s->w);
    world_pass(&s->w, 1000);
    s->f = HIRE(&s->w);
    s->lease = fake_start(&s->w, &s->f);
    report(s, OUTCOME_SUCCEEDED);
    assert_int_equal(marks_of(s), SLA_EXCEEDED | SLA_COUNTED);
}

TEST(warning_only_is_never_critical)
{
    STAGE(s, SLA_WARNING_ONLY);
    assert_false(is_told_to_stop(go_on(s, MAX_MS)));
    assert_int_equal(alerts(s, ALERT_SLA_VIOLATED, ALERT_WARNING), 1);
    assert_int_equal(told(s, SLA_EVENT_VIOLATION), 1);
}

TEST(what_ends_before_its_timer_had_a_turn_has_exceeded_it)
{
    STAGE(s, SLA_FLEXIBLE);
    s->w.options.due_max = 1;
    s->w.now_ms += MAX_MS;
    world_restart(&s->w); /* with one timer a turn */
    report(s, OUTCOME_SUCCEEDED);
    assert_int_equal(told(s, SLA_EVENT_WARNING), 1);
    assert_int_equal(told(s, SLA_EVENT_VIOLATION), 1);
    assert_int_equal(told(s, SLA_EVENT_END), 1);
}

/* ---- strict */

TEST(strict_stops_the_run_and_tries_again)
{
    STAGE(s, SLA_STRICT, .retries = 1);
    assert_true(is_told_to_stop(go_on(s, MAX_MS)));
    assert_int_equal(state_of(&s->w, s->job->exec_id), EXEC_RUNNING); /* held until it is gone */
    assert_true(is_told_to_stop(go_on(s, MAX_MS + MINUTE_MS)));
    report(s, OUTCOME_STOPPED);
    const struct attempt_rec *attempt = attempt_of(&s->w, s->job->exec_id, 1);
    assert_int_equal(attempt->outcome, OUTCOME_TIMEOUT);
    assert_int_equal(attempt->class, FAILURE_TIMEOUT);
    assert_true(str_eq(attempt->error, STR("SLA max of 10m exceeded")));
    const struct exec_rec *x = map_get(&s->w.table.live, s->job->exec_id);
    assert_int_equal(x->attempts, 1);
    assert_int_equal(x->sla_since_ms, 0);
    assert_int_equal(x->sla_marks, SLA_BROKEN | SLA_EXCEEDED | SLA_COUNTED);
}

TEST(a_second_attempt_has_a_clock_of_its_own)
{
    STAGE(s, SLA_STRICT, .retries = 1);
    go_on(s, MAX_MS);
    report(s, OUTCOME_STOPPED);
    s->began_ms = s->w.now_ms;
    s->lease = fake_start(&s->w, &s->f);
    go_on(s, MAX_MS - 1);
    assert_int_equal(told(s, SLA_EVENT_WARNING), 2);
    assert_int_equal(told(s, SLA_EVENT_VIOLATION), 1);
    assert_true(is_told_to_stop(go_on(s, MAX_MS)));
    report(s, OUTCOME_STOPPED);
    assert_int_equal(state_of(&s->w, s->job->exec_id), EXEC_TIMEOUT);
    assert_int_equal(told(s, SLA_EVENT_END), 2);
}

TEST(strict_takes_a_success_that_came_before_the_stop)
{
    STAGE(s, SLA_STRICT);
    go_on(s, MAX_MS);
    report(s, OUTCOME_SUCCEEDED);
    assert_int_equal(state_of(&s->w, s->job->exec_id), EXEC_COMPLETED);
}

TEST(a_worker_that_is_gone_has_stopped_it_too)
{
    STAGE(s, SLA_STRICT);
    go_on(s, MAX_MS);
    world_pass(&s->w, MINUTE_MS);
    assert_int_equal(state_of(&s->w, s->job->exec_id), EXEC_TIMEOUT);
    const struct exec_rec *x = map_get(&s->w.table.history, s->job->exec_id);
    assert_true(str_eq(x->error, STR("SLA max of 10m exceeded")));
    assert_int_equal(x->lost, 0);
}

/* No turn could be kept while both passed. */
TEST(a_limit_that_passed_before_the_lease_did_has_stopped_it)
{
    STAGE(s, SLA_STRICT, .retries = 1);
    go_on(s, EXPECTED_MS);
    world_wake(&s->w, MAX_MS - EXPECTED_MS);
    world_pass(&s->w, 0);
    assert_int_equal(told(s, SLA_EVENT_VIOLATION), 1);
    const struct attempt_rec *attempt = attempt_of(&s->w, s->job->exec_id, 1);
    assert_int_equal(attempt->outcome, OUTCOME_TIMEOUT);
    const struct exec_rec *x = map_get(&s->w.table.live, s->job->exec_id);
    assert_int_equal(x->lost, 0);
    assert_int_equal(x->attempts, 1);
}

TEST(a_parked_worker_is_told_at_once)
{
    STAGE(s, SLA_STRICT);
    go_on(s, MAX_MS - 1000);
    struct asked *asked = ask_poll(&s->w, &s->f, 0);
    world_turn(&s->w);
    assert_int_equal(asked->answers, 0);
    world_pass(&s->w, 1000);
    assert_int_equal(asked->answers, 1);
    assert_true(is_told_to_stop(&asked->cmd.reply.poll));
}

TEST(what_is_cancelled_is_told_no_more)
{
    STAGE(s, SLA_STRICT);
    go_on(s, EXPECTED_MS - 1);
    ask_about(&s->w, CMD_CANCEL_JOB, s->job->job_id);
    world_turn(&s->w);
    go_on(s, MAX_MS);
    report(s, OUTCOME_STOPPED);
    assert_int_equal(state_of(&s->w, s->job->exec_id), EXEC_CANCELLED);
    assert_int_equal(s->w.table.sla_events.len, 0);
}

/* ---- moves and restarts */

TEST(a_lost_lease_takes_the_clock_along)
{
    STAGE(s, SLA_FLEXIBLE);
    go_on(s, EXPECTED_MS);
    world_pass(&s->w, MINUTE_MS); /* silence */
    assert_int_equal(state_of(&s->w, s->job->exec_id), EXEC_QUEUED);
    s->f = HIRE(&s->w);
    s->lease = fake_start(&s->w, &s->f);
    go_on(s, MAX_MS - 1);
    assert_int_equal(told(s, SLA_EVENT_WARNING), 1);
    assert_int_equal(told(s, SLA_EVENT_VIOLATION), 0);
    go_on(s, MAX_MS);
    assert_int_equal(told(s, SLA_EVENT_VIOLATION), 1);
    assert_int_equal(newest(s)->actual_ms, MAX_MS);
}

TEST(a_restart_tells_nothing_twice_and_forgets_nothing)
{
    STAGE(s, SLA_STRICT);
    go_on(s, EXPECTED_MS);
    world_restart(&s->w);
    go_on(s, MAX_MS - 1);
    assert_int_equal(s->w.table.sla_events.len, 1);
    go_on(s, MAX_MS);
    assert_int_equal(told(s, SLA_EVENT_VIOLATION), 1);
    world_restart(&s->w);
    assert_true(is_told_to_stop(go_on(s, MAX_MS + MINUTE_MS)));
    assert_int_equal(s->w.table.sla_events.len, 2);
}

TEST(a_limit_that_passed_while_no_server_ran_is_told_by_the_next)
{
    STAGE(s, SLA_FLEXIBLE);
    s->w.now_ms += MAX_MS + MINUTE_MS;
    world_restart(&s->w);
    go_on(s, MAX_MS + 2 * MINUTE_MS);
    assert_int_equal(told(s, SLA_EVENT_WARNING), 1);
    assert_int_equal(told(s, SLA_EVENT_VIOLATION), 1);
}

/* ---- more time */

TEST(an_extension_moves_what_was_not_told)
{
    STAGE(s, SLA_FLEXIBLE);
    go_on(s, EXPECTED_MS);
    struct asked *asked = ask_extend(s, MINUTE_MS);
    world_turn(&s->w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_int_equal(asked->cmd.reply.sla.max_ms, MAX_MS + MINUTE_MS);
    assert_int_equal(newest(s)->kind, SLA_EVENT_EXTENSION);
    assert_true(str_eq(newest(s)->approver, STR("ada")));
    world_restart(&s->w);
    go_on(s, MAX_MS + MINUTE_MS - 1);
    assert_int_equal(told(s, SLA_EVENT_WARNING), 1);
    assert_int_equal(told(s, SLA_EVENT_VIOLATION), 0);
    go_on(s, MAX_MS + MINUTE_MS);
    assert_int_equal(told(s, SLA_EVENT_VIOLATION), 1);
    const struct exec_rec *x = map_get(&s->w.table.live, s->job->exec_id);
    assert_non_null(memmem(x->trail.ptr, x->trail.len, "approved by ada: the month's end", 32));
}

TEST(nothing_is_extended_that_does_not_run)
{
    STAGE(s, SLA_FLEXIBLE, .retries = 1, .retry_ms = MINUTE_MS);
    report(s, OUTCOME_FAILED);
    struct asked *waiting = ask_extend(s, MINUTE_MS);
    world_turn(&s->w);
    assert_int_equal(waiting->cmd.reply.rc, RC_CONFLICT);
    world_pass(&s->w, MINUTE_MS);
    s->lease = fake_start(&s->w, &s->f);
    report(s, OUTCOME_SUCCEEDED);
    struct asked *over = ask_extend(s, MINUTE_MS);
    world_turn(&s->w);
    assert_int_equal(over->cmd.reply.rc, RC_CONFLICT);
    assert_int_equal(s->w.table.sla_events.len, 0);
}

TEST(what_is_exceeded_is_not_extended)
{
    STAGE(s, SLA_STRICT);
    go_on(s, MAX_MS);
    struct asked *asked = ask_extend(s, MINUTE_MS);
    world_turn(&s->w);
    assert_int_equal(asked->cmd.reply.rc, RC_CONFLICT);
    assert_int_equal(told(s, SLA_EVENT_EXTENSION), 0);
}

TEST(of_many_runs_one_must_be_named)
{
    STAGE(s, SLA_FLEXIBLE);
    s->job =
        SUBMIT(&s->w, .sla = {.max_ms = MAX_MS}, .every_ms = 10000, .overlap = OVERLAP_PARALLEL);
    world_turn(&s->w);
    world_pass(&s->w, 10000);
    fake_lease(&s->w, &s->f);
    world_pass(&s->w, 10000);
    struct poll_lease second = fake_lease(&s->w, &s->f);
    struct asked *asked = ask_extend(s, MINUTE_MS);
    struct asked *named = ask_extend(s, MINUTE_MS);
    named->cmd.target.exec_id = second.exec_id;
    world_turn(&s->w);
    assert_int_equal(asked->cmd.reply.rc, RC_CONFLICT);
    assert_int_equal(named->cmd.reply.rc, RC_OK);
    assert_int_equal(named->cmd.reply.exec_id, second.exec_id);
}
