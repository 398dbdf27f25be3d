/* Commands from their start to their end. */
#include "worker/spawn/spawner_fixture_test.h"

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

/* The death of one with unread requests resets the connection; that is told before its words. */
TEST(what_a_killed_spawner_has_told_is_heard, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    pid_t pid = run_sh_for_pid(n, 1, "echo $$; exit 7");
    while (kill(pid, 0) == 0) /* until it was reaped; its end is told before the next request */
        clock_pause_us(1000);
    run_sh_for_pid(n, 2, "echo $$; exec sleep 1000");
    kill(spawner_pid(n->spawner), SIGSTOP);
    spawner_signal(n->spawner, 2, SIGTERM);
    kill(spawner_pid(n->spawner), SIGKILL);
    while (!is_dead(n, (uint64_t)spawner_pid(n->spawner))) /* without listening */
        clock_pause_us(1000);
    wait_for(n, is_gone, 0);
    assert_true(has_ended(n, 1));
    assert_int_equal(wait_for_end(n, 1), 7);
    struct err err;
    assert_int_equal(tmpdir_remove(n->tmp_dir, &err), RC_OK);
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
