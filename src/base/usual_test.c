#include "base/test/test.h"
#include "base/usual.h"

static double mean_of(const double *lengths_ms, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += lengths_ms[i];
    return sum / (double)count;
}

/* Four of five take 10 ms, the others 100. */
static struct usual two_sorts(void)
{
    struct usual u = {0};
    for (size_t i = 0; i < 200; i++)
        usual_learn(&u, i % 5 == 0 ? 100 : 10);
    return u;
}

TEST(nothing_is_known_before_a_run_has_ended)
{
    struct usual u = {0};
    assert_false(usual_is_known(&u));
    usual_learn(&u, 0); /* it ended within the millisecond in which it began */
    assert_true(usual_is_known(&u));
    assert_true(u.mean_ms == 1);
}

TEST(runs_that_take_the_same_have_one_length)
{
    struct usual u = {0};
    double lengths_ms[USUAL_LENGTHS];
    for (size_t i = 0; i < 7; i++)
        usual_learn(&u, 5000);
    usual_lengths(&u, lengths_ms);
    for (size_t i = 0; i < USUAL_LENGTHS; i++)
        assert_true(lengths_ms[i] == 5000);
}

TEST(lengths_differ_as_the_runs_did_and_have_their_mean)
{
    const struct usual u = two_sorts();
    double lengths_ms[USUAL_LENGTHS];
    usual_lengths(&u, lengths_ms);
    double mean_ms = mean_of(lengths_ms, USUAL_LENGTHS);
    assert_true(mean_ms > 25 && mean_ms < 31);
    assert_true(u.mean_ms > 25 && u.mean_ms < 31);
    for (size_t i = 0; i < USUAL_LENGTHS; i++)
        assert_true(lengths_ms[i] < 13 || (lengths_ms[i] > 80 && lengths_ms[i] <= 100));
}

TEST(any_eight_lengths_in_a_row_are_a_fair_choice)
{
    struct usual u = {0};
    double lengths_ms[USUAL_LENGTHS];
    for (int64_t i = 1; i <= USUAL_LENGTHS; i++)
        usual_learn(&u, i * 100);
    usual_lengths(&u, lengths_ms);
    for (size_t i = 0; i + 8 <= USUAL_LENGTHS; i++) {
        double mean_ms = mean_of(lengths_ms + i, 8);
        assert_true(mean_ms > u.mean_ms * 0.75 && mean_ms < u.mean_ms * 1.25);
    }
}

TEST(a_change_is_learnt)
{
    struct usual u = {0};
    for (size_t i = 0; i < 1000; i++)
        usual_learn(&u, 1000);
    for (size_t i = 0; i < 400; i++)
        usual_learn(&u, 3000);
    assert_true(u.mean_ms > 2800 && u.mean_ms <= 3000);
}

TEST(a_run_that_has_taken_long_already_is_one_of_the_long_ones)
{
    const struct usual u = two_sorts();
    double lengths_ms[USUAL_LENGTHS];
    usual_lengths(&u, lengths_ms);
    for (size_t number = 0; number < 8; number++) {
        double rest_ms = usual_rest_ms(lengths_ms, 20, number);
        assert_true(rest_ms > 60 && rest_ms <= 80);
        assert_true(usual_rest_ms(lengths_ms, 5000, number) > 0);
    }
}
