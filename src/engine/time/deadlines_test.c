#include "engine/test/fake.h"
#include "engine/test/jobs.h"

static const struct exec_rec *record_of(const struct world *w, uint64_t id)
{
    const struct exec_rec *x = map_get(&w->table.live, id);
    return x != NULL ? x : map_get(&w->table.history, id);
}

static size_t count_events(const struct world *w, enum exec_event event)
{
    size_t count = 0;
    for (size_t i = 0; i < w->event_count; i++)
        count += w->events[i].event == event;
    return count;
}

/* The execution of a job with a schedule that is in this state. */
static const struct exec_rec *slot_in(const struct world *w, enum exec_state state)
{
    const struct map *both[] = {&w->table.live, &w->table.history};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        MAP_EACH(both[i], slot)
        {
            const struct exec_rec *x = slot->value;
            if (x->state == state && x->origin == ORIGIN_SLOT)
                return x;
        }
    }
    return NULL;
}

TEST(what_has_not_started_in_time_expires)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .expires_in_ms = MINUTE_MS);
    world_turn(&w);
    world_pass(&w, MINUTE_MS - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(world_wait_ms(&w), 1);
    world_pass(&w, 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_EXPIRED);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_CANCELLED);
    assert_true(str_eq(record_of(&w, job->exec_id)->error,
                       STR("it expires after 1m, and has not started: it waits for a worker")));
}

TEST(who_is_late_is_told_of_with_what_to_ask_next)
{
    WORLD(w);
    char id[ID_TEXT_MAX];
    char text[300];
    const struct submission *job = SUBMIT(&w, .name = "report", .start_within_ms = MINUTE_MS);
    world_turn(&w);
    world_pass(&w, MINUTE_MS - 1);
    assert_int_equal(w.table.alerts.len, 0);
    world_pass(&w, 1);
    world_restart(&w);
    world_pass(&w, HOUR_MS / 10);
    assert_int_equal(w.table.alerts.len, 1);
    const struct alert_rec *alert = w.table.alerts.items[0];
    assert_int_equal(alert->kind, ALERT_START_LATE);
    assert_true(alert->exec_id == job->exec_id && alert->job_id == job->job_id);
    snprintf(
        text, sizeof text,
        "the job 'report' is late: it was to start within 1m, and has not started: it waits for "
        "a worker. Ask what holds it back: belfry explain %s",
        id_format(id, ID_EXEC, job->exec_id).ptr);
    assert_true(str_eq(alert->text, str_c(text)));
}

TEST(who_is_late_is_not_told_of_where_that_is_switched_off)
{
    struct engine_options options = engine_defaults;
    options.alerts.start_late = false;
    WORLD_WITH(w, options);
    const struct submission *job = SUBMIT(&w, .start_within_ms = MINUTE_MS);
    world_turn(&w);
    world_pass(&w, MINUTE_MS);
    assert_true(record_of(&w, job->exec_id)->late);
    assert_int_equal(w.table.alerts.len, 0);
}

TEST(what_was_given_to_a_worker_does_not_expire)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    const struct submission *job =
        SUBMIT(&w, .expires_in_ms = MINUTE_MS, .retries = 1, .retry_ms = HOUR_MS / 2);
    world_turn(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    ask_report(&w, &f, &lease, OUTCOME_FAILED);
    world_pass(&w, 1000);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RETRYING);
    world_pass(&w, HOUR_MS);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(the_clock_of_a_job_for_later_begins_when_it_is_due)
{
    WORLD(w);
    const struct submission *job =
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 2 * HOUR_MS, .expires_in_ms = MINUTE_MS);
    world_turn(&w);
    world_pass(&w, 2 * HOUR_MS - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_SCHEDULED);
    world_pass(&w, MINUTE_MS);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    world_pass(&w, 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_EXPIRED);
}

TEST(what_waits_for_another_job_expires_too)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .queue = "slow");
    world_turn(&w);
    const struct dependency_wish on = {.job_id = up->job_id, .type = DEPENDS_SUCCESS};
    const struct submission *job = SUBMIT(&w, .after = &on, .expires_in_ms = MINUTE_MS);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_BLOCKED);
    world_pass(&w, MINUTE_MS);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_EXPIRED);
}

TEST(who_waits_for_one_that_expired_goes_on_only_by_completion)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .expires_in_ms = MINUTE_MS);
    world_turn(&w);
    struct submission *after[3];
    for (int i = 0; i < 3; i++) {
        const struct dependency_wish on = {.job_id = up->job_id,
                                           .type = (enum dependency_type)(DEPENDS_SUCCESS + i)};
        after[i] = SUBMIT(&w, .after = &on);
    }
    world_turn(&w);
    world_pass(&w, MINUTE_MS);
    assert_int_equal(state_of(&w, after[0]->exec_id), EXEC_SKIPPED);
    assert_int_equal(state_of(&w, after[1]->exec_id), EXEC_SKIPPED);
    assert_int_equal(state_of(&w, after[2]->exec_id), EXEC_QUEUED);
}

