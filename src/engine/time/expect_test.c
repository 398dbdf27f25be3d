#include "engine/test/explain.h"
#include "engine/test/fake.h"
#include "engine/test/jobs.h"
#include "engine/time/expect.h"

#define DAY_MS (24 * HOUR_MS)
#define WAIT_MS (25 * HOUR_MS) /* every day, and an hour of grace */

static struct submission *submit(struct world *w)
{
    struct submission *job = SUBMIT(w, .name = "backup", .expects = true, .every_ms = WAIT_MS);
    world_turn(w);
    assert_int_equal(job->rc, RC_OK);
    return job;
}

static struct asked *ask_ping(struct world *w, uint64_t job_id, struct ping ping)
{
    struct asked *asked = ask_about(w, CMD_PING, job_id);
    struct ping *own = ARENA_NEW(&asked->arena, struct ping);
    *own = ping;
    asked->cmd.target.ping = own;
    return asked;
}

static uint64_t ping_success(struct world *w, uint64_t job_id)
{
    struct asked *asked = ask_ping(w, job_id, (struct ping){.exit_code = 0});
    world_turn(w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_int_equal(asked->cmd.reply.exec_state, EXEC_COMPLETED);
    return asked->cmd.reply.exec_id;
}

static uint64_t ping_failure(struct world *w, uint64_t job_id)
{
    struct asked *asked = ask_ping(w, job_id, (struct ping){.failed = true, .exit_code = 3});
    world_turn(w);
    assert_int_equal(asked->cmd.reply.exec_state, EXEC_FAILED);
    return asked->cmd.reply.exec_id;
}

static const struct exec_rec *ahead_of(const struct world *w, uint64_t job_id)
{
    const struct exec_rec *found = NULL;
    MAP_EACH(&w->table.live, slot)
    {
        const struct exec_rec *x = slot->value;
        if (x->job_id != job_id)
            continue;
        assert_null(found);
        found = x;
    }
    assert_non_null(found);
    return found;
}

static size_t told(const struct world *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->table.alerts.len; i++)
        count += w->table.alerts.items[i]->kind == ALERT_MISSED;
    return count;
}

static const struct exec_rec *ended(const struct world *w, uint64_t exec_id)
{
    return map_get(&w->table.history, exec_id);
}

/* ---- silence */

TEST(a_silence_is_told_when_it_has_lasted_too_long)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    assert_int_equal(job->due_ms, w.now_ms + WAIT_MS);
    world_pass(&w, WAIT_MS - 1);
    assert_int_equal(told(&w), 0);
    assert_int_equal(world_wait_ms(&w), 1);
    world_pass(&w, 1);
    assert_int_equal(told(&w), 1);
    const struct alert_rec *alert = w.table.alerts.items[0];
    char id[ID_TEXT_MAX];
    char text[300];
    snprintf(text, sizeof text,
             "the job 'backup', which is run elsewhere, was missed: no ping came within 1d1h. Look "
             "at it where it runs; what is known of it: belfry show %s",
             id_format(id, ID_JOB, job->job_id).ptr);
    assert_true(str_eq(alert->text, str_c(text)));
    assert_true(str_eq(alert->key, STR("missed:backup")));
    assert_int_equal(alert->level, ALERT_CRITICAL);
}

TEST(a_silence_is_told_once_however_long_it_lasts_and_whoever_decides)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    world_pass(&w, WAIT_MS);
    world_restart(&w);
    world_pass(&w, DAY_MS);
    world_restart(&w);
    world_pass(&w, 3 * DAY_MS);
    assert_int_equal(told(&w), 1);
    assert_true(ahead_of(&w, job->job_id)->late);
}

TEST(a_silence_while_no_server_runs_is_told_by_the_next_one)
{
    WORLD(w);
    submit(&w);
    w.now_ms += 3 * DAY_MS;
    w.booted_ms += 3 * DAY_MS;
    world_restart(&w);
    world_turn(&w);
    world_turn(&w);
    assert_int_equal(told(&w), 1);
}

TEST(a_ping_begins_the_wait_anew)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    for (int i = 0; i < 10; i++) {
        world_pass(&w, DAY_MS);
        ping_success(&w, job->job_id);
    }
    assert_int_equal(told(&w), 0);
    assert_int_equal(ahead_of(&w, job->job_id)->due_ms, w.now_ms + WAIT_MS);
    world_pass(&w, WAIT_MS);
    assert_int_equal(told(&w), 1);
}

