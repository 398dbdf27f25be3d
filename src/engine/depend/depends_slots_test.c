/* Slots that wait for slots. Every turn here is also undone once (`world_turn`). */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

#define ON(id_, type_) (&(struct dependency_wish){.job_id = (id_), .type = (type_)})

/* The newest execution of the job that is in this state. */
static const struct exec_rec *newest(const struct world *w, uint64_t job_id, enum exec_state state)
{
    const struct map *both[] = {&w->table.live, &w->table.history};
    const struct exec_rec *found = NULL;
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

static size_t count_in(const struct world *w, uint64_t job_id, enum exec_state state)
{
    const struct map *both[] = {&w->table.live, &w->table.history};
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        MAP_EACH(both[i], slot)
        {
            const struct exec_rec *x = slot->value;
            count += x->job_id == job_id && x->state == state;
        }
    }
    return count;
}

static enum dependency_state edge_state(const struct world *w, uint64_t dependant,
                                        uint64_t upstream)
{
    const struct dependency_rec rec = {.upstream = upstream, .dependant = dependant};
    const struct dependency_rec *kept = strmap_get(&w->table.depends, depend_key(&rec));
    return kept == NULL ? 0 : kept->state;
}

/* What is ready runs, and ends so: of this job. Takes three turns. */
static void run_out(struct world *w, uint64_t job_id, enum outcome outcome)
{
    struct fake f = HIRE(w, .slots = 1);
    struct poll_lease lease = fake_lease(w, &f);
    assert_int_equal(lease.job_id, job_id);
    struct asked *asked = ask_report(w, &f, &lease, outcome);
    world_turn(w);
    assert_true(was_accepted(asked));
}

/* Time passes, and the turn after that has asked what was not known. */
static void pass(struct world *w, int64_t ms)
{
    world_pass(w, ms);
    while (w->engine->depends.asking.len > 0) {
        assert_int_equal(world_wait_ms(w), 0);
        world_turn(w);
    }
}

TEST(a_slot_waits_for_the_slot_of_the_same_moment)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .every_ms = HOUR_MS);
    const struct dependency_wish first = {.number = 0, .type = DEPENDS_SUCCESS};
    world_turn(&w);
    assert_int_equal(up->rc, RC_OK);
    const struct submission *down =
        SUBMIT(&w, .every_ms = HOUR_MS, .after = ON(up->job_id, first.type));
    world_turn(&w);
    assert_int_equal(down->rc, RC_OK);
    assert_int_equal(edge_state(&w, down->job_id, up->job_id), DEPENDENCY_PER_SLOT);
    for (int i = 0; i < 3; i++) {
        pass(&w, HOUR_MS);
        const struct exec_rec *slot = newest(&w, down->job_id, EXEC_BLOCKED);
        assert_non_null(slot);
        uint64_t id = slot->id;
        run_out(&w, up->job_id, OUTCOME_SUCCEEDED);
        assert_int_equal(state_of(&w, id), EXEC_QUEUED); /* in the turn of the report */
        run_out(&w, down->job_id, OUTCOME_SUCCEEDED);
    }
    assert_int_equal(edge_state(&w, down->job_id, up->job_id), DEPENDENCY_PER_SLOT);
}

TEST(a_slot_that_is_over_long_since_decides_at_once)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    world_pass(&w, HOUR_MS);
    run_out(&w, up->job_id, OUTCOME_SUCCEEDED);
    const struct submission *good =
        SUBMIT(&w, .every_ms = MINUTE_MS, .after = ON(up->job_id, DEPENDS_SUCCESS));
    const struct submission *bad =
        SUBMIT(&w, .every_ms = MINUTE_MS, .after = ON(up->job_id, DEPENDS_FAILURE));
    world_turn(&w);
    pass(&w, MINUTE_MS);
    assert_int_equal(state_of(&w, good->exec_id), EXEC_QUEUED);
    assert_int_equal(state_of(&w, bad->exec_id), EXEC_SKIPPED);
    const struct exec_rec *skipped = map_get(&w.table.history, bad->exec_id);
    assert_true(str_starts(skipped->error, STR("it waited for the failure of job_")));
    assert_non_null(newest(&w, bad->job_id, EXEC_SCHEDULED)); /* and goes on */
}

