/* Jobs that run once, wait for slots, and are planned for another moment. Every turn here is also
 * undone once (`world_turn`). */
#include "engine/test/duo.h"
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

static enum dependency_state edge_state(const struct world *w, uint64_t dependant,
                                        uint64_t upstream)
{
    const struct dependency_rec rec = {.upstream = upstream, .dependant = dependant};
    const struct dependency_rec *kept = strmap_get(&w->table.depends, depend_key(&rec));
    return kept == NULL ? 0 : kept->state;
}

/* What is ready in this queue runs, and succeeds. */
static struct asked *report_of(struct world *w, const char *queue)
{
    static struct fake f;
    f = HIRE(w, .slots = 1, .queues = queue);
    struct poll_lease lease = fake_lease(w, &f);
    return ask_report(w, &f, &lease, OUTCOME_SUCCEEDED);
}

static void run_out(struct world *w, const char *queue)
{
    const struct asked *asked = report_of(w, queue);
    world_turn(w);
    assert_true(was_accepted(asked));
}

/* Time passes, and the turns after that have asked what was not known. */
static void pass(struct world *w, int64_t ms)
{
    world_pass(w, ms);
    while (w->engine->depends.asking.len > 0)
        world_turn(w);
}

/* Two upstreams that recur, and a job behind both for which the first is met. */
struct scene {
    const struct submission *fast;
    const struct submission *slow;
    const struct submission *down;
};

static struct scene half_met(struct world *w)
{
    struct scene p;
    p.fast = SUBMIT(w, .every_ms = HOUR_MS, .queue = "fast");
    p.slow = SUBMIT(w, .every_ms = HOUR_MS, .queue = "slow", .overlap = OVERLAP_PARALLEL);
    world_turn(w);
    world_pass(w, HOUR_MS);
    const struct dependency_wish both[] = {
        {.job_id = p.fast->job_id, .type = DEPENDS_SUCCESS},
        {.job_id = p.slow->job_id, .type = DEPENDS_SUCCESS},
    };
    p.down = SUBMIT(w, .queue = "down", .after = both, .after_count = 2);
    world_turn(w);
    pass(w, 0);
    run_out(w, "fast");
    assert_int_equal(edge_state(w, p.down->job_id, p.fast->job_id), DEPENDENCY_MET);
    assert_int_equal(state_of(w, p.down->exec_id), EXEC_BLOCKED);
    return p;
}

/* Moved to a later moment, with a restart before that, behind it, or at neither. */
TEST(what_was_met_is_asked_again_for_a_later_moment)
{
    for (unsigned dies = 0; dies < 8; dies++) {
        WORLD(w);
        struct scene p = half_met(&w);
        if (dies & 1)
            world_restart(&w);
        EDIT(&w, p.down->job_id, 1, true, .queue = "down", .when = WHEN_DELAY,
             .when_ms = HOUR_MS + MINUTE_MS);
        world_turn(&w);
        assert_int_equal(edge_state(&w, p.down->job_id, p.fast->job_id), DEPENDENCY_PER_SLOT);
        if (dies & 2)
            world_restart(&w);
        pass(&w, 0);
        assert_int_equal(state_of(&w, p.down->exec_id), EXEC_SCHEDULED);
        run_out(&w, "slow");
        pass(&w, HOUR_MS);
        pass(&w, MINUTE_MS);
        assert_int_equal(state_of(&w, p.down->exec_id), EXEC_BLOCKED);
        run_out(&w, "slow");
        if (dies & 4) {
            world_restart(&w);
            pass(&w, 0);
        }
        assert_int_equal(state_of(&w, p.down->exec_id), EXEC_BLOCKED);
        run_out(&w, "fast");
        assert_int_equal(state_of(&w, p.down->exec_id), EXEC_QUEUED);
        assert_int_equal(edge_state(&w, p.down->job_id, p.fast->job_id), DEPENDENCY_MET);
    }
}

TEST(what_was_met_is_asked_again_for_a_moment_that_is_now)
{
    for (unsigned dies = 0; dies < 4; dies++) {
        WORLD(w);
        struct scene p = half_met(&w);
        pass(&w, HOUR_MS);
        if (dies & 1) {
            world_restart(&w);
            pass(&w, 0);
        }
        EDIT(&w, p.down->job_id, 1, true, .queue = "down");
        world_turn(&w);
        if (dies & 2)
            world_restart(&w);
        pass(&w, 0);
        run_out(&w, "slow");
        run_out(&w, "slow");
        assert_int_equal(state_of(&w, p.down->exec_id), EXEC_BLOCKED);
        run_out(&w, "fast");
        assert_int_equal(state_of(&w, p.down->exec_id), EXEC_QUEUED);
    }
}

TEST(what_is_met_in_the_turn_of_the_edit_is_asked_again_too)
{
    WORLD(w);
    struct scene p = half_met(&w);
    EDIT(&w, p.down->job_id, 1, true, .queue = "down");
    world_turn(&w);
    pass(&w, 0); /* fast is met again, for the same slot */
    EDIT(&w, p.down->job_id, 2, true, .queue = "down");
    EDIT(&w, p.down->job_id, 3, true, .queue = "down", .when = WHEN_DELAY, .when_ms = MINUTE_MS);
    const struct asked *report = report_of(&w, "slow");
    EDIT(&w, p.down->job_id, 4, true, .queue = "down", .when = WHEN_DELAY, .when_ms = HOUR_MS);
    world_turn(&w);
    assert_true(was_accepted(report));
    pass(&w, 0);
    assert_int_equal(state_of(&w, p.down->exec_id), EXEC_SCHEDULED);
    assert_int_equal(edge_state(&w, p.down->job_id, p.fast->job_id), DEPENDENCY_PER_SLOT);
    assert_int_equal(edge_state(&w, p.down->job_id, p.slow->job_id), DEPENDENCY_PER_SLOT);
}

