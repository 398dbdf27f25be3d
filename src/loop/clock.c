#include "loop/clock.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/timex.h>
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

/* ---- this machine's own wall clock */

enum {
    TOGETHER_US = 100, /* three calls take less than one */
    TRIES = 10,
};

int64_t clock_own_offset_us(int64_t *ret_boot_us)
{
    int64_t boot_us;
    int64_t wall_us;
    int tries = 0;
    do { /* again when we were put aside between the two */
        boot_us = clock_boot_us();
        wall_us = micros(ask(CLOCK_REALTIME));
    } while (clock_boot_us() - boot_us > TOGETHER_US && ++tries < TRIES);
    *ret_boot_us = boot_us;
    return wall_us - boot_us;
}

bool clock_own_is_synced(void)
{
    struct timex about = {0};
    int state = adjtimex(&about); /* fails where a service manager protects the clock */
    return state >= 0 && state != TIME_ERROR && (about.status & STA_UNSYNC) == 0;
}

/* ---- the timeline */

static struct {
    pthread_mutex_t lock; /* never held across a call of anybody else's */
    atomic_bool on;
    struct timeline line;
} timeline = {.lock = PTHREAD_MUTEX_INITIALIZER};

void clock_go_by(const struct timeline *line)
{
    pthread_mutex_lock(&timeline.lock);
    timeline.line = *line;
    timeline.on = true;
    pthread_mutex_unlock(&timeline.lock);
}

/* As it is at that boot time. Without one, time is what this machine says. */
static struct timeline look(void)
{
    struct timeline line = {0};
    if (!atomic_load_explicit(&timeline.on, memory_order_relaxed)) {
        line.sure = true;
        line.from_us = line.to_us = clock_own_offset_us(&line.at_us);
        return line;
    }
    pthread_mutex_lock(&timeline.lock);
    line = timeline.line;
    pthread_mutex_unlock(&timeline.lock);
    return line;
}

bool clock_is_sure(void)
{
    return look().sure;
}

struct timeline_steps clock_steps(void)
{
    return look().steps;
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
    struct timeline line = look();
    int64_t boot_us = clock_boot_us();
    return (boot_us + timeline_offset_us(&line, boot_us)) / 1000;
}

/* Both go from one millisecond to the next at the same instant, or what is 200 ms apart by the one
 * could be 199 by the other. The boot clock comes second: a step in between belongs to the next
 * moment, and no moment has a part of one. */
struct moment clock_now(void)
{
    struct timeline line = look();
    int64_t boot_us = clock_boot_us();
    int64_t boot_ms = boot_us / 1000;
    return (struct moment){
        .wall_ms = boot_ms + steady_ms(timeline_offset_us(&line, boot_us)),
        .boot_ms = boot_ms,
        .stepped_ms = line.stepped_us / 1000,
        .shaken_ms = line.shaken_ms,
        .unsure = !line.sure,
    };
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
