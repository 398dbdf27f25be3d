/* Cancelling, and running again. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

static const struct asked *cancel_job(struct world *w, uint64_t id)
{
    struct asked *asked = ask_about(w, CMD_CANCEL_JOB, id);
    world_turn(w);
    assert_int_equal(asked->answers, 1);
    return asked;
}

static const struct asked *cancel_exec(struct world *w, uint64_t id)
{
    struct asked *asked = ask_about(w, CMD_CANCEL_EXEC, id);
    world_turn(w);
    assert_int_equal(asked->answers, 1);
    return asked;
}

static const struct asked *retry(struct world *w, uint64_t id)
{
    struct asked *asked = ask_about(w, CMD_RETRY_EXEC, id);
    world_turn(w);
    assert_int_equal(asked->answers, 1);
    return asked;
}

static void finish(struct world *w, struct fake *f, enum outcome outcome)
{
    struct poll_lease lease = fake_lease(w, f);
    struct asked *asked = ask_report(w, f, &lease, outcome);
    world_turn(w);
    assert_true(was_accepted(asked));
}

/* ---- cancelling what does not run */

TEST(cancelling_what_is_queued_ends_it)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    const struct asked *asked = cancel_exec(&w, job->exec_id);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_int_equal(asked->cmd.reply.exec_state, EXEC_CANCELLED);
    assert_int_equal(asked->cmd.reply.exec_id, job->exec_id);
    assert_int_equal(asked->cmd.reply.job_id, job->job_id);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_CANCELLED);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_CANCELLED);
    assert_int_equal(w.engine->ready.len, 0);
}

TEST(cancelling_what_is_scheduled_ends_it)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 1000);
    world_turn(&w);
    cancel_job(&w, job->job_id);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_CANCELLED);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_CANCELLED);
    world_pass(&w, 1000);
    assert_true(delta_is_empty(&w.delta));
}

TEST(cancelling_what_waits_for_a_retry_ends_it)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .retries = 3, .retry_ms = 1000);
    world_turn(&w);
    finish(&w, &f, OUTCOME_FAILED);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RETRYING);
    cancel_exec(&w, job->exec_id);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_CANCELLED);
}

TEST(cancelling_what_lies_beyond_the_horizon_ends_it)
{
    WORLD(w);
    const struct submission *a =
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 2 * HOUR_MS, .name = "a");
    const struct submission *b = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 2 * HOUR_MS);
    world_turn(&w);
    assert_int_equal(engine_live_count(w.engine), 0);
    cancel_job(&w, a->job_id);
    assert_int_equal(w.delta.execs[0].kind, CHANGE_FINISH);
    cancel_exec(&w, b->exec_id);
    assert_int_equal(state_of(&w, a->exec_id), EXEC_CANCELLED);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_CANCELLED);
}

TEST(the_reason_is_the_callers_or_names_the_caller)
{
    WORLD(w);
    const struct submission *a = SUBMIT(&w);
    const struct submission *b = SUBMIT(&w);
    world_turn(&w);
    ask_about(&w, CMD_CANCEL_JOB, a->job_id)->cmd.target.reason = STR("wrong month");
    ask_about(&w, CMD_CANCEL_JOB, b->job_id);
    world_turn(&w);
    const struct job_rec *first = map_get(&w.table.jobs, a->job_id);
    const struct job_rec *second = map_get(&w.table.jobs, b->job_id);
    assert_non_null(strstr(first->trail.ptr, "key:admin\twrong month\n"));
    assert_non_null(strstr(second->trail.ptr, "key:admin\tcancelled by key:admin\n"));
}

/* ---- cancelling what runs */

