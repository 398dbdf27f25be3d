#include "server/output/log_lines.h"

#include "base/rng.h"
#include "base/test/test.h"

#include <stdlib.h>
#include <string.h>

#define FIRST ((struct line_place){.token = 1, .seq = 1})

/* Chunks in the order of their numbers; "1:" and "2:" in front of a text are its stream. */
struct feed {
    struct log_chunk chunks[64];
    size_t count;
};

static void add(struct feed *f, enum log_stream stream, const char *text)
{
    struct log_chunk *chunk = &f->chunks[f->count++];
    *chunk = (struct log_chunk){.token = 1,
                                .seq = f->count,
                                .stream = stream,
                                .at_ms = (int64_t)f->count * 1000,
                                .bytes = str_c(text)};
}

static void describe(struct buf *out, const struct log_line *line)
{
    buf_printf(out, "%d:%d%s:", (int)line->number, (int)line->stream, line->more ? "+" : "");
    if (line->missing > 0)
        buf_printf(out, "(%d missing)", (int)line->missing);
    buf_printf(out, "%.*s|", STR_ARG(line->text));
}

/* All lines behind a place, as text; places[n] is the one behind line n, if that is asked for. */
static void cut_all(const struct feed *f, const struct line_place *from, bool end, struct buf *out,
                    struct line_place *places)
{
    struct line_cutter c;
    struct log_line line;
    line_cutter_init(&c, from);
    for (size_t i = 0; i < f->count; i++) {
        if (f->chunks[i].seq < from->seq)
            continue;
        line_cutter_feed(&c, &f->chunks[i]);
        while (line_cutter_next(&c, &line)) {
            describe(out, &line);
            if (places != NULL)
                places[line.number] = c.at;
        }
    }
    if (end && line_cutter_end(&c, &line)) {
        describe(out, &line);
        if (places != NULL)
            places[line.number] = c.at;
    }
    line_cutter_free(&c);
}

static void assert_lines(const struct feed *f, bool end, const char *want)
{
    struct buf out = BUF(1 << 20);
    cut_all(f, &FIRST, end, &out, NULL);
    buf_add_char(&out, '\0');
    assert_string_equal(out.ptr, want);
    buf_free(&out);
}

TEST(lines_are_numbered_over_all_streams)
{
    struct feed f = {0};
    add(&f, LOG_STDOUT, "a\n\nb\r\n");
    add(&f, LOG_STDERR, "c\n");
    add(&f, LOG_NOTE, "d\n");
    assert_lines(&f, true, "1:1:a|2:1:|3:1:b|4:2:c|5:3:d|");
}

TEST(a_line_may_lie_in_several_chunks)
{
    struct feed f = {0};
    add(&f, LOG_STDOUT, "a");
    add(&f, LOG_STDOUT, "");
    add(&f, LOG_STDOUT, "b\r");
    add(&f, LOG_STDOUT, "\nc");
    assert_lines(&f, false, "1:1:ab|");
    assert_lines(&f, true, "1:1:ab|2:1:c|");
}

TEST(a_line_that_another_stream_interrupts_is_given_in_pieces)
{
    struct feed f = {0};
    add(&f, LOG_STDOUT, "a");
    add(&f, LOG_STDERR, "x\n");
    add(&f, LOG_STDOUT, "b\n");
    assert_lines(&f, true, "1:1+:a|2:2:x|3:1:b|");
}

TEST(missing_chunks_are_told)
{
    struct feed f = {0};
    add(&f, LOG_STDOUT, "a\nb");
    add(&f, LOG_STDOUT, "c\n");
    f.chunks[0].seq = 3;
    f.chunks[1].seq = 5;
    assert_lines(&f, true, "1:3:(2 missing)|2:1:a|3:1+:b|4:3:(1 missing)|5:1:c|");
}

TEST(the_note_of_a_worker_about_dropped_bytes_is_recognised)
{
    struct feed f = {0};
    struct line_cutter c;
    struct log_line line;
    add(&f, LOG_STDOUT, "12 bytes were dropped here\n");
    add(&f, LOG_NOTE, "12 bytes were dropped here\n12 bytes\n");
    line_cutter_init(&c, &FIRST);
    line_cutter_feed(&c, &f.chunks[0]);
    assert_true(line_cutter_next(&c, &line));
    assert_int_equal(line.dropped, 0); /* a command said so */
    assert_false(line_cutter_next(&c, &line));
    line_cutter_feed(&c, &f.chunks[1]);
    assert_true(line_cutter_next(&c, &line));
    assert_int_equal(line.dropped, 12);
    assert_true(line_cutter_next(&c, &line));
    assert_int_equal(line.dropped, 0);
    line_cutter_free(&c);
}

