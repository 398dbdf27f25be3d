#include "engine/test/stage.h"

/* Takes a turn. */
static bool report(struct stage *s, enum outcome outcome)
{
    struct asked *asked = ask_report(&s->w, &s->f, &s->lease, outcome);
    world_turn(&s->w);
    return was_accepted(asked);
}

/* ---- outcomes */

TEST(success_completes_execution_and_job)
{
    STAGE(s, .retries = 3);
    s->w.now_ms += 41;
    assert_true(report(s, OUTCOME_SUCCEEDED));
    assert_int_equal(s->w.delta.execs[0].kind, CHANGE_FINISH);
    assert_int_equal(ended(s)->state, EXEC_COMPLETED);
    assert_int_equal(ended(s)->finished_ms, s->w.now_ms);
    assert_int_equal(ended(s)->attempts, 1);
    assert_int_equal(ended(s)->worker_id, 0);
    assert_int_equal(ended(s)->token, 1);
    assert_true(str_eq(ended(s)->result, STR("{\"rows\":12}")));
    assert_int_equal(job_state_of(&s->w, s->job->job_id), JOB_COMPLETED);
    assert_int_equal(engine_live_count(s->w.engine), 0);
}

TEST(what_is_over_together_can_be_kept_together)
{
    STAGE(s, .retries = 3);
    report(s, OUTCOME_SUCCEEDED);
    const struct exec_change *change = &s->w.delta.execs[0];
    assert_true(change->exec.first);
    assert_ptr_equal(change->ends_job, &s->w.delta.jobs[0]);
    assert_ptr_equal(change->ends_attempt, &s->w.delta.attempts[0]);
}

TEST(an_attempt_is_kept_with_what_the_worker_knows)
{
    STAGE(s);
    s->w.now_ms += 41;
    report(s, OUTCOME_SUCCEEDED);
    const struct attempt_rec *attempt = attempt_of(&s->w, s->job->exec_id, 1);
    assert_int_equal(attempt->outcome, OUTCOME_SUCCEEDED);
    assert_int_equal(attempt->number, 1);
    assert_int_equal(attempt->worker_id, s->f.id);
    assert_int_equal(attempt->started_ms, s->w.now_ms - 41);
    assert_int_equal(attempt->ended_ms, s->w.now_ms);
    assert_int_equal(attempt->usage.exit_code, 0);
    assert_int_equal(s->w.events[0].log_seq, 9);
}

TEST(a_failure_is_retried_after_its_delay)
{
    STAGE(s, .retries = 1, .policy = RETRY_FIXED, .retry_ms = 700);
    assert_true(report(s, OUTCOME_FAILED));
    assert_int_equal(unfinished(s)->state, EXEC_RETRYING);
    assert_int_equal(unfinished(s)->due_ms, s->w.now_ms + 700);
    assert_int_equal(unfinished(s)->attempts, 1);
    assert_true(str_eq(unfinished(s)->error, STR("exit code 3")));
    assert_int_equal(job_state_of(&s->w, s->job->job_id), JOB_ACTIVE);
    world_pass(&s->w, 699);
    assert_int_equal(unfinished(s)->state, EXEC_RETRYING);
    world_pass(&s->w, 1);
    struct poll_lease lease = fake_lease(&s->w, &s->f);
    assert_int_equal(lease.attempt, 2);
    assert_int_equal(lease.token, 2);
    assert_int_equal(unfinished(s)->error.len, 0);
}

TEST(delays_grow_with_the_attempts)
{
    STAGE(s, .retries = 3, .policy = RETRY_EXPONENTIAL, .retry_ms = 1000);
    int64_t delays_ms[] = {1000, 2000, 4000};
    for (size_t i = 0; i < COUNT_OF(delays_ms); i++) {
        report(s, OUTCOME_FAILED);
        assert_int_equal(unfinished(s)->due_ms, s->w.now_ms + delays_ms[i]);
        world_pass(&s->w, delays_ms[i]);
        s->lease = fake_lease(&s->w, &s->f);
    }
}

TEST(when_no_attempts_remain_it_has_failed)
{
    STAGE(s, .retries = 2, .policy = RETRY_IMMEDIATE);
    for (int i = 0; i < 2; i++) {
        report(s, OUTCOME_FAILED);
        world_turn(&s->w);
        s->lease = fake_lease(&s->w, &s->f);
    }
    report(s, OUTCOME_FAILED);
    assert_int_equal(ended(s)->state, EXEC_FAILED);
    assert_int_equal(ended(s)->attempts, 3);
    assert_true(str_eq(ended(s)->error, STR("exit code 3")));
    assert_int_equal(job_state_of(&s->w, s->job->job_id), JOB_FAILED);
    for (uint64_t token = 1; token <= 3; token++)
        assert_int_equal(attempt_of(&s->w, s->job->exec_id, token)->number, token);
}

TEST(a_permanent_failure_is_not_retried)
{
    STAGE(s, .retries = 3);
    report(s, OUTCOME_PERMANENT);
    assert_int_equal(ended(s)->state, EXEC_FAILED);
    assert_int_equal(job_state_of(&s->w, s->job->job_id), JOB_FAILED);
}