TEST(a_restart_forgets_no_expiry)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .expires_in_ms = MINUTE_MS);
    world_turn(&w);
    w.now_ms += HOUR_MS;
    world_restart(&w);
    assert_int_equal(world_wait_ms(&w), 0);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_EXPIRED);
}

TEST(the_clock_goes_on_while_a_job_is_paused)
{
    WORLD(w);
    const struct submission *queued = SUBMIT(&w, .expires_in_ms = MINUTE_MS);
    const struct submission *later =
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 1000, .expires_in_ms = MINUTE_MS);
    world_turn(&w);
    ask_about(&w, CMD_PAUSE_JOB, queued->job_id);
    ask_about(&w, CMD_PAUSE_JOB, later->job_id);
    world_turn(&w);
    world_pass(&w, MINUTE_MS);
    assert_int_equal(state_of(&w, queued->exec_id), EXEC_EXPIRED);
    assert_int_equal(state_of(&w, later->exec_id), EXEC_SCHEDULED);
    world_pass(&w, 1000);
    assert_int_equal(state_of(&w, later->exec_id), EXEC_EXPIRED);
    assert_true(str_eq(record_of(&w, later->exec_id)->error,
                       STR("it expires after 1m, and has not started: its job is paused")));
}

TEST(the_slot_ahead_of_a_paused_job_is_left_to_the_resume)
{
    WORLD(w);
    const struct submission *job =
        SUBMIT(&w, .every_ms = MINUTE_MS, .start_within_ms = 1000, .expires_in_ms = 2000);
    world_turn(&w);
    ask_about(&w, CMD_PAUSE_JOB, job->job_id);
    world_turn(&w);
    world_pass(&w, 10 * MINUTE_MS);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_SCHEDULED);
    ask_about(&w, CMD_RESUME_JOB, job->job_id);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_SKIPPED);
}

TEST(a_slot_that_nobody_could_start_in_time_expires_and_the_next_one_runs)
{
    WORLD(w);
    const struct submission *job =
        SUBMIT(&w, .every_ms = HOUR_MS, .expires_in_ms = MINUTE_MS, .stagger_ms = MINUTE_MS);
    w.delta = *world_decide(&w); /* once: another decision would give it another id, and share */
    world_commit(&w);
    int64_t stagger_ms = schedule_stagger_ms(job->job_id, MINUTE_MS);
    world_pass(&w, HOUR_MS + stagger_ms); /* the clock begins with its share */
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    world_pass(&w, MINUTE_MS - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    world_pass(&w, 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_EXPIRED);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_ACTIVE);
    world_pass(&w, HOUR_MS - MINUTE_MS);
    assert_non_null(slot_in(&w, EXEC_QUEUED));
}

TEST(a_slot_that_is_fired_too_late_expires_instead)
{
    WORLD(w);
    const struct submission *job =
        SUBMIT(&w, .every_ms = HOUR_MS, .expires_in_ms = MINUTE_MS, .overlap = OVERLAP_REPLACE);
    world_turn(&w);
    world_pass(&w, HOUR_MS);
    struct fake f = HIRE(&w, .slots = 1);
    struct poll_lease lease = fake_start(&w, &f);
    w.now_ms += HOUR_MS + 2 * MINUTE_MS; /* nobody was there */
    world_restart(&w);
    ask_poll(&w, &f, 0);
    world_turn(&w);
    const struct exec_rec *late = slot_in(&w, EXEC_EXPIRED);
    assert_non_null(late);
    assert_true(str_eq(late->error,
                       STR("it expires after 1m, and has not started: nobody was there to start "
                           "it")));
    assert_int_equal(state_of(&w, lease.exec_id), EXEC_RUNNING); /* it replaces nothing */
    assert_int_equal(job_state_of(&w, job->job_id), JOB_ACTIVE);
}

