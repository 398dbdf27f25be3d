/* slot_gaps.h - slots of a schedule that nothing was decided about.
 *
 * Each slot of a job's schedule leaves one record, or is one of those that a record stands for that
 * were skipped together (engine/time/slots.h). So the slot that follows the last one of a record is
 * the first one of the next record, as long as the schedule stays the same. Pure. */
#pragma once
#include "job/record/record.h"
#include "job/time/schedule.h"

struct slot_gap {
    int64_t first_ms; /* the oldest slot without a record; 0: there is none */
    uint64_t count;   /* how many there are */
};

/* How far back records say anything. */
struct slot_floor {
    int64_t changed_ms; /* what is older is of another schedule */
    int64_t stepped_ms; /* … by another clock */
    int64_t keep_ms;    /* … deleted, all but a few that somebody needs; 0: nothing ever is */
};

/* execs: of one job, in any order; others than those of slots are passed over. What was decided
 * about slots after now_ms is of a clock that has been set back since. */
struct slot_gap slot_gaps_find(const struct schedule *schedule, const struct exec_rec *execs,
                               size_t count, const struct slot_floor *floor, int64_t now_ms,
                               struct arena *arena);
