/* The wall clock is set while there is work. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

#include <string.h>

#define DAY_MS (24 * HOUR_MS)
#define YEAR_MS (365 * DAY_MS)

/* Turns until the engine has nothing to do at once. */
static void settle(struct world *w)
{
    for (int i = 0; i < 50 && (i == 0 || world_wait_ms(w) == 0); i++)
        world_turn(w);
}

static void step(struct world *w, int64_t by_ms)
{
    world_step(w, by_ms);
    settle(w);
}

static const struct exec_rec *live(const struct world *w, uint64_t exec_id)
{
    return map_get(&w->table.live, exec_id);
}

static const struct exec_rec *ahead_of(const struct world *w, uint64_t job_id)
{
    MAP_EACH(&w->table.live, slot)
    {
        const struct exec_rec *x = slot->value;
        if (x->job_id == job_id && x->state == EXEC_SCHEDULED)
            return x;
    }
    return NULL;
}

static size_t alerts_about_clock(const struct world *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->table.alerts.len; i++)
        count += w->table.alerts.items[i]->kind == ALERT_CLOCK;
    return count;
}

/* ---- what moves along */

TEST(a_delay_lasts_as_long_as_it_was_told)
{
    const int64_t steps_ms[] = {-YEAR_MS, -HOUR_MS, HOUR_MS, YEAR_MS};
    for (size_t i = 0; i < COUNT_OF(steps_ms); i++) {
        WORLD(w);
        const struct submission *job = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 30 * MINUTE_MS);
        world_turn(&w);
        world_pass(&w, 10 * MINUTE_MS);
        step(&w, steps_ms[i]);
        assert_int_equal(live(&w, job->exec_id)->due_ms, w.now_ms + 20 * MINUTE_MS);
        assert_int_equal(live(&w, job->exec_id)->slot_ms, w.now_ms + 20 * MINUTE_MS);
        world_pass(&w, 20 * MINUTE_MS - 1);
        assert_int_equal(state_of(&w, job->exec_id), EXEC_SCHEDULED);
        world_pass(&w, 1);
        settle(&w);
        assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
        assert_int_equal(alerts_about_clock(&w), 1);
    }
}

TEST(a_delay_that_was_loaded_moves_as_well)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 30 * 1000);
    world_turn(&w);
    world_restart(&w);
    step(&w, DAY_MS);
    assert_int_equal(live(&w, job->exec_id)->due_ms, w.now_ms + 30 * 1000);
}

TEST(a_date_stays_where_it_is)
{
    WORLD(w);
    int64_t at_ms = w.now_ms + 30 * MINUTE_MS;
    const struct submission *job = SUBMIT(&w, .when = WHEN_AT, .when_ms = at_ms);
    world_turn(&w);
    step(&w, 20 * MINUTE_MS);
    assert_int_equal(live(&w, job->exec_id)->due_ms, at_ms);
    step(&w, 10 * MINUTE_MS);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(the_pause_before_a_retry_moves_along)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w, .retries = 1, .retry_ms = 5 * MINUTE_MS);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    ask_report(&w, &f, &lease, OUTCOME_FAILED);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RETRYING);
    int64_t left_ms = live(&w, job->exec_id)->due_ms - w.now_ms;
    step(&w, DAY_MS);
    assert_int_equal(live(&w, job->exec_id)->due_ms - w.now_ms, left_ms);
    step(&w, -DAY_MS);
    assert_int_equal(live(&w, job->exec_id)->due_ms - w.now_ms, left_ms);
}

TEST(what_waits_for_a_worker_does_not_expire_by_a_step)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .expires_in_ms = 10 * MINUTE_MS);
    world_turn(&w);
    world_pass(&w, 4 * MINUTE_MS);
    step(&w, HOUR_MS);
    world_pass(&w, 6 * MINUTE_MS - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    world_pass(&w, 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_EXPIRED);
}

