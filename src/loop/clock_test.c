#include "loop/clock.h"

#include "base/test/test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DAY_US (INT64_C(86400) * 1000000)

static int64_t own_offset_us(void)
{
    return clock_own_wall_ms() * 1000 - clock_boot_us();
}

static struct timeline go_by(int64_t offset_us)
{
    struct timeline line;
    timeline_join(&line, 60000, offset_us, clock_boot_us());
    clock_go_by(&line);
    return line;
}

/* Somebody may set the clock while this runs; nobody does it all the time. */
TEST(the_two_clocks_of_a_moment_tick_together)
{
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

TEST(a_moment_is_now_and_never_early)
{
    for (int i = 0; i < 1000; i++) {
        struct moment now = clock_now();
        int64_t wall_ms = clock_wall_ms();
        assert_true(now.wall_ms <= wall_ms);
        assert_true(wall_ms - now.wall_ms < 10000); /* or the machine stood still in between */
    }
}

TEST(a_timeline_takes_the_place_of_the_machines_clock)
{
    go_by(own_offset_us() + DAY_US);
    int64_t ahead_ms = clock_wall_ms() - clock_own_wall_ms();
    assert_in_range(ahead_ms, DAY_US / 1000 - 100, DAY_US / 1000 + 100);
    struct moment now = clock_now();
    assert_in_range(now.wall_ms - clock_own_wall_ms(), DAY_US / 1000 - 100, DAY_US / 1000 + 100);
    assert_false(now.unsure);
    assert_int_equal(now.stepped_ms, 0);
}

TEST(a_moment_tells_of_an_accepted_step)
{
    int64_t own_us = own_offset_us();
    struct timeline line = go_by(own_us);
    assert_int_equal(clock_now().stepped_ms, 0);
    assert_int_equal(timeline_accept(&line, own_us + DAY_US, line.at_us), DAY_US);
    clock_go_by(&line);
    struct moment now = clock_now();
    assert_int_equal(now.stepped_ms, DAY_US / 1000);
    assert_in_range(now.wall_ms - now.shaken_ms + 1, 0, 60000); /* a millisecond begins */
    assert_int_equal(clock_steps().count, 1);
}

TEST(an_unsure_start_goes_on_from_the_newest_id)
{
    int64_t newest_ms = clock_own_wall_ms() + 2 * DAY_US / 1000;
    struct timeline line;
    timeline_begin(&line, 60000, newest_ms, own_offset_us(), clock_boot_us(), false);
    clock_go_by(&line);
    struct moment now = clock_now();
    assert_true(now.unsure && !clock_is_sure());
    assert_in_range(now.wall_ms, newest_ms - 1, newest_ms + 60000);
}

TEST(towards_an_earlier_time_it_only_runs_slower)
{
    int64_t own_us = own_offset_us();
    struct timeline line = go_by(own_us + 1000000);
    int64_t before_ms = clock_wall_ms();
    timeline_follow(&line, own_us, clock_boot_us());
    clock_go_by(&line);
    int64_t begin_us = clock_mono_us();
    int64_t last_ms = clock_wall_ms();
    int64_t elapsed_us = 0;
    assert_true(last_ms >= before_ms);
    while (elapsed_us < 50000) {
        elapsed_us = clock_mono_us() - begin_us; /* first: we may be put aside in between */
        int64_t now_ms = clock_wall_ms();
        assert_true(now_ms >= last_ms);
        last_ms = now_ms;
    }
    assert_true(last_ms - before_ms >=
                elapsed_us / 1000 * 8 / 10); /* and it does not stand still */
}

/* As a service manager does that protects the clock. False: this machine cannot. */
static bool forbid_asking(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_adjtimex, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_adjtime, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof rules / sizeof rules[0], .filter = rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(a_system_that_does_not_say_is_not_synchronised)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(forbid_asking() && clock_own_is_synced());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}
