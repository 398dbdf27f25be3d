/* Every stream is fed whole and byte by byte: where packets end must not matter. */
#include "wire/http/sse.h"

#include "base/test/test.h"

#include <string.h>

/* Writes what it hears as "id|event|data;" */
static void note(void *arg, const struct sse_event *event)
{
    struct buf *heard = arg;
    buf_add(heard, event->id);
    buf_add_char(heard, '|');
    buf_add(heard, event->event);
    buf_add_char(heard, '|');
    buf_add(heard, event->data);
    buf_add_char(heard, ';');
}

static void assert_heard_in_pieces(struct str stream, size_t piece, const char *expected)
{
    CLEANUP(buf_free) struct buf heard = BUF(10000);
    CLEANUP(sse_reader_free) struct sse_reader reader = sse_reader(1000);
    while (stream.len > 0) {
        size_t len = stream.len < piece ? stream.len : piece;
        assert_int_equal(sse_feed(&reader, str_of(stream.ptr, len), note, &heard, NULL), RC_OK);
        stream = str_from(stream, len);
    }
    buf_add_char(&heard, '\0');
    assert_string_equal(heard.ptr, expected);
}

static void assert_heard(const char *stream, const char *expected)
{
    assert_heard_in_pieces(str_c(stream), SIZE_MAX, expected);
    assert_heard_in_pieces(str_c(stream), 1, expected);
    assert_heard_in_pieces(str_c(stream), 3, expected);
}

TEST(events_are_read_as_they_were_printed)
{
    CLEANUP(buf_free) struct buf out = BUF(1000);
    sse_print(&out, STR("1.17"), STR("log"), STR("{\"text\":\"a\"}"));
    sse_print_ping(&out);
    sse_print(&out, STR("1.18"), STR("end"), STR("two\nlines"));
    sse_print(&out, STR(""), STR(""), STR(""));
    buf_add_char(&out, '\0');
    assert_heard(out.ptr, "1.17|log|{\"text\":\"a\"};1.18|end|two\nlines;1.18|message|;");
}

TEST(an_event_looks_as_the_protocol_says)
{
    CLEANUP(buf_free) struct buf out = BUF(1000);
    sse_print(&out, STR("4711"), STR("execution"), STR("{}"));
    assert_true(str_eq(buf_str(&out), STR("id: 4711\nevent: execution\ndata: {}\n\n")));
}

TEST(lines_may_end_in_any_of_three_ways)
{
    assert_heard("data: a\r\rdata: b\n\ndata: c\r\n\r\n", "|message|a;|message|b;|message|c;");
}

TEST(an_event_without_data_is_none)
{
    assert_heard("event: x\n\ndata: a\n\n", "|message|a;");
}

TEST(an_event_that_is_not_complete_is_not_told)
{
    assert_heard("data: a\n\ndata: b\n", "|message|a;");
}

TEST(only_the_first_blank_behind_a_colon_is_dropped)
{
    assert_heard("data:a\ndata:  b\ndata\n\n", "|message|a\n b\n;");
}

TEST(an_id_stays_until_there_is_another)
{
    assert_heard("id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
                 "1|message|a;1|message|b;|message|c;");
}

TEST(comments_and_unknown_fields_are_passed_over)
{
    assert_heard(": hello\nretry: 5\ncolour: red\ndata: a\n\n", "|message|a;");
}

TEST(a_byte_order_mark_is_no_part_of_the_first_field)
{
    assert_heard("\xef\xbb\xbf"
                 "data: a\n\n",
                 "|message|a;");
}

TEST(an_endless_line_is_refused)
{
    char bytes[600];
    memset(bytes, 'x', sizeof bytes);
    struct err err;
    CLEANUP(sse_reader_free) struct sse_reader reader = sse_reader(1000);
    assert_int_equal(sse_feed(&reader, str_of(bytes, sizeof bytes), note, NULL, &err), RC_OK);
    assert_int_equal(sse_feed(&reader, str_of(bytes, sizeof bytes), note, NULL, &err),
                     RC_TOO_LARGE);
}

TEST(an_endless_event_is_refused)
{
    struct err err;
    enum rc rc = RC_OK;
    CLEANUP(sse_reader_free) struct sse_reader reader = sse_reader(1000);
    for (int i = 0; i < 200 && rc == RC_OK; i++)
        rc = sse_feed(&reader, STR("data: 0123456789\n"), note, NULL, &err);
    assert_int_equal(rc, RC_TOO_LARGE);
}
