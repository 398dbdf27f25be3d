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

static int64_t micros(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Both go from one millisecond to the next at the same instant, or what is 200 ms apart by the one
 * could be 199 by the other. */
struct moment clock_now(void)
{
    int64_t wall_us = micros(ask(CLOCK_REALTIME));
    int64_t boot_us = micros(ask(CLOCK_BOOTTIME));
    int64_t boot_ms = boot_us / 1000;
    return (struct moment){.wall_ms = boot_ms + (wall_us - boot_us) / 1000, .boot_ms = boot_ms};
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
