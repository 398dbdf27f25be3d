#include "base/mem.h"

#include "base/test/test.h"
#include "wire/json/json.h"
#include "wire/json/json_scan.h"

#include <stdlib.h>
#include <string.h>

static struct rng rng;
static struct arena arena;

static struct str nested(size_t depth)
{
    char *text = arena_bytes(&arena, 2 * depth);
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    return str_of(text, 2 * depth);
}

static struct json read_by(const struct json_rules *rules, struct str text)
{
    struct json doc;
    struct err err;
    if (json_parse_by(rules, text, &arena, &doc, &err))
        fail_msg("%.*s: %s", STR_ARG(str_head(text, 100)), err.text);
    return doc;
}

/* ---- the scanner */

TEST(what_is_json_is_accepted)
{
    static const char *const texts[] = {
        "null",
        " true ",
        "-0.5e+7",
        "\"\\ud83d\\ude00 \\\\ \\n\"",
        "[]",
        "{}",
        "[[],{},[{}]]",
        " { \"a\" : [ 1 , { \"b\" : null } ] , \"c\" : \"]\" } ",
        "18446744073709551616",
        "[1e999, -1e-999, 123456789012345678901234567890]",
        "{\"a\":1,\"a\":2}",
    };
    struct err err;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_int_equal(json_check(str_c(texts[i]), JSON_DEPTH_MAX, &err), RC_OK);
}