TEST(an_sla_counts_how_long_the_attempt_has_run)
{
    const int64_t steps_ms[] = {-YEAR_MS, HOUR_MS, YEAR_MS};
    for (size_t i = 0; i < COUNT_OF(steps_ms); i++) {
        WORLD(w);
        struct fake f = HIRE(&w);
        const struct submission *job = SUBMIT(&w, .sla = {.max_ms = 5000, .policy = SLA_STRICT});
        world_turn(&w);
        (void)fake_start(&w, &f);
        world_pass(&w, 2000);
        int64_t since_ms = live(&w, job->exec_id)->sla_since_ms;
        step(&w, steps_ms[i]);
        assert_int_equal(live(&w, job->exec_id)->sla_since_ms, since_ms + steps_ms[i]);
        assert_int_equal(w.table.sla_events.len, 0);
        world_pass(&w, 2500);
        assert_int_equal(w.table.sla_events.len, 0);
        world_pass(&w, 1000);
        assert_true(w.table.sla_events.len > 0);
    }
}

TEST(a_page_in_a_turn_and_nothing_comes_due_meanwhile)
{
    struct engine_options options = engine_defaults;
    options.load_max = 4;
    WORLD_WITH(w, options);
    const struct submission *date = SUBMIT(&w, .when = WHEN_AT, .when_ms = w.now_ms + MINUTE_MS);
    for (int i = 0; i < 9; i++)
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = MINUTE_MS);
    world_turn(&w);
    world_step(&w, HOUR_MS);
    for (int i = 0; i < 2; i++) {
        world_turn(&w);
        assert_int_equal(world_wait_ms(&w), 0);
        assert_int_equal(state_of(&w, date->exec_id), EXEC_SCHEDULED);
    }
    settle(&w);
    assert_int_equal(state_of(&w, date->exec_id), EXEC_QUEUED);
    size_t waiting = 0;
    MAP_EACH(&w.table.live, slot)
    waiting += ((const struct exec_rec *)slot->value)->due_ms == w.now_ms + MINUTE_MS;
    assert_int_equal(waiting, 9);
}

/* Of what time brings the one thing that the store refuses is found by asking for less and less of
 * it. */
TEST(who_asks_for_one_thing_is_given_one)
{
    WORLD(w);
    for (int n = 0; n < 5; n++)
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = MINUTE_MS);
    world_turn(&w);
    world_step(&w, HOUR_MS);
    size_t all = engine_limit_due(w.engine, 1);
    for (int n = 0; n < 5; n++) {
        world_turn(&w);
        assert_int_equal(w.delta.exec_count, 1);
    }
    (void)engine_limit_due(w.engine, all);
    settle(&w);
    MAP_EACH(&w.table.live, slot)
    assert_int_equal(((const struct exec_rec *)slot->value)->due_ms, w.now_ms + MINUTE_MS);
}

TEST(a_step_in_the_middle_of_another_moves_nothing_that_came_since)
{
    const int64_t steps_ms[] = {-DAY_MS, HOUR_MS};
    for (size_t i = 0; i < COUNT_OF(steps_ms); i++) {
        struct engine_options options = engine_defaults;
        options.load_max = 2;
        WORLD_WITH(w, options);
        const struct submission *old = NULL;
        for (int n = 0; n < 9; n++)
            old = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = MINUTE_MS);
        const struct submission *recurs = SUBMIT(&w, .every_ms = 3 * HOUR_MS);
        world_turn(&w);
        step(&w, 10 * DAY_MS); /* the slot is one of a wrong clock now */
        world_step(&w, -10 * DAY_MS);
        world_turn(&w);
        world_step(&w, steps_ms[i]);
        const struct submission *fresh = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = MINUTE_MS);
        settle(&w);
        assert_int_equal(live(&w, old->exec_id)->due_ms, w.now_ms + MINUTE_MS);
        assert_int_equal(live(&w, fresh->exec_id)->due_ms, w.now_ms + MINUTE_MS);
        assert_in_range(ahead_of(&w, recurs->job_id)->slot_ms, w.now_ms + 1,
                        w.now_ms + 3 * HOUR_MS);
    }
}