TEST(a_job_that_runs_once_stays_met_whatever_becomes_of_it)
{
    WORLD(w);
    const struct submission *slots = SUBMIT(&w, .every_ms = HOUR_MS, .queue = "slots");
    const struct submission *once = SUBMIT(&w, .queue = "once");
    world_turn(&w);
    world_pass(&w, HOUR_MS);
    run_out(&w, "once");
    const struct dependency_wish both[] = {
        {.job_id = once->job_id, .type = DEPENDS_SUCCESS},
        {.job_id = slots->job_id, .type = DEPENDS_SUCCESS},
    };
    const struct submission *down = SUBMIT(&w, .queue = "down", .after = both, .after_count = 2);
    world_turn(&w);
    pass(&w, 0);
    ask_about(&w, CMD_RETRY_EXEC, once->exec_id);
    world_turn(&w);
    EDIT(&w, down->job_id, 1, true, .queue = "down");
    world_turn(&w);
    pass(&w, 0);
    assert_int_equal(edge_state(&w, down->job_id, once->job_id), DEPENDENCY_MET);
    run_out(&w, "slots");
    assert_int_equal(state_of(&w, down->exec_id), EXEC_QUEUED);
}

TEST(an_edit_of_something_else_asks_nothing_again)
{
    WORLD(w);
    struct scene p = half_met(&w);
    EDIT(&w, p.down->job_id, 1, false, .queue = "other");
    world_turn(&w);
    assert_int_equal(edge_state(&w, p.down->job_id, p.fast->job_id), DEPENDENCY_MET);
    run_out(&w, "slow");
    assert_int_equal(state_of(&w, p.down->exec_id), EXEC_QUEUED);
}

/* A calendar holds it, with everything met; its rules count again when its moment is another. */
TEST(what_a_calendar_holds_asks_again_for_its_new_moment)
{
    WORLD(w);
    char text[100];
    const struct submission *up = SUBMIT(&w, .every_ms = HOUR_MS, .queue = "up");
    world_turn(&w);
    int64_t now_s = w.now_ms / 1000;
    snprintf(text, sizeof text, "hold %" PRId64 "-%" PRId64, now_s + 3600, now_s + 3660);
    ask_put_calendar(&w, "night", text);
    world_turn(&w);
    pass(&w, HOUR_MS);
    run_out(&w, "up");
    const struct dependency_wish on = {.job_id = up->job_id, .type = DEPENDS_SUCCESS};
    const struct submission *down = SUBMIT(&w, .queue = "down", .after = &on, .calendars = "night");
    world_turn(&w);
    pass(&w, 0);
    assert_int_equal(down->rc, RC_OK);
    assert_int_equal(state_of(&w, down->exec_id), EXEC_SCHEDULED);
    EDIT(&w, down->job_id, 1, true, .queue = "down", .when = WHEN_DELAY, .when_ms = HOUR_MS);
    world_turn(&w);
    pass(&w, HOUR_MS);
    pass(&w, 0);
    assert_int_equal(state_of(&w, down->exec_id), EXEC_BLOCKED);
    run_out(&w, "up");
    assert_int_equal(state_of(&w, down->exec_id), EXEC_QUEUED);
}

/* The upstreams are decided about elsewhere; either server may die on the way. */
TEST(an_upstream_elsewhere_is_asked_again_too)
{
    for (unsigned dies = 0; dies < 8; dies++) {
        DUO(s);
        const struct submission *fast = SUBMIT(&s.a, .every_ms = HOUR_MS, .queue = "fast");
        const struct submission *slow =
            SUBMIT(&s.a, .every_ms = HOUR_MS, .queue = "slow", .overlap = OVERLAP_PARALLEL);
        duo_settle(&s);
        duo_pass(&s, HOUR_MS);
        const struct dependency_wish both[] = {
            {.job_id = fast->job_id, .type = DEPENDS_SUCCESS},
            {.job_id = slow->job_id, .type = DEPENDS_SUCCESS},
        };
        const struct submission *down =
            SUBMIT(&s.b, .queue = "down", .after = both, .after_count = 2);
        duo_settle(&s);
        run_out(&s.a, "fast");
        duo_settle(&s);
        assert_int_equal(edge_state(&s.b, down->job_id, fast->job_id), DEPENDENCY_MET);
        duo_pass(&s, HOUR_MS);
        if (dies & 1)
            world_restart(&s.b);
        EDIT(&s.b, down->job_id, 1, true, .queue = "down");
        world_turn(&s.b);
        if (dies & 2)
            world_restart(&s.b);
        if (dies & 4)
            world_restart(&s.a);
        duo_settle(&s);
        run_out(&s.a, "slow");
        run_out(&s.a, "slow");
        duo_settle(&s);
        assert_int_equal(state_of(&s.b, down->exec_id), EXEC_BLOCKED);
        run_out(&s.a, "fast");
        duo_settle(&s);
        assert_int_equal(state_of(&s.b, down->exec_id), EXEC_QUEUED);
        assert_int_equal(s.a.table.waiters.len, 0);
    }
}