TEST(each_silence_is_told_also_when_the_next_one_follows_soon)
{
    WORLD(w);
    const struct submission *job =
        SUBMIT(&w, .name = "often", .expects = true, .every_ms = MINUTE_MS);
    world_turn(&w);
    for (size_t i = 1; i <= 5; i++) {
        world_pass(&w, MINUTE_MS);
        assert_int_equal(told(&w), i);
        ping_success(&w, job->job_id);
    }
}

/* ---- what a ping records */

TEST(a_ping_is_one_execution_that_is_over)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    world_pass(&w, HOUR_MS);
    struct asked *asked = ask_ping(&w, job->job_id,
                                   (struct ping){.started_ms = w.now_ms - MINUTE_MS,
                                                 .exit_code = 0,
                                                 .output = STR("done\n"),
                                                 .dropped_bytes = 7});
    world_turn(&w);
    const struct exec_rec *x = ended(&w, asked->cmd.reply.exec_id);
    assert_int_equal(x->state, EXEC_COMPLETED);
    assert_int_equal(x->origin, ORIGIN_PING);
    assert_int_equal(x->started_ms, w.now_ms - MINUTE_MS);
    assert_int_equal(x->finished_ms, w.now_ms);
    assert_int_equal(x->attempts, 1);
    const struct attempt_rec *attempt = attempt_of(&w, x->id, PING_TOKEN);
    assert_int_equal(attempt->outcome, OUTCOME_SUCCEEDED);
    assert_int_equal(attempt->usage.output_bytes, 12);
    assert_int_equal(attempt->usage.log_seq, 1);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_ACTIVE);
}

TEST(a_start_that_lies_ahead_is_not_believed)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    struct asked *asked = ask_ping(&w, job->job_id, (struct ping){.started_ms = WHEN_MAX_MS});
    world_turn(&w);
    assert_int_equal(ended(&w, asked->cmd.reply.exec_id)->started_ms, w.now_ms);
}

/* A machine without a battery begins in 1970, and would spoil all durations of its queue. */
TEST(a_start_of_a_clock_that_was_never_set_is_not_believed)
{
    WORLD(w);
    w.now_ms += 2 * DURATION_MAX_MS;
    const struct submission *job = submit(&w);
    struct asked *asked = ask_ping(&w, job->job_id, (struct ping){.started_ms = DAY_MS});
    world_turn(&w);
    assert_int_equal(ended(&w, asked->cmd.reply.exec_id)->started_ms, w.now_ms);
}

TEST(two_pings_in_one_turn_are_two_executions)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    struct asked *first = ask_ping(&w, job->job_id, (struct ping){.exit_code = 0});
    struct asked *second = ask_ping(&w, job->job_id, (struct ping){.failed = true});
    world_turn(&w);
    assert_int_equal(ended(&w, first->cmd.reply.exec_id)->state, EXEC_COMPLETED);
    assert_int_equal(ended(&w, second->cmd.reply.exec_id)->state, EXEC_FAILED);
    assert_int_equal(ahead_of(&w, job->job_id)->due_ms, w.now_ms + WAIT_MS);
}

/* Each of them asked the store for the wait, as it was before the turn. */
TEST(two_pings_of_a_wait_beyond_the_horizon_are_two_executions)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    world_pass(&w, HOUR_MS);
    assert_null(exec_of(&w, job->exec_id));
    struct asked *first = ask_ping(&w, job->job_id, (struct ping){.exit_code = 0});
    struct asked *second = ask_ping(&w, job->job_id, (struct ping){.failed = true});
    world_turn(&w);
    assert_int_equal(ended(&w, first->cmd.reply.exec_id)->state, EXEC_COMPLETED);
    assert_int_equal(ended(&w, second->cmd.reply.exec_id)->state, EXEC_FAILED);
    assert_int_not_equal(first->cmd.reply.exec_id, second->cmd.reply.exec_id);
    assert_int_equal(ahead_of(&w, job->job_id)->due_ms, w.now_ms + WAIT_MS);
}

TEST(a_ping_that_is_sent_again_counts_once)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    uint64_t ids[2];
    for (int i = 0; i < 2; i++) {
        struct asked *asked = ask_ping(&w, job->job_id, (struct ping){.exit_code = 0});
        asked->cmd.once.key = STR("k");
        asked->cmd.once.hash = STR("h");
        world_turn(&w);
        assert_int_equal(asked->cmd.reply.rc, RC_OK);
        assert_true(asked->cmd.once.replayed == (i == 1));
        ids[i] = asked->cmd.reply.exec_id;
        world_pass(&w, MINUTE_MS);
    }
    assert_int_equal(ids[0], ids[1]);
}

