#include "wire/spec/spec_rig_test.h"

static void assert_value(enum job_field_id id, const char *text, const char *value)
{
    struct field_errors errors = {0};
    struct str got = spec_filter_value(id, str_c(text), &arena, &errors);
    assert_int_equal(errors.count, 0);
    if (!str_eq(got, str_c(value)))
        fail_msg("%s is %.*s, not %s", text, STR_ARG(got), value);
}

static void assert_refused(enum job_field_id id, const char *text, const char *message)
{
    struct field_errors errors = {0};
    spec_filter_value(id, str_c(text), &arena, &errors);
    assert_int_equal(errors.count, 1);
    assert_true(str_eq(errors.items[0].field, job_fields[id].key));
    assert_string_equal(errors.items[0].message.ptr, message);
}

TEST(a_parameter_becomes_the_text_that_documents_have)
{
    assert_value(JOB_FIELD_description, "say \"hi\"", "\"say \\\"hi\\\"\"");
    assert_value(JOB_FIELD_timeout, "90s", "\"1m30s\"");
    assert_value(JOB_FIELD_priority, "7", "7");
    assert_value(JOB_FIELD_overlap, "queue", "\"queue\"");
    assert_value(JOB_FIELD_stagger, "60s", "\"1m\"");
}

TEST(the_value_of_jobs_without_the_field_is_null)
{
    assert_value(JOB_FIELD_stagger, "0s", "null");
    assert_value(JOB_FIELD_description, "", "null");
}

TEST(what_is_no_value_of_the_field_is_refused_as_in_a_document)
{
    assert_refused(JOB_FIELD_timeout, "soon",
                   "must be a duration with a unit as in 90s, 15m, 1h30m or 2d");
    assert_refused(JOB_FIELD_priority, "1001", "must be between 0 and 1000");
    assert_refused(JOB_FIELD_priority, "high", "must be a whole number");
    assert_refused(JOB_FIELD_overlap, "never", "must be one of skip, queue, parallel and replace");
}

TEST_GROUP(NULL, release)
