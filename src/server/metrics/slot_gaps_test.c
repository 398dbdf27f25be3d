#include "base/arena.h"
#include "base/test/test.h"
#include "server/metrics/slot_gaps.h"

#include <string.h>

enum { MINUTE = 60000, SLOTS = 10 };
#define BEGIN INT64_C(1794816000000)

static struct arena arena;

static int end(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static struct schedule every_minute(void)
{
    return schedule_every(BEGIN, MINUTE);
}

/* Records of the first slots. */
static size_t make(struct exec_rec execs[SLOTS])
{
    for (int i = 0; i < SLOTS; i++)
        execs[i] = (struct exec_rec){.id = (uint64_t)i + 1,
                                     .origin = ORIGIN_SLOT,
                                     .slot_ms = BEGIN + (i + 1) * MINUTE,
                                     .nominal_ms = BEGIN + (i + 1) * MINUTE};
    return SLOTS;
}

static size_t drop(struct exec_rec *execs, size_t count, size_t at)
{
    memmove(&execs[at], &execs[at + 1], (count - at - 1) * sizeof *execs);
    return count - 1;
}

static struct slot_gap find(const struct exec_rec *execs, size_t count, int64_t floor_ms)
{
    const struct schedule schedule = every_minute();
    const struct slot_floor floor = {.changed_ms = floor_ms};
    return slot_gaps_find(&schedule, execs, count, &floor, INT64_MAX, &arena);
}

TEST(a_whole_chain_of_records_has_no_gap, NULL, end)
{
    struct exec_rec execs[SLOTS];
    assert_int_equal(find(execs, make(execs), 0).count, 0);
}

TEST(a_slot_without_a_record_is_found_wherever_it_is, NULL, end)
{
    for (size_t at = 1; at + 1 < SLOTS; at++) {
        struct exec_rec execs[SLOTS];
        size_t count = drop(execs, make(execs), at);
        struct slot_gap gap = find(execs, count, 0);
        assert_int_equal(gap.count, 1);
        assert_true(gap.first_ms == BEGIN + (int64_t)(at + 1) * MINUTE);
    }
}

TEST(slots_that_follow_one_another_are_counted, NULL, end)
{
    struct exec_rec execs[SLOTS];
    size_t count = drop(execs, drop(execs, make(execs), 4), 4);
    count = drop(execs, count, 1);
    struct slot_gap gap = find(execs, count, 0);
    assert_int_equal(gap.count, 3);
    assert_true(gap.first_ms == BEGIN + 2 * MINUTE);
}

TEST(the_order_of_records_does_not_matter, NULL, end)
{
    struct exec_rec execs[SLOTS];
    struct exec_rec turned[SLOTS];
    size_t count = drop(execs, make(execs), 3);
    for (size_t i = 0; i < count; i++)
        turned[i] = execs[count - 1 - i];
    assert_int_equal(find(turned, count, 0).count, 1);
}

TEST(a_record_may_stand_for_slots_that_were_skipped_together, NULL, end)
{
    struct exec_rec execs[SLOTS];
    size_t count = drop(execs, drop(execs, make(execs), 4), 4);
    execs[3].slot_last_ms = execs[3].slot_ms + 2 * MINUTE;
    execs[3].slot_count = 3;
    assert_int_equal(find(execs, count, 0).count, 0);
    execs[3].slot_last_ms = execs[3].slot_ms + MINUTE;
    assert_int_equal(find(execs, count, 0).count, 1);
}

/* What a definition says does not tell when its interval began. */
TEST(an_interval_begins_where_its_records_do, NULL, end)
{
    struct exec_rec execs[SLOTS];
    const struct schedule schedule = schedule_every(0, MINUTE);
    size_t count = drop(execs, make(execs), 4);
    for (size_t i = 0; i < count; i++)
        execs[i].slot_ms += 397;
    execs[3].slot_last_ms = execs[3].slot_ms + MINUTE;
    assert_int_equal(
        slot_gaps_find(&schedule, execs, count, &(struct slot_floor){0}, INT64_MAX, &arena).count,
        0);
    count = drop(execs, count, 6);
    assert_int_equal(
        slot_gaps_find(&schedule, execs, count, &(struct slot_floor){0}, INT64_MAX, &arena).count,
        1);
}

TEST(what_was_asked_for_or_run_again_is_no_slot, NULL, end)
{
    struct exec_rec execs[SLOTS];
    size_t count = make(execs);
    execs[5].origin = ORIGIN_REQUEST;
    assert_int_equal(find(execs, count, 0).count, 1);
    execs[5].origin = ORIGIN_SLOT;
    execs[5].retry_of = 9;
    assert_int_equal(find(execs, count, 0).count, 1);
}

TEST(slots_before_an_edit_are_of_another_schedule, NULL, end)
{
    struct exec_rec execs[SLOTS];
    size_t count = drop(execs, make(execs), 3);
    assert_int_equal(find(execs, count, BEGIN + 5 * MINUTE).count, 0);
    assert_int_equal(find(execs, count, BEGIN + 4 * MINUTE).count, 0);
    assert_int_equal(find(execs, count, BEGIN + 3 * MINUTE).count, 1);
}

/* Slots ran by a clock that was ahead, and then again. */
TEST(records_that_were_too_old_to_keep_are_not_missed, NULL, end)
{
    const struct schedule schedule = every_minute();
    struct exec_rec execs[SLOTS];
    size_t count = drop(execs, drop(execs, make(execs), 1), 1); /* the first is a dead letter */
    int64_t now_ms = execs[count - 1].slot_ms;
    struct slot_floor floor = {.keep_ms = now_ms - BEGIN};
    assert_int_equal(slot_gaps_find(&schedule, execs, count, &floor, now_ms, &arena).count, 2);
    floor.keep_ms -= 2 * MINUTE;
    assert_int_equal(slot_gaps_find(&schedule, execs, count, &floor, now_ms, &arena).count, 0);
}

TEST(a_clock_that_was_set_back_leaves_no_gap, NULL, end)
{
    struct exec_rec execs[2 * SLOTS];
    size_t count = make(execs);
    count += make(execs + count);
    execs[3].slot_last_ms = execs[3].slot_ms + 20 * MINUTE;
    assert_int_equal(find(execs, count, 0).count, 0);
}

/* By the clock that was wrong, an hour ahead, some slots ran that are to come again. */
TEST(what_ran_by_a_clock_that_was_ahead_is_of_no_account, NULL, end)
{
    struct exec_rec execs[2 * SLOTS];
    const struct schedule schedule = every_minute();
    int64_t now_ms = BEGIN + SLOTS * MINUTE;
    size_t count = make(execs);
    count += make(execs + count);
    for (size_t i = 0; i < count; i++) {
        execs[i].state = EXEC_COMPLETED;
        execs[i].slot_ms += i < SLOTS ? 0 : 60 * MINUTE;
    }
    assert_int_equal(
        slot_gaps_find(&schedule, execs, count, &(struct slot_floor){0}, now_ms, &arena).count, 0);
    execs[count - 1] = execs[SLOTS - 1]; /* the one ahead */
    execs[count - 1].state = EXEC_SCHEDULED;
    execs[count - 1].slot_ms += 2 * MINUTE;
    assert_int_equal(
        slot_gaps_find(&schedule, execs, count, &(struct slot_floor){0}, now_ms, &arena).count, 1);
}

TEST(nothing_is_known_of_a_schedule_with_one_record, NULL, end)
{
    struct exec_rec execs[SLOTS];
    make(execs);
    assert_int_equal(find(execs, 1, 0).count, 0);
    assert_int_equal(find(execs, 0, 0).count, 0);
}