TEST(an_earlier_slot_that_still_runs_does_not_count)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .every_ms = HOUR_MS); /* overlap: skip */
    world_turn(&w);
    world_pass(&w, HOUR_MS); /* queued, and there is no worker */
    world_pass(&w, HOUR_MS);
    assert_int_equal(count_in(&w, up->job_id, EXEC_SKIPPED), 1);
    const struct submission *success =
        SUBMIT(&w, .every_ms = MINUTE_MS, .after = ON(up->job_id, DEPENDS_SUCCESS));
    const struct submission *any =
        SUBMIT(&w, .every_ms = MINUTE_MS, .after = ON(up->job_id, DEPENDS_COMPLETION));
    world_turn(&w);
    pass(&w, MINUTE_MS);
    assert_int_equal(state_of(&w, success->exec_id), EXEC_SKIPPED);
    assert_int_equal(state_of(&w, any->exec_id), EXEC_QUEUED); /* skipped is complete, no more */
}

TEST(without_a_slot_before_its_own_there_is_nothing_to_wait_for)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    const struct submission *a =
        SUBMIT(&w, .every_ms = MINUTE_MS, .after = ON(up->job_id, DEPENDS_FAILURE));
    const struct submission *b = SUBMIT(&w, .after = ON(up->job_id, DEPENDS_SUCCESS));
    world_turn(&w);
    pass(&w, MINUTE_MS);
    assert_int_equal(state_of(&w, a->exec_id), EXEC_QUEUED);
    assert_int_equal(state_of(&w, b->exec_id), EXEC_QUEUED);
    assert_int_equal(edge_state(&w, b->job_id, up->job_id), DEPENDENCY_MET);
}

TEST(a_slot_that_is_still_ahead_is_waited_for)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    const struct submission *down =
        SUBMIT(&w, .every_ms = HOUR_MS, .after = ON(up->job_id, DEPENDS_SUCCESS));
    ask_about(&w, CMD_PAUSE_JOB, up->job_id);
    world_turn(&w);
    pass(&w, HOUR_MS);
    pass(&w, 1000);
    assert_int_equal(state_of(&w, down->exec_id), EXEC_BLOCKED);
    ask_about(&w, CMD_RESUME_JOB, up->job_id); /* what was missed is skipped */
    world_turn(&w);
    pass(&w, 0);
    assert_int_equal(state_of(&w, down->exec_id), EXEC_SKIPPED);
}

TEST(a_cancelled_upstream_never_succeeds_again)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    const struct submission *down =
        SUBMIT(&w, .every_ms = HOUR_MS, .after = ON(up->job_id, DEPENDS_SUCCESS));
    const struct submission *any =
        SUBMIT(&w, .every_ms = HOUR_MS, .after = ON(up->job_id, DEPENDS_COMPLETION));
    world_turn(&w);
    pass(&w, HOUR_MS);
    assert_int_equal(state_of(&w, down->exec_id), EXEC_BLOCKED);
    ask_about(&w, CMD_CANCEL_JOB, up->job_id);
    world_turn(&w);
    assert_int_equal(state_of(&w, down->exec_id), EXEC_SKIPPED);
    assert_int_equal(state_of(&w, any->exec_id), EXEC_QUEUED);
    pass(&w, HOUR_MS); /* and its last slot stays what it was */
    assert_int_equal(count_in(&w, down->job_id, EXEC_SKIPPED), 2);
}

TEST(a_job_that_runs_once_holds_every_slot_until_it_is_over)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .queue = "slow");
    world_turn(&w);
    const struct submission *down = SUBMIT(&w, .every_ms = MINUTE_MS, .overlap = OVERLAP_PARALLEL,
                                           .after = ON(up->job_id, DEPENDS_SUCCESS));
    world_turn(&w);
    pass(&w, MINUTE_MS);
    pass(&w, MINUTE_MS);
    assert_int_equal(count_in(&w, down->job_id, EXEC_BLOCKED), 2);
    run_out(&w, up->job_id, OUTCOME_SUCCEEDED);
    assert_int_equal(count_in(&w, down->job_id, EXEC_QUEUED), 2);
    pass(&w, MINUTE_MS);
    assert_int_equal(count_in(&w, down->job_id, EXEC_QUEUED), 3);
}

