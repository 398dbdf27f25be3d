/* silence_test.c - servers that stood still and leases that end in silence: what is counted. */
#include "engine/ready/silence_fixture_test.h"

/* ---- a server that stood still */

/* Server and worker sleep together for an hour; the worker stops what it ran when it wakes up, or
 * goes on. */
TEST(a_laptop_that_sleeps_counts_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    for (int i = 0; i < 5; i++) {
        struct poll_lease lease = fake_start(&w, &f);
        world_sleep(&w, 60 * 60000);
        assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
        ask_poll(&w, &f, 0);
        world_turn(&w);
        assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
        fake_drop(&f, lease.exec_id);
        struct asked *report = ask_report(&w, &f, &lease, OUTCOME_STOPPED);
        report->cmd.poll.wait_ms = 0;
        world_turn(&w);
        assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
        assert_int_equal(values_of(&w, job->exec_id)->lost, 0);
    }
}

TEST(who_stays_silent_after_that_is_lost_a_term_later)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    world_sleep(&w, w.options.lease_ms + 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    world_pass(&w, w.options.lease_ms - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    world_pass(&w, 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(values_of(&w, job->exec_id)->lost, 1);
}

/* The result waits in the socket, and the attempt's time has passed when it is read. */
TEST(what_ended_while_the_server_slept_has_ended_as_its_worker_says)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .timeout_ms = 10000);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED)->cmd.poll.wait_ms = 0;
    world_sleep(&w, 60 * 60000);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_COMPLETED);
}

/* The lease was renewed a quarter of a term ago, and ends during the sleep, which is shorter than a
 * term. */
TEST(a_sleep_that_is_shorter_than_a_term_counts_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    int64_t term_ms = w.options.lease_ms;
    for (int i = 0; i < 5; i++) {
        struct poll_lease lease = fake_start(&w, &f);
        world_sleep(&w, term_ms / 4);
        world_sleep(&w, term_ms * (15 + i) / 20);
        assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
        fake_drop(&f, lease.exec_id);
        struct asked *report = ask_report(&w, &f, &lease, OUTCOME_STOPPED);
        report->cmd.poll.wait_ms = 0;
        world_turn(&w);
        assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
        assert_int_equal(values_of(&w, job->exec_id)->lost, 0);
    }
}

/* A turn that comes a little late is no sleep: there is one in every quarter of a term. */
TEST(a_server_with_leases_has_a_turn_in_every_quarter_of_a_term)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    for (int i = 0; i < 10 && state_of(&w, job->exec_id) == EXEC_RUNNING; i++) {
        assert_true(world_wait_ms(&w) <= w.options.lease_ms / 4);
        world_sleep(&w, world_wait_ms(&w) + 100);
    }
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(a_turn_without_the_store_leaves_that_to_the_next)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    w.now_ms += 60 * 60000;
    engine_begin(w.engine, world_now(&w), &w.arena);
    engine_outage(w.engine);
    (void)engine_seal(w.engine);
    struct list done;
    list_init(&done);
    const struct event *events;
    size_t count;
    engine_commit(w.engine, &done, &events, &count);
    world_sleep(&w, 10);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
}

TEST(an_idle_worker_is_known_after_a_sleep)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    poll->cmd.poll.wait_ms = 0;
    world_turn(&w);
    world_sleep(&w, 2 * w.options.forget_ms);
    assert_non_null(map_get(&w.engine->workers, f.id));
}

/* ---- what is counted */

TEST(an_inherited_lease_that_ends_in_silence_is_counted)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    hire_and_start(&w, 1);
    crash(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(values_of(&w, job->exec_id)->unseen, 1);
    assert_int_equal(values_of(&w, job->exec_id)->lost, 0);
    assert_int_equal(values_of(&w, job->exec_id)->attempts, 0);
    hire_and_start(&w, 1);
    crash(&w);
    assert_int_equal(values_of(&w, job->exec_id)->unseen, 2);
}

TEST(a_reported_end_sets_it_back)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .retries = 3);
    for (int i = 0; i < 2; i++) {
        hire_and_start(&w, 1);
        crash(&w);
    }
    struct fake f = HIRE(&w);
    struct poll_lease lease = fake_start(&w, &f);
    ask_report(&w, &f, &lease, OUTCOME_FAILED);
    world_turn(&w);
    assert_int_equal(values_of(&w, job->exec_id)->unseen, 0);
}

TEST(a_late_success_ends_a_suspect_like_any_other)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    hire_and_start(&w, 1);
    crash(&w);
    struct fake f = HIRE(&w);
    struct poll_lease lease = fake_start(&w, &f);
    crash(&w);
    struct asked *report = ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_true(was_accepted(report));
    assert_int_equal(state_of(&w, job->exec_id), EXEC_COMPLETED);
}

TEST(a_lease_that_was_confirmed_is_lost)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    struct fake f = hire_and_start(&w, 1);
    world_restart(&w);
    ask_poll(&w, &f, 0);
    world_turn(&w);
    world_pass(&w, w.options.lease_ms);
    assert_int_equal(values_of(&w, job->exec_id)->lost, 1);
    assert_int_equal(values_of(&w, job->exec_id)->unseen, 0);
}

TEST(a_predecessor_that_is_dead_for_sure_was_silent)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    struct fake old = HIRE(&w, .boot_id = "k1");
    fake_start(&w, &old);
    world_restart(&w);
    HIRE(&w, .boot_id = "k1", .replaces = old.id);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(values_of(&w, job->exec_id)->unseen, 1);
}

/* ---- what had ended before */

TEST(a_timeout_counts_when_it_had_passed_before_the_load)
{
    for (int passed = 0; passed <= 1; passed++) {
        WORLD(w);
        const struct submission *job = SUBMIT(&w, .timeout_ms = 1000);
        hire_and_start(&w, 1);
        w.now_ms += passed ? 1000 + w.options.kill_grace_ms : 0;
        crash(&w); /* by when it has passed, either way */
        assert_int_equal(state_of(&w, job->exec_id), passed ? EXEC_TIMEOUT : EXEC_QUEUED);
        if (!passed)
            assert_int_equal(values_of(&w, job->exec_id)->unseen, 1);
    }
}

TEST(an_sla_stops_what_had_exceeded_it_before_the_load)
{
    for (int passed = 0; passed <= 1; passed++) {
        WORLD(w);
        struct sla sla = {.max_ms = 5000, .policy = SLA_STRICT};
        const struct submission *job = SUBMIT(&w, .sla = sla);
        hire_and_start(&w, 1);
        w.now_ms += passed ? 5000 : 0;
        crash(&w);
        assert_int_equal(state_of(&w, job->exec_id), passed ? EXEC_TIMEOUT : EXEC_QUEUED);
        if (!passed)
            assert_int_equal(values_of(&w, job->exec_id)->unseen, 1);
    }
}

/* The former owner was last seen a while before its partitions were loaded. */
TEST(elsewhere_it_counts_from_when_the_owner_was_last_seen)
{
    CLEANUP(world_free) struct world w;
    world_init_part(&w, &engine_defaults, (struct partition_set){.count = 2, .bits = 1});
    const struct submission *job = SUBMIT(&w, .timeout_ms = 1000);
    hire_and_start(&w, 1);
    w.now_ms += 1000 + w.options.kill_grace_ms;
    w.alive_ms[0] = world_now(&w).boot_ms - 1;
    crash(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(values_of(&w, job->exec_id)->unseen, 1);
}
