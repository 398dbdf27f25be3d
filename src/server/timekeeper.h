/* timekeeper.h - samples the clock that counts, and makes the process go by it (job/timeline.h).
 *
 * Alone with its store that is this machine's clock. Servers that share a database go by the database's:
 * every renewal asks for its time and knows when it asked and when it heard. The answer was given
 * somewhere in between, so a quick one says more than a slow one, and one that took longer than half a
 * second says nothing, unless there is no better one for a minute. Of those that are near the time we go
 * by, the best counts; older ones count less, since two clocks drift apart.
 *
 * A step, when the clock was really set, is accepted by one server for all: the owner of the first
 * partition. The others see in its row which time it goes by, and follow. So all of them skip, or repeat,
 * the same slots. */
#pragma once
#include "loop/clock.h"
#include "server/options.h"

#include <stddef.h>

enum { TIMEKEEPER_SAMPLES = 32 };

struct time_sample {
    int64_t offset_us; /* the database's clock minus our boot clock */
    int64_t error_us;  /* at most so much off, when it was taken */
    int64_t at_us;     /* boot clock */
};

/* How the time is kept; a copy of the settings. */
struct timekeeper_rules {
    int64_t step_ms;
    bool trust_sync; /* what the system says about its clock (adjtimex) counts */
};

struct timekeeper {
    struct timekeeper_rules rules;
    struct time_sample samples[TIMEKEEPER_SAMPLES];
    size_t count; /* ever */
    int64_t told_skew_ms;
    struct time_sample
        slow;          /* the best of those that took too long, since the newest that did not */
    int64_t usable_us; /* when that was; 0: there was none */
    unsigned strikes;  /* how often in a row the leader went by another time than we do */
    bool overdue;      /* a start took what there was: to be told */
};

/* One answer of the database. */
struct time_answer {
    int64_t database_ms;
    int64_t sent_us; /* boot clock, as the other */
    int64_t heard_us;
};

/* What the rows of others say about the time. */
struct time_company {
    bool leads;        /* we are the owner of the first partition: we decide */
    bool has_leader;   /* another is, and its row is new since the last answer, … */
    int64_t ahead_us;  /* … and goes by a time that is ahead of the database's by this */
    bool has_others;   /* there are others that know the time; after a gap theirs counts … */
    int64_t median_us; /* … which is ahead of the database's by this */
};

struct timekeeper_rules timekeeper_rules_of(const struct server_options *options);

/* ---- alone */

/* The first sample. newest_ms: the time of the newest id; TIMELINE_NO_ID: there is none. */
void timekeeper_begin(struct timekeeper *t, const struct timekeeper_rules *rules,
                      int64_t newest_ms);
/* Another one, when a second has passed. True: a step was accepted. */
bool timekeeper_look(struct timekeeper *t);

/* ---- in a cluster */

/* The first answer: of others when there are any, else by the newest id. */
void timekeeper_enter(struct timekeeper *t, const struct timekeeper_rules *rules, int64_t newest_ms,
                      const struct time_answer *answer, const struct time_company *company);
/* Another one. True: a step was accepted. */
bool timekeeper_sample(struct timekeeper *t, const struct time_answer *answer,
                       const struct time_company *company);
/* Another one after a gap, in which others may have accepted a step. */
bool timekeeper_back(struct timekeeper *t, const struct time_answer *answer,
                     const struct time_company *company);

/* ---- the pure parts */

/* Takes a sample that is near the time we go by. Says the best offset there is. */
int64_t timekeeper_add(struct timekeeper *t, const struct time_sample *sample);
/* Whether there is something to go by: the answer as a sample, or an older one that was slow. */
bool timekeeper_usable(struct timekeeper *t, const struct time_answer *answer,
                       struct time_sample *ret_sample);
