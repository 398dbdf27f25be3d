#include "cli/cells.h"
#include "cli/table.h"

#include "base/test/test.h"

#include <string.h>

static const struct column columns[] = {
    {.title = "ID"},
    {.title = "STATUS", .status = true},
    {.title = "NAME", .flexible = true},
    {.title = "TOOK", .right = true, .optional = true},
};

static struct buf out = BUF(4096);

/* The table with these rows, NUL-terminated; a NULL ends the cells. */
static const char *print(size_t width, bool colour, const char *const *cells)
{
    CLEANUP(table_free) struct table t = TABLE(columns, COUNT_OF(columns));
    for (; *cells != NULL; cells++)
        table_add(&t, str_c(*cells));
    buf_clear(&out);
    table_print(&t, (struct paper){width, colour}, &out);
    buf_add_char(&out, '\0');
    return out.ptr;
}

#define PRINT(width, colour, ...) print(width, colour, (const char *const[]){__VA_ARGS__, NULL})

TEST(columns_are_as_wide_as_their_widest_cell)
{
    assert_string_equal(PRINT(0, false, "job_1", "failed", "a", "41ms", "x", "ok", "nightly", "2s"),
                        "ID     STATUS  NAME     TOOK\n"
                        "job_1  failed  a        41ms\n"
                        "x      ok      nightly    2s\n");
}

TEST(lines_have_no_blanks_at_their_end)
{
    assert_string_equal(PRINT(0, false, "job_1", "", "", ""), "ID     STATUS  NAME  TOOK\n"
                                                              "job_1\n");
}

TEST(the_flexible_column_gives_way)
{
    assert_string_equal(PRINT(31, false, "job_1", "failed", "a name that is long", "41ms"),
                        "ID     STATUS  NAME        TOOK\n"
                        "job_1  failed  a name th\xe2\x80\xa6  41ms\n");
}

TEST(when_that_is_not_enough_optional_columns_go)
{
    assert_string_equal(PRINT(24, false, "job_1", "failed", "a name that is long", "41ms"),
                        "ID     STATUS  NAME\n"
                        "job_1  failed  a name t\xe2\x80\xa6\n");
}

TEST(what_is_left_is_never_cut)
{
    assert_non_null(strstr(PRINT(10, false, "job_01k5d2vhc0a00", "failed", "name", "41ms"),
                           "job_01k5d2vhc0a00  failed  name\n"));
}

TEST(width_counts_characters_and_not_bytes)
{
    assert_int_equal(cells_width(STR("z\xc3\xbcrich")), 6);
    assert_string_equal(
        PRINT(24, false, "1", "ok", "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc", "1"),
        "ID  STATUS  NAME    TOOK\n"
        "1   ok      \xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc     1\n");
}

TEST(only_words_of_status_have_colours)
{
    const char *text = PRINT(0, true, "1", "failed", "failed", "1");
    assert_non_null(strstr(text, "\n1   \x1b[31mfailed\x1b[0m  failed     1\n"));
    assert_null(strstr(PRINT(0, true, "1", "queued", "a", "1"), "\x1b"));
    assert_null(strstr(PRINT(0, false, "1", "failed", "a", "1"), "\x1b"));
}

static int drop_out(void **state)
{
    (void)state;
    buf_free(&out);
    return 0;
}

TEST_GROUP(NULL, drop_out)

TEST(wide_characters_keep_the_columns_straight)
{
    assert_string_equal(
        PRINT(30, false, "job_1", "ok", "\xe9\x82\xae\xe4\xbb\xb6", "1s", "job_2", "ok",
              "\xe9\x82\xae\xe4\xbb\xb6\xe9\x82\xae\xe4\xbb\xb6\xe9\x82\xae", "2s"),
        "ID     STATUS  NAME       TOOK\n"
        "job_1  ok      \xe9\x82\xae\xe4\xbb\xb6         1s\n"
        "job_2  ok      \xe9\x82\xae\xe4\xbb\xb6\xe9\x82\xae\xe4\xbb\xb6\xe2\x80\xa6    2s\n");
}
