#include "engine/test/jobs.h"

TEST(the_same_request_gets_the_first_answer_again)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w, .once = "k", .when = WHEN_DELAY, .when_ms = 5000);
    world_turn(&w);
    assert_false(first->once.replayed);
    world_pass(&w, 1000);
    const struct submission *again = SUBMIT(&w, .once = "k", .when = WHEN_DELAY, .when_ms = 5000);
    world_turn(&w);
    assert_int_equal(again->rc, RC_OK);
    assert_true(again->once.replayed);
    assert_int_equal(again->job_id, first->job_id);
    assert_int_equal(again->exec_id, first->exec_id);
    assert_int_equal(again->created_ms, first->created_ms);
    assert_int_equal(again->due_ms, first->due_ms);
    assert_true(delta_is_empty(&w.delta));
    assert_int_equal(w.table.jobs.len, 1);
}

TEST(a_replay_says_when_the_first_slot_was_due)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w, .once = "k", .cron = "7 * * * *");
    world_turn(&w);
    world_pass(&w, 3 * HOUR_MS);
    world_restart(&w);
    const struct submission *again = SUBMIT(&w, .once = "k", .cron = "7 * * * *");
    world_turn(&w);
    assert_true(again->once.replayed);
    assert_int_equal(again->due_ms, first->due_ms);
}

TEST(another_request_with_the_same_key_is_refused)
{
    WORLD(w);
    SUBMIT(&w, .once = "k");
    world_turn(&w);
    const struct submission *other = SUBMIT(&w, .once = "k", .hash = "other");
    world_turn(&w);
    assert_int_equal(other->rc, RC_REUSED);
    assert_int_equal(w.table.jobs.len, 1);
}

TEST(the_same_request_in_one_turn_is_still_in_progress)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w, .once = "k");
    const struct submission *second = SUBMIT(&w, .once = "k");
    world_turn(&w);
    assert_int_equal(first->rc, RC_OK);
    assert_int_equal(second->rc, RC_PENDING);
    assert_int_equal(w.table.jobs.len, 1);
}

TEST(a_refused_submission_gives_its_key_back)
{
    WORLD(w);
    SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    const struct submission *refused = SUBMIT(&w, .name = "nightly", .once = "k");
    const struct submission *behind = SUBMIT(&w, .once = "k", .hash = "other");
    world_turn(&w);
    assert_int_equal(refused->rc, RC_CONFLICT);
    assert_int_equal(behind->rc, RC_PENDING); /* nobody knows yet what becomes of the first */
    assert_int_equal(w.table.claims[CLAIM_REQUEST].len, 0);
    const struct submission *again = SUBMIT(&w, .once = "k", .hash = "other");
    world_turn(&w);
    assert_int_equal(again->rc, RC_OK);
    assert_false(again->once.replayed);
}

TEST(a_replay_takes_no_name_and_no_unique_key)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w, .once = "k", .name = "nightly", .unique = "u");
    world_turn(&w);
    ask_about(&w, CMD_CANCEL_JOB, first->job_id);
    world_turn(&w);
    const struct submission *again = SUBMIT(&w, .once = "k", .name = "nightly", .unique = "u");
    world_turn(&w);
    assert_true(again->once.replayed);
    assert_int_equal(w.table.claims[CLAIM_NAME].len, 0);
    assert_int_equal(w.table.claims[CLAIM_UNIQUE].len, 0);
}

TEST(a_key_is_forgotten_after_its_time)
{
    struct engine_options options = engine_defaults;
    options.once_ms = 10000;
    WORLD_WITH(w, options);
    const struct submission *first = SUBMIT(&w, .once = "k");
    world_turn(&w);
    w.now_ms += 9999;
    const struct submission *again = SUBMIT(&w, .once = "k");
    world_turn(&w);
    assert_true(again->once.replayed);
    w.now_ms += 1;
    again = SUBMIT(&w, .once = "k", .hash = "other");
    world_turn(&w);
    assert_int_equal(again->rc, RC_OK);
    assert_true(again->job_id != first->job_id);
}

TEST(a_run_that_was_asked_for_twice_is_one)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .cron = "0 0 1 1 *", .overlap = OVERLAP_PARALLEL);
    world_turn(&w);
    struct asked *asked[3];
    for (size_t i = 0; i < 3; i++) {
        asked[i] = ask_about(&w, CMD_TRIGGER_JOB, job->job_id);
        asked[i]->cmd.once = (struct once){.key = STR("k"), .hash = i < 2 ? STR("h") : STR("i")};
        world_turn(&w);
    }
    assert_int_equal(asked[0]->cmd.reply.rc, RC_OK);
    assert_int_equal(asked[1]->cmd.reply.rc, RC_OK);
    assert_true(asked[1]->cmd.once.replayed);
    assert_int_equal(asked[1]->cmd.reply.exec_id, asked[0]->cmd.reply.exec_id);
    assert_int_equal(asked[1]->cmd.reply.exec_state, EXEC_QUEUED);
    assert_int_equal(asked[2]->cmd.reply.rc, RC_REUSED);
    assert_int_equal(w.table.live.len, 2); /* the one ahead, and the one that was asked for */
}

TEST(a_refused_command_gives_its_key_back)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    struct asked *asked = ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
    asked->cmd.once = (struct once){.key = STR("k"), .hash = STR("h")};
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_CONFLICT);
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    for (int i = 0; i < 2; i++) {
        asked = ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
        asked->cmd.once = (struct once){.key = STR("k"), .hash = STR("h")};
        world_turn(&w);
        assert_int_equal(asked->cmd.reply.rc, RC_OK);
        assert_int_equal(asked->cmd.once.replayed, i == 1);
    }
}
