#include "engine/ready/limit.h"
#include "engine/ready/ready.h"
#include "engine/ready/rung.h"
#include "engine/ready/worker_class.h"

#include "base/test/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The ready queues, and the worker_class of a worker that does everything. */
struct hall {
    struct ready ready;
    struct worker_classes worker_classes;
    struct worker_class *all;
};

static void hall_init(struct hall *h)
{
    ready_init(&h->ready, 60000, &(struct breaker_rule){.percent = 0});
    worker_classes_init(&h->worker_classes);
    h->all = worker_class_join(&h->worker_classes, STR(""), STR("mail\nsms\n"), true);
}

static void hall_free(struct hall *h)
{
    ready_free(&h->ready);
    worker_classes_free(&h->worker_classes);
}

static struct track *join(struct hall *h, struct str queue, struct str handler, size_t lanes_max)
{
    return ready_join(&h->ready, &(struct rules){.queue = queue, .handler = handler}, lanes_max);
}

TEST(the_best_of_all_lanes_is_first)
{
    CLEANUP(hall_free) struct hall h;
    hall_init(&h);
    struct heap_node nodes[4] = {{0}};
    struct track *a = join(&h, STR("a"), STR(""), 9);
    struct track *b = join(&h, STR("b"), STR("mail"), 9);
    ready_put(&h.ready, a, &nodes[0], 500, 1000, 1);
    ready_put(&h.ready, b, &nodes[1], 500, 999, 4);
    ready_put(&h.ready, a, &nodes[2], 501, 2000, 2);
    ready_put(&h.ready, b, &nodes[3], 500, 1000, 3);
    size_t order[] = {2, 1, 0, 3};
    for (size_t i = 0; i < 4; i++) {
        struct heap_node *best = ready_best(&h.ready, h.all, true);
        assert_ptr_equal(best, &nodes[order[i]]);
        ready_remove(&h.ready, best == &nodes[0] || best == &nodes[2] ? a : b, best);
    }
    assert_null(ready_best(&h.ready, h.all, true));
    assert_int_equal(h.ready.len, 0);
}

/* However few of the lanes a worker_class serves, and whichever way it is found: the best of
 * them. */
TEST(few_of_many_lanes_are_searched_as_well_as_all)
{
    CLEANUP(hall_free) struct hall h;
    hall_init(&h);
    static const char *const handlers[] = {"", "mail", "sms", "fax"};
    struct worker_class *few =
        worker_class_join(&h.worker_classes, STR("q07\nq31\nq99\n"), STR("mail\nsms\n"), true);
    struct worker_class *one =
        worker_class_join(&h.worker_classes, STR("q20\n"), STR("fax\n"), false);
    struct heap_node nodes[160] = {{0}};
    struct track *tracks[160];
    char names[40][4];
    for (size_t i = 0; i < 160; i++) {
        snprintf(names[i / 4], sizeof names[i / 4], "q%02u", (unsigned)(i / 4) % 100);
        tracks[i] = join(&h, str_c(names[i / 4]), str_c(handlers[i % 4]), 999);
        ready_put(&h.ready, tracks[i], &nodes[i], (int32_t)(i * 37 % 1000), 1, i);
    }
    struct worker_class *worker_classes[] = {h.all, few, one};
    size_t found[3] = {0};
    for (size_t t = 0; t < 3; t++) {
        for (struct heap_node *best;
             (best = ready_best(&h.ready, worker_classes[t], true)) != NULL;) {
            size_t at = (size_t)(best - nodes);
            for (size_t i = 0; i < 160; i++)
                assert_false(heap_holds(&nodes[i]) && i * 37 % 1000 > at * 37 % 1000 &&
                             worker_class_serves(worker_classes[t], tracks[i]->lane->queue,
                                                 tracks[i]->lane->handler));
            ready_remove(&h.ready, tracks[at], best);
            found[t]++;
        }
        for (size_t i = 0; i < 160; i++) { /* all that were taken come back */
            if (!heap_holds(&nodes[i]))
                ready_put(&h.ready, tracks[i], &nodes[i], (int32_t)(i * 37 % 1000), 1, i);
        }
    }
    assert_int_equal(found[0], 120);
    assert_int_equal(found[1], 6);
    assert_int_equal(found[2], 1);
}

