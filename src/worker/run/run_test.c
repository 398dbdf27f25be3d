/* Attempts with a real spawner and real processes; the output goes to a fake server. */
#include "worker/run/run_fixture_test.h"

#include <signal.h>
#include <sys/stat.h>

/* ---- output and result */

TEST(output_and_result_arrive, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s,
                "{\"command\": \"echo out; echo err >&2; echo ' {\\\"rows\\\": 12} ' > "
                "$BELFRY_RESULT_FILE\"}",
                "");
    stage_finish(s);
    stage_expect(s, OUTCOME_SUCCEEDED, "");
    assert_string_equal(s->result.result.ptr, "{\"rows\": 12}");
    assert_int_equal(s->result.usage.exit_code, 0);
    assert_int_equal(s->result.usage.output_bytes, 8);
    assert_int_equal(s->result.usage.log_seq, 2);
    assert_true(fake_printed(s->server, "out\n"));
    assert_true(fake_printed(s->server, "err\n"));
}

TEST(the_payload_is_file_and_standard_input, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s, "{\"command\": \"cat; cat $BELFRY_PAYLOAD_FILE\"}", "{\"any\":1}");
    stage_finish(s);
    assert_true(fake_printed(s->server, "{\"any\":1}{\"any\":1}"));
}

TEST(without_a_payload_standard_input_is_empty, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s, "{\"command\": \"cat; test ! -s $BELFRY_PAYLOAD_FILE\"}", "");
    stage_finish(s);
    stage_expect(s, OUTCOME_SUCCEEDED, "");
}

TEST(the_environment_is_as_promised, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s,
                "{\"command\": [\"env\"], \"timeout\": \"1h\", "
                "\"env\": {\"MODE\": \"full\", \"BELFRY_ATTEMPT\": \"99\"}}",
                "");
    stage_finish(s);
    assert_true(fake_printed(s->server, "BELFRY_JOB_ID=job_0000000000007\n"));
    assert_true(fake_printed(s->server, "BELFRY_EXECUTION_ID=exec_"));
    assert_true(fake_printed(s->server, "BELFRY_RUN=exec_"));
    assert_true(fake_printed(s->server, "BELFRY_ATTEMPT=2\n"));
    assert_true(fake_printed(s->server, "BELFRY_TOKEN_FENCE=3\n"));
    assert_true(fake_printed(s->server, "BELFRY_SLOT=2026-11-16T08:00:00.000Z\n"));
    assert_true(fake_printed(s->server, "BELFRY_DEADLINE=2"));
    assert_true(fake_printed(s->server, "BELFRY_CHECKPOINT_FILE=/"));
    assert_true(fake_printed(s->server, "TRACEPARENT=00-"));
    assert_true(fake_printed(s->server, "MODE=full\n"));
    assert_true(fake_printed(s->server, "PATH=/usr/local/bin:/usr/bin:/bin\n"));
    assert_false(fake_printed(s->server, "secret"));
    assert_false(fake_printed(s->server, "BELFRY_ATTEMPT=99"));
}

TEST(arguments_are_passed_as_they_are, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s, "{\"command\": [\"printf\", \"<%s>\", \"a b\", \"\", \"$HOME;*\"]}", "");
    stage_finish(s);
    assert_true(fake_printed(s->server, "<a b><><$HOME;*>"));
}

TEST(a_result_that_is_no_json_is_dropped_with_a_note, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s, "{\"command\": \"echo {oops > $BELFRY_RESULT_FILE\"}", "");
    stage_finish(s);
    stage_expect(s, OUTCOME_SUCCEEDED, "");
    assert_int_equal(s->result.result.len, 0);
    assert_true(fake_noted(s->server, "the result was dropped: line 1"));
}

TEST(a_result_that_is_too_large_or_no_file_is_dropped, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s, "{\"command\": \"head -c 300000 /dev/zero > $BELFRY_RESULT_FILE\"}", "");
    stage_finish(s);
    assert_true(fake_noted(s->server, "the result was dropped: 300000 bytes"));
    stage_start(s, "{\"command\": \"mkfifo $BELFRY_RESULT_FILE\"}", "");
    stage_finish(s);
    assert_true(fake_noted(s->server, "the result was dropped: it is not a file"));
    stage_expect(s, OUTCOME_SUCCEEDED, "");
}

