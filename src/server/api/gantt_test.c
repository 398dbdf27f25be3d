#include "base/test/test.h"
#include "server/api/gantt.h"

static struct arena arena;

static struct gantt new_gantt(enum gantt_by by, size_t limit)
{
    return (struct gantt){.from_ms = 1000000,
                          .until_ms = 1120000,
                          .now_ms = 1100000,
                          .by = by,
                          .limit = limit,
                          .arena = &arena};
}

static struct ran_rec ran_of(uint64_t id, int64_t start_ms, int64_t took_ms)
{
    return (struct ran_rec){.id = id,
                            .job_id = 1,
                            .state = EXEC_COMPLETED,
                            .queue = STR("mail"),
                            .worker_id = 7,
                            .ready_ms = start_ms,
                            .started_ms = start_ms,
                            .finished_ms = start_ms + took_ms,
                            .starts = 1};
}

static void finish(struct gantt *g)
{
    gantt_free(g);
    arena_free(&arena);
}

TEST(the_longest_are_bars_and_the_others_are_counted_where_they_began)
{
    struct gantt g = new_gantt(GANTT_BY_QUEUE, 3);
    for (int i = 0; i < 100; i++) {
        struct ran_rec ran = ran_of((uint64_t)i + 1, 1000000 + i * 1000, i * 10);
        ran.state = i == 5 ? EXEC_FAILED : EXEC_COMPLETED;
        gantt_add(&g, &ran);
    }
    assert_int_equal(gantt_end(&g, 9), 1);
    assert_int_equal(g.bars.len, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(g.bars.items[i].ran.id, 98 + i);
    const struct gantt_lane *lane = g.lanes.items[0];
    assert_true(lane->executions == 100 && lane->failed == 1);
    assert_true(lane->rest[5].executions == 1 && lane->rest[5].failed == 1);
    assert_true(lane->rest[96].executions == 1 && lane->rest[97].executions == 0);
    finish(&g);
}

TEST(a_wait_counts_as_length_and_only_what_is_seen_does)
{
    struct gantt g = new_gantt(GANTT_BY_QUEUE, 2);
    struct ran_rec waited = ran_of(1, 1050000, 10);
    struct ran_rec before = ran_of(2, 1000, 1000000); /* all but 1000 ms of it is before */
    struct ran_rec runs = ran_of(3, 1095000, 0);
    waited.ready_ms = 1010000;
    runs.finished_ms = 0;
    runs.state = EXEC_RUNNING;
    gantt_add(&g, &waited);
    gantt_add(&g, &before);
    gantt_add(&g, &runs);
    gantt_end(&g, 9);
    assert_int_equal(g.bars.len, 2);
    assert_true(g.bars.items[0].ran.id == 1 && g.bars.items[1].ran.id == 3);
    assert_int_equal(g.lanes.items[0]->rest[0].executions, 1);
    finish(&g);
}

TEST(lanes_stand_by_name_and_the_busiest_stay)
{
    struct gantt g = new_gantt(GANTT_BY_QUEUE, 50);
    static const char *const queues[] = {"b", "c", "a", "b", "a"};
    for (size_t i = 0; i < COUNT_OF(queues); i++) {
        struct ran_rec ran = ran_of(i + 1, 1000000, 10);
        ran.queue = str_c(queues[i]);
        gantt_add(&g, &ran);
    }
    assert_int_equal(gantt_end(&g, 2), 3);
    assert_int_equal(g.lanes.len, 2);
    assert_true(str_eq(g.lanes.items[0]->queue, STR("a")) &&
                str_eq(g.lanes.items[1]->queue, STR("b")));
    assert_true(g.executions == 5 && g.left_out == 1);
    finish(&g);
}

TEST(an_unknown_worker_has_a_lane_and_too_many_are_only_counted)
{
    struct gantt g = new_gantt(GANTT_BY_WORKER, 5);
    for (uint64_t i = 0; i < GANTT_LANES_MAX + 10; i++) {
        struct ran_rec ran = ran_of(i + 1, 1000000, 10);
        ran.worker_id = i;
        gantt_add(&g, &ran);
    }
    assert_int_equal(gantt_end(&g, 5000), GANTT_LANES_MAX);
    assert_true(g.lanes.items[0]->worker_id == 0 && g.left_out == 10);
    finish(&g);
}

TEST(it_is_late_by_its_slot_and_once_it_was_tried_again_by_when_it_was_ready)
{
    struct ran_rec ran = {.origin = ORIGIN_SLOT,
                          .slot_ms = 1000,
                          .created_ms = 500,
                          .ready_ms = 4000,
                          .started_ms = 5000,
                          .starts = 1};
    assert_int_equal(gantt_due_ms(&ran, 200), 1200);
    ran.starts = 2;
    assert_int_equal(gantt_due_ms(&ran, 200), 4000);
    ran.starts = 1;
    ran.origin = ORIGIN_REQUEST;
    assert_int_equal(gantt_due_ms(&ran, 200), 500);
}

TEST(a_frequent_job_hides_no_other_one_ahead)
{
    struct gantt_ahead ahead = {
        .from_ms = 1000000, .until_ms = 1120000, .limit = 5, .arena = &arena};
    for (int i = 0; i < 100; i++)
        gantt_ahead_add(
            &ahead,
            &(struct gantt_run){.job_id = 9, .queue = STR("often"), .at_ms = 1000000 + i * 1000});
    gantt_ahead_add(&ahead,
                    &(struct gantt_run){.job_id = 4, .queue = STR("nightly"), .at_ms = 1119000});
    gantt_ahead_end(&ahead);
    assert_int_equal(ahead.runs.len, 5);
    assert_int_equal(ahead.runs.items[4].job_id, 4);
    assert_int_equal(ahead.runs.items[3].at_ms, 1003000);
    assert_true(ahead.count == 101 && ahead.rest[4] == 1 && ahead.rest[3] == 0);
    gantt_ahead_free(&ahead);
    arena_free(&arena);
}

TEST_GROUP(NULL, NULL)