TEST(a_lane_is_shared_by_queue_and_handler)
{
    CLEANUP(hall_free) struct hall h;
    hall_init(&h);
    struct track *track = join(&h, STR("a"), STR("mail"), 2);
    assert_ptr_equal(join(&h, STR("a"), STR("mail"), 2), track);
    assert_ptr_not_equal(join(&h, STR("a"), STR(""), 2), track);
    assert_null(join(&h, STR("am"), STR("ail"), 2));
    assert_true(str_eq(track->lane->queue, STR("a")));
    assert_true(str_eq(track->lane->handler, STR("mail")));
}

/* As a round of matching does when nobody wants it. */
static struct lane *next_fresh(struct ready *r)
{
    struct lane *lane = ready_fresh(r);
    if (lane != NULL)
        ready_offered(lane);
    return lane;
}

TEST(a_lane_that_all_have_left_makes_room_for_another)
{
    CLEANUP(hall_free) struct hall h;
    hall_init(&h);
    struct track *track = join(&h, STR("a"), STR(""), 1);
    join(&h, STR("a"), STR(""), 1);
    ready_leave(&h.ready, track);
    assert_null(join(&h, STR("b"), STR(""), 1));
    ready_leave(&h.ready, track);
    assert_non_null(join(&h, STR("b"), STR(""), 1));
}

TEST(a_lane_is_fresh_until_somebody_looks)
{
    CLEANUP(hall_free) struct hall h;
    hall_init(&h);
    struct heap_node nodes[3] = {{0}};
    struct track *a = join(&h, STR("a"), STR(""), 9);
    struct track *b = join(&h, STR("b"), STR(""), 9);
    ready_put(&h.ready, a, &nodes[0], 500, 1, 1);
    ready_put(&h.ready, b, &nodes[1], 500, 1, 2);
    ready_remove(&h.ready, b, &nodes[1]); /* empty again: nothing to look at */
    assert_ptr_equal(next_fresh(&h.ready), a->lane);
    assert_null(next_fresh(&h.ready));
    ready_put(&h.ready, a, &nodes[2], 500, 1, 3);
    assert_ptr_equal(next_fresh(&h.ready), a->lane);
}

TEST(waiting_long_enough_is_worth_a_point_of_priority)
{
    CLEANUP(hall_free) struct hall h;
    hall_init(&h);
    struct heap_node nodes[3] = {{0}};
    struct track *a = join(&h, STR("a"), STR(""), 9);
    ready_put(&h.ready, a, &nodes[0], 501, 60000, 1);
    ready_put(&h.ready, a, &nodes[1], 500, 1, 2);
    ready_put(&h.ready, a, &nodes[2], 500, 0, 3);
    size_t order[] = {0, 2, 1}; /* a tie goes to the smaller id */
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(ready_best(&h.ready, h.all, true), &nodes[order[i]]);
        ready_remove(&h.ready, a, &nodes[order[i]]);
    }
}

TEST(a_closed_lane_is_not_to_be_had_and_comes_back_fresh)
{
    CLEANUP(hall_free) struct hall h;
    hall_init(&h);
    struct heap_node nodes[2] = {{0}};
    struct track *a = join(&h, STR("a"), STR(""), 9);
    ready_put(&h.ready, a, &nodes[0], 500, 1, 1);
    ready_gate(&h.ready, a->lane, GATE_PAUSED);
    assert_null(ready_best(&h.ready, h.all, true));
    assert_null(next_fresh(&h.ready));
    ready_put(&h.ready, a, &nodes[1], 500, 0, 2);
    assert_null(next_fresh(&h.ready));
    ready_gate(&h.ready, a->lane, GATE_OPEN);
    assert_ptr_equal(next_fresh(&h.ready), a->lane);
    assert_ptr_equal(ready_best(&h.ready, h.all, true), &nodes[1]);
}

