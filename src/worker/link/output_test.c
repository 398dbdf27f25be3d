#include "worker/link/output.h"

#include "base/test/test.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 4 << 20, LOTS = 16 << 20 };

static const struct poll_lease lease = {.exec_id = 1, .token = 1, .attempt = 1};

/* Takes all that is ready, as text in one buffer, and checks that the numbers have no gaps. */
static struct buf drain(struct output *o, uint64_t *seq)
{
    struct buf text = BUF(2 * LOTS);
    for (struct piece *piece; (piece = output_take(o)) != NULL;) {
        assert_int_equal(piece->seq, ++*seq);
        assert_true(piece->bytes.len <= OUTPUT_PIECE_BYTES_MAX);
        buf_add(&text, buf_str(&piece->bytes));
        output_sent(piece);
    }
    return text;
}

static void print_lots(struct output *o, size_t bytes)
{
    char line[1000];
    for (size_t done = 0; done < bytes; done += sizeof(line)) {
        memset(line, 'a' + (int)(done / sizeof(line) % 26), sizeof(line));
        output_add(o, LOG_STDOUT, str_of(line, sizeof(line)), (int64_t)done);
    }
}

TEST(what_is_printed_comes_out_in_order)
{
    struct output *o = output_new(9, &lease, KEPT);
    uint64_t seq = 0;
    output_add(o, LOG_STDOUT, STR("one "), 1000);
    output_add(o, LOG_STDERR, STR("two "), 1001);
    output_add(o, LOG_STDOUT, STR("three"), 1002);
    output_finish(o, 1003);
    struct buf text = drain(o, &seq);
    assert_true(str_eq(buf_str(&text), STR("one two three")));
    assert_int_equal(seq, 3);
    assert_int_equal(o->seq, 3);
    assert_int_equal(o->total_bytes, 13);
    assert_int_equal(o->unsent_bytes, 0);
    buf_free(&text);
    output_free(o);
}

TEST(neighbours_in_time_and_stream_share_a_piece)
{
    struct output *o = output_new(9, &lease, KEPT);
    output_add(o, LOG_STDOUT, STR("a"), 1000);
    output_add(o, LOG_STDOUT, STR("b"), 1100);
    assert_int_equal(o->seq, 1);
    output_add(o, LOG_STDOUT, STR("c"), 9000); /* its time would be wrong */
    assert_int_equal(o->seq, 2);
    struct piece *taken = output_take(o);
    assert_true(str_eq(buf_str(&taken->bytes), STR("ab")));
    assert_int_equal(taken->at_ms, 1000);
    output_sent(taken);
    output_free(o);
}

TEST(the_middle_of_a_long_output_is_dropped)
{
    struct output *o = output_new(9, &lease, KEPT);
    uint64_t seq = 0;
    print_lots(o, LOTS);
    assert_true(output_is_full(o));
    output_add(o, LOG_STDOUT, STR("THE END"), LOTS);
    output_finish(o, LOTS);
    struct buf text = drain(o, &seq);
    assert_true(text.len <= KEPT + 100);
    assert_true(text.len >= KEPT - 2 * OUTPUT_PIECE_BYTES_MAX);
    assert_memory_equal(text.ptr, "aaaa", 4);
    assert_memory_equal(text.ptr + text.len - 7, "THE END", 7);
    assert_non_null(memmem(text.ptr, text.len, " bytes were dropped here\n", 25));
    /* The note is the only thing in there that nobody printed. */
    assert_in_range(text.len + o->dropped_bytes - o->total_bytes, 26, 45);
    buf_free(&text);
    output_free(o);
}

TEST(memory_stays_bounded_when_nobody_takes)
{
    struct output *o = output_new(9, &lease, KEPT);
    print_lots(o, 4 * LOTS);
    assert_true(o->unsent_bytes + o->tail_bytes <= KEPT);
    assert_int_equal(o->total_bytes, 4 * LOTS + (1000 - 4 * LOTS % 1000) % 1000);
    output_free(o);
}

TEST(an_output_that_just_fits_is_whole)
{
    struct output *o = output_new(9, &lease, KEPT);
    char *bytes = calloc(1, KEPT);
    uint64_t seq = 0;
    output_add(o, LOG_STDERR, str_of(bytes, KEPT), 1);
    output_finish(o, 1);
    struct buf text = drain(o, &seq);
    assert_int_equal(text.len, KEPT);
    assert_int_equal(o->dropped_bytes, 0);
    free(bytes);
    buf_free(&text);
    output_free(o);
}

TEST(notes_stand_where_they_were_made)
{
    struct output *o = output_new(9, &lease, KEPT);
    uint64_t seq = 0;
    output_note(o, 1, "sent %s", "SIGTERM");
    print_lots(o, LOTS);
    output_note(o, LOTS, "sent %s", "SIGKILL");
    output_finish(o, LOTS);
    assert_int_equal(o->total_bytes, LOTS + (1000 - LOTS % 1000) % 1000);
    struct buf text = drain(o, &seq);
    assert_memory_equal(text.ptr, "sent SIGTERM\n", 13);
    assert_memory_equal(text.ptr + text.len - 13, "sent SIGKILL\n", 13);
    buf_free(&text);
    output_free(o);
}