TEST(a_job_that_failed_skips_every_slot_until_it_is_run_again)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w);
    world_turn(&w);
    run_out(&w, up->job_id, OUTCOME_PERMANENT);
    const struct submission *down =
        SUBMIT(&w, .every_ms = MINUTE_MS, .after = ON(up->job_id, DEPENDS_SUCCESS));
    world_turn(&w);
    pass(&w, MINUTE_MS);
    pass(&w, MINUTE_MS);
    assert_int_equal(count_in(&w, down->job_id, EXEC_SKIPPED), 2);
    ask_about(&w, CMD_RETRY_EXEC, up->exec_id);
    world_turn(&w);
    pass(&w, MINUTE_MS);
    assert_int_equal(count_in(&w, down->job_id, EXEC_BLOCKED), 1);
    run_out(&w, up->job_id, OUTCOME_SUCCEEDED);
    assert_int_equal(count_in(&w, down->job_id, EXEC_QUEUED), 1);
}

TEST(a_job_that_runs_once_waits_for_the_slot_before_its_time)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    world_pass(&w, HOUR_MS);
    const struct submission *now = SUBMIT(&w, .after = ON(up->job_id, DEPENDS_SUCCESS));
    const struct submission *later = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = MINUTE_MS,
                                            .after = ON(up->job_id, DEPENDS_FAILURE));
    world_turn(&w);
    assert_int_equal(state_of(&w, now->exec_id), EXEC_BLOCKED);
    assert_int_equal(state_of(&w, later->exec_id), EXEC_SCHEDULED);
    pass(&w, MINUTE_MS);
    assert_int_equal(state_of(&w, later->exec_id), EXEC_BLOCKED);
    world_restart(&w);
    pass(&w, 0);
    assert_int_equal(state_of(&w, now->exec_id), EXEC_BLOCKED);
    run_out(&w, up->job_id, OUTCOME_SUCCEEDED);
    assert_int_equal(state_of(&w, now->exec_id), EXEC_QUEUED);
    assert_int_equal(edge_state(&w, now->job_id, up->job_id), DEPENDENCY_MET);
    assert_int_equal(state_of(&w, later->exec_id), EXEC_SKIPPED);
    assert_int_equal(edge_state(&w, later->job_id, up->job_id), DEPENDENCY_IMPOSSIBLE);
}

TEST(what_waits_for_a_job_and_a_slot_waits_for_both)
{
    WORLD(w);
    const struct submission *slots = SUBMIT(&w, .every_ms = HOUR_MS, .queue = "slots");
    const struct submission *once = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 2 * MINUTE_MS);
    world_turn(&w);
    world_pass(&w, HOUR_MS - MINUTE_MS);
    (void)once;
    const struct submission *job = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 3 * HOUR_MS);
    world_turn(&w);
    const struct dependency_wish both[] = {
        {.job_id = slots->job_id, .type = DEPENDS_COMPLETION},
        {.job_id = job->job_id, .type = DEPENDS_COMPLETION},
    };
    const struct submission *down =
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = MINUTE_MS, .after = both, .after_count = 2);
    world_turn(&w);
    pass(&w, 2 * MINUTE_MS); /* its time has come, and the slot's */
    world_restart(&w);
    pass(&w, 0);
    ask_about(&w, CMD_CANCEL_JOB, job->job_id);
    world_turn(&w);
    pass(&w, 0);
    assert_int_equal(state_of(&w, down->exec_id), EXEC_BLOCKED);
    ask_about(&w, CMD_CANCEL_EXEC, slots->exec_id);
    world_turn(&w);
    assert_int_equal(state_of(&w, down->exec_id), EXEC_QUEUED);
}

