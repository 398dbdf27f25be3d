/* Processes that commands leave behind. */
#include "worker/spawn/spawner_fixture_test.h"

TEST(a_group_does_not_outlive_its_leader, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    pid_t child = run_sh_for_pid(n, 1, "sleep 1000 & echo $!");
    assert_int_equal(wait_for_end(n, 1), 0);
    wait_for(n, is_dead, (uint64_t)child);
}

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

/* ---- many ends at once */

enum { CROWD = 300 };

/* Runs commands that print their ids and wait for a line from the pipe with this name; waits for
 * all of them. */
static void run_crowd(struct nursery *n, const char *gate, pid_t ret_pids[CROWD])
{
    char script[256];
    int pair[2];
    assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
    snprintf(script, sizeof(script), "echo $$; read line <%s", gate);
    for (uint64_t id = 0; id < CROWD; id++)
        run_sh(n, 100 + id, script, pair[1]);
    close(pair[1]);
    FILE *lines = fdopen(pair[0], "r");
    for (size_t i = 0; i < CROWD; i++) {
        char line[32];
        assert_non_null(fgets(line, sizeof(line), lines));
        ret_pids[i] = (pid_t)strtol(line, NULL, 10);
    }
    assert_int_equal(fclose(lines), 0);
}

/* Lets all that wait at the gate end, in any order. */
static void open_gate(struct nursery *n, int gate_fd, const pid_t pids[CROWD], pid_t first)
{
    for (size_t i = 0; i <= CROWD; i++)
        assert_int_equal(write(gate_fd, "\n", 1), 1);
    for (size_t i = 0; i < CROWD; i++)
        wait_for(n, is_dead, (uint64_t)pids[i]);
    wait_for(n, is_dead, (uint64_t)first);
}

/* The spawner stands still until all have ended, and finds them at once. The first is reaped first.
 * */
TEST(strays_are_found_however_many_commands_end_at_once, open_nursery, close_nursery)
{
    struct nursery *n = *state;
    char gate[64];
    char script[256];
    pid_t pids[CROWD];
    snprintf(gate, sizeof(gate), "%s.gate", n->tmp_dir);
    assert_int_equal(mkfifo(gate, 0600), 0);
    int gate_fd = open(gate, O_RDWR | O_CLOEXEC);
    pid_t older = run_sh_for_pid(n, 1, "echo $$; exec sleep 1000");
    snprintf(script, sizeof(script), ESCAPE_GROUP "read line <%s", gate);
    pid_t escaped = run_sh_for_pid(n, 2, script);
    pid_t first = getsid(escaped);
    run_crowd(n, gate, pids);
    kill(spawner_pid(n->spawner), SIGSTOP);
    open_gate(n, gate_fd, pids, first);
    kill(spawner_pid(n->spawner), SIGCONT);
    wait_for(n, is_dead, (uint64_t)escaped);
    assert_false(is_dead(n, (uint64_t)older));
    close(gate_fd);
    assert_int_equal(unlink(gate), 0);
}
