#include "engine/test/fake.h"
#include "engine/test/jobs.h"

static const struct poll_reply *reply_of(const struct asked *asked)
{
    return &asked->cmd.reply.poll;
}

/* ---- coming and going */

TEST(an_unknown_worker_must_register)
{
    WORLD(w);
    struct fake f = {.id = 999};
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(poll->answers, 1);
    assert_int_equal(poll->cmd.reply.rc, RC_NOT_FOUND);
}

TEST(more_workers_than_there_may_be_are_refused)
{
    struct engine_options options = engine_defaults;
    options.workers_max = 2;
    WORLD_WITH(w, options);
    struct fake first = HIRE(&w);
    struct asked *second = ask(&w, CMD_REGISTER);
    struct asked *third = ask(&w, CMD_REGISTER);
    world_turn(&w);
    assert_int_equal(second->cmd.reply.rc, RC_OK);
    assert_int_equal(third->cmd.reply.rc, RC_BUSY);
    world_pass(&w, options.forget_ms); /* nobody has heard of either */
    struct asked *fourth = ask(&w, CMD_REGISTER);
    struct asked *gone = ask_poll(&w, &first, 1);
    world_turn(&w);
    assert_int_equal(fourth->cmd.reply.rc, RC_OK);
    assert_int_equal(gone->cmd.reply.rc, RC_NOT_FOUND);
}

TEST(a_draining_worker_finishes_and_takes_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    struct asked *parked = ask_poll(&w, &f, 1);
    world_turn(&w);
    struct asked *drain = ask_about(&w, CMD_DRAIN, f.id);
    SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(drain->cmd.reply.rc, RC_OK);
    assert_int_equal(w.delta.worker_count, 1);
    assert_int_equal(parked->answers, 1);
    assert_true(reply_of(parked)->drain);
    assert_int_equal(reply_of(parked)->lease_count, 0);
    struct asked *next = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(next->answers, 0);
    struct asked *report = ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_true(was_accepted(report));
    assert_true(reply_of(report)->drain);
    assert_int_equal(w.engine->ready.len, 1);
}

TEST(a_worker_that_polls_in_the_turn_of_its_drain_is_told)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    world_turn(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    ask_about(&w, CMD_DRAIN, f.id);
    world_turn(&w);
    assert_int_equal(poll->answers, 1);
    assert_true(reply_of(poll)->drain);
    assert_int_equal(reply_of(poll)->lease_count, 0);
}

TEST(draining_twice_changes_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    ask_about(&w, CMD_DRAIN, f.id);
    world_turn(&w);
    struct asked *again = ask_about(&w, CMD_DRAIN, f.id);
    struct asked *unknown = ask_about(&w, CMD_DRAIN, 999);
    world_turn(&w);
    assert_int_equal(again->cmd.reply.rc, RC_OK);
    assert_int_equal(unknown->cmd.reply.rc, RC_NOT_FOUND);
    assert_true(delta_is_empty(&w.delta));
    world_restart(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    poll->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_true(reply_of(poll)->drain);
}

TEST(a_silent_worker_is_forgotten)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    ask_poll(&w, &f, 1);
    world_turn(&w);
    world_pass(&w, w.options.park_ms);
    world_pass(&w, w.options.forget_ms - 1);
    assert_int_equal(w.table.workers.len, 1);
    world_pass(&w, 1);
    assert_int_equal(w.table.workers.len, 0);
    assert_true(w.delta.workers[0].forget);
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(poll->cmd.reply.rc, RC_NOT_FOUND);
}

TEST(who_is_forgotten_in_this_turn_is_gone_for_all_its_commands)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    world_wake(&w, w.options.forget_ms);
    struct asked *poll = ask_poll(&w, &f, 1);
    struct asked *drain = ask_about(&w, CMD_DRAIN, f.id);
    struct asked *list = ask(&w, CMD_WORKERS);
    struct asked *stats = ask(&w, CMD_STATS);
    world_turn(&w);
    assert_int_equal(poll->cmd.reply.rc, RC_NOT_FOUND);
    assert_int_equal(drain->cmd.reply.rc, RC_NOT_FOUND);
    assert_int_equal(list->cmd.reply.worker_count, 0);
    assert_int_equal(stats->cmd.reply.stats.worker_count, 0);
}

TEST(a_worker_is_not_forgotten_before_its_leases_have_ended)
{
    struct engine_options options = engine_defaults;
    options.forget_ms = 1000;
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    world_turn(&w);
    fake_lease(&w, &f);
    for (int i = 0; i < 19; i++) {
        world_pass(&w, 1000);
        assert_int_equal(w.table.workers.len, 1);
    }
    world_pass(&w, 1000);
    world_pass(&w, 1000);
    assert_int_equal(w.table.workers.len, 0);
}

TEST(workers_are_listed_with_what_they_do)
{
    WORLD(w);
    struct fake a = HIRE(&w, .slots = 4, .queues = "x,y", .handlers = "mail");
    struct fake b = HIRE(&w, .slots = 2);
    SUBMIT(&w);
    world_turn(&w);
    fake_lease(&w, &b);
    ask_poll(&w, &a, 1);
    world_turn(&w);
    struct asked *asked = ask(&w, CMD_WORKERS);
    world_turn(&w);
    const struct worker_view *views = asked->cmd.reply.workers;
    assert_int_equal(asked->cmd.reply.worker_count, 2);
    assert_int_equal(views[0].worker.id, a.id);
    assert_int_equal(views[0].worker.slots, 4);
    assert_true(str_eq(views[0].worker.queues, STR("x\ny\n")));
    assert_true(str_eq(views[0].worker.handlers, STR("mail\n")));
    assert_true(views[0].parked);
    assert_int_equal(views[0].busy, 0);
    assert_int_equal(views[1].worker.id, b.id);
    assert_false(views[1].parked);
    assert_int_equal(views[1].busy, 1);
    assert_int_equal(views[1].silent_ms, 0);
}
