#include "engine/test/fake.h"
#include "engine/test/jobs.h"

static const struct poll_reply *reply_of(const struct asked *asked)
{
    return &asked->cmd.reply.poll;
}

/* ---- numbers of polls */

TEST(an_older_poll_is_stale)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    f.seq = 4;
    struct asked *newest = ask_poll(&w, &f, 0);
    world_turn(&w);
    f.seq = 3;
    struct asked *older = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(older->answers, 1);
    assert_int_equal(older->cmd.reply.rc, RC_STALE);
    assert_int_equal(newest->answers, 0);
}

TEST(a_newer_poll_answers_the_parked_one_with_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct asked *first = ask_poll(&w, &f, 1);
    world_turn(&w);
    struct asked *second = ask_poll(&w, &f, 2);
    SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(first->answers, 1);
    assert_int_equal(reply_of(first)->lease_count, 0);
    assert_int_equal(second->answers, 1);
    assert_int_equal(reply_of(second)->lease_count, 1);
}

TEST(of_two_polls_in_one_turn_the_newer_gets_the_work)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    world_turn(&w);
    struct asked *first = ask_poll(&w, &f, 1);
    struct asked *second = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(first->answers, 1);
    assert_int_equal(reply_of(first)->lease_count, 0);
    assert_int_equal(reply_of(second)->lease_count, 1);
}

TEST(results_of_a_poll_that_was_overtaken_get_their_verdict)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    struct asked *report = ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_true(was_accepted(report));
}

TEST(a_repeated_poll_grants_nothing_twice)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    SUBMIT(&w);
    world_turn(&w);
    struct asked *first = ask_poll(&w, &f, 2);
    world_turn(&w);
    SUBMIT(&w);
    f.seq--; /* the reply was lost */
    struct asked *again = ask_poll(&w, &f, 2);
    world_turn(&w);
    assert_int_equal(reply_of(again)->lease_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(reply_of(again)->leases[i].exec_id, reply_of(first)->leases[i].exec_id);
        assert_int_equal(reply_of(again)->leases[i].token, reply_of(first)->leases[i].token);
    }
    assert_int_equal(w.engine->ready.len, 1);
}

/* ---- leases on their way */

TEST(a_lease_lost_on_its_way_is_sent_again)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    f.held_count = 0;
    w.now_ms += 1000;
    struct asked *again = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(reply_of(again)->lease_count, 1);
    assert_int_equal(reply_of(again)->leases[0].token, lease.token);
    assert_int_equal(reply_of(again)->leases[0].attempt, 1);
    assert_true(str_eq(reply_of(again)->leases[0].spec, lease.spec));
    assert_true(delta_is_empty(&w.delta));
}

TEST(a_lease_sent_again_has_a_full_term)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_lease(&w, &f);
    f.held_count = 0;
    w.now_ms += 15000;
    ask_poll(&w, &f, 1);
    world_turn(&w);
    world_pass(&w, w.options.lease_ms - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    world_pass(&w, 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(a_lost_lease_without_room_is_taken_back_at_no_cost)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_lease(&w, &f);
    f.held_count = 0;
    ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    const struct exec_rec *x = map_get(&w.table.live, job->exec_id);
    assert_int_equal(x->attempts, 0);
    assert_int_equal(x->lost, 0);
    assert_int_equal(attempt_of(&w, job->exec_id, 1)->outcome, OUTCOME_RETURNED);
}

/* The first copy's answer may have arrived, and the run be under way. */
TEST(a_repeated_poll_takes_nothing_back)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_lease(&w, &f);
    ask_about(&w, CMD_DRAIN, f.id); /* so that there is no room */
    world_turn(&w);
    f.seq--;
    f.held_count = 0;
    ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(lost_leases_take_the_room_before_new_ones)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    for (size_t i = 0; i < 3; i++)
        SUBMIT(&w);
    world_turn(&w);
    struct asked *first = ask_poll(&w, &f, 3);
    world_turn(&w);
    SUBMIT(&w, .priority = 900);
    struct asked *again = ask_poll(&w, &f, 2);
    world_turn(&w);
    assert_int_equal(reply_of(again)->lease_count, 2);
    assert_int_equal(reply_of(again)->leases[0].exec_id, reply_of(first)->leases[0].exec_id);
    assert_int_equal(reply_of(again)->leases[1].exec_id, reply_of(first)->leases[1].exec_id);
    assert_int_equal(w.engine->ready.len, 2);
}

TEST(a_token_grows_with_every_lease)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    world_turn(&w);
    for (uint64_t token = 1; token <= 3; token++) {
        struct poll_lease lease = fake_lease(&w, &f);
        assert_int_equal(lease.token, token);
        assert_int_equal(lease.attempt, 1);
        ask_report(&w, &f, &lease, OUTCOME_RETURNED);
        world_turn(&w);
    }
}

/* ---- leases that run */

TEST(being_listed_renews_a_lease_and_keeps_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_lease(&w, &f);
    for (int i = 0; i < 10; i++) {
        ask_poll(&w, &f, 0);
        world_pass(&w, w.options.lease_ms - 1);
        assert_true(delta_is_empty(&w.delta));
    }
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
}