TEST(a_server_that_starts_knows_what_its_slots_wait_for)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    const struct submission *met =
        SUBMIT(&w, .every_ms = HOUR_MS, .after = ON(up->job_id, DEPENDS_COMPLETION));
    const struct submission *not_met =
        SUBMIT(&w, .every_ms = HOUR_MS, .after = ON(up->job_id, DEPENDS_FAILURE));
    world_turn(&w);
    pass(&w, HOUR_MS);
    world_restart(&w);
    pass(&w, 0);
    assert_int_equal(state_of(&w, met->exec_id), EXEC_BLOCKED);
    run_out(&w, up->job_id, OUTCOME_SUCCEEDED);
    assert_int_equal(state_of(&w, met->exec_id), EXEC_QUEUED);
    assert_int_equal(state_of(&w, not_met->exec_id), EXEC_SKIPPED);
}

TEST(a_slot_that_waits_for_others_is_under_way)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 10 * HOUR_MS);
    world_turn(&w);
    const struct dependency_wish *on = ON(up->job_id, DEPENDS_COMPLETION);
    const struct submission *skip = SUBMIT(&w, .every_ms = MINUTE_MS, .after = on);
    const struct submission *queue =
        SUBMIT(&w, .every_ms = MINUTE_MS, .overlap = OVERLAP_QUEUE, .after = on);
    const struct submission *replace =
        SUBMIT(&w, .every_ms = MINUTE_MS, .overlap = OVERLAP_REPLACE, .after = on);
    world_turn(&w);
    pass(&w, MINUTE_MS);
    pass(&w, MINUTE_MS);
    assert_int_equal(count_in(&w, skip->job_id, EXEC_BLOCKED), 1);
    assert_int_equal(count_in(&w, skip->job_id, EXEC_SKIPPED), 1);
    assert_int_equal(count_in(&w, queue->job_id, EXEC_BLOCKED), 2);
    assert_int_equal(state_of(&w, replace->exec_id), EXEC_CANCELLED);
    assert_int_equal(count_in(&w, replace->job_id, EXEC_BLOCKED), 1);
    world_restart(&w);
    pass(&w, 0);
    ask_about(&w, CMD_CANCEL_JOB, up->job_id);
    world_turn(&w);
    pass(&w, 0);
    assert_int_equal(count_in(&w, skip->job_id, EXEC_QUEUED), 1);
    assert_int_equal(count_in(&w, queue->job_id, EXEC_QUEUED), 1); /* the other one behind it */
    assert_int_equal(count_in(&w, queue->job_id, EXEC_BLOCKED), 1);
    assert_int_equal(count_in(&w, replace->job_id, EXEC_QUEUED), 1);
}

TEST(a_run_that_somebody_asks_for_waits_for_nothing)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 10 * HOUR_MS);
    world_turn(&w);
    const struct submission *down =
        SUBMIT(&w, .every_ms = HOUR_MS, .after = ON(up->job_id, DEPENDS_SUCCESS));
    world_turn(&w);
    const struct asked *asked = ask_about(&w, CMD_TRIGGER_JOB, down->job_id);
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_int_equal(state_of(&w, asked->cmd.reply.exec_id), EXEC_QUEUED);
}

TEST(rules_end_with_their_job)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    const struct submission *down =
        SUBMIT(&w, .every_ms = HOUR_MS, .after = ON(up->job_id, DEPENDS_SUCCESS));
    world_turn(&w);
    pass(&w, HOUR_MS);
    ask_about(&w, CMD_CANCEL_JOB, down->job_id);
    world_turn(&w);
    assert_int_equal(state_of(&w, down->exec_id), EXEC_CANCELLED);
    assert_int_equal(edge_state(&w, down->job_id, up->job_id), DEPENDENCY_MOOT);
    assert_int_equal(w.engine->depends.edge_count, 0);
    assert_int_equal(w.engine->depends.rulebooks.len, 0);
}

TEST(rules_stay_while_their_job_is_beyond_the_horizon)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .every_ms = 10 * HOUR_MS);
    world_turn(&w);
    const struct submission *down =
        SUBMIT(&w, .every_ms = 10 * HOUR_MS, .after = ON(up->job_id, DEPENDS_COMPLETION));
    world_turn(&w);
    assert_null(map_get(&w.engine->jobs, down->job_id));
    world_restart(&w);
    world_turn(&w);
    for (int i = 0; i < 20; i++)
        pass(&w, HOUR_MS / 2);
    assert_int_equal(state_of(&w, down->exec_id), EXEC_BLOCKED);
}