TEST(what_is_not_json_is_refused_where_it_breaks)
{
    static const struct {
        const char *text;
        const char *why;
    } cases[] = {
        {"", "line 1, column 1: the text ends early: expected a value"},
        {"[1,]", "line 1, column 4: expected a value"},
        {"[1}", "line 1, column 3: expected ',' or ']'"},
        {"{\"a\":[1}}", "line 1, column 8: expected ',' or ']'"},
        {"{\"a\":1]", "line 1, column 7: expected ',' or '}'"},
        {"{\"a\"}", "line 1, column 5: expected ':'"},
        {"{\"a\":1,}", "line 1, column 8: expected a key in quotes"},
        {"{1:1}", "line 1, column 2: expected a key in quotes"},
        {"[\n[", "line 2, column 2: the text ends early: expected a value"},
        {"01", "line 1, column 1: a number has a leading zero"},
        {"[1.]", "line 1, column 4: a number lacks a digit here"},
        {"1e", "line 1, column 3: the text ends early: a number lacks a digit here"},
        {"nul", "line 1, column 1: expected a value"},
        {"\"\\u0000\"", "line 1, column 2: this escape stands for no character"},
        {"{\"\\ud800\":1}", "line 1, column 3: this escape stands for no character"},
        {"\"a\\x\"", "line 1, column 3: this escape stands for no character"},
        {"\"\xff\"", "line 1, column 2: this is not UTF-8"},
        {"\"\x01\"", "line 1, column 2: a control character in a string must be escaped"},
        {"\"a", "line 1, column 3: the text ends early: a string has no closing quote"},
        {"1 2", "line 1, column 3: something stands behind the value"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct err err = {0};
        assert_int_equal(json_check(str_c(cases[i].text), JSON_DEPTH_MAX, &err), RC_INVALID);
        assert_string_equal(err.text, cases[i].why);
    }
}

TEST(depth_counts_open_brackets)
{
    struct err err;
    assert_int_equal(json_check(nested(64), 64, &err), RC_OK);
    assert_int_equal(json_check(nested(65), 64, &err), RC_INVALID);
    assert_string_equal(err.text, "line 1, column 65: nested too deeply");
    assert_int_equal(json_check(nested(1000000), JSON_ANY_DEPTH, &err), RC_OK);
}

/* Kinds of brackets are remembered beyond the bits that need no memory of their own. */
TEST(brackets_match_at_every_depth)
{
    enum { DEPTH = 1000 };
    for (int round = 0; round < 50; round++) {
        struct buf out = BUF(1 << 20);
        char close[DEPTH];
        for (size_t i = 0; i < DEPTH; i++) {
            bool object = rng_below(&rng, 2);
            buf_add(&out, object ? STR("{\"k\":") : STR("[0,"));
            close[DEPTH - 1 - i] = object ? '}' : ']';
        }
        buf_add(&out, STR("1"));
        size_t at = out.len + rng_below(&rng, DEPTH);
        buf_add(&out, str_of(close, DEPTH));
        assert_int_equal(json_check(buf_str(&out), JSON_ANY_DEPTH, NULL), RC_OK);
        out.ptr[at] = out.ptr[at] == '}' ? ']' : '}';
        assert_int_equal(json_check(buf_str(&out), JSON_ANY_DEPTH, NULL), RC_INVALID);
        buf_free(&out);
    }
}

TEST(every_prefix_is_refused)
{
    struct str text =
        STR("{\"a\":[1.5e3,true,null,\"\\u00e9\\n\xc3\xa9\",{}],\"b\":{\"c\":[[-1]]}}");
    for (size_t len = 0; len < text.len; len++) {
        char *copy = mem_resize(NULL, len); /* its own memory: reading beyond is noticed */
        memcpy(copy, text.ptr, len);
        assert_int_equal(json_check(str_of(copy, len), JSON_ANY_DEPTH, NULL), RC_INVALID);
        free(copy);
    }
    assert_int_equal(json_check(text, JSON_ANY_DEPTH, NULL), RC_OK);
}

/* ---- spans in a document */

TEST(a_span_keeps_its_text)
{
    struct json doc = read_by(&json_from_user, STR("{\"payload\": {\"a\" : 1e999, \"a\":[2]} , "
                                                   "\"result\": 18446744073709551616, \"n\": 1}"));
    const struct json *payload = json_get(&doc, STR("payload"));
    const struct json *result = json_get(&doc, STR("result"));
    assert_int_equal(payload->kind, JSON_SPAN);
    assert_true(str_eq(payload->raw, STR("{\"a\" : 1e999, \"a\":[2]}")));
    assert_string_equal(json_value_name(payload), "an object");
    assert_int_equal(result->kind, JSON_SPAN);
    assert_true(str_eq(result->raw, STR("18446744073709551616")));
    assert_string_equal(json_value_name(result), "a number");
    assert_int_equal(json_get(&doc, STR("n"))->integer, 1);
}

TEST(words_and_texts_are_no_spans)
{
    struct json doc = read_by(
        &json_from_user, STR("{\"payload\":null,\"env\":{\"result\":\"a\\n\",\"payload\":true}}"));
    const struct json *env = json_get(&doc, STR("env"));
    assert_int_equal(json_get(&doc, STR("payload"))->kind, JSON_NULL);
    assert_true(str_eq(json_get(env, STR("result"))->string, STR("a\n")));
    assert_int_equal(json_get(env, STR("payload"))->kind, JSON_BOOL);
}

TEST(the_document_around_a_span_is_read_as_ever)
{
    static const char *const texts[] = {"{\"payload\":{},\"payload\":{}}",
                                        "{\"payload\":[1}",
                                        "{\"payload\":[\"\\u0000\"]}",
                                        "{\"payload\":{} \"a\":1}",
                                        "{\"payload\":{}",
                                        "{\"payload\":}",
                                        "{\"other\":1e999}",
                                        "{\"payload\":-}",
                                        "{\"payload\"",
                                        "{\"other\":{\"a\":1,\"a\":1}}",
                                        "{\"payload\":[1,]}"};
    struct json doc;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_int_equal(json_parse_by(&json_from_user, str_c(texts[i]), &arena, &doc, NULL),
                         RC_INVALID);
}

static struct str enveloped(struct str payload)
{
    return arena_printf(&arena, "{\"a\":[{\"b\":{\"payload\":%.*s}}]}", STR_ARG(payload));
}

TEST(a_span_costs_the_document_no_depth)
{
    struct json doc;
    struct err err;
    struct str deep = enveloped(nested(JSON_DEPTH_MAX + 1));
    read_by(&json_from_user, enveloped(nested(JSON_DEPTH_MAX)));
    assert_int_equal(json_parse_by(&json_from_user, deep, &arena, &doc, &err), RC_INVALID);
    assert_non_null(strstr(err.text, "nested too deeply"));
    read_by(&json_from_server, deep);
}

TEST(a_span_costs_the_document_no_values)
{
    enum { COUNT = JSON_VALUES_MAX / 2 };
    char *numbers = arena_bytes(&arena, 2 * COUNT + 1);
    for (size_t i = 0; i < COUNT; i++)
        memcpy(numbers + 2 * i, i == 0 ? "[1" : ",1", 2);
    numbers[2 * (size_t)COUNT] = ']';
    struct str span = str_of(numbers, 2 * (size_t)COUNT + 1);
    struct str text =
        arena_printf(&arena, "[{\"payload\":%.*s},{\"payload\":%.*s},{\"payload\":%.*s}]",
                     STR_ARG(span), STR_ARG(span), STR_ARG(span));
    struct json doc = read_by(&json_from_user, text);
    assert_int_equal(doc.count, 3);
    assert_true(str_eq(json_get(&doc.items[2], STR("payload"))->raw, span));
}

TEST(any_number_may_be_asked_for)
{
    static const struct json_rules rules = {.any_number = true};
    struct json doc = read_by(&rules, STR("[1, 1.5, 1e999, 18446744073709551616]"));
    assert_int_equal(doc.items[0].kind, JSON_INT);
    assert_int_equal(doc.items[1].kind, JSON_DOUBLE);
    assert_true(str_eq(doc.items[2].raw, STR("1e999")));
    assert_int_equal(doc.items[2].kind, JSON_SPAN);
    assert_int_equal(doc.items[3].kind, JSON_SPAN);
}

static int free_arena(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    rng = test_rng();
    return 0;
}

TEST_GROUP(begin, free_arena)
