/* The horizon, and loading after a restart. */
#include "base/rng.h"
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

/* ---- the horizon */

static struct engine_options short_sighted(void)
{
    struct engine_options options = engine_defaults;
    options.horizon_ms = 10000;
    options.load_max = 3;
    return options;
}

TEST(what_is_due_beyond_the_horizon_leaves_memory)
{
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

TEST(a_long_back_off_leaves_memory_too)
{
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

TEST(the_engine_looks_again_when_half_the_horizon_is_gone)
{
    struct engine_options options = short_sighted();
    WORLD_WITH(w, options);
    const struct submission *far = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 14000);
    world_turn(&w);
    assert_int_equal(world_wait_ms(&w), 5000);
    world_pass(&w, 4999);
    assert_null(exec_of(&w, far->exec_id));
    world_pass(&w, 1);
    assert_non_null(exec_of(&w, far->exec_id));
    assert_true(delta_is_empty(&w.delta));
    assert_int_equal(world_wait_ms(&w), far->due_ms - 4000 - w.now_ms);
}

TEST(many_due_at_one_moment_are_loaded_page_by_page)
{
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
    assert_int_equal(world_wait_ms(&w), 0);
    world_turn(&w);
    assert_int_equal(engine_live_count(w.engine), 9);
    world_turn(&w);
    assert_int_equal(engine_live_count(w.engine), 10);
    assert_true(world_wait_ms(&w) > 0);
    world_pass(&w, 5000);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(state_of(&w, jobs[i]->exec_id), EXEC_QUEUED);
}

TEST(a_job_for_the_middle_of_a_page_is_not_loaded_twice)
{
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

TEST(what_waits_beyond_the_room_for_it_goes_to_the_store)
{
    struct engine_options options = engine_defaults;
    options.waiting_max = 20;
    options.load_max = 4;
    WORLD_WITH(w, options);
    for (size_t i = 0; i < 40; i++)
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 600000 + (int64_t)(i * 7 % 40) * 1000);
    world_turn(&w);
    assert_int_equal(engine_live_count(w.engine), 40);
    world_turn(&w);
    assert_in_range(engine_live_count(w.engine), 10, 21);
    assert_true(world_wait_ms(&w) > 500000); /* nobody looks before it comes near */
    SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 700000);
    world_turn(&w);
    assert_in_range(engine_live_count(w.engine), 10, 21);
    for (int i = 0; i < 800; i++)
        world_pass(&w, 1000);
    assert_int_equal(w.engine->ready.len, 41);
}

TEST(what_is_near_stays_however_much_it_is)
{
    struct engine_options options = engine_defaults;
    options.waiting_max = 20;
    WORLD_WITH(w, options);
    for (size_t i = 0; i < 40; i++)
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = options.near_ms);
    SUBMIT(&w, .when = WHEN_DELAY, .when_ms = options.near_ms + 2);
    world_turn(&w);
    world_pass(&w, 1);
    assert_int_equal(engine_live_count(w.engine), 40);
}

TEST(more_than_enough_that_is_near_is_not_read_again_and_again)
{
    size_t read = 0;
    struct engine_options options = engine_defaults;
    options.waiting_max = 20;
    WORLD_WITH(w, options);
    for (size_t i = 0; i < 300; i++) /* one a second, so sixty are near */
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = (int64_t)(i + 1) * 1000);
    world_turn(&w);
    for (int64_t end_ms = w.now_ms + 60000; w.now_ms < end_ms;) {
        size_t before = engine_live_count(w.engine);
        int64_t wait_ms = world_wait_ms(&w);
        world_pass(&w, wait_ms > 0 ? wait_ms : 1);
        size_t after = engine_live_count(w.engine);
        read += after > before ? after - before : 0;
    }
    assert_int_equal(w.engine->ready.len, 60);
    assert_in_range(read, 60, 120); /* each about once, as it comes near */
}

TEST(a_start_loads_what_is_near_and_turns_read_on)
{
    struct engine_options options = engine_defaults;
    options.load_max = 2;
    WORLD_WITH(w, options);
    SUBMIT(&w);
    for (size_t i = 0; i < 4; i++)
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = options.near_ms + (int64_t)i);
    world_turn(&w);
    world_restart(&w);
    assert_int_equal(engine_live_count(w.engine), 2);
    assert_int_equal(world_wait_ms(&w), 0);
    world_turn(&w);
    assert_int_equal(engine_live_count(w.engine), 4);
    world_turn(&w);
    assert_int_equal(engine_live_count(w.engine), 5);
    assert_true(world_wait_ms(&w) > 0);
}

TEST(every_far_job_runs_once_and_in_time)
{
    struct engine_options options = short_sighted();
    WORLD_WITH(w, options);
    const struct submission *jobs[50];
    struct rng rng = {.state = 7};
    for (size_t i = 0; i < 50; i++)
        jobs[i] = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = (int64_t)rng_below(&rng, 60) * 1000);
    world_turn(&w);
    int64_t end_ms = w.now_ms + 60000;
    while (w.now_ms < end_ms) {
        w.now_ms += world_wait_ms(&w);
        world_turn(&w);
        for (size_t i = 0; i < 50; i++)
            assert_true((state_of(&w, jobs[i]->exec_id) == EXEC_QUEUED) ==
                            (jobs[i]->due_ms <= w.now_ms) ||
                        world_wait_ms(&w) == 0);
    }
    assert_int_equal(w.engine->ready.len, 50);
}

