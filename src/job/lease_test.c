#include "job/lease.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct lease never = {0};

static void every_grant_has_a_larger_token(void **state)
{
    (void)state;
    struct lease first = lease_grant(&never, 7, 1000, 500);
    struct lease second = lease_grant(&first, 8, 2000, 500);
    assert_int_equal(first.token, 1);
    assert_int_equal(second.token, 2);
    assert_int_equal(second.worker_id, 8);
    assert_int_equal(second.ends_ms, 2500);
    assert_false(second.confirmed);
}

static void a_worker_that_lost_its_lease_cannot_report(void **state)
{
    (void)state;
    struct err err;
    struct lease first = lease_grant(&never, 7, 1000, 500);
    struct lease second = lease_grant(&first, 7, 2000, 500);
    assert_int_equal(lease_check(&second, 7, first.token, &err), RC_STALE);
    assert_int_equal(lease_check(&second, 7, second.token, &err), RC_OK);
}

static void another_worker_cannot_report_with_the_right_token(void **state)
{
    (void)state;
    struct err err;
    struct lease lease = lease_grant(&never, 7, 1000, 500);
    assert_int_equal(lease_check(&lease, 8, lease.token, &err), RC_STALE);
}

static void nobody_holds_what_was_released(void **state)
{
    (void)state;
    struct err err;
    struct lease lease = lease_grant(&never, 7, 1000, 500);
    lease_release(&lease);
    assert_int_equal(lease_check(&lease, 7, 1, &err), RC_STALE);
    assert_int_equal(lease_check(&lease, 0, 1, &err), RC_STALE);
    assert_int_equal(lease_grant(&lease, 8, 2000, 500).token, 2);
}

static void renewing_never_moves_the_end_back(void **state)
{
    (void)state;
    struct lease lease = lease_grant(&never, 7, 1000, 500);
    lease_renew(&lease, 1400, 500);
    assert_int_equal(lease.ends_ms, 1900);
    lease_renew(&lease, 900, 500); /* the clock was set back */
    assert_int_equal(lease.ends_ms, 1900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_grant_has_a_larger_token),
        cmocka_unit_test(a_worker_that_lost_its_lease_cannot_report),
        cmocka_unit_test(another_worker_cannot_report_with_the_right_token),
        cmocka_unit_test(nobody_holds_what_was_released),
        cmocka_unit_test(renewing_never_moves_the_end_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
