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

static struct err err;

static enum rc check(const struct ledger *ledger, uint64_t completed, uint64_t waiting)
{
    return ledger_check(ledger, &(struct ledger_truth){.completed = completed, .waiting = waiting},
                        &err);
}

static void a_database_that_holds_what_was_acknowledged_passes(void **state)
{
    (void)state;
    assert_int_equal(check(&all_run, 100, 0), RC_OK);
    assert_int_equal(check(&all_waiting, 0, 100), RC_OK);
}

static void a_lost_job_is_noticed(void **state)
{
    (void)state;
    assert_int_equal(check(&all_run, 101, 0), RC_CORRUPT);
    assert_string_equal(err.text, "the database holds 100 jobs instead of 101");
    assert_int_equal(check(&all_waiting, 0, 99), RC_CORRUPT);
}

static void a_run_that_did_not_complete_is_noticed(void **state)
{
    (void)state;
    struct ledger waits = all_run;
    struct ledger failed = all_run;
    waits.live = waits.history[EXEC_COMPLETED]--;
    failed.history[EXEC_COMPLETED]--;
    failed.history[EXEC_FAILED]++;
    assert_int_equal(check(&waits, 100, 0), RC_CORRUPT);
    assert_int_equal(check(&failed, 100, 0), RC_CORRUPT);
}

static void a_second_attempt_is_noticed(void **state)
{
    (void)state;
    struct ledger twice = all_run;
    twice.attempts++;
    assert_int_equal(check(&twice, 100, 0), RC_CORRUPT);
    assert_string_equal(err.text, "the database holds 101 attempts instead of 100");
}

static void failures_and_further_attempts_are_counted_when_they_are_expected(void **state)
{
    (void)state;
    struct ledger ledger = all_run;
    struct ledger_truth truth = {.completed = 100, .failed = 7, .more_tries = 28};
    ledger.jobs += 7;
    ledger.history[EXEC_FAILED] = 7;
    ledger.attempts += 28;
    assert_int_equal(ledger_check(&ledger, &truth, &err), RC_OK);
    ledger.attempts--;
    assert_int_equal(ledger_check(&ledger, &truth, &err), RC_CORRUPT);
    assert_string_equal(err.text, "the database holds 127 attempts instead of 128");
    ledger.attempts++;
    ledger.history[EXEC_FAILED]--;
    ledger.history[EXEC_TIMEOUT]++;
    assert_int_equal(ledger_check(&ledger, &truth, &err), RC_CORRUPT);
}

static void jobs_that_nobody_knows_must_not_run(void **state)
{
    (void)state;
    assert_int_equal(check(&all_run, 0, 100), RC_CORRUPT);
}

static void a_directory_without_a_database_is_an_error(void **state)
{
    (void)state;
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
        cmocka_unit_test(failures_and_further_attempts_are_counted_when_they_are_expected),
        cmocka_unit_test(jobs_that_nobody_knows_must_not_run),
        cmocka_unit_test(a_directory_without_a_database_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
