#include "job/dependency.h"

#include "base/test/test.h"

TEST(only_what_ended_as_wanted_is_met)
{
    static const struct {
        enum dependency_type type;
        enum job_state ended;
        enum dependency_state state;
    } cases[] = {
        {DEPENDS_SUCCESS, JOB_COMPLETED, DEPENDENCY_MET},
        {DEPENDS_SUCCESS, JOB_FAILED, DEPENDENCY_IMPOSSIBLE},
        {DEPENDS_SUCCESS, JOB_CANCELLED, DEPENDENCY_IMPOSSIBLE},
        {DEPENDS_FAILURE, JOB_COMPLETED, DEPENDENCY_IMPOSSIBLE},
        {DEPENDS_FAILURE, JOB_FAILED, DEPENDENCY_MET},
        {DEPENDS_FAILURE, JOB_CANCELLED, DEPENDENCY_IMPOSSIBLE},
        {DEPENDS_COMPLETION, JOB_COMPLETED, DEPENDENCY_MET},
        {DEPENDS_COMPLETION, JOB_FAILED, DEPENDENCY_MET},
        {DEPENDS_COMPLETION, JOB_CANCELLED, DEPENDENCY_MET},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(dependency_after(cases[i].type, cases[i].ended), cases[i].state);
}

TEST(the_words_of_types_are_read_back)
{
    const struct words *words = &dependency_type_words;
    unsigned type = DEPENDS_SUCCESS;
    for (int i = DEPENDS_SUCCESS; i < DEPENDS_TYPES; i++) {
        assert_true(words_parse(words, dependency_type_name((enum dependency_type)i), &type));
        assert_int_equal(type, i);
    }
    assert_false(words_parse(words, STR("done"), &type));
    assert_false(words_parse(words, STR(""), &type));
    assert_true(str_eq(dependency_state_name(DEPENDENCY_MOOT), STR("moot")));
}
