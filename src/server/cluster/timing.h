/* timing.h - what to make of samples of the clock that counts. Pure: readings go in, and a timeline
 * (job/time/timeline.h) comes out; its callers have clocks to read (server/cluster/timekeeper.h).
 *
 * Alone with its store a server goes by this machine's clock. Servers that share a database go by
 * the database's: every renewal asks for its time and knows when it asked and when it heard. The
 * answer was given somewhere in between, so a quick one says more than a slow one, and one that
 * took longer than half a second says nothing, unless there is no better one for a minute. Of those
 * that are near the time we go by, the best counts; older ones count less, since two clocks drift
 * apart.
 *
 * A step, when the clock was really set, is accepted by one server for all: the owner of the first
 * partition. The others see in its row which time it goes by, and follow. So all of them skip, or
 * repeat, the same slots. */
#pragma once
#include "job/time/timeline.h"

#include <stddef.h>

enum {
    TIMING_SAMPLES = 32,
    TIMING_SLOW_US = 500000, /* an answer that took longer says nothing, while there are others */
};

struct time_sample {
    int64_t offset_us; /* the database's clock minus our boot clock */
    int64_t error_us;  /* at most so much off, when it was taken */
    int64_t at_us;     /* boot clock */
};

/* How the time is kept. */
struct time_rules {
    int64_t step_ms;
    bool trust_sync; /* the system is believed about its clock */
};

/* The clocks of this machine, read together. */
struct time_reading {
    int64_t boot_us;
    int64_t offset_us; /* the wall clock minus the boot clock */
    bool synced;       /* the system says that the wall clock is right */
};

struct timing {
    struct time_rules rules;
    struct timeline line; /* the time to go by */
    struct time_sample samples[TIMING_SAMPLES];
    size_t count; /* ever */
    struct time_sample
        slow;          /* the best of those that took too long, since the newest that did not */
    int64_t usable_us; /* when that was; 0: there was none */
    unsigned strikes;  /* how often in a row the leader went by another time than we do */
    bool overdue;      /* a start took what there was */
};

/* One answer of the database. */
struct time_answer {
    int64_t database_ms;
    int64_t sent_us; /* boot clock, as the other */
    int64_t heard_us;
};

/* The time by the rows of other servers. */
struct time_company {
    bool leads;        /* we are the owner of the first partition: we decide */
    bool has_leader;   /* another is, and its row is new since the last answer, … */
    int64_t ahead_us;  /* … and goes by a time that is ahead of the database's by this */
    bool has_others;   /* there are others that know the time; after a gap theirs counts … */
    int64_t median_us; /* … which is ahead of the database's by this */
};

/* ---- alone */

/* The first sample. newest_ms: the time of the newest id; TIMELINE_NO_ID: there is none. */
void timing_begin(struct timing *t, const struct time_rules *rules, int64_t newest_ms,
                  const struct time_reading *own);
/* Whether it is time for another one: a second has passed. */
bool timing_is_due(const struct timing *t, int64_t boot_us);
/* Another one. True: a step was accepted. */
bool timing_look(struct timing *t, const struct time_reading *own);

/* ---- in a cluster */

/* The first answer: of others when there are any, else by the newest id. */
void timing_enter(struct timing *t, const struct time_rules *rules, int64_t newest_ms,
                  const struct time_answer *answer, const struct time_company *company,
                  const struct time_reading *own);
/* Another one. True: a step was accepted. */
bool timing_sample(struct timing *t, const struct time_answer *answer,
                   const struct time_company *company, const struct time_reading *own);
/* Another one after a gap, in which others may have accepted a step. */
bool timing_back(struct timing *t, const struct time_answer *answer,
                 const struct time_company *company, const struct time_reading *own);

/* ---- the parts */

/* Takes a sample that is near the time we go by. Says the best offset there is. */
int64_t timing_add(struct timing *t, const struct time_sample *sample);
/* Whether there is something to go by: the answer as a sample, or an older one that was slow. */
bool timing_usable(struct timing *t, const struct time_answer *answer,
                   struct time_sample *ret_sample);
