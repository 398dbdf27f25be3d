#include "engine/explain/gauges.h"
#include "engine/test/explain.h"
#include "engine/test/limits.h"

/* As of the given moment. The texts live in the world's arena until the next turn. */
static struct gauges take(struct world *w, int64_t now_ms)
{
    struct gauges gauges;
    engine_gauges(w->engine, now_ms, &w->arena, &gauges);
    return gauges;
}

static const struct queue_gauges *queue_of(const struct gauges *gauges, const char *name)
{
    for (size_t i = 0; i < gauges->queue_count; i++) {
        if (str_eq(gauges->queues[i].queue, str_c(name)))
            return &gauges->queues[i];
    }
    return NULL;
}

TEST(a_queue_tells_how_many_wait_and_how_many_run)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    SUBMIT(&w);
    fake_start(&w, &f);
    SUBMIT(&w);
    SUBMIT(&w, .queue = "mail", .when = WHEN_DELAY, .when_ms = 1000);
    world_turn(&w);
    struct gauges gauges = take(&w, w.now_ms);
    const struct queue_gauges *all = queue_of(&gauges, "default");
    assert_int_equal(all->execs[EXEC_QUEUED], 1);
    assert_int_equal(all->execs[EXEC_RUNNING], 1);
    assert_int_equal(all->running, 1);
    assert_int_equal(queue_of(&gauges, "mail")->execs[EXEC_SCHEDULED], 1);
    assert_null(queue_of(&gauges, "nowhere"));
}

TEST(a_worker_is_busy_while_it_runs_something)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 2);
    assert_int_equal(take(&w, w.now_ms).workers_busy, 0);
    SUBMIT(&w);
    fake_start(&w, &f);
    struct gauges gauges = take(&w, w.now_ms);
    assert_int_equal(gauges.workers_busy, 1);
    assert_int_equal(gauges.slots, 2);
    assert_int_equal(gauges.slots_busy, 1);
}

TEST(a_worker_that_takes_no_more_has_the_slots_that_it_has_filled)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 4);
    SUBMIT(&w);
    fake_start(&w, &f);
    assert_int_equal(take(&w, w.now_ms).slots, 4);
    struct asked *asked = ask_about(&w, CMD_CORDON, f.id);
    asked->cmd.target.reason = STR("repair");
    world_turn(&w);
    struct gauges gauges = take(&w, w.now_ms);
    assert_int_equal(gauges.workers_cordoned, 1);
    assert_int_equal(gauges.slots, 1);
    assert_int_equal(gauges.slots_busy, 1);
}

TEST(only_executions_whose_time_has_come_are_overdue)
{
    enum { JOBS = 40 };
    WORLD(w);
    int64_t begin_ms = w.now_ms;
    for (int i = 1; i <= JOBS; i++)
        SUBMIT(&w, .when = WHEN_DELAY, .when_ms = 1000 * i);
    world_turn(&w);
    for (int i = 0; i <= JOBS; i++) {
        int64_t late_ms = begin_ms + 1000 * i + GAUGE_OVERDUE_MS;
        assert_int_equal(take(&w, late_ms).overdue, i);
        assert_int_equal(take(&w, late_ms + 999).overdue, i);
    }
    assert_int_equal(take(&w, 0).overdue, 0);
}

TEST(what_waits_grows_older_without_a_turn)
{
    WORLD(w);
    SUBMIT(&w, .queue = "mail");
    world_turn(&w);
    struct gauges gauges = take(&w, w.now_ms + 5000);
    assert_int_equal(queue_of(&gauges, "mail")->waited_ms, 5000);
}

TEST(a_key_is_full_where_no_more_of_its_jobs_may_start)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 3);
    SUBMIT(&w, .key = "printer", .limit = 2);
    fake_start(&w, &f);
    SUBMIT(&w, .key = "scanner", .limit = 1);
    fake_start(&w, &f);
    struct gauges gauges = take(&w, w.now_ms);
    const struct limit_gauges *keys = &gauges.limits[GAUGE_LIMIT_CONCURRENCY];
    assert_int_equal(keys->known, 2);
    assert_int_equal(keys->full, 1);
    SUBMIT(&w, .key = "printer", .limit = 1); /* bears fewer than those before */
    world_turn(&w);
    gauges = take(&w, w.now_ms);
    assert_int_equal(keys->full, 2);
}

TEST(a_rate_is_full_until_its_next_start)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 3);
    SUBMIT(&w, .rate = "mail", .starts = 1, .per_ms = 60000);
    SUBMIT(&w, .rate = "mail", .starts = 1, .per_ms = 60000);
    world_turn(&w);
    struct gauges gauges = take(&w, w.now_ms);
    const struct limit_gauges *rates = &gauges.limits[GAUGE_LIMIT_RATE];
    assert_int_equal(rates->known, 1);
    assert_int_equal(rates->full, 0);
    fake_start(&w, &f);
    gauges = take(&w, w.now_ms);
    assert_int_equal(rates->full, 1);
}

TEST(a_team_is_full_when_as_many_run_as_were_decided)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 2);
    limit_team(&w, "ops", 1);
    SUBMIT(&w, .team = "ops");
    fake_start(&w, &f);
    SUBMIT(&w, .team = "web");
    world_turn(&w);
    struct gauges gauges = take(&w, w.now_ms);
    assert_int_equal(gauges.limits[GAUGE_LIMIT_TEAM].known, 2);
    assert_int_equal(gauges.limits[GAUGE_LIMIT_TEAM].full, 1);
}
