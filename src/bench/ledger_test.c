#include "bench/ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct ledger all_run = {
    .jobs = 100,
    .history = {[EXEC_COMPLETED] = 100},
    .attempts = 100,
};

static const struct ledger all_waiting = {.jobs = 100, .live = 100};

static void a_database_that_holds_what_was_acknowledged_passes(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(ledger_check(&all_run, 100, true, &err), RC_OK);
    assert_int_equal(ledger_check(&all_waiting, 100, false, &err), RC_OK);
}

static void a_lost_job_is_noticed(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(ledger_check(&all_run, 101, true, &err), RC_CORRUPT);
    assert_string_equal(err.text, "the database holds 100 jobs instead of 101");
    assert_int_equal(ledger_check(&all_waiting, 99, false, &err), RC_CORRUPT);
}

static void a_run_that_did_not_complete_is_noticed(void **state)
{
    (void)state;
    struct err err;
    struct ledger waits = all_run;
    struct ledger failed = all_run;
    waits.live = waits.history[EXEC_COMPLETED]--;
    failed.history[EXEC_COMPLETED]--;
    failed.history[EXEC_FAILED]++;
    assert_int_equal(ledger_check(&waits, 100, true, &err), RC_CORRUPT);
    assert_int_equal(ledger_check(&failed, 100, true, &err), RC_CORRUPT);
}

static void a_second_attempt_is_noticed(void **state)
{
    (void)state;
    struct err err;
    struct ledger twice = all_run;
    twice.attempts++;
    assert_int_equal(ledger_check(&twice, 100, true, &err), RC_CORRUPT);
    assert_string_equal(err.text, "the database holds 101 attempts instead of 100");
}

static void jobs_that_nobody_knows_must_not_run(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(ledger_check(&all_run, 100, false, &err), RC_CORRUPT);
}

static void a_directory_without_a_database_is_an_error(void **state)
{
    (void)state;
    struct err err;
    struct ledger ledger;
    assert_int_equal(ledger_read("/nonexistent", &ledger, &err), RC_IO);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_database_that_holds_what_was_acknowledged_passes),
        cmocka_unit_test(a_lost_job_is_noticed),
        cmocka_unit_test(a_run_that_did_not_complete_is_noticed),
        cmocka_unit_test(a_second_attempt_is_noticed),
        cmocka_unit_test(jobs_that_nobody_knows_must_not_run),
        cmocka_unit_test(a_directory_without_a_database_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
