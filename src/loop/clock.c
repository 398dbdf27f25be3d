#include "loop/clock.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
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

static int64_t micros(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

enum {
    SLACK_US = 1500,
    TOGETHER_US = 100, /* three calls take less than one */
    TRIES = 10,
};

/* What the wall clock is ahead of the boot clock, in whole milliseconds. Rounded down, so that nothing
 * starts early, and kept while it is still true to within the slack: two clocks that are asked one
 * after the other never lie apart by exactly the same time, and at the edge of a millisecond the wall
 * clock would tremble. */
static int64_t ahead_ms(int64_t ahead_us)
{
    static _Atomic int64_t kept_ms = INT64_MIN / 1000;
    int64_t kept = atomic_load_explicit(&kept_ms, memory_order_relaxed);
    int64_t since_us = ahead_us - kept * 1000;
    if (since_us >= 0 && since_us < SLACK_US)
        return kept;
    kept = ahead_us / 1000 - (ahead_us % 1000 < 0);
    atomic_store_explicit(&kept_ms, kept, memory_order_relaxed);
    return kept;
}

/* Both go from one millisecond to the next at the same instant, or what is 200 ms apart by the one
 * could be 199 by the other. */
struct moment clock_now(void)
{
    int64_t boot_us;
    int64_t wall_us;
    int tries = 0;
    do { /* again when we were put aside between the two */
        boot_us = micros(ask(CLOCK_BOOTTIME));
        wall_us = micros(ask(CLOCK_REALTIME));
    } while (micros(ask(CLOCK_BOOTTIME)) - boot_us > TOGETHER_US && ++tries < TRIES);
    int64_t boot_ms = boot_us / 1000;
    return (struct moment){.wall_ms = boot_ms + ahead_ms(wall_us - boot_us), .boot_ms = boot_ms};
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
