/* Zones with other rules, and definitions that jobs share. */
#include "engine/test/jobs.h"
#include "job/time/tzif_test.h"

static struct engine_options far_sighted; /* holds the slots of the next two days */

static const struct exec_rec *find_exec(const struct world *w, uint64_t job_id,
                                        enum exec_state state)
{
    MAP_EACH(&w->table.live, slot)
    {
        const struct exec_rec *x = slot->value;
        if (x->job_id == job_id && x->state == state)
            return x;
    }
    fail_msg("there is none");
    return NULL;
}

static const struct exec_rec *ahead_of(const struct world *w, const struct submission *job)
{
    return find_exec(w, job->job_id, EXEC_SCHEDULED);
}

TEST(a_slot_ahead_moves_with_the_rules_of_its_zone)
{
    struct zone *berlin = tzif_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    {
        WORLD_WITH(w, far_sighted);
        const struct submission *job = SUBMIT(&w, .cron = "0 3 * * *");
        world_turn(&w);
        struct exec_rec before = *ahead_of(&w, job);
        engine_renew_zone(w.engine, zone_utc(), berlin);
        assert_int_equal(world_wait_ms(&w), 0);
        world_turn(&w);
        const struct exec_rec *after = ahead_of(&w, job);
        assert_int_equal(after->id, before.id);
        assert_int_equal(after->slot_ms, before.slot_ms - HOUR_MS);
        assert_int_equal(after->nominal_ms, before.nominal_ms);
        assert_int_equal(after->due_ms, after->slot_ms);
        world_turn(&w);
        assert_true(delta_is_empty(&w.delta)); /* once is enough */
    }
    zone_free(berlin);
}

/* It fired at three by the old rules, and it is three again by the new ones: not once more. */
TEST(a_promise_that_was_kept_is_not_kept_again)
{
    static const int32_t two_hours_behind = -7200;
    struct zone *west =
        tzif_zone_of(&(struct tzif){.offsets = &two_hours_behind, .offset_count = 1});
    {
        WORLD_WITH(w, far_sighted);
        const struct submission *job = SUBMIT(&w, .cron = "0 3 * * *", .overlap = OVERLAP_PARALLEL);
        world_turn(&w);
        int64_t slot_ms = ahead_of(&w, job)->slot_ms;
        world_pass(&w, slot_ms - w.now_ms);
        struct exec_rec tomorrow = *ahead_of(&w, job);
        engine_renew_zone(w.engine, zone_utc(), west);
        world_turn(&w);
        assert_int_equal(ahead_of(&w, job)->nominal_ms, tomorrow.nominal_ms);
        assert_int_equal(ahead_of(&w, job)->slot_ms, tomorrow.slot_ms + 2 * HOUR_MS);
    }
    zone_free(west);
}

/* The store's rows were planned by other rules than those that the new server reads. */
TEST(a_start_looks_at_what_was_planned_by_other_rules)
{
    struct zone *berlin = tzif_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    {
        WORLD_WITH(w, far_sighted);
        const struct submission *job = SUBMIT(&w, .cron = "0 3 * * *");
        world_turn(&w);
        int64_t slot_ms = ahead_of(&w, job)->slot_ms;
        engine_renew_zone(w.engine, zone_utc(), berlin);
        world_turn(&w);
        assert_int_equal(ahead_of(&w, job)->slot_ms, slot_ms - HOUR_MS);
        world_restart(&w); /* by a server that knows UTC alone */
        world_turn(&w);
        assert_int_equal(ahead_of(&w, job)->slot_ms, slot_ms);
    }
    zone_free(berlin);
}

TEST(jobs_that_differ_in_nothing_share_their_definition)
{
    WORLD(w);
    const struct submission *jobs[] = {
        SUBMIT(&w, .cron = "* * * * *"), SUBMIT(&w, .cron = "* * * * *"),
        SUBMIT(&w, .cron = "* * * * *", .priority = 7), SUBMIT(&w, .every_ms = MINUTE_MS),
        SUBMIT(&w, .every_ms = MINUTE_MS)};
    world_turn(&w);
    world_restart(&w);
    const struct definition *defs[COUNT_OF(jobs)];
    for (size_t i = 0; i < COUNT_OF(jobs); i++)
        defs[i] = ((struct job *)map_get(&w.engine->jobs, jobs[i]->job_id))->v.def;
    assert_ptr_equal(defs[0], defs[1]);
    assert_ptr_not_equal(defs[0], defs[2]);
    assert_ptr_not_equal(defs[3], defs[4]); /* each counts from when it was made */
    ask_about(&w, CMD_CANCEL_JOB, jobs[0]->job_id);
    world_turn(&w);
    world_pass(&w, MINUTE_MS);
    assert_non_null(find_exec(&w, jobs[1]->job_id, EXEC_QUEUED));
}

static int begin(void **state)
{
    (void)state;
    far_sighted = engine_defaults;
    far_sighted.near_ms = far_sighted.horizon_ms = 48 * HOUR_MS;
    return 0;
}

TEST_GROUP(begin, NULL)
