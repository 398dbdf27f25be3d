#include "base/err.h"
#include "base/rng_test.h"
#include "base/sketch.h"

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

static void an_empty_sketch_says_zero(void **state)
{
    (void)state;
    struct sketch s = {0};
    assert_int_equal(sketch_quantile(&s, 500), 0);
    assert_int_equal(sketch_quantile(&s, 1000), 0);
}

static void small_values_are_exact(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 2 * SKETCH_STEPS; value++) {
        struct sketch s = {0};
        sketch_add(&s, value);
        assert_int_equal(sketch_quantile(&s, 1), value);
        assert_int_equal(sketch_quantile(&s, 1000), value);
    }
}

static void every_quantile_is_within_a_sixteenth(void **state)
{
    (void)state;
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

static void merged_sketches_are_the_sketch_of_all(void **state)
{
    (void)state;
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

static void what_is_too_long_counts_as_the_longest(void **state)
{
    (void)state;
    struct sketch s = {0};
    sketch_add(&s, UINT64_MAX);
    assert_true(sketch_quantile(&s, 500) > UINT64_C(1) << 41);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_sketch_says_zero),
        cmocka_unit_test(small_values_are_exact),
        cmocka_unit_test(every_quantile_is_within_a_sixteenth),
        cmocka_unit_test(merged_sketches_are_the_sketch_of_all),
        cmocka_unit_test(what_is_too_long_counts_as_the_longest),
    };
    rng = rng_for_test(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
