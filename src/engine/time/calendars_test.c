/* Calendars: what is skipped, what is held, what a change of one does. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

#define SECOND_MS INT64_C(1000)

static const struct exec_rec *find_exec(const struct world *w, uint64_t job_id,
                                        enum exec_state state)
{
    const struct exec_rec *found = NULL;
    const struct map *both[] = {&w->table.live, &w->table.history};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        MAP_EACH(both[i], slot)
        {
            const struct exec_rec *x = slot->value;
            if (x->job_id == job_id && x->state == state && (found == NULL || x->id > found->id))
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

/* A calendar of one period, in minutes from now. */
static void put_minutes(struct world *w, const char *name, const char *policy, int64_t from,
                        int64_t to)
{
    char text[100];
    int64_t now_s = w->now_ms / 1000;
    snprintf(text, sizeof text, "%s %" PRId64 "-%" PRId64, policy, now_s + from * 60,
             now_s + to * 60);
    struct asked *asked = ask_put_calendar(w, name, text);
    world_turn(w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
}

static const struct submission *submit(struct world *w, struct wish wish)
{
    const struct submission *job = ask_submit_one(w, wish);
    world_turn(w);
    assert_int_equal(job->rc, RC_OK);
    return job;
}

static bool says(struct str text, const char *words)
{
    return memmem(text.ptr, text.len, words, strlen(words)) != NULL;
}

/* ---- which calendars there are */

TEST(a_calendar_that_another_server_deleted_is_gone)
{
    WORLD(w);
    struct err err;
    put_minutes(&w, "kept", "hold", 1, 2);
    put_minutes(&w, "deleted", "hold", 1, 2);
    strmap_remove(&w.table.calendars, STR("deleted"));
    engine_settings_begin(w.engine);
    assert_int_equal(
        engine_load_calendar(w.engine, strmap_get(&w.table.calendars, STR("kept")), &err), RC_OK);
    engine_settings_end(w.engine);
    const struct submission *good = ask_submit_one(&w, (struct wish){.calendars = "kept"});
    const struct submission *bad = ask_submit_one(&w, (struct wish){.calendars = "deleted"});
    world_turn(&w);
    assert_int_equal(good->rc, RC_OK);
    assert_int_equal(bad->rc, RC_INVALID);
}

TEST(a_calendar_has_a_version_that_grows)
{
    WORLD(w);
    for (uint32_t i = 1; i <= 3; i++) {
        struct asked *asked = ask_put_calendar(&w, "a", "skip 100-200");
        world_turn(&w);
        assert_int_equal(asked->cmd.reply.calendar_version, i);
    }
    struct asked *first = ask_put_calendar(&w, "b", "skip"); /* twice in a turn */
    struct asked *second = ask_put_calendar(&w, "b", "hold");
    world_turn(&w);
    assert_int_equal(first->cmd.reply.calendar_version, 1);
    assert_int_equal(second->cmd.reply.calendar_version, 2);
    world_restart(&w);
    world_turn(&w);
}

TEST(a_document_that_makes_no_sense_is_refused)
{
    WORLD(w);
    struct asked *asked = ask_put_calendar(&w, "a", "never");
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_INVALID);
    assert_int_equal(w.table.calendars.len, 0);
}

TEST(one_calendar_too_many_is_refused)
{
    struct engine_options options = engine_defaults;
    options.calendars_max = 1;
    CLEANUP(world_free) struct world w;
    world_init(&w, &options);
    put_minutes(&w, "a", "skip", 1, 2);
    struct asked *asked = ask_put_calendar(&w, "b", "skip");
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_LIMITED);
    put_minutes(&w, "a", "skip", 1, 3); /* a change of one that is there */
}

TEST(a_job_that_names_an_unknown_calendar_is_refused)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .calendars = "holidays");
    world_turn(&w);
    assert_int_equal(job->rc, RC_INVALID);
    assert_non_null(strstr(job->err->text, "there is no calendar 'holidays'"));
}

