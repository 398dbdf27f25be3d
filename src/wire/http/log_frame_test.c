#include "base/when.h"

#include "base/test/test.h"
#include "wire/http/log_frame.h"

#include <string.h>

#define ID "exec_01k5d2vhc0a01"

static const struct log_chunk sample = {
    .exec_id = 4711,
    .token = 1,
    .attempt = 2,
    .seq = 3,
    .stream = LOG_STDOUT,
    .at_ms = 1794816000123,
    .bytes = STR_INIT("row 17\n"),
};

TEST(frames_read_back_as_they_were_printed)
{
    CLEANUP(buf_free) struct buf out = BUF(10000);
    struct log_chunk second = sample;
    second.seq = 4;
    second.stream = LOG_NOTE;
    second.bytes = STR("any\0bytes\n" ID " 1 1 1 stdout 1 1\n\xff");
    log_frame_print(&out, &sample);
    log_frame_print(&out, &second);
    struct str rest = buf_str(&out);
    struct log_chunk back;
    assert_int_equal(log_frame_next(&rest, &back, NULL), RC_OK);
    assert_true(back.exec_id == 4711 && back.token == 1 && back.attempt == 2 && back.seq == 3);
    assert_int_equal(back.stream, LOG_STDOUT);
    assert_int_equal(back.at_ms, sample.at_ms);
    assert_true(str_eq(back.bytes, sample.bytes));
    assert_int_equal(log_frame_next(&rest, &back, NULL), RC_OK);
    assert_int_equal(back.stream, LOG_NOTE);
    assert_true(str_eq(back.bytes, second.bytes));
    assert_int_equal(rest.len, 0);
}

TEST(a_frame_looks_as_the_protocol_says)
{
    struct str rest = STR(ID " 1 1 3 stdout 1794816000123 7\nrow 17\n\n");
    struct log_chunk chunk;
    CLEANUP(buf_free) struct buf out = BUF(1000);
    struct str text = rest;
    assert_int_equal(log_frame_next(&rest, &chunk, NULL), RC_OK);
    log_frame_print(&out, &chunk);
    assert_true(str_eq(buf_str(&out), text));
}

TEST(a_frame_may_be_empty)
{
    struct str rest = STR(ID " 1 1 1 stderr 0 0\n\n");
    struct log_chunk chunk;
    assert_int_equal(log_frame_next(&rest, &chunk, NULL), RC_OK);
    assert_int_equal(chunk.bytes.len, 0);
    assert_int_equal(rest.len, 0);
}

TEST(hostile_frames_are_refused)
{
    static const struct str bad[] = {
        STR_INIT("\n"),
        STR_INIT("x"),
        STR_INIT(ID " 1 1 1 stdout 1 1"),
        STR_INIT(ID "\n"),
        STR_INIT("job_01k5d2vhc0a01 1 1 1 stdout 1 1\nx\n"),
        STR_INIT(ID " 0 1 1 stdout 1 1\nx\n"),
        STR_INIT(ID " 01 1 1 stdout 1 1\nx\n"),
        STR_INIT(ID " -1 1 1 stdout 1 1\nx\n"),
        STR_INIT(ID " 9223372036854775808 1 1 stdout 1 1\nx\n"),
        STR_INIT(ID " 1 4294967297 1 stdout 1 1\nx\n"),
        STR_INIT(ID " 1 1 0 stdout 1 1\nx\n"),
        STR_INIT(ID " 1 1 1 stdin 1 1\nx\n"),
        STR_INIT(ID " 1 1 1 stdout -5 1\nx\n"),
        STR_INIT(ID " 1 1 1 stdout -0 1\nx\n"),
        STR_INIT(ID " 1 1 1 stdout 999999999999999999 1\nx\n"),
        STR_INIT(ID " 1 1 1 stdout 1 -1\nx\n"),
        STR_INIT(ID " 1 1 1 stdout 1 +1\nx\n"),
        STR_INIT(ID " 1 1 1 stdout 1 \nx\n"),
        STR_INIT(ID " 1 1 1 stdout 1 1 \nx\n"),
        STR_INIT(ID " 1 1 1 stdout 1 1 1\nx\n"),
        STR_INIT(ID "  1 1 1 stdout 1 1\nx\n"),
        STR_INIT(ID " 1 1 1 stdout 1 1\r\nx\n"),
        STR_INIT(ID " 1 1 1 stdout 1 1\nx"),
        STR_INIT(ID " 1 1 1 stdout 1 1\n"),
        STR_INIT(ID " 1 1 1 stdout 1 1\nxy\n"),
        STR_INIT(ID " 1 1 1 stdout 1 2\nx\n"),
        STR_INIT(ID " 1 1 1 stdout 1 1000000\nx\n"),
    };
    struct log_chunk chunk;
    struct err err;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct str rest = bad[i];
        assert_int_equal(log_frame_next(&rest, &chunk, &err), RC_INVALID);
        assert_ptr_equal(rest.ptr, bad[i].ptr); /* nothing was taken */
    }
}

TEST(a_frame_that_announces_too_much_is_refused)
{
    struct str rest = STR(ID " 1 1 1 stdout 1 9223372036854775807\nx\n");
    struct log_chunk chunk;
    struct err err;
    assert_int_equal(log_frame_next(&rest, &chunk, &err), RC_TOO_LARGE);
}

TEST(a_line_without_an_end_is_refused)
{
    char bytes[100000];
    memset(bytes, '1', sizeof bytes);
    struct str rest = str_of(bytes, sizeof bytes);
    struct log_chunk chunk;
    assert_int_equal(log_frame_next(&rest, &chunk, NULL), RC_INVALID);
}

TEST(the_longest_line_fits)
{
    CLEANUP(buf_free) struct buf out = BUF(10000);
    const struct log_chunk largest = {
        .exec_id = INT64_MAX,
        .token = INT64_MAX,
        .attempt = INT32_MAX,
        .seq = INT64_MAX,
        .stream = LOG_STDERR,
        .at_ms = WHEN_MAX_MS,
        .bytes = STR("x"),
    };
    log_frame_print(&out, &largest);
    struct str rest = buf_str(&out);
    struct log_chunk back;
    assert_int_equal(log_frame_next(&rest, &back, NULL), RC_OK);
    assert_true(back.token == INT64_MAX && back.seq == INT64_MAX);
}
