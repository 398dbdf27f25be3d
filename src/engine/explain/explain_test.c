/* Why something does not run: what lies in its own life. */
#include "engine/test/explain.h"

static void report_failure(struct world *w, struct fake *f, const struct poll_lease *lease)
{
    ask_report(w, f, lease, OUTCOME_FAILED);
    world_turn(w);
}

/* ---- somebody holds it back */

TEST(a_paused_job_says_by_whom_since_when_and_why)
{
    WORLD(w);
    hire_parked(&w, (struct skills){.slots = 1}, 1);
    const struct submission *job = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    int64_t then_ms = w.now_ms;
    pause_job(&w, job->job_id, "the disk is full");
    w.now_ms += 1000;
    const struct explanation *found = explain_job(&w, job);
    const struct blocker *b = find(found, BLOCKER_JOB_PAUSED);
    assert_non_null(b);
    assert_int_equal(b->since_ms, then_ms);
    assert_int_equal(b->until_ms, 0);
    assert_true(str_eq(b->by, STR("key:admin")));
    assert_says(b->text, "the disk is full");
    assert_says(b->text, "belfry resume job_");
    assert_non_null(find(found, BLOCKER_SCHEDULED));
    assert_int_equal(found->blocker_count, 2);
}

TEST(a_pause_of_this_very_turn_is_told)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    struct asked *pause = ask_about(&w, CMD_PAUSE_JOB, job->job_id);
    pause->cmd.actor = STR("key:night");
    struct asked *asked = ask_about(&w, CMD_EXPLAIN_JOB, job->job_id);
    world_turn(&w);
    const struct blocker *b = find(asked->cmd.reply.explanation, BLOCKER_JOB_PAUSED);
    assert_non_null(b);
    assert_true(str_eq(b->by, STR("key:night")));
    assert_int_equal(b->since_ms, w.now_ms);
}

TEST(a_paused_queue_says_by_whom_and_how_to_resume_it)
{
    WORLD(w);
    hire_parked(&w, (struct skills){.slots = 1}, 1);
    int64_t then_ms = w.now_ms;
    ask_queue(&w, "mail", (struct queue_wish){.run = QUEUE_PAUSE});
    const struct submission *job = SUBMIT(&w, .queue = "mail");
    world_pass(&w, 1);
    const struct blocker *b = only(&w, job, BLOCKER_QUEUE_PAUSED);
    assert_true(str_eq(b->queue, STR("mail")));
    assert_true(str_eq(b->by, STR("key:admin")));
    assert_int_equal(b->since_ms, then_ms + 1);
    assert_says(b->text, "belfry queues resume mail");
}

/* ---- its time has not come */

static void put_calendar(struct world *w, const char *policy, int64_t from_ms, int64_t to_ms)
{
    char text[100];
    snprintf(text, sizeof text, "%s %" PRId64 "-%" PRId64, policy, from_ms / 1000, to_ms / 1000);
    ask_put_calendar(w, "freeze", text);
    world_turn(w);
}

TEST(what_a_calendar_holds_says_which_and_until_when)
{
    WORLD(w);
    hire_parked(&w, (struct skills){.slots = 1}, 1);
    int64_t end_ms = w.now_ms + 5 * MINUTE_MS;
    put_calendar(&w, "hold", w.now_ms, end_ms);
    const struct submission *job = SUBMIT(&w, .calendars = "freeze");
    world_turn(&w);
    int64_t since_ms = w.now_ms;
    w.now_ms += 1000;
    const struct blocker *b = only(&w, job, BLOCKER_CALENDAR);
    assert_int_equal(b->until_ms, end_ms);
    assert_int_equal(b->since_ms, since_ms);
    assert_true(str_eq(b->calendar, STR("freeze")));
    assert_says(b->text,
                "the calendar 'freeze' holds it since 2027-01-15 08:00:00Z, until 2027-01-15 "
                "08:05:00Z");
}

