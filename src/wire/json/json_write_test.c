#include "wire/json/json.h"

#include "base/test/test.h"

static struct buf out = {.max = 10000};

static int clear(void **state)
{
    (void)state;
    buf_clear(&out);
    return 0;
}

static int release(void **state)
{
    (void)state;
    buf_free(&out);
    return 0;
}

#define assert_written(expected) assert_true(str_eq(buf_str(&out), STR(expected)))

TEST(commas_come_by_themselves, clear)
{
    struct json_writer w = JSON_WRITER(&out);
    json_open(&w);
    json_put_int(&w, "a", 1);
    json_key(&w, "b");
    json_open_array(&w);
    json_bool(&w, true);
    json_open(&w);
    json_close(&w);
    json_null(&w);
    json_close_array(&w);
    json_put_str(&w, "c", STR("x"));
    json_close(&w);
    assert_written("{\"a\":1,\"b\":[true,{},null],\"c\":\"x\"}");
}

TEST(special_characters_are_escaped, clear)
{
    struct json_writer w = JSON_WRITER(&out);
    json_str(&w, STR("\"\\\b\f\n\r\t\x01\x1f/\x7f \xe2\x82\xac"));
    assert_written("\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f/\x7f \xe2\x82\xac\"");
}

TEST(a_nul_is_replaced_since_no_reader_takes_it, clear)
{
    struct json_writer w = JSON_WRITER(&out);
    json_str(&w, STR("a\0b"));
    assert_written("\"a\xef\xbf\xbd"
                   "b\"");
}

TEST(every_bad_byte_becomes_a_replacement, clear)
{
    struct json_writer w = JSON_WRITER(&out);
    json_str(&w, STR("a\xff\xe2\x82z\xc0\xaf"));
    assert_written("\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(no_text_at_all_is_the_empty_text, clear)
{
    struct json_writer w = JSON_WRITER(&out);
    json_str(&w, str_of(NULL, 0));
    assert_written("\"\"");
}

TEST(keys_of_others_are_escaped_too, clear)
{
    struct json_writer w = JSON_WRITER(&out);
    json_open(&w);
    json_key_str(&w, STR("a\"b"));
    json_int(&w, 1);
    json_close(&w);
    assert_written("{\"a\\\"b\":1}");
}

TEST(doubles_are_short_and_stay_doubles, clear)
{
    struct json_writer w = JSON_WRITER(&out);
    json_open_array(&w);
    json_double(&w, 0.1);
    json_double(&w, 5);
    json_double(&w, -0.0);
    json_double(&w, 1e300);
    json_double(&w, 1.0 / 3);
    json_close_array(&w);
    assert_written("[0.1,5.0,-0.0,1e+300,0.3333333333333333]");
}

TEST(a_moment_that_has_not_come_is_null, clear)
{
    struct json_writer w = JSON_WRITER(&out);
    json_open(&w);
    json_put_when(&w, "started_at", 0);
    json_put_when(&w, "created_at", 1794816000123);
    json_close(&w);
    assert_written("{\"started_at\":null,\"created_at\":\"2026-11-16T08:00:00.123Z\"}");
}

TEST(ids_are_text_behind_a_prefix, clear)
{
    struct json_writer w = JSON_WRITER(&out);
    json_id(&w, "job_", 31);
    assert_written("\"job_000000000000z\"");
}

TEST(members_of_another_object_are_spliced_in, clear)
{
    struct json_writer w = JSON_WRITER(&out);
    json_open(&w);
    json_put_int(&w, "a", 1);
    json_raw_members(&w, STR(" {\"b\": 2, \"c\": {}} "));
    json_raw_members(&w, STR("{ }"));
    json_put_raw(&w, "d", STR("[3]"));
    json_close(&w);
    assert_written("{\"a\":1,\"b\": 2, \"c\": {},\"d\":[3]}");
}

TEST(a_full_buffer_is_remembered, clear)
{
    struct buf small = BUF(8);
    struct json_writer w = JSON_WRITER(&small);
    json_open(&w);
    json_put_str(&w, "a_long_key", STR("value"));
    json_close(&w);
    assert_true(small.overflow);
    buf_free(&small);
}

TEST_GROUP(NULL, release)
