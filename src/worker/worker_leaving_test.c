/* How a worker ends: by a drain, a signal, for want of a server, or because another has its lock. */
#include "worker/worker_fixture_test.h"

/* ---- leaving */

TEST(a_drain_lets_commands_finish, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    lease_for_pid(s, 10, "{\"command\": \"echo $$; sleep 0.5\"}");
    kill(s->worker, SIGTERM);
    assert_int_equal(wait_for_exit(s), 0);
    assert_int_equal(fake_result(s->server, 10)->outcome, OUTCOME_SUCCEEDED);
    assert_int_equal(s->server->poll.free, 0);
    assert_int_equal(count_tmp(s), 0);
}

TEST(what_does_not_finish_in_time_is_given_back, set_up, tear_down)
{
    struct site *s = *state;
    s->drain_timeout_ms = 100;
    start(s);
    pid_t pid = lease_for_pid(s, 10, STUBBORN);
    kill(s->worker, SIGTERM);
    assert_int_equal(wait_for_exit(s), 0);
    assert_int_equal(fake_result(s->server, 10)->outcome, OUTCOME_RETURNED);
    assert_true(is_dead(pid));
}

TEST(a_second_term_leaves_at_once, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    pid_t pid = lease_for_pid(s, 10, STUBBORN);
    kill(s->worker, SIGTERM);
    FAKE_WAIT(s->server, s->server->poll.free == 0);
    kill(s->worker, SIGTERM);
    assert_int_equal(wait_for_exit(s), 1);
    assert_true(is_dead(pid));
    assert_int_equal(count_tmp(s), 0);
}

TEST(hang_ups_are_ignored, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    kill(s->worker, SIGHUP);
    fake_lease(s->server, 10, 1, "{\"command\": [\"true\"]}", "");
    FAKE_WAIT(s->server, fake_result(s->server, 10) != NULL);
}

TEST(the_server_may_drain_it, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    s->server->drain = true;
    fake_unpark(s->server);
    assert_int_equal(wait_for_exit(s), 0);
}

TEST(without_a_server_there_is_nothing_to_wait_for, set_up, tear_down)
{
    struct site *s = *state;
    s->server->poll_status = 503;
    s->worker = fork_worker(s);
    FAKE_WAIT(s->server, s->server->polls > 1);
    kill(s->worker, SIGTERM);
    int64_t begin_us = clock_mono_us();
    assert_int_equal(wait_for_exit(s), 0);
    assert_true(clock_mono_us() - begin_us < 5000000);
}

TEST(a_spawner_that_is_stopped_is_woken, set_up, tear_down)
{
    struct site *s = *state;
    s->drain_timeout_ms = 100;
    start(s);
    pid_t pid = lease_for_pid(s, 10, STUBBORN);
    kill(spawner_of(s->worker), SIGSTOP);
    fake_lease(s->server, 11, 1, "{\"command\": [\"true\"]}", "");
    FAKE_WAIT(s->server, fake_result(s->server, 11) != NULL);
    kill(spawner_of(s->worker), SIGSTOP);
    kill(s->worker, SIGTERM);
    assert_int_equal(wait_for_exit(s), 0);
    assert_int_equal(fake_result(s->server, 10)->outcome, OUTCOME_RETURNED);
    assert_true(is_dead(pid));
}

/* Also reaps the spawner for us, who trace it: its parent does not see its end before. */
static bool has_exited_traced(struct site *s, pid_t spawner, int *ret_code)
{
    waitpid(spawner, NULL, WNOHANG | __WALL);
    return has_exited(s, ret_code);
}

TEST(a_spawner_that_cannot_be_woken_does_not_keep_the_worker, set_up, tear_down)
{
    struct site *s = *state;
    int code = -1;
    s->drain_timeout_ms = 100;
    start(s);
    pid_t pid = lease_for_pid(s, 10, STUBBORN);
    pid_t spawner = spawner_of(s->worker);
    if (ptrace(PTRACE_SEIZE, spawner, NULL, NULL) != 0)
        skip(); /* no right to */
    assert_int_equal(ptrace(PTRACE_INTERRUPT, spawner, NULL, NULL), 0);
    kill(s->worker, SIGTERM);
    FAKE_WAIT(s->server, has_exited_traced(s, spawner, &code));
    assert_int_equal(code, 1);
    assert_true(is_dead(pid));
}

TEST(results_are_offered_for_as_long_as_they_may_be_taken, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    lease_for_pid(s, 10, "{\"command\": \"echo $$; sleep 1\"}");
    FAKE_WAIT(s->server, fake_holds(s->server, 10) && s->server->parked != NULL);
    s->server->poll_status = 503;
    kill(s->worker, SIGTERM);
    int64_t begin_ms = fake_clock_ms(s->server);
    FAKE_WAIT(s->server,
              fake_clock_ms(s->server) - begin_ms > 13000); /* it used to go after 10 s */
    s->server->poll_status = 0;
    assert_int_equal(wait_for_exit(s), 0);
    assert_int_equal(fake_result(s->server, 10)->outcome, OUTCOME_SUCCEEDED);
}

