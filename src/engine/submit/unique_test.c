#include "engine/test/duo.h"
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

#include <string.h>

static void run_to(struct world *w, struct fake *f, enum outcome outcome)
{
    struct poll_lease lease = fake_start(w, f);
    ask_report(w, f, &lease, outcome);
    world_turn(w);
}

TEST(work_that_is_there_is_returned)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    const struct submission *second = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    assert_int_equal(second->rc, RC_OK);
    assert_true(second->existing);
    assert_int_equal(second->job_id, first->job_id);
    assert_int_equal(second->exec_id, first->exec_id);
    assert_true(delta_is_empty(&w.delta));
}

TEST(two_in_one_turn_are_one)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w, .unique = "u");
    const struct submission *second = SUBMIT(&w, .unique = "u");
    const struct submission *third = SUBMIT(&w, .unique = "u", .on_conflict = CONFLICT_REJECT);
    world_turn(&w);
    assert_false(first->existing);
    assert_true(second->existing && second->job_id == first->job_id);
    assert_int_equal(third->rc, RC_CONFLICT);
}

TEST(a_key_is_free_after_every_end)
{
    static const enum outcome ends[] = {OUTCOME_SUCCEEDED, OUTCOME_FAILED, OUTCOME_PERMANENT,
                                        OUTCOME_TIMEOUT};
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w);
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        const struct submission *job = SUBMIT(&w, .unique = "u", .on_conflict = CONFLICT_REJECT);
        world_turn(&w);
        assert_int_equal(job->rc, RC_OK);
        run_to(&w, &f, ends[i]);
        assert_int_equal(w.table.claims[CLAIM_UNIQUE].len, 0);
    }
}

TEST(a_key_is_free_when_what_waits_is_cancelled)
{
    WORLD(w);
    const struct submission *job =
        SUBMIT(&w, .unique = "u", .when = WHEN_DELAY, .when_ms = 100 * HOUR_MS);
    world_turn(&w);
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    assert_int_equal(w.table.claims[CLAIM_UNIQUE].len, 0);
}

TEST(a_run_that_stops_has_its_key_until_it_is_gone)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    const struct submission *next = SUBMIT(&w, .unique = "u", .on_conflict = CONFLICT_REPLACE);
    world_turn(&w);
    assert_int_equal(next->rc, RC_CONFLICT);
    ask_report(&w, &f, &lease, OUTCOME_STOPPED);
    world_turn(&w);
    assert_int_equal(w.table.claims[CLAIM_UNIQUE].len, 0);
}

/* Whoever is given it waits for work that nobody does. */
TEST(work_that_is_being_cancelled_is_not_returned)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    const struct submission *soon = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    const struct submission *then = SUBMIT(&w, .unique = "u", .once = "k");
    const struct submission *reject = SUBMIT(&w, .unique = "u", .on_conflict = CONFLICT_REJECT);
    world_turn(&w);
    assert_int_equal(soon->rc, RC_STOPPING);
    assert_int_equal(then->rc, RC_STOPPING);
    assert_int_equal(reject->rc, RC_CONFLICT);
    assert_false(soon->existing || then->existing);
    world_restart(&w); /* the store knows that it stops, too */
    const struct submission *later = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    assert_int_equal(later->rc, RC_STOPPING);
    ask_report(&w, &f, &lease, OUTCOME_STOPPED);
    world_turn(&w);
    const struct submission *again = SUBMIT(&w, .unique = "u", .once = "k");
    world_turn(&w);
    assert_int_equal(again->rc, RC_OK); /* what was refused is not remembered */
    assert_false(again->existing);
}

TEST(work_that_is_being_cancelled_elsewhere_is_not_returned)
{
    DUO(s);
    struct fake f = HIRE(&s.a);
    const struct submission *job = SUBMIT(&s.a, .unique = "u");
    duo_settle(&s);
    fake_start(&s.a, &f);
    struct claim *claim = strmap_get(&s.a.table.claims[CLAIM_UNIQUE], STR("u"));
    strmap_put(&s.b.table.claims[CLAIM_UNIQUE], STR("u"), claim); /* of one store */
    const struct submission *there = SUBMIT(&s.b, .unique = "u");
    duo_settle(&s);
    assert_true(there->existing);
    ask_about(&s.a, CMD_CANCEL_JOB, job->job_id);
    duo_settle(&s);
    const struct submission *stops = SUBMIT(&s.b, .unique = "u");
    duo_settle(&s);
    assert_int_equal(stops->rc, RC_STOPPING);
    strmap_remove(&s.b.table.claims[CLAIM_UNIQUE], STR("u"));
}

/* Else whoever submits right after the end would be given work that has seen nothing of what it is
 * submitted for. */
