/* clock.h - the three clocks, asked in one place.
 *
 * `job/` and `engine/` are handed a time; whoever hands it over gets it here. Which clock a number
 * comes from is part of the call's name, because mixing them is a bug that tests do not find. */
#pragma once

#include "base/when.h"

/* Milliseconds since 1970: what people and other machines mean by time. It jumps. */
int64_t clock_wall_ms(void);
/* The same by this machine's own clock, also when another one is followed. */
int64_t clock_own_wall_ms(void);
/* Milliseconds since the machine started, the time it slept included: for leases and ownership,
 * which do not stop running out while a laptop is closed. */
int64_t clock_boot_ms(void);
int64_t clock_boot_us(void);
/* Both of these. */
struct moment clock_now(void);
/* Microseconds that never jump; for measuring, and for deadlines of waits. */
int64_t clock_mono_us(void);

/* From now on wall time is that of another machine: our boot clock plus offset_us. Servers that share
 * a database go by its clock. It never goes back: towards a smaller offset time runs slower for a
 * while, by a tenth. From any thread. */
void clock_follow(int64_t offset_us);

/* Does nothing for that long: between two tries, never as a way to wait for something. */
void clock_pause_us(int64_t us);