TEST(a_calendar_that_is_needed_is_not_deleted)
{
    WORLD(w);
    put_minutes(&w, "a", "skip", 1, 2);
    const struct submission *job = submit(&w, (struct wish){.calendars = "a", .cron = "0 3 * * *"});
    assert_int_equal(engine_live_count(w.engine), 0); /* beyond the horizon */
    struct asked *asked = ask_put_calendar(&w, "a", NULL);
    world_turn(&w);
    char id[ID_TEXT_MAX];
    id_format(id, ID_JOB, job->job_id);
    assert_int_equal(asked->cmd.reply.rc, RC_CONFLICT);
    assert_non_null(strstr(asked->cmd.reply.err.text, id));
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    asked = ask_put_calendar(&w, "a", NULL);
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_int_equal(w.table.calendars.len, 0);
    asked = ask_put_calendar(&w, "a", NULL);
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_NOT_FOUND);
}

/* ---- skip */

TEST(a_slot_in_an_excluded_time_is_skipped_and_says_why)
{
    WORLD(w);
    put_minutes(&w, "holidays", "skip", 1, 3);
    const struct submission *job =
        submit(&w, (struct wish){.calendars = "holidays", .every_ms = MINUTE_MS});
    world_pass(&w, MINUTE_MS);
    const struct exec_rec *skipped = find_exec(&w, job->job_id, EXEC_SKIPPED);
    assert_non_null(skipped);
    assert_true(says(skipped->error, "calendar 'holidays', until "));
    world_pass(&w, MINUTE_MS);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_SKIPPED), 2);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 0);
    world_pass(&w, MINUTE_MS); /* the end is free */
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 1);
}

TEST(missed_slots_in_an_excluded_time_are_one_record)
{
    WORLD(w);
    put_minutes(&w, "a", "skip", 10, 50);
    const struct submission *job =
        submit(&w, (struct wish){.calendars = "a",
                                 .every_ms = MINUTE_MS,
                                 .overlap = OVERLAP_PARALLEL,
                                 .misfire = {MISFIRE_ALL, 24 * HOUR_MS, 1000}});
    world_restart(&w);
    world_pass(&w, 60 * MINUTE_MS);
    const struct exec_rec *skipped = find_exec(&w, job->job_id, EXEC_SKIPPED);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_SKIPPED), 1);
    assert_int_equal(skipped->slot_count, 40);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 20);
}

TEST(nothing_that_was_missed_fires_in_an_excluded_time)
{
    WORLD(w);
    put_minutes(&w, "a", "skip", 30, 90);
    const struct submission *job =
        submit(&w, (struct wish){.calendars = "a",
                                 .every_ms = MINUTE_MS,
                                 .misfire = {MISFIRE_ALL, 24 * HOUR_MS, 1000}});
    world_pass(&w, 60 * MINUTE_MS + 10);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 0);
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SKIPPED)->slot_count, 60);
}

TEST(a_job_that_runs_once_ends_as_skipped)
{
    WORLD(w);
    put_minutes(&w, "a", "skip", 0, 10);
    const struct submission *now = submit(&w, (struct wish){.calendars = "a", .name = "n"});
    const struct submission *later =
        submit(&w, (struct wish){.calendars = "a", .when = WHEN_DELAY, .when_ms = 5 * MINUTE_MS});
    assert_int_equal(state_of(&w, now->exec_id), EXEC_SKIPPED);
    assert_int_equal(job_state_of(&w, now->job_id), JOB_CANCELLED);
    assert_int_equal(state_of(&w, later->exec_id), EXEC_SCHEDULED);
    world_pass(&w, 5 * MINUTE_MS);
    assert_int_equal(state_of(&w, later->exec_id), EXEC_SKIPPED);
    assert_int_equal(w.table.uses.len, 0);
}

/* ---- hold */