TEST(a_run_is_held_until_its_worker_says_that_it_is_gone)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    const struct asked *asked = cancel_exec(&w, job->exec_id);
    assert_int_equal(asked->cmd.reply.exec_state, EXEC_STOPPING);
    assert_int_equal(asked->cmd.reply.job_state, JOB_ACTIVE);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_STOPPING);
    const struct submission *next = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    assert_int_equal(next->rc, RC_CONFLICT);
    struct asked *report = ask_report(&w, &f, &lease, OUTCOME_STOPPED);
    world_turn(&w);
    assert_true(was_accepted(report));
    assert_int_equal(state_of(&w, job->exec_id), EXEC_CANCELLED);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_CANCELLED);
    assert_int_equal(attempt_of(&w, job->exec_id, 1)->outcome, OUTCOME_STOPPED);
}

TEST(a_cancelled_job_is_cancelled_while_its_run_still_stops)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    const struct asked *asked = cancel_job(&w, job->job_id);
    assert_int_equal(asked->cmd.reply.job_state, JOB_CANCELLED);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_CANCELLED);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_STOPPING);
    ask_report(&w, &f, &lease, OUTCOME_STOPPED);
    world_turn(&w);
    assert_int_equal(w.delta.job_count, 0);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_CANCELLED);
}

TEST(a_run_that_stops_is_held_no_longer_than_its_lease)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    cancel_exec(&w, job->exec_id);
    world_pass(&w, w.options.lease_ms - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_STOPPING);
    world_pass(&w, 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_CANCELLED);
    const struct exec_rec *x = map_get(&w.table.history, job->exec_id);
    assert_int_equal(x->lost, 0);
}

TEST(a_run_that_stops_is_renewed_while_its_worker_holds_it)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    cancel_exec(&w, job->exec_id);
    world_pass(&w, w.options.lease_ms - 1);
    ask_poll(&w, &f, 0);
    world_pass(&w, 0);
    world_pass(&w, w.options.lease_ms - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_STOPPING);
    f.held_count = 0;
    ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_CANCELLED);
}

TEST(a_success_after_the_cancel_is_still_cancelled)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    cancel_exec(&w, job->exec_id);
    struct asked *report = ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_true(was_accepted(report));
    assert_int_equal(state_of(&w, job->exec_id), EXEC_CANCELLED);
    const struct exec_rec *x = map_get(&w.table.history, job->exec_id);
    assert_int_equal(x->result.len, 0);
    assert_int_equal(attempt_of(&w, job->exec_id, 1)->outcome, OUTCOME_STOPPED);
}

TEST(a_success_before_the_cancel_wins_in_the_same_turn)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    struct asked *exec = ask_about(&w, CMD_CANCEL_EXEC, job->exec_id);
    struct asked *whole = ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    assert_int_equal(exec->cmd.reply.rc, RC_CONFLICT);
    assert_int_equal(whole->cmd.reply.rc, RC_CONFLICT);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_COMPLETED);
}

TEST(a_parked_worker_is_told_to_stop_at_once)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    struct asked *poll = ask_poll(&w, &f, 0);
    world_turn(&w);
    cancel_exec(&w, job->exec_id);
    assert_int_equal(poll->answers, 1);
    assert_int_equal(poll->cmd.reply.poll.stop_count, 1);
    assert_int_equal(poll->cmd.reply.poll.stops[0].exec_id, lease.exec_id);
    assert_int_equal(poll->cmd.reply.poll.stops[0].token, lease.token);
}

TEST(a_worker_that_was_told_is_parked_until_there_is_news)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_lease(&w, &f);
    cancel_exec(&w, job->exec_id);
    struct asked *told = ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(told->answers, 1);
    assert_int_equal(told->cmd.reply.poll.stop_count, 1);
    struct asked *next = ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(next->answers, 0);
    world_pass(&w, w.options.park_ms); /* and then told once more, should the reply be lost */
    assert_int_equal(next->cmd.reply.poll.stop_count, 1);
}

TEST(a_run_that_is_cancelled_on_its_way_never_starts)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_lease(&w, &f);
    f.held_count = 0;
    cancel_exec(&w, job->exec_id);
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(poll->answers, 0);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_CANCELLED);
}

TEST(after_a_restart_a_worker_is_told_again)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    cancel_exec(&w, job->exec_id);
    world_restart(&w);
    struct asked *poll = ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(poll->answers, 1);
    assert_int_equal(poll->cmd.reply.poll.stop_count, 1);
}

