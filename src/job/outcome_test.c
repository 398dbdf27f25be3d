#include "job/outcome.h"

#include "base/test/test.h"

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
