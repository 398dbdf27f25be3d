/* Reading and writing take time in proportion to the text, whatever it says: no document is worth
 * more of the server's time than its bytes. One text of 32 times the length must not take much longer
 * than 32 short ones; were it quadratic, it would take 32 times as long. Both are measured in turns,
 * as processor time, the best of several tries each, with more tries where that looks bad: others
 * who use the caches and the memory can slow one try down, and not all of them by a factor of six. */
#include "wire/json/json.h"

#include "base/test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    SMALL = 5000, /* members, items or characters */
    GROWTH = 32,
    RATIO_MAX = 6, /* for sorting keys, memory that is further away, and a busy machine */
    TRIES = 5,
    TRIES_MAX = 20,
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

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Does the work of a text with count members. */
typedef void do_work(const void *arg, size_t count);

/* One of the large size beside as many of the small one as are as much text. */
static void expect_proportion(const char *name, do_work *work, const void *arg)
{
    double small = 1e9;
    double large = 1e9;
    for (int i = 0; i < TRIES_MAX && (i < TRIES || large >= RATIO_MAX * small); i++) {
        double begun = seconds();
        for (int k = 0; k < GROWTH; k++)
            work(arg, SMALL);
        double between = seconds();
        work(arg, GROWTH * (size_t)SMALL);
        double ended = seconds();
        small = between - begun < small ? between - begun : small;
        large = ended - between < large ? ended - between : large;
    }
    printf("%-30s %8.1f us %8.1f us\n", name, small * 1e6, large * 1e6);
    assert_true(large < RATIO_MAX * small);
}

/* ---- reading */

struct document {
    struct buf small;
    struct buf large;
};

static void read_document(const void *arg, size_t count)
{
    const struct document *document = arg;
    CLEANUP(arena_free) struct arena arena = {0};
    struct json value;
    struct err err;
    struct str text = buf_str(count == SMALL ? &document->small : &document->large);
    (void)json_parse(text, &arena, &value, &err);
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
        struct document document = {.small = BUF(64 << 20), .large = BUF(64 << 20)};
        documents[i].write(&document.small, SMALL);
        documents[i].write(&document.large, GROWTH * (size_t)SMALL);
        expect_proportion(documents[i].name, read_document, &document);
        buf_free(&document.small);
        buf_free(&document.large);
    }
}

/* ---- writing */

static void write_texts(const void *arg, size_t count)
{
    CLEANUP(buf_free) struct buf out = BUF(64 << 20);
    struct json_writer w = JSON_WRITER(&out);
    (void)arg;
    json_open_array(&w);
    for (size_t k = 0; k < count; k++)
        json_str(&w, STR("a\nb\xff \xc3\xa4"));
    json_close_array(&w);
}

TEST(writing_takes_time_in_proportion_to_the_text)
{
    expect_proportion("many texts", write_texts, NULL);
}

/* ---- what it must find */

/* Walks all members before each: what a list where a table should be costs. */
static void quadratic(const void *arg, size_t count)
{
    static volatile uint64_t sum;
    (void)arg;
    for (size_t i = 0; i < count; i += 50) {
        for (size_t k = 0; k < i; k += 50)
            sum += k;
    }
}

TEST(a_quadratic_reader_would_be_found)
{
    double begun = seconds();
    for (int k = 0; k < GROWTH; k++)
        quadratic(NULL, SMALL);
    double between = seconds();
    quadratic(NULL, GROWTH * (size_t)SMALL);
    assert_true(seconds() - between > RATIO_MAX * (between - begun));
}