/* A worker asks while the first page moves: what is on a later one has not waited for an hour. */
TEST(what_has_not_moved_yet_does_not_expire_when_it_is_asked_for)
{
    struct engine_options options = engine_defaults;
    options.load_max = 2;
    WORLD_WITH(w, options);
    for (int i = 0; i < 9; i++)
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = MINUTE_MS);
    const struct submission *job =
        SUBMIT(&w, .start_within_ms = MINUTE_MS, .expires_in_ms = 10 * MINUTE_MS);
    world_turn(&w);
    struct fake f = HIRE(&w);
    world_step(&w, HOUR_MS);
    ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    assert_false(live(&w, job->exec_id)->late);
}

/* Its lease was lost, and it is leased again before its page would have come. */
TEST(an_sla_between_two_leases_moves_at_once)
{
    struct engine_options options = engine_defaults;
    options.load_max = 2;
    WORLD_WITH(w, options);
    for (int i = 0; i < 9; i++)
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = HOUR_MS);
    struct fake f = HIRE(&w);
    const struct submission *job =
        SUBMIT(&w, .sla = {.max_ms = 10 * MINUTE_MS, .policy = SLA_STRICT});
    world_turn(&w);
    (void)fake_start(&w, &f);
    int64_t since_ms = live(&w, job->exec_id)->sla_since_ms;
    world_pass(&w, w.options.lease_ms);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    struct fake g = HIRE(&w);
    world_step(&w, HOUR_MS);
    ask_poll(&w, &g, 1);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    settle(&w);
    assert_int_equal(live(&w, job->exec_id)->sla_since_ms, since_ms + HOUR_MS);
    assert_int_equal(w.table.sla_events.len, 0);
}

/* ---- slots */

TEST(what_a_step_forward_passes_over_are_misfires)
{
    WORLD(w);
    const struct submission *job =
        SUBMIT(&w, .every_ms = MINUTE_MS,
               .misfire = {.policy = MISFIRE_LATEST, .grace_ms = YEAR_MS, .limit = 1});
    world_turn(&w);
    step(&w, HOUR_MS);
    uint64_t skipped = 0;
    MAP_EACH(&w.table.history, slot)
    {
        const struct exec_rec *x = slot->value;
        skipped += x->state == EXEC_SKIPPED ? x->slot_count > 1 ? x->slot_count : 1 : 0;
    }
    assert_int_equal(skipped, 59);
    assert_int_equal(ahead_of(&w, job->job_id)->slot_ms, job->due_ms + HOUR_MS);
}

TEST(after_one_the_newest_slot_runs_also_where_missed_ones_are_skipped)
{
    WORLD(w);
    const struct submission *job =
        SUBMIT(&w, .every_ms = MINUTE_MS,
               .misfire = {.policy = MISFIRE_SKIP, .grace_ms = YEAR_MS, .limit = 1});
    world_turn(&w);
    step(&w, HOUR_MS + 30000);
    size_t queued = 0;
    MAP_EACH(&w.table.live, slot)
    {
        const struct exec_rec *x = slot->value;
        queued += x->job_id == job->job_id && x->state == EXEC_QUEUED &&
                  x->slot_ms == job->due_ms + 59 * MINUTE_MS;
    }
    assert_int_equal(queued, 1);
}

TEST(after_a_step_back_slots_are_planned_from_now)
{
    const int64_t steps_ms[] = {10 * MINUTE_MS, HOUR_MS, YEAR_MS};
    for (size_t i = 0; i < COUNT_OF(steps_ms); i++) {
        WORLD(w);
        const struct submission *job =
            SUBMIT(&w, .every_ms = MINUTE_MS, .overlap = OVERLAP_PARALLEL);
        world_turn(&w);
        world_pass(&w, MINUTE_MS);
        step(&w, -steps_ms[i]);
        const struct exec_rec *x = ahead_of(&w, job->job_id);
        assert_in_range(x->slot_ms, w.now_ms + 1, w.now_ms + MINUTE_MS);
        assert_non_null(memmem(x->trail.ptr, x->trail.len, "the clock was set back", 22));
        world_pass(&w, MINUTE_MS);
        assert_true(ahead_of(&w, job->job_id)->slot_ms > w.now_ms);
    }
}

