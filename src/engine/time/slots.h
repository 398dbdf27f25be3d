/* slots.h - jobs with a schedule: each of their slots gets exactly one outcome. */
#pragma once
#include "job/record/record.h"
#include "job/time/schedule.h"

struct command;
struct engine;
struct exec;
struct job;

/* ---- the slot ahead */

/* The execution ahead, when it is in memory. */
struct exec *slot_ahead(const struct job *job);
struct exec *slot_put_ahead(struct engine *e, struct job *job, const struct slot *slot);
/* The time of the slot ahead has come: decides about it and every later slot that has passed. */
void slot_due(struct engine *e, struct exec *x);
/* The slot ahead is over without having been due: puts the one after it ahead. */
void slot_put_next(struct engine *e, struct exec *x);

/* ---- the slot ahead moves; none of these looks back */

/* Skips, for this reason, the slots that were missed since the one ahead, if any. */
void slot_move_on(struct engine *e, struct exec *x, struct str reason);
/* The job's schedule has replaced old just now: skips what has passed of old, and puts the first
 * slot of the new one after now ahead. */
void slot_replan(struct engine *e, struct job *job, const struct schedule *old, struct str actor);
/* The zone's rules may have changed since the slot was planned: puts it where it belongs now. */
void slot_resettle(struct engine *e, struct exec *x);
/* The slot does not lie where the zone's rules put it. */
bool slot_strays(const struct engine *e, const struct exec *x);
/* The clock was set back by so much (a negative number). If the slot before the one ahead lies in
 * the future, too, the next one by the clock as it is now takes its place. */
void slot_step_back(struct engine *e, struct exec *x, int64_t by_ms, struct str reason);
/* The same where the clock that planned the slot is not known any more, for a slot whose
 * predecessor lies ahead by more than far_ms: after a smaller step back, the slots in between have
 * run. */
void slot_return(struct engine *e, struct exec *x, int64_t far_ms, struct str reason);
/* Makes the slot ahead the next one by the clock as it is now. */
void slot_plan_from_now(struct engine *e, struct exec *x, struct str reason);
/* The schedule is the same, but its runs are due sooner or later after their slots. */
void slot_shift(struct engine *e, struct job *job, struct str actor);

/* ---- overlap, and runs on request */

/* Lets the next execution go that waited for another to end, if none is under way. */
void slot_unblock(struct engine *e, struct job *job);
/* Run on request: a new run now, or, given `again`, that execution's slot again. */
struct exec *slot_trigger(struct engine *e, struct job *job, const struct exec_rec *again,
                          const struct command *cmd, struct str reason);
/* Another run of the job than `but` whose time has come and that is not over; NULL: none. */
struct exec *slot_under_way(const struct job *job, const struct exec *but);
/* The run that keeps another one from starting, by the job's own rule; NULL: none. */
const struct exec *slot_in_the_way(const struct job *job);
