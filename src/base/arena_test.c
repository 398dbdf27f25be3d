#include "base/arena.h"

#include "base/test/test.h"

#include <stdalign.h>
#include <string.h>

TEST(memory_is_aligned_for_any_type_and_zeroed)
{
    CLEANUP(arena_free) struct arena a = {0};
    for (size_t i = 1; i < 200; i++) {
        memset(arena_bytes(&a, i), 0xff, i); /* leaves the next byte anywhere */
        unsigned char *ptr = arena_alloc(&a, i);
        assert_int_equal((uintptr_t)ptr % alignof(max_align_t), 0);
        for (size_t k = 0; k < i; k++)
            assert_int_equal(ptr[k], 0);
    }
}

TEST(pieces_do_not_overlap)
{
    enum { COUNT = 300 };
    CLEANUP(arena_free) struct arena a = {0};
    unsigned char *pieces[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        pieces[i] = arena_alloc(&a, i);
        memset(pieces[i], (int)i & 0xff, i);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < i; k++)
            assert_int_equal(pieces[i][k], i & 0xff);
    }
}

TEST(a_copy_has_a_nul_behind_it)
{
    CLEANUP(arena_free) struct arena a = {0};
    struct str copy = arena_str(&a, str_of("abcdef", 3));
    assert_int_equal(copy.len, 3);
    assert_string_equal(copy.ptr, "abc");
    assert_string_equal(arena_zstr(&a, str_of(NULL, 0)), "");
}

TEST(printing_takes_what_it_needs)
{
    CLEANUP(arena_free) struct arena a = {0};
    struct str text = arena_printf(&a, "%0*d", 9000, 7); /* larger than the first block */
    assert_int_equal(text.len, 9000);
    assert_int_equal(text.ptr[8999], '7');
    assert_int_equal(text.ptr[9000], '\0');
}

TEST(a_huge_piece_is_possible_at_any_time)
{
    CLEANUP(arena_free) struct arena a = {0};
    arena_bytes(&a, 1);
    memset(arena_bytes(&a, 5 << 20), 'x', 5 << 20);
    memset(arena_bytes(&a, 10), 'y', 10);
}

TEST(after_a_reset_the_first_block_is_used_again)
{
    CLEANUP(arena_free) struct arena a = {0};
    char *first = arena_bytes(&a, 16);
    arena_bytes(&a, 100000);
    arena_reset(&a);
    assert_int_equal(a.used_bytes, 0);
    assert_ptr_equal(arena_bytes(&a, 16), first);
}

TEST(a_first_block_made_for_one_huge_value_is_not_kept)
{
    CLEANUP(arena_free) struct arena a = {0};
    arena_bytes(&a, 5 << 20);
    arena_reset(&a);
    assert_null(a.head);
}

TEST(an_empty_arena_may_be_reset_and_freed)
{
    struct arena a = {0};
    arena_reset(&a);
    arena_free(&a);
    arena_free(&a);
    assert_null(a.head);
}