TEST(a_job_that_runs_once_waits_until_the_time_is_over)
{
    WORLD(w);
    put_minutes(&w, "a", "hold", 0, 10);
    const struct submission *job = submit(&w, (struct wish){.calendars = "a"});
    const struct exec_rec *x = map_get(&w.table.live, job->exec_id);
    assert_int_equal(x->state, EXEC_SCHEDULED);
    assert_int_equal(x->due_ms, w.now_ms + 10 * MINUTE_MS);
    assert_int_equal(x->ready_ms, w.now_ms); /* held since */
    world_pass(&w, 10 * MINUTE_MS);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(a_free_moment_lets_a_new_job_start_in_the_same_turn)
{
    WORLD(w);
    put_minutes(&w, "a", "hold", 10, 20);
    const struct submission *job = submit(&w, (struct wish){.calendars = "a"});
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(slots_in_a_time_that_holds_become_one_run_at_its_end)
{
    WORLD(w);
    put_minutes(&w, "a", "hold", 5, 20);
    const struct submission *job =
        submit(&w, (struct wish){.calendars = "a",
                                 .every_ms = MINUTE_MS,
                                 .overlap = OVERLAP_PARALLEL,
                                 .misfire = {MISFIRE_ALL, MINUTE_MS, 1000}});
    int64_t start_ms = w.now_ms;
    for (int i = 0; i < 19; i++)
        world_pass(&w, MINUTE_MS);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 4);
    const struct exec_rec held = *find_exec(&w, job->job_id, EXEC_SCHEDULED);
    assert_int_equal(held.slot_ms, start_ms + 5 * MINUTE_MS);
    assert_int_equal(held.due_ms, start_ms + 20 * MINUTE_MS);
    world_pass(&w, MINUTE_MS);
    assert_int_equal(state_of(&w, held.id), EXEC_QUEUED);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 5);
    const struct exec_rec *rest = find_exec(&w, job->job_id, EXEC_SKIPPED);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_SKIPPED), 1);
    assert_int_equal(rest->slot_count, 15); /* those of minutes 6 to 20 */
    assert_int_equal(find_exec(&w, job->job_id, EXEC_SCHEDULED)->slot_ms,
                     start_ms + 21 * MINUTE_MS);
}

TEST(what_is_held_stays_so_over_a_restart)
{
    WORLD(w);
    put_minutes(&w, "a", "hold", 1, 24 * 60);
    const struct submission *job = submit(&w, (struct wish){.calendars = "a", .cron = "* * * * *"});
    world_pass(&w, 2 * MINUTE_MS);
    assert_int_equal(engine_live_count(w.engine), 1); /* beyond the horizon, and here */
    world_restart(&w);
    assert_int_equal(engine_live_count(w.engine), 1);
    world_turn(&w);
    assert_int_equal(world_wait_ms(&w) > 0, true); /* looked at, and content */
    world_pass(&w, 24 * HOUR_MS);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 1);
}

TEST(a_server_that_was_down_at_the_end_goes_by_the_misfire_policy)
{
    for (enum misfire_policy policy = MISFIRE_LATEST; policy <= MISFIRE_SKIP; policy++) {
        WORLD(w);
        put_minutes(&w, "a", "hold", 1, 10);
        const struct submission *job = submit(&w, (struct wish){.calendars = "a",
                                                                .every_ms = 2 * MINUTE_MS,
                                                                .overlap = OVERLAP_PARALLEL,
                                                                .misfire = {policy, HOUR_MS, 100}});
        world_pass(&w, 2 * MINUTE_MS);
        uint64_t held = find_exec(&w, job->job_id, EXEC_SCHEDULED)->id;
        world_pass(&w, 15 * MINUTE_MS); /* until 17; slots at 12, 14, 16 since */
        bool fires = policy == MISFIRE_ALL;
        assert_int_equal(state_of(&w, held), fires ? EXEC_QUEUED : EXEC_SKIPPED);
        assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), policy == MISFIRE_ALL ? 4 : 1);
    }
}

TEST(a_clock_that_was_set_back_leaves_a_held_slot_for_its_own_time)
{
    WORLD(w);
    put_minutes(&w, "a", "hold", 10, 20);
    const struct submission *job =
        submit(&w, (struct wish){.calendars = "a", .every_ms = 12 * MINUTE_MS});
    int64_t start_ms = w.now_ms;
    world_pass(&w, 12 * MINUTE_MS);
    world_set_clock(&w, -8 * MINUTE_MS);
    put_minutes(&w, "a", "hold", 100, 200);
    const struct exec_rec *x = find_exec(&w, job->job_id, EXEC_SCHEDULED);
    assert_int_equal(x->due_ms, start_ms + 12 * MINUTE_MS);
    assert_int_equal(x->ready_ms, 0);
    world_pass(&w, 8 * MINUTE_MS);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 1);
}

/* ---- changes */

TEST(a_shortened_calendar_lets_go_in_the_same_turn)
{
    WORLD(w);
    put_minutes(&w, "a", "hold", 0, 7 * 24 * 60);
    const struct submission *once = submit(&w, (struct wish){.calendars = "a"});
    const struct submission *slots =
        submit(&w, (struct wish){.calendars = "a", .every_ms = MINUTE_MS});
    world_pass(&w, 5 * MINUTE_MS);
    put_minutes(&w, "a", "hold", -10, 0);
    assert_int_equal(state_of(&w, once->exec_id), EXEC_QUEUED);
    assert_int_equal(count_execs(&w, slots->job_id, EXEC_QUEUED), 1);
    assert_int_equal(find_exec(&w, slots->job_id, EXEC_SKIPPED)->slot_count, 4);
}