TEST(work_that_ends_in_the_same_turn_is_not_there)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *first = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    const struct submission *second = SUBMIT(&w, .unique = "u");
    const struct submission *third = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    assert_int_equal(second->rc, RC_OK);
    assert_false(second->existing);
    assert_true(second->job_id != first->job_id);
    assert_true(third->existing && third->job_id == second->job_id);
}

TEST(a_key_that_was_taken_for_something_refused_is_free)
{
    WORLD(w);
    SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    const struct submission *refused = SUBMIT(&w, .unique = "u", .name = "nightly");
    const struct submission *behind = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    assert_int_equal(refused->rc, RC_CONFLICT);
    assert_int_equal(behind->rc, RC_OK);
    assert_false(behind->existing);
}

TEST(work_that_waits_is_replaced)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w, .unique = "u", .name = "nightly");
    world_turn(&w);
    const struct submission *second =
        SUBMIT(&w, .unique = "u", .name = "nightly", .on_conflict = CONFLICT_REPLACE);
    world_turn(&w);
    assert_int_equal(second->rc, RC_OK);
    assert_false(second->existing);
    assert_int_equal(job_state_of(&w, first->job_id), JOB_CANCELLED);
    assert_int_equal(state_of(&w, second->exec_id), EXEC_QUEUED);
}

TEST(what_a_worker_has_is_not_replaced)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *first = SUBMIT(&w, .unique = "u", .retries = 1, .retry_ms = 60000);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    const struct submission *second = SUBMIT(&w, .unique = "u", .on_conflict = CONFLICT_REPLACE);
    world_turn(&w);
    assert_int_equal(second->rc, RC_CONFLICT);
    ask_report(&w, &f, &lease, OUTCOME_FAILED);
    world_turn(&w);
    assert_int_equal(state_of(&w, first->exec_id), EXEC_RETRYING);
    second = SUBMIT(&w, .unique = "u", .on_conflict = CONFLICT_REPLACE);
    world_turn(&w);
    assert_int_equal(second->rc, RC_OK);
    assert_int_equal(state_of(&w, first->exec_id), EXEC_CANCELLED);
}

TEST(who_replaces_what_it_waits_for_sees_its_end)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    const struct dependency_wish after = {.type = DEPENDS_COMPLETION, .job_id = first->job_id};
    const struct submission *second =
        SUBMIT(&w, .unique = "u", .on_conflict = CONFLICT_REPLACE, .after = &after);
    world_turn(&w);
    assert_int_equal(second->rc, RC_OK);
    assert_int_equal(state_of(&w, second->exec_id), EXEC_QUEUED);
}

TEST(work_beyond_the_horizon_is_known)
{
    WORLD(w);
    const struct submission *far =
        SUBMIT(&w, .unique = "u", .when = WHEN_DELAY, .when_ms = 100 * HOUR_MS);
    world_turn(&w);
    assert_null(exec_of(&w, far->exec_id));
    world_restart(&w);
    const struct submission *again = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    assert_true(again->existing && again->exec_id == far->exec_id);
    assert_null(exec_of(&w, far->exec_id));
    again = SUBMIT(&w, .unique = "u", .on_conflict = CONFLICT_REPLACE);
    world_turn(&w);
    assert_false(again->existing);
    assert_int_equal(state_of(&w, far->exec_id), EXEC_CANCELLED);
}

TEST(work_may_be_unique_only_until_it_starts)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 2);
    const struct submission *first = SUBMIT(&w, .unique = "u", .until_start = true);
    world_turn(&w);
    fake_start(&w, &f);
    assert_int_equal(w.table.claims[CLAIM_UNIQUE].len, 0);
    const struct submission *second = SUBMIT(&w, .unique = "u", .until_start = true);
    world_turn(&w);
    assert_false(second->existing);
    world_restart(&w);
    world_pass(&w, HOUR_MS); /* the first is lost, and waits again */
    assert_int_equal(state_of(&w, first->exec_id), EXEC_QUEUED);
    const struct submission *third = SUBMIT(&w, .unique = "u", .until_start = true);
    world_turn(&w);
    assert_int_equal(third->job_id, second->job_id);
}

TEST(running_it_again_needs_the_key)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w, .unique = "u", .name = "a");
    world_turn(&w);
    ask_about(&w, CMD_CANCEL_JOB, first->job_id);
    world_turn(&w);
    const struct submission *second = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    struct asked *asked = ask_about(&w, CMD_RETRY_EXEC, first->exec_id);
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_CONFLICT);
    assert_non_null(strstr(asked->cmd.reply.err.text, "unique key 'u'"));
    ask_about(&w, CMD_CANCEL_JOB, second->job_id);
    asked = ask_about(&w, CMD_RETRY_EXEC, first->exec_id); /* in the turn that frees it */
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    second = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    assert_true(second->existing && second->job_id == first->job_id);
}