TEST(a_slot_ahead_says_what_its_calendar_will_do)
{
    WORLD(w);
    hire_parked(&w, (struct skills){.slots = 1}, 1);
    put_calendar(&w, "skip", w.now_ms + MINUTE_MS, w.now_ms + 2 * MINUTE_MS);
    const struct submission *job = SUBMIT(&w, .calendars = "freeze", .every_ms = MINUTE_MS);
    world_turn(&w);
    const struct blocker *b = only(&w, job, BLOCKER_SCHEDULED);
    assert_says(b->text,
                ", and will be skipped then: calendar 'freeze', until 2027-01-15T08:02:00");
}

TEST(a_job_for_later_says_when)
{
    WORLD(w);
    hire_parked(&w, (struct skills){.slots = 1}, 1);
    int64_t at_ms = w.now_ms + 5 * MINUTE_MS;
    const struct submission *job = SUBMIT(&w, .when = WHEN_AT, .when_ms = at_ms);
    world_turn(&w);
    const struct blocker *b = only(&w, job, BLOCKER_SCHEDULED);
    assert_int_equal(b->until_ms, at_ms);
    assert_says(b->text, "it is scheduled for 2027-01-15 08:05:00Z");
}

TEST(a_job_beyond_the_horizon_is_explained_and_stays_there)
{
    WORLD(w);
    hire_parked(&w, (struct skills){.slots = 1}, 1);
    const struct submission *job = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 48 * HOUR_MS);
    world_turn(&w);
    assert_null(exec_of(&w, job->exec_id));
    assert_int_equal(only(&w, job, BLOCKER_SCHEDULED)->until_ms, w.now_ms + 48 * HOUR_MS);
    assert_null(exec_of(&w, job->exec_id));
    assert_null(map_get(&w.engine->jobs, job->job_id));
}

TEST(a_slot_with_stagger_says_both)
{
    WORLD(w);
    hire_parked(&w, (struct skills){.slots = 1}, 1);
    const struct submission *job = SUBMIT(&w, .cron = "0 9 * * *", .stagger_ms = 30 * MINUTE_MS);
    w.delta =
        *world_decide(&w); /* once: the share of the stagger goes by the id, which is new twice */
    world_commit(&w);
    const struct blocker *b = only(&w, job, BLOCKER_SCHEDULED);
    assert_int_equal(b->until_ms, job->due_ms);
    assert_says(b->text, "its slot of 2027-01-15 09:00:00Z and ");
    assert_says(b->text, " of stagger");
}

TEST(a_retry_says_when_it_comes_and_why_the_last_attempt_failed)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    const struct submission *job =
        SUBMIT(&w, .retries = 3, .policy = RETRY_FIXED, .retry_ms = MINUTE_MS);
    struct poll_lease lease = fake_start(&w, &f);
    report_failure(&w, &f, &lease);
    const struct blocker *b = only(&w, job, BLOCKER_RETRY);
    assert_int_equal(b->until_ms, w.now_ms + MINUTE_MS);
    assert_int_equal(b->used, 1);
    assert_int_equal(b->limit, 4);
    assert_says(b->text, "attempt 1 of 4 failed: exit code 3; the next one begins at ");
}

/* ---- other runs of the same job */

TEST(a_slot_that_waits_for_the_run_before_it_names_it)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    const struct submission *job = SUBMIT(&w, .every_ms = 10000, .overlap = OVERLAP_QUEUE);
    world_turn(&w);
    world_pass(&w, 10000);
    struct poll_lease lease = fake_start(&w, &f);
    world_pass(&w, 10000);
    const struct blocker *b = only(&w, job, BLOCKER_OVERLAP);
    assert_int_equal(b->exec_count, 1);
    assert_int_equal(b->execs[0], lease.exec_id);
    assert_int_equal(b->ahead, 0);
    assert_says(b->text, "is over (overlap: queue)");
    ask_about(&w, CMD_CANCEL_EXEC, lease.exec_id);
    world_turn(&w);
    assert_says(only(&w, job, BLOCKER_OVERLAP)->text, "has stopped");
}