TEST(what_the_store_holds_needs_no_permission_for_its_lane)
{
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

/* ---- loading */

TEST(a_restart_changes_nothing)
{
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

/* Records from the store come without payload: a worker must not be given the rest alone. */
TEST(the_definition_of_a_loaded_job_is_left_to_the_store)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    world_restart(&w);
    struct fake f = HIRE(&w);
    world_turn(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    assert_int_equal(lease.exec_id, job->exec_id);
    assert_int_equal(lease.spec.len, 0);
    assert_int_equal(lease.payload.len, 0);
}

/* Poll numbers are forgotten with a server: what a proxy held back since before the grant looks
 * like the newest poll to the next one. */
TEST(an_old_poll_takes_nothing_away_after_a_restart)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    world_restart(&w);
    struct fake old = {.id = f.id};
    ask_poll(&w, &old, 0);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
    struct asked *report = ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    assert_true(was_accepted(report));
}

TEST(a_stopping_run_keeps_its_slot_after_a_restart_until_its_worker_speaks)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    fake_start(&w, &f);
    ask_about(&w, CMD_CANCEL_EXEC, job->exec_id);
    SUBMIT(&w);
    world_turn(&w);
    world_restart(&w);
    struct fake old = {.id = f.id};
    struct asked *poll = ask_poll(&w, &old, 1);
    world_turn(&w);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_STOPPING);
    assert_int_equal(poll->cmd.reply.poll.lease_count, 0);
    world_pass(&w, w.options.lease_ms);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_CANCELLED);
}

TEST(a_loaded_lease_gets_a_full_term)
{
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

TEST(ids_and_turns_go_on_where_they_were)
{
    WORLD(w);
    const struct submission *old = SUBMIT(&w);
    world_turn(&w);
    world_set_clock(&w, -HOUR_MS); /* even when the new server's clock is behind */
    world_restart(&w);
    const struct submission *young = SUBMIT(&w);
    world_turn(&w);
    assert_true(young->job_id > old->exec_id);
    assert_int_equal(w.delta.turn, 2);
}

TEST(a_record_that_makes_no_sense_is_refused_at_load)
{
    WORLD(w);
    struct err err;
    struct job_rec job = {.id = 1, .version = 1, .state = JOB_ACTIVE, .spec = STR("damaged")};
    assert_int_equal(engine_load_job(w.engine, &job, &err), RC_CORRUPT);
    job.spec = STR("default||9999|0|0|0||0||0|0|0||0|0|0|1|0|0|0||0|0|0|0|0||0|0|0|");
    assert_int_equal(engine_load_job(w.engine, &job, &err), RC_CORRUPT);
    job.spec = STR("default||500|0|0|0||0||0|0|0||0|0|0|1|0|0|0||0|0|0|0|0||0|0|0|");
    struct exec_rec bad[] = {
        {.id = 2, .job_id = 7, .state = EXEC_QUEUED},
        {.id = 2, .job_id = 1, .state = EXEC_COMPLETED},
        {.id = 2, .job_id = 1, .state = EXEC_NONE},
        {.id = 2, .job_id = 1, .state = (enum exec_state)99},
        {.id = 2, .job_id = 1, .state = EXEC_RUNNING, .worker_id = 5, .token = 1},
        {.id = 2, .job_id = 1, .state = EXEC_RUNNING, .worker_id = 5, .attempts = 1},
        {.id = 2, .job_id = 1, .state = EXEC_SCHEDULED, .due_ms = -1},
        {.id = 2, .job_id = 1, .state = EXEC_QUEUED, .ready_ms = INT64_MAX},
        {.id = 2, .job_id = 1, .state = EXEC_QUEUED, .attempts = UINT32_MAX},
        {.id = 2, .job_id = 1, .state = EXEC_QUEUED, .token = INT64_MAX},
        {.id = 2, .job_id = 1, .state = EXEC_SCHEDULED, .origin = ORIGIN_SLOT},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(engine_load_job(w.engine, &job, &err), RC_OK);
        assert_int_equal(engine_load_exec(w.engine, &bad[i], &err), RC_CORRUPT);
    }
    assert_int_equal(engine_live_count(w.engine), 0);
}

TEST(a_record_that_is_there_twice_is_refused_at_load)
{
    WORLD(w);
    struct err err;
    struct job_rec job = {
        .id = 1,
        .state = JOB_ACTIVE,
        .spec = STR("default||500|0|0|0||0||0|0|0||0|0|0|1|0|0|0||0|0|0|0|0||0|0|0|")};
    struct exec_rec exec = {.id = 2, .job_id = 1, .state = EXEC_QUEUED, .ready_ms = 1};
    assert_int_equal(engine_load_job(w.engine, &job, &err), RC_OK);
    assert_int_equal(engine_load_exec(w.engine, &exec, &err), RC_OK);
    assert_int_equal(engine_load_job(w.engine, &job, &err), RC_OK);
    assert_int_equal(engine_load_exec(w.engine, &exec, &err), RC_CORRUPT);
    assert_int_equal(engine_live_count(w.engine), 1);
}

TEST(a_loaded_definition_is_fetched_whole)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    world_turn(&w);
    world_restart(&w);
    struct poll_lease lease = fake_lease(&w, &f);
    assert_int_equal(lease.spec.len, 0); /* records have no payload: it would go out without */
}
