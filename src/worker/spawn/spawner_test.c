/* Real processes. Nothing here waits for a fixed time: a test waits for what must happen, and
 * fails when it has not after PATIENCE_MS. */
#include "base/buf.h"

#include "base/test/test.h"
#include "loop/clock.h"
#include "worker/run/tmpdir.h"
#include "worker/spawn/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000, EVENTS_MAX = 4096 };

struct nursery {
    int64_t deadline_ms; /* of the commands that are run from now on; 0: none */
    uv_loop_t loop;
    uv_timer_t tick;
    struct spawner *spawner;
    char *tmp_dir;
    struct spawn_event events[EVENTS_MAX];
    size_t event_count;
    bool gone;
};

/* ---- the machinery */

static void on_event(void *arg, const struct spawn_event *event)
{
    struct nursery *n = arg;
    assert_true(n->event_count < EVENTS_MAX);
    n->events[n->event_count++] = *event;
}

static void on_gone(void *arg)
{
    struct nursery *n = arg;
    n->gone = true;
}

static void on_tick(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

static int open_nursery(void **state)
{
    struct nursery *n = calloc(1, sizeof(*n));
    n->tmp_dir = tmpdir_name("/tmp");
    assert_int_equal(spawner_new(n->tmp_dir, -1, &n->spawner, NULL), RC_OK);
    assert_int_equal(tmpdir_make(n->tmp_dir, NULL), RC_OK);
    uv_loop_init(&n->loop);
    uv_timer_init(&n->loop, &n->tick);
    uv_timer_start(&n->tick, on_tick, 5, 5);
    spawner_listen(n->spawner, &n->loop,
                   &(struct spawner_events){.on_event = on_event, .on_gone = on_gone, .arg = n});
    *state = n;
    return 0;
}

/* As a worker that goes away: closes its end of the socket, and nothing else. */
static void leave_nursery(struct nursery *n)
{
    pid_t pid = spawner_pid(n->spawner);
    spawner_free(n->spawner);
    n->spawner = NULL;
    uv_run(&n->loop, UV_RUN_NOWAIT);
    waitpid(pid, NULL, 0);
}

static int close_nursery(void **state)
{
    struct nursery *n = *state;
    if (n->spawner != NULL)
        leave_nursery(n);
    uv_close((uv_handle_t *)&n->tick, NULL);
    uv_run(&n->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&n->loop), 0);
    struct stat st;
    assert_int_equal(stat(n->tmp_dir, &st), -1);
    free(n->tmp_dir);
    free(n);
    return 0;
}

typedef bool condition(struct nursery *n, uint64_t arg);

static void wait_for(struct nursery *n, condition *holds, uint64_t arg)
{
    int64_t end_us = clock_mono_us() + PATIENCE_MS * INT64_C(1000);
    while (!holds(n, arg)) {
        assert_true(clock_mono_us() < end_us);
        uv_run(&n->loop, UV_RUN_ONCE);
    }
}

static const struct spawn_event *find_event(const struct nursery *n, uint64_t id,
                                            enum spawn_kind kind)
{
    for (size_t i = 0; i < n->event_count; i++) {
        if (n->events[i].id == id && n->events[i].kind == kind)
            return &n->events[i];
    }
    return NULL;
}

static bool has_ended(struct nursery *n, uint64_t id)
{
    return find_event(n, id, SPAWN_ENDED) != NULL;
}