TEST(a_longer_one_holds_longer_and_one_that_skips_skips)
{
    WORLD(w);
    put_minutes(&w, "a", "hold", 0, 10);
    const struct submission *job = submit(&w, (struct wish){.calendars = "a"});
    const struct submission *slots =
        submit(&w, (struct wish){.calendars = "a", .every_ms = MINUTE_MS});
    world_pass(&w, 2 * MINUTE_MS);
    put_minutes(&w, "a", "hold", 0, 30);
    const struct exec_rec *x = map_get(&w.table.live, job->exec_id);
    assert_int_equal(x->due_ms, w.now_ms + 30 * MINUTE_MS);
    put_minutes(&w, "a", "skip", 0, 30);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_SKIPPED);
    assert_int_equal(count_execs(&w, slots->job_id, EXEC_SKIPPED), 2);
}

TEST(many_that_are_held_are_looked_at_in_more_than_one_turn)
{
    struct engine_options options = engine_defaults;
    options.due_max = 10;
    CLEANUP(world_free) struct world w;
    world_init(&w, &options);
    put_minutes(&w, "a", "hold", 0, 1000);
    struct wish wishes[25] = {0};
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        wishes[i].calendars = "a";
    struct asked *jobs = ask_submit_all(&w, wishes, COUNT_OF(wishes));
    world_turn(&w);
    put_minutes(&w, "a", "hold", -10, -5);
    for (size_t turn = 1; turn <= 3; turn++) {
        size_t queued = 0;
        for (size_t i = 0; i < COUNT_OF(wishes); i++)
            queued += state_of(&w, jobs->cmd.submit.items[i].exec_id) == EXEC_QUEUED;
        assert_int_equal(queued, turn < 3 ? 10 * turn : 25);
        assert_true((world_wait_ms(&w) == 0) == (turn < 3));
        world_turn(&w);
    }
}

TEST(an_edit_that_takes_the_calendar_away_lets_go_in_the_same_turn)
{
    WORLD(w);
    put_minutes(&w, "a", "hold", 0, 60);
    const struct submission *once = submit(&w, (struct wish){.calendars = "a"});
    const struct submission *slots =
        submit(&w, (struct wish){.calendars = "a", .every_ms = MINUTE_MS});
    world_pass(&w, MINUTE_MS);
    EDIT(&w, once->job_id, 1, false, .priority = 900);
    EDIT(&w, slots->job_id, 1, false, .every_ms = MINUTE_MS);
    world_turn(&w);
    assert_int_equal(state_of(&w, once->exec_id), EXEC_QUEUED);
    assert_int_equal(count_execs(&w, slots->job_id, EXEC_QUEUED), 1);
    assert_int_equal(w.table.uses.len, 0);
}

TEST(an_edit_may_name_others_and_only_those_that_are_there)
{
    WORLD(w);
    put_minutes(&w, "a", "hold", 0, 60);
    put_minutes(&w, "b", "hold", 0, 90);
    const struct submission *job = submit(&w, (struct wish){.calendars = "a"});
    struct asked *unknown = EDIT(&w, job->job_id, 1, false, .calendars = "c");
    EDIT(&w, job->job_id, 1, false, .calendars = "b");
    world_turn(&w);
    assert_int_equal(unknown->cmd.reply.rc, RC_INVALID);
    const struct exec_rec *x = map_get(&w.table.live, job->exec_id);
    assert_int_equal(x->due_ms, w.now_ms + 90 * MINUTE_MS);
    struct asked *deleted = ask_put_calendar(&w, "a", NULL);
    world_turn(&w);
    assert_int_equal(deleted->cmd.reply.rc, RC_OK);
}

