#include "base/err.h"

#include "base/test/test.h"
#include "bench/harness/hist.h"

#include <stdlib.h>

static struct rng rng;

TEST(an_empty_histogram_says_zero)
{
    struct hist h = {0};
    assert_int_equal(hist_quantile(&h, 500), 0);
    assert_int_equal(hist_quantile(&h, 1000), 0);
    assert_int_equal(h.max, 0);
}

TEST(small_values_are_exact)
{
    struct hist h = {0};
    for (uint64_t i = 1; i <= 20; i++)
        hist_add(&h, i);
    assert_int_equal(hist_quantile(&h, 500), 10);
    assert_int_equal(hist_quantile(&h, 0), 1);
    assert_int_equal(hist_quantile(&h, 1000), 20);
}

TEST(one_sample_is_every_quantile)
{
    static const uint64_t values[] = {0, 1, 31, 32, 33, 63, 64, 1000, 1023, 1024, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        struct hist h = {0};
        hist_add(&h, values[i]);
        assert_int_equal(hist_quantile(&h, 0), values[i]);
        assert_int_equal(hist_quantile(&h, 990), values[i]);
        assert_int_equal(h.max, values[i]);
    }
}

TEST(the_p99_of_few_samples_is_the_worst)
{
    struct hist h = {0};
    for (int i = 0; i < 9; i++)
        hist_add(&h, 1);
    hist_add(&h, 7);
    assert_int_equal(hist_quantile(&h, 990), 7);
    assert_int_equal(hist_quantile(&h, 900), 1);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Compared with sorting the samples themselves. */
TEST(a_quantile_is_never_too_good_and_at_most_a_step_too_bad)
{
    enum { SAMPLES = 2000 };
    static uint64_t samples[SAMPLES];
    struct hist h = {0};
    for (size_t i = 0; i < SAMPLES; i++) {
        samples[i] = rng_next(&rng) >> (4 + rng_below(&rng, 60)); /* every order of magnitude */
        hist_add(&h, samples[i]);
    }
    qsort(samples, SAMPLES, sizeof samples[0], by_value);
    for (uint32_t permille = 1; permille <= 1000; permille++) {
        uint64_t exact = samples[(SAMPLES * permille + 999) / 1000 - 1];
        uint64_t told = hist_quantile(&h, permille);
        assert_true(told >= exact);
        assert_true(told - exact <= exact / HIST_STEPS);
    }
}

static int begin(void **state)
{
    (void)state;
    rng = test_rng();
    return 0;
}

TEST_GROUP(begin, NULL)