TEST(a_timeout_is_retried_like_a_failure)
{
    STAGE(s, .retries = 1, .policy = RETRY_IMMEDIATE);
    report(s, OUTCOME_TIMEOUT);
    assert_int_equal(unfinished(s)->state, EXEC_RETRYING);
}

TEST(the_last_timeout_is_a_state_of_its_own)
{
    STAGE(s);
    report(s, OUTCOME_TIMEOUT);
    assert_int_equal(ended(s)->state, EXEC_TIMEOUT);
    assert_int_equal(job_state_of(&s->w, s->job->job_id), JOB_FAILED);
}

TEST(what_is_returned_costs_nothing)
{
    STAGE(s);
    report(s, OUTCOME_RETURNED);
    assert_int_equal(unfinished(s)->state, EXEC_QUEUED);
    assert_int_equal(unfinished(s)->attempts, 0);
    assert_int_equal(unfinished(s)->lost, 0);
    assert_int_equal(attempt_of(&s->w, s->job->exec_id, 1)->outcome, OUTCOME_RETURNED);
}

TEST(stopped_without_being_asked_counts_as_lost)
{
    STAGE(s);
    report(s, OUTCOME_STOPPED);
    assert_int_equal(unfinished(s)->state, EXEC_QUEUED);
    assert_int_equal(unfinished(s)->attempts, 0);
    assert_int_equal(unfinished(s)->lost, 1);
}

TEST(many_results_come_in_one_poll)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *jobs[20];
    for (size_t i = 0; i < 20; i++)
        jobs[i] = SUBMIT(&w);
    struct asked *poll = ask_poll(&w, &f, 20);
    world_turn(&w);
    struct asked *report_all = ask_poll(&w, &f, 20);
    for (size_t i = 0; i < 20; i++)
        add_result(report_all, &poll->cmd.reply.poll.leases[i], OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_int_equal(report_all->cmd.reply.poll.verdict_count, 20);
    for (size_t i = 0; i < 20; i++) {
        assert_true(report_all->cmd.reply.poll.verdicts[i].accepted);
        assert_int_equal(state_of(&w, jobs[i]->exec_id), EXEC_COMPLETED);
    }
}

/* ---- whose word counts */

TEST(a_result_counts_once)
{
    STAGE(s);
    struct asked *asked = ask_report(&s->w, &s->f, &s->lease, OUTCOME_SUCCEEDED);
    add_result(asked, &s->lease, OUTCOME_FAILED);
    world_turn(&s->w);
    assert_true(asked->cmd.reply.poll.verdicts[0].accepted);
    assert_false(asked->cmd.reply.poll.verdicts[1].accepted);
    assert_false(report(s, OUTCOME_FAILED));
    assert_int_equal(ended(s)->state, EXEC_COMPLETED);
}

TEST(who_repeats_a_result_is_told_that_it_is_in)
{
    STAGE(s);
    assert_true(report(s, OUTCOME_SUCCEEDED));
    assert_true(report(s, OUTCOME_SUCCEEDED)); /* the first answer got lost */
    assert_true(report(s, OUTCOME_SUCCEEDED));
    assert_false(report(s, OUTCOME_FAILED)); /* another story is no repetition */
    assert_int_equal(ended(s)->attempts, 1);
    assert_int_equal(s->w.delta.attempt_count, 0);
}

TEST(who_repeats_a_failure_is_told_so_while_the_next_attempt_waits)
{
    STAGE(s, .retries = 1, .policy = RETRY_FIXED, .retry_ms = 700);
    assert_true(report(s, OUTCOME_FAILED));
    assert_true(report(s, OUTCOME_FAILED));
    assert_int_equal(unfinished(s)->attempts, 1);
    world_pass(&s->w, 700);
    struct poll_lease second = fake_start(&s->w, &s->f);
    struct asked *again = ask_poll(&s->w, &s->f, 0); /* which lists the second, */
    add_result(again, &s->lease, OUTCOME_FAILED);    /* and still tells of the first */
    world_turn(&s->w);
    assert_true(was_accepted(again));
    assert_int_equal(unfinished(s)->state, EXEC_RUNNING);
    assert_int_equal(unfinished(s)->token, second.token);
}

TEST(of_one_result_told_twice_in_a_turn_both_are_in)
{
    STAGE(s);
    struct asked *asked = ask_report(&s->w, &s->f, &s->lease, OUTCOME_SUCCEEDED);
    add_result(asked, &s->lease, OUTCOME_SUCCEEDED);
    struct asked *again = ask_report(&s->w, &s->f, &s->lease, OUTCOME_SUCCEEDED);
    world_turn(&s->w);
    assert_true(asked->cmd.reply.poll.verdicts[0].accepted);
    assert_true(asked->cmd.reply.poll.verdicts[1].accepted);
    assert_true(was_accepted(again));
    assert_int_equal(s->w.delta.attempt_count, 1);
}

