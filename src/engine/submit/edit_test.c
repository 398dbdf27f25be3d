/* Jobs that get another definition while they live. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

#define SECOND_MS INT64_C(1000)

static const struct exec_rec *find_exec(const struct world *w, uint64_t job_id,
                                        enum exec_state state)
{
    const struct map *both[] = {&w->table.live, &w->table.history};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        MAP_EACH(both[i], slot)
        {
            const struct exec_rec *x = slot->value;
            if (x->job_id == job_id && x->state == state)
                return x;
        }
    }
    return NULL;
}

static const struct job_rec *job_of(const struct world *w, uint64_t id)
{
    return map_get(&w->table.jobs, id);
}

static void assert_refused(const struct asked *asked, enum rc rc)
{
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->cmd.reply.rc, rc);
}

static void assert_edited(const struct asked *asked, uint32_t version)
{
    assert_refused(asked, RC_OK);
    assert_int_equal(asked->cmd.reply.version, version);
}

/* ---- versions */

TEST(an_edit_raises_the_version_and_keeps_the_new_texts)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .queue = "mail", .name = "a");
    world_turn(&w);
    w.now_ms += 5;
    struct asked *edit = EDIT(&w, job->job_id, 1, false, .queue = "slow", .priority = 900);
    edit->cmd.actor = STR("key:ops");
    edit->cmd.edit.item->owner = STR("nobody");
    edit->cmd.edit.item->tags = STR("\nc:d\n");
    world_turn(&w);
    assert_edited(edit, 2);
    const struct job_rec *rec = job_of(&w, job->job_id);
    assert_int_equal(rec->version, 2);
    assert_int_equal(rec->changed_ms, w.now_ms);
    assert_int_equal(rec->priority, 900);
    assert_true(str_eq(rec->queue, STR("slow")));
    assert_true(str_eq(rec->tags, STR("\nc:d\n")));
    assert_true(str_eq(rec->owner, STR("admin"))); /* whose job it is stays */
    assert_true(str_eq(rec->name, STR("a")));
    assert_true(str_starts(rec->spec, STR("slow|")));
    assert_non_null(memmem(rec->trail.ptr, rec->trail.len, "key:ops", 7));
    assert_non_null(memmem(rec->trail.ptr, rec->trail.len, "version 2: queue, schedule", 26));
}

TEST(an_edit_of_an_older_version_is_refused)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct asked *first = EDIT(&w, job->job_id, 1, false, .queue = "one");
    struct asked *second = EDIT(&w, job->job_id, 1, false, .queue = "two"); /* the same turn */
    world_turn(&w);
    assert_edited(first, 2);
    assert_refused(second, RC_STALE);
    struct asked *third = EDIT(&w, job->job_id, 1, false, .queue = "two");
    world_turn(&w);
    assert_refused(third, RC_STALE);
    assert_true(str_eq(job_of(&w, job->job_id)->queue, STR("one")));
}

TEST(two_edits_of_one_turn_follow_one_another)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .key = "k", .limit = 1);
    world_turn(&w);
    struct asked *first =
        EDIT(&w, job->job_id, 1, false, .queue = "one", .rate = "r", .starts = 1, .per_ms = 50);
    struct asked *second = EDIT(&w, job->job_id, 2, false, .queue = "two");
    world_turn(&w);
    assert_edited(first, 2);
    assert_edited(second, 3);
    assert_int_equal(job_of(&w, job->job_id)->version, 3);
    assert_true(str_eq(find_exec(&w, job->job_id, EXEC_QUEUED)->queue, STR("two")));
}

TEST(what_is_not_there_or_over_cannot_be_edited)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct asked *nobody = EDIT(&w, 4711, 1, false, .queue = "one");
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    struct asked *at_once = EDIT(&w, job->job_id, 1, false, .queue = "one");
    world_turn(&w);
    assert_refused(nobody, RC_NOT_FOUND);
    assert_refused(at_once, RC_CONFLICT);
    struct asked *later = EDIT(&w, job->job_id, 1, false, .queue = "one");
    world_turn(&w);
    assert_refused(later, RC_CONFLICT);
}