TEST(the_end_of_a_confirmed_lease_counts_as_lost)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    world_pass(&w, w.options.lease_ms);
    const struct exec_rec *x = map_get(&w.table.live, job->exec_id);
    assert_int_equal(x->state, EXEC_QUEUED);
    assert_int_equal(x->attempts, 0);
    assert_int_equal(x->lost, 1);
    assert_int_equal(x->worker_id, 0);
    assert_int_equal(attempt_of(&w, job->exec_id, 1)->outcome, OUTCOME_LOST);
    assert_int_equal(attempt_of(&w, job->exec_id, 1)->worker_id, f.id);
}

TEST(the_end_of_an_unconfirmed_lease_costs_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_lease(&w, &f);
    world_pass(&w, w.options.lease_ms);
    const struct exec_rec *x = map_get(&w.table.live, job->exec_id);
    assert_int_equal(x->state, EXEC_QUEUED);
    assert_int_equal(x->attempts, 0);
    assert_int_equal(x->lost, 0);
}

TEST(a_run_that_its_worker_no_longer_has_is_lost)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    f.held_count = 0;
    ask_poll(&w, &f, 0);
    world_turn(&w);
    const struct exec_rec *x = map_get(&w.table.live, job->exec_id);
    assert_int_equal(x->state, EXEC_QUEUED);
    assert_int_equal(x->lost, 1);
}

TEST(a_worker_is_told_to_stop_what_is_not_its_own)
{
    WORLD(w);
    struct fake a = HIRE(&w);
    struct fake b = HIRE(&w);
    SUBMIT(&w);
    world_turn(&w);
    struct poll_lease old = fake_start(&w, &a);
    world_pass(&w, w.options.lease_ms);
    struct poll_lease lease = fake_lease(&w, &b);
    assert_int_equal(lease.token, old.token + 1);
    struct asked *poll = ask_poll(&w, &a, 0);
    world_turn(&w);
    assert_int_equal(poll->answers, 1);
    assert_int_equal(reply_of(poll)->stop_count, 1);
    assert_int_equal(reply_of(poll)->stops[0].exec_id, old.exec_id);
    assert_int_equal(reply_of(poll)->stops[0].token, old.token);
}

TEST(a_worker_is_told_to_stop_what_nobody_knows)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    f.held[f.held_count++] = (struct poll_held){12345, 1};
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(poll->answers, 1);
    assert_int_equal(reply_of(poll)->stop_count, 1);
}

/* ---- parking */

TEST(a_parked_poll_is_answered_when_its_time_is_over)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(world_wait_ms(&w), w.options.park_ms);
    world_pass(&w, w.options.park_ms - 1);
    assert_int_equal(poll->answers, 0);
    world_pass(&w, 1);
    assert_int_equal(poll->answers, 1);
    assert_int_equal(reply_of(poll)->lease_count, 0);
    assert_true(delta_is_empty(&w.delta));
}

TEST(a_poll_waits_no_longer_than_it_wants)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    poll->cmd.poll.wait_ms = 100;
    world_turn(&w);
    world_pass(&w, 100);
    assert_int_equal(poll->answers, 1);
    struct asked *hasty = ask_poll(&w, &f, 1);
    hasty->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_int_equal(hasty->answers, 1);
}

/* As on a machine that slept: the poll's time, the lease and the worker's silence are all over. */
TEST(who_is_parked_when_the_clock_leaps_is_not_forgotten)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    world_turn(&w);
    fake_lease(&w, &f);
    struct asked *parked = ask_poll(&w, &f, 1);
    world_turn(&w);
    world_pass(&w, 24 * HOUR_MS);
    assert_int_equal(parked->answers, 1);
    assert_int_equal(reply_of(parked)->lease_count, 1);
    struct asked *next = ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_int_equal(next->cmd.reply.rc, RC_OK);
}

TEST(a_poll_whose_time_is_over_takes_what_just_became_ready)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    w.now_ms += w.options.park_ms;
    SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(reply_of(poll)->lease_count, 1);
}

TEST(who_hung_up_is_offered_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    struct asked *hangup = ask_about(&w, CMD_HANGUP, f.id);
    hangup->cmd.target.seq = f.seq;
    SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(hangup->answers, 1);
    assert_int_equal(poll->answers, 1);
    assert_int_equal(reply_of(poll)->lease_count, 0);
    assert_int_equal(w.engine->ready.len, 1);
}

TEST(who_hangs_up_in_the_turn_of_its_poll_is_offered_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    world_turn(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    struct asked *hangup = ask_about(&w, CMD_HANGUP, f.id);
    hangup->cmd.target.seq = f.seq;
    world_turn(&w);
    assert_int_equal(poll->answers, 1);
    assert_int_equal(reply_of(poll)->lease_count, 0);
    assert_int_equal(w.engine->ready.len, 1);
}

TEST(the_hangup_of_an_older_poll_is_nobodys_business)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    ask_poll(&w, &f, 1);
    world_turn(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    struct asked *hangup = ask_about(&w, CMD_HANGUP, f.id);
    hangup->cmd.target.seq = f.seq - 1;
    struct asked *unknown = ask_about(&w, CMD_HANGUP, 999);
    world_turn(&w);
    assert_int_equal(poll->answers, 0);
    assert_int_equal(unknown->answers, 1);
}

TEST(shutting_down_takes_all_parked_polls_out)
{
    WORLD(w);
    struct fake a = HIRE(&w);
    struct fake b = HIRE(&w);
    struct asked *first = ask_poll(&w, &a, 1);
    struct asked *second = ask_poll(&w, &b, 1);
    world_turn(&w);
    world_restart(&w);
    assert_int_equal(first->answers, 1);
    assert_int_equal(second->answers, 1);
    world_turn(&w);
}
