#include "base/id.h"

#include "base/test/test.h"

#include <stdio.h>
#include <string.h>

#define NOW_MS (ID_EPOCH_MS + INT64_C(200000000000))

static struct rng rng;

TEST(ids_grow_within_one_millisecond_and_beyond_its_sequence)
{
    struct id_gen gen = {0};
    uint64_t last = 0;
    for (int i = 0; i < 3 * ID_SEQUENCE_MAX; i++) {
        uint64_t id = id_next(&gen, NOW_MS, 5);
        assert_true(id > last);
        last = id;
    }
}

TEST(ids_grow_when_the_clock_steps_back)
{
    struct id_gen gen = {0};
    uint64_t before = id_next(&gen, NOW_MS, 5);
    assert_true(id_next(&gen, NOW_MS - 3600000, 5) > before);
    assert_true(id_next(&gen, 0, 5) > before); /* before the epoch, too */
}

TEST(ids_grow_whatever_the_buckets_are)
{
    struct id_gen gen = {0};
    uint64_t last = 0;
    for (int i = 0; i < 10000; i++) {
        int64_t now_ms = NOW_MS + (int64_t)rng_below(&rng, 50);
        uint64_t id = id_next(&gen, now_ms, (uint32_t)rng_below(&rng, ID_BUCKETS));
        assert_true(id > last);
        last = id;
    }
}

TEST(ids_are_above_the_floor)
{
    struct id_gen old = {0};
    uint64_t floor = id_next(&old, NOW_MS, ID_BUCKETS - 1);
    struct id_gen gen = {0};
    id_raise_floor(&gen, floor);
    assert_true(id_next(&gen, NOW_MS, 0) > floor);
    struct id_gen behind = {0};
    id_raise_floor(&behind, floor);
    assert_true(id_next(&behind, NOW_MS - 1000, 0) > floor);
}

TEST(the_newest_is_a_floor_for_who_goes_on)
{
    struct id_gen old = {0};
    uint64_t id = 0;
    for (uint32_t i = 0; i < 10000; i++)
        id = id_next(&old, NOW_MS, (uint32_t)rng_below(&rng, ID_BUCKETS));
    assert_int_equal(id_newest(&old), id);
    struct id_gen gen = {0};
    id_raise_floor(&gen, id_newest(&old));
    assert_true(id_next(&gen, NOW_MS, 0) > id);
}

TEST(a_lower_floor_changes_nothing)
{
    struct id_gen gen = {0};
    uint64_t id = id_next(&gen, NOW_MS, 7);
    id_raise_floor(&gen, 1);
    assert_int_equal(id_next(&gen, NOW_MS, 7), id + 1);
}

TEST(an_id_knows_when_and_where_it_was_made)
{
    struct id_gen gen = {0};
    uint64_t id = id_next(&gen, NOW_MS, 777);
    assert_int_equal(id_time_ms(id), NOW_MS);
    assert_int_equal(id_bucket(id), 777);
}

TEST(text_reads_back_as_the_same_id)
{
    char text[ID_TEXT_MAX];
    for (int i = 0; i < 10000; i++) {
        uint64_t id = rng_next(&rng) >> (1 + rng_below(&rng, 63));
        uint64_t back;
        assert_int_equal(id_parse(id_format(text, ID_EXEC, id), ID_EXEC, &back, NULL), RC_OK);
        assert_true(back == id);
    }
}

TEST(text_sorts_as_the_numbers_do)
{
    char a_text[ID_TEXT_MAX];
    char b_text[ID_TEXT_MAX];
    for (int i = 0; i < 10000; i++) {
        uint64_t a = rng_next(&rng) >> 1;
        uint64_t b = rng_next(&rng) >> 1;
        int order = str_cmp(id_format(a_text, ID_JOB, a), id_format(b_text, ID_JOB, b));
        assert_int_equal(order < 0, a < b);
    }
}

TEST(an_id_has_thirteen_digits_behind_its_prefix)
{
    char text[ID_TEXT_MAX];
    assert_true(str_eq(id_format(text, ID_JOB, 0), STR("job_0000000000000")));
    assert_true(str_eq(id_format(text, ID_WORKER, INT64_MAX), STR("wrk_7zzzzzzzzzzzz")));
}

TEST(what_is_not_exactly_an_id_is_refused)
{
    static const struct str bad[] = {
        STR_INIT(""),
        STR_INIT("job_"),
        STR_INIT("exec_01k5d2vhc0a00"),
        STR_INIT("job_01k5d2vhc0a0"),
        STR_INIT("job_01k5d2vhc0a000"),
        STR_INIT("job_01K5D2VHC0A00"),
        STR_INIT("job_01k5d2vhc0a0u"), /* Crockford left out i, l, o and u */
        STR_INIT("job_8000000000000"), /* the sign bit */
        STR_INIT("job_zzzzzzzzzzzzz"),
        STR_INIT("job_01k5d2vhc0a0\0"),
        STR_INIT(" job_01k5d2vhc0a00"),
    };
    struct err err;
    uint64_t id = 7;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(id_parse(bad[i], ID_JOB, &id, &err), RC_INVALID);
    assert_int_equal(id, 7);
}

static int begin(void **state)
{
    (void)state;
    rng = test_rng();
    return 0;
}

TEST(a_part_of_an_id_stands_for_those_that_have_it)
{
    char text[ID_TEXT_MAX];
    struct id_part part;
    for (int i = 0; i < 1000; i++) {
        uint64_t id = rng_next(&rng) >> 1;
        struct str whole = id_format(text, ID_JOB, id);
        size_t count = ID_PART_DIGITS_MIN + (size_t)rng_below(&rng, 7);
        assert_true(id_part_parse(str_of(whole.ptr, 4 + count), ID_JOB, &part));
        assert_true(id >= part.min && id < part.end && (id & part.mask) == part.tail);
        assert_false((id ^ UINT64_C(1) << (5 * (ID_DIGITS - count))) >= part.min &&
                     (id ^ UINT64_C(1) << (5 * (ID_DIGITS - count))) < part.end);
        char end[ID_TEXT_MAX + 4];
        snprintf(end, sizeof end, "%s%s", i % 2 == 0 ? "…" : "job_...",
                 whole.ptr + whole.len - count);
        assert_true(id_part_parse(str_c(end), ID_JOB, &part));
        assert_true(id >= part.min && id < part.end && (id & part.mask) == part.tail);
        assert_false(((id ^ 1) & part.mask) == part.tail);
    }
}

TEST(what_is_no_part_of_an_id_is_told_apart)
{
    static const char *const texts[] = {"",
                                        "job_",
                                        "job_01k5d",
                                        "01k5d2",
                                        "…01k5d",
                                        "…",
                                        "nightly",
                                        "job_01k5dU",
                                        "job_zzzzzz",
                                        "job_01k5d2vhc0a000",
                                        "…01k5d2vhc0a000"};
    struct id_part part;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(id_part_parse(str_c(texts[i]), ID_JOB, &part));
    assert_false(id_part_parse(STR("exec_01k5d2"), ID_JOB, &part));
    assert_true(id_is_any(STR("exec_01k5d2vhc0a00")));
    assert_false(id_is_any(STR("exec_01k5d2vhc0a0")));
    assert_false(id_is_any(STR("backup_01k5d2vhc0a00")));
}

TEST_GROUP(begin, NULL)
