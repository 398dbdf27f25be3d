/* Against a store in memory. */
#include "server/output/log_index.h"

#include "base/list.h"
#include "base/rng.h"
#include "base/test/test.h"

enum { EXEC = 7, LINE_BYTES = 100 };

struct site {
    struct store *store;
    struct logs *logs;
    struct log_index *index;
    struct arena arena;
    struct err err;
    struct token_lines *tokens;
    size_t count;
};

static int set_up(void **state)
{
    static struct site site;
    site = (struct site){.store = store_mem_open()};
    assert_int_equal(site.store->ops->logs(site.store, &site.logs, &site.err), RC_OK);
    site.index = log_index_new(site.logs);
    *state = &site;
    return 0;
}

static int tear_down(void **state)
{
    struct site *s = *state;
    log_index_free(s->index);
    s->logs->ops->close(s->logs);
    s->store->ops->close(s->store);
    arena_free(&s->arena);
    return 0;
}

static void append(struct site *s, uint64_t token, uint64_t seq, enum log_stream stream,
                   struct str bytes)
{
    struct log_chunk chunk = {.exec_id = EXEC,
                              .token = token,
                              .seq = seq,
                              .attempt = (uint32_t)token,
                              .stream = stream,
                              .at_ms = (int64_t)seq,
                              .bytes = bytes};
    assert_int_equal(s->logs->ops->append(s->logs, &chunk, 1, &s->err), RC_OK);
}

/* `count` lines "N" from `first` on, in one chunk. */
static void append_lines(struct site *s, uint64_t token, uint64_t seq, int first, int count)
{
    struct buf text = BUF(1 << 20);
    for (int i = 0; i < count; i++)
        buf_printf(&text, "%-*d\n", LINE_BYTES - 1, first + i);
    append(s, token, seq, seq % 5 == 0 ? LOG_STDERR : LOG_STDOUT, buf_str(&text));
    buf_free(&text);
}

static void look(struct site *s, bool over)
{
    assert_int_equal(log_index_tokens(s->index, EXEC, &s->arena, &s->tokens, &s->count, &s->err),
                     RC_OK);
    for (size_t i = 0; i < s->count; i++) {
        s->tokens[i].over = over;
        assert_int_equal(log_index_look(s->index, EXEC, &s->tokens[i], &s->err), RC_OK);
    }
}

struct first {
    uint64_t number;
    int value;
    int seen;
};

static int value_of(struct str text)
{
    uint64_t value;
    assert_true(str_to_u64(str_cut(&text, ' '), &value));
    return (int)value;
}

static bool keep_first(void *arg, const struct log_line *line, const struct line_place *before)
{
    struct first *first = arg;
    assert_int_equal(before->count + 1, line->number);
    if (first->seen++ == 0)
        *first = (struct first){line->number, value_of(line->text), 1};
    return first->seen < 3;
}

static struct first read_first(struct site *s, size_t token, unsigned stream, uint64_t skip)
{
    struct first first = {0};
    assert_int_equal(log_index_read(s->index, EXEC, &s->tokens[token], stream, skip, keep_first,
                                    &first, &s->err),
                     RC_OK);
    return first;
}

TEST(any_line_is_found_by_its_number, set_up, tear_down)
{
    enum { CHUNKS = 60, EACH = 600 };
    struct site *s = *state;
    struct rng rng = {.state = 3};
    for (int seq = 1; seq <= CHUNKS; seq++)
        append_lines(s, 1, (uint64_t)seq, (seq - 1) * EACH, EACH);
    look(s, false);
    assert_int_equal(s->count, 1);
    assert_int_equal(s->tokens[0].counts.of[0], CHUNKS * EACH);
    assert_int_equal(s->tokens[0].counts.of[LOG_STDERR], CHUNKS * EACH / 5);
    for (int i = 0; i < 500; i++) {
        uint64_t skip = rng_below(&rng, CHUNKS * EACH);
        struct first first = read_first(s, 0, 0, skip);
        assert_int_equal(first.number, skip + 1);
        assert_int_equal(first.value, skip);
    }
    assert_int_equal(read_first(s, 0, 0, CHUNKS * EACH).seen, 0);
    /* Behind the first 599 of stderr, which are in chunk 5, is the last line of that. */
    assert_int_equal(read_first(s, 0, LOG_STDERR, EACH - 1).value, 5 * EACH - 1);
}

