#include "loop/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Somebody may set the clock while this runs; nobody does it all the time. */
static void the_two_clocks_of_a_moment_tick_together(void **state)
{
    (void)state;
    struct moment last = clock_now();
    int changes = 0;
    for (int i = 0; i < 500000; i++) {
        struct moment now = clock_now();
        changes += now.wall_ms - now.boot_ms != last.wall_ms - last.boot_ms;
        assert_true(now.boot_ms >= last.boot_ms);
        last = now;
    }
    assert_in_range(changes, 0, 3);
}

static void a_moment_is_now_and_never_early(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct moment now = clock_now();
        int64_t wall_ms = clock_wall_ms();
        assert_true(now.wall_ms <= wall_ms);
        assert_true(wall_ms - now.wall_ms < 10000); /* or the machine stood still in between */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_two_clocks_of_a_moment_tick_together),
        cmocka_unit_test(a_moment_is_now_and_never_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
