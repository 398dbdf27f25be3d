/* The whole worker, as a process of its own, against a fake server: its work, and trouble with it. */
#include "worker/worker_fixture_test.h"

/* ---- working */

TEST(output_arrives_before_the_result_that_names_it, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    for (uint64_t id = 10; id < 10 + SLOTS; id++) {
        fake_lease(s->server, id, 1,
                   "{\"command\": \"echo hello; echo [1] > $BELFRY_RESULT_FILE\"}", "");
        FAKE_WAIT(s->server, fake_result(s->server, id) != NULL);
        assert_int_equal(fake_result(s->server, id)->outcome, OUTCOME_SUCCEEDED);
        assert_true(str_eq(fake_result(s->server, id)->result, STR("[1]")));
        assert_int_equal(s->server->log_seq, 1);
        s->server->log_seq = 0;
    }
    assert_false(s->server->result_overtook_log);
}

TEST(more_leases_than_can_be_forked_at_once_all_run, set_up, tear_down)
{
    struct site *s = *state;
    enum { MANY = 300 };
    start(s);
    for (uint64_t id = 10; id < 10 + MANY; id++)
        fake_lease(s->server, id, 1, "{\"command\": [\"true\"]}", "");
    FAKE_WAIT(s->server, s->server->result_count == MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(s->server->results[i].outcome, OUTCOME_SUCCEEDED);
}

TEST(what_the_server_stops_ends, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    pid_t pid = lease_for_pid(s, 10, STUBBORN);
    FAKE_WAIT(s->server, fake_holds(s->server, 10) && s->server->parked != NULL);
    fake_stop(s->server, 10, 1);
    FAKE_WAIT(s->server, fake_result(s->server, 10) != NULL);
    assert_int_equal(fake_result(s->server, 10)->outcome, OUTCOME_STOPPED);
    assert_true(is_dead(pid));
}

TEST(a_spec_that_makes_no_sense_fails_for_good, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    fake_lease(s->server, 10, 1, "{\"command\": 5}", "");
    FAKE_WAIT(s->server, fake_result(s->server, 10) != NULL);
    assert_int_equal(fake_result(s->server, 10)->outcome, OUTCOME_PERMANENT);
}

/* ---- trouble */

TEST(a_lease_that_cannot_be_renewed_is_killed_and_given_back, set_up, tear_down)
{
    struct site *s = *state;
    s->server->welcome.lease_ms = 3000;
    start(s);
    pid_t pid = lease_for_pid(s, 10, STUBBORN);
    int64_t begin_ms = fake_clock_ms(s->server);
    s->server->poll_status = 503;
    if (s->server->parked != NULL)
        fake_unpark(s->server);
    FAKE_WAIT(s->server, is_dead(pid));
    assert_true(fake_clock_ms(s->server) - begin_ms < 3000);
    s->server->poll_status = 0;
    FAKE_WAIT(s->server, fake_result(s->server, 10) != NULL);
    assert_int_equal(fake_result(s->server, 10)->outcome, OUTCOME_RETURNED);
}

TEST(a_worker_that_is_frozen_does_not_run_past_its_leases, set_up, tear_down)
{
    struct site *s = *state;
    s->server->welcome.lease_ms = 3000;
    start(s);
    pid_t pid = lease_for_pid(s, 10, STUBBORN);
    kill(s->worker, SIGSTOP);
    int64_t begin_ms = fake_clock_ms(s->server);
    FAKE_WAIT(s->server, is_dead(pid)); /* the spawner did it */
    assert_true(fake_clock_ms(s->server) - begin_ms < 3000);
    kill(s->worker, SIGCONT);
    FAKE_WAIT(s->server, fake_result(s->server, 10) != NULL);
}

TEST(a_lease_that_runs_out_costs_the_others_nothing, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    pid_t lasting = lease_for_pid(s, 10, STUBBORN);
    FAKE_WAIT(s->server, fake_holds(s->server, 10) && s->server->parked != NULL);
    s->server->welcome.lease_ms = 3000; /* of this one alone */
    pid_t pid = lease_for_pid(s, 11, STUBBORN);
    kill(s->worker, SIGSTOP);
    FAKE_WAIT(s->server, is_dead(pid)); /* the spawner did it */
    kill(s->worker, SIGCONT);
    FAKE_WAIT(s->server, fake_result(s->server, 11) != NULL);
    assert_int_equal(fake_result(s->server, 11)->outcome, OUTCOME_RETURNED);
    assert_false(is_dead(lasting));
    assert_null(fake_result(s->server, 10));
}

TEST(what_ended_while_the_worker_was_frozen_is_still_told, set_up, tear_down)
{
    struct site *s = *state;
    s->server->welcome.lease_ms =
        4000; /* the machine may stand still for a second before the end */
    start(s);
    pid_t pid = lease_for_pid(s, 10, "{\"command\": \"echo $$; sleep 0.5\"}");
    FAKE_WAIT(s->server, fake_holds(s->server, 10) && s->server->parked != NULL);
    kill(s->worker, SIGSTOP);
    int64_t begin_ms = clock_boot_ms();
    FAKE_WAIT(s->server, is_dead(pid) && clock_boot_ms() - begin_ms > 4100);
    unsigned polls = s->server->polls;
    kill(s->worker, SIGCONT);
    FAKE_WAIT(s->server, s->server->polls > polls); /* the first word is the result */
    assert_int_equal(fake_result(s->server, 10)->outcome, OUTCOME_SUCCEEDED);
}

TEST(a_server_that_forgot_us_has_everything_killed, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    pid_t pid = lease_for_pid(s, 10, STUBBORN);
    FAKE_WAIT(s->server, fake_holds(s->server, 10) && s->server->parked != NULL);
    s->server->welcome.worker_id = 1;
    fake_unpark(s->server);
    FAKE_WAIT(s->server, s->server->registrations == 2 && s->server->poll.free == SLOTS);
    assert_true(is_dead(pid));
    assert_int_equal(s->server->result_count, 0);
}

TEST(the_next_worker_says_whom_it_replaces, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    assert_int_equal(s->server->hello.replaces, 0);
    assert_true(s->server->hello.boot_id.len > 0);
    pid_t pid = lease_for_pid(s, 10, STUBBORN);
    uint64_t first = s->server->welcome.worker_id;
    kill(s->worker, SIGKILL);
    wait_for_exit(s);
    s->worker = fork_worker(s); /* waits until the spawner is done */
    FAKE_WAIT(s->server, s->server->registrations == 2 && s->server->parked != NULL);
    assert_int_equal(s->server->hello.replaces, first);
    assert_true(is_dead(pid));
}

/* Then commands may live on, and whoever says they are dead would have them run twice. */
TEST(nobody_is_replaced_when_the_spawner_was_killed_too, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    pid_t pid = lease_for_pid(s, 10, STUBBORN);
    pid_t spawner = spawner_of(s->worker);
    kill(s->worker, SIGSTOP); /* it would wake the spawner */
    kill(spawner, SIGSTOP);
    kill(s->worker, SIGKILL);
    wait_for_exit(s);
    kill(spawner, SIGKILL);
    FAKE_WAIT(s->server, is_dead(spawner));
    s->worker = fork_worker(s);
    FAKE_WAIT(s->server, s->server->registrations == 2 && s->server->parked != NULL);
    assert_int_equal(s->server->hello.replaces, 0);
    kill(-pid, SIGKILL); /* its group, which nobody looks after any more */
    kill(s->worker, SIGKILL);
    wait_for_exit(s);
    remove_tmp(s); /* nor after its files */
}

TEST(a_worker_killed_with_9_leaves_nothing, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    pid_t plain = lease_for_pid(s, 10, STUBBORN);
    pid_t escaped = lease_for_pid(
        s, 11,
        "{\"command\": \"( env -i setsid sh -c 'echo $$; exec sleep 1000' & ); sleep 1000\"}");
    assert_int_equal(count_tmp(s), 1);
    kill(s->worker, SIGKILL);
    assert_int_equal(wait_for_exit(s), 128 + SIGKILL);
    FAKE_WAIT(s->server, is_dead(plain) && is_dead(escaped) && count_tmp(s) == 0);
}

TEST(when_the_spawner_dies_all_is_given_back_and_the_worker_leaves, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    pid_t plain = lease_for_pid(s, 10, STUBBORN);
    pid_t escaped = lease_for_pid(
        s, 11,
        "{\"command\": \"( env -i setsid sh -c 'echo $$; exec sleep 1000' & ); sleep 1000\"}");
    kill(spawner_of(s->worker), SIGKILL);
    assert_int_equal(wait_for_exit(s), 1);
    for (uint64_t id = 10; id <= 11; id++) {
        assert_int_equal(fake_result(s->server, id)->outcome, OUTCOME_STOPPED);
        assert_int_equal(fake_result(s->server, id)->code, POLL_CODE_SPAWNER_DIED);
    }
    assert_true(is_dead(plain) && is_dead(escaped));
}