TEST(a_full_lane_lets_out_what_has_its_permits)
{
    CLEANUP(hall_free) struct hall h;
    hall_init(&h);
    struct heap_node nodes[2] = {{0}};
    struct track *a = join(&h, STR("a"), STR(""), 9);
    ready_put(&h.ready, a, &nodes[0], 500, 0, 1);
    ready_gate(&h.ready, a->lane, GATE_FULL);
    assert_null(ready_best(&h.ready, h.all, true));
    assert_int_equal(ready_count(&h.ready, h.all, true, 10), 0);
    struct track *twin = ready_twin(&h.ready, a);
    ready_put(&h.ready, twin, &nodes[1], 500, 1, 2);
    assert_ptr_equal(next_fresh(&h.ready), a->lane);
    assert_ptr_equal(ready_best(&h.ready, h.all, true), &nodes[1]);
    assert_int_equal(ready_count(&h.ready, h.all, true, 10), 1);
    ready_gate(&h.ready, a->lane, GATE_PAUSED);
    assert_null(ready_best(&h.ready, h.all, true));
    assert_int_equal(ready_count(&h.ready, h.all, true, 10), 0);
    ready_gate(&h.ready, a->lane, GATE_OPEN);
    assert_ptr_equal(ready_best(&h.ready, h.all, true), &nodes[0]); /* the older one */
    assert_int_equal(ready_count(&h.ready, h.all, true, 10), 2);
    ready_remove(&h.ready, twin, &nodes[1]);
}

/* ---- limits */

static struct track *join_limited(struct hall *h, struct str handler, struct limit_rule concurrency,
                                  struct limit_rule rate)
{
    return ready_join(
        &h->ready,
        &(struct rules){
            .queue = STR("a"), .handler = handler, .concurrency = concurrency, .rate = rate},
        9);
}

TEST(a_full_limit_takes_its_tracks_away_and_room_brings_them_back)
{
    CLEANUP(hall_free) struct hall h;
    hall_init(&h);
    struct heap_node nodes[3] = {{0}};
    struct limit_rule two = {.key = STR("k"), .limit = 2};
    struct limit_rule three = {.key = STR("k"), .limit = 3};
    struct limit_rule none = {0};
    struct track *narrow = join_limited(&h, STR(""), two, none);
    struct track *wide = join_limited(&h, STR("mail"), three, none);
    struct track *plain = join(&h, STR("a"), STR(""), 9);
    ready_put(&h.ready, narrow, &nodes[0], 500, 0, 1);
    ready_put(&h.ready, wide, &nodes[1], 500, 1, 2);
    ready_put(&h.ready, plain, &nodes[2], 500, 2, 3);
    ready_hold(&h.ready, wide);
    assert_ptr_equal(ready_best(&h.ready, h.all, true), &nodes[0]);
    ready_hold(&h.ready, narrow);
    assert_ptr_equal(ready_best(&h.ready, h.all, true), &nodes[1]); /* it tolerates three */
    ready_hold(&h.ready, wide);
    assert_ptr_equal(ready_best(&h.ready, h.all, true), &nodes[2]);
    while (next_fresh(&h.ready) != NULL)
        continue;
    ready_release(&h.ready, wide);
    assert_ptr_equal(next_fresh(&h.ready), wide->lane);
    assert_ptr_equal(ready_best(&h.ready, h.all, true), &nodes[1]);
    ready_release(&h.ready, wide);
    assert_ptr_equal(ready_best(&h.ready, h.all, true), &nodes[0]);
    ready_release(&h.ready, narrow);
}

TEST(starts_of_a_rate_are_evenly_spaced)
{
    struct limit limit = {.kind = LIMIT_RATE};
    struct moment now = {.wall_ms = 1000000, .boot_ms = 50};
    limit.v = limit_started(&limit, now, 250000);
    assert_int_equal(limit.v.next_us, 1000250000);
    assert_int_equal(limit.v.wake_ms, 300);
    assert_true(limit.v.shut);
    now.wall_ms += 300, now.boot_ms += 300;
    limit.v = limit_started(&limit, now, 250000);
    assert_int_equal(limit.v.next_us, 1000550000); /* nothing is saved up */
}

TEST(short_intervals_share_a_millisecond)
{
    struct limit limit = {.kind = LIMIT_RATE};
    struct moment now = {.wall_ms = 1000, .boot_ms = 50};
    size_t starts = 0;
    do {
        limit.v = limit_started(&limit, now, 100);
        starts++;
    } while (!limit.v.shut);
    assert_int_equal(starts, 10);
    assert_int_equal(limit.v.wake_ms, 51);
}

TEST(a_rate_waits_no_longer_than_its_interval_wherever_the_clock_went)
{
    struct moment now = {.wall_ms = 1000, .boot_ms = 50};
    struct limit_values v = limit_restored(INT64_C(90000000), 250000, now);
    assert_false(v.shut);
    v = limit_restored(1200000, 250000, now);
    assert_true(v.shut);
    assert_int_equal(v.wake_ms, 250);
}

/* ---- worker_classes */

