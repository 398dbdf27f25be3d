/* Work that was done under a lease that had ended; and who may go on. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

/* The first worker starts it and falls silent; the second is given it. */
static struct poll_lease lose(struct world *w, struct fake *first, struct fake *second,
                              struct poll_lease *ret_lost)
{
    *ret_lost = fake_start(w, first);
    ask_poll(w, first, 0); /* confirms it, and is parked */
    world_turn(w);
    world_pass(w, MINUTE_MS);
    return fake_start(w, second);
}

static struct asked *report_late(struct world *w, struct fake *f, const struct poll_lease *lease)
{
    struct asked *asked = ask_report(w, f, lease, OUTCOME_SUCCEEDED);
    world_turn(w);
    assert_false(was_accepted(asked));
    return asked;
}

TEST(a_late_success_makes_the_next_failure_none)
{
    WORLD(w);
    struct fake first = HIRE(&w);
    struct fake second = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .retries = 5, .retry_ms = 1000);
    world_turn(&w);
    struct poll_lease lost;
    struct poll_lease lease = lose(&w, &first, &second, &lost);
    report_late(&w, &first, &lost);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    world_restart(&w);
    ask_report(&w, &second, &lease, OUTCOME_FAILED);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_DEDUPLICATED);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_COMPLETED);
    assert_int_equal(attempt_of(&w, job->exec_id, lease.token)->outcome, OUTCOME_FAILED);
}

TEST(the_second_worker_may_still_complete_it)
{
    WORLD(w);
    struct fake first = HIRE(&w);
    struct fake second = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lost;
    struct poll_lease lease = lose(&w, &first, &second, &lost);
    report_late(&w, &first, &lost);
    ask_report(&w, &second, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_COMPLETED);
}

TEST(work_that_was_done_is_not_delivered_again)
{
    WORLD(w);
    struct fake first = HIRE(&w);
    struct fake second = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lost;
    lose(&w, &first, &second, &lost);
    ask_poll(&w, &second, 0);
    world_turn(&w);
    report_late(&w, &first, &lost);
    world_pass(&w, MINUTE_MS); /* the second falls silent, too */
    assert_int_equal(state_of(&w, job->exec_id), EXEC_DEDUPLICATED);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_COMPLETED);
}

TEST(what_was_deduplicated_is_a_number_of_its_own)
{
    WORLD(w);
    struct fake first = HIRE(&w);
    struct fake second = HIRE(&w);
    SUBMIT(&w, .retries = 5, .retry_ms = 1000, .queue = "mail");
    world_turn(&w);
    struct poll_lease lost;
    struct poll_lease lease = lose(&w, &first, &second, &lost);
    report_late(&w, &first, &lost);
    ask_report(&w, &second, &lease, OUTCOME_FAILED);
    world_turn(&w);
    assert_true(w.delta.tally_count >= 2);
    for (size_t i = 0; i < w.delta.tally_count; i++) {
        const struct tally *row = &w.delta.tallies[i];
        assert_int_equal(row->end, EXEC_DEDUPLICATED);
        assert_true(row->count == 1 && row->sum_ms == 0 && row->bucket == 0);
    }
}

TEST(a_late_success_ends_what_waits_for_another_attempt)
{
    WORLD(w);
    struct fake first = HIRE(&w);
    struct fake second = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .retries = 5, .retry_ms = 60000);
    world_turn(&w);
    struct poll_lease lost;
    struct poll_lease lease = lose(&w, &first, &second, &lost);
    ask_report(&w, &second, &lease, OUTCOME_FAILED);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RETRYING);
    report_late(&w, &first, &lost);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_DEDUPLICATED);
}

TEST(a_stranger_cannot_say_that_work_is_done)
{
    WORLD(w);
    struct fake first = HIRE(&w);
    struct fake second = HIRE(&w);
    struct fake stranger = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lost;
    struct poll_lease lease = lose(&w, &first, &second, &lost);
    report_late(&w, &stranger, &lost);
    ask_report(&w, &second, &lease, OUTCOME_FAILED);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_FAILED);
}

static enum rc ask_fence(struct world *w, uint64_t exec_id, uint64_t token)
{
    struct asked *asked = ask_about(w, CMD_FENCE, exec_id);
    asked->cmd.target.seq = token;
    world_turn(w);
    assert_true(delta_is_empty(&w->delta));
    return asked->cmd.reply.rc;
}

TEST(a_token_owns_its_run_until_the_lease_is_another_s)
{
    WORLD(w);
    struct fake first = HIRE(&w);
    struct fake second = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(ask_fence(&w, job->exec_id, 1), RC_STALE);
    struct poll_lease lost = fake_start(&w, &first);
    assert_int_equal(ask_fence(&w, job->exec_id, lost.token), RC_OK);
    assert_int_equal(ask_fence(&w, job->exec_id, lost.token + 1), RC_STALE);
    world_pass(&w, MINUTE_MS);
    assert_int_equal(ask_fence(&w, job->exec_id, lost.token), RC_STALE);
    struct poll_lease lease = fake_start(&w, &second);
    assert_int_equal(ask_fence(&w, job->exec_id, lost.token), RC_STALE);
    assert_int_equal(ask_fence(&w, job->exec_id, lease.token), RC_OK);
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    assert_int_equal(ask_fence(&w, job->exec_id, lease.token), RC_STALE);
    assert_int_equal(ask_fence(&w, 4711, 1), RC_STALE);
}
