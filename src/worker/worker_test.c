/* The whole worker, as a process of its own, against a fake server. */
#include "base/log.h"
#include "worker/link/fake_server_test.h"
#include "worker/spawn/tmpdir.h"
#include "worker/worker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 4 };

struct site {
    uv_loop_t loop;
    struct fake_server *server;
    char dir[64]; /* root of the worker's temporary files, and home of the lock */
    char lock_path[128];
    char id_path[128]; /* who holds it, for the servers */
    int64_t drain_timeout_ms;
    pid_t worker; /* 0: none */
};

/* ---- the machinery */

static pid_t fork_worker(struct site *s)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    struct worker_options options = {
        .url = str_c(s->server->url),
        .token = STR("key"),
        .name = STR("test"),
        .slots = SLOTS,
        .lock_path = s->lock_path,
        .tmp_root = s->dir,
        .drain_timeout_ms = s->drain_timeout_ms,
    };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    log_set_level(LOG_ERROR);
    _exit(worker_main(&options));
}

static int set_up(void **state)
{
    struct site *s = MEM_NEW(struct site);
    snprintf(s->dir, sizeof(s->dir), "/tmp/belfry-test-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    snprintf(s->lock_path, sizeof(s->lock_path), "%s/lock", s->dir);
    snprintf(s->id_path, sizeof(s->id_path), "%s/lock.id", s->dir);
    s->drain_timeout_ms = WORKER_DRAIN_TIMEOUT_MS;
    uv_loop_init(&s->loop);
    s->server = fake_new(&s->loop);
    s->server->welcome.kill_grace_ms = 300;
    *state = s;
    return 0;
}

/* Apart from set_up, so that a test can choose other settings first. */
static void start(struct site *s)
{
    s->worker = fork_worker(s);
    FAKE_WAIT(s->server, s->server->parked != NULL);
}

static bool has_exited(struct site *s, int *ret_code)
{
    int status;
    if (waitpid(s->worker, &status, WNOHANG) != s->worker)
        return false;
    s->worker = 0;
    *ret_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

static int wait_for_exit(struct site *s)
{
    int code = -1;
    FAKE_WAIT(s->server, has_exited(s, &code));
    return code;
}

/* How many temporary directories of workers there are. */
static size_t count_tmp(const struct site *s)
{
    size_t count = 0;
    DIR *dir = opendir(s->dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += strncmp(entry->d_name, "belfry-worker-", 14) == 0;
    closedir(dir);
    return count;
}

static void remove_tmp(const struct site *s)
{
    DIR *dir = opendir(s->dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[512];
        struct err err;
        snprintf(path, sizeof(path), "%s/%s", s->dir, entry->d_name);
        if (strncmp(entry->d_name, "belfry-worker-", 14) == 0)
            tmpdir_remove(path, &err); /* may be going already, by its own spawner */
    }
    closedir(dir);
}

static int tear_down(void **state)
{
    struct site *s = *state;
    if (s->worker != 0) {
        kill(s->worker, SIGKILL);
        wait_for_exit(s);
    }
    FAKE_WAIT(s->server, count_tmp(s) == 0); /* whatever happened */
    unlink(s->lock_path);
    unlink(s->id_path);
    assert_int_equal(rmdir(s->dir), 0);
    fake_free(s->server);
    assert_int_equal(uv_loop_close(&s->loop), 0);
    free(s);
    return 0;
}

static bool is_dead(pid_t pid)
{
    char path[64];
    char text[512] = "";
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return true;
    ssize_t len = read(fd, text, sizeof(text) - 1);
    close(fd);
    const char *after_name = len > 0 ? strrchr(text, ')') : NULL;
    return after_name == NULL || after_name[2] == 'Z' || after_name[2] == 'X';
}

/* Runs a command that prints the id of a process and goes on; waits for it. */
static pid_t lease_for_pid(struct site *s, uint64_t exec_id, const char *spec)
{
    size_t before = s->server->log.len;
    fake_lease(s->server, exec_id, 1, spec, "");
    FAKE_WAIT(s->server, s->server->log.len > before);
    char line[32] = "";
    memcpy(line, s->server->log.ptr + before,
           s->server->log.len - before < 31 ? s->server->log.len - before : 31);
    return (pid_t)strtol(line, NULL, 10);
}

#define ENDLESS "{\"command\": \"echo $$; exec sleep 1000\"}"
#define STUBBORN "{\"command\": \"trap '' TERM; echo $$; while :; do sleep 1000; done\"}"

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

static pid_t spawner_of(pid_t worker)
{
    char path[64];
    char text[64] = "";
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)worker, (int)worker);
    int fd = open(path, O_RDONLY);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    close(fd);
    return (pid_t)strtol(text, NULL, 10);
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