/* ---- cancelling twice, or in vain */

TEST(a_second_cancel_changes_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    cancel_job(&w, job->job_id);
    assert_int_equal(cancel_job(&w, job->job_id)->cmd.reply.rc, RC_OK);
    assert_true(delta_is_empty(&w.delta));
    assert_int_equal(cancel_exec(&w, job->exec_id)->cmd.reply.exec_state, EXEC_STOPPING);
    assert_true(delta_is_empty(&w.delta));
}

TEST(two_cancels_in_one_turn_are_one)
{
    WORLD(w);
    const struct submission *near = SUBMIT(&w);
    const struct submission *far = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 2 * HOUR_MS);
    world_turn(&w);
    for (int i = 0; i < 2; i++) {
        ask_about(&w, CMD_CANCEL_JOB, near->job_id);
        ask_about(&w, CMD_CANCEL_JOB, far->job_id);
    }
    struct asked *late = ask_about(&w, CMD_CANCEL_EXEC, far->exec_id);
    world_turn(&w);
    assert_int_equal(late->cmd.reply.rc, RC_CONFLICT);
    assert_int_equal(w.delta.exec_count, 2);
    assert_int_equal(w.delta.job_count, 2);
}

TEST(what_has_ended_cannot_be_cancelled)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    finish(&w, &f, OUTCOME_SUCCEEDED);
    const struct asked *exec = cancel_exec(&w, job->exec_id);
    assert_int_equal(exec->cmd.reply.rc, RC_CONFLICT);
    assert_non_null(strstr(exec->cmd.reply.err.text, "completed"));
    assert_int_equal(cancel_job(&w, job->job_id)->cmd.reply.rc, RC_CONFLICT);
    assert_true(delta_is_empty(&w.delta));
}

TEST(what_never_was_cannot_be_cancelled)
{
    WORLD(w);
    assert_int_equal(cancel_job(&w, 77)->cmd.reply.rc, RC_NOT_FOUND);
    assert_int_equal(cancel_exec(&w, 77)->cmd.reply.rc, RC_NOT_FOUND);
    assert_int_equal(retry(&w, 77)->cmd.reply.rc, RC_NOT_FOUND);
}

TEST(a_damaged_record_is_reported_as_such)
{
    WORLD(w);
    const struct submission *job =
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 2 * HOUR_MS, .name = "a");
    world_turn(&w);
    struct job_rec *rec = map_get(&w.table.jobs, job->job_id);
    rec->spec = STR("damaged");
    assert_int_equal(cancel_job(&w, job->job_id)->cmd.reply.rc, RC_CORRUPT);
    assert_int_equal(cancel_exec(&w, job->exec_id)->cmd.reply.rc, RC_CORRUPT);
    assert_int_equal(retry(&w, job->exec_id)->cmd.reply.rc, RC_CORRUPT);
}

/* ---- running again */

TEST(what_has_ended_can_run_again)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .name = "nightly", .priority = 700);
    world_turn(&w);
    finish(&w, &f, OUTCOME_FAILED);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_FAILED);
    const struct asked *asked = retry(&w, job->exec_id);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_int_equal(asked->cmd.reply.job_id, job->job_id);
    assert_int_equal(asked->cmd.reply.exec_state, EXEC_QUEUED);
    assert_int_equal(w.delta.job_count, 1);
    assert_int_equal(w.delta.jobs[0].kind, CHANGE_UPDATE);
    const struct exec_rec *x = map_get(&w.table.live, asked->cmd.reply.exec_id);
    assert_int_equal(x->retry_of, job->exec_id);
    assert_int_equal(x->priority, 700);
    assert_int_equal(id_bucket(x->id), id_bucket(job->job_id));
    assert_int_equal(job_state_of(&w, job->job_id), JOB_ACTIVE);
    finish(&w, &f, OUTCOME_SUCCEEDED);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_COMPLETED);
}

