/* Checkpoints: fetched before an attempt, saved while it runs and when it ends. */
#include "worker/run/run_fixture_test.h"

#include <signal.h>

enum { BYTES_MAX = 1000 };

static int set_up(void **state)
{
    stage_set_up(state);
    struct stage *s = *state;
    s->host.checkpoint_bytes_max = BYTES_MAX;
    s->host.checkpoint_ms = 10;
    return 0;
}

static bool kept(const struct stage *s, struct str bytes)
{
    return str_eq(buf_str(&s->server->checkpoint), bytes);
}

static void keep(struct stage *s, struct str bytes)
{
    buf_clear(&s->server->checkpoint);
    buf_add(&s->server->checkpoint, bytes);
}

/* The loop goes on for some looks. */
static void look_around(struct stage *s)
{
    for (int i = 0; i < 20; i++)
        uv_run(&s->loop, UV_RUN_DEFAULT);
}

/* ---- before */

TEST(an_attempt_finds_what_the_one_before_has_left, set_up, stage_tear_down)
{
    struct stage *s = *state;
    keep(s, STR("half\0way\xff\n"));
    stage_start(s, "{\"command\": \"cat $BELFRY_CHECKPOINT_FILE\"}", "");
    stage_finish(s);
    stage_expect(s, OUTCOME_SUCCEEDED, "");
    assert_true(str_eq(buf_str(&s->server->log), STR("half\0way\xff\n")));
    assert_int_equal(s->server->fetches, 1);
    assert_non_null(strstr(s->server->checkpoint_path, "/workers/wrk_0000000000001/checkpoints/"));
    assert_non_null(strstr(s->server->checkpoint_path, "?token=3"));
}

TEST(without_one_there_is_no_file, set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s, "{\"command\": \"test ! -e $BELFRY_CHECKPOINT_FILE\"}", "");
    stage_finish(s);
    stage_expect(s, OUTCOME_SUCCEEDED, "");
    assert_int_equal(s->server->fetches, 1);
}

TEST(the_first_attempt_asks_for_nothing, set_up, stage_tear_down)
{
    struct stage *s = *state;
    struct err err;
    struct poll_lease lease = {
        .exec_id = 50, .token = 1, .attempt = 1, .spec = STR("{\"command\": [\"true\"]}")};
    assert_int_equal(run_new(&s->host, 50, &lease, &s->run, &err), RC_OK);
    run_start(s->run);
    stage_finish(s);
    assert_int_equal(s->server->fetches, 0);
}

TEST(a_server_that_keeps_none_is_not_asked, set_up, stage_tear_down)
{
    struct stage *s = *state;
    s->host.checkpoint_bytes_max = 0;
    stage_start(s, "{\"command\": \"echo x > $BELFRY_CHECKPOINT_FILE; exit 1\"}", "");
    stage_finish(s);
    stage_expect(s, OUTCOME_FAILED, "exit code 1");
    assert_int_equal(s->server->fetches + s->server->puts, 0);
}

TEST(a_server_in_trouble_is_asked_again, set_up, stage_tear_down)
{
    struct stage *s = *state;
    keep(s, STR("here"));
    s->server->checkpoint_status = 503;
    s->server->checkpoint_refusals = 2;
    stage_start(s, "{\"command\": \"cat $BELFRY_CHECKPOINT_FILE\"}", "");
    stage_finish(s);
    assert_true(fake_printed(s->server, "here"));
    assert_int_equal(s->server->fetches, 3);
}

TEST(who_has_lost_the_lease_does_not_start, set_up, stage_tear_down)
{
    struct stage *s = *state;
    s->server->checkpoint_status = 409;
    stage_start(s, "{\"command\": \"echo must not be\"}", "");
    FAKE_WAIT(s->server, s->run == NULL);
    assert_int_equal(s->result.outcome, OUTCOME_RETURNED);
    assert_int_equal(s->result.usage.exit_code, -1);
    assert_false(fake_printed(s->server, "must"));
}

