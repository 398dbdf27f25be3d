#include "job/job_env.h"

#include "base/test/test.h"

#include <stdint.h>

static bool allows(const char *name, const char *list)
{
    struct str lists[] = {STR("OTHER"), str_c(list)};
    return job_env_allows(str_c(name), lists, COUNT_OF(lists));
}

TEST(what_every_program_expects_is_allowed)
{
    static const char *const names[] = {"PATH",    "HOME", "USER",   "LANG", "LC_ALL",
                                        "LC_TIME", "TZ",   "TMPDIR", "OTHER"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_true(allows(names[i], ""));
}

TEST(secrets_are_not)
{
    static const char *const names[] = {"PGPASSWORD",     "AWS_SECRET_ACCESS_KEY", "PATHS", "LC",
                                        "BELFRY_TOKEN",   "BELFRY_STORE",          "TZDIR", "",
                                        "LD_LIBRARY_PATH"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_false(allows(names[i], ""));
}

TEST(an_operator_names_more)
{
    assert_true(allows("JAVA_HOME", "GOPATH, JAVA_HOME"));
    assert_true(allows("GOPATH", "GOPATH, JAVA_HOME"));
    assert_false(allows("JAVA_HOMES", "GOPATH,JAVA_HOME"));
    assert_true(allows("AWS_REGION", "AWS_*"));
    assert_false(allows("AWS", "AWS_*"));
    assert_true(allows("ANYTHING", "*"));
    assert_false(allows("BELFRY_TOKEN", "*"));
    assert_false(allows("BELFRY_TOKEN", "BELFRY_TOKEN"));
}

TEST(lists_that_make_no_sense_are_refused)
{
    struct err err;
    static const char *const good[] = {"", "A", "A,B_2", "A, B", "AWS_*", "*"};
    static const char *const bad[] = {",A", "A,,B", "A=1", "A B", "2A", "*A", "A-B", " "};
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_int_equal(job_env_check(str_c(good[i]), &err), RC_OK);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(job_env_check(str_c(bad[i]), &err), RC_INVALID);
}
