#include "loop/steady.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { WALL = 1000000, BOOT = 5000 };

static void it_is_the_wall_clock_while_that_goes_forward(void **state)
{
    (void)state;
    struct steady s = {0};
    assert_int_equal(steady_ms(&s, WALL, BOOT), WALL);
    assert_int_equal(steady_ms(&s, WALL + 7, BOOT + 7), WALL + 7);
    assert_int_equal(steady_ms(&s, WALL + 90000, BOOT + 8), WALL + 90000);
}

static void time_goes_on_when_the_clock_is_set_back(void **state)
{
    (void)state;
    struct steady s = {0};
    steady_ms(&s, WALL, BOOT);
    assert_int_equal(steady_ms(&s, WALL - 90000, BOOT), WALL);
    assert_int_equal(steady_ms(&s, WALL - 90000 + 1000, BOOT + 1000), WALL + 750);
}

static void asking_often_does_not_hold_it_up(void **state)
{
    (void)state;
    struct steady s = {0};
    steady_ms(&s, WALL, BOOT);
    for (int i = 1; i <= 1000; i++)
        steady_ms(&s, WALL - 90000 + i, BOOT + i);
    assert_int_equal(s.now_ms, WALL + 750);
}

static void the_clock_is_met_again(void **state)
{
    (void)state;
    struct steady s = {0};
    steady_ms(&s, WALL, BOOT);
    for (int i = 0; i <= 4000; i++)
        steady_ms(&s, WALL - 1000 + i, BOOT + i);
    assert_int_equal(s.now_ms, WALL + 3000);
    assert_int_equal(steady_ms(&s, WALL + 3001, BOOT + 4001), WALL + 3001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_wall_clock_while_that_goes_forward),
        cmocka_unit_test(time_goes_on_when_the_clock_is_set_back),
        cmocka_unit_test(asking_often_does_not_hold_it_up),
        cmocka_unit_test(the_clock_is_met_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