TEST(what_cannot_be_fetched_fails_the_attempt_and_says_why, set_up, stage_tear_down)
{
    struct stage *s = *state;
    s->server->checkpoint_status = 404;
    stage_start(s, "{\"command\": \"echo must not be\"}", "");
    FAKE_WAIT(s->server, s->run == NULL);
    stage_expect(s, OUTCOME_FAILED,
                 "cannot prepare the attempt: fetch its checkpoint: the server answers with status "
                 "404");
    assert_false(fake_printed(s->server, "must"));
}

TEST(what_is_cut_while_it_asks_never_runs, set_up, stage_tear_down)
{
    struct stage *s = *state;
    s->server->hold_fetch = true;
    stage_start(s, "{\"command\": \"echo must not be\"}", "");
    FAKE_WAIT(s->server, s->server->held_fetch != NULL);
    run_cut(s->run, RUN_CUT_STOPPED, STR("cancelled by key:admin"));
    FAKE_WAIT(s->server, s->run == NULL);
    stage_expect(s, OUTCOME_STOPPED, "cancelled by key:admin");
    fake_release_fetch(s->server);
    look_around(s); /* the answer comes, and nobody is there */
    stage_start(s, "{\"command\": \"echo next\"}", "");
    stage_finish(s);
    assert_true(fake_printed(s->server, "next"));
    assert_false(fake_printed(s->server, "must"));
}

/* ---- meanwhile */

TEST(it_is_saved_while_the_command_runs, set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s,
                "{\"command\": \"printf '1\\\\0' > $BELFRY_CHECKPOINT_FILE; echo up; exec sleep "
                "1000\"}",
                "");
    FAKE_WAIT(s->server, kept(s, STR("1\0")));
    run_cut(s->run, RUN_CUT_LOST, STR(""));
    stage_finish(s);
    assert_true(kept(s, STR("1\0")));
}

/* The file is older than it is, so that its time is certain at once. */
TEST(it_is_saved_again_only_when_it_has_changed, set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(
        s,
        "{\"command\": \"cd $(dirname $BELFRY_CHECKPOINT_FILE); echo 1 > new; touch -d "
        "'1 minute ago' new; mv new checkpoint; trap 'echo 2 > new; mv new checkpoint' TERM; "
        "while :; do sleep 0.01; done\"}",
        "");
    FAKE_WAIT(s->server, kept(s, STR("1\n")));
    look_around(s);
    assert_int_equal(s->server->puts, 1);
    spawner_signal(s->host.spawner, run_id(s->run), SIGTERM);
    FAKE_WAIT(s->server, kept(s, STR("2\n")));
    run_cut(s->run, RUN_CUT_LOST, STR(""));
    stage_finish(s);
}

TEST(a_file_that_is_removed_is_taken_back, set_up, stage_tear_down)
{
    struct stage *s = *state;
    keep(s, STR("old"));
    stage_start(s, "{\"command\": \"rm $BELFRY_CHECKPOINT_FILE; exec sleep 1000\"}", "");
    FAKE_WAIT(s->server, s->server->puts > 0 && s->server->checkpoint.len == 0);
    unsigned puts = s->server->puts;
    look_around(s);
    assert_int_equal(s->server->puts, puts); /* once is enough */
    run_cut(s->run, RUN_CUT_LOST, STR(""));
    stage_finish(s);
}

TEST(a_file_that_goes_with_its_directory_is_not, set_up, stage_tear_down)
{
    struct stage *s = *state;
    s->host.checkpoint_ms = 60000; /* no look before the end */
    keep(s, STR("old"));
    stage_start(s, "{\"command\": \"rm -r $(dirname $BELFRY_CHECKPOINT_FILE); exit 1\"}", "");
    stage_finish(s);
    assert_true(kept(s, STR("old")));
    assert_int_equal(s->server->puts, 0);
}