TEST(what_a_server_that_died_had_accepted_is_in)
{
    STAGE(s);
    assert_true(report(s, OUTCOME_SUCCEEDED));
    world_restart(&s->w);
    assert_true(report(s, OUTCOME_SUCCEEDED));
}

TEST(what_was_written_down_as_lost_is_not_in)
{
    STAGE(s);
    struct fake other = HIRE(&s->w);
    world_pass(&s->w, s->w.options.lease_ms + 1);
    fake_lease(&s->w, &other);
    assert_false(report(s, OUTCOME_SUCCEEDED));
    assert_false(report(s, OUTCOME_SUCCEEDED));
}

TEST(another_worker_cannot_report)
{
    STAGE(s);
    struct fake other = HIRE(&s->w);
    struct asked *asked = ask_report(&s->w, &other, &s->lease, OUTCOME_SUCCEEDED);
    world_turn(&s->w);
    assert_false(was_accepted(asked));
    assert_int_equal(unfinished(s)->state, EXEC_RUNNING);
}

TEST(a_wrong_token_cannot_report)
{
    STAGE(s);
    s->lease.token++;
    struct asked *asked = ask_poll(&s->w, &s->f, 0);
    add_result(asked, &s->lease, OUTCOME_SUCCEEDED);
    world_turn(&s->w);
    assert_false(was_accepted(asked));
    assert_int_equal(unfinished(s)->state, EXEC_RUNNING);
}

TEST(nobody_can_report_what_never_was)
{
    STAGE(s);
    s->lease.exec_id++;
    struct asked *asked = ask_poll(&s->w, &s->f, 0);
    add_result(asked, &s->lease, OUTCOME_SUCCEEDED);
    world_turn(&s->w);
    assert_false(was_accepted(asked));
}

/* ---- late */

TEST(a_late_success_counts_while_nobody_else_was_given_it)
{
    STAGE(s, .name = "nightly");
    world_pass(&s->w, s->w.options.lease_ms);
    assert_int_equal(unfinished(s)->state, EXEC_QUEUED);
    assert_int_equal(attempt_of(&s->w, s->job->exec_id, 1)->outcome, OUTCOME_LOST);
    assert_true(report(s, OUTCOME_SUCCEEDED));
    assert_int_equal(ended(s)->state, EXEC_COMPLETED);
    assert_int_equal(ended(s)->attempts, 1);
    assert_int_equal(attempt_of(&s->w, s->job->exec_id, 1)->outcome, OUTCOME_SUCCEEDED);
    assert_int_equal(attempt_of(&s->w, s->job->exec_id, 1)->worker_id, s->f.id);
}

TEST(a_success_in_the_turn_in_which_its_lease_ends_counts)
{
    STAGE(s);
    s->w.now_ms += s->w.options.lease_ms;
    assert_true(report(s, OUTCOME_SUCCEEDED));
    assert_int_equal(s->w.delta.attempt_count, 1);
    assert_int_equal(s->w.delta.attempts[0].outcome, OUTCOME_SUCCEEDED);
    assert_int_equal(ended(s)->state, EXEC_COMPLETED);
}

TEST(a_late_success_is_refused_when_somebody_else_was_given_it)
{
    STAGE(s);
    struct fake other = HIRE(&s->w);
    world_pass(&s->w, s->w.options.lease_ms);
    fake_lease(&s->w, &other);
    assert_false(report(s, OUTCOME_SUCCEEDED));
    assert_int_equal(unfinished(s)->state, EXEC_RUNNING);
    assert_int_equal(unfinished(s)->worker_id, other.id);
}

TEST(a_late_success_is_refused_when_the_other_one_gave_it_back)
{
    STAGE(s);
    struct fake other = HIRE(&s->w);
    world_pass(&s->w, s->w.options.lease_ms);
    struct poll_lease lease = fake_lease(&s->w, &other);
    ask_report(&s->w, &other, &lease, OUTCOME_RETURNED);
    world_turn(&s->w);
    assert_false(report(s, OUTCOME_SUCCEEDED));
}

TEST(a_late_failure_changes_nothing)
{
    STAGE(s);
    world_pass(&s->w, s->w.options.lease_ms);
    assert_false(report(s, OUTCOME_FAILED));
    assert_int_equal(unfinished(s)->state, EXEC_QUEUED);
}

TEST(a_lease_that_was_lost_and_granted_in_one_turn_shows_no_error)
{
    STAGE(s);
    struct fake other = HIRE(&s->w);
    world_wake(&s->w, s->w.options.lease_ms - 1);
    ask_poll(&s->w, &other, 1);
    world_turn(&s->w);
    world_pass(&s->w, 1);
    assert_int_equal(unfinished(s)->state, EXEC_RUNNING);
    assert_int_equal(unfinished(s)->worker_id, other.id);
    assert_int_equal(unfinished(s)->lost, 1);
    assert_int_equal(unfinished(s)->error.len, 0);
    assert_int_equal(s->w.delta.exec_count, 1);
    assert_int_equal(s->w.delta.attempt_count, 1);
}