/* The first step back is too small to move it, and so it is further ahead than an interval when the
 * second comes. */
TEST(no_first_interval_lasts_longer_than_it_should)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = MINUTE_MS);
    world_turn(&w);
    step(&w, -9 * MINUTE_MS);
    step(&w, -HOUR_MS);
    assert_in_range(ahead_of(&w, job->job_id)->slot_ms, w.now_ms + 1, w.now_ms + MINUTE_MS);
}

/* The edit has begun the interval anew, which only the slot ahead knows after a restart. */
TEST(a_slot_that_comes_back_keeps_its_place_in_the_interval)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    world_pass(&w, 7 * MINUTE_MS);
    EDIT(&w, job->job_id, 1, true, .every_ms = HOUR_MS);
    world_turn(&w);
    int64_t slot_ms = ahead_of(&w, job->job_id)->slot_ms;
    world_restart(&w);
    step(&w, DAY_MS);
    step(&w, -DAY_MS);
    assert_int_equal((ahead_of(&w, job->job_id)->slot_ms - slot_ms) % HOUR_MS, 0);
}

TEST(a_smaller_step_back_leaves_slots_alone)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = MINUTE_MS);
    world_turn(&w);
    world_pass(&w, MINUTE_MS);
    int64_t slot_ms = ahead_of(&w, job->job_id)->slot_ms;
    step(&w, -10 * MINUTE_MS + 1);
    assert_int_equal(ahead_of(&w, job->job_id)->slot_ms, slot_ms);
}

TEST(the_next_slot_of_a_rare_job_stays)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = 30 * DAY_MS);
    world_turn(&w);
    world_pass(&w, HOUR_MS);
    step(&w, -30 * MINUTE_MS); /* its predecessor is not in the future */
    assert_int_equal(ahead_of(&w, job->job_id)->slot_ms, job->due_ms);
    step(&w, -DAY_MS); /* it is: that is when the job was made, and what the interval counts from */
    assert_int_equal(ahead_of(&w, job->job_id)->slot_ms, job->due_ms - DAY_MS);
}

TEST(slots_beyond_the_horizon_come_back_too)
{
    struct engine_options options = engine_defaults;
    options.load_max = 2;
    WORLD_WITH(w, options);
    const struct submission *jobs[5];
    for (size_t i = 0; i < COUNT_OF(jobs); i++)
        jobs[i] = SUBMIT(&w, .every_ms = 3 * HOUR_MS);
    const struct submission *date = SUBMIT(&w, .when = WHEN_AT, .when_ms = w.now_ms + 2 * YEAR_MS);
    world_turn(&w);
    step(&w, YEAR_MS); /* all have run, and have their next slot in a year */
    assert_true(ahead_of(&w, jobs[0]->job_id)->slot_ms > w.now_ms);
    step(&w, -YEAR_MS);
    for (size_t i = 0; i < COUNT_OF(jobs); i++)
        assert_in_range(ahead_of(&w, jobs[i]->job_id)->slot_ms, w.now_ms + 1,
                        w.now_ms + 3 * HOUR_MS);
    assert_int_equal(live(&w, date->exec_id)->state, EXEC_SCHEDULED);
}

/* ---- who is next */

TEST(nobody_overtakes_after_a_step_back_and_waiting_counts_again)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w);
    world_turn(&w);
    step(&w, -YEAR_MS);
    const struct submission *second = SUBMIT(&w);
    world_turn(&w);
    assert_true(live(&w, first->exec_id)->ready_ms <= live(&w, second->exec_id)->ready_ms);
    assert_true(live(&w, second->exec_id)->ready_ms <= w.now_ms);
    struct fake f = HIRE(&w);
    assert_int_equal(fake_lease(&w, &f).exec_id, first->exec_id);
}