TEST(nothing_is_left_in_the_directory, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    struct stat st;
    char path[512];
    stage_start(
        s, "{\"command\": \"cd $(dirname $BELFRY_RESULT_FILE) && mkdir -p a/b && touch a/b/c\"}",
        "");
    char id[ID_TEXT_MAX];
    id_format(id, ID_EXEC, run_exec_id(s->run));
    snprintf(path, sizeof(path), "%s/%s-3", s->tmp_dir, id);
    assert_int_equal(stat(path, &st), 0);
    stage_finish(s);
    FAKE_WAIT(s->server, stat(path, &st) != 0);
}

TEST(a_long_output_is_cut_in_the_middle, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(
        s, "{\"command\": \"echo BEGIN; head -c 8000000 /dev/zero | tr '\\\\0' x; echo END\"}", "");
    stage_finish(s);
    stage_expect(s, OUTCOME_SUCCEEDED, "");
    assert_true(fake_printed(s->server, "BEGIN\n"));
    assert_true(fake_printed(s->server, "END\n"));
    assert_true(fake_noted(s->server, " bytes were dropped here\n"));
    assert_int_equal(s->result.usage.output_bytes, 8000010);
    assert_int_equal(s->server->log.len + (size_t)s->result.usage.dropped_bytes, 8000010);
    assert_true(s->server->log.len <= 1 << 20);
}

TEST(a_server_that_does_not_take_output_stops_the_writer, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    s->host.output_bytes_max = 16 << 20;
    s->server->hold_logs = true;
    stage_start(s, "{\"command\": \"head -c 8000000 /dev/zero; echo END\"}", "");
    FAKE_WAIT(s->server, s->server->held_log != NULL);
    for (int i = 0; i < 50; i++)
        uv_run(&s->loop, UV_RUN_DEFAULT);
    assert_non_null(s->run); /* it waits in write(2) */
    fake_release_log(s->server);
    stage_finish(s);
    stage_expect(s, OUTCOME_SUCCEEDED, "");
    assert_int_equal(s->server->log.len, 8000004);
}

/* The fake takes output from worker 1 only, as the real one would. */
TEST(output_is_sent_in_the_name_of_whom_the_lease_was_given_to, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s, "{\"command\": \"echo before; sleep 0.2; echo after\"}", "");
    s->host.worker_id = 2; /* registered again meanwhile */
    stage_finish(s);
    assert_true(fake_printed(s->server, "before\n"));
    assert_true(fake_printed(s->server, "after\n"));
}

TEST(what_the_server_refuses_does_not_hold_up_the_rest, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    s->host.worker_id = 2;
    stage_start(s, "{\"command\": \"echo nobody hears\"}", "");
    FAKE_WAIT(s->server, s->run == NULL);
    s->host.worker_id = 1;
    stage_start(s, "{\"command\": \"echo heard\"}", "");
    stage_finish(s);
    assert_true(fake_printed(s->server, "heard\n"));
    assert_false(fake_printed(s->server, "nobody"));
}

TEST(who_holds_the_pipe_open_is_not_waited_for, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s, "{\"command\": \"env -i setsid sleep 1000 & echo done\"}", "");
    stage_finish(s);
    stage_expect(s, OUTCOME_SUCCEEDED, "");
    assert_true(fake_printed(s->server, "done\n"));
}

/* ---- ends */

TEST(what_cannot_be_run_says_so, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s, "{\"command\": [\"no-such-program\"]}", "");
    stage_finish(s);
    stage_expect(s, OUTCOME_FAILED, "cannot run 'no-such-program': no such file or directory");
    stage_start(s, "{\"command\": [\"true\"], \"working_dir\": \"/nowhere\"}", "");
    stage_finish(s);
    assert_int_equal(s->result.class, FAILURE_NOT_FOUND);
    stage_expect(s, OUTCOME_FAILED, "cannot enter '/nowhere': no such file or directory");
    assert_int_equal(s->result.usage.exit_code, -1);
}

