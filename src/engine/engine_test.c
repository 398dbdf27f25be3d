#include "base/rng.h"
#include "engine/test_engine.h"

#include <stdio.h>

/* ---- submitting */

static void a_job_for_now_is_queued(void **state)
{
    (void)state;
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(job->rc, RC_OK);
    assert_int_equal(job->created_ms, w.now_ms);
    assert_int_equal(job->due_ms, w.now_ms);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_ACTIVE);
}

static void a_job_for_later_waits_for_its_moment(void **state)
{
    (void)state;
    WORLD(w);
    const struct submission *at = SUBMIT(&w, .when = WHEN_AT, .when_ms = w.now_ms + 5000);
    const struct submission *delayed = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 5000);
    world_turn(&w);
    assert_int_equal(state_of(&w, at->exec_id), EXEC_SCHEDULED);
    assert_int_equal(state_of(&w, delayed->exec_id), EXEC_SCHEDULED);
    assert_int_equal(delayed->due_ms, w.now_ms + 5000);
    assert_int_equal(engine_next_ms(w.engine), w.now_ms + 5000);
    world_pass(&w, 4999);
    assert_int_equal(state_of(&w, at->exec_id), EXEC_SCHEDULED);
    world_pass(&w, 1);
    assert_int_equal(state_of(&w, at->exec_id), EXEC_QUEUED);
    assert_int_equal(state_of(&w, delayed->exec_id), EXEC_QUEUED);
}

static void a_moment_in_the_past_is_now(void **state)
{
    (void)state;
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .when = WHEN_AT, .when_ms = 1);
    world_turn(&w);
    assert_int_equal(job->due_ms, w.now_ms);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

static void a_new_job_leaves_its_texts_in_the_delta(void **state)
{
    (void)state;
    WORLD(w);
    const struct submission *item = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    const struct job_rec *job = map_get(&w.table.jobs, item->job_id);
    assert_true(str_eq(job->name, STR("nightly")));
    assert_true(str_eq(job->owner, STR("admin")));
    assert_true(str_eq(job->tags, item->tags));
    assert_true(str_eq(job->spec, item->spec));
    assert_true(str_eq(job->payload, item->payload));
    assert_int_equal(job->last_exec, item->exec_id);
    assert_int_equal(job->version, 1);
}

static void a_job_and_its_execution_share_a_bucket(void **state)
{
    (void)state;
    WORLD(w);
    const struct submission *first = SUBMIT(&w);
    const struct submission *second = SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(id_bucket(first->job_id), id_bucket(first->exec_id));
    assert_int_not_equal(id_bucket(first->job_id), id_bucket(second->job_id));
}

static void more_jobs_than_memory_may_hold_are_refused(void **state)
{
    (void)state;
    struct engine_options options = engine_defaults;
    options.live_max = 2;
    WORLD_WITH(w, options);
    struct asked *asked = ask_submit_all(&w, (struct wish[3]){{0}}, 3);
    world_turn(&w);
    assert_int_equal(asked->cmd.submit.items[1].rc, RC_OK);
    assert_int_equal(asked->cmd.submit.items[2].rc, RC_BUSY);
    assert_int_equal(engine_live_count(w.engine), 2);
}

static void more_lanes_than_allowed_are_refused(void **state)
{
    (void)state;
    struct engine_options options = engine_defaults;
    options.lanes_max = 2;
    WORLD_WITH(w, options);
    const struct submission *a = SUBMIT(&w, .queue = "a");
    const struct submission *b = SUBMIT(&w, .queue = "b");
    const struct submission *c = SUBMIT(&w, .queue = "a", .handler = "mail");
    const struct submission *again = SUBMIT(&w, .queue = "a");
    world_turn(&w);
    assert_int_equal(a->rc, RC_OK);
    assert_int_equal(b->rc, RC_OK);
    assert_int_equal(c->rc, RC_BUSY);
    assert_int_equal(again->rc, RC_OK);
}

static void a_refused_job_costs_the_others_nothing(void **state)
{
    (void)state;
    WORLD(w);
    struct wish wishes[] = {{.name = "a"}, {.name = "a"}, {.name = "b"}};
    struct asked *asked = ask_submit_all(&w, wishes, 3);
    world_turn(&w);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_int_equal(asked->cmd.submit.items[0].rc, RC_OK);
    assert_int_equal(asked->cmd.submit.items[1].rc, RC_CONFLICT);
    assert_int_equal(asked->cmd.submit.items[2].rc, RC_OK);
}

