#include "job/lease.h"

#include "base/test/test.h"

static const struct lease never = {0};

TEST(every_grant_has_a_larger_token)
{
    struct lease first = lease_grant(&never, 7, 1000, 500);
    struct lease second = lease_grant(&first, 8, 2000, 500);
    assert_int_equal(first.token, 1);
    assert_int_equal(second.token, 2);
    assert_int_equal(second.worker_id, 8);
    assert_int_equal(second.ends_ms, 2500);
    assert_false(second.confirmed);
}

TEST(a_worker_that_lost_its_lease_cannot_report)
{
    struct err err;
    struct lease first = lease_grant(&never, 7, 1000, 500);
    struct lease second = lease_grant(&first, 7, 2000, 500);
    assert_int_equal(lease_check(&second, 7, first.token, &err), RC_STALE);
    assert_int_equal(lease_check(&second, 7, second.token, &err), RC_OK);
}

TEST(another_worker_cannot_report_with_the_right_token)
{
    struct err err;
    struct lease lease = lease_grant(&never, 7, 1000, 500);
    assert_int_equal(lease_check(&lease, 8, lease.token, &err), RC_STALE);
}

TEST(nobody_holds_what_was_released)
{
    struct err err;
    struct lease lease = lease_grant(&never, 7, 1000, 500);
    lease_release(&lease);
    assert_int_equal(lease_check(&lease, 7, 1, &err), RC_STALE);
    assert_int_equal(lease_check(&lease, 0, 1, &err), RC_STALE);
    assert_int_equal(lease_grant(&lease, 8, 2000, 500).token, 2);
}

TEST(renewing_never_moves_the_end_back)
{
    struct lease lease = lease_grant(&never, 7, 1000, 500);
    lease_renew(&lease, 1400, 500);
    assert_int_equal(lease.ends_ms, 1900);
    lease_renew(&lease, 900, 500); /* the clock was set back */
    assert_int_equal(lease.ends_ms, 1900);
}

TEST(a_grant_is_its_workers_own_as_long_as_it_is_the_newest)
{
    struct grant held = {.live = true, .newest = 2, .holder_id = 7};
    struct grant ended = {.live = true, .newest = 2, .past_id = 7};
    assert_int_equal(grant_standing(&held, 7, 2), STANDING_HELD);
    assert_int_equal(grant_standing(&held, 8, 2), STANDING_NONE);
    assert_int_equal(grant_standing(&held, 7, 1), STANDING_NONE);
    assert_int_equal(grant_standing(&held, 7, 3), STANDING_NONE);
    assert_int_equal(grant_standing(&ended, 7, 2), STANDING_LATE);
    assert_int_equal(grant_standing(&ended, 8, 2), STANDING_NONE);
}

TEST(a_grant_that_was_followed_by_another_is_past)
{
    struct grant elsewhere = {.live = true, .newest = 3, .holder_id = 8, .past_id = 7};
    struct grant again = {.live = true, .newest = 3, .holder_id = 7, .past_id = 7};
    struct grant over = {.past_id = 7};
    assert_int_equal(grant_standing(&elsewhere, 7, 2), STANDING_PAST);
    assert_int_equal(grant_standing(&again, 7, 2), STANDING_PAST);
    assert_int_equal(grant_standing(&over, 7, 2), STANDING_PAST);
    assert_int_equal(grant_standing(&over, 8, 2), STANDING_NONE);
}

TEST(nobody_has_no_standing)
{
    struct grant free = {.live = true, .newest = 2};
    assert_int_equal(grant_standing(&free, 0, 2), STANDING_NONE);
    assert_int_equal(grant_standing(&(struct grant){0}, 0, 0), STANDING_NONE);
    assert_int_equal(grant_standing(&free, 7, 2), STANDING_NONE);
}
