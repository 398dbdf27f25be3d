/* What becomes of failures: classes, waiting, losses, timeouts that the server has to see to. */
#include "engine/test/stage.h"

static const struct attempt_rec *attempt(const struct stage *s, uint64_t token)
{
    return attempt_of(&s->w, s->job->exec_id, token);
}

/* Takes a turn. */
static bool report(struct stage *s, struct poll_result what)
{
    fake_drop(&s->f, s->lease.exec_id);
    struct asked *asked = ask_poll(&s->w, &s->f, 0);
    struct poll_result *result = add_result(asked, &s->lease, what.outcome);
    result->class = what.class;
    result->permanent = what.permanent;
    result->retry_after_ms = what.retry_after_ms;
    result->tail = what.tail;
    result->code = what.code;
    result->usage.exit_code = what.usage.exit_code;
    world_turn(&s->w);
    return was_accepted(asked);
}

/* The worker polls with what it holds; takes a turn. */
static const struct poll_reply *say_hello(struct stage *s)
{
    struct asked *asked = ask_poll(&s->w, &s->f, 0);
    asked->cmd.poll.wait_ms = 0;
    world_turn(&s->w);
    return &asked->cmd.reply.poll;
}

#define FAIL(s, ...) report(s, (struct poll_result){.outcome = OUTCOME_FAILED, __VA_ARGS__})

/* ---- classes */

TEST(a_permanent_class_is_not_tried_again)
{
    STAGE(s, .retries = 3);
    assert_true(FAIL(s, .class = FAILURE_NOT_FOUND));
    assert_int_equal(ended(s)->state, EXEC_FAILED);
    assert_int_equal(attempt(s, 1)->outcome, OUTCOME_PERMANENT);
    assert_int_equal(attempt(s, 1)->class, FAILURE_NOT_FOUND);
    assert_non_null(memmem(s->w.delta.execs[0].step.ptr, s->w.delta.execs[0].step.len,
                           "not tried again: not_found is permanent", 39));
    assert_true(str_eq(ended(s)->error, STR("exit code 3")));
}

TEST(a_permanent_class_that_retry_on_names_is)
{
    STAGE(s, .retries = 3, .retry_on = 1U << FAILURE_NOT_FOUND);
    assert_true(FAIL(s, .class = FAILURE_NOT_FOUND));
    assert_int_equal(unfinished(s)->state, EXEC_RETRYING);
}

TEST(what_retry_on_does_not_name_is_not_tried_again)
{
    STAGE(s, .retries = 3, .retry_on = 1U << FAILURE_NETWORK);
    assert_true(FAIL(s, .class = FAILURE_KILLED));
    assert_int_equal(ended(s)->state, EXEC_FAILED);
    assert_int_equal(attempt(s, 1)->outcome, OUTCOME_FAILED); /* it might have helped */
}

TEST(a_timeout_that_retry_on_does_not_name_ends_it)
{
    STAGE(s, .retries = 3, .retry_on = 1U << FAILURE_NETWORK);
    assert_true(report(s, (struct poll_result){.outcome = OUTCOME_TIMEOUT}));
    assert_int_equal(ended(s)->state, EXEC_TIMEOUT);
    assert_int_equal(attempt(s, 1)->class, FAILURE_TIMEOUT);
}

TEST(whoever_says_that_it_is_permanent_is_believed)
{
    STAGE(s, .retries = 3, .retry_on = 1U << FAILURE_NETWORK);
    assert_true(FAIL(s, .class = FAILURE_NETWORK, .permanent = PERMANENT_YES));
    assert_int_equal(ended(s)->state, EXEC_FAILED);
    STAGE(t, .retries = 3);
    assert_true(FAIL(t, .class = FAILURE_USER, .permanent = PERMANENT_NO));
    assert_int_equal(unfinished(t)->state, EXEC_RETRYING);
}

TEST(without_a_class_the_server_finds_one)
{
    STAGE(s, .retries = 3);
    assert_true(FAIL(s, .usage.exit_code = 1, .tail = STR("x: Connection refused\n")));
    assert_int_equal(unfinished(s)->state, EXEC_RETRYING);
    assert_int_equal(attempt(s, 1)->class, FAILURE_NETWORK);
    assert_int_equal(
        attempt(s, 1)->fingerprint,
        failure_fingerprint(FAILURE_NETWORK, 1, 0, STR("x: Connection refused"), STR("")));
    assert_true(str_eq(attempt(s, 1)->tail, STR("x: Connection refused\n")));
    STAGE(t, .retries = 3);
    assert_true(FAIL(t, .usage.exit_code = 127));
    assert_int_equal(ended(t)->state, EXEC_FAILED);
}

TEST(a_failure_found_to_be_permanent_may_be_reported_twice)
{
    STAGE(s, .retries = 3);
    assert_true(FAIL(s, .class = FAILURE_NOT_FOUND));
    assert_true(FAIL(s, .class = FAILURE_NOT_FOUND));
    assert_int_equal(ended(s)->attempts, 1);
}