TEST(a_timeout_ends_it, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s,
                "{\"command\": \"trap 'echo bye; exit 0' TERM; sleep 1000 & wait\", "
                "\"timeout\": \"300ms\"}",
                "");
    stage_finish(s);
    stage_expect(s, OUTCOME_TIMEOUT, "timed out after 300ms");
    assert_true(fake_printed(s->server, "bye\n"));
    assert_true(fake_noted(s->server, "the timeout has passed: sent SIGTERM"));
}

TEST(who_ignores_term_is_killed_after_the_grace, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    s->host.kill_grace_ms = 200;
    stage_start(s, "{\"command\": \"trap '' TERM; echo up; while :; do sleep 1000; done\"}", "");
    FAKE_WAIT(s->server, fake_printed(s->server, "up\n"));
    run_cut(s->run, RUN_CUT_STOPPED, STR("cancelled by key:admin"));
    stage_finish(s);
    stage_expect(s, OUTCOME_STOPPED, "cancelled by key:admin");
    assert_int_equal(s->result.usage.signal, SIGKILL);
    assert_true(fake_noted(s->server, "still there: sent SIGKILL"));
}

TEST(a_lost_lease_hurries_a_stop, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s, "{\"command\": \"trap '' TERM; echo up; while :; do sleep 1000; done\"}", "");
    FAKE_WAIT(s->server, fake_printed(s->server, "up\n"));
    run_cut(s->run, RUN_CUT_STOPPED, STR("cancelled by key:admin"));
    run_cut(s->run, RUN_CUT_LOST, STR(""));
    stage_finish(s);
    stage_expect(s, OUTCOME_STOPPED, "cancelled by key:admin");
}

TEST(a_lost_lease_whose_spawner_died_as_well_is_no_success, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s, "{\"command\": \"echo up; exec sleep 1000\"}", "");
    FAKE_WAIT(s->server, fake_printed(s->server, "up\n"));
    kill(spawner_pid(s->host.spawner), SIGSTOP); /* it cannot say how the command ended */
    run_cut(s->run, RUN_CUT_LOST, STR(""));
    run_cut(s->run, RUN_CUT_BROKEN, STR(""));
    kill(spawner_pid(s->host.spawner), SIGCONT);
    stage_finish(s);
    stage_expect(s, OUTCOME_RETURNED, "killed because its lease could not be renewed in time");
}

TEST(what_is_cut_before_its_start_never_runs, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    struct err err;
    struct poll_lease lease = {.exec_id = 50, .token = 1, .spec = STR("{\"command\": [\"true\"]}")};
    assert_int_equal(run_new(&s->host, 50, &lease, &s->run, &err), RC_OK);
    run_cut(s->run, RUN_CUT_RETURNED, STR(""));
    assert_null(s->run);
    stage_expect(s, OUTCOME_RETURNED, "ended because its worker is leaving");
    assert_int_equal(s->result.usage.exit_code, -1);
}

TEST(a_spec_for_others_is_refused, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    struct err err;
    struct poll_lease lease = {.exec_id = 50, .spec = STR("{\"handler\": \"send_email\"}")};
    assert_int_equal(run_new(&s->host, 50, &lease, &s->run, &err), RC_INVALID);
    lease.spec = STR("{");
    assert_int_equal(run_new(&s->host, 50, &lease, &s->run, &err), RC_CORRUPT);
}

TEST(without_a_directory_it_fails_and_says_why, stage_set_up, stage_tear_down)
{
    struct stage *s = *state;
    s->host.tmp_dir = "/nowhere/at/all";
    stage_start(s, "{\"command\": [\"true\"]}", "");
    FAKE_WAIT(s->server, s->run == NULL);
    assert_int_equal(s->result.outcome, OUTCOME_FAILED);
    assert_non_null(strstr(s->result.error.ptr, "cannot prepare the attempt: make /nowhere"));
}
