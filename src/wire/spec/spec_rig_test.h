/* spec_rig_test.h - for tests: job documents, and what is wrong with them. */
#pragma once
#include "base/test/test.h"
#include "wire/spec/spec_json.h"

#include <string.h>

#define NOW_MS INT64_C(1794816000000) /* 2026-11-16T08:00:00Z */

static struct arena arena; /* of whatever was read */

/* cmocka's teardown of a group. */
static inline int release(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static inline struct spec spec_of(const char *text)
{
    struct spec spec;
    struct err err;
    if (spec_read(str_c(text), &arena, &spec, &err))
        fail_msg("%s: %s", text, err.text);
    return spec;
}

static inline struct field_errors errors_of(struct str text)
{
    struct json doc;
    struct spec spec;
    struct field_errors errors = {0};
    assert_int_equal(json_parse(text, &arena, &doc, NULL), RC_OK);
    assert_int_equal(spec_parse(&doc, &arena, &spec, &errors), RC_INVALID);
    return errors;
}

/* The document has one problem: this one. */
static inline void assert_problem(const char *text, const char *field, const char *message)
{
    struct field_errors errors = errors_of(str_c(text));
    assert_string_equal(errors.items[0].field.ptr, field);
    assert_string_equal(errors.items[0].message.ptr, message);
    assert_int_equal(errors.count, 1);
}

/* A job with this member beside its command has one problem. */
#define assert_member_problem(member, field, message)                                              \
    assert_problem("{\"command\": [\"true\"], " member "}", field, message)
