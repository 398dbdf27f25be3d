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