TEST(what_is_added_is_counted_and_lines_keep_their_numbers, set_up, tear_down)
{
    struct site *s = *state;
    append_lines(s, 1, 1, 0, 10);
    append(s, 1, 2, LOG_STDOUT, STR("10 and"));
    look(s, false);
    assert_int_equal(s->tokens[0].counts.of[0], 10); /* the last may become longer */
    append(s, 1, 3, LOG_STDOUT, STR(" more\n11"));
    look(s, false);
    assert_int_equal(s->tokens[0].counts.of[0], 11);
    assert_int_equal(read_first(s, 0, 0, 10).value, 10);
    look(s, true);
    assert_int_equal(s->tokens[0].counts.of[0], 12);
    assert_int_equal(read_first(s, 0, 0, 11).value, 11);
}

TEST(late_output_of_one_token_changes_no_number_of_another, set_up, tear_down)
{
    struct site *s = *state;
    append_lines(s, 1, 1, 0, 10);
    append_lines(s, 2, 1, 100, 10);
    look(s, true);
    append_lines(s, 1, 2, 10, 10);
    look(s, true);
    assert_int_equal(s->count, 2);
    assert_int_equal(s->tokens[0].counts.of[0], 20);
    assert_int_equal(read_first(s, 0, 0, 15).value, 15);
    assert_int_equal(read_first(s, 1, 0, 5).value, 105);
}

TEST(a_hole_that_is_filled_later_is_noticed, set_up, tear_down)
{
    struct site *s = *state;
    append_lines(s, 1, 1, 0, 10);
    append_lines(s, 1, 3, 20, 10);
    look(s, false);
    assert_int_equal(s->tokens[0].counts.of[0], 21);
    assert_int_equal(s->tokens[0].counts.of[LOG_NOTE], 1); /* that a chunk is missing */
    append_lines(s, 1, 2, 10, 10);
    look(s, false);
    assert_int_equal(s->tokens[0].counts.of[0], 30);
    assert_int_equal(read_first(s, 0, 0, 15).value, 15);
}

TEST(output_that_was_deleted_meanwhile_is_missing, set_up, tear_down)
{
    struct site *s = *state;
    size_t gone;
    append_lines(s, 1, 1, 0, 10);
    append_lines(s, 1, 2, 10, 10);
    look(s, true);
    assert_int_equal(s->logs->ops->trim(s->logs, 100, 100, &gone, &s->err), RC_OK);
    assert_int_equal(gone, 2);
    append_lines(s, 1, 3, 20, 10);
    look(s, true);
    assert_int_equal(s->tokens[0].counts.of[0], 11);
    assert_int_equal(read_first(s, 0, 0, 1).value, 20);
}

TEST(lines_are_counted_anew_when_the_first_ones_were_deleted, set_up, tear_down)
{
    enum { CHUNKS = 40, EACH = 600, GONE = 20 };
    struct site *s = *state;
    size_t gone;
    for (int seq = 1; seq <= CHUNKS; seq++)
        append_lines(s, 1, (uint64_t)seq, (seq - 1) * EACH, EACH);
    look(s, true);
    assert_int_equal(s->logs->ops->trim(s->logs, GONE + 1, 100, &gone, &s->err), RC_OK);
    assert_int_equal(gone, GONE);
    look(s, true);
    assert_int_equal(s->tokens[0].counts.of[0], 1 + (CHUNKS - GONE) * EACH);
    assert_int_equal(read_first(s, 0, 0, 1).value, GONE * EACH);
    assert_int_equal(read_first(s, 0, 0, 5001).value, GONE * EACH + 5000);
}

