/* Why something ready does not run: a case for each blocker, and for several at once. */
#include "engine/test/explain.h"

/* ---- workers */

TEST(without_any_worker_it_says_so)
{
    WORLD(w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    assert_says(only(&w, job, BLOCKER_NO_WORKER)->text, "belfry worker");
}

TEST(a_handler_that_nobody_knows_is_named)
{
    WORLD(w);
    hire_parked(&w, (struct skills){.slots = 1, .handlers = "sms"}, 1);
    const struct submission *job = SUBMIT(&w, .handler = "send_email");
    world_turn(&w);
    assert_true(str_eq(only(&w, job, BLOCKER_NO_HANDLER)->handler, STR("send_email")));
}

TEST(a_command_among_workers_that_run_none_says_so)
{
    WORLD(w);
    hire_parked(&w, (struct skills){.slots = 1, .handlers = "sms", .no_commands = true}, 1);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    only(&w, job, BLOCKER_NO_COMMANDS);
}

TEST(a_queue_that_nobody_serves_is_named)
{
    WORLD(w);
    hire_parked(&w, (struct skills){.slots = 1, .queues = "default"}, 1);
    const struct submission *job = SUBMIT(&w, .queue = "mail");
    world_turn(&w);
    const struct blocker *b = only(&w, job, BLOCKER_QUEUE_UNSERVED);
    assert_true(str_eq(b->queue, STR("mail")));
    assert_says(b->text, "1 worker could run it");
}

TEST(workers_without_a_free_slot_are_counted)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    SUBMIT(&w);
    fake_start(&w, &f);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    const struct blocker *b = only(&w, job, BLOCKER_WORKERS_BUSY);
    assert_int_equal(b->used, 1);
    assert_int_equal(b->limit, 1);
}

TEST(workers_that_drain_take_nothing)
{
    WORLD(w);
    struct fake f = hire_parked(&w, (struct skills){.slots = 1}, 1);
    ask_about(&w, CMD_DRAIN, f.id);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    only(&w, job, BLOCKER_WORKERS_DRAINING);
}

TEST(workers_that_are_cordoned_are_named_with_who_did_it)
{
    WORLD(w);
    struct fake f = hire_parked(&w, (struct skills){.slots = 1}, 1);
    struct fake g = hire_parked(&w, (struct skills){.slots = 1}, 1);
    ask_about(&w, CMD_CORDON, f.id)->cmd.target.reason = STR("new disk");
    world_turn(&w);
    world_pass(&w, 2000);
    ask_poll(&w, &f, 1);
    ask_poll(&w, &g, 1);
    ask_about(&w, CMD_CORDON, g.id);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    const struct blocker *b = only(&w, job, BLOCKER_WORKERS_CORDONED);
    assert_says(b->text, "2 workers could run it, but all are cordoned: wrk_");
    assert_says(b->text, "(new disk)");
    assert_says(b->text, "belfry uncordon wrk_");
    assert_int_equal(b->since_ms, w.now_ms); /* since then none takes it */
    assert_true(b->by.len > 0);
}

TEST(one_that_is_cordoned_and_not_heard_is_one_that_is_not_heard)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    ask_about(&w, CMD_CORDON, f.id);
    const struct submission *job = SUBMIT(&w);
    world_pass(&w, engine_defaults.lease_ms + 1);
    only(&w, job, BLOCKER_WORKERS_SILENT);
}

TEST(workers_that_are_not_heard_are_not_counted_on)
{
    WORLD(w);
    HIRE(&w, .slots = 1);
    const struct submission *job = SUBMIT(&w);
    world_pass(&w, engine_defaults.lease_ms + 1);
    only(&w, job, BLOCKER_WORKERS_SILENT);
}

/* ---- limits */

TEST(a_full_queue_names_who_fills_it)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 9);
    ask_queue(&w, "mail", (struct queue_wish){.set_concurrency = true, .concurrency = 1});
    const struct submission *first = SUBMIT(&w, .queue = "mail");
    fake_start(&w, &f);
    const struct submission *job = SUBMIT(&w, .queue = "mail");
    ask_poll(&w, &f, 8);
    world_turn(&w);
    const struct blocker *b = only(&w, job, BLOCKER_QUEUE_FULL);
    assert_true(str_eq(b->queue, STR("mail")));
    assert_int_equal(b->used, 1);
    assert_int_equal(b->limit, 1);
    assert_int_equal(b->exec_count, 1);
    assert_int_equal(b->execs[0], first->exec_id);
}

TEST(a_concurrency_key_names_its_holders_in_any_queue)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 9);
    const struct submission *holders[3];
    SUBMIT(&w); /* runs, too, but holds nothing of it */
    for (size_t i = 0; i < 3; i++)
        holders[i] = SUBMIT(&w, .queue = i == 0 ? "mail" : "default", .key = "db", .limit = 3);
    struct asked *poll = ask_poll(&w, &f, 4);
    world_turn(&w);
    fake_take(&f, poll);
    const struct submission *job = SUBMIT(&w, .key = "db", .limit = 3);
    ask_poll(&w, &f, 5);
    world_turn(&w);
    const struct blocker *b = only(&w, job, BLOCKER_CONCURRENCY);
    assert_true(str_eq(b->key, STR("db")));
    assert_int_equal(b->used, 3);
    assert_int_equal(b->limit, 3);
    assert_int_equal(b->exec_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(b->execs[i], holders[i]->exec_id);
    assert_says(b->text, "its concurrency key 'db' is at 3 of 3, held by exec_");
}

