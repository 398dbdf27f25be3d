/* Reading and writing take time in proportion to the text, whatever it says: no document is worth
 * more of the server's time than its bytes. A text of eight times the length must not take anything
 * like 64 times as long; processor time is counted, the best of several tries, so that a busy
 * machine does not matter. */
#include "wire/json/json.h"

#include "base/test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    SMALL = 20000, /* members, items or characters */
    GROWTH = 8,
    RATIO_MAX = 3 * GROWTH, /* for sorting keys, and for memory that is further away */
    TRIES = 5,
};

typedef void document_writer(struct buf *out, size_t count);

static void many_keys(struct buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s\"k%zu\":1", i == 0 ? "{" : ",", i * 7919 % count);
    buf_add_char(out, '}');
}

/* Sorting compares them up to their ends. */
static void long_keys_that_begin_alike(struct buf *out, size_t count)
{
    for (size_t i = 0; i < count / 10; i++)
        buf_printf(out, "%s\"%0100zu\":1", i == 0 ? "{" : ",", count - i);
    buf_add_char(out, '}');
}

static void many_items(struct buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s%zu", i == 0 ? "[" : ",", i);
    buf_add_char(out, ']');
}

static void many_objects_of_sixteen_keys(struct buf *out, size_t count)
{
    for (size_t i = 0; i < count / 16; i++) {
        buf_add(out, i == 0 ? STR("[{") : STR(",{"));
        for (int k = 0; k < 16; k++)
            buf_printf(out, "%s\"key%d\":0", k == 0 ? "" : ",", k);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
}

static void many_nested_arrays(struct buf *out, size_t count)
{
    for (size_t i = 0; i < count / 60; i++) {
        buf_add_char(out, i == 0 ? '[' : ',');
        for (int k = 0; k < 60; k++)
            buf_add_char(out, '[');
        for (int k = 0; k < 60; k++)
            buf_add_char(out, ']');
    }
    buf_add_char(out, ']');
}

static void one_text_of_escapes(struct buf *out, size_t count)
{
    buf_add_char(out, '"');
    for (size_t i = 0; i < count; i++)
        buf_add(out, i % 2 == 0 ? STR("\\n") : STR("\\ud83d\\ude00"));
    buf_add_char(out, '"');
}

static void one_text_of_wide_characters(struct buf *out, size_t count)
{
    buf_add_char(out, '"');
    for (size_t i = 0; i < count; i++)
        buf_add(out, STR("\xf0\x9f\x98\x80"));
    buf_add_char(out, '"');
}

static void mostly_blanks(struct buf *out, size_t count)
{
    for (size_t i = 0; i < 4 * count; i++)
        buf_add_char(out, i % 80 == 0 ? '\n' : ' ');
    buf_add(out, STR("{}"));
}

/* The line and column of what is wrong are counted from the start. */
static void wrong_at_the_very_end(struct buf *out, size_t count)
{
    mostly_blanks(out, count);
    buf_add_char(out, 'x');
}

static double seconds_for(struct str text)
{
    double best = 1e9;
    for (int i = 0; i < TRIES; i++) {
        struct arena arena = {0};
        struct json value;
        struct err err;
        clock_t begun = clock();
        (void)json_parse(text, &arena, &value, &err);
        double took = (double)(clock() - begun) / CLOCKS_PER_SEC;
        best = took < best ? took : best;
        arena_free(&arena);
    }
    return best;
}

TEST(reading_takes_time_in_proportion_to_the_text)
{
    static const struct {
        const char *name;
        document_writer *write;
    } documents[] = {
        {"many keys", many_keys},
        {"long keys that begin alike", long_keys_that_begin_alike},
        {"many items", many_items},
        {"many objects of sixteen keys", many_objects_of_sixteen_keys},
        {"many nested arrays", many_nested_arrays},
        {"one text of escapes", one_text_of_escapes},
        {"one text of wide characters", one_text_of_wide_characters},
        {"mostly blanks", mostly_blanks},
        {"wrong at the very end", wrong_at_the_very_end},
    };
    for (size_t i = 0; i < COUNT_OF(documents); i++) {
        CLEANUP(buf_free) struct buf small = BUF(64 << 20);
        CLEANUP(buf_free) struct buf large = BUF(64 << 20);
        documents[i].write(&small, SMALL);
        documents[i].write(&large, GROWTH * (size_t)SMALL);
        double floor_s = 50e-6; /* below that the clock has too few ticks to divide */
        double before = seconds_for(buf_str(&small));
        double after = seconds_for(buf_str(&large));
        double ratio = after / (before > floor_s ? before : floor_s);
        printf("%-30s %8.1f us %8.1f us, %.1f times\n", documents[i].name, before * 1e6,
               after * 1e6, ratio);
        assert_true(ratio < RATIO_MAX);
    }
}

TEST(writing_takes_time_in_proportion_to_the_text)
{
    double took[2];
    for (int large = 0; large < 2; large++) {
        size_t count = large ? GROWTH * (size_t)SMALL : SMALL;
        took[large] = 1e9;
        for (int i = 0; i < TRIES; i++) {
            CLEANUP(buf_free) struct buf out = BUF(64 << 20);
            struct json_writer w = JSON_WRITER(&out);
            clock_t begun = clock();
            json_open_array(&w);
            for (size_t k = 0; k < count; k++)
                json_str(&w, STR("a\nb\xff \xc3\xa4"));
            json_close_array(&w);
            double now = (double)(clock() - begun) / CLOCKS_PER_SEC;
            took[large] = now < took[large] ? now : took[large];
        }
    }
    assert_true(took[1] < RATIO_MAX * (took[0] > 50e-6 ? took[0] : 50e-6));
}
