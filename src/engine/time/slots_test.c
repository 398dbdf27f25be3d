/* Jobs with a schedule: slots, misfires, overlap, pause and resume. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

#define SECOND_MS INT64_C(1000)

/* The only execution of the job in this state, or NULL. */
static const struct exec_rec *find_exec(const struct world *w, uint64_t job_id,
                                        enum exec_state state)
{
    const struct exec_rec *found = NULL;
    const struct map *both[] = {&w->table.live, &w->table.history};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        MAP_EACH(both[i], slot)
        {
            const struct exec_rec *x = slot->value;
            if (x->job_id != job_id || x->state != state)
                continue;
            assert_null(found);
            found = x;
        }
    }
    return found;
}

static size_t count_execs(const struct world *w, uint64_t job_id, enum exec_state state)
{
    size_t count = 0;
    const struct map *both[] = {&w->table.live, &w->table.history};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        MAP_EACH(both[i], slot)
        {
            const struct exec_rec *x = slot->value;
            count += x->job_id == job_id && x->state == state;
        }
    }
    return count;
}

/* A worker that has one lease of the only job there is, and reports as it is told. */
static void finish(struct world *w, struct fake *f, const struct poll_lease *lease,
                   enum outcome outcome)
{
    struct asked *asked = ask_report(w, f, lease, outcome);
    asked->cmd.poll.wait_ms = 0;
    world_turn(w);
    assert_true(was_accepted(asked));
}

static struct asked *ask_job(struct world *w, enum command_kind kind, uint64_t job_id)
{
    struct asked *asked = ask_about(w, kind, job_id);
    world_turn(w);
    return asked;
}

/* ---- slots */

TEST(the_first_slot_of_an_interval_is_one_interval_ahead)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = MINUTE_MS);
    world_turn(&w);
    assert_int_equal(job->due_ms, w.now_ms + MINUTE_MS);
    const struct exec_rec *ahead = find_exec(&w, job->job_id, EXEC_SCHEDULED);
    assert_int_equal(ahead->origin, ORIGIN_SLOT);
    assert_int_equal(ahead->slot_ms, w.now_ms + MINUTE_MS);
}

TEST(a_slot_fires_and_the_next_is_put_ahead_in_the_same_commit)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = MINUTE_MS);
    world_turn(&w);
    int64_t first_ms = job->due_ms;
    world_pass(&w, MINUTE_MS + 7); /* a little late: the next one does not drift */
    assert_int_equal(find_exec(&w, job->job_id, EXEC_QUEUED)->slot_ms, first_ms);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SCHEDULED)->slot_ms, first_ms + MINUTE_MS);
    assert_int_equal(w.delta.exec_count, 2);
    assert_int_equal(w.delta.job_count, 0); /* nothing else remembers where it stands */
}

TEST(a_job_with_a_schedule_stays_active_when_a_run_ends)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .every_ms = MINUTE_MS, .name = "a");
    world_turn(&w);
    for (size_t i = 0; i < 3; i++) {
        world_pass(&w, MINUTE_MS);
        struct poll_lease lease = fake_lease(&w, &f);
        finish(&w, &f, &lease, i == 1 ? OUTCOME_PERMANENT : OUTCOME_SUCCEEDED);
        assert_int_equal(job_state_of(&w, job->job_id), JOB_ACTIVE);
    }
    assert_int_equal(count_execs(&w, job->job_id, EXEC_COMPLETED), 2);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_FAILED), 1);
}

TEST(a_slot_beyond_the_horizon_waits_in_the_store)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .cron = "0 3 * * *");
    world_turn(&w);
    assert_int_equal(engine_live_count(w.engine), 0);
    for (size_t day = 0; day < 3; day++) {
        int64_t slot_ms = find_exec(&w, job->job_id, EXEC_SCHEDULED)->slot_ms;
        while (w.now_ms < slot_ms)
            world_pass(&w, world_wait_ms(&w));
        struct fake f = HIRE(&w);
        struct poll_lease lease = fake_lease(&w, &f);
        assert_int_equal(lease.slot_ms % (24 * HOUR_MS), 3 * HOUR_MS);
        finish(&w, &f, &lease, OUTCOME_SUCCEEDED);
    }
    assert_int_equal(count_execs(&w, job->job_id, EXEC_COMPLETED), 3);
}