/* ---- order */

static uint64_t next_of(struct world *w, struct fake *f)
{
    return fake_lease(w, f).exec_id;
}

static void priority_comes_before_age(void **state)
{
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *old = SUBMIT(&w, .priority = 400);
    world_turn(&w);
    w.now_ms += 1000;
    const struct submission *urgent = SUBMIT(&w, .priority = 600);
    const struct submission *zero = SUBMIT(&w, .priority = -1);
    const struct submission *top = SUBMIT(&w, .priority = SPEC_PRIORITY_MAX);
    world_turn(&w);
    assert_int_equal(next_of(&w, &f), top->exec_id);
    assert_int_equal(next_of(&w, &f), urgent->exec_id);
    assert_int_equal(next_of(&w, &f), old->exec_id);
    assert_int_equal(next_of(&w, &f), zero->exec_id);
}

static void among_equals_the_oldest_is_first(void **state)
{
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *jobs[6];
    for (size_t i = 0; i < 6; i++) {
        jobs[i] = SUBMIT(&w, .queue = i % 2 == 0 ? "a" : "b");
        if (i % 3 == 2)
            world_turn(&w);
    }
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(next_of(&w, &f), jobs[i]->exec_id);
}

static void what_comes_back_keeps_its_place(void **state)
{
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *first = SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    assert_int_equal(lease.exec_id, first->exec_id);
    w.now_ms += 1000;
    SUBMIT(&w);
    world_turn(&w);
    ask_report(&w, &f, &lease, OUTCOME_RETURNED);
    world_turn(&w);
    assert_int_equal(next_of(&w, &f), first->exec_id);
}

static void what_becomes_due_is_as_old_as_that_moment(void **state)
{
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *later = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 2000);
    world_turn(&w);
    w.now_ms += 1000;
    const struct submission *sooner = SUBMIT(&w);
    world_turn(&w);
    world_pass(&w, 1000);
    assert_int_equal(next_of(&w, &f), sooner->exec_id);
    assert_int_equal(next_of(&w, &f), later->exec_id);
}

/* ---- names */

static void a_name_in_use_is_a_conflict(void **state)
{
    (void)state;
    WORLD(w);
    const struct submission *first = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    const struct submission *second = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    assert_int_equal(first->rc, RC_OK);
    assert_int_equal(second->rc, RC_CONFLICT);
    assert_true(delta_is_empty(&w.delta));
    assert_non_null(strstr(second->err->text, "nightly"));
}

static void of_two_with_one_name_in_one_turn_the_first_gets_it(void **state)
{
    (void)state;
    WORLD(w);
    const struct submission *first = SUBMIT(&w, .name = "nightly");
    const struct submission *second = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    assert_int_equal(first->rc, RC_OK);
    assert_int_equal(second->rc, RC_CONFLICT);
}

static void a_name_is_free_again_when_its_job_has_ended(void **state)
{
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_int_equal(w.delta.released_count, 1);
    const struct submission *next = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    assert_int_equal(next->rc, RC_OK);
}

static void a_name_refused_for_want_of_a_lane_is_given_back(void **state)
{
    (void)state;
    struct engine_options options = engine_defaults;
    options.lanes_max = 1;
    WORLD_WITH(w, options);
    SUBMIT(&w);
    const struct submission *second = SUBMIT(&w, .name = "a", .handler = "mail");
    world_turn(&w);
    assert_int_equal(second->rc, RC_BUSY);
    assert_int_equal(w.delta.released_count, 1);
    assert_int_equal(w.table.claims.len, 0);
}

static void a_name_refused_for_want_of_room_is_given_back(void **state)
{
    (void)state;
    struct engine_options options = engine_defaults;
    options.live_max = 1;
    WORLD_WITH(w, options);
    SUBMIT(&w);
    const struct submission *second = SUBMIT(&w, .name = "a");
    world_turn(&w);
    assert_int_equal(second->rc, RC_BUSY);
    assert_int_equal(w.table.claims.len, 0);
}

/* ---- the horizon */