TEST(nothing_is_granted_that_has_expired_however_much_a_tick_has_to_do)
{
    struct engine_options options = engine_defaults;
    options.due_max = 1;
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w, .slots = 8);
    const struct submission *old[4];
    for (int i = 0; i < 4; i++)
        old[i] = SUBMIT(&w, .expires_in_ms = MINUTE_MS);
    const struct dependency_wish on = {.number = 0, .type = DEPENDS_COMPLETION};
    world_turn(&w);
    struct dependency_wish after = on;
    after.job_id = old[3]->job_id;
    const struct submission *dependant = SUBMIT(&w, .after = &after);
    world_turn(&w);
    w.now_ms += MINUTE_MS;
    struct asked *poll = ask_poll(&w, &f, 8);
    world_turn(&w);
    for (int i = 0; i < 4; i++)
        assert_int_equal(state_of(&w, old[i]->exec_id), EXEC_EXPIRED);
    assert_int_equal(poll->answers, 1); /* what became ready by that is given out at once */
    assert_int_equal(poll->cmd.reply.poll.lease_count, 1);
    assert_int_equal(poll->cmd.reply.poll.leases[0].exec_id, dependant->exec_id);
}

TEST(a_late_start_is_told_once)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .start_within_ms = MINUTE_MS);
    world_turn(&w);
    world_pass(&w, MINUTE_MS);
    assert_int_equal(count_events(&w, EV_LATE), 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_true(record_of(&w, job->exec_id)->late);
    world_restart(&w);
    world_pass(&w, MINUTE_MS);
    assert_int_equal(count_events(&w, EV_LATE), 0);
    struct fake f = HIRE(&w, .slots = 1);
    assert_int_equal(fake_lease(&w, &f).exec_id, job->exec_id);
    assert_true(record_of(&w, job->exec_id)->late);
}

TEST(what_starts_in_time_is_not_late)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    SUBMIT(&w, .start_within_ms = MINUTE_MS, .expires_in_ms = HOUR_MS);
    struct poll_lease lease = fake_start(&w, &f);
    world_pass(&w, 5000);
    assert_int_equal(count_events(&w, EV_LATE), 0);
    assert_false(record_of(&w, lease.exec_id)->late);
}

TEST(late_comes_before_expired)
{
    WORLD(w);
    const struct submission *job =
        SUBMIT(&w, .start_within_ms = MINUTE_MS, .expires_in_ms = 2 * MINUTE_MS);
    const struct submission *both =
        SUBMIT(&w, .start_within_ms = MINUTE_MS, .expires_in_ms = 2 * MINUTE_MS);
    world_turn(&w);
    ask_about(&w, CMD_CANCEL_EXEC, both->exec_id);
    world_pass(&w, MINUTE_MS);
    assert_int_equal(count_events(&w, EV_LATE), 2); /* time comes before commands */
    world_pass(&w, MINUTE_MS);
    assert_int_equal(count_events(&w, EV_LATE), 0);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_EXPIRED);
    assert_true(record_of(&w, job->exec_id)->late);
    assert_int_equal(state_of(&w, both->exec_id), EXEC_CANCELLED);
}

TEST(what_is_run_again_has_a_clock_of_its_own)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .expires_in_ms = MINUTE_MS);
    world_turn(&w);
    int64_t slot_ms = w.now_ms;
    world_pass(&w, MINUTE_MS);
    world_pass(&w, HOUR_MS);
    struct asked *again = ask_about(&w, CMD_RETRY_EXEC, job->exec_id);
    world_turn(&w);
    uint64_t id = again->cmd.reply.exec_id;
    assert_int_equal(state_of(&w, id), EXEC_QUEUED);
    assert_int_equal(record_of(&w, id)->slot_ms, slot_ms); /* and the slot of the first */
    world_pass(&w, MINUTE_MS);
    assert_int_equal(state_of(&w, id), EXEC_EXPIRED);
}

/* Others have been waiting since a moment that is ahead by now, which is mended a page in a
 * turn. */
TEST(nothing_is_granted_that_has_expired_while_the_line_is_put_right)
{
    struct engine_options options = engine_defaults;
    options.load_max = 2;
    WORLD_WITH(w, options);
    for (int i = 0; i < 9; i++)
        SUBMIT(&w);
    world_turn(&w);
    world_set_clock(&w, -5 * MINUTE_MS);
    const struct submission *expires =
        SUBMIT(&w, .priority = 900, .expires_in_ms = MINUTE_MS, .start_within_ms = MINUTE_MS / 2);
    const struct submission *late = SUBMIT(&w, .priority = 900, .start_within_ms = MINUTE_MS);
    world_turn(&w);
    world_set_clock(&w, MINUTE_MS);
    world_restart(&w);
    struct fake f = HIRE(&w);
    ask_poll(&w, &f, 1);
    world_turn(&w);
    assert_int_equal(state_of(&w, expires->exec_id), EXEC_EXPIRED);
    assert_int_equal(state_of(&w, late->exec_id), EXEC_RUNNING);
    assert_true(record_of(&w, late->exec_id)->late);
}