TEST(chains_of_slots_are_told_in_one_turn)
{
    enum { LENGTH = 50 };
    WORLD(w);
    const struct submission *jobs[LENGTH];
    jobs[0] = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    for (int i = 1; i < LENGTH; i++) {
        jobs[i] =
            SUBMIT(&w, .every_ms = HOUR_MS, .after = ON(jobs[i - 1]->job_id, DEPENDS_SUCCESS));
        world_turn(&w);
    }
    pass(&w, HOUR_MS);
    ask_about(&w, CMD_CANCEL_EXEC, jobs[0]->exec_id);
    world_turn(&w);
    for (int i = 1; i < LENGTH; i++)
        assert_int_equal(state_of(&w, jobs[i]->exec_id), EXEC_SKIPPED);
}

/* ---- many */

static void plain_turn(struct world *w)
{
    w->delta = *world_decide(w);
    world_commit(w);
}

TEST(ten_thousand_that_wait_for_one_slot_ask_once)
{
    enum { COUNT = 10000 };
    WORLD(w);
    const struct submission *up = SUBMIT(&w, .every_ms = HOUR_MS);
    world_turn(&w);
    struct wish *wishes = mem_new(COUNT * sizeof *wishes);
    const struct dependency_wish on = {.job_id = up->job_id, .type = DEPENDS_SUCCESS};
    for (size_t i = 0; i < COUNT; i++)
        wishes[i] = (struct wish){.every_ms = HOUR_MS, .after = &on};
    ask_submit_all(&w, wishes, COUNT);
    free(wishes);
    plain_turn(&w);
    w.now_ms += HOUR_MS;
    plain_turn(&w); /* a tick takes so many … */
    plain_turn(&w);
    assert_int_equal(w.engine->turn.slots_asked.len, COUNT - 1);
    for (size_t i = 1; i < w.engine->turn.slots_asked.len; i++)
        assert_ptr_equal(w.engine->turn.slots_asked.items[i].question,
                         w.engine->turn.slots_asked.items[0].question);
    plain_turn(&w);
    assert_int_equal(w.engine->depends.upstreams.len, 1);
    ask_about(&w, CMD_CANCEL_EXEC, up->exec_id);
    plain_turn(&w);
    assert_int_equal(w.engine->depends.upstreams.len, 0);
    assert_int_equal(w.engine->execs.len, COUNT + 1); /* those ahead */
}

/* ---- what is too old */

static struct engine_options keep_for_an_hour(void)
{
    struct engine_options options = engine_defaults;
    options.history_keep_ms = HOUR_MS;
    options.letters_keep_ms = HOUR_MS;
    return options;
}

/* Long enough for a pass that deletes what is old. */
static void grow_old(struct world *w, int64_t ms)
{
    for (int64_t left_ms = ms; left_ms > 0; left_ms -= 10 * MINUTE_MS)
        pass(w, 10 * MINUTE_MS);
}

TEST(a_job_that_ran_once_settles_the_rule_and_may_be_deleted)
{
    struct engine_options options = keep_for_an_hour();
    WORLD_WITH(w, options);
    const struct submission *up = SUBMIT(&w);
    world_turn(&w);
    const struct submission *down =
        SUBMIT(&w, .every_ms = 5 * HOUR_MS, .after = ON(up->job_id, DEPENDS_SUCCESS));
    world_turn(&w);
    run_out(&w, up->job_id, OUTCOME_SUCCEEDED);
    grow_old(&w, 4 * HOUR_MS);
    assert_non_null(map_get(&w.table.history, up->exec_id)); /* the rule names it */
    grow_old(&w, HOUR_MS);
    assert_int_equal(count_in(&w, down->job_id, EXEC_QUEUED), 1);
    assert_int_equal(edge_state(&w, down->job_id, up->job_id), DEPENDENCY_MET);
    run_out(&w, down->job_id, OUTCOME_SUCCEEDED);
    grow_old(&w, 2 * HOUR_MS);
    assert_null(map_get(&w.table.history, up->exec_id));
    world_restart(&w);
    world_turn(&w);
    grow_old(&w, 3 * HOUR_MS);
    assert_int_equal(count_in(&w, down->job_id, EXEC_QUEUED), 1);
}

