#include "job/log.h"

#include "base/test/test.h"
#include "job/record/record.h"

TEST(names_of_outcomes_read_back)
{
    for (int i = OUTCOME_NONE + 1; i < OUTCOMES; i++) {
        enum outcome back;
        assert_true(outcome_parse(outcome_name((enum outcome)i), &back));
        assert_int_equal(back, i);
    }
    enum outcome none;
    assert_false(outcome_parse(STR("none"), &none));
    assert_false(outcome_parse(STR(""), &none));
}

TEST(names_of_streams_read_back)
{
    for (int i = LOG_STDOUT; i <= LOG_NOTE; i++) {
        enum log_stream back;
        assert_true(log_stream_parse(log_stream_name((enum log_stream)i), &back));
        assert_int_equal(back, i);
    }
    enum log_stream none;
    assert_false(log_stream_parse(STR(""), &none));
    assert_false(log_stream_parse(STR("stdin"), &none));
}

TEST(a_delta_without_records_is_empty_whatever_its_turn)
{
    assert_true(delta_is_empty(&(struct delta){.turn = 5}));
    assert_false(delta_is_empty(&(struct delta){.job_count = 1}));
    assert_false(delta_is_empty(&(struct delta){.worker_count = 1}));
}
