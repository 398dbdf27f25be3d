#include "loop/clock.h"

#include <assert.h>
#include <errno.h>
#include <time.h>

static struct timespec ask(clockid_t id)
{
    struct timespec now;
    int failed = clock_gettime(id, &now);
    assert(failed == 0); /* only an unknown clock fails, and Linux has had these since 2.6.39 */
    (void)failed;
    return now;
}

int64_t clock_wall_ms(void)
{
    struct timespec now = ask(CLOCK_REALTIME);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_boot_ms(void)
{
    struct timespec now = ask(CLOCK_BOOTTIME);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct moment clock_now(void)
{
    return (struct moment){.wall_ms = clock_wall_ms(), .boot_ms = clock_boot_ms()};
}

int64_t clock_mono_us(void)
{
    struct timespec now = ask(CLOCK_MONOTONIC);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void clock_pause_us(int64_t us)
{
    struct timespec left = {us / 1000000, us % 1000000 * 1000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}