static struct engine_options short_sighted(void)
{
    struct engine_options options = engine_defaults;
    options.horizon_ms = 10000;
    options.load_max = 3;
    return options;
}

static void what_is_due_beyond_the_horizon_leaves_memory(void **state)
{
    (void)state;
    struct engine_options options = short_sighted();
    WORLD_WITH(w, options);
    const struct submission *near = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 10000);
    const struct submission *far = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 10001);
    world_turn(&w);
    assert_non_null(exec_of(&w, near->exec_id));
    assert_null(exec_of(&w, far->exec_id));
    assert_null(map_get(&w.engine->jobs, far->job_id));
    assert_int_equal(state_of(&w, far->exec_id), EXEC_SCHEDULED);
}

static void a_long_back_off_leaves_memory_too(void **state)
{
    (void)state;
    struct engine_options options = short_sighted();
    WORLD_WITH(w, options);
    struct fake f = HIRE(&w);
    const struct submission *job =
        SUBMIT(&w, .retries = 1, .policy = RETRY_FIXED, .retry_ms = 60000);
    world_turn(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    ask_report(&w, &f, &lease, OUTCOME_FAILED);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RETRYING);
    assert_int_equal(engine_live_count(w.engine), 0);
    for (int i = 0; i < 12; i++)
        world_pass(&w, 5000);
    assert_int_equal(fake_lease(&w, &f).attempt, 2);
}

static void the_engine_looks_again_when_half_the_horizon_is_gone(void **state)
{
    (void)state;
    struct engine_options options = short_sighted();
    WORLD_WITH(w, options);
    const struct submission *far = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 14000);
    world_turn(&w);
    assert_int_equal(engine_next_ms(w.engine), w.now_ms + 5000);
    world_pass(&w, 4999);
    assert_null(exec_of(&w, far->exec_id));
    world_pass(&w, 1);
    assert_non_null(exec_of(&w, far->exec_id));
    assert_true(delta_is_empty(&w.delta));
    assert_int_equal(engine_next_ms(w.engine), far->due_ms - 4000);
}

static void many_due_at_one_moment_are_loaded_page_by_page(void **state)
{
    (void)state;
    struct engine_options options = short_sighted();
    WORLD_WITH(w, options);
    const struct submission *jobs[10];
    for (size_t i = 0; i < 10; i++)
        jobs[i] = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = i < 2 ? 11000 : 12000);
    world_turn(&w);
    assert_int_equal(engine_live_count(w.engine), 0);
    world_pass(&w, 5000);
    assert_int_equal(engine_live_count(w.engine), 3);
    world_pass(&w, 2000); /* half a horizon before the first that is missing */
    assert_int_equal(engine_live_count(w.engine), 6);
    assert_true(engine_next_ms(w.engine) <= w.now_ms);
    world_turn(&w);
    assert_int_equal(engine_live_count(w.engine), 9);
    world_turn(&w);
    assert_int_equal(engine_live_count(w.engine), 10);
    assert_true(engine_next_ms(w.engine) > w.now_ms);
    world_pass(&w, 5000);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(state_of(&w, jobs[i]->exec_id), EXEC_QUEUED);
}

static void a_job_for_the_middle_of_a_page_is_not_loaded_twice(void **state)
{
    (void)state;
    struct engine_options options = short_sighted();
    WORLD_WITH(w, options);
    for (size_t i = 0; i < 5; i++)
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 12000 + (int64_t)i);
    world_turn(&w);
    w.now_ms += 5000; /* the page that is loaded now ends at 12002 */
    const struct submission *before = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 7001);
    const struct submission *after = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 7003);
    world_turn(&w);
    assert_non_null(exec_of(&w, before->exec_id));
    assert_null(exec_of(&w, after->exec_id));
    world_pass(&w, 2002);
    assert_int_equal(engine_live_count(w.engine), 7);
}

