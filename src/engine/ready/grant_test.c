#include "engine/test/fake.h"
#include "engine/test/jobs.h"

static const struct poll_reply *reply_of(const struct asked *asked)
{
    return &asked->cmd.reply.poll;
}

/* ---- work meets workers */

TEST(a_job_that_finds_a_parked_worker_is_leased_in_the_same_turn)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(poll->answers, 0);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(poll->answers, 1);
    assert_int_equal(reply_of(poll)->lease_count, 1);
    assert_int_equal(reply_of(poll)->leases[0].exec_id, job->exec_id);
    assert_int_equal(w.delta.exec_count, 1);
    assert_int_equal(w.delta.execs[0].kind, CHANGE_INSERT);
    assert_int_equal(w.delta.execs[0].exec.state, EXEC_RUNNING);
    assert_int_equal(w.delta.execs[0].exec.worker_id, f.id);
}

TEST(a_lease_carries_what_is_needed_to_run)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    assert_int_equal(lease.exec_id, job->exec_id);
    assert_int_equal(lease.job_id, job->job_id);
    assert_int_equal(lease.token, 1);
    assert_int_equal(lease.attempt, 1);
    assert_int_equal(lease.slot_ms, w.now_ms);
    assert_int_equal(lease.ttl_ms, w.options.lease_ms);
    assert_true(str_eq(lease.spec, job->spec));
    assert_true(str_eq(lease.payload, job->payload));
}

TEST(a_spec_too_large_to_keep_is_left_to_the_store)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w, .spec_bytes = w.options.keep_bytes_max, .name = "large");
    world_turn(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    assert_int_equal(lease.spec.len, 0);
    assert_int_equal(lease.payload.len, 0);
}

TEST(what_waits_long_is_left_to_the_store)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w, .when = WHEN_DELAY, .when_ms = w.options.near_ms);
    SUBMIT(&w, .when = WHEN_DELAY, .when_ms = w.options.near_ms + 1);
    world_turn(&w);
    world_pass(&w, w.options.near_ms);
    assert_true(fake_lease(&w, &f).spec.len > 0);
    world_pass(&w, 1);
    assert_int_equal(fake_lease(&w, &f).spec.len, 0);
}

TEST(a_worker_gets_no_more_than_it_has_slots_for)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    for (size_t i = 0; i < 5; i++)
        SUBMIT(&w);
    world_turn(&w);
    struct asked *poll = ask_poll(&w, &f, 3);
    world_turn(&w);
    assert_int_equal(reply_of(poll)->lease_count, 3);
}

TEST(a_worker_without_a_free_slot_gets_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    world_turn(&w);
    struct asked *poll = ask_poll(&w, &f, 0);
    world_turn(&w);
    SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(poll->answers, 0);
    assert_int_equal(w.engine->ready.len, 2);
}

TEST(the_longest_waiting_worker_is_served_first)
{
    WORLD(w);
    struct fake fakes[3] = {HIRE(&w), HIRE(&w), HIRE(&w)};
    struct asked *polls[3];
    for (size_t i = 0; i < 3; i++)
        polls[2 - i] = ask_poll(&w, &fakes[2 - i], 1);
    world_turn(&w);
    for (size_t i = 0; i < 3; i++) {
        SUBMIT(&w);
        world_turn(&w);
        assert_int_equal(polls[2 - i]->answers, 1);
    }
}

TEST(the_longest_waiting_is_first_also_among_different_trades)
{
    WORLD(w);
    struct fake fakes[3] = {HIRE(&w), HIRE(&w, .queues = "default"), HIRE(&w, .handlers = "mail")};
    struct asked *polls[3];
    for (size_t first = 0; first < 3; first++) {
        for (size_t i = 0; i < 3; i++)
            polls[(first + i) % 3] = ask_poll(&w, &fakes[(first + i) % 3], 1);
        world_turn(&w);
        SUBMIT(&w);
        world_turn(&w);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(polls[i]->answers, i == first);
        fake_take(&fakes[first], polls[first]);
    }
}

TEST(one_turn_fills_one_worker_before_the_next)
{
    WORLD(w);
    struct fake a = HIRE(&w);
    struct fake b = HIRE(&w);
    struct asked *first = ask_poll(&w, &a, 2);
    struct asked *second = ask_poll(&w, &b, 2);
    world_turn(&w);
    for (size_t i = 0; i < 3; i++)
        SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(reply_of(first)->lease_count, 2);
    assert_int_equal(reply_of(second)->lease_count, 1);
}

/* ---- queues and handlers */

TEST(a_worker_gets_only_what_it_serves)
{
    WORLD(w);
    struct fake mailer = HIRE(&w, .handlers = "mail,sms", .no_commands = true);
    struct fake reporter = HIRE(&w, .queues = "reports");
    struct asked *mailer_poll = ask_poll(&w, &mailer, 9);
    struct asked *reporter_poll = ask_poll(&w, &reporter, 9);
    world_turn(&w);
    SUBMIT(&w);                                        /* a command, but not in reports */
    SUBMIT(&w, .handler = "fax");                      /* a handler that nobody knows */
    SUBMIT(&w, .handler = "mail", .queue = "reports"); /* for the mailer, in any queue */
    SUBMIT(&w, .handler = "mai");
    SUBMIT(&w, .handler = "mails");
    SUBMIT(&w, .queue = "report");
    SUBMIT(&w, .queue = "reports2");
    world_turn(&w);
    assert_int_equal(reply_of(mailer_poll)->lease_count, 1);
    assert_int_equal(reporter_poll->answers, 0);
    const struct submission *report = SUBMIT(&w, .queue = "reports");
    world_turn(&w);
    assert_int_equal(reply_of(reporter_poll)->lease_count, 1);
    assert_int_equal(reply_of(reporter_poll)->leases[0].exec_id, report->exec_id);
    assert_int_equal(w.engine->ready.len, 6);
}

TEST(a_worker_may_serve_many_queues_and_handlers)
{
    WORLD(w);
    struct fake f = HIRE(&w, .queues = "a,b", .handlers = "x,y");
    SUBMIT(&w, .queue = "a");
    SUBMIT(&w, .queue = "b");
    SUBMIT(&w, .queue = "c");
    SUBMIT(&w, .queue = "a", .handler = "x");
    SUBMIT(&w, .queue = "b", .handler = "y");
    SUBMIT(&w, .queue = "c", .handler = "y");
    world_turn(&w);
    struct asked *poll = ask_poll(&w, &f, 9);
    world_turn(&w);
    assert_int_equal(reply_of(poll)->lease_count, 4);
}