TEST(two_of_one_turn_run_it_again_once_and_keep_its_key)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    struct asked *first = ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
    struct asked *second = ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
    world_turn(&w);
    assert_int_equal(first->cmd.reply.rc, RC_OK);
    assert_int_equal(second->cmd.reply.rc, RC_CONFLICT);
    assert_int_equal(w.table.claims[CLAIM_UNIQUE].len, 1);
}

/* The submission asks for the key first, and the retry is decided first. */
TEST(a_key_that_came_back_within_the_turn_is_the_last_ones)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    struct asked *again = ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
    const struct submission *next = SUBMIT(&w, .unique = "u", .on_conflict = CONFLICT_REPLACE);
    world_turn(&w);
    assert_int_equal(again->cmd.reply.rc, RC_OK);
    assert_int_equal(next->rc, RC_OK);
    assert_int_equal(state_of(&w, again->cmd.reply.exec_id), EXEC_CANCELLED);
    const struct claim *claim = strmap_get(&w.table.claims[CLAIM_UNIQUE], STR("u"));
    assert_true(claim != NULL && claim->holder == next->job_id);
}

TEST(the_answer_about_existing_work_is_remembered)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    const struct submission *second = SUBMIT(&w, .unique = "u", .once = "k");
    world_turn(&w);
    assert_true(second->existing);
    ask_about(&w, CMD_CANCEL_JOB, first->job_id);
    world_turn(&w);
    const struct submission *again = SUBMIT(&w, .unique = "u", .once = "k");
    world_turn(&w);
    assert_true(again->once.replayed && again->existing);
    assert_int_equal(again->job_id, first->job_id);
    assert_int_equal(again->created_ms, first->created_ms);
}

/* ---- keys that are kept after success */

enum { KEEP_MS = 7 * 24 * HOUR_MS };

static struct engine_options keeping(void)
{
    struct engine_options options = engine_defaults;
    options.unique_keep_ms = HOUR_MS;
    return options;
}

static const struct submission *succeed(struct world *w, struct fake *f, int64_t keep_ms)
{
    const struct submission *job = SUBMIT(w, .unique = "u", .keep_ms = keep_ms);
    world_turn(w);
    run_to(w, f, OUTCOME_SUCCEEDED);
    return job;
}

static const struct submission *meet(struct world *w, enum on_conflict on_conflict)
{
    const struct submission *item = SUBMIT(w, .unique = "u", .on_conflict = on_conflict);
    world_turn(w);
    return item;
}

static void assert_returned(const struct submission *item, const struct submission *job)
{
    assert_int_equal(item->rc, RC_OK);
    assert_true(item->existing);
    assert_int_equal(item->job_id, job->job_id);
    assert_int_equal(item->exec_id, job->exec_id);
    assert_int_equal(item->created_ms, job->created_ms);
    assert_int_equal(item->state, JOB_COMPLETED);
}

TEST(a_key_is_kept_after_success_for_as_long_as_its_job_says)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = succeed(&w, &f, KEEP_MS);
    assert_returned(meet(&w, CONFLICT_RETURN), job);
    world_restart(&w);
    assert_returned(meet(&w, CONFLICT_RETURN), job);
    const struct submission *refused = meet(&w, CONFLICT_REJECT);
    assert_int_equal(refused->rc, RC_CONFLICT);
    assert_non_null(strstr(refused->err->text, "which has succeeded"));
    world_pass(&w, KEEP_MS);
    assert_false(meet(&w, CONFLICT_REJECT)->existing);
}

TEST(the_setting_keeps_keys_of_jobs_that_do_not_say)
{
    struct engine_options options = keeping();
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w);
    const struct submission *job = succeed(&w, &f, 0);
    assert_returned(meet(&w, CONFLICT_RETURN), job);
}

TEST(a_key_that_is_let_go_at_the_start_is_not_kept)
{
    struct engine_options options = keeping();
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w);
    SUBMIT(&w, .unique = "u", .until_start = true);
    world_turn(&w);
    run_to(&w, &f, OUTCOME_SUCCEEDED);
    assert_int_equal(w.table.claims[CLAIM_UNIQUE].len, 0);
}

TEST(only_success_keeps_a_key)
{
    static const enum outcome ends[] = {OUTCOME_FAILED, OUTCOME_PERMANENT, OUTCOME_TIMEOUT};
    struct engine_options options = keeping();
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w);
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        meet(&w, CONFLICT_REJECT);
        run_to(&w, &f, ends[i]);
        assert_int_equal(w.table.claims[CLAIM_UNIQUE].len, 0);
    }
    const struct submission *job = meet(&w, CONFLICT_REJECT);
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    assert_int_equal(w.table.claims[CLAIM_UNIQUE].len, 0);
}

