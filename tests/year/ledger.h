/* ledger.h - every slot of every schedule, in the order in which it must be written down.
 *
 * The ledger hears of each delta that the store has kept. It walks each schedule by itself, slot by
 * slot, and ends the program when one is missing, doubled, early, or stands in no range. What it
 * walks by is the program's own schedule_next; that this forgets no day and keeps none twice where
 * clocks change is checked apart, for jobs that run once a day. */
#pragma once
#include "base/map.h"
#include "job/record/record.h"
#include "job/time/schedule.h"

enum { JOBS = 1000 };

struct planned {
    uint64_t job_id; /* 0: not kept yet */
    struct schedule schedule;
    int64_t stagger_ms; /* as its document says */
    bool daily;         /* one slot for each date of its zone, whatever clocks do */
    struct slot first;
    struct slot newest; /* the last one that is written down */
    uint64_t recorded;  /* slots of this schedule, in all */
    uint64_t unfinished;
    uint64_t past; /* slots of schedules that it had before */
    uint32_t version;
    struct schedule wish; /* somebody edits it: what its schedule is to be … */
    bool wish_daily;      /* … and what goes with it */
    int64_t wish_stagger_ms;
    struct schedule old; /* while the delta of the edit is kept */
    bool edited;
};

struct ledger {
    struct planned jobs[JOBS];
    struct map by_id;
    uint64_t fired;   /* executions of slots that were to run */
    uint64_t skipped; /* slots that were not */
    uint64_t ranges;  /* records that stand for many */
    uint64_t edits;
};

/* The store keeps this, now. Payloads say which job it is of: {"n":17}. */
void ledger_keep(struct ledger *l, const struct delta *delta, int64_t now_ms);
/* The year is over: all is decided, one slot of each job is ahead, and counting finds as many slots
 * as the walk did. */
void ledger_close(const struct ledger *l, int64_t now_ms);
