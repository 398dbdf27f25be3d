/* play.h - the next hours, played through with numbers alone.
 *
 * A small copy of what waits and of what serves it: *groups* of waiting work (a track each),
 * *crews* (the slots of a worker class), *limits*, and *runs* that hold slots and limits until
 * they end. The play goes from one end of a run to the next; a slot that is free takes the best
 * of all groups that it serves and whose limits have room, as the grant does, for as long as
 * runs of that group usually take. It notes for each crew and each limit how far in the order of
 * ranks it had come when: so any execution, also one that came since, finds the moment of its
 * turn by its rank. What is going to come takes part as well: it goes before what waits with a
 * lower priority.
 *
 * The cost does not grow with what waits: a group is at most thirty-two samples of its order, a
 * sample stands for many, and the further away a moment is, the more runs are taken together.
 * Plain values of fixed size, no engine; forecast.c fills it in. Times are from the moment of
 * the copy. */
#pragma once
#include "base/heap.h"
#include "base/usual.h"

enum {
    PLAY_GROUPS = 96,
    PLAY_CREWS = 32,
    PLAY_LIMITS = 64,
    PLAY_BARS = 4, /* limits of a group: its queue, a key, a team, a rate */
    PLAY_RUNS = 1024,
    PLAY_SAMPLES = 32,
    PLAY_POINTS = 128,
    PLAY_STEPS = 4000, /* starts that one play goes through; what is left then is reckoned */
};

/* A place in the order of what waits, as in the heap of a track. */
struct rank {
    uint64_t key;
    uint64_t tie;
};

static inline bool rank_before(struct rank a, struct rank b)
{
    return a.key != b.key ? a.key < b.key : a.tie < b.tie;
}

/* How far a crew or a limit has come, and when. */
struct progress {
    struct {
        struct rank rank;
        double at_ms;
    } points[PLAY_POINTS];
    size_t len;
    double open_ms; /* from then on there is room for whoever comes; negative: not so far */
    double room;    /* for so many at that moment */
};

struct play_bar {
    uint32_t limit; /* among the play's; UINT32_MAX: none */
    uint32_t max;   /* so many at once; of a rate 0 */
    double interval_ms;
};

struct play_group {
    uint32_t crews; /* that serve it, as bits */
    struct play_bar bars[PLAY_BARS];
    double lengths_ms[USUAL_LENGTHS];
    double mean_ms;
    uint64_t len; /* how many wait */
    struct rank samples[PLAY_SAMPLES];
    size_t sample_count;
    size_t sample; /* the next one, … */
    uint64_t left; /* … and what is left of those that it stands for */
    uint32_t drawn;
    /* A group may be what is going to come, instead: so many in a millisecond, whose ranks are
     * those of something that came at the moment of the copy, and a millisecond more for each
     * one later. */
    double per_ms;
    uint64_t first_key;
    uint64_t taken;
};

struct play_crew {
    uint64_t slots;
    uint64_t free;
    struct progress progress;
};

struct play_limit {
    uint64_t held;
    uint64_t waiting;   /* in groups that have it */
    uint32_t max;       /* the largest of its bars */
    double next_ms;     /* of a rate: no start before this */
    double interval_ms; /* of a rate */
    double mean_ms;     /* of runs that hold it */
    struct progress progress;
};

struct play_run {
    struct heap_node node; /* in play.ends, or linked by `next` while it is not used */
    struct play_run *next;
    uint64_t slots;
    uint32_t crew; /* UINT32_MAX: it holds limits alone */
    uint32_t limits[PLAY_BARS];
};

struct play {
    double now_ms;
    double done_ms; /* when all that waited had started; negative: not so far */
    struct play_group groups[PLAY_GROUPS];
    size_t group_count;
    struct play_crew crews[PLAY_CREWS];
    size_t crew_count;
    struct play_limit limits[PLAY_LIMITS];
    size_t limit_count;
    struct play_run runs[PLAY_RUNS];
    size_t run_count;
    struct play_run *unused;
    struct heap ends; /* by parts of milliseconds */
    size_t steps;
};

/* Nothing waits, and nobody works; the memory is kept. */
void play_reset(struct play *p);
void play_free(struct play *p);
/* A run that is under way, and what it holds; bars: of its group. */
void play_add_run(struct play *p, double ends_ms, uint64_t slots, uint32_t crew,
                  const struct play_bar bars[static PLAY_BARS]);
/* Plays until there is room for whoever comes everywhere, or long enough. */
void play_run(struct play *p);
/* When something of that rank has its turn. */
double progress_at_ms(const struct progress *progress, struct rank rank);
