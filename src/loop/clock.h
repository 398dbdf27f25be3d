/* clock.h - the three clocks, asked in one place.
 *
 * `job/` and `engine/` are handed a time; their callers get it here. Which clock a number comes
 * from is part of the call's name, because mixing them is a bug that tests do not find.
 *
 * In a server wall time is a timeline (job/time/timeline.h): the boot clock plus an offset that was
 * accepted, by samples of this machine's own clock or of the database's. Other programs just ask
 * the machine. */
#pragma once

#include "base/when.h"
#include "job/time/timeline.h"

/* Milliseconds since 1970: what people and other machines mean by time. In a server it jumps with
 * an accepted step only. */
int64_t clock_wall_ms(void);
/* The same by this machine's own clock, whatever it says. */
int64_t clock_own_wall_ms(void);
/* Milliseconds since the machine started, the time it slept included: for leases and ownership,
 * which do not stop running out while a laptop is closed. */
int64_t clock_boot_ms(void);
int64_t clock_boot_us(void);
/* Both of these, and what became of wall time since the start. */
struct moment clock_now(void);
/* Microseconds that never jump; for measuring, and for deadlines of waits. */
int64_t clock_mono_us(void);

/* ---- the timeline of this process; from any thread */

/* By how much this machine's wall clock is ahead of its boot clock, and when that was. */
int64_t clock_own_offset_us(int64_t *ret_boot_us);
/* Whether the system says that its clock is synchronised (adjtimex). */
bool clock_own_is_synced(void);

/* Wall time is this timeline from now on. Until the first call it is what this machine says. One
 * thread calls it. */
void clock_go_by(const struct timeline *line);
bool clock_is_sure(void);
struct timeline_steps clock_steps(void);

/* Does nothing for that long: between two tries, never as a way to wait for something. */
void clock_pause_us(int64_t us);
