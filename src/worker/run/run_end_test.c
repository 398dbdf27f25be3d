#include "worker/run/run_end.h"

#include "base/test/test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#define EXITED(code) ((code) << 8) /* as wait(2) says it */

static void expect(const struct run_end *end, enum outcome outcome, const char *error)
{
    CLEANUP(buf_free) struct buf text = BUF(POLL_ERROR_BYTES_MAX);
    assert_int_equal(run_end_judge(end, &text), outcome);
    buf_add_char(&text, '\0');
    assert_string_equal(text.ptr, error);
}

TEST(exit_codes_decide)
{
    struct run_end end = {.started = true};
    expect(&end, OUTCOME_SUCCEEDED, "");
    end.wait_status = EXITED(3);
    expect(&end, OUTCOME_FAILED, "exit code 3");
    end.wait_status = EXITED(75);
    expect(&end, OUTCOME_FAILED, "exit code 75 (asks for a retry)");
    end.wait_status = EXITED(78);
    expect(&end, OUTCOME_PERMANENT, "exit code 78 (permanent)");
}

TEST(a_signal_is_called_by_its_name)
{
    struct run_end end = {.started = true, .wait_status = SIGKILL};
    struct usage usage = {0};
    expect(&end, OUTCOME_FAILED, "killed by signal 9 (SIGKILL)");
    run_end_usage(&end, &usage);
    assert_int_equal(usage.signal, 9);
    assert_int_equal(usage.exit_code, -1);
    end.wait_status = 40; /* a real-time signal */
    expect(&end, OUTCOME_FAILED, "killed by signal 40");
}

TEST(a_kill_for_memory_is_called_so)
{
    struct run_end end = {.started = true, .wait_status = SIGKILL, .oom_killed = true};
    expect(&end, OUTCOME_FAILED, "killed by signal 9 (SIGKILL): out of memory");
    assert_int_equal(run_end_classify(&end, OUTCOME_FAILED).class, FAILURE_OUT_OF_MEMORY);
    end.oom_killed = false;
    assert_int_equal(run_end_classify(&end, OUTCOME_FAILED).class, FAILURE_KILLED);
    end.cut = RUN_CUT_LOST; /* that one was ours */
    assert_int_equal(run_end_classify(&end, OUTCOME_RETURNED).class, FAILURE_NONE);
}

TEST(what_cannot_be_run_is_of_a_permanent_class)
{
    struct run_end end = {.started = true,
                          .step = SPAWN_STEP_EXEC,
                          .error = ENOENT,
                          .program = STR("foo"),
                          .working_dir = STR("/srv/x"),
                          .wait_status = EXITED(127)};
    struct usage usage = {0};
    expect(&end, OUTCOME_FAILED, "cannot run 'foo': no such file or directory");
    assert_int_equal(run_end_classify(&end, OUTCOME_FAILED).class, FAILURE_NOT_FOUND);
    assert_int_equal(run_end_classify(&end, OUTCOME_FAILED).permanent, PERMANENT_BY_CLASS);
    run_end_usage(&end, &usage);
    assert_int_equal(usage.exit_code, 127); /* as a shell has it */
    end.error = EACCES;
    run_end_usage(&end, &usage);
    assert_int_equal(usage.exit_code, 126);
    expect(&end, OUTCOME_FAILED, "cannot run 'foo': permission denied");
    end.step = SPAWN_STEP_CHDIR;
    expect(&end, OUTCOME_FAILED, "cannot enter '/srv/x': permission denied");
    assert_int_equal(run_end_classify(&end, OUTCOME_FAILED).class, FAILURE_PERMISSION);
    run_end_usage(&end, &usage);
    assert_int_equal(usage.exit_code, -1); /* nothing ran that could have exited */
}

TEST(what_may_work_later_is_not_permanent)
{
    struct run_end end = {
        .started = true, .step = SPAWN_STEP_EXEC, .error = ENOMEM, .program = STR("foo")};
    expect(&end, OUTCOME_FAILED, "cannot run 'foo': cannot allocate memory");
    assert_int_equal(run_end_classify(&end, OUTCOME_FAILED).class, FAILURE_OUT_OF_MEMORY);
    end.step = SPAWN_STEP_FORK;
    end.error = EAGAIN;
    assert_int_equal(run_end_classify(&end, OUTCOME_FAILED).permanent, PERMANENT_NO);
    expect(&end, OUTCOME_FAILED, "cannot start a process: resource temporarily unavailable");
}

TEST(the_reason_to_end_it_outranks_how_it_ended)
{
    struct run_end end = {.started = true,
                          .cut = RUN_CUT_TIMEOUT,
                          .timeout_ms = 90000,
                          .reason = STR("cancelled by key:admin")};
    expect(&end, OUTCOME_TIMEOUT, "timed out after 1m30s");
    end.cut = RUN_CUT_STOPPED;
    expect(&end, OUTCOME_STOPPED, "cancelled by key:admin");
    end.cut = RUN_CUT_RETURNED;
    expect(&end, OUTCOME_RETURNED, "ended because its worker is leaving");
}

TEST(commands_that_died_with_the_spawner_are_told_from_those_that_had_not_started)
{
    struct run_end end = {.started = true, .cut = RUN_CUT_BROKEN, .wait_status = SIGKILL};
    expect(&end, OUTCOME_STOPPED,
           "the worker's spawner process died, and every command of the worker with it");
    assert_int_equal(run_end_code(&end, OUTCOME_STOPPED), POLL_CODE_SPAWNER_DIED);
    end.started = false;
    expect(&end, OUTCOME_RETURNED, "not started: the worker's spawner process had died");
    assert_int_equal(run_end_code(&end, OUTCOME_RETURNED), POLL_CODE_NONE);
}

TEST(who_exits_before_a_lost_lease_kills_it_has_ended_by_itself)
{
    struct run_end end = {.started = true, .cut = RUN_CUT_LOST, .wait_status = SIGKILL};
    expect(&end, OUTCOME_RETURNED, "killed because its lease could not be renewed in time");
    end.wait_status = EXITED(0);
    expect(&end, OUTCOME_SUCCEEDED, "");
    end.started = false;
    expect(&end, OUTCOME_RETURNED, "killed because its lease could not be renewed in time");
}
