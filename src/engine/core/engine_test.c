#include "engine/test/fake.h"
#include "engine/test/jobs.h"

#include <stdio.h>

/* ---- submitting */

TEST(a_job_for_now_is_queued)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(job->rc, RC_OK);
    assert_int_equal(job->created_ms, w.now_ms);
    assert_int_equal(job->due_ms, w.now_ms);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    assert_int_equal(job_state_of(&w, job->job_id), JOB_ACTIVE);
}

TEST(a_job_for_later_waits_for_its_moment)
{
    WORLD(w);
    const struct submission *at = SUBMIT(&w, .when = WHEN_AT, .when_ms = w.now_ms + 5000);
    const struct submission *delayed = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 5000);
    world_turn(&w);
    assert_int_equal(state_of(&w, at->exec_id), EXEC_SCHEDULED);
    assert_int_equal(state_of(&w, delayed->exec_id), EXEC_SCHEDULED);
    assert_int_equal(delayed->due_ms, w.now_ms + 5000);
    assert_int_equal(world_wait_ms(&w), 5000);
    world_pass(&w, 4999);
    assert_int_equal(state_of(&w, at->exec_id), EXEC_SCHEDULED);
    world_pass(&w, 1);
    assert_int_equal(state_of(&w, at->exec_id), EXEC_QUEUED);
    assert_int_equal(state_of(&w, delayed->exec_id), EXEC_QUEUED);
}

TEST(a_moment_in_the_past_is_now)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .when = WHEN_AT, .when_ms = 1);
    world_turn(&w);
    assert_int_equal(job->due_ms, w.now_ms);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(a_new_job_leaves_its_texts_in_the_delta)
{
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

TEST(a_job_and_its_execution_share_a_bucket)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w);
    const struct submission *second = SUBMIT(&w);
    world_turn(&w);
    assert_int_equal(id_bucket(first->job_id), id_bucket(first->exec_id));
    assert_int_not_equal(id_bucket(first->job_id), id_bucket(second->job_id));
}

TEST(more_jobs_than_memory_may_hold_are_refused)
{
    struct engine_options options = engine_defaults;
    options.live_max = 2;
    WORLD_WITH(w, options);
    struct asked *asked = ask_submit_all(&w, (struct wish[3]){{0}}, 3);
    world_turn(&w);
    assert_int_equal(asked->cmd.submit.items[1].rc, RC_OK);
    assert_int_equal(asked->cmd.submit.items[2].rc, RC_BUSY);
    assert_int_equal(engine_live_count(w.engine), 2);
}

