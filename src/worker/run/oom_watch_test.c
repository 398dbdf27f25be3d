#include "worker/run/oom_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static void says(const struct oom_watch *watch, const char *text)
{
    assert_int_equal(ftruncate(watch->fd, 0), 0);
    assert_int_equal(pwrite(watch->fd, text, strlen(text), 0), strlen(text));
}

static void the_kernels_number_is_found_among_others(void **state)
{
    (void)state;
    struct oom_watch watch = {.fd = memfd_create("oom", MFD_CLOEXEC)};
    says(&watch, "low 0\nhigh 0\nmax 9\noom 4\noom_kill 3\n"); /* memory.events */
    assert_int_equal(oom_watch_count(&watch), 3);
    says(&watch, "oom_kill_disable 0\nunder_oom 0\noom_kill 12\n"); /* memory.oom_control */
    assert_int_equal(oom_watch_count(&watch), 12);
    says(&watch, "oom_kill_disable 1\n");
    assert_int_equal(oom_watch_count(&watch), 0);
    oom_watch_close(&watch);
    assert_int_equal(watch.fd, -1);
    assert_int_equal(oom_watch_count(&watch), 0);
}

static void looking_at_this_machine_does_no_harm(void **state)
{
    (void)state;
    struct oom_watch watch;
    oom_watch_open(&watch);
    assert_true(oom_watch_count(&watch) >= 0);
    oom_watch_close(&watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernels_number_is_found_among_others),
        cmocka_unit_test(looking_at_this_machine_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