/* While its checkpoint is refused it waits, longer than commands are waited for. */
TEST(a_result_is_told_also_when_its_checkpoint_waits, set_up, tear_down)
{
    struct site *s = *state;
    s->drain_timeout_ms = 1000;
    s->server->welcome.checkpoint_bytes_max = 1000;
    s->server->welcome.checkpoint_ms = 60000; /* no look before the end */
    s->server->checkpoint_status = 503;
    start(s);
    lease_for_pid(
        s, 10, "{\"command\": \"echo $$; sleep 0.5; echo 1 >$BELFRY_CHECKPOINT_FILE; exit 78\"}");
    kill(s->worker, SIGTERM);
    assert_int_equal(wait_for_exit(s), 0);
    assert_int_equal(fake_result(s->server, 10)->outcome, OUTCOME_PERMANENT);
}

TEST(results_that_nobody_takes_do_not_keep_it_for_ever, set_up, tear_down)
{
    struct site *s = *state;
    s->server->welcome.lease_ms = 8000;
    s->server->welcome.outage_grace_ms = 4000;
    start(s);
    lease_for_pid(s, 10, "{\"command\": \"echo $$; sleep 0.1\"}");
    s->server->poll_status = 503;
    kill(s->worker, SIGTERM);
    assert_int_equal(wait_for_exit(s), 0);
}

/* ---- the lock */

TEST(without_its_lock_file_it_leaves, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    lease_for_pid(s, 10, "{\"command\": \"echo $$; sleep 0.5\"}");
    unlink(s->lock_path);
    assert_int_equal(wait_for_exit(s), 0);
    assert_int_equal(fake_result(s->server, 10)->outcome, OUTCOME_SUCCEEDED);
}

TEST(when_its_lock_file_was_replaced_it_leaves, set_up, tear_down)
{
    struct site *s = *state;
    char other[160];
    start(s);
    snprintf(other, sizeof(other), "%s.other", s->lock_path);
    close(open(other, O_WRONLY | O_CREAT, 0600));
    assert_int_equal(rename(other, s->lock_path), 0);
    assert_int_equal(wait_for_exit(s), 0);
}

TEST(without_a_server_and_without_work_it_leaves_in_the_end, set_up, tear_down)
{
    struct site *s = *state;
    s->server->welcome.forget_ms = 1000;
    start(s);
    lease_for_pid(s, 10, "{\"command\": \"echo $$; sleep 0.5\"}");
    FAKE_WAIT(s->server, fake_result(s->server, 10) != NULL && s->server->parked != NULL);
    s->server->poll_status = 503;
    fake_unpark(s->server);
    assert_int_equal(wait_for_exit(s), 0);
}

/* Started by a process that dies, with the address of a server that is not there. */
static pid_t fork_orphan(struct site *s)
{
    int fds[2];
    pid_t pid = 0;
    assert_int_equal(pipe(fds), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* so that it can be waited for */
    pid_t starter = fork();
    if (starter == 0) {
        pid = fork();
        if (pid != 0) {
            (void)!write(fds[1], &pid, sizeof(pid));
            pause();
        }
        struct worker_options options = {
            .url = STR("http://127.0.0.1:1"),
            .token = STR("key"),
            .name = STR("test"),
            .slots = SLOTS,
            .lock_path = s->lock_path,
            .tmp_root = s->dir,
            .drain_timeout_ms = s->drain_timeout_ms,
        };
        log_set_level(LOG_ERROR);
        _exit(worker_main(&options));
    }
    assert_int_equal(read(fds[0], &pid, sizeof(pid)), sizeof(pid));
    FAKE_WAIT(s->server, count_tmp(s) == 1); /* it is at work */
    kill(starter, SIGKILL);
    assert_int_equal(waitpid(starter, NULL, 0), starter);
    close(fds[0]);
    close(fds[1]);
    return pid;
}

TEST(one_whose_server_died_before_they_met_leaves_soon, set_up, tear_down)
{
    struct site *s = *state;
    s->worker = fork_orphan(s);
    assert_int_equal(wait_for_exit(s), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(a_second_worker_finds_the_lock_held_and_leaves_quietly, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    pid_t first = s->worker;
    s->worker = fork_worker(s);
    assert_int_equal(wait_for_exit(s), 0);
    s->worker = first;
    assert_int_equal(s->server->registrations, 1);
    char text[32] = "";
    int fd = open(s->lock_path, O_RDONLY);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    close(fd);
    assert_int_equal(strtol(text, NULL, 10), first);
}

TEST(a_successor_waits_until_the_dead_workers_commands_are_gone, set_up, tear_down)
{
    struct site *s = *state;
    start(s);
    pid_t pid = lease_for_pid(s, 10, ENDLESS);
    kill(s->worker, SIGKILL);
    assert_int_equal(wait_for_exit(s), 128 + SIGKILL);
    s->worker = fork_worker(s);
    FAKE_WAIT(s->server, s->server->registrations == 2 && s->server->parked != NULL);
    assert_true(is_dead(pid));
}
