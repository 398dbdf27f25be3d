#include "base/log_entry.h"
#include "base/rng.h"
#include "base/test/test.h"

#include <string.h>

static const enum log_format formats[] = {LOG_JSON, LOG_TEXT, LOG_LOGFMT};

static struct str print(enum log_format format, const struct log_field *fields, size_t count,
                        char bytes[LOG_ENTRY_MAX])
{
    const struct log_entry line = {
        .format = format,
        .level = LOG_WARN,
        .at_ms = 1500000000123,
        .who = "server",
        .message = "a call failed",
        .fields = fields,
        .count = count,
    };
    return str_of(bytes, log_entry_print(&line, bytes));
}

#define assert_line(format, fields, expected)                                                      \
    do {                                                                                           \
        char line_bytes[LOG_ENTRY_MAX];                                                            \
        struct str line = print(format, fields, sizeof(fields) / sizeof(fields)[0], line_bytes);   \
        line_bytes[line.len - 1] = '\0';                                                           \
        assert_string_equal(line_bytes, expected);                                                 \
    } while (0)

TEST(a_line_says_when_how_bad_who_and_what_in_every_format)
{
    const struct log_field fields[] = {{"job_id", STR("job_01"), false},
                                       {"error", STR("no room"), false},
                                       {"ms", STR("12"), true}};
    assert_line(LOG_JSON, fields,
                "{\"time\":\"2017-07-14T02:40:00.123Z\",\"level\":\"warn\",\"who\":\"server\","
                "\"message\":\"a call failed\",\"job_id\":\"job_01\",\"error\":\"no room\","
                "\"ms\":12}");
    assert_line(LOG_LOGFMT, fields,
                "time=2017-07-14T02:40:00.123Z level=warn who=server message=\"a call failed\" "
                "job_id=job_01 error=\"no room\" ms=12");
    assert_line(LOG_TEXT, fields,
                "2017-07-14T02:40:00.123Z warn  server: a call failed job_id=job_01 "
                "error=\"no room\" ms=12");
}

TEST(what_could_be_taken_for_something_else_is_quoted)
{
    const struct log_field fields[] = {{"a", STR(""), false},
                                       {"b", STR("x=1"), false},
                                       {"c", STR("say \"no\" \\"), false},
                                       {"d", STR("z\xc3\xbcrich"), false}};
    assert_line(LOG_LOGFMT, fields,
                "time=2017-07-14T02:40:00.123Z level=warn who=server message=\"a call failed\" "
                "a=\"\" b=\"x=1\" c=\"say \\\"no\\\" \\\\\" d=\"z\xc3\xbcrich\"");
}

TEST(a_value_cannot_forge_a_line)
{
    const struct log_field fields[] = {
        {"name", STR("x\n2017 error server: forged\r\xe2\x80\xa8\xc2\x85\x1b[2J\x7f\xff\0!"),
         false}};
    const char *quoted = "\"x\\n2017 error server: forged\\u000d\\u2028\\u0085\\u001b[2J\\u007f"
                         "\\u00ff\\ufffd!\"";
    for (size_t i = 0; i < 3; i++) {
        char bytes[LOG_ENTRY_MAX];
        struct str line = print(formats[i], fields, 1, bytes);
        bytes[line.len - 1] = '\0';
        assert_non_null(strstr(bytes, quoted));
    }
}

static void assert_is_one_line(struct str line)
{
    assert_true(line.len > 1 && line.len <= LOG_ENTRY_MAX);
    assert_int_equal(line.ptr[line.len - 1], '\n');
    line.len--;
    assert_true(str_is_utf8(line));
    for (; line.len > 0; line = str_from(line, str_utf8_len(line)))
        assert_int_equal(str_control_len(line), 0);
}

TEST(any_bytes_make_one_line)
{
    struct rng rng = (struct rng){.state = 16};
    for (size_t round = 0; round < 3000; round++) {
        char bytes[LOG_ENTRY_MAX];
        char value[4096];
        size_t len = rng_below(&rng, round % 10 == 0 ? sizeof value : 64);
        for (size_t i = 0; i < len; i++)
            value[i] = (char)rng_below(&rng, 256);
        const struct log_field fields[] = {{"a", str_of(value, len), false},
                                           {"b", str_of(value, len / 2), false}};
        assert_is_one_line(print(formats[round % 3], fields, 2, bytes));
    }
}

TEST(a_field_without_room_is_left_out_whole)
{
    static char large[LOG_ENTRY_MAX];
    memset(large, '\n', sizeof large);
    const struct log_field fields[] = {{"large", str_of(large, sizeof large), false},
                                       {"small", STR("1"), false}};
    assert_line(LOG_JSON, fields,
                "{\"time\":\"2017-07-14T02:40:00.123Z\",\"level\":\"warn\",\"who\":\"server\","
                "\"message\":\"a call failed\",\"small\":\"1\"}");
}