TEST(a_trade_is_shared_by_all_that_can_do_the_same)
{
    CLEANUP(hall_free) struct hall h;
    hall_init(&h);
    struct worker_class *a = worker_class_join(&h.worker_classes, STR("x\n"), STR("mail\n"), false);
    assert_ptr_equal(worker_class_join(&h.worker_classes, STR("x\n"), STR("mail\n"), false), a);
    assert_ptr_not_equal(worker_class_join(&h.worker_classes, STR("x\n"), STR("mail\n"), true), a);
    assert_ptr_not_equal(worker_class_join(&h.worker_classes, STR("x\nmail\n"), STR(""), false), a);
    worker_class_leave(&h.worker_classes, a);
    worker_class_leave(&h.worker_classes, a);
    assert_int_equal(h.worker_classes.by_key.len, 3);
}

TEST(a_trade_serves_its_queues_and_handlers_and_no_others)
{
    CLEANUP(hall_free) struct hall h;
    hall_init(&h);
    const struct worker_class *t =
        worker_class_join(&h.worker_classes, STR("x\nyy\n"), STR("mail\n"), false);
    assert_true(worker_class_serves(t, STR("x"), STR("mail")));
    assert_true(worker_class_serves(t, STR("yy"), STR("mail")));
    assert_false(worker_class_serves(t, STR("y"), STR("mail")));
    assert_false(worker_class_serves(t, STR("x"), STR("mai")));
    assert_false(worker_class_serves(t, STR("x"), STR("")));
    assert_true(worker_class_serves(h.all, STR("anything"), STR("")));
    assert_false(worker_class_serves(h.all, STR("anything"), STR("fax")));
}

static int64_t cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

enum { LEASES = 20000 };

/* Leases of one key that so many others see differently, with work that waits; or that are idle and
 * see it the same. */
static int64_t leases_us(uint32_t bars, bool idle)
{
    CLEANUP(hall_free) struct hall h;
    hall_init(&h);
    struct limit_rule key = {.key = STR("k"), .limit = 1};
    struct limit_rule own = {.key = STR("own"), .per_ms = 1000};
    struct heap_node *nodes = calloc(bars, sizeof *nodes);
    struct track *mine = join_limited(&h, STR(""), key, (struct limit_rule){0});
    for (uint32_t i = 0; i < bars; i++) {
        own.limit = i + 1; /* a track for each */
        key.limit = idle ? 1 : i + 2;
        struct track *other = join_limited(&h, STR("mail"), key, own);
        if (!idle)
            ready_put(&h.ready, other, &nodes[i], 500, 1000, i + 1);
    }
    int64_t began_us = cpu_us();
    for (int i = 0; i < LEASES; i++) {
        ready_hold(&h.ready, mine);
        ready_release(&h.ready, mine);
    }
    int64_t took_us = cpu_us() - began_us;
    free(nodes);
    return took_us;
}

TEST(a_lease_costs_the_same_however_many_share_its_key)
{
    for (int idle = 0; idle < 2; idle++) {
        int64_t few_us = INT64_MAX;
        int64_t many_us = INT64_MAX;
        for (int i = 0; i < 3; i++) {
            int64_t few = leases_us(4, idle != 0);
            int64_t many = leases_us(4000, idle != 0);
            few_us = few < few_us ? few : few_us;
            many_us = many < many_us ? many : many_us;
        }
        print_message("%d leases: 4 bars %" PRId64 " us, 4,000 bars %" PRId64 " us\n", LEASES,
                      few_us, many_us);
        assert_true(many_us <
                    30 * (few_us + 20)); /* a walk over all takes hundreds of times as long */
    }
}

TEST(rungs_are_found_by_what_they_bear)
{
    struct rungs all = {0};
    struct rung *rungs[100];
    for (uint32_t i = 0; i < 100; i++)
        rungs[i] = rung_join(&all, i * 37 % 100);
    for (uint32_t i = 0; i < 100; i++) {
        assert_ptr_equal(rung_at(&all, i * 37 % 100), rungs[i]);
        assert_int_equal(all.items[i]->max, i);
    }
    assert_ptr_equal(rung_join(&all, 37), rungs[1]);
    rung_leave(&all, rungs[1]);
    assert_ptr_equal(rung_at(&all, 37), rungs[1]);
    for (uint32_t i = 0; i < 100; i++)
        rung_leave(&all, rungs[i]);
    assert_null(rung_at(&all, 37));
    assert_int_equal(all.len, 0);
}
