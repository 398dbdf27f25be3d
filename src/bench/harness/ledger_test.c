#include "bench/harness/ledger.h"

#include "base/test/test.h"

#include <stdint.h>

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

TEST(a_database_that_holds_what_was_acknowledged_passes)
{
    assert_int_equal(check(&all_run, 100, 0), RC_OK);
    assert_int_equal(check(&all_waiting, 0, 100), RC_OK);
}

TEST(a_lost_job_is_noticed)
{
    assert_int_equal(check(&all_run, 101, 0), RC_CORRUPT);
    assert_string_equal(err.text, "the database holds 100 jobs instead of 101");
    assert_int_equal(check(&all_waiting, 0, 99), RC_CORRUPT);
}

TEST(a_run_that_did_not_complete_is_noticed)
{
    struct ledger waits = all_run;
    struct ledger failed = all_run;
    waits.live = waits.history[EXEC_COMPLETED]--;
    failed.history[EXEC_COMPLETED]--;
    failed.history[EXEC_FAILED]++;
    assert_int_equal(check(&waits, 100, 0), RC_CORRUPT);
    assert_int_equal(check(&failed, 100, 0), RC_CORRUPT);
}

TEST(a_second_attempt_is_noticed)
{
    struct ledger twice = all_run;
    twice.attempts++;
    assert_int_equal(check(&twice, 100, 0), RC_CORRUPT);
    assert_string_equal(err.text, "the database holds 101 attempts instead of 100");
}

TEST(failures_and_further_attempts_are_counted_when_they_are_expected)
{
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

TEST(jobs_that_nobody_knows_must_not_run)
{
    assert_int_equal(check(&all_run, 0, 100), RC_CORRUPT);
}

TEST(a_directory_without_a_database_is_an_error)
{
    struct ledger ledger;
    assert_int_equal(ledger_read("/nonexistent", &ledger, &err), RC_IO);
}
