#include "wire/message/team_json.h"

#include "base/test/test.h"

static enum rc parse(const char *text, struct arena *arena, struct team_wish *ret_wish,
                     struct field_errors *errors)
{
    struct json doc;
    *errors = (struct field_errors){0};
    assert_int_equal(json_parse(str_c(text), arena, &doc, NULL), RC_OK);
    return team_limit_parse(&doc, arena, ret_wish, errors);
}

TEST(a_team_is_printed_with_its_limit_and_whose_it_was)
{
    char bytes[512];
    struct buf out = {.ptr = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    struct json_writer w = JSON_WRITER(&out);
    team_view_print(&w, &(struct team_view){
                            .team = {STR("data"), 3, 1767225600000, STR("key:admin")},
                            .running = 2,
                        });
    buf_add_char(&out, '\0');
    assert_string_equal(bytes, "{\"name\":\"data\",\"running\":2,\"concurrency\":3,"
                               "\"changed_at\":\"2026-01-01T00:00:00.000Z\","
                               "\"changed_by\":\"key:admin\"}");
}

TEST(a_limit_is_a_number_or_null)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct field_errors errors;
    struct team_wish wish = {0};
    assert_int_equal(parse("{\"concurrency\":7}", &arena, &wish, &errors), RC_OK);
    assert_true(wish.set_concurrency);
    assert_int_equal(wish.concurrency, 7);
    assert_int_equal(parse("{\"concurrency\":null}", &arena, &wish, &errors), RC_OK);
    assert_int_equal(wish.concurrency, 0);
    static const char *const bad[] = {"{}", "{\"concurrency\":0}", "{\"concurrency\":\"x\"}",
                                      "{\"concurrency\":1,\"x\":2}"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(parse(bad[i], &arena, &wish, &errors), RC_INVALID);
}

TEST(a_name_that_no_job_could_have_is_refused)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct field_errors errors = {0};
    assert_int_equal(team_name_check(STR("data"), &arena, &errors), RC_OK);
    assert_int_equal(team_name_check(STR(""), &arena, &errors), RC_INVALID);
    assert_int_equal(team_name_check(STR("two words"), &arena, &errors), RC_INVALID);
    assert_int_equal(errors.count, 2);
}