TEST(a_schedule_goes_on_after_a_restart)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = MINUTE_MS);
    world_turn(&w);
    world_pass(&w, MINUTE_MS);
    world_restart(&w);
    world_turn(&w);
    world_pass(&w, MINUTE_MS);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 1);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_SKIPPED), 1); /* by overlap */
}

TEST(a_job_that_is_cancelled_while_a_run_stops_tells_its_end_itself)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    ask_job(&w, CMD_TRIGGER_JOB, job->job_id);
    fake_start(&w, &f);
    ask_job(&w, CMD_CANCEL_JOB, job->job_id); /* the slot ahead ends, the run has to stop first */
    assert_int_equal(count_execs(&w, job->job_id, EXEC_STOPPING), 1);
    for (size_t i = 0; i < w.delta.exec_count; i++)
        assert_null(w.delta.execs[i].ends_job);
}

/* ---- after downtime */

/* The server is away for an hour and ten seconds. */
static const struct submission *miss_slots(struct world *w, struct wish wish)
{
    if (wish.every_ms == 0)
        wish.every_ms = MINUTE_MS;
    const struct submission *job = ask_submit_one(w, wish);
    world_turn(w);
    w->now_ms += HOUR_MS + 10 * SECOND_MS;
    world_restart(w);
    world_turn(w);
    return job;
}

TEST(after_downtime_the_latest_slot_runs_and_the_others_are_one_record)
{
    WORLD(w);
    const struct submission *job = miss_slots(&w, (struct wish){.overlap = OVERLAP_PARALLEL});
    const struct exec_rec *skipped = find_exec(&w, job->job_id, EXEC_SKIPPED);
    assert_int_equal(skipped->slot_count, 59);
    assert_int_equal(skipped->slot_ms, job->due_ms);
    assert_int_equal(skipped->slot_last_ms, job->due_ms + 58 * MINUTE_MS);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_QUEUED)->slot_ms,
                     job->due_ms + 59 * MINUTE_MS);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SCHEDULED)->slot_ms,
                     job->due_ms + 60 * MINUTE_MS);
}

TEST(after_downtime_all_run_up_to_a_limit)
{
    WORLD(w);
    const struct submission *job = miss_slots(
        &w, (struct wish){.overlap = OVERLAP_PARALLEL, .misfire = {MISFIRE_ALL, HOUR_MS, 20}});
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 20);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SKIPPED)->slot_count, 40);
}

TEST(what_is_older_than_its_grace_has_a_record_of_its_own)
{
    WORLD(w);
    const struct submission *job =
        miss_slots(&w, (struct wish){.overlap = OVERLAP_PARALLEL,
                                     .misfire = {MISFIRE_LATEST, 10 * MINUTE_MS, 100}});
    assert_int_equal(count_execs(&w, job->job_id, EXEC_SKIPPED), 2);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 1);
}

TEST(after_downtime_nothing_runs_when_the_policy_is_skip)
{
    WORLD(w);
    const struct submission *job =
        miss_slots(&w, (struct wish){.every_ms = 7 * MINUTE_MS,
                                     .overlap = OVERLAP_PARALLEL,
                                     .misfire = {MISFIRE_SKIP, HOUR_MS * 24, 1}});
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 0);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SKIPPED)->slot_count, 8);
    world_pass(&w, find_exec(&w, job->job_id, EXEC_SCHEDULED)->due_ms - w.now_ms);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 1);
}

TEST(but_a_stall_of_less_than_a_minute_costs_no_slot)
{
    WORLD(w);
    const struct submission *job = miss_slots(
        &w, (struct wish){.overlap = OVERLAP_PARALLEL, .misfire = {MISFIRE_SKIP, HOUR_MS * 24, 1}});
    assert_int_equal(find_exec(&w, job->job_id, EXEC_QUEUED)->slot_ms,
                     job->due_ms + 59 * MINUTE_MS);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SKIPPED)->slot_count, 59);
    const struct submission *slow =
        SUBMIT(&w, .every_ms = HOUR_MS, .misfire = {MISFIRE_SKIP, HOUR_MS, 1});
    world_turn(&w);
    world_pass(&w, HOUR_MS + 30 * SECOND_MS);
    assert_int_equal(count_execs(&w, slow->job_id, EXEC_QUEUED), 1);
}