static void every_far_job_runs_once_and_in_time(void **state)
{
    (void)state;
    struct engine_options options = short_sighted();
    WORLD_WITH(w, options);
    const struct submission *jobs[50];
    struct rng rng = {.state = 7};
    for (size_t i = 0; i < 50; i++)
        jobs[i] = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = (int64_t)rng_below(&rng, 60) * 1000);
    world_turn(&w);
    int64_t end_ms = w.now_ms + 60000;
    while (w.now_ms < end_ms) {
        int64_t next_ms = engine_next_ms(w.engine);
        if (next_ms > w.now_ms)
            w.now_ms = next_ms;
        world_turn(&w);
        for (size_t i = 0; i < 50; i++)
            assert_true((state_of(&w, jobs[i]->exec_id) == EXEC_QUEUED) ==
                            (jobs[i]->due_ms <= w.now_ms) ||
                        engine_next_ms(w.engine) <= w.now_ms);
    }
    assert_int_equal(w.engine->ready.len, 50);
}

static void what_the_store_holds_needs_no_permission_for_its_lane(void **state)
{
    (void)state;
    struct engine_options options = short_sighted();
    options.lanes_max = 2;
    WORLD_WITH(w, options);
    const struct submission *far = SUBMIT(&w, .queue = "far", .when = WHEN_DELAY, .when_ms = 14000);
    world_turn(&w);
    world_restart(&w);
    SUBMIT(&w, .queue = "a");
    SUBMIT(&w, .queue = "b");
    world_turn(&w);
    world_pass(&w, 5000);
    assert_non_null(exec_of(&w, far->exec_id));
}

/* ---- time */

static void a_clock_that_steps_back_stands_still(void **state)
{
    (void)state;
    WORLD(w);
    int64_t then_ms = w.now_ms;
    world_turn(&w);
    w.now_ms -= HOUR_MS;
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(job->created_ms, then_ms);
}

static void a_turn_handles_so_many_timers_and_the_next_one_the_rest(void **state)
{
    (void)state;
    struct engine_options options = engine_defaults;
    options.due_max = 2;
    WORLD_WITH(w, options);
    for (size_t i = 0; i < 3; i++)
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 1000);
    world_turn(&w);
    world_pass(&w, 1000);
    assert_int_equal(w.engine->ready.len, 2);
    assert_true(engine_next_ms(w.engine) <= w.now_ms);
    world_turn(&w);
    assert_int_equal(w.engine->ready.len, 3);
}

static void a_turn_without_anything_to_do_keeps_nothing(void **state)
{
    (void)state;
    WORLD(w);
    SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(w.delta.turn, 1);
    world_turn(&w);
    assert_true(delta_is_empty(&w.delta));
    assert_int_equal(w.event_count, 0);
    SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(w.delta.turn, 2);
}

/* ---- events and trails */

static void events_tell_what_happened_in_order(void **state)
{
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w);
    ask_poll(&w, &f, 1);
    world_turn(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(w.event_count, 2);
    assert_int_equal(w.events[0].event, EV_CREATE);
    assert_int_equal(w.events[0].state, EXEC_QUEUED);
    assert_int_equal(w.events[1].event, EV_LEASE);
    assert_int_equal(w.events[1].state, EXEC_RUNNING);
    assert_int_equal(w.events[1].exec_id, job->exec_id);
    assert_int_equal(w.events[1].job_id, job->job_id);
    assert_int_equal(w.events[1].token, 1);
    assert_true(str_eq(w.events[1].queue, STR("default")));
}

static void every_step_leaves_a_line_with_actor_and_reason(void **state)
{
    (void)state;
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct asked *cancel = ask_about(&w, CMD_CANCEL_EXEC, job->exec_id);
    cancel->cmd.target.reason = STR("wrong\nmonth");
    world_turn(&w);
    const struct exec_rec *x = map_get(&w.table.history, job->exec_id);
    char expected[200];
    snprintf(expected, sizeof expected,
             "%" PRId64 "\tcreate\tqueued\tkey:admin\t\n"
             "%" PRId64 "\tcancel\tcancelled\tkey:admin\twrong month\n",
             w.now_ms, w.now_ms);
    assert_true(str_eq(x->trail, str_c(expected)));
    const struct job_rec *rec = map_get(&w.table.jobs, job->job_id);
    snprintf(expected, sizeof expected,
             "%" PRId64 "\tcreate\tactive\tkey:admin\t\n"
             "%" PRId64 "\tfinish\tcancelled\tkey:admin\twrong month\n",
             w.now_ms, w.now_ms);
    assert_true(str_eq(rec->trail, str_c(expected)));
}

/* ---- looking */