TEST(a_key_that_is_kept_is_taken_by_replace)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = succeed(&w, &f, KEEP_MS);
    const struct submission *next = meet(&w, CONFLICT_REPLACE);
    assert_int_equal(next->rc, RC_OK);
    assert_false(next->existing);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_COMPLETED);
    assert_int_equal(meet(&w, CONFLICT_RETURN)->job_id, next->job_id);
    run_to(&w, &f, OUTCOME_FAILED);
    assert_int_equal(w.table.claims[CLAIM_UNIQUE].len, 0); /* what was kept before is over */
}

TEST(what_succeeds_in_this_turn_is_kept_in_it)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .unique = "u", .keep_ms = KEEP_MS);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    const struct submission *same = SUBMIT(&w, .unique = "u");
    const struct submission *reject = SUBMIT(&w, .unique = "u", .on_conflict = CONFLICT_REJECT);
    const struct submission *next = SUBMIT(&w, .unique = "u", .on_conflict = CONFLICT_REPLACE);
    const struct submission *last = SUBMIT(&w, .unique = "u");
    world_turn(&w);
    assert_returned(same, job);
    assert_int_equal(reject->rc, RC_CONFLICT);
    assert_false(next->existing);
    assert_int_equal(last->job_id, next->job_id);
}

/* The claim that a refused submission did not get stays what it was. */
TEST(what_is_refused_does_not_take_a_key_that_is_kept)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = succeed(&w, &f, KEEP_MS);
    SUBMIT(&w, .name = "nightly", .when = WHEN_DELAY, .when_ms = HOUR_MS);
    world_turn(&w);
    const struct submission *refused =
        SUBMIT(&w, .unique = "u", .name = "nightly", .on_conflict = CONFLICT_REPLACE);
    world_turn(&w);
    assert_int_equal(refused->rc, RC_CONFLICT);
    assert_returned(meet(&w, CONFLICT_RETURN), job);
}

TEST(the_holder_itself_may_run_again_while_its_key_is_kept)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = succeed(&w, &f, KEEP_MS);
    struct asked *asked = ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    const struct submission *same = meet(&w, CONFLICT_RETURN);
    assert_int_equal(same->exec_id, asked->cmd.reply.exec_id);
    world_pass(&w, 1000);
    run_to(&w, &f, OUTCOME_FAILED);
    assert_int_equal(w.table.claims[CLAIM_UNIQUE].len, 0);
}

TEST(another_does_not_run_again_while_the_key_is_kept)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *first = meet(&w, CONFLICT_RETURN);
    run_to(&w, &f, OUTCOME_FAILED);
    const struct submission *job = succeed(&w, &f, KEEP_MS);
    struct asked *asked = ask_about(&w, CMD_RETRY_EXEC, first->exec_id);
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_CONFLICT);
    assert_non_null(strstr(asked->cmd.reply.err.text, "is kept until"));
    assert_returned(meet(&w, CONFLICT_RETURN), job);
}

TEST(a_retry_that_is_refused_leaves_its_own_key_kept)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .unique = "u", .name = "a", .keep_ms = KEEP_MS);
    world_turn(&w);
    run_to(&w, &f, OUTCOME_SUCCEEDED);
    SUBMIT(&w, .name = "a", .when = WHEN_DELAY, .when_ms = HOUR_MS);
    world_turn(&w);
    struct asked *asked = ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_CONFLICT); /* its name is in use */
    assert_returned(meet(&w, CONFLICT_RETURN), job);
}

/* No job holds it, so no server has to be asked. */
TEST(a_key_that_is_kept_by_a_job_elsewhere_is_taken_here)
{
    DUO(s);
    struct fake f = HIRE(&s.a);
    const struct submission *job = SUBMIT(&s.a, .unique = "u", .keep_ms = KEEP_MS);
    duo_settle(&s);
    struct poll_lease lease = fake_start(&s.a, &f);
    ask_report(&s.a, &f, &lease, OUTCOME_SUCCEEDED);
    duo_settle(&s);
    struct claim *claim = strmap_get(&s.a.table.claims[CLAIM_UNIQUE], STR("u"));
    strmap_put(&s.b.table.claims[CLAIM_UNIQUE], STR("u"), claim); /* of one store */
    const struct submission *there = SUBMIT(&s.b, .unique = "u");
    duo_settle(&s);
    assert_returned(there, job);
    const struct submission *next = SUBMIT(&s.b, .unique = "u", .on_conflict = CONFLICT_REPLACE);
    duo_settle(&s);
    assert_int_equal(next->rc, RC_OK);
    assert_false(next->existing);
}
