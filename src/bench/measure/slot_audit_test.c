#include "bench/measure/slot_audit.h"

#include "base/test/test.h"

enum { JOBS = 3, PERIODS = 2, FROM_MS = 60000, PERIOD_MS = 60000 };

static struct slot_audit told_all(void)
{
    struct slot_audit t = slot_audit_new(JOBS, PERIODS, FROM_MS, PERIOD_MS);
    for (int64_t slot_ms = FROM_MS; slot_ms < FROM_MS + PERIODS * PERIOD_MS; slot_ms += PERIOD_MS) {
        for (uint64_t job = 0; job < JOBS; job++)
            assert_true(slot_audit_add(&t, job, slot_ms + (int64_t)job * 1000));
    }
    return t;
}

TEST(every_slot_told_once_is_right)
{
    struct err err;
    struct slot_audit t = told_all();
    assert_int_equal(slot_audit_check(&t, &err), RC_OK);
    slot_audit_free(&t);
}

TEST(a_slot_that_is_missing_is_found)
{
    struct err err;
    struct slot_audit t = slot_audit_new(1, 2, FROM_MS, PERIOD_MS);
    assert_true(slot_audit_add(&t, 0, FROM_MS));
    assert_int_equal(slot_audit_check(&t, &err), RC_CORRUPT);
    assert_string_equal(err.text, "of 2 slots 1 were not run and 0 more than once");
    slot_audit_free(&t);
}

TEST(a_slot_that_is_doubled_is_found)
{
    struct err err;
    struct slot_audit t = told_all();
    assert_true(slot_audit_add(&t, 1, FROM_MS + 1000));
    assert_int_equal(slot_audit_check(&t, &err), RC_CORRUPT);
    assert_string_equal(err.text, "of 6 slots 0 were not run and 1 more than once");
    slot_audit_free(&t);
}

TEST(what_lies_outside_of_the_window_does_not_count)
{
    struct err err;
    struct slot_audit t = told_all();
    assert_false(slot_audit_add(&t, 0, FROM_MS - 1));
    assert_false(slot_audit_add(&t, 0, FROM_MS + PERIODS * PERIOD_MS));
    assert_false(slot_audit_add(&t, JOBS, FROM_MS));
    assert_int_equal(slot_audit_check(&t, &err), RC_OK);
    slot_audit_free(&t);
}
