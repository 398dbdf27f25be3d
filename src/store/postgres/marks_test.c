#include "store/postgres/marks.h"

#include "base/test/test.h"

static void keep(struct marks *m, uint64_t from, uint64_t to)
{
    for (uint64_t turn = from; turn <= to; turn++) {
        struct mark_asked asked = marks_ask(m);
        marks_keep(m, &asked, turn);
    }
}

static uint64_t lost(struct marks *m, uint64_t newest)
{
    struct mark_asked asked = marks_ask(m);
    return marks_lost(m, &asked, newest);
}

static int setup(void **state)
{
    static struct marks m;
    marks_init(&m);
    marks_set_chained(&m, true);
    *state = &m;
    return 0;
}

static int teardown(void **state)
{
    marks_free(*state);
    return 0;
}

TEST(what_is_behind_the_newest_that_is_there_is_lost, setup, teardown)
{
    struct marks *m = *state;
    assert_int_equal(lost(m, 0), 0); /* nothing was kept yet */
    keep(m, 1, 10);
    assert_int_equal(marks_ask(m).turn, 10);
    assert_int_equal(lost(m, 10), 0);
    assert_int_equal(lost(m, 12), 0); /* kept since we asked */
    assert_int_equal(lost(m, 7), 3);
    assert_int_equal(lost(m, 0), 10);
}

/* A server that takes over from others goes on from their numbers, which were never its own. */
TEST(numbers_that_were_left_out_are_not_lost, setup, teardown)
{
    struct marks *m = *state;
    keep(m, 1, 10);
    keep(m, 5001, 5002);
    assert_int_equal(lost(m, 5001), 1);
    assert_int_equal(lost(m, 10), 2);
    assert_int_equal(lost(m, 4000), 2);
    assert_int_equal(lost(m, 8), 4);
    for (uint64_t turn = 6000; turn < 6000 + (uint64_t)100 * MARKS_RUNS_MAX; turn += 100)
        keep(m, turn, turn);
    assert_int_equal(lost(m, 0), MARKS_RUNS_MAX); /* at least: what is older was forgotten */
}

/* The answer to a commit was read, and before it was noted the database went back and all was taken
 * anew. */
TEST(what_was_committed_before_a_restart_is_not_asked_for_after_it, setup, teardown)
{
    struct marks *m = *state;
    keep(m, 1, 10);
    struct mark_asked before = marks_ask(m);
    marks_restart(m, 7);
    marks_keep(m, &before, 11);
    assert_int_equal(marks_ask(m).turn, 7);
    assert_int_equal(lost(m, 7), 0);
    keep(m, 11, 12);
    assert_int_equal(lost(m, 7), 2);
}

TEST(beside_who_deletes_marks_none_is_asked_for, setup, teardown)
{
    struct marks *m = *state;
    keep(m, 1, 10);
    struct mark_asked before = marks_ask(m);
    marks_set_chained(m, false);
    assert_int_equal(marks_ask(m).turn, 0);
    keep(m, 11, 12);
    assert_int_equal(marks_ask(m).turn, 0);
    marks_set_chained(m, true);
    marks_keep(m, &before, 13); /* may have been deleted meanwhile */
    assert_int_equal(marks_ask(m).turn, 0);
    keep(m, 14, 15);
    assert_int_equal(lost(m, 14), 1);
    assert_int_equal(lost(m, 3), 2);
}