TEST(a_job_cannot_begin_or_cease_to_recur)
{
    WORLD(w);
    const struct submission *once = SUBMIT(&w);
    const struct submission *often = SUBMIT(&w, .every_ms = MINUTE_MS);
    world_turn(&w);
    struct asked *first = EDIT(&w, once->job_id, 1, true, .every_ms = MINUTE_MS);
    struct asked *second = EDIT(&w, often->job_id, 1, true);
    world_turn(&w);
    assert_refused(first, RC_INVALID);
    assert_refused(second, RC_INVALID);
}

/* ---- what is unfinished follows */

TEST(what_waits_moves_to_the_new_queue)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1, .queues = "slow");
    const struct submission *job = SUBMIT(&w, .queue = "mail");
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(poll->answers, 0);
    EDIT(&w, job->job_id, 1, false, .queue = "slow");
    world_turn(&w);
    assert_int_equal(poll->answers, 1); /* the worker of the new queue has it in the same turn */
    assert_int_equal(poll->cmd.reply.poll.lease_count, 1);
    assert_int_equal(poll->cmd.reply.poll.leases[0].spec.len, 0); /* fetched: it is the new one */
}

TEST(what_runs_goes_on_and_counts_under_the_new_limit)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4);
    const struct submission *runs = SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    EDIT(&w, runs->job_id, 1, false, .key = "k", .limit = 1);
    world_turn(&w);
    const struct submission *next = SUBMIT(&w, .key = "k", .limit = 1);
    struct asked *poll = ask_poll(&w, &f, 3);
    world_turn(&w);
    assert_int_equal(poll->answers, 0); /* the key has its one */
    assert_int_equal(state_of(&w, next->exec_id), EXEC_QUEUED);
    struct asked *report = ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_true(was_accepted(report));
    assert_int_equal(job_state_of(&w, runs->job_id), JOB_COMPLETED);
    struct poll_lease second = fake_lease(&w, &f);
    assert_int_equal(second.exec_id, next->exec_id);
}

TEST(a_new_retry_policy_holds_for_the_attempt_that_runs)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .retries = 3);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    EDIT(&w, job->job_id, 1, false, .retries = 0);
    world_turn(&w);
    ask_report(&w, &f, &lease, OUTCOME_FAILED)->cmd.poll.wait_ms = 0;
    world_turn(&w);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_FAILED);
}

TEST(a_job_beyond_the_horizon_is_edited_in_the_store)
{
    WORLD(w);
    const struct submission *job =
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 48 * HOUR_MS, .queue = "mail");
    world_turn(&w);
    assert_int_equal(engine_live_count(w.engine), 0);
    struct asked *edit = EDIT(&w, job->job_id, 1, false, .queue = "slow", .priority = 7);
    world_turn(&w);
    assert_edited(edit, 2);
    assert_int_equal(engine_live_count(w.engine), 0);
    const struct exec_rec *x = find_exec(&w, job->job_id, EXEC_SCHEDULED);
    assert_true(str_eq(x->queue, STR("slow")));
    assert_int_equal(x->priority, 7);
    assert_int_equal(x->due_ms, w.now_ms + 48 * HOUR_MS);
}

TEST(an_edited_job_is_the_same_after_a_restart)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .queue = "mail");
    world_turn(&w);
    EDIT(&w, job->job_id, 1, false, .queue = "slow", .retries = 9);
    world_turn(&w);
    world_restart(&w);
    world_turn(&w);
    struct asked *edit = EDIT(&w, job->job_id, 2, false, .queue = "one");
    world_turn(&w);
    assert_edited(edit, 3);
}

/* ---- when a job that runs once is to run */