/* Each runs, one after the other, and none is replaced or skipped. */
TEST(what_is_made_up_waits_whatever_the_overlap)
{
    static const enum overlap overlaps[] = {OVERLAP_SKIP, OVERLAP_QUEUE, OVERLAP_REPLACE};
    for (size_t i = 0; i < COUNT_OF(overlaps); i++) {
        WORLD(w);
        const struct submission *job = miss_slots(
            &w, (struct wish){.overlap = overlaps[i], .misfire = {MISFIRE_ALL, HOUR_MS, 20}});
        struct fake f = HIRE(&w, .slots = 30);
        assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 1);
        assert_int_equal(count_execs(&w, job->job_id, EXEC_BLOCKED), 19);
        for (int64_t no = 0; no < 20; no++) {
            struct poll_lease lease = fake_start(&w, &f);
            assert_int_equal(exec_of(&w, lease.exec_id)->v.slot_ms,
                             job->due_ms + (40 + no) * MINUTE_MS);
            fake_drop(&f, lease.exec_id);
            finish(&w, &f, &lease, OUTCOME_SUCCEEDED);
        }
        assert_int_equal(count_execs(&w, job->job_id, EXEC_BLOCKED), 0);
    }
}

/* Also the last of them, which is alone on its page. */
TEST(a_turn_makes_up_no_more_than_a_page)
{
    struct engine_options options = engine_defaults;
    options.due_max = 5;
    WORLD_WITH(w, options);
    const struct submission *job = miss_slots(
        &w, (struct wish){.overlap = OVERLAP_SKIP, .misfire = {MISFIRE_ALL, HOUR_MS, 21}});
    for (size_t page = 1; page <= 4; page++) {
        assert_int_equal(count_execs(&w, job->job_id, EXEC_BLOCKED), 5 * page - 1);
        assert_int_equal(count_execs(&w, job->job_id, EXEC_SCHEDULED), 1);
        assert_int_equal(world_wait_ms(&w), 0);
        world_turn(&w);
    }
    assert_int_equal(count_execs(&w, job->job_id, EXEC_BLOCKED), 20);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_SKIPPED), 1);
    assert_true(find_exec(&w, job->job_id, EXEC_SCHEDULED)->due_ms > w.now_ms);
}

/* ---- overlap */

TEST(a_slot_is_skipped_while_the_run_before_it_is_not_over)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .every_ms = SECOND_MS);
    world_turn(&w);
    world_pass(&w, SECOND_MS);
    fake_start(&w, &f);
    world_pass(&w, SECOND_MS);
    const struct exec_rec *skipped = find_exec(&w, job->job_id, EXEC_SKIPPED);
    assert_int_equal(skipped->slot_ms, job->due_ms + SECOND_MS);
    assert_true(str_index(skipped->trail, 'o') < skipped->trail.len);
}

TEST(a_run_that_waits_for_its_next_attempt_is_not_over_either)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job =
        SUBMIT(&w, .every_ms = MINUTE_MS, .retries = 1, .policy = RETRY_FIXED, .retry_ms = HOUR_MS);
    world_turn(&w);
    world_pass(&w, MINUTE_MS);
    struct poll_lease lease = fake_lease(&w, &f);
    finish(&w, &f, &lease, OUTCOME_FAILED);
    world_pass(&w, MINUTE_MS); /* although its next attempt lies beyond the horizon */
    assert_int_equal(count_execs(&w, job->job_id, EXEC_SKIPPED), 1);
    world_restart(&w);
    world_turn(&w);
    world_pass(&w, MINUTE_MS);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_SKIPPED), 2);
}

TEST(slots_wait_for_each_other_when_they_queue)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4);
    const struct submission *job = SUBMIT(&w, .every_ms = SECOND_MS, .overlap = OVERLAP_QUEUE);
    world_turn(&w);
    world_pass(&w, SECOND_MS);
    struct poll_lease lease = fake_start(&w, &f);
    world_pass(&w, SECOND_MS);
    world_pass(&w, SECOND_MS);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_BLOCKED), 2);
    finish(&w, &f, &lease, OUTCOME_SUCCEEDED);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_QUEUED)->slot_ms, job->due_ms + SECOND_MS);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_BLOCKED), 1);
}

