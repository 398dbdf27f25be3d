/* timekeeper.h - what time it is in the database, as close as can be told.
 *
 * Every renewal asks for the database's time and knows when it asked and when it heard. The answer
 * was given somewhere in between, so a quick one says more than a slow one. The best of the newest
 * samples counts; older ones count less, since two clocks drift apart. Where samples contradict each
 * other, the database's clock was set (or another machine is the database now): the newest counts. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TIMEKEEPER_SAMPLES = 32 };

struct time_sample {
    int64_t offset_us; /* the database's clock minus our boot clock */
    int64_t error_us;  /* at most so much off, when it was taken */
    int64_t at_us;     /* boot clock */
};

/* How often the database's clock was set, as far as this server saw. */
struct clock_jumps {
    uint64_t count;
    int64_t by_ms; /* the newest … */
    int64_t at_ms; /* … and when that was, by the clock as it went on */
};

struct timekeeper {
    struct time_sample samples[TIMEKEEPER_SAMPLES];
    size_t count; /* ever */
    int64_t told_skew_ms;
    struct clock_jumps jumps;
};

/* Takes a sample, and makes the process follow the best there is (clock_follow). A clock that was
 * set, and one of our own that is off, are told to the log. */
void timekeeper_sample(struct timekeeper *t, int64_t database_ms, int64_t sent_us,
                       int64_t heard_us);
/* The best offset; the pure part of it. */
int64_t timekeeper_add(struct timekeeper *t, int64_t database_ms, int64_t sent_us, int64_t heard_us,
                       int64_t *ret_jump_us);