TEST(a_success_has_no_class)
{
    STAGE(s);
    assert_true(report(s, (struct poll_result){.outcome = OUTCOME_SUCCEEDED}));
    assert_int_equal(attempt(s, 1)->class, FAILURE_NONE);
    assert_int_equal(attempt(s, 1)->fingerprint, 0);
}

/* ---- waiting */

TEST(the_next_attempt_is_not_before_its_worker_asks_for_it)
{
    STAGE(s, .retries = 3, .policy = RETRY_FIXED, .retry_ms = 700);
    FAIL(s, .retry_after_ms = 5000);
    assert_int_equal(unfinished(s)->due_ms, s->w.now_ms + 5000);
    STAGE(t, .retries = 3, .policy = RETRY_FIXED, .retry_ms = 700);
    FAIL(t, .retry_after_ms = 20);
    assert_int_equal(unfinished(t)->due_ms, t->w.now_ms + 700);
    STAGE(u, .retries = 3, .policy = RETRY_FIXED, .retry_ms = 700);
    FAIL(u, .retry_after_ms = DURATION_MAX_MS);
    assert_int_equal(unfinished(u)->due_ms, u->w.now_ms + engine_defaults.retry_after_max_ms);
}

/* ---- losses */

static void lose(struct stage *s)
{
    fake_drop(&s->f, s->lease.exec_id);
    say_hello(s);
}

TEST(the_third_loss_is_the_last)
{
    STAGE(s, .retries = 0);
    for (uint64_t token = 1; token < 3; token++) {
        lose(s);
        assert_int_equal(unfinished(s)->state, EXEC_QUEUED);
        assert_int_equal(unfinished(s)->lost, token);
        assert_int_equal(unfinished(s)->attempts, 0);
        assert_int_equal(attempt(s, token)->class, FAILURE_LOST_WORKER);
        s->lease = fake_start(&s->w, &s->f);
    }
    lose(s);
    assert_int_equal(ended(s)->state, EXEC_FAILED);
    assert_int_equal(ended(s)->lost, 3);
    assert_int_equal(ended(s)->attempts, 0);
    assert_true(str_starts(ended(s)->error, STR("quarantined, since its worker was lost 3 times")));
    assert_int_equal(attempt(s, 3)->outcome, OUTCOME_LOST);
    assert_int_equal(job_state_of(&s->w, s->job->job_id), JOB_FAILED);
}

static const struct event *told(const struct stage *s, enum exec_event event)
{
    for (size_t i = 0; i < s->w.event_count; i++) {
        if (s->w.events[i].event == event)
            return &s->w.events[i];
    }
    return NULL;
}

TEST(what_was_lost_did_not_wait_while_it_ran)
{
    STAGE(s, .retries = 1);
    world_wake(&s->w, 1000);
    lose(s);
    s->lease = fake_lease(&s->w, &s->f);
    assert_int_equal(told(s, EV_LEASE)->waited_ms, -1);
    world_wake(&s->w, 1000);
    assert_true(FAIL(s, .class = FAILURE_NETWORK)); /* it is tried again at once */
    world_pass(&s->w, 0);
    world_wake(&s->w, 500);
    fake_lease(&s->w, &s->f);
    assert_int_equal(told(s, EV_LEASE)->waited_ms, 500);
}

TEST(what_nobody_can_read_is_returned_three_times_and_no_more)
{
    STAGE(s, .retries = 0);
    const struct poll_result unread = {
        .outcome = OUTCOME_RETURNED, .code = POLL_CODE_UNREADABLE, .error = STR("what is this?")};
    for (uint32_t i = 1; i < 3; i++) {
        assert_true(report(s, unread));
        assert_int_equal(unfinished(s)->state, EXEC_QUEUED);
        assert_int_equal(unfinished(s)->attempts, 0);
        s->lease = fake_start(&s->w, &s->f);
        assert_true(report(s, (struct poll_result){.outcome = OUTCOME_RETURNED}));
        s->lease = fake_start(&s->w, &s->f); /* returns without the code do not count */
    }
    assert_true(report(s, unread));
    assert_int_equal(ended(s)->state, EXEC_FAILED);
    assert_true(str_starts(ended(s)->error, STR("quarantined, since its workers could not read")));
}

TEST(losses_are_counted_over_a_restart)
{
    STAGE(s);
    lose(s);
    world_restart(&s->w);
    s->lease = fake_start(&s->w, &s->f);
    lose(s);
    world_restart(&s->w);
    s->lease = fake_start(&s->w, &s->f);
    lose(s);
    assert_int_equal(ended(s)->state, EXEC_FAILED);
}

