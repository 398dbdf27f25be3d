#include "loop/clock.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
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

static int64_t micros(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t clock_boot_us(void)
{
    return micros(ask(CLOCK_BOOTTIME));
}

int64_t clock_boot_ms(void)
{
    return clock_boot_us() / 1000;
}

/* ---- the clock of another machine */

enum { SLOWER = 10 }; /* by one part in so many, on the way to a smaller offset */

static struct {
    pthread_mutex_t lock; /* never held across a call of anybody else's */
    atomic_bool on;
    int64_t from_us; /* the offset when … */
    int64_t at_us;   /* … the boot clock said so, and … */
    int64_t to_us;   /* … where it goes from there */
} followed = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t offset_at(int64_t boot_us)
{
    int64_t slowed_us = followed.from_us - (boot_us - followed.at_us) / SLOWER;
    return slowed_us > followed.to_us ? slowed_us : followed.to_us;
}

void clock_follow(int64_t offset_us)
{
    int64_t boot_us = clock_boot_us();
    pthread_mutex_lock(&followed.lock);
    followed.from_us = followed.on ? offset_at(boot_us) : offset_us;
    followed.at_us = boot_us;
    followed.to_us = offset_us;
    followed.on = true;
    pthread_mutex_unlock(&followed.lock);
}

enum {
    TOGETHER_US = 100, /* three calls take less than one */
    TRIES = 10,
};

/* What our own wall clock is ahead of the boot clock. */
static int64_t own_offset(void)
{
    int64_t boot_us;
    int64_t wall_us;
    int tries = 0;
    do { /* again when we were put aside between the two */
        boot_us = clock_boot_us();
        wall_us = micros(ask(CLOCK_REALTIME));
    } while (clock_boot_us() - boot_us > TOGETHER_US && ++tries < TRIES);
    return wall_us - boot_us;
}

/* What counts as wall time is ahead of the boot clock by this. */
static int64_t offset_now(int64_t boot_us)
{
    if (!atomic_load_explicit(&followed.on, memory_order_relaxed))
        return own_offset();
    pthread_mutex_lock(&followed.lock);
    int64_t offset_us = offset_at(boot_us);
    pthread_mutex_unlock(&followed.lock);
    return offset_us;
}

/* ---- wall time */

enum { SLACK_US = 1500 };

/* An offset in whole milliseconds. Rounded down, so that nothing starts early, and kept while it is
 * still true to within the slack: two clocks that are asked one after the other never lie apart by
 * exactly the same time, and at the edge of a millisecond the wall clock would tremble. */
static int64_t steady_ms(int64_t offset_us)
{
    static _Atomic int64_t kept_ms = INT64_MIN / 4000; /* far from all, and within range */
    int64_t kept = atomic_load_explicit(&kept_ms, memory_order_relaxed);
    int64_t since_us = offset_us - kept * 1000;
    if (since_us >= 0 && since_us < SLACK_US)
        return kept;
    kept = offset_us / 1000 - (offset_us % 1000 < 0);
    atomic_store_explicit(&kept_ms, kept, memory_order_relaxed);
    return kept;
}

int64_t clock_own_wall_ms(void)
{
    return micros(ask(CLOCK_REALTIME)) / 1000;
}

int64_t clock_wall_ms(void)
{
    int64_t boot_us = clock_boot_us();
    return (boot_us + offset_now(boot_us)) / 1000;
}

/* Both go from one millisecond to the next at the same instant, or what is 200 ms apart by the one
 * could be 199 by the other. */
struct moment clock_now(void)
{
    int64_t boot_us = clock_boot_us();
    int64_t boot_ms = boot_us / 1000;
    return (struct moment){.wall_ms = boot_ms + steady_ms(offset_now(boot_us)), .boot_ms = boot_ms};
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
