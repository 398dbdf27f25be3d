#include "base/mem.h"

#include "base/test/test.h"
#include "wire/json/json.h"

#include <stdlib.h>
#include <string.h>

static struct rng rng;

/* One arena for all tests; freed at the end. */
static struct arena arena;

static struct json parsed(struct str text)
{
    struct json value;
    struct err err;
    if (json_parse(text, &arena, &value, &err))
        fail_msg("%.*s: %s", STR_ARG(text), err.text);
    return value;
}

static void assert_refused(struct str text, const char *why)
{
    struct json value;
    struct err err = {0};
    assert_int_equal(json_parse(text, &arena, &value, &err), RC_INVALID);
    assert_string_equal(err.text, why);
}

TEST(every_kind_of_value_is_read)
{
    struct json v = parsed(STR(" [null, true, false, 7, 0.5, \"x\", [], {}] "));
    static const enum json_kind kinds[] = {JSON_NULL,   JSON_BOOL,   JSON_BOOL,  JSON_INT,
                                           JSON_DOUBLE, JSON_STRING, JSON_ARRAY, JSON_OBJECT};
    assert_int_equal(v.kind, JSON_ARRAY);
    assert_int_equal(v.count, COUNT_OF(kinds));
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        assert_int_equal(v.items[i].kind, kinds[i]);
    assert_true(v.items[1].boolean && !v.items[2].boolean);
    assert_int_equal(v.items[3].integer, 7);
    assert_true(v.items[4].number == 0.5);
    assert_true(str_eq(v.items[5].string, STR("x")));
}

TEST(members_are_found_by_their_keys)
{
    struct json v = parsed(STR("{\"a\": 1, \"b\\u0063\": {\"d\": 2}}"));
    assert_int_equal(json_get(&v, STR("a"))->integer, 1);
    assert_int_equal(json_get(json_get(&v, STR("bc")), STR("d"))->integer, 2);
    assert_null(json_get(&v, STR("d")));
    assert_null(json_get(NULL, STR("a")));
    assert_null(json_get(json_get(&v, STR("a")), STR("a")));
}

TEST(a_value_knows_its_own_text)
{
    struct json v = parsed(STR(" { \"a\" : [1,  2] , \"b\":\"\\n\"}\n"));
    assert_true(str_eq(v.raw, STR("{ \"a\" : [1,  2] , \"b\":\"\\n\"}")));
    assert_true(str_eq(json_get(&v, STR("a"))->raw, STR("[1,  2]")));
    assert_true(str_eq(json_get(&v, STR("b"))->raw, STR("\"\\n\"")));
}

TEST(escapes_stand_for_their_characters)
{
    struct json v =
        parsed(STR("\"\\\"\\\\\\/\\b\\f\\n\\r\\t \\u0041\\u00e4\\u20ac\\ud83d\\udd14!\""));
    assert_true(str_eq(v.string, STR("\"\\/\b\f\n\r\t A\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\x94!")));
}

TEST(a_text_without_escapes_is_not_copied)
{
    struct str text = STR("\"plain \xe2\x82\xac text that is longer than a word\"");
    assert_ptr_equal(parsed(text).string.ptr, text.ptr + 1);
}

TEST(integers_are_exact)
{
    struct json v =
        parsed(STR("[9223372036854775807, -9223372036854775808, -0, 9007199254740993]"));
    assert_true(v.items[0].integer == INT64_MAX);
    assert_true(v.items[1].integer == INT64_MIN);
    assert_true(v.items[2].integer == 0);
    assert_true(v.items[3].integer == INT64_C(9007199254740993)); /* not a double */
}

TEST(numbers_with_a_point_or_an_exponent_are_doubles)
{
    struct json v = parsed(STR("[1.0, 1e2, -2.5E-3, 0e0, 5e-324, 1.7976931348623157e308, 1e-999]"));
    static const double expected[] = {1.0, 100.0, -0.0025, 0.0, 5e-324, 1.7976931348623157e308, 0};
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(v.items[i].kind, JSON_DOUBLE);
        assert_true(v.items[i].number == expected[i]);
    }
}

TEST(numbers_out_of_range_are_refused)
{
    assert_refused(STR("9223372036854775808"), "line 1, column 1: number out of range");
    assert_refused(STR("[-9223372036854775809]"), "line 1, column 2: number out of range");
    assert_refused(STR("1e309"), "line 1, column 1: number out of range");
}

TEST(malformed_numbers_are_refused)
{
    static const char *const bad[] = {"01", "-",    "-a",  "1.",  ".5",        "1.e5", "1e", "1e+",
                                      "+1", "0x10", "1_0", "NaN", "-Infinity", "- 1",  "00"};
    struct json value;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(json_parse(str_c(bad[i]), &arena, &value, NULL), RC_INVALID);
}