TEST(only_some_of_many_holders_are_named)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 20);
    for (size_t i = 0; i < 15; i++)
        SUBMIT(&w, .key = "db", .limit = 15);
    struct asked *poll = ask_poll(&w, &f, 15);
    world_turn(&w);
    fake_take(&f, poll);
    const struct submission *job = SUBMIT(&w, .key = "db", .limit = 15);
    ask_poll(&w, &f, 5);
    world_turn(&w);
    const struct blocker *b = only(&w, job, BLOCKER_CONCURRENCY);
    assert_int_equal(b->used, 15);
    assert_int_equal(b->exec_count, BLOCKER_EXECS_MAX);
    assert_says(b->text, " and 5 more; ");
}

TEST(a_rate_says_when_the_next_start_is_allowed)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 9);
    SUBMIT(&w, .rate = "api", .starts = 1, .per_ms = MINUTE_MS);
    fake_start(&w, &f);
    const struct submission *job = SUBMIT(&w, .rate = "api", .starts = 1, .per_ms = MINUTE_MS);
    ask_poll(&w, &f, 8);
    world_pass(&w, 1000);
    const struct blocker *b = only(&w, job, BLOCKER_RATE);
    assert_true(str_eq(b->key, STR("api")));
    assert_int_equal(b->until_ms, w.now_ms + MINUTE_MS - 1000);
}

/* ---- the line */

TEST(who_stands_before_it_is_counted_over_all_tracks_that_are_open)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    SUBMIT(&w, .key = "db", .limit = 1);
    fake_start(&w, &f);
    SUBMIT(&w, .key = "db", .limit = 1); /* held back: in nobody's way */
    SUBMIT(&w, .key = "other", .limit = 1);
    SUBMIT(&w);
    SUBMIT(&w, .handler = "x"); /* for others */
    const struct submission *job = SUBMIT(&w);
    SUBMIT(&w);
    world_turn(&w);
    const struct explanation *found = explain_job(&w, job);
    const struct blocker *b = find(found, BLOCKER_BEHIND);
    assert_non_null(b);
    assert_int_equal(b->ahead, 2);
    assert_false(b->ahead_is_min);
    assert_says(b->text, "2 others stand before it");
    assert_non_null(find(found, BLOCKER_WORKERS_BUSY));
    assert_int_equal(found->blocker_count, 2);
}

TEST(nobody_counts_beyond_a_thousand)
{
    WORLD(w);
    w.relaxed = true;
    for (size_t i = 0; i < 1200; i++)
        SUBMIT(&w);
    const struct submission *job = SUBMIT(&w);
    world_turn(&w);
    const struct blocker *b = find(explain_job(&w, job), BLOCKER_BEHIND);
    assert_non_null(b);
    assert_int_equal(b->ahead, 1000);
    assert_true(b->ahead_is_min);
    assert_says(b->text, "at least 1000 others");
}

/* ---- several at once */

TEST(three_blockers_at_once_are_all_told)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1, .queues = "default");
    SUBMIT(&w, .key = "db", .limit = 1);
    fake_start(&w, &f);
    const struct submission *job = SUBMIT(&w, .queue = "mail", .key = "db", .limit = 1);
    ask_queue(&w, "mail", (struct queue_wish){.run = QUEUE_PAUSE});
    world_turn(&w);
    const struct explanation *found = explain_job(&w, job);
    assert_int_equal(found->blocker_count, 3);
    assert_int_equal(found->blockers[0].kind, BLOCKER_QUEUE_PAUSED);
    assert_int_equal(found->blockers[1].kind, BLOCKER_QUEUE_UNSERVED);
    assert_int_equal(found->blockers[2].kind, BLOCKER_CONCURRENCY);
    assert_says(found->summary, "3 things hold it back; first of all: the queue 'mail'");
}

TEST(a_paused_job_in_a_paused_queue_with_limits_has_it_all)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    ask_queue(&w, "default", (struct queue_wish){.set_concurrency = true, .concurrency = 1});
    SUBMIT(&w, .key = "db", .limit = 1, .rate = "api", .starts = 1, .per_ms = HOUR_MS);
    fake_start(&w, &f);
    const struct submission *job =
        SUBMIT(&w, .key = "db", .limit = 1, .rate = "api", .starts = 1, .per_ms = HOUR_MS);
    ask_queue(&w, "default", (struct queue_wish){.run = QUEUE_PAUSE});
    world_turn(&w);
    pause_job(&w, job->job_id, "");
    const struct explanation *found = explain_job(&w, job);
    static const enum blocker_kind kinds[] = {BLOCKER_JOB_PAUSED, BLOCKER_QUEUE_PAUSED,
                                              BLOCKER_QUEUE_FULL, BLOCKER_CONCURRENCY,
                                              BLOCKER_RATE,       BLOCKER_WORKERS_BUSY};
    assert_int_equal(found->blocker_count, COUNT_OF(kinds));
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        assert_int_equal(found->blockers[i].kind, kinds[i]);
}

/* Two deaths with both of them running, then a worker that has one of them. */
TEST(a_suspect_waits_for_a_worker_without_one)
{
    WORLD(w);
    SUBMIT(&w);
    const struct submission *second = SUBMIT(&w);
    world_turn(&w);
    for (int i = 0; i < 2; i++) {
        struct fake f = HIRE(&w, .slots = 2);
        ask_poll(&w, &f, 2);
        world_turn(&w);
        world_restart(&w);
        world_pass(&w, w.options.lease_ms);
    }
    world_pass(&w, w.options.forget_ms); /* those are gone */
    struct fake f = HIRE(&w, .slots = 3);
    ask_poll(&w, &f, 3);
    world_turn(&w);
    const struct blocker *b = only(&w, second, BLOCKER_PROBATION);
    assert_int_equal(b->used, 2);
    assert_says(b->text, "30s");
}
