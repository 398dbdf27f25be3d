#include "cli/cells.h"

#include "base/test/test.h"

static bool cleans_to(const char *dirty, const char *clean)
{
    CLEANUP(arena_free) struct arena arena = {0};
    return str_eq(cells_clean(str_c(dirty), 200, &arena), str_c(clean));
}

TEST(letters_take_a_cell_wide_characters_two_and_marks_none)
{
    assert_int_equal(cells_width(STR("mail")), 4);
    assert_int_equal(cells_width(STR("\xc3\xbc\xe2\x80\xa6")), 2);     /* ü… */
    assert_int_equal(cells_width(STR("\xe9\x82\xae\xe4\xbb\xb6")), 4); /* two Han */
    assert_int_equal(cells_width(STR("\xf0\x9f\x9a\x80")), 2);         /* a rocket */
    assert_int_equal(cells_width(STR("e\xcc\x81")), 1);                /* e and an accent */
    assert_int_equal(cells_width(STR("a\xff")), 2);                    /* no UTF-8 */
}

TEST(a_cut_never_ends_in_the_middle_of_a_character)
{
    struct str han = STR("a\xe9\x82\xae\xe4\xbb\xb6");
    assert_int_equal(cells_cut(han, 0).len, 0);
    assert_int_equal(cells_cut(han, 1).len, 1);
    assert_int_equal(cells_cut(han, 2).len, 1);
    assert_int_equal(cells_cut(han, 3).len, 4);
    assert_int_equal(cells_cut(han, 99).len, 7);
}

TEST(what_could_move_the_cursor_is_gone)
{
    assert_true(cleans_to("a\x1b[2Jb", "a [2Jb"));
    assert_true(cleans_to("a\nb\rc\td\x7f", "a b c d "));
    assert_true(cleans_to("\xc2\x9b"
                          "1m",
                          " 1m"));                             /* CSI of the C1 set */
    assert_true(cleans_to("\xe2\x80\xaegnp.exe", " gnp.exe")); /* right to left */
    assert_true(cleans_to("e\xcc\x81\xcc\x81\xcc\x81x", "ex"));
    assert_true(cleans_to("a\xff\xc0z", "a??z"));
}

TEST(a_long_text_is_cut)
{
    CLEANUP(arena_free) struct arena arena = {0};
    assert_int_equal(cells_clean(STR("\xc3\xbc\xc3\xbc"), 3, &arena).len, 2);
}
