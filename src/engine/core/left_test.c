#include "base/err.h"

#include "base/test/test.h"
#include "engine/core/left.h"

TEST(rows_are_kept_once_and_in_order)
{
    CLEANUP(left_free) struct left l = {0};
    uint64_t ids[4];
    left_add(&l, 30, false);
    left_add(&l, 10, false);
    left_add(&l, 20, true);
    left_add(&l, 10, false);
    assert_int_equal(l.len, 3);
    assert_int_equal(left_waiting(&l), 2);
    assert_true(left_has(&l, 20));
    assert_false(left_has(&l, 25));
    assert_int_equal(left_page(&l, 0, 4, ids), 2); /* what nobody knows is not tried */
    assert_true(ids[0] == 10 && ids[1] == 30);
}

TEST(pages_go_round)
{
    CLEANUP(left_free) struct left l = {0};
    uint64_t ids[2];
    for (uint64_t id = 1; id <= 1000; id++)
        left_add(&l, id, false);
    assert_int_equal(left_page(&l, 998, 2, ids), 2);
    assert_true(ids[0] == 999 && ids[1] == 1000);
    assert_int_equal(left_page(&l, 1000, 2, ids), 2);
    assert_true(ids[0] == 1 && ids[1] == 2);
    left_free(&l);
    assert_int_equal(left_page(&l, 1000, 2, ids), 0);
}

TEST(what_went_is_taken_out)
{
    CLEANUP(left_free) struct left l = {0};
    for (uint64_t id = 1; id <= 10; id++)
        left_add(&l, id, id % 2 == 0);
    left_remove(&l, (const uint64_t[]){1, 4, 5, 77}, 4);
    assert_int_equal(l.len, 7);
    assert_int_equal(l.strange, 4);
    assert_false(left_has(&l, 4));
    assert_true(left_has(&l, 10));
    left_remove(&l, NULL, 0);
    assert_int_equal(l.len, 7);
}