/* ---- failure */

TEST(a_failure_is_told_at_once_and_is_no_dead_letter)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    const struct exec_rec *x = ended(&w, ping_failure(&w, job->job_id));
    assert_true(str_eq(x->error, STR("exit code 3")));
    assert_int_equal(w.table.alerts.len, 1);
    assert_int_equal(told(&w), 1);
    assert_int_equal(w.table.letters.len, 0);
    assert_int_equal(attempt_of(&w, x->id, PING_TOKEN)->class, FAILURE_UNKNOWN);
}

TEST(one_trouble_is_told_once_until_a_success_ends_it)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    ping_failure(&w, job->job_id);
    world_restart(&w);
    world_pass(&w, HOUR_MS);
    ping_failure(&w, job->job_id);
    world_pass(&w, WAIT_MS); /* and now it is silent, too */
    assert_int_equal(told(&w), 1);
    ping_failure(&w, job->job_id);
    assert_int_equal(told(&w), 1);
    ping_success(&w, job->job_id);
    ping_failure(&w, job->job_id);
    assert_int_equal(told(&w), 2);
}

TEST(trouble_is_not_told_where_that_is_switched_off)
{
    struct engine_options options = engine_defaults;
    options.alerts.missed = false;
    WORLD_WITH(w, options);
    const struct submission *job = submit(&w);
    world_pass(&w, WAIT_MS);
    ping_failure(&w, job->job_id);
    assert_int_equal(w.table.alerts.len, 0);
}

TEST(what_one_turn_does_to_a_wait_beyond_the_horizon_goes_one_after_the_other)
{
    const enum command_kind kinds[] = {CMD_RESUME_JOB, CMD_CANCEL_JOB, CMD_PAUSE_JOB,
                                       CMD_CANCEL_EXEC};
    for (size_t i = 0; i < 2 * COUNT_OF(kinds); i++) {
        WORLD(w);
        const struct submission *job = submit(&w);
        enum command_kind kind = kinds[i / 2];
        world_pass(&w, HOUR_MS);
        struct asked *asked[2];
        for (size_t k = 0; k < 2; k++) {
            asked[k] = k == i % 2 ? ask_ping(&w, job->job_id, (struct ping){.exit_code = 0})
                                  : ask_about(&w, kind,
                                              kind == CMD_CANCEL_EXEC ? job->exec_id : job->job_id);
        }
        world_turn(&w);
        world_turn(&w);
        bool over = kind == CMD_CANCEL_JOB && i % 2 == 1; /* by the command before it */
        assert_int_equal(asked[i % 2]->cmd.reply.rc, over ? RC_CONFLICT : RC_OK);
        if (kind != CMD_CANCEL_JOB)
            assert_int_equal(ahead_of(&w, job->job_id)->due_ms, w.now_ms + WAIT_MS);
        world_restart(&w);
        world_pass(&w, WAIT_MS);
        assert_int_equal(told(&w), kind == CMD_CANCEL_JOB || kind == CMD_PAUSE_JOB ? 0 : 1);
    }
}

/* ---- what people do to such a job */

TEST(a_paused_job_records_pings_and_tells_nothing)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    pause_job(&w, job->job_id, "");
    (void)only(&w, job, BLOCKER_JOB_PAUSED);
    world_pass(&w, 3 * DAY_MS);
    ping_failure(&w, job->job_id);
    world_pass(&w, 3 * DAY_MS);
    assert_int_equal(told(&w), 0);
    ask_about(&w, CMD_RESUME_JOB, job->job_id);
    world_turn(&w);
    assert_int_equal(ahead_of(&w, job->job_id)->due_ms, w.now_ms + WAIT_MS);
    world_pass(&w, WAIT_MS);
    assert_int_equal(told(&w), 1);
}

TEST(another_expectation_counts_from_the_edit)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    world_pass(&w, WAIT_MS);
    assert_int_equal(told(&w), 1);
    struct asked *asked =
        EDIT(&w, job->job_id, 1, true, .name = "backup", .expects = true, .every_ms = 2 * WAIT_MS);
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_false(ahead_of(&w, job->job_id)->late);
    world_pass(&w, 2 * WAIT_MS - 1);
    assert_int_equal(told(&w), 1);
    world_pass(&w, 1);
    assert_int_equal(told(&w), 2);
}

TEST(an_edit_of_something_else_leaves_the_wait_as_it_is)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    int64_t due_ms = ahead_of(&w, job->job_id)->due_ms;
    world_pass(&w, HOUR_MS);
    EDIT(&w, job->job_id, 1, false, .name = "backup", .expects = true, .every_ms = WAIT_MS,
         .queue = "other");
    world_turn(&w);
    assert_int_equal(ahead_of(&w, job->job_id)->due_ms, due_ms);
}