/* ---- what runs, and what is over */

TEST(a_job_that_waits_for_others_names_them)
{
    WORLD(w);
    hire_parked(&w, (struct skills){.slots = 1, .queues = "default"}, 1);
    struct dependency_wish on[12];
    for (size_t i = 0; i < COUNT_OF(on); i++) {
        const struct submission *up = SUBMIT(&w, .queue = "never");
        world_turn(&w);
        on[i] = (struct dependency_wish){.job_id = up->job_id, .type = DEPENDS_FAILURE};
    }
    const struct submission *few = SUBMIT(&w, .after = on, .after_count = 2);
    const struct submission *many = SUBMIT(&w, .after = on, .after_count = COUNT_OF(on));
    world_turn(&w);
    char id[ID_TEXT_MAX];
    id_format(id, ID_JOB, on[1].job_id);
    const struct blocker *b = only(&w, few, BLOCKER_DEPENDENCY);
    assert_says(b->text, "it waits for the failure of job_");
    assert_says(b->text, id);
    assert_int_equal(b->ahead, 2);
    b = only(&w, many, BLOCKER_DEPENDENCY);
    assert_says(b->text, "and of 2 more");
    assert_int_equal(b->ahead, 12);
}

TEST(what_runs_is_blocked_by_nothing)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    const struct explanation *found = explain_job(&w, job);
    assert_int_equal(found->blocker_count, 0);
    assert_says(found->summary, "it runs on wrk_");
}

TEST(what_is_about_to_start_is_blocked_by_nothing)
{
    WORLD(w);
    HIRE(&w, .slots = 1);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    assert_says(explain_job(&w, job)->summary, "nothing holds it back");
}

TEST(a_slot_that_waits_for_the_slot_of_another_job_names_it)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    const struct dependency_wish on = {.job_id = up->job_id, .type = DEPENDS_SUCCESS};
    const struct submission *down = SUBMIT(&w, .every_ms = HOUR_MS, .after = &on);
    world_turn(&w);
    world_pass(&w, HOUR_MS);
    world_turn(&w); /* asks for the slot */
    const struct explanation *why = explain(&w, CMD_EXPLAIN_EXEC, down->exec_id);
    const struct blocker *b = find(why, BLOCKER_DEPENDENCY);
    assert_says(b->text, "it waits for the success of job_");
    assert_says(b->text, "(its slot exec_");
    assert_int_equal(b->exec_count, 1);
    assert_int_equal(b->execs[0], up->exec_id);
    assert_null(find(why, BLOCKER_OVERLAP));
}

TEST(what_expires_says_when)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .expires_in_ms = HOUR_MS);
    const struct submission *later =
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = MINUTE_MS, .expires_in_ms = HOUR_MS);
    const struct submission *other = SUBMIT(&w);
    world_turn(&w);
    int64_t now_ms = w.now_ms;
    assert_int_equal(explain(&w, CMD_EXPLAIN_EXEC, job->exec_id)->expires_ms, now_ms + HOUR_MS);
    assert_int_equal(explain(&w, CMD_EXPLAIN_EXEC, later->exec_id)->expires_ms,
                     now_ms + MINUTE_MS + HOUR_MS);
    assert_int_equal(explain(&w, CMD_EXPLAIN_EXEC, other->exec_id)->expires_ms, 0);
}

TEST(what_is_stopping_says_who_asked_and_for_whom_it_waits)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    ask_about(&w, CMD_CANCEL_EXEC, job->exec_id)->cmd.target.reason = STR("a mistake");
    world_turn(&w);
    const struct explanation *found = explain(&w, CMD_EXPLAIN_EXEC, job->exec_id);
    assert_int_equal(found->blocker_count, 1);
    assert_int_equal(found->blockers[0].kind, BLOCKER_STOPPING);
    assert_true(str_eq(found->blockers[0].by, STR("key:admin")));
    assert_says(found->summary, "key:admin asked to stop it: a mistake; it is over when wrk_");
}

