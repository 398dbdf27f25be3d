/* steady.h - the wall clock, without its way back.
 *
 * Whoever decides by the wall clock must see time go on: leases end, polls are answered, delays
 * pass. When the clock is set back, standing still until it has caught up would stop all of that,
 * perhaps for a day. So time then creeps, at three quarters of its pace: what waits for it comes a
 * little late but comes, and the clock, which runs on at its own, is met again. Slower than that,
 * and workers would take a parked poll for lost. The price: until the two meet, a job for a moment
 * that lies between them counts as due. Plain values: no I/O, no clock. */
#pragma once

#include <stdint.h>

struct steady {
    int64_t now_ms;  /* wall clock: what was last told; 0 before the first time */
    int64_t boot_ms; /* boot clock: how far it has been counted */
};

/* The time to go by, never earlier than it was. */
int64_t steady_ms(struct steady *s, int64_t wall_ms, int64_t boot_ms);
