#include "wire/json/json_tree.h"

#include "base/test/test.h"

static struct json parse(struct arena *arena, const char *text)
{
    struct json value;
    assert_int_equal(json_parse(str_c(text), arena, &value, NULL), RC_OK);
    return value;
}

/* The examples in the appendix of RFC 7386. */
TEST(a_merge_patch_makes_of_a_document_what_the_rfc_says)
{
    static const struct {
        const char *target;
        const char *patch;
        const char *result;
    } cases[] = {
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
        {"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
        {"{\"a\":\"foo\"}", "null", "null"},
        {"{\"a\":\"foo\"}", "\"bar\"", "\"bar\""},
        {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
        {"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
        {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        CLEANUP(buf_free) struct buf out = BUF(4096);
        struct json_writer w = JSON_WRITER(&out);
        struct json target = parse(&arena, cases[i].target);
        struct json patch = parse(&arena, cases[i].patch);
        json_merge(&w, &target, &patch, &arena);
        assert_true(str_eq(buf_str(&out), str_c(cases[i].result)));
    }
}

TEST(documents_are_the_same_however_they_are_written)
{
    static const struct {
        const char *a;
        const char *b;
        bool same;
    } cases[] = {
        {"{\"a\":1,\"b\":[true,null]}", " { \"b\" : [ true , null ] , \"a\" : 1.0 } ", true},
        {"\"\\u0041\\/\"", "\"A/\"", true},
        {"1e3", "1000", true},
        {"9007199254740993", "9007199254740992", false},
        {"9007199254740993.0", "9007199254740992.0", false},
        {"9007199254740993", "9007199254740992.0", false},
        {"0.1", "0.1000000000000000055", false},
        {"1e-400", "2e-400", false},
        {"0.0", "0e5", true},
        {"0.250", "25e-2", true},
        {"[1,2]", "[2,1]", false},
        {"{\"a\":1}", "{\"b\":1}", false},
        {"{\"a\":1}", "{\"a\":1,\"b\":1}", false},
        {"{\"a\":{\"b\":{\"c\":[1]}}}", "{\"a\":{\"b\":{\"c\":[2]}}}", false},
        {"null", "false", false},
        {"\"1\"", "1", false},
        {"{}", "[]", false},
        {"0.5", "0.25", false},
        {"true", "false", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct json a = parse(&arena, cases[i].a);
        struct json b = parse(&arena, cases[i].b);
        assert_int_equal(json_same(&a, &b, &arena), cases[i].same);
        assert_int_equal(json_same(&b, &a, &arena), cases[i].same);
        assert_true(json_same(&a, &a, &arena));
    }
}
