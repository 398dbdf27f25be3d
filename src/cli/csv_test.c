#include "cli/csv.h"

#include "base/test/test.h"

/* One row with a text and a value behind it. */
static void assert_row(const char *text, const char *expected)
{
    CLEANUP(buf_free) struct buf out = BUF(1000);
    struct csv csv = {.out = &out};
    csv_add_text(&csv, str_c(text));
    csv_add_value(&csv, STR("-7"));
    csv_end_row(&csv);
    buf_add_char(&out, '\0');
    assert_string_equal(out.ptr, expected);
}

TEST(fields_stand_between_commas)
{
    assert_row("mail", "mail,-7\r\n");
    assert_row("", ",-7\r\n");
    assert_row("with blanks and 'quotes'", "with blanks and 'quotes',-7\r\n");
}

TEST(a_field_that_could_be_taken_for_more_is_quoted)
{
    assert_row("a,b", "\"a,b\",-7\r\n");
    assert_row("say \"yes\"", "\"say \"\"yes\"\"\",-7\r\n");
    assert_row("two\nlines", "\"two\nlines\",-7\r\n");
    assert_row("two\r\nlines", "\"two\r\nlines\",-7\r\n");
}

TEST(a_text_is_no_formula)
{
    assert_row("=1+1", "'=1+1,-7\r\n");
    assert_row("+1", "'+1,-7\r\n");
    assert_row("-1", "'-1,-7\r\n");
    assert_row("@sum", "'@sum,-7\r\n");
    assert_row("\tx", "'\tx,-7\r\n");
    assert_row("=A1,\"x\"", "\"'=A1,\"\"x\"\"\",-7\r\n");
}

TEST(rows_follow_each_other)
{
    CLEANUP(buf_free) struct buf out = BUF(1000);
    struct csv csv = {.out = &out};
    for (int i = 0; i < 2; i++) {
        csv_add_value(&csv, STR(""));
        csv_add_text(&csv, STR("x"));
        csv_end_row(&csv);
    }
    buf_add_char(&out, '\0');
    assert_string_equal(out.ptr, ",x\r\n,x\r\n");
}
