#include "job/record/letter.h"

#include "base/test/test.h"

static const struct letter_rec letter = {
    .place = {.died_ms = 1000, .exec_id = 7},
    .job_id = 3,
    .state = EXEC_FAILED,
    .queue = STR_INIT("mail"),
    .name = STR_INIT("nightly"),
    .class = FAILURE_NETWORK,
    .fingerprint = 0xabc,
};

TEST(an_empty_filter_fits_all)
{
    struct letter_filter none = {0};
    assert_true(letter_filter_is_empty(&none));
    assert_true(letter_fits(&none, &letter));
}

TEST(every_part_of_a_filter_has_to_fit)
{
    static const struct letter_filter fitting[] = {
        {.queue = STR_INIT("mail")},
        {.name = STR_INIT("nightly")},
        {.class = FAILURE_NETWORK},
        {.fingerprint = 0xabc},
        {.job_id = 3},
        {.died_after_ms = 1000},
        {.died_before_ms = 1001},
    };
    static const struct letter_filter others[] = {
        {.queue = STR_INIT("mails")},
        {.name = STR_INIT("night")},
        {.class = FAILURE_DISK},
        {.fingerprint = 0xab},
        {.job_id = 4},
        {.died_after_ms = 1001},
        {.died_before_ms = 1000},
    };
    for (size_t i = 0; i < COUNT_OF(fitting); i++) {
        assert_false(letter_filter_is_empty(&fitting[i]));
        assert_true(letter_fits(&fitting[i], &letter));
        assert_false(letter_filter_is_empty(&others[i]));
        assert_false(letter_fits(&others[i], &letter));
    }
}

TEST(letters_stand_by_their_deaths_then_by_their_ids)
{
    struct letter_place a = {1000, 9};
    assert_true(letter_order(a, (struct letter_place){1001, 1}) < 0);
    assert_true(letter_order(a, (struct letter_place){1000, 8}) > 0);
    assert_true(letter_order(a, (struct letter_place){1000, 10}) < 0);
    assert_int_equal(letter_order(a, a), 0);
}
