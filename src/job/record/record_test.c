#include "job/log.h"
#include "job/record/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void names_of_outcomes_read_back(void **state)
{
    (void)state;
    for (int i = OUTCOME_NONE + 1; i < OUTCOMES; i++) {
        enum outcome back;
        assert_true(outcome_parse(outcome_name((enum outcome)i), &back));
        assert_int_equal(back, i);
    }
    enum outcome none;
    assert_false(outcome_parse(STR("none"), &none));
    assert_false(outcome_parse(STR(""), &none));
}

static void names_of_streams_read_back(void **state)
{
    (void)state;
    for (int i = LOG_STDOUT; i <= LOG_NOTE; i++) {
        enum log_stream back;
        assert_true(log_stream_parse(log_stream_name((enum log_stream)i), &back));
        assert_int_equal(back, i);
    }
    enum log_stream none;
    assert_false(log_stream_parse(STR(""), &none));
    assert_false(log_stream_parse(STR("stdin"), &none));
}

static void a_delta_without_records_is_empty_whatever_its_turn(void **state)
{
    (void)state;
    assert_true(delta_is_empty(&(struct delta){.turn = 5}));
    assert_false(delta_is_empty(&(struct delta){.job_count = 1}));
    assert_false(delta_is_empty(&(struct delta){.worker_count = 1}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_outcomes_read_back),
        cmocka_unit_test(names_of_streams_read_back),
        cmocka_unit_test(a_delta_without_records_is_empty_whatever_its_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