TEST(what_is_over_says_why)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    const struct submission *job = SUBMIT(&w);
    struct poll_lease lease = fake_start(&w, &f);
    report_failure(&w, &f, &lease);
    int64_t then_ms = w.now_ms;
    w.now_ms += 1000;
    const struct blocker *b = only(&w, job, BLOCKER_FINISHED);
    assert_int_equal(b->since_ms, then_ms);
    assert_says(b->text, ": failed: exit code 3; run it again: belfry retry exec_");
    const struct explanation *same = explain(&w, CMD_EXPLAIN_EXEC, job->exec_id);
    assert_true(str_eq(same->summary, b->text));
}

TEST(what_was_cancelled_says_by_whom_and_not_who_obeyed)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    const struct submission *job = SUBMIT(&w);
    struct poll_lease lease = fake_start(&w, &f);
    ask_about(&w, CMD_CANCEL_EXEC, job->exec_id)->cmd.target.reason = STR("a mistake");
    world_turn(&w);
    ask_report(&w, &f, &lease, OUTCOME_STOPPED);
    world_turn(&w);
    const struct blocker *b = only(&w, job, BLOCKER_FINISHED);
    assert_true(str_eq(b->by, STR("key:admin")));
    assert_says(b->text, ": cancelled: a mistake");
}

TEST(a_schedule_that_was_cancelled_says_so)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    ask_about(&w, CMD_CANCEL_JOB, job->job_id)->cmd.target.reason = STR("not needed");
    world_turn(&w);
    struct asked *asked = ask_about(&w, CMD_EXPLAIN_JOB, job->job_id);
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.exec_id, 0);
    assert_int_equal(asked->cmd.reply.job_state, JOB_CANCELLED);
    assert_says(asked->cmd.reply.explanation->summary, ": cancelled: not needed");
}

TEST(what_is_not_there_cannot_be_explained)
{
    WORLD(w);
    struct asked *job = ask_about(&w, CMD_EXPLAIN_JOB, 99);
    struct asked *exec = ask_about(&w, CMD_EXPLAIN_EXEC, 99);
    world_turn(&w);
    assert_int_equal(job->cmd.reply.rc, RC_NOT_FOUND);
    assert_int_equal(exec->cmd.reply.rc, RC_NOT_FOUND);
}

TEST(what_a_silent_worker_may_still_run_says_until_when)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    const struct submission *job = SUBMIT(&w);
    fake_start(&w, &f);
    world_restart(&w);
    world_pass(&w, 1000);
    const struct blocker *b = only(&w, job, BLOCKER_UNHEARD);
    assert_int_equal(b->until_ms, w.now_ms - 1000 + w.options.lease_ms);
    assert_says(b->text, "has not been heard");
    ask_poll(&w, &f, 0);
    world_turn(&w);
    assert_says(explain_job(&w, job)->summary, "it runs on");
}

TEST(of_a_jobs_runs_the_one_that_waits_is_explained)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    const struct submission *job = SUBMIT(&w, .every_ms = 10000, .overlap = OVERLAP_PARALLEL);
    world_turn(&w);
    world_pass(&w, 10000);
    struct poll_lease lease = fake_start(&w, &f);
    assert_says(explain_job(&w, job)->summary, "it runs on"); /* and not: the next is scheduled */
    world_pass(&w, 10000);
    struct asked *asked = ask_about(&w, CMD_EXPLAIN_JOB, job->job_id);
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.exec_state, EXEC_QUEUED);
    assert_int_not_equal(asked->cmd.reply.exec_id, lease.exec_id);
    assert_says(explain(&w, CMD_EXPLAIN_EXEC, lease.exec_id)->summary, "it runs on");
}