TEST(more_lanes_than_allowed_are_refused)
{
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

TEST(a_refused_job_costs_the_others_nothing)
{
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

TEST(priority_comes_before_age)
{
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

TEST(among_equals_the_oldest_is_first)
{
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

TEST(what_comes_back_keeps_its_place)
{
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

TEST(what_becomes_due_is_as_old_as_that_moment)
{
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

TEST(a_name_in_use_is_a_conflict)
{
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

TEST(of_two_with_one_name_in_one_turn_the_first_gets_it)
{
    WORLD(w);
    const struct submission *first = SUBMIT(&w, .name = "nightly");
    const struct submission *second = SUBMIT(&w, .name = "nightly");
    world_turn(&w);
    assert_int_equal(first->rc, RC_OK);
    assert_int_equal(second->rc, RC_CONFLICT);
}

TEST(a_name_is_free_again_when_its_job_has_ended)
{
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

TEST(a_name_refused_for_want_of_a_lane_is_given_back)
{
    struct engine_options options = engine_defaults;
    options.lanes_max = 1;
    WORLD_WITH(w, options);
    SUBMIT(&w);
    const struct submission *second = SUBMIT(&w, .name = "a", .handler = "mail");
    world_turn(&w);
    assert_int_equal(second->rc, RC_BUSY);
    assert_int_equal(w.delta.released_count, 1);
    assert_int_equal(w.table.claims[CLAIM_NAME].len, 0);
}

TEST(a_name_refused_for_want_of_room_is_given_back)
{
    struct engine_options options = engine_defaults;
    options.live_max = 1;
    WORLD_WITH(w, options);
    SUBMIT(&w);
    const struct submission *second = SUBMIT(&w, .name = "a");
    world_turn(&w);
    assert_int_equal(second->rc, RC_BUSY);
    assert_int_equal(w.table.claims[CLAIM_NAME].len, 0);
}

/* ---- time */

TEST(a_job_for_a_moment_waits_for_it_whatever_the_clock_did_before)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .when = WHEN_AT, .when_ms = w.now_ms + MINUTE_MS);
    world_turn(&w);
    world_set_clock(&w, -HOUR_MS);
    world_pass(&w, HOUR_MS + MINUTE_MS - 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_SCHEDULED);
    world_pass(&w, 1);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(a_clock_set_forward_brings_what_is_due_by_it)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w, .when = WHEN_AT, .when_ms = w.now_ms + 2 * HOUR_MS);
    world_turn(&w);
    world_set_clock(&w, 2 * HOUR_MS);
    world_turn(&w); /* it was beyond the horizon */
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(a_delay_counts_from_the_clock_as_it_is)
{
    WORLD(w);
    world_turn(&w);
    world_set_clock(&w, -HOUR_MS);
    const struct submission *job = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 5000);
    world_turn(&w);
    assert_int_equal(job->created_ms, w.now_ms);
    assert_int_equal(job->due_ms, w.now_ms + 5000);
    assert_int_equal(world_wait_ms(&w), 5000);
}

TEST(a_lease_lasts_its_term_wherever_the_clock_is_set)
{
    const int64_t steps_ms[] = {-HOUR_MS, HOUR_MS};
    for (size_t i = 0; i < COUNT_OF(steps_ms); i++) {
        WORLD(w);
        struct fake f = HIRE(&w);
        const struct submission *job = SUBMIT(&w);
        world_turn(&w);
        fake_start(&w, &f);
        world_set_clock(&w, steps_ms[i]);
        world_pass(&w, w.options.lease_ms - 1);
        assert_int_equal(state_of(&w, job->exec_id), EXEC_RUNNING);
        world_pass(&w, 1);
        assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
    }
}

TEST(a_parked_poll_waits_its_time_wherever_the_clock_is_set)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    struct asked *poll = ask_poll(&w, &f, 1);
    world_turn(&w);
    world_set_clock(&w, HOUR_MS);
    world_pass(&w, w.options.park_ms - 1);
    assert_int_equal(poll->answers, 0);
    world_set_clock(&w, -2 * HOUR_MS);
    world_pass(&w, 1);
    assert_int_equal(poll->answers, 1);
}

TEST(nothing_ends_before_it_began_by_its_record)
{
    WORLD(w);
    struct fake f = HIRE(&w);
    SUBMIT(&w);
    world_turn(&w);
    struct poll_lease lease = fake_start(&w, &f);
    world_set_clock(&w, -HOUR_MS);
    ask_report(&w, &f, &lease, OUTCOME_SUCCEEDED);
    world_turn(&w);
    const struct exec_rec *x = &w.delta.execs[0].exec;
    assert_true(x->created_ms <= x->started_ms && x->started_ms <= x->finished_ms);
    assert_true(w.delta.attempts[0].started_ms <= w.delta.attempts[0].ended_ms);
}

TEST(nobody_overtakes_because_the_clock_was_set_back)
{
    WORLD(w);
    const struct submission *old = SUBMIT(&w);
    world_turn(&w);
    world_set_clock(&w, -HOUR_MS);
    SUBMIT(&w);
    world_turn(&w);
    world_restart(&w);
    SUBMIT(&w);
    world_turn(&w);
    struct fake f = HIRE(&w);
    fake_lease(&w, &f);
    assert_int_equal(state_of(&w, old->exec_id), EXEC_RUNNING);
}

TEST(after_a_visit_to_next_year_plans_go_to_the_store_again)
{
    WORLD(w);
    world_set_clock(&w, 8760 * HOUR_MS);
    world_turn(&w);
    world_set_clock(&w, -8760 * HOUR_MS);
    const struct submission *job = SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 24 * HOUR_MS);
    world_turn(&w);
    assert_int_equal(engine_live_count(w.engine), 0);
    world_pass(&w, 24 * HOUR_MS);
    assert_int_equal(state_of(&w, job->exec_id), EXEC_QUEUED);
}

TEST(a_turn_handles_so_many_timers_and_the_next_one_the_rest)
{
    struct engine_options options = engine_defaults;
    options.due_max = 2;
    WORLD_WITH(w, options);
    for (size_t i = 0; i < 3; i++)
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 1000);
    world_turn(&w);
    world_pass(&w, 1000);
    assert_int_equal(w.engine->ready.len, 2);
    assert_int_equal(world_wait_ms(&w), 0);
    world_turn(&w);
    assert_int_equal(w.engine->ready.len, 3);
}

TEST(a_turn_without_anything_to_do_keeps_nothing)
{
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

TEST(events_tell_what_happened_in_order)
{
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

TEST(every_step_leaves_a_line_with_actor_and_reason)
{
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

TEST(stats_are_those_of_the_last_commit)
{
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

TEST(stats_tell_limits_and_the_slots_behind_the_queues)
{
    WORLD(w);
    HIRE(&w, .slots = 8, .queues = "default,mail");
    struct fake full = HIRE(&w, .slots = 2, .queues = "default,mail");
    HIRE(&w, .slots = 3);
    struct asked *queue = ask(&w, CMD_QUEUE);
    queue->cmd.queue =
        (struct queue_wish){.name = STR("mail"), .set_concurrency = true, .concurrency = 5};
    world_turn(&w);
    ask_about(&w, CMD_DRAIN, full.id);
    world_turn(&w);
    struct asked *asked = ask(&w, CMD_STATS);
    world_turn(&w);
    const struct stats_view *stats = &asked->cmd.reply.stats;
    assert_int_equal(stats->limit_count, 1);
    assert_true(str_eq(stats->limits[0].queue, STR("mail")));
    assert_int_equal(stats->limits[0].concurrency, 5);
    assert_int_equal(stats->served_count, 2);
    for (size_t i = 0; i < stats->served_count; i++) {
        const struct served_slots *s = &stats->served[i];
        assert_int_equal(s->slots, str_eq(s->queues, STR("default\nmail\n")) ? 8 : 3);
    }
    assert_int_equal(stats->partitions, w.engine->owned.bits);
}

TEST(what_is_leased_at_once_counts_as_running_only)
{
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
