#include "worker/run/oom_watch.h"

#include "base/test/test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void says(const struct oom_watch *watch, const char *text)
{
    assert_int_equal(ftruncate(watch->fd, 0), 0);
    assert_int_equal(pwrite(watch->fd, text, strlen(text), 0), strlen(text));
}

TEST(the_kernels_number_is_found_among_others)
{
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

TEST(looking_at_this_machine_does_no_harm)
{
    struct oom_watch watch;
    oom_watch_open(&watch);
    assert_true(oom_watch_count(&watch) >= 0);
    oom_watch_close(&watch);
}