TEST(malformed_texts_are_refused)
{
    assert_refused(STR("\"a\nb\""),
                   "line 1, column 3: a control character in a string must be escaped");
    assert_refused(STR("\"a\x80\""), "line 1, column 3: this is not UTF-8");
    assert_refused(STR("\"\xc3"), "line 1, column 2: this is not UTF-8");
    assert_refused(STR("\"\xed\xa0\x80\""), "line 1, column 2: this is not UTF-8");
    assert_refused(STR("\"abc"),
                   "line 1, column 5: the text ends early: a string has no closing quote");
    assert_refused(STR("\"abc\\"),
                   "line 1, column 6: the text ends early: a string has no closing quote");
}

TEST(escapes_that_stand_for_nothing_are_refused)
{
    static const char *const bad[] = {
        "\"\\x\"",
        "\"\\u0000\"",
        "\"\\u12\"",
        "\"\\u123g\"",
        "\"\\ud83d\"",
        "\"\\ud83d\\n\"",
        "\"\\ud83d\\u0041\"",
        "\"\\udd14\"",
        "\"\\udd14\\ud83d\"",
        "\"\\ud83d\\ud83d\"",
        "\"\\U0041\"",
        "\"\\ud83d\\udd1\"",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_refused(str_c(bad[i]), "line 1, column 2: this escape stands for no character");
}

TEST(malformed_structure_is_refused_where_it_breaks)
{
    assert_refused(STR(""), "line 1, column 1: the text ends early: expected a value");
    assert_refused(STR("[1,]"), "line 1, column 4: expected a value");
    assert_refused(STR("[1 2]"), "line 1, column 4: expected ',' or ']'");
    assert_refused(STR("{\"a\":1,}"), "line 1, column 8: expected a key in quotes");
    assert_refused(STR("{\"a\" 1}"), "line 1, column 6: expected ':'");
    assert_refused(STR("{a:1}"), "line 1, column 2: expected a key in quotes");
    assert_refused(STR("{\"a\":1"), "line 1, column 7: the text ends early: expected ',' or '}'");
    assert_refused(STR("nul"), "line 1, column 1: expected a value");
    assert_refused(STR("1 1"), "line 1, column 3: something stands behind the value");
    assert_refused(STR("truex"), "line 1, column 5: something stands behind the value");
    assert_refused(STR("[1]\0"), "line 1, column 4: something stands behind the value");
}

TEST(lines_and_columns_count_characters)
{
    assert_refused(STR("{\n  \"\xc3\xa4\xe2\x82\xac\": x}"), "line 2, column 9: expected a value");
}

TEST(duplicate_keys_are_refused)
{
    assert_refused(STR("{\"a\":1,\"b\":2,\"a\":3}"),
                   "line 1, column 18: a key stands here twice: a");
    assert_refused(STR("{\"a\":1,\"\\u0061\":3}"), "line 1, column 17: a key stands here twice: a");
    parsed(STR("[{\"a\":1},{\"a\":1}]"));
    parsed(STR("{\"a\":{\"a\":{\"a\":1}}}"));
}

/* {"k0":0,"k1":1,...}; the last key is that of member `twin`. */
static struct str large_object(size_t count, size_t twin)
{
    struct buf out = BUF(64 << 20);
    buf_add_char(&out, '{');
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "\"k%zu\":%zu,", i, i);
    buf_printf(&out, "\"k%zu\":0}", twin);
    struct str text = arena_str(&arena, buf_str(&out));
    buf_free(&out);
    return text;
}

TEST(duplicate_keys_are_found_among_very_many)
{
    struct json value;
    struct err err;
    struct str good = large_object(200000, 200000);
    struct str bad = large_object(200000, 77);
    assert_int_equal(parsed(good).count, 200001);
    assert_int_equal(json_parse(bad, &arena, &value, &err), RC_INVALID);
    assert_non_null(strstr(err.text, "a key stands here twice: k77"));
}

static struct str nested(size_t depth)
{
    char *text = arena_bytes(&arena, 2 * depth);
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    return str_of(text, 2 * depth);
}

TEST(depth_is_limited)
{
    parsed(nested(JSON_DEPTH_MAX));
    assert_refused(nested(JSON_DEPTH_MAX + 1), "line 1, column 65: nested too deeply");
    assert_refused(nested(1000000), "line 1, column 65: nested too deeply");
}

TEST(siblings_do_not_add_to_the_depth)
{
    struct buf out = BUF(1 << 20);
    buf_add_char(&out, '[');
    for (int i = 0; i < 1000; i++)
        buf_add(&out, STR("[[]],"));
    buf_add(&out, STR("{}]"));
    struct json value;
    assert_int_equal(json_parse(buf_str(&out), &arena, &value, NULL), RC_OK);
    assert_int_equal(value.count, 1001);
    buf_free(&out);
}

