#include "job/job_env.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool allows(const char *name, const char *list)
{
    struct str lists[] = {STR("OTHER"), str_c(list)};
    return job_env_allows(str_c(name), lists, COUNT_OF(lists));
}

static void what_every_program_expects_is_allowed(void **state)
{
    (void)state;
    static const char *const names[] = {"PATH",    "HOME", "USER",   "LANG", "LC_ALL",
                                        "LC_TIME", "TZ",   "TMPDIR", "OTHER"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_true(allows(names[i], ""));
}

static void secrets_are_not(void **state)
{
    (void)state;
    static const char *const names[] = {"PGPASSWORD",     "AWS_SECRET_ACCESS_KEY", "PATHS", "LC",
                                        "BELFRY_TOKEN",   "BELFRY_STORE",          "TZDIR", "",
                                        "LD_LIBRARY_PATH"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_false(allows(names[i], ""));
}

static void an_operator_names_more(void **state)
{
    (void)state;
    assert_true(allows("JAVA_HOME", "GOPATH, JAVA_HOME"));
    assert_true(allows("GOPATH", "GOPATH, JAVA_HOME"));
    assert_false(allows("JAVA_HOMES", "GOPATH,JAVA_HOME"));
    assert_true(allows("AWS_REGION", "AWS_*"));
    assert_false(allows("AWS", "AWS_*"));
    assert_true(allows("ANYTHING", "*"));
    assert_false(allows("BELFRY_TOKEN", "*"));
    assert_false(allows("BELFRY_TOKEN", "BELFRY_TOKEN"));
}

static void lists_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    struct err err;
    static const char *const good[] = {"", "A", "A,B_2", "A, B", "AWS_*", "*"};
    static const char *const bad[] = {",A", "A,,B", "A=1", "A B", "2A", "*A", "A-B", " "};
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_int_equal(job_env_check(str_c(good[i]), &err), RC_OK);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(job_env_check(str_c(bad[i]), &err), RC_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_every_program_expects_is_allowed),
        cmocka_unit_test(secrets_are_not),
        cmocka_unit_test(an_operator_names_more),
        cmocka_unit_test(lists_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
