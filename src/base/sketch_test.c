#include "base/err.h"

#include "base/sketch.h"
#include "base/test/test.h"

#include <stdlib.h>

enum { VALUES = 5000 };

static struct rng rng;

static int by_value(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* From a millisecond to years, each power of two as often. */
static uint64_t draw(void)
{
    return rng_below(&rng, UINT64_C(2) << rng_below(&rng, 38));
}

TEST(an_empty_sketch_says_zero)
{
    struct sketch s = {0};
    assert_int_equal(sketch_quantile(&s, 500), 0);
    assert_int_equal(sketch_quantile(&s, 1000), 0);
}

TEST(small_values_are_exact)
{
    for (uint64_t value = 0; value < 2 * SKETCH_STEPS; value++) {
        struct sketch s = {0};
        sketch_add(&s, value);
        assert_int_equal(sketch_quantile(&s, 1), value);
        assert_int_equal(sketch_quantile(&s, 1000), value);
    }
}

TEST(every_quantile_is_within_a_sixteenth)
{
    static uint64_t values[VALUES];
    struct sketch s = {0};
    for (size_t i = 0; i < VALUES; i++)
        sketch_add(&s, values[i] = draw());
    qsort(values, VALUES, sizeof *values, by_value);
    for (uint32_t permille = 1; permille <= 1000; permille++) {
        uint64_t exact = values[(VALUES * permille + 999) / 1000 - 1];
        uint64_t told = sketch_quantile(&s, permille);
        uint64_t off = told > exact ? told - exact : exact - told;
        assert_true(off * 16 <= exact);
    }
}

TEST(merged_sketches_are_the_sketch_of_all)
{
    struct sketch all = {0};
    struct sketch parts[3] = {0};
    struct sketch merged = {0};
    for (size_t i = 0; i < VALUES; i++) {
        uint64_t value = draw();
        sketch_add(&all, value);
        sketch_add(&parts[rng_below(&rng, COUNT_OF(parts))], value);
    }
    for (size_t i = COUNT_OF(parts); i-- > 0;)
        sketch_merge(&merged, &parts[i]);
    assert_memory_equal(&merged, &all, sizeof all);
}

TEST(what_is_too_long_counts_as_the_longest)
{
    struct sketch s = {0};
    sketch_add(&s, UINT64_MAX);
    assert_true(sketch_quantile(&s, 500) > UINT64_C(1) << 41);
}

static int begin(void **state)
{
    (void)state;
    rng = test_rng();
    return 0;
}

TEST_GROUP(begin, NULL)