TEST(a_run_that_is_planned_can_be_planned_anew)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 48 * HOUR_MS);
    world_turn(&w);
    world_pass(&w, SECOND_MS);
    struct asked *edit =
        EDIT(&w, job->job_id, 1, true, .when = WHEN_DELAY, .when_ms = 5 * MINUTE_MS);
    world_turn(&w);
    assert_edited(edit, 2);
    const struct exec_rec *x = find_exec(&w, job->job_id, EXEC_SCHEDULED);
    assert_int_equal(x->id, job->exec_id);
    assert_int_equal(x->slot_ms, w.now_ms + 5 * MINUTE_MS); /* counted from the edit */
    assert_int_equal(x->due_ms, x->slot_ms);
    assert_int_equal(edit->cmd.edit.item->due_ms, x->slot_ms);
    world_pass(&w, 5 * MINUTE_MS);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(a_planned_run_whose_moment_becomes_now_is_ready)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = HOUR_MS);
    world_turn(&w);
    EDIT(&w, job->job_id, 1, true);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(a_run_that_has_begun_cannot_be_planned_anew)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct asked *edit = EDIT(&w, job->job_id, 1, true, .when = WHEN_DELAY, .when_ms = HOUR_MS);
    world_turn(&w);
    assert_refused(edit, RC_CONFLICT);
    assert_int_equal(job_of(&w, job->job_id)->version, 1);
}

TEST(a_run_that_waits_for_another_job_takes_its_new_moment_along)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w);
    world_turn(&w);
    struct dependency_wish after = {.job_id = first->job_id, .type = DEPENDS_COMPLETION};
    const struct submission *job = SUBMIT(&w, .after = &after);
    world_turn(&w);
    EDIT(&w, job->job_id, 1, true, .when = WHEN_DELAY, .when_ms = HOUR_MS);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_BLOCKED);
    int64_t due_ms = w.now_ms + HOUR_MS;
    ask_about(&w, CMD_CANCEL_JOB, first->job_id);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_SCHEDULED);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SCHEDULED)->due_ms, due_ms);
}

/* ---- schedules: an edit never looks back */

TEST(a_changed_interval_counts_from_the_edit)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    world_pass(&w, 50 * MINUTE_MS);
    EDIT(&w, job->job_id, 1, true, .every_ms = 7 * MINUTE_MS);
    world_turn(&w);
    const struct exec_rec *x = find_exec(&w, job->job_id, EXEC_SCHEDULED);
    assert_int_equal(x->slot_ms, w.now_ms + 7 * MINUTE_MS);
    assert_int_equal(w.table.history.len, 0); /* nothing fired, nothing to skip */
    world_restart(&w);
    world_pass(&w, 7 * MINUTE_MS);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SCHEDULED)->slot_ms, w.now_ms + 7 * MINUTE_MS);
}

TEST(an_edit_of_something_else_leaves_the_slot_ahead_as_it_is)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    int64_t slot_ms = job->due_ms;
    world_pass(&w, 50 * MINUTE_MS);
    EDIT(&w, job->job_id, 1, false, .every_ms = HOUR_MS, .queue = "slow");
    world_turn(&w);
    const struct exec_rec *x = find_exec(&w, job->job_id, EXEC_SCHEDULED);
    assert_int_equal(x->slot_ms, slot_ms);
    assert_true(str_eq(x->queue, STR("slow")));
    world_pass(&w, 10 * MINUTE_MS);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SCHEDULED)->slot_ms, slot_ms + HOUR_MS);
}

TEST(what_a_paused_job_missed_is_one_skipped_range_when_its_schedule_changes)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = MINUTE_MS);
    world_turn(&w);
    int64_t first_ms = job->due_ms;
    ask_about(&w, CMD_PAUSE_JOB, job->job_id);
    world_turn(&w);
    world_pass(&w, 10 * MINUTE_MS + 5);
    EDIT(&w, job->job_id, 1, true, .every_ms = HOUR_MS);
    world_turn(&w);
    const struct exec_rec *skipped = find_exec(&w, job->job_id, EXEC_SKIPPED);
    assert_int_equal(skipped->slot_ms, first_ms);
    assert_int_equal(skipped->slot_count, 10);
    assert_int_equal(skipped->slot_last_ms, first_ms + 9 * MINUTE_MS);
    assert_true(str_eq(skipped->error, STR("the schedule was changed")));
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SCHEDULED)->slot_ms, w.now_ms + HOUR_MS);
    ask_about(&w, CMD_RESUME_JOB, job->job_id);
    world_turn(&w);
    assert_int_equal(w.table.history.len, 1);
}

