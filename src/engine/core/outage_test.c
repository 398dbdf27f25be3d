/* Turns while the store takes nothing: healthy runs stay alive, and nothing is decided. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"
#include "job/command/command_facts.h"

static void decide_outage(struct world *w)
{
    arena_reset(&w->arena);
    engine_begin(w->engine, world_now(w), &w->arena);
    engine_outage(w->engine);
    for (size_t i = 0; i < w->command_count; i++) {
        assert_true(command_facts(w->commands[i]->kind)->works_in_outage);
        engine_decide(w->engine, w->commands[i]);
    }
    w->delta = *engine_seal(w->engine);
    assert_true(delta_is_empty(&w->delta));
}

/* A turn without a store, undone once on the way. */
static void outage_turn(struct world *w)
{
    CLEANUP(buf_free) struct buf before = BUF(TEXT_MAX);
    CLEANUP(buf_free) struct buf after = BUF(TEXT_MAX);
    engine_dump(w->engine, &before);
    decide_outage(w);
    engine_undo(w->engine);
    engine_dump(w->engine, &after);
    assert_same_text(&before, &after);
    decide_outage(w);
    world_commit(w);
    world_check(w);
}

static void outage_pass(struct world *w, int64_t ms)
{
    world_wake(w, ms);
    outage_turn(w);
}

TEST(a_poll_renews_what_it_names)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    for (int i = 0; i < 20; i++) { /* many times the term of a lease */
        ask_poll(&w, &f, 0);
        outage_pass(&w, w.options.lease_ms / 2);
    }
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    assert_int_equal(exec_of(&w, job->exec_id)->v.lost, 0);
}

/* Probation is over for what was named long enough; that is written down when it can be. */
TEST(a_suspect_passes_its_probation_when_the_store_is_back)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    for (int i = 0; i < 2; i++) { /* server and worker die together */
        struct fake dead = HIRE(&w);
        fake_start(&w, &dead);
        world_restart(&w);
        world_turn(&w);
        world_pass(&w, w.options.lease_ms);
    }
    struct fake f = HIRE(&w);
    fake_start(&w, &f);
    for (int i = 0; i < 8; i++) {
        ask_poll(&w, &f, 0);
        outage_pass(&w, w.options.probation_ms / 4);
    }
    assert_false(exec_of(&w, job->exec_id)->v.proven);
    ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_true(exec_of(&w, job->exec_id)->v.proven);
}

TEST(a_result_waits_and_its_lease_with_it)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    struct poll_lease lease = fake_start(&w, &f);
    for (int i = 0; i < 5; i++) {
        struct asked *told = ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
        outage_pass(&w, w.options.lease_ms / 2);
        assert_int_equal(told->answers, 0); /* parked: the worker must not ask in a circle */
    }
    struct asked *told = ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_pass(&w, w.options.lease_ms / 2);
    assert_true(was_accepted(told));
    assert_int_equal(state_of(&w, job->exec_id), EXEC_COMPLETED);
}

TEST(a_parked_poll_is_answered_when_its_time_is_over)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct asked *before = ask_poll(&w, &f, 1);
    world_turn(&w);
    outage_pass(&w, w.options.park_ms);
    assert_int_equal(before->answers, 1);
    struct asked *within = ask_poll(&w, &f, 1);
    outage_turn(&w);
    assert_int_equal(within->answers, 0);
    outage_pass(&w, w.options.park_ms);
    assert_int_equal(within->answers, 1);
    assert_int_equal(within->cmd.reply.rc, RC_OK);
    assert_int_equal(within->cmd.reply.poll.lease_count, 0);
}

TEST(nobody_gets_work_and_nothing_comes_due)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *now = SUBMIT(&w);
    const struct submission *later = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 1000);
    world_turn(&w);
    struct asked *poll = ask_poll(&w, &f, 2);
    outage_pass(&w, 2000);
    assert_int_equal(poll->answers, 0);
    assert_int_equal(state_of(&w, now->exec_id), EXEC_QUEUED);
    assert_int_equal(state_of(&w, later->exec_id), EXEC_SCHEDULED);
    struct asked *again = ask_poll(&w, &f, 2); /* the store is back */
    world_turn(&w);
    assert_int_equal(again->cmd.reply.poll.lease_count, 2);
}

TEST(a_silent_worker_loses_its_leases_when_the_store_is_back)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    outage_pass(&w, 2 * w.options.lease_ms);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(what_was_dropped_is_stopped_and_never_given_again)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    const struct submission *other = SUBMIT(&w, .priority = 1);
    fake_start(&w, &f);
    w.relaxed = true; /* the table still counts it */
    assert_true(engine_drop(w.engine, job->exec_id));
    assert_false(engine_drop(w.engine, job->exec_id));
    map_remove(&w.table.live, job->exec_id);
    struct asked *poll = ask_poll(&w, &f, 5);
    world_turn(&w);
    assert_int_equal(poll->cmd.reply.poll.stop_count, 1);
    assert_int_equal(poll->cmd.reply.poll.stops[0].exec_id, job->exec_id);
    assert_int_equal(poll->cmd.reply.poll.lease_count, 1);
    assert_int_equal(poll->cmd.reply.poll.leases[0].exec_id, other->exec_id);
}