TEST(what_a_drain_gives_back_costs_nothing_but_is_counted)
{
    STAGE(s, .retries = 0);
    for (uint32_t i = 1; i < 6; i++) {
        assert_true(report(s, (struct poll_result){.outcome = OUTCOME_RETURNED}));
        assert_int_equal(unfinished(s)->returned, i);
        assert_int_equal(unfinished(s)->attempts, 0);
        assert_int_equal(unfinished(s)->lost, 0);
        assert_int_equal(attempt(s, i)->class, FAILURE_NONE);
        s->lease = fake_start(&s->w, &s->f);
    }
    assert_true(report(s, (struct poll_result){.outcome = OUTCOME_SUCCEEDED}));
    assert_int_equal(ended(s)->attempts, 1);
    assert_int_equal(ended(s)->returned, 5);
}

/* ---- timeouts that the server sees to */

enum { GRACE_MS = 10000, LEASE_MS = 20000 };

TEST(a_run_past_its_timeout_is_told_to_stop_and_not_renewed)
{
    STAGE(s, .retries = 0, .timeout_ms = 30000);
    for (int64_t at_ms = 0; at_ms < 30000 + GRACE_MS; at_ms += 5000) {
        assert_int_equal(say_hello(s)->stop_count, 0);
        s->w.now_ms += 5000;
    }
    const struct poll_reply *reply = say_hello(s);
    assert_int_equal(reply->stop_count, 1);
    assert_true(str_eq(reply->stops[0].reason, STR("the attempt is past its timeout")));
    assert_int_equal(unfinished(s)->state, EXEC_RUNNING); /* held until its worker says so */
    world_wake(&s->w, LEASE_MS - 5000);
    say_hello(s);
    assert_int_equal(ended(s)->state, EXEC_TIMEOUT);
    assert_int_equal(ended(s)->attempts, 1);
    assert_int_equal(attempt(s, 1)->class, FAILURE_TIMEOUT);
    assert_true(str_eq(ended(s)->error, STR("ended by the server, past its timeout of 30s")));
    assert_false(report(s, (struct poll_result){.outcome = OUTCOME_SUCCEEDED}));
}

TEST(a_worker_that_stops_it_then_has_ended_it_by_timeout)
{
    STAGE(s, .retries = 1, .timeout_ms = 1000);
    s->w.now_ms += 1000 + GRACE_MS;
    assert_int_equal(say_hello(s)->stop_count, 1);
    assert_true(report(s, (struct poll_result){.outcome = OUTCOME_STOPPED}));
    assert_int_equal(unfinished(s)->state, EXEC_RETRYING);
    assert_int_equal(attempt(s, 1)->outcome, OUTCOME_TIMEOUT);
}

TEST(a_worker_that_is_gone_has_left_a_timeout_when_that_is_over)
{
    STAGE(s, .retries = 1, .retry_ms = 100, .timeout_ms = 5000);
    world_pass(&s->w, LEASE_MS);
    assert_int_equal(attempt(s, 1)->outcome, OUTCOME_TIMEOUT);
    assert_int_equal(unfinished(s)->state, EXEC_RETRYING);
    assert_int_equal(unfinished(s)->lost, 0);
    STAGE(t, .retries = 1, .timeout_ms = 50000);
    world_pass(&t->w, LEASE_MS);
    assert_int_equal(attempt(t, 1)->outcome, OUTCOME_LOST);
}

TEST(a_timeout_is_not_forgotten_by_a_restart)
{
    STAGE(s, .retries = 0, .timeout_ms = 30000);
    s->w.now_ms += 15000;
    world_restart(&s->w);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(say_hello(s)->stop_count, 0);
        s->w.now_ms += 5000;
    }
    assert_int_equal(say_hello(s)->stop_count, 1);
    world_restart(&s->w);
    assert_int_equal(say_hello(s)->stop_count, 1);
    world_pass(&s->w, LEASE_MS);
    assert_int_equal(ended(s)->state, EXEC_TIMEOUT);
}

TEST(a_late_success_does_not_undo_a_timeout)
{
    STAGE(s, .retries = 1, .policy = RETRY_FIXED, .retry_ms = 100, .timeout_ms = 5000);
    world_pass(&s->w, LEASE_MS);
    world_pass(&s->w, 100);
    assert_int_equal(unfinished(s)->state, EXEC_QUEUED);
    assert_false(report(s, (struct poll_result){.outcome = OUTCOME_SUCCEEDED}));
}

TEST(an_attempt_that_was_sent_again_has_all_its_time)
{
    struct world w;
    struct engine_options options = engine_defaults;
    options.kill_grace_ms = 0;
    world_init(&w, &options);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .timeout_ms = 3000);
    ask_poll(&w, &f, 1); /* the answer is lost */
    world_turn(&w);
    w.now_ms += 4000;
    fake_start(&w, &f);
    struct asked *asked = ask_poll(&w, &f, 0);
    asked->cmd.poll.wait_ms = 0;
    world_pass(&w, 2000);
    assert_int_equal(asked->cmd.reply.poll.stop_count, 0);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    world_free(&w);
}