TEST(a_job_that_is_run_cannot_be_made_to_expect_pings)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    struct asked *asked = EDIT(&w, job->job_id, 1, true, .expects = true, .every_ms = HOUR_MS);
    struct asked *ping = ask_ping(&w, job->job_id, (struct ping){.exit_code = 0});
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_INVALID);
    assert_int_equal(ping->cmd.reply.rc, RC_CONFLICT);
}

TEST(what_is_run_elsewhere_cannot_be_run_here)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    uint64_t failed = ping_failure(&w, job->job_id);
    struct asked *trigger = ask_about(&w, CMD_TRIGGER_JOB, job->job_id);
    struct asked *retry = ask_about(&w, CMD_RETRY_EXEC, failed);
    world_turn(&w);
    assert_int_equal(trigger->cmd.reply.rc, RC_CONFLICT);
    assert_int_equal(retry->cmd.reply.rc, RC_CONFLICT);
}

TEST(nothing_can_wait_for_what_is_not_run_here)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    const struct dependency_wish after = {.job_id = job->job_id, .type = DEPENDS_SUCCESS};
    const struct submission *other = SUBMIT(&w, .after = &after);
    world_turn(&w);
    assert_int_equal(other->rc, RC_INVALID);
}

TEST(a_cancelled_job_waits_for_nothing)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_CANCELLED);
    struct asked *ping = ask_ping(&w, job->job_id, (struct ping){.exit_code = 0});
    world_turn(&w);
    assert_int_equal(ping->cmd.reply.rc, RC_CONFLICT);
    ping = ask_ping(&w, job->job_id + 4096, (struct ping){.exit_code = 0});
    world_turn(&w);
    assert_int_equal(ping->cmd.reply.rc, RC_NOT_FOUND);
    world_pass(&w, 3 * DAY_MS);
    assert_int_equal(told(&w), 0);
}

TEST(a_wait_that_is_cancelled_begins_anew)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    world_pass(&w, WAIT_MS - MINUTE_MS);
    ask_about(&w, CMD_CANCEL_EXEC, ahead_of(&w, job->job_id)->id);
    world_turn(&w);
    assert_int_equal(ahead_of(&w, job->job_id)->due_ms, w.now_ms + WAIT_MS);
}

/* Found by the simulator. */
TEST(a_wait_that_is_cancelled_ends_no_trouble)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    ping_failure(&w, job->job_id);
    ask_about(&w, CMD_CANCEL_EXEC, ahead_of(&w, job->job_id)->id);
    world_turn(&w);
    ping_failure(&w, job->job_id);
    assert_int_equal(told(&w), 1);
}

/* ---- clocks */

TEST(a_wait_lasts_as_long_as_it_was_told)
{
    const int64_t steps_ms[] = {-DAY_MS, -HOUR_MS, HOUR_MS, DAY_MS};
    for (size_t i = 0; i < COUNT_OF(steps_ms); i++) {
        WORLD(w);
        SUBMIT(&w, .expects = true, .every_ms = 30 * MINUTE_MS);
        world_turn(&w);
        world_step(&w, steps_ms[i]);
        world_turn(&w);
        world_pass(&w, 30 * MINUTE_MS - 1);
        assert_int_equal(told(&w), 0);
        world_pass(&w, 1);
        world_turn(&w);
        assert_int_equal(told(&w), 1);
    }
}

TEST(a_wait_beyond_the_horizon_is_not_longer_for_a_clock_that_is_set_back)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    world_pass(&w, HOUR_MS);
    assert_null(exec_of(&w, job->exec_id));
    world_step(&w, -30 * DAY_MS);
    for (int i = 0; i < 10; i++)
        world_turn(&w);
    assert_int_equal(ahead_of(&w, job->job_id)->due_ms, w.now_ms + WAIT_MS - HOUR_MS);
}

/* ---- explain */

TEST(a_wait_is_explained)
{
    WORLD(w);
    const struct submission *job = submit(&w);
    assert_says(only(&w, job, BLOCKER_PING)->text, "it waits for a ping, which is due by");
    ping_failure(&w, job->job_id);
    assert_says(only(&w, job, BLOCKER_PING)->text, "the newest one told of a failure");
    world_pass(&w, WAIT_MS + 3 * HOUR_MS);
    assert_says(only(&w, job, BLOCKER_PING)->text, "and is 3h late");
}
