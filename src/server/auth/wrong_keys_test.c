#include "server/auth/wrong_keys.h"

#include "base/test/test.h"

#include <string.h>

enum { NOW_MS = 5000 };

static struct http_origin address(unsigned number)
{
    struct http_origin from = {{1}};
    memcpy(from.bytes + 4, &number, sizeof number);
    return from;
}

/* Ten wrong keys of this address, which it is told are wrong. */
static void try_ten(struct wrong_keys *wrong, unsigned number)
{
    for (int i = 0; i < WRONG_KEYS_A_MINUTE; i++)
        assert_int_equal(wrong_keys_count(wrong, address(number), NOW_MS), 0);
}

TEST(the_eleventh_wrong_key_of_a_minute_is_told_to_wait)
{
    struct wrong_keys *wrong = wrong_keys_new();
    try_ten(wrong, 1);
    assert_int_equal(wrong_keys_count(wrong, address(1), NOW_MS), 60);
    assert_int_equal(wrong_keys_count(wrong, address(1), NOW_MS + 59999), 1);
    wrong_keys_free(wrong);
}

TEST(after_a_minute_it_begins_anew)
{
    struct wrong_keys *wrong = wrong_keys_new();
    try_ten(wrong, 1);
    assert_int_equal(wrong_keys_count(wrong, address(1), NOW_MS + 60000), 0);
    wrong_keys_free(wrong);
}

TEST(another_address_has_a_count_of_its_own)
{
    struct wrong_keys *wrong = wrong_keys_new();
    try_ten(wrong, 1);
    assert_int_equal(wrong_keys_count(wrong, address(2), NOW_MS), 0);
    wrong_keys_free(wrong);
}

TEST(addresses_without_a_place_share_one_count)
{
    struct wrong_keys *wrong = wrong_keys_new();
    for (unsigned i = 0; i < WRONG_ADDRESSES; i++)
        assert_int_equal(wrong_keys_count(wrong, address(i), NOW_MS), 0);
    for (unsigned i = 0; i < WRONG_KEYS_A_MINUTE; i++)
        assert_int_equal(wrong_keys_count(wrong, address(WRONG_ADDRESSES + i), NOW_MS), 0);
    assert_int_equal(wrong_keys_count(wrong, address(5 * WRONG_ADDRESSES), NOW_MS), 60);
    assert_int_equal(wrong_keys_count(wrong, address(0), NOW_MS), 0);
    wrong_keys_free(wrong);
}