/* Renamed into place: a look in between would see an empty file, and take the old one back. */
TEST(what_is_too_large_or_no_file_is_noted_once, set_up, stage_tear_down)
{
    struct stage *s = *state;
    struct str note = STR("the checkpoint was not saved: 1001 bytes are more than 1000\n");
    keep(s, STR("old"));
    stage_start(s,
                "{\"command\": \"cd $(dirname $BELFRY_CHECKPOINT_FILE); head -c 1001 /dev/zero > "
                "new; mv new checkpoint; exec sleep 1000\"}",
                "");
    FAKE_WAIT(s->server, s->server->notes.len > 0); /* while it runs, and says nothing itself */
    look_around(s);
    assert_true(str_eq(buf_str(&s->server->notes), note));
    run_cut(s->run, RUN_CUT_LOST, STR(""));
    stage_finish(s);
    stage_start(s,
                "{\"command\": \"cd $(dirname $BELFRY_CHECKPOINT_FILE); mkfifo new; mv new "
                "checkpoint; exit 1\"}",
                "");
    stage_finish(s);
    assert_true(fake_noted(s->server, "the checkpoint was not saved: it is not a file\n"));
    assert_true(kept(s, STR("old")));
}

TEST(the_largest_one_fits, set_up, stage_tear_down)
{
    struct stage *s = *state;
    stage_start(s, "{\"command\": \"head -c 1000 /dev/zero > $BELFRY_CHECKPOINT_FILE; exit 1\"}",
                "");
    stage_finish(s);
    assert_int_equal(s->server->checkpoint.len, BYTES_MAX);
}

/* ---- at the end */

TEST(a_failure_leaves_its_last_state_before_it_is_told, set_up, stage_tear_down)
{
    struct stage *s = *state;
    s->host.checkpoint_ms = 60000; /* no look before the end */
    stage_start(s, "{\"command\": \"echo last > $BELFRY_CHECKPOINT_FILE; exit 3\"}", "");
    stage_finish(s);
    stage_expect(s, OUTCOME_FAILED, "exit code 3");
    assert_true(kept(s, STR("last\n")));
    assert_int_equal(s->server->puts, 1);
}

TEST(a_success_leaves_nothing, set_up, stage_tear_down)
{
    struct stage *s = *state;
    s->host.checkpoint_ms = 60000;
    stage_start(s, "{\"command\": \"echo last > $BELFRY_CHECKPOINT_FILE\"}", "");
    stage_finish(s);
    stage_expect(s, OUTCOME_SUCCEEDED, "");
    assert_int_equal(s->server->puts, 0);
}

TEST(what_was_not_touched_is_not_sent_back_twice, set_up, stage_tear_down)
{
    struct stage *s = *state;
    s->host.checkpoint_ms = 100;
    keep(s, STR("old"));
    stage_start(s, "{\"command\": \"sleep 0.5; exit 1\"}", "");
    stage_finish(s);
    assert_true(kept(s, STR("old")));
    assert_int_equal(s->server->puts, 1); /* with the first look */
}

static void start_and_leave(struct stage *s)
{
    buf_clear(&s->server->log);
    stage_start(
        s, "{\"command\": \"echo last > $BELFRY_CHECKPOINT_FILE; echo up; exec sleep 1000\"}", "");
    FAKE_WAIT(s->server, fake_printed(s->server, "up\n"));
}

TEST(a_result_waits_for_a_server_in_trouble, set_up, stage_tear_down)
{
    struct stage *s = *state;
    s->host.checkpoint_ms = 60000;
    start_and_leave(s);
    s->server->checkpoint_status = 500;
    s->server->checkpoint_refusals = 3;
    run_cut(s->run, RUN_CUT_STOPPED, STR("cancelled"));
    stage_finish(s);
    stage_expect(s, OUTCOME_STOPPED, "cancelled");
    assert_true(kept(s, STR("last\n")));
    assert_int_equal(s->server->puts, 4);
}

TEST(a_result_does_not_wait_for_who_refuses, set_up, stage_tear_down)
{
    static const int statuses[] = {409, 413, 404};
    struct stage *s = *state;
    s->host.checkpoint_ms = 60000;
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        s->server->checkpoint_status = 0;
        s->server->puts = 0;
        start_and_leave(s);
        s->server->checkpoint_status = statuses[i];
        run_cut(s->run, RUN_CUT_STOPPED, STR("cancelled"));
        stage_finish(s);
        stage_expect(s, OUTCOME_STOPPED, "cancelled");
        assert_int_equal(s->server->puts, 1);
        assert_int_equal(s->server->checkpoint.len, 0);
    }
}
