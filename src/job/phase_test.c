#include "job/phase.h"

#include "base/test/test.h"

TEST(a_paused_job_is_paused_whatever_runs_of_it)
{
    for (int i = EXEC_NONE; i < EXEC_STATES; i++)
        assert_int_equal(job_phase(JOB_PAUSED, (enum exec_state)i, true), PHASE_PAUSED);
}

TEST(the_execution_under_way_decides)
{
    assert_int_equal(job_phase(JOB_ACTIVE, EXEC_RUNNING, true), PHASE_RUNNING);
    assert_int_equal(job_phase(JOB_ACTIVE, EXEC_STOPPING, false), PHASE_RUNNING);
    assert_int_equal(job_phase(JOB_ACTIVE, EXEC_RETRYING, true), PHASE_RETRYING);
    assert_int_equal(job_phase(JOB_ACTIVE, EXEC_BLOCKED, true), PHASE_BLOCKED);
    assert_int_equal(job_phase(JOB_ACTIVE, EXEC_QUEUED, true), PHASE_WAITING);
    assert_int_equal(job_phase(JOB_ACTIVE, EXEC_SCHEDULED, false), PHASE_SCHEDULED);
}

TEST(a_run_that_is_stopping_may_outlive_the_end_of_its_job)
{
    assert_int_equal(job_phase(JOB_CANCELLED, EXEC_STOPPING, false), PHASE_RUNNING);
}

TEST(without_one_a_run_ahead_decides_and_then_the_status)
{
    assert_int_equal(job_phase(JOB_ACTIVE, EXEC_NONE, true), PHASE_SCHEDULED);
    assert_int_equal(job_phase(JOB_ACTIVE, EXEC_NONE, false), PHASE_ACTIVE);
    assert_int_equal(job_phase(JOB_COMPLETED, EXEC_NONE, false), PHASE_COMPLETED);
    assert_int_equal(job_phase(JOB_FAILED, EXEC_NONE, false), PHASE_FAILED);
    assert_int_equal(job_phase(JOB_CANCELLED, EXEC_NONE, false), PHASE_CANCELLED);
}

/* Of a job that is over only a run that is held may be left; one that is not over may be anywhere. */
TEST(a_phase_names_every_status_that_jobs_in_it_may_have)
{
    for (int job = JOB_NONE + 1; job < JOB_STATES; job++) {
        for (int exec = EXEC_NONE; exec < EXEC_STATES; exec++) {
            if (job_is_over((enum job_state)job) && exec != EXEC_NONE &&
                !exec_is_leased((enum exec_state)exec))
                continue;
            enum phase phase = job_phase((enum job_state)job, (enum exec_state)exec, false);
            assert_true(phase_states(phase) >> job & 1);
        }
    }
}

TEST(every_phase_has_a_word)
{
    for (unsigned i = PHASE_NONE + 1; i < PHASES; i++) {
        unsigned phase;
        assert_true(words_parse(&phase_words, phase_name((enum phase)i), &phase));
        assert_int_equal(phase, i);
    }
}
