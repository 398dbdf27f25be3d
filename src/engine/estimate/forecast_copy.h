/* forecast_copy.h - a forecast as its own files see it: forecast_copy.c fills the play with
 * numbers of the engine, forecast.c plays it and answers. */
#pragma once
#include "engine/core/model.h"
#include "engine/estimate/forecast.h"

/* What there is of a worker class. */
struct crew_slots {
    int64_t all;
    int64_t free;
    int64_t busy;
    int64_t copied; /* of the busy ones */
};

struct lengths {
    const struct usual *usual;
    double ms[USUAL_LENGTHS];
};

struct forecast {
    uint32_t serial;
    bool dropped;
    int64_t made_ms;                   /* boot clock */
    size_t classes_end;                /* copied worker classes lie before it */
    size_t cost;                       /* in steps */
    size_t asked;                      /* since it was made */
    size_t ready_len;                  /* how many waited then */
    bool known;                        /* how long at least something takes */
    double mean_ms;                    /* of all that waits and is known */
    size_t looks;                      /* at tracks, workers and runs */
    uint64_t copied_held[PLAY_LIMITS]; /* by runs that were copied */
    struct crew_slots slots[PLAY_CREWS];
    struct crew_slots nobody; /* workers that take nothing new */
    struct lengths lengths[32];
    struct play play;
};

/* Everything, under the next serial number. */
void forecast_copy(struct forecast *f, const struct engine *e);

/* It stands in the newest copy. */
static inline bool is_copied(const struct forecast *f, const struct copied *copied)
{
    return copied->serial == f->serial;
}

/* The copied worker classes that serve the lane, as bits. */
uint32_t crews_of(const struct forecast *f, const struct engine *e, const struct lane *lane);
/* How long runs of a track take: by its own, by its lane's, by its queue's. */
const struct usual *usual_of(const struct track *track, const struct queue *queue);
