#include "wire/spec/spec_rig_test.h"

TEST(jobs_to_wait_for_are_named_by_id_number_or_name)
{
    struct spec spec = spec_of("{\"command\": \"x\", \"depends_on\": ["
                               "{\"job\": \"job_0000000000007\"},"
                               "{\"job\": \"#2\", \"type\": \"failure\"},"
                               "{\"type\": \"completion\", \"job\": \"name:load:1\"},"
                               "{\"job\": \"load: 1\"}, {\"job\": \"name:job_0000000000007\"}]}");
    assert_int_equal(spec.depends_count, 5);
    assert_int_equal(spec.depends_on[0].job_id, 7);
    assert_int_equal(spec.depends_on[0].type, DEPENDS_SUCCESS);
    assert_int_equal(spec.depends_on[1].job_id, 0);
    assert_int_equal(spec.depends_on[1].number, 2);
    assert_int_equal(spec.depends_on[1].type, DEPENDS_FAILURE);
    assert_int_equal(spec.depends_on[1].name.len, 0);
    assert_true(str_eq(spec.depends_on[2].name, STR("load:1")));
    assert_int_equal(spec.depends_on[2].type, DEPENDS_COMPLETION);
    assert_true(str_eq(spec.depends_on[3].name, STR("load: 1")));
    assert_int_equal(spec.depends_on[4].job_id, 0);
    assert_true(str_eq(spec.depends_on[4].name, STR("job_0000000000007")));
}

TEST(dependencies_that_make_no_sense_are_refused)
{
    static const char *const jobs[] = {
        "#", "#x", "#-1", "name:", "exec_0000000000007", "#99999999999999999999"};
    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        struct str text = arena_printf(
            &arena, "{\"command\": \"x\", \"depends_on\": [{\"job\": \"%s\"}]}", jobs[i]);
        assert_problem(text.ptr, "depends_on[0].job",
                       "must be the id or the name of a job, or of the same batch #2 (the third)");
    }
    assert_member_problem("\"depends_on\": [{}]", "depends_on[0].job", "is required");
    assert_member_problem("\"depends_on\": [{\"job\": \"#0\", \"type\": \"done\"}]",
                          "depends_on[0].type", "must be one of success, failure and completion");
}

TEST(one_dependency_too_many_is_refused)
{
    CLEANUP(buf_free) struct buf text = BUF(1 << 20);
    buf_add(&text, STR("{\"command\": \"x\", \"depends_on\": ["));
    for (int i = 0; i <= SPEC_DEPENDS_MAX; i++)
        buf_printf(&text, "%s{\"job\": \"#%d\"}", i > 0 ? "," : "", i);
    buf_add(&text, STR("]}"));
    struct field_errors errors = errors_of(buf_str(&text));
    assert_string_equal(errors.items[0].field.ptr, "depends_on");
    assert_non_null(strstr(errors.items[0].message.ptr, "10000"));
}

TEST_GROUP(NULL, release)