/* The exit status, as the shell says it: 128 + signal when killed. */
static int wait_for_end(struct nursery *n, uint64_t id)
{
    wait_for(n, has_ended, id);
    int status = find_event(n, id, SPAWN_ENDED)->wait_status;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A zombie counts: whoever should reap it may be slow. */
static bool is_dead(struct nursery *n, uint64_t pid)
{
    (void)n;
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

/* Runs argv with its standard output and error in out_fd. */
static void run_argv(struct nursery *n, uint64_t id, char *const *argv, const char *working_dir,
                     int out_fd)
{
    char mark[SPAWN_MARK_MAX];
    char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    snprintf(mark, sizeof(mark), SPAWN_MARK "exec_%llu", (unsigned long long)id);
    char *env[] = {mark, path, NULL};
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    int stdio[3] = {null_fd, out_fd < 0 ? null_fd : out_fd, out_fd < 0 ? null_fd : out_fd};
    struct spawn_plan plan = {.working_dir = working_dir, .argv = argv, .env = env};
    struct err err;
    if (spawner_run(n->spawner, id, &plan, mark, stdio, n->deadline_ms, &err))
        fail_msg("%s", err.text);
    close(null_fd);
}

static void run_sh(struct nursery *n, uint64_t id, const char *script, int out_fd)
{
    char sh[] = "/bin/sh";
    char c[] = "-c";
    char *text = strdup(script);
    run_argv(n, id, (char *[]){sh, c, text, NULL}, NULL, out_fd);
    free(text);
}

/* What a script prints, until it ends. */
static void output_of(struct nursery *n, uint64_t id, const char *script, char *ret_text,
                      size_t size)
{
    int pair[2];
    assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
    run_sh(n, id, script, pair[1]);
    close(pair[1]);
    assert_int_equal(wait_for_end(n, id), 0);
    ssize_t len = read(pair[0], ret_text, size - 1);
    ret_text[len < 0 ? 0 : len] = '\0';
    close(pair[0]);
}

/* Runs a script that prints one process id, and waits for that line. */
static pid_t run_sh_for_pid(struct nursery *n, uint64_t id, const char *script)
{
    int pair[2];
    char line[32] = "";
    assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
    run_sh(n, id, script, pair[1]);
    close(pair[1]);
    assert_true(read(pair[0], line, sizeof(line) - 1) > 0);
    close(pair[0]);
    return (pid_t)strtol(line, NULL, 10);
}

static void expect_failure(struct nursery *n, char *program, const char *working_dir,
                           enum spawn_step step, int error)
{
    static uint64_t id = 1000;
    run_argv(n, ++id, (char *[]){program, NULL}, working_dir, -1);
    wait_for(n, has_ended, id);
    const struct spawn_event *failed = find_event(n, id, SPAWN_FAILED);
    assert_non_null(failed);
    assert_int_equal(failed->step, step);
    assert_int_equal(failed->error, error);
}

/* ---- starting */

TEST(a_command_ends_with_its_exit_code, open_nursery, close_nursery)
{
    run_sh(*state, 1, "exit 42", -1);
    assert_int_equal(wait_for_end(*state, 1), 42);
    assert_null(find_event(*state, 1, SPAWN_FAILED));
}

TEST(a_program_that_is_not_there_is_enoent, open_nursery, close_nursery)
{
    char by_path[] = "belfry-no-such-program";
    char by_name[] = "/nowhere/belfry-no-such-program";
    char empty[] = "";
    expect_failure(*state, by_path, NULL, SPAWN_STEP_EXEC, ENOENT);
    expect_failure(*state, by_name, NULL, SPAWN_STEP_EXEC, ENOENT);
    expect_failure(*state, empty, NULL, SPAWN_STEP_EXEC, ENOENT);
}

TEST(a_program_that_may_not_run_is_eacces, open_nursery, close_nursery)
{
    char not_executable[] = "/etc/passwd";
    char directory[] = "/tmp";
    expect_failure(*state, not_executable, NULL, SPAWN_STEP_EXEC, EACCES);
    expect_failure(*state, directory, NULL, SPAWN_STEP_EXEC, EACCES);
}

TEST(a_path_through_a_file_is_enotdir, open_nursery, close_nursery)
{
    char program[] = "/etc/passwd/program";
    expect_failure(*state, program, NULL, SPAWN_STEP_EXEC, ENOTDIR);
}

TEST(a_text_without_an_interpreter_is_enoexec, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    char path[256];
    snprintf(path, sizeof(path), "%s/text", n->tmp_dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    assert_int_equal(write(fd, "echo hi\n", 8), 8);
    close(fd);
    expect_failure(n, path, NULL, SPAWN_STEP_EXEC, ENOEXEC);
}

TEST(a_working_directory_that_is_not_there_is_reported_as_such, open_nursery, close_nursery)
{
    char program[] = "true";
    expect_failure(*state, program, "/nowhere", SPAWN_STEP_CHDIR, ENOENT);
}

TEST(a_command_runs_in_its_working_directory, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    char program[] = "sh";
    char c[] = "-c";
    char script[] = "test \"$(pwd)\" = /usr/bin";
    run_argv(n, 1, (char *[]){program, c, script, NULL}, "/usr/bin", -1);
    assert_int_equal(wait_for_end(n, 1), 0);
}

TEST(a_command_sees_three_descriptors_and_no_more, open_nursery, close_nursery)
{
    char text[256];
    output_of(*state, 1, "cd /proc/$$/fd; for f in *; do [ ! -e $f ] || echo $f; done", text,
              sizeof(text));
    assert_string_equal(text, "0\n1\n2\n");
}

TEST(a_command_leads_a_session_and_a_group_of_its_own, open_nursery, close_nursery)
{
    char text[256];
    output_of(*state, 1,
              "read -r pid name run parent group session rest </proc/$$/stat; "
              "[ $group = $$ ] && [ $session = $$ ] && echo yes",
              text, sizeof(text));
    assert_string_equal(text, "yes\n");
}

TEST(a_command_starts_with_default_signals, open_nursery, close_nursery)
{
    char text[256];
    output_of(*state, 1, "grep -E '^Sig(Blk|Ign):' /proc/self/status | tr -d '\\n\\t'", text,
              sizeof(text));
    assert_string_equal(text, "SigBlk:0000000000000000SigIgn:0000000000000000");
}

TEST(a_command_gets_exactly_the_environment_given, open_nursery, close_nursery)
{
    char text[256];
    output_of(*state, 1, "exec env", text, sizeof(text));
    assert_non_null(strstr(text, SPAWN_MARK "exec_1\n"));
    assert_non_null(strstr(text, "PATH=/usr/local/bin:/usr/bin:/bin\n"));
    assert_null(strstr(text, "HOME="));
}

TEST(usage_is_measured, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    run_sh(n, 1, "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done", -1);
    wait_for_end(n, 1);
    const struct spawn_event *ended = find_event(n, 1, SPAWN_ENDED);
    assert_true(ended->cpu_ms > 0);
    assert_true(ended->peak_memory_bytes > 100000);
}

TEST(hundreds_of_commands_all_end, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    enum { COMMANDS = 500 };
    for (uint64_t id = 1; id <= COMMANDS; id++)
        run_sh(n, id, id % 2 == 0 ? "exit 0" : "exit 1", -1);
    for (uint64_t id = 1; id <= COMMANDS; id++)
        assert_int_equal(wait_for_end(n, id), id % 2 == 0 ? 0 : 1);
    assert_int_equal(n->event_count, COMMANDS);
}

/* ---- starts that hang */

/* A program, `exit $1`, that nobody can open until the lease on it is given up: execve waits, as it
 * would for a dead file server. Returns what holds the lease. */
static int make_hanging_program(struct nursery *n, char path[256])
{
    static const char script[] = "#!/bin/sh\nexit $1\n";
    snprintf(path, 256, "%s/hangs", n->tmp_dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    assert_int_equal(write(fd, script, strlen(script)), strlen(script));
    close(fd);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    signal(SIGIO, SIG_IGN); /* somebody wants it: we know */
    if (fcntl(fd, F_SETLEASE, F_WRLCK) != 0)
        skip(); /* not every file system has leases */
    return fd;
}

static bool is_waited_for(struct nursery *n, uint64_t fd)
{
    (void)n;
    return fcntl((int)fd, F_GETLEASE) != F_WRLCK;
}

static void give_up(int fd)
{
    assert_int_equal(fcntl(fd, F_SETLEASE, F_UNLCK), 0);
    close(fd);
}

TEST(a_start_that_hangs_holds_up_nobody, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    char path[256];
    char codes[][2] = {"1", "2", "3"};
    int fd = make_hanging_program(n, path);
    for (uint64_t id = 1; id <= 3; id++)
        run_argv(n, id, (char *[]){path, codes[id - 1], NULL}, NULL, -1);
    wait_for(n, is_waited_for, (uint64_t)fd);
    for (uint64_t id = 4; id <= 20; id++)
        run_sh(n, id, "exit 42", -1);
    for (uint64_t id = 4; id <= 20; id++)
        assert_int_equal(wait_for_end(n, id), 42);
    for (uint64_t id = 1; id <= 3; id++)
        assert_false(has_ended(n, id));
    give_up(fd);
    for (uint64_t id = 1; id <= 3; id++) /* nobody has taken what was prepared for them */
        assert_int_equal(wait_for_end(n, id), (int)id);
}

TEST(a_start_that_hangs_can_be_ended, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    char path[256];
    int fd = make_hanging_program(n, path);
    run_argv(n, 1, (char *[]){path, NULL}, NULL, -1);
    wait_for(n, is_waited_for, (uint64_t)fd);
    spawner_signal(n->spawner, 1, SIGTERM);
    assert_int_equal(wait_for_end(n, 1), 128 + SIGTERM);
    run_sh(n, 2, "exit 42", -1);
    assert_int_equal(wait_for_end(n, 2), 42);
    give_up(fd);
}

/* ---- ending */

TEST(a_signal_reaches_the_whole_group, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    pid_t child = run_sh_for_pid(n, 1, "sleep 1000 & echo $!; wait");
    spawner_signal(n->spawner, 1, SIGTERM);
    assert_int_equal(wait_for_end(n, 1), 128 + SIGTERM);
    wait_for(n, is_dead, (uint64_t)child);
}

TEST(a_signal_right_behind_the_start_is_not_lost, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    for (uint64_t id = 1; id <= 50; id++) {
        run_sh(n, id, "sleep 1000", -1);
        spawner_signal(n->spawner, id, SIGTERM);
        assert_int_equal(wait_for_end(n, id), 128 + SIGTERM);
    }
}

TEST(a_command_that_ignores_term_is_killed, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    pid_t pid = run_sh_for_pid(n, 1, "trap '' TERM; echo $$; while :; do sleep 1000; done");
    spawner_signal(n->spawner, 1, SIGTERM);
    uv_run(&n->loop, UV_RUN_ONCE);
    assert_false(is_dead(n, (uint64_t)pid));
    spawner_signal(n->spawner, 1, SIGKILL);
    assert_int_equal(wait_for_end(n, 1), 128 + SIGKILL);
}

TEST(a_signal_to_a_command_that_ended_is_harmless, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    run_sh(n, 1, "exit 0", -1);
    wait_for_end(n, 1);
    spawner_signal(n->spawner, 1, SIGKILL);
    run_sh(n, 2, "exit 0", -1);
    assert_int_equal(wait_for_end(n, 2), 0);
}

TEST(a_group_does_not_outlive_its_leader, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    pid_t child = run_sh_for_pid(n, 1, "sleep 1000 & echo $!");
    assert_int_equal(wait_for_end(n, 1), 0);
    wait_for(n, is_dead, (uint64_t)child);
}

/* Prints the id of a process that has left session and group, and whose parent is gone. */
#define ESCAPE "( setsid sh -c 'echo $$; exec sleep 1000' & ) "

TEST(who_escapes_by_setsid_dies_with_the_command, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    pid_t escaped = run_sh_for_pid(n, 1, ESCAPE "; sleep 0.2");
    assert_int_equal(wait_for_end(n, 1), 0);
    wait_for(n, is_dead, (uint64_t)escaped);
}

/* As if its exec took that long: the mark is there only when the command has ended, and nobody's
 * death makes the spawner look again. */
TEST(who_shows_its_mark_too_late_dies_all_the_same, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    pid_t escaped = run_sh_for_pid(n, 1,
                                   "( setsid env -i was=\"$BELFRY_RUN\" sh -c 'echo $$; "
                                   "sleep 0.5; exec env BELFRY_RUN=$was sleep 1000' & ) ; "
                                   "sleep 0.2");
    assert_int_equal(wait_for_end(n, 1), 0);
    wait_for(n, is_dead, (uint64_t)escaped);
}

#define ESCAPE_BARE "( env -i setsid sh -c 'echo $$; exec sleep 1000' & ) "

TEST(who_clears_its_environment_dies_with_the_command, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    pid_t escaped = run_sh_for_pid(n, 1, ESCAPE_BARE "; sleep 0.2");
    assert_int_equal(wait_for_end(n, 1), 0);
    wait_for(n, is_dead, (uint64_t)escaped);
}

/* In a group of its own (timeout makes one), but in the session of the command. */
#define ESCAPE_GROUP "env -i timeout 1000 sh -c 'echo $$; exec sleep 1000' & "

TEST(who_stays_in_the_session_dies_with_the_command_beside_an_older_one, open_nursery,
     close_nursery)
{
    struct nursery *n = *state;
    pid_t older = run_sh_for_pid(n, 1, "echo $$; exec sleep 1000");
    pid_t escaped = run_sh_for_pid(n, 2, ESCAPE_GROUP "sleep 0.2");
    assert_int_equal(wait_for_end(n, 2), 0);
    wait_for(n, is_dead, (uint64_t)escaped);
    assert_false(is_dead(n, (uint64_t)older));
}

TEST(who_clears_its_environment_lives_as_long_as_its_own_command, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    pid_t escaped = run_sh_for_pid(n, 1, ESCAPE_BARE "; sleep 1000");
    run_sh(n, 2, "sleep 0.2", -1); /* some ticks of the clock that tells ages */
    assert_int_equal(wait_for_end(n, 2), 0);
    run_sh(n, 3, "sleep 1000", -1); /* younger than the stray */
    run_sh(n, 4, "sleep 0.5", -1);
    assert_int_equal(wait_for_end(n, 4), 0);
    assert_false(is_dead(n, (uint64_t)escaped));
    spawner_signal(n->spawner, 1, SIGKILL);
    wait_for(n, is_dead, (uint64_t)escaped);
}

TEST(who_escapes_lives_as_long_as_its_own_command, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    pid_t escaped = run_sh_for_pid(n, 1, ESCAPE "; sleep 1000");
    run_sh(n, 2, "exit 0", -1);
    assert_int_equal(wait_for_end(n, 2), 0);
    run_sh(n, 3, "exit 0", -1); /* what 2 left behind has been looked for when 3 ends */
    assert_int_equal(wait_for_end(n, 3), 0);
    assert_false(is_dead(n, (uint64_t)escaped));
    spawner_signal(n->spawner, 1, SIGKILL);
    wait_for(n, is_dead, (uint64_t)escaped);
}

TEST(a_deadline_kills_its_own_command_and_says_so, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    run_sh(n, 1, "sleep 1000", -1);
    n->deadline_ms = clock_boot_ms() + 3600000;
    run_sh(n, 2, "sleep 1000", -1);
    n->deadline_ms = clock_boot_ms() + 50;
    run_sh(n, 3, "trap '' TERM; sleep 1000", -1);
    assert_int_equal(wait_for_end(n, 3), 128 + SIGKILL);
    assert_true(find_event(n, 3, SPAWN_ENDED)->overdue);
    n->deadline_ms = 0;
    run_sh(n, 4, "kill -KILL $$", -1); /* by itself */
    assert_int_equal(wait_for_end(n, 4), 128 + SIGKILL);
    assert_false(find_event(n, 4, SPAWN_ENDED)->overdue);
    assert_false(has_ended(n, 1) || has_ended(n, 2));
}

TEST(a_deadline_that_is_moved_kills_later, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    n->deadline_ms = clock_boot_ms() + 2000; /* a machine may stand still for a second */
    run_sh(n, 1, "sleep 1000", -1);
    int64_t moved_ms = n->deadline_ms + 500;
    spawner_set_deadline(n->spawner, 1, moved_ms);
    assert_int_equal(wait_for_end(n, 1), 128 + SIGKILL);
    assert_true(clock_boot_ms() >= moved_ms);
    assert_true(find_event(n, 1, SPAWN_ENDED)->overdue);
}

TEST(a_command_that_comes_after_its_deadline_is_killed_at_once, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    n->deadline_ms = clock_boot_ms() - 1;
    run_sh(n, 1, "sleep 1000", -1);
    assert_int_equal(wait_for_end(n, 1), 128 + SIGKILL);
}

/* ---- the worker goes */

TEST(nothing_outlives_the_worker, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    pid_t plain = run_sh_for_pid(n, 1, "trap '' TERM HUP; echo $$; while :; do sleep 1000; done");
    pid_t escaped = run_sh_for_pid(n, 2, ESCAPE "; sleep 1000");
    pid_t unmarked = run_sh_for_pid(
        n, 3, "( env -i setsid sh -c 'echo $$; sleep 1000; sleep 1000' & ) ; sleep 1000");
    run_sh(n, 4, "mkdir -p $0/a/b", -1);
    leave_nursery(n);
    assert_true(is_dead(n, (uint64_t)plain));
    assert_true(is_dead(n, (uint64_t)escaped));
    assert_true(is_dead(n, (uint64_t)unmarked));
}

TEST(the_temporary_directory_goes_with_the_worker, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    char script[512];
    snprintf(script, sizeof(script),
             "cd %s && mkdir -p a/b/c locked/inner && touch a/1 a/b/c/2 locked/inner/3 && "
             "ln -s /etc etc && mkfifo pipe && chmod 0 locked/inner locked",
             n->tmp_dir);
    run_sh(n, 1, script, -1);
    assert_int_equal(wait_for_end(n, 1), 0);
    leave_nursery(n);
    struct stat st;
    assert_int_equal(stat(n->tmp_dir, &st), -1);
    assert_int_equal(stat("/etc/passwd", &st), 0);
}

static bool is_gone(struct nursery *n, uint64_t arg)
{
    (void)arg;
    return n->gone;
}

TEST(commands_do_not_outlive_a_killed_spawner, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    pid_t pid = run_sh_for_pid(n, 1, "echo $$; exec sleep 1000");
    kill(spawner_pid(n->spawner), SIGKILL);
    wait_for(n, is_gone, 0);
    wait_for(n, is_dead, (uint64_t)pid);
    char sh[] = "sh";
    struct spawn_plan plan = {.argv = (char *[]){sh, NULL}, .env = (char *[]){NULL}};
    struct err err;
    assert_int_equal(
        spawner_run(n->spawner, 2, &plan, SPAWN_MARK "exec_2", (int[]){0, 1, 2}, 0, &err),
        RC_SHUTDOWN);
    assert_int_equal(tmpdir_remove(n->tmp_dir, &err), RC_OK); /* nobody is left to do it */
}

TEST(the_spawner_is_deaf_to_signals, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < COUNT_OF(signals); i++)
        kill(spawner_pid(n->spawner), signals[i]);
    run_sh(n, 1, "exit 7", -1);
    assert_int_equal(wait_for_end(n, 1), 7);
    assert_int_not_equal(getpgid(spawner_pid(n->spawner)), getpgrp());
}