static int64_t counted(const struct stats_view *stats, enum counter_kind kind, const char *queue,
                       uint32_t state)
{
    for (size_t i = 0; i < stats->counter_count; i++) {
        const struct counter *c = &stats->counters[i];
        if (c->kind == kind && c->state == state && str_eq(c->queue, str_c(queue)))
            return c->value;
    }
    return -1;
}

static void stats_are_those_of_the_last_commit(void **state)
{
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 8);
    SUBMIT(&w);
    SUBMIT(&w);
    SUBMIT(&w, .queue = "other", .when = WHEN_DELAY, .when_ms = 1000);
    world_turn(&w);
    fake_lease(&w, &f);
    SUBMIT(&w); /* decided in the same turn as the question: not committed yet */
    struct asked *asked = ask(&w, CMD_STATS);
    world_turn(&w);
    const struct stats_view *stats = &asked->cmd.reply.stats;
    assert_int_equal(counted(stats, COUNTER_EXECS, "default", EXEC_QUEUED), 1);
    assert_int_equal(counted(stats, COUNTER_EXECS, "default", EXEC_RUNNING), 1);
    assert_int_equal(counted(stats, COUNTER_EXECS, "other", EXEC_SCHEDULED), 1);
    assert_int_equal(counted(stats, COUNTER_JOBS, "default", JOB_ACTIVE), 2);
    assert_int_equal(stats->worker_count, 1);
    assert_int_equal(stats->slots, 8);
    assert_int_equal(stats->busy, 1);
}

static void what_is_leased_at_once_counts_as_running_only(void **state)
{
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w);
    ask_poll(&w, &f, 1);
    world_turn(&w);
    SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(w.delta.counter_count, 2);
    assert_int_equal(w.delta.counters[0].state, JOB_ACTIVE);
    assert_int_equal(w.delta.counters[0].value, 1);
    assert_int_equal(w.delta.counters[1].state, EXEC_RUNNING);
    assert_int_equal(w.delta.counters[1].value, 1);
}

/* ---- loading */

static void a_restart_changes_nothing(void **state)
{
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 2, .queues = "default");
    SUBMIT(&w, .priority = 900, .name = "running");
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    SUBMIT(&w, .name = "queued");
    SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 1000);
    SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 2 * HOUR_MS);
    world_turn(&w);
    world_restart(&w);
    world_turn(&w);
    assert_true(delta_is_empty(&w.delta));
    assert_int_equal(engine_live_count(w.engine), 3);
    struct asked *report = ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_true(was_accepted(report));
}

