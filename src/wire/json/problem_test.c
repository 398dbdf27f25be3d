#include "wire/json/problem.h"

#include "base/test/test.h"

#include <string.h>

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

TEST(every_code_has_its_status)
{
    static const struct {
        enum rc rc;
        int status;
        const char *code;
    } expected[] = {
        {RC_INVALID, 400, "invalid"},
        {RC_TOO_LARGE, 413, "too_large"},
        {RC_NOT_FOUND, 404, "not_found"},
        {RC_CONFLICT, 409, "conflict"},
        {RC_STALE, 409, "stale"},
        {RC_DENIED, 403, "denied"},
        {RC_BUSY, 503, "busy"},
        {RC_FULL, 507, "full"},
        {RC_UNSUPPORTED, 400, "invalid"},
        {RC_TIMEOUT, 504, "timeout"},
        {RC_UNREACHABLE, 500, "internal"},
        {RC_IO, 500, "internal"},
        {RC_CORRUPT, 500, "internal"},
        {RC_DEPOSED, 503, "busy"},
        {RC_UNKNOWN, 500, "internal"},
        {RC_SHUTDOWN, 503, "busy"},
        {RC_PENDING, 409, "in_progress"},
        {RC_STOPPING, 409, "stopping"},
        {RC_LIMITED, 409, "limit_reached"},
        {RC_REUSED, 422, "unprocessable"},
    };
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(problem_status(expected[i].rc), expected[i].status);
        assert_string_equal(problem_code(expected[i].rc), expected[i].code);
    }
}

TEST(a_status_has_a_title_and_a_usual_code)
{
    assert_string_equal(problem_title(404), "Not Found");
    assert_string_equal(problem_word(405), "method_not_allowed");
    assert_string_equal(problem_title(999), "Internal Server Error");
}

TEST(a_problem_is_printed_as_the_protocol_says)
{
    CLEANUP(buf_free) struct buf out = BUF(1000);
    struct field_errors errors = {0};
    field_error(&errors, &arena, STR("priority"), "must be between %d and %d", 0, 1000);
    problem_print(&out, 400, "invalid", field_errors_text(&errors, &arena), STR("01k5d2vhc0a00"),
                  &errors);
    assert_true(str_eq(
        buf_str(&out),
        STR("{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
            "\"code\":\"invalid\",\"detail\":\"priority must be between 0 and 1000\","
            "\"request_id\":\"01k5d2vhc0a00\","
            "\"errors\":[{\"field\":\"priority\",\"message\":\"must be between 0 and 1000\"}]}")));
}

TEST(what_is_not_there_is_left_out)
{
    CLEANUP(buf_free) struct buf out = BUF(1000);
    problem_print(&out, 404, NULL, STR("no such job"), STR(""), NULL);
    assert_true(str_eq(buf_str(&out),
                       STR("{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,"
                           "\"code\":\"not_found\",\"detail\":\"no such job\"}")));
}

TEST(only_so_many_field_errors_are_kept)
{
    struct field_errors errors = {0};
    for (int i = 0; i < 5000; i++)
        field_error(&errors, &arena, STR("a"), "%d", i);
    assert_int_equal(errors.count, FIELD_ERRORS_MAX);
}

TEST(a_very_long_field_name_is_cut)
{
    struct field_errors errors = {0};
    char name[5000];
    memset(name, 'x', sizeof name);
    field_error(&errors, &arena, str_of(name, sizeof name), "unknown field");
    assert_true(errors.items[0].field.len < 200);
}

TEST(one_sentence_speaks_of_all_fields)
{
    struct field_errors errors = {0};
    assert_int_equal(field_errors_text(&errors, &arena).len, 0);
    field_error(&errors, &arena, STR("colour"), "unknown field");
    assert_true(str_eq(field_errors_text(&errors, &arena), STR("colour: unknown field")));
    field_error(&errors, &arena, STR("b"), "must be a string");
    field_error(&errors, &arena, STR("c"), "must be a string");
    assert_true(
        str_eq(field_errors_text(&errors, &arena), STR("colour: unknown field (and 2 more)")));
}

TEST(every_error_is_answered_by_one_problem)
{
    for (int rc = RC_OK + 1; rc <= RC_SHUTDOWN; rc++) {
        int found = 0;
        for (size_t i = 0; i < problem_kind_count; i++)
            found += (problem_kinds[i].rcs >> rc) & 1;
        if (found != 1)
            fail_msg("%s is in %d rows of the table of problems", rc_name((enum rc)rc), found);
    }
}

TEST_GROUP(NULL, release)
