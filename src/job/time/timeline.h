/* timeline.h - which time to go by, when the clock that tells it may be wrong.
 *
 * A clock is sampled every second: how far is it ahead of the boot clock, which only ever goes on?
 * Time is the boot clock plus the offset that was *accepted*. A sample near that is followed,
 * forwards at once and back by going slower, so small corrections and leap seconds are nobody's
 * business. A sample far from it is a *candidate*: time goes on as before, until the new value has
 * held for a while. So one wrong reading does nothing, and a clock that was really set is followed
 * a minute later, as a *step*, which whoever counts delays must know of.
 *
 * At a start nothing was accepted yet. The newest id in the store says when somebody was last here:
 * a clock that fits to that, or that is synchronised, is accepted at once. Otherwise time is
 * *unsure*: it goes on from the newest id, and nothing that waits for a moment may come due.
 *
 * Pure: samples and boot times go in. Microseconds throughout, since that is what clocks are read
 * in. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define TIMELINE_NEAR_US INT64_C(2000000)
#define TIMELINE_BACK_MS INT64_C(2000) /* a start may be this much before the newest id, … */
#define TIMELINE_AHEAD_MS INT64_C(604800000) /* … and this much after it: a week */
#define TIMELINE_SHAKES_MS INT64_C(3600000)  /* a larger step makes deletions wait */
#define TIMELINE_NO_ID INT64_MIN

enum {
    TIMELINE_SAMPLES = 30, /* that a candidate needs, or … */
    TIMELINE_SAMPLE_MS =
        2000, /* … one for each of these, when it has to hold for less than a minute */
    TIMELINE_PATIENCE =
        10,               /* times what a candidate has to hold: then a start takes what there is */
    TIMELINE_SLOWER = 10, /* by one part in so many, on the way to a smaller offset */
};

enum timeline_verdict {
    TIMELINE_NEAR,    /* of the accepted offset: to be followed */
    TIMELINE_DOUBTED, /* a candidate, or nothing yet */
    TIMELINE_HELD,    /* a candidate for long enough: may be accepted */
};

/* Steps that were accepted, for people. */
struct timeline_steps {
    uint64_t count;
    int64_t by_ms; /* the newest … */
    int64_t at_ms; /* … and when that was, by the clock as it went on */
};

struct timeline {
    int64_t step_ms; /* that a candidate has to hold */
    bool on;
    bool sure;
    int64_t from_us; /* the accepted offset when … */
    int64_t at_us;   /* … the boot clock said so, and … */
    int64_t to_us;   /* … where it goes from there */
    /* at a start */
    int64_t newest_ms; /* time of the newest id; TIMELINE_NO_ID */
    int64_t begun_us;
    /* the candidate */
    uint32_t samples; /* 0: there is none */
    int64_t first_us;
    int64_t since_us;
    /* the samples accepted since the start */
    int64_t stepped_us; /* all steps added up */
    int64_t shaken_ms;  /* wall time of the newest event that deletions wait behind; 0: none */
    struct timeline_steps steps;
};

/* The first sample. newest_ms: the time of the store's newest id, or TIMELINE_NO_ID. synced:
 * somebody who should know says that the clock is right. */
void timeline_begin(struct timeline *t, int64_t step_ms, int64_t newest_ms, int64_t offset_us,
                    int64_t boot_us, bool synced);
/* The same for whoever is told the time by those who are there already: accepted at once. */
void timeline_join(struct timeline *t, int64_t step_ms, int64_t offset_us, int64_t boot_us);

/* How to treat a sample. Near ones are not followed by this alone: there may be a better one. */
enum timeline_verdict timeline_judge(struct timeline *t, int64_t offset_us, int64_t boot_us,
                                     bool synced);
/* Goes by this offset from now on: at once when it is larger, else by a tenth slower. */
void timeline_follow(struct timeline *t, int64_t offset_us, int64_t boot_us);
/* Accepts another offset: a step, or the first one after a start that was unsure. Says by how much
 * time jumps with that. */
int64_t timeline_accept(struct timeline *t, int64_t offset_us, int64_t boot_us);
/* Unsure for so long that the newest sample is better than nothing. */
bool timeline_is_overdue(const struct timeline *t, int64_t boot_us);

/* By how much the time is ahead of the boot clock. */
int64_t timeline_offset_us(const struct timeline *t, int64_t boot_us);

/* The time that most agree on: the middle one, of an even number the lower of both. Sorts them. */
int64_t timeline_median(int64_t *offsets, uint32_t count);