TEST(what_is_unfinished_cannot_run_again)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *queued = SUBMIT(&w);
    const struct submission *far = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 2 * HOUR_MS);
    world_turn(&w);
    assert_int_equal(retry(&w, queued->exec_id)->cmd.reply.rc, RC_CONFLICT);
    assert_int_equal(retry(&w, far->exec_id)->cmd.reply.rc, RC_CONFLICT);
    assert_int_equal(engine_live_count(w.engine), 1);
    finish(&w, &f, OUTCOME_SUCCEEDED);
    retry(&w, queued->exec_id);
    assert_int_equal(retry(&w, queued->exec_id)->cmd.reply.rc, RC_CONFLICT);
}

TEST(two_of_one_turn_run_it_again_once)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    finish(&w, &f, OUTCOME_SUCCEEDED);
    struct asked *first = ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
    struct asked *second = ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
    world_turn(&w);
    assert_int_equal(first->cmd.reply.rc, RC_OK);
    assert_int_equal(second->cmd.reply.rc, RC_CONFLICT);
    assert_int_equal(w.table.claims[CLAIM_NAME].len, 1);
}

TEST(a_name_that_is_taken_meanwhile_keeps_the_old_job_from_running)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *old = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    finish(&w, &f, OUTCOME_SUCCEEDED);
    SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    const struct asked *asked = retry(&w, old->exec_id);
    assert_int_equal(asked->cmd.reply.rc, RC_CONFLICT);
    assert_non_null(strstr(asked->cmd.reply.err.text, "nightly"));
    assert_true(delta_is_empty(&w.delta));
}

TEST(a_name_is_taken_again_by_running_again)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *old = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    finish(&w, &f, OUTCOME_SUCCEEDED);
    retry(&w, old->exec_id);
    const struct submission *young = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    assert_int_equal(young->rc, RC_CONFLICT);
}

TEST(what_ends_in_this_very_turn_is_asked_for_again)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    finish(&w, &f, OUTCOME_SUCCEEDED);
    const struct asked *second = retry(&w, job->exec_id);
    struct poll_lease lease = fake_start(&w, &f);
    assert_int_equal(lease.exec_id, second->cmd.reply.exec_id);
    ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    struct asked *newest = ask_about(&w, CMD_RETRY_EXEC, lease.exec_id);
    struct asked *oldest = ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
    world_turn(&w); /* its name was given back in this turn, and cannot be claimed in it */
    assert_int_equal(newest->cmd.reply.rc, RC_BUSY);
    assert_int_equal(oldest->cmd.reply.rc, RC_BUSY);
    assert_int_equal(retry(&w, lease.exec_id)->cmd.reply.rc, RC_OK);
}

TEST(running_again_needs_room_in_memory)
{
    struct engine_options options = engine_defaults;
    options.live_max = 1;
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    finish(&w, &f, OUTCOME_SUCCEEDED);
    const struct submission *other = SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(retry(&w, job->exec_id)->cmd.reply.rc, RC_BUSY);
    assert_int_equal(engine_live_count(w.engine), 1);
    assert_int_equal(w.table.claims[CLAIM_NAME].len, 0); /* the name is free for others */
    cancel_job(&w, other->job_id);
    assert_int_equal(retry(&w, job->exec_id)->cmd.reply.rc, RC_OK);
}

TEST(a_name_claimed_for_a_damaged_job_is_given_back)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    finish(&w, &f, OUTCOME_SUCCEEDED);
    struct job_rec *rec = map_get(&w.table.jobs, job->job_id);
    rec->spec = STR("damaged");
    SUBMIT(&w); /* so that the turn is kept */
    struct asked *asked = ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_CORRUPT);
    assert_int_equal(w.table.claims[CLAIM_NAME].len, 0);
}

TEST(what_was_cancelled_can_run_again)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    cancel_job(&w, job->job_id);
    const struct asked *asked = retry(&w, job->exec_id);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_ACTIVE);
    assert_int_equal(cancel_job(&w, job->job_id)->cmd.reply.rc, RC_OK);
    assert_int_equal(state_of(&w, asked->cmd.reply.exec_id), EXEC_CANCELLED);
}