TEST(a_slot_that_a_stagger_still_holds_back_is_not_lost)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    struct asked *spread =
        EDIT(&w, job->job_id, 1, false, .every_ms = HOUR_MS, .stagger_ms = HOUR_MS);
    world_turn(&w);
    int64_t stagger_ms = spread->cmd.edit.item->due_ms - job->due_ms;
    assert_int_equal(stagger_ms, schedule_stagger_ms(job->job_id, HOUR_MS));
    world_pass(&w, HOUR_MS + stagger_ms - 1); /* its moment has come, its run has not */
    assert_int_equal(w.table.history.len, 0);
    EDIT(&w, job->job_id, 2, true, .every_ms = 2 * HOUR_MS);
    world_turn(&w);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SKIPPED)->slot_ms, job->due_ms);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SCHEDULED)->slot_ms, w.now_ms + 2 * HOUR_MS);
}

TEST(another_stagger_moves_the_run_and_not_the_slot)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    for (uint32_t i = 1; i <= 2; i++) { /* there, and back again */
        int64_t stagger_ms = i == 1 ? 30 * MINUTE_MS : 0;
        EDIT(&w, job->job_id, i, false, .every_ms = HOUR_MS, .stagger_ms = stagger_ms);
        world_turn(&w);
        const struct exec_rec *x = find_exec(&w, job->job_id, EXEC_SCHEDULED);
        assert_int_equal(x->slot_ms, job->due_ms);
        assert_int_equal(x->due_ms, job->due_ms + schedule_stagger_ms(job->job_id, stagger_ms));
    }
}

TEST(a_slot_that_has_run_does_not_come_again_when_the_clock_was_set_back)
{
    WORLD(w);
    w.now_ms = w.now_ms / HOUR_MS * HOUR_MS + 30 * MINUTE_MS;
    w.booted_ms = w.now_ms - HOUR_MS;
    const struct submission *job = SUBMIT(&w, .cron = "0 * * * *");
    world_turn(&w);
    int64_t slot_ms = job->due_ms;
    world_pass(&w, 30 * MINUTE_MS);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_QUEUED)->slot_ms, slot_ms);
    world_set_clock(&w, -9 * MINUTE_MS);
    EDIT(&w, job->job_id, 1, true, .cron = "0,30 * * * *");
    world_turn(&w);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SCHEDULED)->slot_ms, slot_ms + 30 * MINUTE_MS);
}

TEST(an_edit_does_not_wait_for_a_clock_that_was_far_ahead)
{
    WORLD(w);
    world_set_clock(&w, 365 * 24 * HOUR_MS);
    const struct submission *job = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    world_set_clock(&w, -365 * 24 * HOUR_MS);
    EDIT(&w, job->job_id, 1, true, .every_ms = MINUTE_MS);
    world_turn(&w);
    assert_in_range(find_exec(&w, job->job_id, EXEC_SCHEDULED)->slot_ms, w.now_ms + 1,
                    w.now_ms + MINUTE_MS);
}

TEST(a_schedule_without_slots_is_refused)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    struct asked *edit = EDIT(&w, job->job_id, 1, true, .every_ms = WHEN_MAX_MS);
    world_turn(&w);
    assert_refused(edit, RC_INVALID);
}

TEST(an_edit_that_needs_one_lane_too_many_is_refused)
{
    struct engine_options options = engine_defaults;
    options.lanes_max = 1;
    WORLD_WITH(w, options);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct asked *edit = EDIT(&w, job->job_id, 1, false, .handler = "x");
    world_turn(&w);
    assert_refused(edit, RC_BUSY);
}
