#include "job/state.h"

#include "base/test/test.h"

/* Every step there is, written out a second time; all other cells of the table must be empty. */
static const struct step {
    enum exec_state from;
    enum exec_event event;
    enum exec_state to;
} steps[] = {
    {EXEC_SCHEDULED, EV_DUE, EXEC_QUEUED},
    {EXEC_SCHEDULED, EV_CANCEL, EXEC_CANCELLED},
    {EXEC_QUEUED, EV_LEASE, EXEC_RUNNING},
    {EXEC_QUEUED, EV_SUCCEED, EXEC_COMPLETED},
    {EXEC_QUEUED, EV_CANCEL, EXEC_CANCELLED},
    {EXEC_RUNNING, EV_SUCCEED, EXEC_COMPLETED},
    {EXEC_RUNNING, EV_RETRY, EXEC_RETRYING},
    {EXEC_RUNNING, EV_EXHAUST, EXEC_FAILED},
    {EXEC_RUNNING, EV_EXPIRE, EXEC_TIMEOUT},
    {EXEC_RUNNING, EV_LOST, EXEC_QUEUED},
    {EXEC_RUNNING, EV_RETURN, EXEC_QUEUED},
    {EXEC_RUNNING, EV_CANCEL, EXEC_STOPPING},
    {EXEC_STOPPING, EV_STOPPED, EXEC_CANCELLED},
    {EXEC_RETRYING, EV_DUE, EXEC_QUEUED},
    {EXEC_RETRYING, EV_CANCEL, EXEC_CANCELLED},
    {EXEC_SCHEDULED, EV_SKIP, EXEC_SKIPPED},
    {EXEC_SCHEDULED, EV_BLOCK, EXEC_BLOCKED},
    {EXEC_BLOCKED, EV_DUE, EXEC_QUEUED},
    {EXEC_BLOCKED, EV_CANCEL, EXEC_CANCELLED},
    {EXEC_BLOCKED, EV_SKIP, EXEC_SKIPPED},
    {EXEC_BLOCKED, EV_PLAN, EXEC_SCHEDULED},
    {EXEC_RUNNING, EV_QUARANTINE, EXEC_FAILED},
    {EXEC_SCHEDULED, EV_PLAN, EXEC_SCHEDULED},
    {EXEC_SCHEDULED, EV_LATE, EXEC_SCHEDULED},
    {EXEC_BLOCKED, EV_LATE, EXEC_BLOCKED},
    {EXEC_QUEUED, EV_LATE, EXEC_QUEUED},
    {EXEC_SCHEDULED, EV_OVERDUE, EXEC_EXPIRED},
    {EXEC_BLOCKED, EV_OVERDUE, EXEC_EXPIRED},
    {EXEC_QUEUED, EV_OVERDUE, EXEC_EXPIRED},
    {EXEC_SCHEDULED, EV_HOLD, EXEC_SCHEDULED},
    {EXEC_QUEUED, EV_DEDUPLICATE, EXEC_DEDUPLICATED},
    {EXEC_RUNNING, EV_DEDUPLICATE, EXEC_DEDUPLICATED},
    {EXEC_RETRYING, EV_DEDUPLICATE, EXEC_DEDUPLICATED},
    {EXEC_SCHEDULED, EV_SUCCEED, EXEC_COMPLETED},
    {EXEC_SCHEDULED, EV_EXHAUST, EXEC_FAILED},
    {EXEC_SCHEDULED, EV_MISS, EXEC_SCHEDULED},
};

static enum exec_state expected(enum exec_state from, enum exec_event event)
{
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        if (steps[i].from == from && steps[i].event == event)
            return steps[i].to;
    }
    return EXEC_NONE;
}

TEST(every_cell_of_the_table_is_as_it_should_be)
{
    for (int from = 0; from < EXEC_STATES; from++) {
        for (int event = 0; event < EXEC_EVENTS; event++) {
            enum exec_state to = exec_next((enum exec_state)from, (enum exec_event)event);
            assert_int_equal(to, expected((enum exec_state)from, (enum exec_event)event));
        }
    }
}

TEST(nothing_leaves_a_final_state)
{
    for (int from = 0; from < EXEC_STATES; from++) {
        for (int event = 0; event < EXEC_EVENTS && exec_is_final((enum exec_state)from); event++)
            assert_int_equal(exec_next((enum exec_state)from, (enum exec_event)event), EXEC_NONE);
    }
}

TEST(every_state_is_waiting_ready_leased_or_final)
{
    for (int i = EXEC_NONE + 1; i < EXEC_STATES; i++) {
        enum exec_state s = (enum exec_state)i;
        int kinds = exec_is_waiting(s) + (s == EXEC_QUEUED || s == EXEC_BLOCKED) +
                    exec_is_leased(s) + exec_is_final(s);
        assert_int_equal(kinds, 1);
    }
}

TEST(names_of_states_read_back)
{
    for (int i = EXEC_NONE + 1; i < EXEC_STATES; i++) {
        enum exec_state back;
        assert_true(exec_state_parse(exec_state_name((enum exec_state)i), &back));
        assert_int_equal(back, i == EXEC_STOPPING ? EXEC_RUNNING : i);
    }
    for (int i = JOB_NONE + 1; i < JOB_STATES; i++) {
        enum job_state back;
        assert_true(job_state_parse(job_state_name((enum job_state)i), &back));
        assert_int_equal(back, i);
    }
}

TEST(names_that_nobody_has_are_refused)
{
    enum exec_state exec;
    enum job_state job;
    assert_false(exec_state_parse(STR("none"), &exec));
    assert_false(exec_state_parse(STR(""), &exec));
    assert_false(exec_state_parse(STR("Queued"), &exec));
    assert_false(job_state_parse(STR("none"), &job));
    assert_false(job_state_parse(STR("running"), &job));
}

TEST(every_event_has_a_name_of_its_own)
{
    for (int i = 0; i < EXEC_EVENTS; i++) {
        assert_true(exec_event_name((enum exec_event)i).len > 0);
        for (int k = 0; k < i; k++)
            assert_false(
                str_eq(exec_event_name((enum exec_event)i), exec_event_name((enum exec_event)k)));
    }
}

TEST(a_job_becomes_what_its_execution_became)
{
    assert_int_equal(job_state_after(EXEC_COMPLETED), JOB_COMPLETED);
    assert_int_equal(job_state_after(EXEC_FAILED), JOB_FAILED);
    assert_int_equal(job_state_after(EXEC_TIMEOUT), JOB_FAILED);
    assert_int_equal(job_state_after(EXEC_CANCELLED), JOB_CANCELLED);
    assert_int_equal(job_state_after(EXEC_SKIPPED), JOB_CANCELLED);
    assert_int_equal(job_state_after(EXEC_EXPIRED), JOB_CANCELLED);
}

TEST(the_table_of_states_has_a_row_for_each_that_users_see)
{
    CLEANUP(buf_free) struct buf out = BUF(1 << 16);
    exec_states_print(&out);
    size_t rows = 0;
    for (size_t i = 0; i < out.len; i++)
        rows += out.ptr[i] == '\n';
    assert_int_equal(rows, 2 + EXEC_STATES - 2); /* without none, and with one for stopping */
    assert_non_null(memmem(out.ptr, out.len, "| queued, retrying, completed, failed, ", 39));
}