TEST(nobody_has_waited_since_the_future)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w);
    world_turn(&w);
    world_set_clock(&w, -YEAR_MS); /* while no server ran */
    world_restart(&w);
    settle(&w);
    assert_true(live(&w, first->exec_id)->ready_ms <= w.now_ms);
    const struct submission *second = SUBMIT(&w);
    world_turn(&w);
    assert_true(live(&w, second->exec_id)->ready_ms <= w.now_ms);
}

/* ---- deletions */

static struct engine_options short_memory(void)
{
    struct engine_options options = engine_defaults;
    options.history_keep_ms = HOUR_MS;
    return options;
}

static void bury(struct world *w, struct fake *f)
{
    SUBMIT(w);
    world_turn(w);
    struct poll_lease lease = fake_start(w, f);
    ask_report(w, f, &lease, OUTCOME_SUCCEEDED);
    world_turn(w);
}

TEST(nothing_is_deleted_for_a_day_after_a_large_step)
{
    struct engine_options options = short_memory();
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w);
    bury(&w, &f);
    world_pass(&w, 10 * MINUTE_MS); /* the next pass over what is old is due, or will be at once */
    w.engine->retain.wake_ms = 0;
    step(&w, YEAR_MS);
    assert_int_equal(w.table.history.len, 1);
    assert_int_equal(w.table.clock.at_ms, w.shaken_ms);
    assert_true(world_wait_ms(&w) > 0);
    world_restart(&w); /* it is kept in the store */
    w.stepped_ms = w.shaken_ms = 0;
    world_restart(&w);
    world_pass(&w, DAY_MS - 1);
    settle(&w);
    assert_int_equal(w.table.history.len, 1);
    world_pass(&w, HOUR_MS);
    settle(&w);
    assert_int_equal(w.table.history.len, 0);
}

TEST(a_key_is_known_for_a_day_after_a_large_step)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w, .once = "k");
    world_turn(&w);
    uint64_t job_id = first->job_id;
    step(&w, YEAR_MS);
    const struct submission *again = SUBMIT(&w, .once = "k");
    world_turn(&w);
    assert_int_equal(again->job_id, job_id);
    world_pass(&w, DAY_MS);
    const struct submission *later = SUBMIT(&w, .once = "k");
    world_turn(&w);
    assert_int_not_equal(later->job_id, job_id);
}

/* ---- a start without a time */

TEST(nothing_comes_due_while_the_time_is_not_known)
{
    struct engine_options options = short_memory();
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w);
    bury(&w, &f);
    const struct submission *date = SUBMIT(&w, .when = WHEN_AT, .when_ms = w.now_ms + MINUTE_MS);
    const struct submission *slot = SUBMIT(&w, .every_ms = MINUTE_MS);
    world_turn(&w);
    w.unsure = true;
    world_restart(&w);
    world_pass(&w, 2 * HOUR_MS);
    assert_true(world_wait_ms(&w) > 0);
    assert_int_equal(state_of(&w, date->exec_id), EXEC_SCHEDULED);
    assert_int_equal(ahead_of(&w, slot->job_id)->slot_ms, slot->due_ms);
    assert_int_equal(w.table.history.len, 1);
    const struct submission *now = SUBMIT(&w); /* what is to run at once does */
    const struct submission *delay = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = MINUTE_MS);
    const struct submission *recurs = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    assert_int_equal(state_of(&w, now->exec_id), EXEC_QUEUED);
    world_pass(&w, 30 * 1000);
    /* Now it is known: it is ten days later. */
    w.unsure = false;
    world_step(&w, 10 * DAY_MS);
    settle(&w);
    assert_int_equal(state_of(&w, date->exec_id), EXEC_QUEUED);
    assert_true(ahead_of(&w, slot->job_id)->slot_ms > w.now_ms);
    assert_int_equal(live(&w, delay->exec_id)->due_ms, w.now_ms + 30 * 1000);
    assert_in_range(ahead_of(&w, recurs->job_id)->slot_ms, w.now_ms + 1, w.now_ms + HOUR_MS);
    assert_int_equal(w.table.history.len, 3); /* two of slots that were passed over; none is gone */
}

