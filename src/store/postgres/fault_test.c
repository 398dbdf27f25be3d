#include "store/postgres/fault.h"

#include "base/test/test.h"

TEST(what_passes_is_tried_again)
{
    assert_int_equal(pg_fault_code("40001", NULL), RC_BUSY);
    assert_int_equal(pg_fault_code("55P03", NULL), RC_BUSY);
    assert_int_equal(pg_fault_code("57P01", NULL), RC_BUSY);
    assert_int_equal(pg_fault_code("53100", NULL), RC_FULL);
    assert_int_equal(pg_fault_code("58030", NULL), RC_IO); /* anything else */
}

/* Else one row would keep a server from everything for ever. */
TEST(what_is_about_a_row_divides_the_turn)
{
    assert_int_equal(pg_fault_code("23505", NULL), RC_CONFLICT);
    assert_int_equal(pg_fault_code("22012", NULL), RC_CONFLICT);
    assert_int_equal(pg_fault_code("54000", NULL), RC_TOO_LARGE);
    assert_int_equal(pg_fault_code("54023", NULL), RC_TOO_LARGE);
    assert_int_equal(pg_fault_code("XX000", NULL), RC_CONFLICT);
    assert_int_equal(pg_fault_code("XX001", NULL), RC_CORRUPT);
}

TEST(the_fence_is_told_apart)
{
    assert_int_equal(pg_fault_code("23514", "turn_fenced"), RC_DEPOSED);
    assert_int_equal(pg_fault_code("23514", "another"), RC_CONFLICT);
}