/* Cuts `text` in chunks of `step` bytes; returns how many lines there are, and the longest. */
static size_t cut_long(const char *text, size_t len, size_t step, size_t *ret_longest,
                       struct buf *joined)
{
    struct line_cutter c;
    struct log_line line = {0};
    size_t count = 0;
    *ret_longest = 0;
    line_cutter_init(&c, &FIRST);
    for (size_t at = 0, seq = 1; at < len; at += step, seq++) {
        struct log_chunk chunk = {.token = 1, .seq = seq, .stream = LOG_STDOUT};
        chunk.bytes = str_of(text + at, len - at < step ? len - at : step);
        line_cutter_feed(&c, &chunk);
        while (line_cutter_next(&c, &line)) {
            assert_true(str_is_utf8(line.text));
            buf_add(joined, line.text);
            count++;
            if (line.text.len > *ret_longest)
                *ret_longest = line.text.len;
        }
    }
    assert_false(line.more);
    line_cutter_free(&c);
    return count;
}

TEST(a_long_line_is_cut_between_characters)
{
    enum { LEN = 3 * LOG_LINE_BYTES_MAX + 5 };
    static const size_t steps[] = {1000, LOG_LINE_BYTES_MAX, 64 << 10};
    char *text = malloc(LEN + 1);
    memset(text, 'x', LEN);
    for (size_t i = 1; i + 3 < LEN; i += 3)
        memcpy(text + i, "\xE2\x82\xAC", 3);
    text[LEN] = '\n';
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        size_t longest;
        struct buf joined = BUF(LEN);
        assert_int_equal(cut_long(text, LEN + 1, steps[i], &longest, &joined), 4);
        assert_in_range(longest, LOG_LINE_BYTES_MAX, LOG_LINE_BYTES_MAX + 2);
        assert_int_equal(joined.len, LEN);
        assert_memory_equal(joined.ptr, text, LEN);
        buf_free(&joined);
    }
    free(text);
}

TEST(a_line_as_long_as_allowed_is_whole)
{
    size_t longest;
    struct buf joined = BUF(LOG_LINE_BYTES_MAX);
    char *text = malloc(LOG_LINE_BYTES_MAX + 1);
    memset(text, 'x', LOG_LINE_BYTES_MAX);
    text[LOG_LINE_BYTES_MAX] = '\n';
    assert_int_equal(cut_long(text, LOG_LINE_BYTES_MAX + 1, 100, &longest, &joined), 1);
    assert_int_equal(longest, LOG_LINE_BYTES_MAX);
    buf_free(&joined);
    free(text);
}

TEST(cutting_goes_on_behind_any_line_with_the_same_lines)
{
    static const char *const texts[] = {"a", "b\n", "\n", "c\nd", "e\r\nf\n", "", "\r"};
    struct rng rng = {.state = 7};
    for (int round = 0; round < 300; round++) {
        struct feed f = {0};
        struct line_place places[256] = {{0}};
        struct buf all = BUF(1 << 20);
        for (int i = 0; i < 20; i++) {
            add(&f, rng_below(&rng, 4) == 0 ? LOG_STDERR : LOG_STDOUT,
                texts[rng_below(&rng, COUNT_OF(texts))]);
            if (rng_below(&rng, 10) == 0)
                f.chunks[f.count - 1].seq = 0; /* a gap */
        }
        size_t kept = 0;
        for (size_t i = 0; i < f.count; i++) {
            if (f.chunks[i].seq > 0)
                f.chunks[kept++] = f.chunks[i];
        }
        f.count = kept;
        cut_all(&f, &FIRST, true, &all, places);
        for (size_t n = 1; places[n].token != 0; n++) {
            struct buf rest = BUF(1 << 20);
            cut_all(&f, &places[n], true, &rest, NULL);
            assert_true(rest.len <= all.len);
            assert_int_equal(places[n].count, n);
            if (rest.len > 0)
                assert_memory_equal(rest.ptr, all.ptr + all.len - rest.len, rest.len);
            buf_free(&rest);
        }
        buf_free(&all);
    }
}