TEST(no_more_slots_wait_than_may)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .every_ms = SECOND_MS, .overlap = OVERLAP_QUEUE);
    world_turn(&w);
    world_pass(&w, SECOND_MS);
    fake_start(&w, &f);
    for (size_t i = 0; i < SPEC_OVERLAP_QUEUE_MAX + 2; i++) {
        ask_poll(&w, &f, 0);
        world_pass(&w, SECOND_MS);
    }
    assert_int_equal(count_execs(&w, job->job_id, EXEC_BLOCKED), SPEC_OVERLAP_QUEUE_MAX);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_SKIPPED), 2);
}

TEST(a_slot_that_replaces_waits_until_the_other_is_gone)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .every_ms = SECOND_MS, .overlap = OVERLAP_REPLACE);
    world_turn(&w);
    world_pass(&w, SECOND_MS);
    struct poll_lease lease = fake_start(&w, &f);
    world_pass(&w, SECOND_MS);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_STOPPING), 1);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_BLOCKED), 1);
    finish(&w, &f, &lease, OUTCOME_STOPPED);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_CANCELLED), 1);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 1);
    world_pass(&w, SECOND_MS); /* what has not begun is replaced at once */
    assert_int_equal(count_execs(&w, job->job_id, EXEC_CANCELLED), 2);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 1);
}

/* ---- pause, resume, trigger, cancel */

TEST(a_paused_job_fires_nothing_and_what_it_missed_is_one_record)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = MINUTE_MS);
    world_turn(&w);
    ask_job(&w, CMD_PAUSE_JOB, job->job_id);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_PAUSED);
    for (size_t i = 0; i < 5; i++)
        world_pass(&w, MINUTE_MS);
    world_restart(&w);
    world_turn(&w);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_SKIPPED), 0);
    ask_job(&w, CMD_RESUME_JOB, job->job_id);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SKIPPED)->slot_count, 5);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 0);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SCHEDULED)->slot_ms,
                     job->due_ms + 5 * MINUTE_MS);
}

TEST(a_pause_between_two_slots_leaves_no_trace_in_the_schedule)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = MINUTE_MS);
    world_turn(&w);
    ask_job(&w, CMD_PAUSE_JOB, job->job_id);
    w.now_ms += MINUTE_MS - 1;
    ask_job(&w, CMD_RESUME_JOB, job->job_id);
    world_pass(&w, 1);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 1);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_SKIPPED), 0);
}

TEST(a_paused_job_that_runs_once_runs_when_it_is_resumed)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    ask_job(&w, CMD_PAUSE_JOB, job->job_id);
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(poll->answers, 0);
    ask_job(&w, CMD_RESUME_JOB, job->job_id);
    assert_int_equal(poll->answers, 1);
    assert_int_equal(poll->cmd.reply.poll.lease_count, 1);
}

TEST(a_run_somebody_asks_for_leaves_the_schedule_alone)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .cron = "0 3 * * *");
    world_turn(&w);
    struct asked *asked = ask_job(&w, CMD_TRIGGER_JOB, job->job_id);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_int_equal(asked->cmd.reply.exec_state, EXEC_QUEUED);
    struct asked *again = ask_job(&w, CMD_TRIGGER_JOB, job->job_id);
    assert_int_equal(again->cmd.reply.rc, RC_CONFLICT); /* overlap: skip */
    struct poll_lease lease = fake_lease(&w, &f);
    finish(&w, &f, &lease, OUTCOME_SUCCEEDED);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SCHEDULED)->slot_ms, job->due_ms);
    struct asked *retry = ask_job(&w, CMD_RETRY_EXEC, lease.exec_id);
    assert_int_equal(retry->cmd.reply.rc, RC_OK);
}

