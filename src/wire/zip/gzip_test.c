#include "wire/zip/gzip.h"

#include "base/rng.h"
#include "base/test/test.h"

#include <string.h>

enum { BYTES_MAX = 300000 };

static struct rng rng;

static int begin(void **state)
{
    (void)state;
    rng = test_rng();
    return 0;
}

static void check_both_ways(struct str plain)
{
    struct err err;
    CLEANUP(buf_free) struct buf packed = {0};
    CLEANUP(buf_free) struct buf again = BUF(plain.len);
    if (!gzip_pack(plain, &packed))
        return;
    assert_true(packed.len < plain.len);
    assert_int_equal(gzip_unpack(buf_str(&packed), &again, &err), RC_OK);
    assert_true(str_eq(buf_str(&again), plain));
}

TEST(what_was_packed_comes_back)
{
    CLEANUP(buf_free) struct buf text = BUF(BYTES_MAX);
    for (int i = 0; i < 60; i++) {
        size_t len = (size_t)rng_below(&rng, i % 2 == 0 ? 3000 : BYTES_MAX - 20);
        buf_clear(&text);
        while (text.len < len)
            buf_printf(&text, "{\"id\":%d},", (int)rng_below(&rng, 1000));
        check_both_ways(buf_str(&text));
    }
}

TEST(what_would_not_become_shorter_is_left_alone)
{
    char noise[2000];
    struct buf packed = {0};
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)rng_next(&rng);
    assert_false(gzip_pack(str_of(noise, sizeof noise), &packed));
    buf_free(&packed);
    assert_false(gzip_pack(STR("a"), &packed));
    buf_free(&packed);
    assert_false(gzip_pack(STR(""), &packed));
    buf_free(&packed);
}

/* Ten million zeros in ten kilobytes. */
static struct buf bomb(void)
{
    struct buf packed = {0};
    struct buf zeros = BUF(10 << 20);
    memset(buf_reserve(&zeros, 10 << 20), 0, 10 << 20);
    zeros.len = 10 << 20;
    assert_true(gzip_pack(buf_str(&zeros), &packed));
    buf_free(&zeros);
    return packed;
}

TEST(no_more_is_unpacked_than_there_may_be)
{
    struct err err;
    static const size_t maxima[] = {0, 1, 65535, 65536, 100000, (10 << 20) - 1};
    CLEANUP(buf_free) struct buf packed = bomb();
    for (size_t i = 0; i < sizeof maxima / sizeof maxima[0]; i++) {
        CLEANUP(buf_free) struct buf plain = BUF(maxima[i]);
        assert_int_equal(gzip_unpack(buf_str(&packed), &plain, &err), RC_TOO_LARGE);
        assert_true(plain.cap <= maxima[i]);
    }
    CLEANUP(buf_free) struct buf whole = BUF(10 << 20);
    assert_int_equal(gzip_unpack(buf_str(&packed), &whole, &err), RC_OK);
    assert_int_equal(whole.len, 10 << 20);
}

TEST(damaged_bytes_are_refused)
{
    struct err err;
    CLEANUP(buf_free) struct buf packed = bomb();
    for (int i = 0; i < 200; i++) {
        CLEANUP(buf_free) struct buf plain = BUF(10 << 20);
        size_t cut = (size_t)rng_below(&rng, packed.len);
        assert_int_equal(gzip_unpack(str_of(packed.ptr, cut), &plain, &err), RC_INVALID);
    }
    static const char *const texts[] = {"", "{}", "\x1f\x8b", "\x1f\x8b\x08"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CLEANUP(buf_free) struct buf plain = BUF(100);
        assert_int_equal(gzip_unpack(str_c(texts[i]), &plain, &err), RC_INVALID);
    }
    CLEANUP(buf_free) struct buf plain = BUF(11 << 20);
    packed.max += 10;
    buf_add(&packed, STR("junk"));
    assert_int_equal(gzip_unpack(buf_str(&packed), &plain, &err), RC_INVALID);
}

TEST(members_follow_each_other)
{
    struct err err;
    CLEANUP(buf_free) struct buf packed = {0};
    CLEANUP(buf_free) struct buf twice = BUF(1000);
    CLEANUP(buf_free) struct buf plain = BUF(1000);
    struct str text =
        STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    assert_true(gzip_pack(text, &packed));
    buf_add(&twice, buf_str(&packed));
    buf_add(&twice, buf_str(&packed));
    assert_int_equal(gzip_unpack(buf_str(&twice), &plain, &err), RC_OK);
    assert_int_equal(plain.len, 2 * text.len);
}

TEST_GROUP(begin, NULL)