/* It waits when its upstream ends, and others of its job that are in line do. */
TEST(one_that_waits_settles_it_with_the_end)
{
    WORLD(w);
    const struct submission *up = SUBMIT(&w);
    world_turn(&w);
    const struct submission *down = SUBMIT(&w, .every_ms = HOUR_MS, .overlap = OVERLAP_PARALLEL,
                                           .after = ON(up->job_id, DEPENDS_SUCCESS));
    world_turn(&w);
    pass(&w, HOUR_MS);
    pass(&w, HOUR_MS);
    assert_int_equal(count_in(&w, down->job_id, EXEC_BLOCKED), 2);
    run_out(&w, up->job_id, OUTCOME_SUCCEEDED);
    assert_int_equal(count_in(&w, down->job_id, EXEC_QUEUED), 2);
    assert_int_equal(edge_state(&w, down->job_id, up->job_id), DEPENDENCY_MET);
    pass(&w, HOUR_MS);
    assert_int_equal(count_in(&w, down->job_id, EXEC_QUEUED), 3);
}

TEST(what_failed_stays_for_those_that_wait_for_its_success)
{
    struct engine_options options = keep_for_an_hour();
    WORLD_WITH(w, options);
    const struct submission *up = SUBMIT(&w, .retries = 0);
    world_turn(&w);
    const struct submission *down =
        SUBMIT(&w, .every_ms = HOUR_MS, .after = ON(up->job_id, DEPENDS_SUCCESS));
    world_turn(&w);
    run_out(&w, up->job_id, OUTCOME_PERMANENT);
    grow_old(&w, 10 * HOUR_MS);
    assert_non_null(map_get(&w.table.history, up->exec_id));
    assert_int_equal(edge_state(&w, down->job_id, up->job_id), DEPENDENCY_PER_SLOT);
    assert_int_equal(count_in(&w, down->job_id, EXEC_QUEUED), 0);
    struct asked *cancel = ask_about(&w, CMD_CANCEL_JOB, down->job_id);
    world_turn(&w);
    assert_int_equal(cancel->cmd.reply.rc, RC_OK);
    grow_old(&w, 3 * HOUR_MS);
    assert_null(map_get(&w.table.history, up->exec_id)); /* nobody names it any more */
}

TEST(a_failed_slot_stays_as_long_as_it_is_the_newest)
{
    struct engine_options options = keep_for_an_hour();
    WORLD_WITH(w, options);
    const struct submission *up = SUBMIT(&w, .every_ms = 24 * HOUR_MS, .retries = 0);
    world_turn(&w);
    const struct submission *down =
        SUBMIT(&w, .every_ms = 30 * HOUR_MS, .after = ON(up->job_id, DEPENDS_SUCCESS));
    world_turn(&w);
    pass(&w, 24 * HOUR_MS);
    run_out(&w, up->job_id, OUTCOME_PERMANENT);
    grow_old(&w, 6 * HOUR_MS);
    assert_int_equal(state_of(&w, down->exec_id), EXEC_SKIPPED);
}

/* Nobody named it while it was there. */
TEST(a_deleted_slot_does_not_count_as_met)
{
    struct engine_options options = keep_for_an_hour();
    WORLD_WITH(w, options);
    const struct submission *up = SUBMIT(&w, .every_ms = 24 * HOUR_MS, .retries = 0);
    world_turn(&w);
    pass(&w, 24 * HOUR_MS);
    run_out(&w, up->job_id, OUTCOME_PERMANENT);
    grow_old(&w, 4 * HOUR_MS);
    const struct submission *success =
        SUBMIT(&w, .every_ms = HOUR_MS, .after = ON(up->job_id, DEPENDS_SUCCESS));
    const struct submission *any =
        SUBMIT(&w, .every_ms = HOUR_MS, .after = ON(up->job_id, DEPENDS_COMPLETION));
    world_turn(&w);
    pass(&w, HOUR_MS);
    assert_int_equal(state_of(&w, success->exec_id), EXEC_SKIPPED);
    assert_int_equal(state_of(&w, any->exec_id), EXEC_QUEUED);
}