TEST(waiting_for_the_time_is_no_reason_for_turns)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    w.unsure = true; /* the newest id is older than what became ready last */
    world_set_clock(&w, -MINUTE_MS);
    world_restart(&w);
    settle(&w);
    assert_true(world_wait_ms(&w) > 0);
    w.unsure = false;
    world_step(&w, -HOUR_MS);
    settle(&w);
    assert_true(live(&w, job->exec_id)->ready_ms <= w.now_ms);
}

TEST(who_comes_while_others_move_has_not_waited_since_the_future)
{
    struct engine_options options = engine_defaults;
    options.load_max = 2;
    WORLD_WITH(w, options);
    for (int i = 0; i < 5; i++)
        SUBMIT(&w);
    world_turn(&w);
    world_step(&w, -YEAR_MS);
    world_turn(&w);
    const struct submission *late = SUBMIT(&w);
    settle(&w);
    assert_true(live(&w, late->exec_id)->ready_ms <= w.now_ms);
}

/* ---- a clock that was right before the server was started again */

TEST(slots_of_a_wrong_clock_come_back_after_a_restart)
{
    for (int unsure = 0; unsure < 2; unsure++) {
        WORLD(w);
        const struct submission *near = SUBMIT(&w, .every_ms = MINUTE_MS);
        const struct submission *far = SUBMIT(&w, .every_ms = 3 * HOUR_MS);
        world_turn(&w);
        step(&w, YEAR_MS);
        assert_true(ahead_of(&w, near->job_id)->slot_ms > w.now_ms);
        w.table.repeats = true;
        w.stepped_ms = w.shaken_ms = 0;
        w.unsure = unsure;
        if (!unsure)
            world_set_clock(&w, -YEAR_MS);
        world_restart(&w);
        settle(&w);
        if (unsure) {
            w.unsure = false;
            world_step(&w, -YEAR_MS);
            settle(&w);
        }
        assert_in_range(ahead_of(&w, near->job_id)->slot_ms, w.now_ms + 1, w.now_ms + MINUTE_MS);
        assert_in_range(ahead_of(&w, far->job_id)->slot_ms, w.now_ms + 1, w.now_ms + 3 * HOUR_MS);
    }
}

/* It is not known which of both is wrong, and the slots in between have run: they stay. */
TEST(slots_stay_at_a_start_with_a_dead_clock)
{
    const int64_t steps_ms[] = {-30 * YEAR_MS, -HOUR_MS};
    for (size_t i = 0; i < COUNT_OF(steps_ms); i++) {
        WORLD(w);
        const struct submission *job = SUBMIT(&w, .every_ms = MINUTE_MS);
        world_turn(&w);
        for (int n = 0; n < 120; n++)
            world_pass(&w, MINUTE_MS);
        int64_t slot_ms = ahead_of(&w, job->job_id)->slot_ms;
        w.unsure = true;
        world_restart(&w);
        settle(&w);
        w.unsure = false;
        world_step(&w, steps_ms[i]);
        settle(&w);
        assert_int_equal(ahead_of(&w, job->job_id)->slot_ms, slot_ms);
    }
}

/* A clock that was set back by a little has run what lies in between, whenever the ids are
 * ahead. */
TEST(a_restart_repeats_nothing_of_a_smaller_step)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .every_ms = MINUTE_MS);
    world_turn(&w);
    step(&w, YEAR_MS); /* all ids are ahead for a year from here on */
    step(&w, -YEAR_MS);
    for (int n = 0; n < 20; n++)
        world_pass(&w, MINUTE_MS);
    step(&w, -5 * MINUTE_MS);
    int64_t slot_ms = ahead_of(&w, job->job_id)->slot_ms;
    assert_true(slot_ms > w.now_ms + 4 * MINUTE_MS);
    world_restart(&w);
    settle(&w);
    assert_int_equal(ahead_of(&w, job->job_id)->slot_ms, slot_ms);
}