static void a_loaded_lease_gets_a_full_term(void **state)
{
    (void)state;
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    w.now_ms += w.options.lease_ms - 1;
    world_restart(&w);
    world_turn(&w);
    world_pass(&w, w.options.lease_ms - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    world_pass(&w, 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

static void ids_and_turns_go_on_where_they_were(void **state)
{
    (void)state;
    WORLD(w);
    const struct submission *old = SUBMIT(&w);
    world_turn(&w);
    w.now_ms -= HOUR_MS; /* even when the new server's clock is behind */
    world_restart(&w);
    const struct submission *young = SUBMIT(&w);
    world_turn(&w);
    assert_true(young->job_id > old->exec_id);
    assert_int_equal(w.delta.turn, 2);
}

static void a_record_that_makes_no_sense_is_refused_at_load(void **state)
{
    (void)state;
    WORLD(w);
    struct err err;
    struct job_rec job = {.id = 1, .version = 1, .state = JOB_ACTIVE, .spec = STR("damaged")};
    assert_int_equal(engine_load_job(w.engine, &job, &err), RC_CORRUPT);
    job.spec = STR("default||9999|0|0|0|");
    assert_int_equal(engine_load_job(w.engine, &job, &err), RC_CORRUPT);
    job.spec = STR("default||500|0|0|0|");
    struct exec_rec bad[] = {
        {.id = 2, .job_id = 7, .state = EXEC_QUEUED},
        {.id = 2, .job_id = 1, .state = EXEC_COMPLETED},
        {.id = 2, .job_id = 1, .state = EXEC_NONE},
        {.id = 2, .job_id = 1, .state = (enum exec_state)99},
        {.id = 2, .job_id = 1, .state = EXEC_RUNNING, .worker_id = 5, .token = 1},
        {.id = 2, .job_id = 1, .state = EXEC_RUNNING, .worker_id = 5, .attempts = 1},
        {.id = 2, .job_id = 1, .state = EXEC_SCHEDULED, .due_ms = -1},
        {.id = 2, .job_id = 1, .state = EXEC_QUEUED, .ready_ms = INT64_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(engine_load_job(w.engine, &job, &err), RC_OK);
        assert_int_equal(engine_load_exec(w.engine, &bad[i], &err), RC_CORRUPT);
    }
    assert_int_equal(engine_live_count(w.engine), 0);
}

static void a_record_that_is_there_twice_is_refused_at_load(void **state)
{
    (void)state;
    WORLD(w);
    struct err err;
    struct job_rec job = {.id = 1, .state = JOB_ACTIVE, .spec = STR("default||500|0|0|0|")};
    struct exec_rec exec = {.id = 2, .job_id = 1, .state = EXEC_QUEUED, .ready_ms = 1};
    assert_int_equal(engine_load_job(w.engine, &job, &err), RC_OK);
    assert_int_equal(engine_load_exec(w.engine, &exec, &err), RC_OK);
    assert_int_equal(engine_load_job(w.engine, &job, &err), RC_OK);
    assert_int_equal(engine_load_exec(w.engine, &exec, &err), RC_CORRUPT);
    assert_int_equal(engine_live_count(w.engine), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_for_now_is_queued),
        cmocka_unit_test(a_job_for_later_waits_for_its_moment),
        cmocka_unit_test(a_moment_in_the_past_is_now),
        cmocka_unit_test(a_new_job_leaves_its_texts_in_the_delta),
        cmocka_unit_test(a_job_and_its_execution_share_a_bucket),
        cmocka_unit_test(more_jobs_than_memory_may_hold_are_refused),
        cmocka_unit_test(more_lanes_than_allowed_are_refused),
        cmocka_unit_test(a_refused_job_costs_the_others_nothing),
        cmocka_unit_test(priority_comes_before_age),
        cmocka_unit_test(among_equals_the_oldest_is_first),
        cmocka_unit_test(what_comes_back_keeps_its_place),
        cmocka_unit_test(what_becomes_due_is_as_old_as_that_moment),
        cmocka_unit_test(a_name_in_use_is_a_conflict),
        cmocka_unit_test(of_two_with_one_name_in_one_turn_the_first_gets_it),
        cmocka_unit_test(a_name_is_free_again_when_its_job_has_ended),
        cmocka_unit_test(a_name_refused_for_want_of_a_lane_is_given_back),
        cmocka_unit_test(a_name_refused_for_want_of_room_is_given_back),
        cmocka_unit_test(what_is_due_beyond_the_horizon_leaves_memory),
        cmocka_unit_test(a_long_back_off_leaves_memory_too),
        cmocka_unit_test(the_engine_looks_again_when_half_the_horizon_is_gone),
        cmocka_unit_test(many_due_at_one_moment_are_loaded_page_by_page),
        cmocka_unit_test(a_job_for_the_middle_of_a_page_is_not_loaded_twice),
        cmocka_unit_test(every_far_job_runs_once_and_in_time),
        cmocka_unit_test(what_the_store_holds_needs_no_permission_for_its_lane),
        cmocka_unit_test(a_clock_that_steps_back_stands_still),
        cmocka_unit_test(a_turn_handles_so_many_timers_and_the_next_one_the_rest),
        cmocka_unit_test(a_turn_without_anything_to_do_keeps_nothing),
        cmocka_unit_test(events_tell_what_happened_in_order),
        cmocka_unit_test(every_step_leaves_a_line_with_actor_and_reason),
        cmocka_unit_test(stats_are_those_of_the_last_commit),
        cmocka_unit_test(what_is_leased_at_once_counts_as_running_only),
        cmocka_unit_test(a_restart_changes_nothing),
        cmocka_unit_test(a_loaded_lease_gets_a_full_term),
        cmocka_unit_test(ids_and_turns_go_on_where_they_were),
        cmocka_unit_test(a_record_that_makes_no_sense_is_refused_at_load),
        cmocka_unit_test(a_record_that_is_there_twice_is_refused_at_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