TEST(a_run_that_is_planned_for_now_asks_its_calendars)
{
    WORLD(w);
    put_minutes(&w, "a", "hold", 0, 60);
    const struct submission *job =
        submit(&w, (struct wish){.calendars = "a", .when = WHEN_DELAY, .when_ms = HOUR_MS});
    EDIT(&w, job->job_id, 1, true, .calendars = "a", .when = WHEN_NOW);
    world_turn(&w);
    world_turn(&w);
    const struct exec_rec *x = map_get(&w.table.live, job->exec_id);
    assert_int_equal(x->state, EXEC_SCHEDULED);
    assert_int_equal(x->due_ms, w.now_ms + 60 * MINUTE_MS);
}

/* ---- several, and what a job says otherwise */

TEST(to_skip_weighs_more_than_to_hold)
{
    WORLD(w);
    put_minutes(&w, "hold", "hold", 0, 60);
    put_minutes(&w, "skip", "skip", 0, 10);
    const struct submission *both = submit(&w, (struct wish){.calendars = "hold,skip"});
    assert_int_equal(state_of(&w, both->exec_id), EXEC_SKIPPED);
    const struct submission *said = submit(&w, (struct wish){.calendars = "hold,skip=hold"});
    const struct exec_rec *x = map_get(&w.table.live, said->exec_id);
    assert_int_equal(x->due_ms, w.now_ms + 60 * MINUTE_MS); /* the one that lasts longest */
}

TEST(who_asks_for_a_run_gets_one)
{
    WORLD(w);
    put_minutes(&w, "a", "hold", 0, 60);
    const struct submission *job =
        submit(&w, (struct wish){.calendars = "a", .every_ms = MINUTE_MS});
    world_pass(&w, MINUTE_MS);
    ask_about(&w, CMD_TRIGGER_JOB, job->job_id);
    world_turn(&w);
    const struct exec_rec *x = find_exec(&w, job->job_id, EXEC_QUEUED);
    assert_int_equal(x->origin, ORIGIN_REQUEST);
    assert_int_equal(count_execs(&w, job->job_id, EXEC_SCHEDULED), 1);
}

TEST(a_dependant_asks_when_nothing_else_is_left_to_wait_for)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    put_minutes(&w, "a", "hold", 1, 60);
    const struct submission *first = submit(&w, (struct wish){0});
    const struct dependency_wish after = {.job_id = first->job_id, .type = DEPENDS_SUCCESS};
    const struct submission *second = submit(&w, (struct wish){.calendars = "a", .after = &after});
    assert_int_equal(state_of(&w, second->exec_id), EXEC_BLOCKED);
    world_pass(&w, 2 * MINUTE_MS);
    f = HIRE(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    const struct exec_rec *x = map_get(&w.table.live, second->exec_id);
    assert_int_equal(x->state, EXEC_SCHEDULED);
    assert_int_equal(x->due_ms, w.now_ms + 58 * MINUTE_MS);
}

TEST(a_calendar_that_cannot_be_read_holds)
{
    WORLD(w);
    put_minutes(&w, "a", "skip", 100, 200);
    const struct submission *job =
        submit(&w, (struct wish){.calendars = "a", .every_ms = MINUTE_MS});
    struct calendar_rec *rec = strmap_remove(&w.table.calendars, STR("a"));
    world_restart(&w);
    world_pass(&w, MINUTE_MS);
    const struct exec_rec *x = find_exec(&w, job->job_id, EXEC_SCHEDULED);
    assert_int_equal(x->due_ms, w.now_ms + ALMANAC_LOOK_AGAIN_MS);
    assert_true(says(x->trail, "cannot be read"));
    put_minutes(&w, "a", "skip", 100, 200); /* somebody puts it anew */
    assert_int_equal(count_execs(&w, job->job_id, EXEC_QUEUED), 1);
    assert_int_equal(rec->version, 1);
}

TEST(a_new_job_is_told_what_its_calendars_will_do)
{
    WORLD(w);
    put_minutes(&w, "a", "skip", 2, 4);
    put_minutes(&w, "b", "hold", 4, 5);
    const struct submission *job =
        submit(&w, (struct wish){.calendars = "a,b", .every_ms = MINUTE_MS});
    assert_int_equal(job->note_count, 3);
    assert_int_equal(job->notes[0].at_ms, w.now_ms + 2 * MINUTE_MS);
    assert_int_equal(job->notes[0].ruling.verdict, CALENDAR_SKIPS);
    assert_int_equal(job->notes[2].ruling.verdict, CALENDAR_HOLDS);
    assert_int_equal(job->notes[2].ruling.until_ms, w.now_ms + 5 * MINUTE_MS);
}