TEST(the_number_of_values_is_limited)
{
    size_t len = 2 * (size_t)JSON_VALUES_MAX + 1; /* with the array itself one too many */
    char *text = mem_new(len);
    for (size_t i = 0; i < len; i++)
        text[i] = i % 2 == 0 ? ',' : '1';
    text[0] = '[';
    text[len - 1] = ']';
    struct json value;
    struct arena big = {0};
    assert_int_equal(json_parse(str_of(text, len), &big, &value, NULL), RC_TOO_LARGE);
    arena_free(&big);
    free(text);
}

TEST(strings_of_every_length_are_scanned_right)
{
    static const char specials[] = {'"', '\\', '\x1f', '\x80'};
    char text[64];
    for (size_t len = 0; len < 40; len++) {
        for (size_t at = 0; at <= len; at++) {
            for (size_t k = 0; k < sizeof specials; k++) {
                memset(text, 'a' + (int)(at % 26), sizeof text);
                text[0] = '"';
                text[1 + at] = specials[k];
                text[2 + len] = '"';
                struct json value;
                enum rc rc = json_parse(str_of(text, at + 2), &arena, &value, NULL);
                assert_int_equal(rc, specials[k] == '"' ? RC_OK : RC_INVALID);
                if (rc == RC_OK)
                    assert_int_equal(value.string.len, at);
            }
        }
    }
}

/* ---- a random tree is written, read, and written again */

static void write_random(struct json_writer *w, int depth)
{
    char bytes[40];
    size_t len = rng_below(&rng, sizeof bytes);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(rng_below(&rng, 4) == 0 ? rng_below(&rng, 256) : 'a' + i % 26);
    switch (rng_below(&rng, depth > 5 ? 5 : 7)) {
    case 0: json_null(w); break;
    case 1: json_bool(w, rng_below(&rng, 2)); break;
    case 2: json_int(w, (int64_t)rng_next(&rng) >> rng_below(&rng, 64)); break;
    case 3:
        json_double(w, (double)(int64_t)rng_next(&rng) / (1 + (double)rng_below(&rng, 1000)));
        break;
    case 4: json_str(w, str_of(bytes, len)); break;
    case 5:
        json_open_array(w);
        for (size_t i = rng_below(&rng, 6); i > 0; i--)
            write_random(w, depth + 1);
        json_close_array(w);
        break;
    default:
        json_open(w);
        for (size_t i = rng_below(&rng, 6); i > 0; i--) {
            char key[] = {(char)('a' + i), '"', '\0'}; /* distinct, and in need of an escape */
            json_key_str(w, str_of(key, 2));
            write_random(w, depth + 1);
        }
        json_close(w);
    }
}

static void rewrite(struct json_writer *w, const struct json *v)
{
    switch (v->kind) {
    case JSON_SPAN: fail(); break;
    case JSON_NULL: json_null(w); break;
    case JSON_BOOL: json_bool(w, v->boolean); break;
    case JSON_INT: json_int(w, v->integer); break;
    case JSON_DOUBLE: json_double(w, v->number); break;
    case JSON_STRING: json_str(w, v->string); break;
    case JSON_ARRAY:
        json_open_array(w);
        for (uint32_t i = 0; i < v->count; i++)
            rewrite(w, &v->items[i]);
        json_close_array(w);
        break;
    case JSON_OBJECT:
        json_open(w);
        for (uint32_t i = 0; i < v->count; i++) {
            json_key_str(w, v->members[i].key);
            rewrite(w, &v->members[i].value);
        }
        json_close(w);
        break;
    }
}

TEST(what_is_written_reads_back_and_is_written_the_same)
{
    struct buf first = BUF(1 << 20);
    struct buf second = BUF(1 << 20);
    for (int i = 0; i < 3000; i++) {
        buf_clear(&first);
        buf_clear(&second);
        struct json_writer w = JSON_WRITER(&first);
        write_random(&w, 0);
        struct json value = parsed(buf_str(&first));
        struct json_writer again = JSON_WRITER(&second);
        rewrite(&again, &value);
        assert_true(str_eq(buf_str(&first), buf_str(&second)));
    }
    buf_free(&first);
    buf_free(&second);
}

TEST(every_prefix_of_a_document_is_refused)
{
    struct str text = STR("{\"a\": [1, -2.5e3, \"\\u20ac\\ud83d\\udd14\", true, null], \"b\": {}}");
    struct json value;
    for (size_t len = 0; len < text.len; len++) {
        char *copy = mem_resize(NULL, len); /* its own memory: reading beyond is noticed */
        memcpy(copy, text.ptr, len);
        assert_int_equal(json_parse(str_of(copy, len), &arena, &value, NULL), RC_INVALID);
        free(copy);
    }
    parsed(text);
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