struct count {
    struct logs logs;
    struct logs *real;
    struct logs_ops ops;
    size_t bytes;
};

static enum rc count_read(struct logs *logs, uint64_t exec_id, struct log_place after,
                          size_t bytes_max, struct arena *arena, struct log_chunk **ret_chunks,
                          size_t *ret_count, struct err *err)
{
    struct count *c = CONTAINER_OF(logs, struct count, logs);
    enum rc rc =
        c->real->ops->read(c->real, exec_id, after, bytes_max, arena, ret_chunks, ret_count, err);
    for (size_t i = 0; i < *ret_count; i++)
        c->bytes += (*ret_chunks)[i].bytes.len;
    return rc;
}

TEST(what_will_never_come_is_not_looked_for_again, set_up, tear_down)
{
    enum { CHUNKS = 40, EACH = 600 };
    struct site *s = *state;
    struct count count = {.real = s->logs, .ops = {.read = count_read}};
    count.logs.ops = &count.ops;
    log_index_free(s->index);
    s->index = log_index_new(&count.logs);
    for (int seq = 1; seq <= CHUNKS; seq++) {
        if (seq != 2)
            append_lines(s, 1, (uint64_t)seq, (seq - 1) * EACH, EACH);
    }
    for (int i = 0; i < 2; i++) {
        count.bytes = 0;
        assert_int_equal(
            log_index_tokens(s->index, EXEC, &s->arena, &s->tokens, &s->count, &s->err), RC_OK);
        s->tokens[0].over = s->tokens[0].settled = true;
        assert_int_equal(log_index_look(s->index, EXEC, &s->tokens[0], &s->err), RC_OK);
        assert_int_equal(s->tokens[0].counts.of[0], 1 + (CHUNKS - 1) * EACH);
        assert_int_equal(read_first(s, 0, 0, 20 * EACH + 1).value, 21 * EACH);
    }
    assert_true(count.bytes < 10 * EACH * LINE_BYTES);
}

TEST(counting_goes_on_where_it_was_put_aside, set_up, tear_down)
{
    enum { CHUNKS = 40, EACH = 600 };
    struct site *s = *state;
    for (int seq = 1; seq <= CHUNKS; seq++) {
        if (seq != 2) /* it may still come */
            append_lines(s, 1, (uint64_t)seq, (seq - 1) * EACH, EACH);
    }
    int turns = 1;
    assert_int_equal(log_index_tokens(s->index, EXEC, &s->arena, &s->tokens, &s->count, &s->err),
                     RC_OK);
    for (;; turns++) {
        log_index_slice(s->index, 5 * EACH * LINE_BYTES);
        enum rc rc = log_index_look(s->index, EXEC, &s->tokens[0], &s->err);
        assert_int_equal(log_index_paused(s->index), rc != RC_OK);
        if (rc == RC_OK)
            break;
    }
    assert_in_range(turns, CHUNKS / 6, CHUNKS / 4);
    assert_int_equal(s->tokens[0].counts.of[0], 1 + (CHUNKS - 1) * EACH);
    append_lines(s, 1, 2, EACH, EACH); /* it was not forgotten that it was missing */
    log_index_slice(s->index, UINT64_MAX);
    look(s, false);
    assert_int_equal(s->tokens[0].counts.of[0], CHUNKS * EACH);
}

TEST(marks_are_bounded, set_up, tear_down)
{
    struct site *s = *state;
    for (uint64_t token = 1; token <= LOG_TOKENS_MAX + 50; token++)
        append_lines(s, token, 1, (int)token * 10, 3);
    look(s, true);
    assert_int_equal(s->count, LOG_TOKENS_MAX + 50);
    for (size_t i = 0; i < s->count; i += 7)
        assert_int_equal(read_first(s, i, 0, 2).value, (i + 1) * 10 + 2);
}