TEST(a_job_for_later_may_be_asked_for_now)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 5 * HOUR_MS);
    world_turn(&w);
    assert_int_equal(ask_job(&w, CMD_TRIGGER_JOB, job->job_id)->cmd.reply.rc, RC_OK);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(ask_job(&w, CMD_TRIGGER_JOB, job->job_id)->cmd.reply.rc, RC_CONFLICT);
}

TEST(cancelling_a_job_ends_its_schedule_and_all_its_runs)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .cron = "0 * * * *", .name = "a");
    world_turn(&w);
    ask_job(&w, CMD_TRIGGER_JOB, job->job_id);
    struct poll_lease lease = fake_start(&w, &f);
    ask_job(&w, CMD_CANCEL_JOB, job->job_id);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_CANCELLED);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_CANCELLED), 1);
    assert_int_equal(w.table.claims[CLAIM_NAME].len, 1); /* what runs still has the name */
    finish(&w, &f, &lease, OUTCOME_STOPPED);
    assert_int_equal(w.table.claims[CLAIM_NAME].len, 0);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_CANCELLED), 2);
}

TEST(cancelling_the_slot_ahead_puts_the_next_one_ahead)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = MINUTE_MS);
    world_turn(&w);
    ask_job(&w, CMD_CANCEL_EXEC, job->exec_id);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SCHEDULED)->slot_ms, job->due_ms + MINUTE_MS);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_ACTIVE);
}

TEST(a_cancelled_job_that_is_asked_to_run_again_leaves_its_name_to_others)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = MINUTE_MS, .name = "a");
    world_turn(&w);
    ask_job(&w, CMD_CANCEL_JOB, job->job_id);
    SUBMIT(&w, .name = "b"); /* so that there is something to keep */
    assert_int_equal(ask_job(&w, CMD_RETRY_EXEC, job->exec_id)->cmd.reply.rc, RC_CONFLICT);
    assert_int_equal(w.table.claims[CLAIM_NAME].len, 1);
    assert_null(strmap_get(&w.table.claims[CLAIM_NAME], STR("a")));
}

/* ---- clocks */

TEST(a_clock_set_back_fires_no_slot_twice)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = MINUTE_MS, .overlap = OVERLAP_PARALLEL);
    world_turn(&w);
    world_pass(&w, MINUTE_MS);
    world_set_clock(&w, -10 * MINUTE_MS);
    for (size_t i = 0; i < 10; i++)
        world_pass(&w, MINUTE_MS);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 1);
    world_pass(&w, MINUTE_MS);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 2);
}

TEST(a_run_that_is_refused_after_the_end_leaves_the_name_free)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .name = "nightly", .every_ms = HOUR_MS);
    world_turn(&w);
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    struct asked *again = ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
    SUBMIT(&w); /* so that the turn is kept, and its claims with it */
    world_turn(&w);
    assert_int_equal(again->cmd.reply.rc, RC_CONFLICT);
    const struct submission *next = SUBMIT(&w, .name = "nightly", .every_ms = HOUR_MS);
    world_turn(&w);
    assert_int_equal(next->rc, RC_OK);
}

TEST(texts_are_kept_in_memory_only_when_the_first_slot_is_near)
{
    WORLD(w);
    const struct submission *near = SUBMIT(&w, .every_ms = MINUTE_MS);
    const struct submission *far = SUBMIT(&w, .every_ms = HOUR_MS / 2);
    world_turn(&w);
    assert_true(exec_of(&w, near->exec_id)->job->v.def->rules.spec_len > 0);
    assert_int_equal(exec_of(&w, far->exec_id)->job->v.def->rules.spec_len, 0);
}

TEST(what_is_run_again_keeps_its_slot)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    SUBMIT(&w, .every_ms = MINUTE_MS);
    world_turn(&w);
    world_pass(&w, MINUTE_MS);
    int64_t slot_ms = w.now_ms;
    struct poll_lease lease = fake_lease(&w, &f);
    finish(&w, &f, &lease, OUTCOME_PERMANENT);
    w.now_ms += 5000;
    struct asked *again = ask_job(&w, CMD_RETRY_EXEC, lease.exec_id);
    const struct exec_rec *x = map_get(&w.table.live, again->cmd.reply.exec_id);
    assert_int_equal(x->slot_ms, slot_ms);
    assert_int_equal(x->origin, ORIGIN_REQUEST);
}
