#include "engine/estimate/forecast.h"
#include "base/mem.h"
#include "base/plant.h"
#include "engine/core/exec.h"
#include "engine/estimate/forecast_copy.h"
#include "engine/submit/definition.h"

#include <stdlib.h>

enum {
    NONE = -1,
    AGE_MS = 250,       /* of a forecast that is made anew, … */
    STEPS_PER_MS = 4,   /* … and a millisecond more for so many steps of a microsecond or less */
    LOOKS_PER_STEP = 8, /* what it costs to look at a worker or a run */
};

void forecast_drop(struct forecast *f)
{
    if (f != NULL)
        f->dropped = true;
}

void forecast_free(struct forecast *f)
{
    if (f != NULL)
        play_free(&f->play);
    free(f);
}

static double later(double a_ms, double b_ms)
{
    return a_ms > b_ms ? a_ms : b_ms;
}

/* ---- a forecast, and what it says */

static void make(struct forecast *f, const struct engine *e)
{
    forecast_copy(f, e);
    play_run(&f->play);
    f->made_ms = e->boot_ms;
    f->ready_len = e->ready.len;
    f->cost = 1 + f->play.steps + f->looks / LOOKS_PER_STEP;
    f->asked = 0;
    f->dropped = false;
}

static bool is_stale(const struct forecast *f, const struct engine *e)
{
    int64_t age_ms = e->boot_ms - f->made_ms;
    return f->serial == 0 || f->dropped || age_ms >= AGE_MS + (int64_t)f->cost / STEPS_PER_MS ||
           (f->asked >= f->cost && (age_ms > 0 || f->ready_len != e->ready.len));
}

static struct forecast *newest(struct engine *e)
{
    if (e->forecast == NULL)
        e->forecast = MEM_NEW(struct forecast);
    if (is_stale(e->forecast, e))
        make(e->forecast, e);
    e->forecast->asked++;
    return e->forecast;
}

/* When its turn comes. Behind all that was copied stand those that came since. */
static double turn_ms(const struct progress *progress, struct rank rank, double since,
                      double each_ms)
{
    double at_ms = progress_at_ms(progress, rank);
    bool behind = at_ms == progress->open_ms;
    double ahead = since - progress->room;
    return behind && ahead > 0 ? at_ms + ahead * each_ms : at_ms;
}

/* How many more wait in its track than when the forecast was made. */
static double since_of(const struct forecast *f, const struct track *track)
{
    uint64_t then = is_copied(f, &track->copied) ? f->play.groups[track->copied.index].len : 0;
    return track->heap.len > then ? (double)(track->heap.len - then) : 0;
}

static double mean_of(const struct forecast *f, const struct exec *x)
{
    const struct definition_rules *rules = &x->job->v.def->rules;
    const struct usual *usual = usual_of(rules->track, rules->queue);
    return usual_is_known(usual) ? usual->mean_ms : f->mean_ms;
}

static double slots_ms(const struct forecast *f, const struct engine *e, const struct exec *x,
                       struct rank rank, const struct served *served)
{
    const struct track *track = x->job->v.def->rules.track;
    uint32_t crews = crews_of(f, e, track->lane);
    double best_ms = NONE;
    for (uint32_t i = 0; i < f->play.crew_count; i++) {
        const struct play_crew *crew = &f->play.crews[i];
        if ((crews >> i & 1) == 0 || crew->slots == 0)
            continue;
        double ms =
            turn_ms(&crew->progress, rank, since_of(f, track), mean_of(f, x) / (double)crew->slots);
        best_ms = best_ms < 0 || ms < best_ms ? ms : best_ms;
    }
    if (best_ms >= 0)
        return best_ms;
    double ahead = (double)track->heap.len - (double)served->free; /* in a line of its own */
    return later(ahead, 0) * mean_of(f, x) / (double)served->slots;
}

/* A limit that nothing waited for when the forecast was made, or that was one too many: a line of
 * its own, in which its runs have come half of their way. */
static double line_ms(const struct track *track, uint32_t held, uint32_t max, double mean_ms)
{
    uint64_t ahead = held + track->heap.len;
    return ahead <= max ? 0 : ((double)(ahead - max) - 0.5) * mean_ms / max;
}

static double permit_ms(const struct forecast *f, const struct copied *copied, struct rank rank,
                        const struct exec *x, uint32_t held, uint32_t max)
{
    const struct track *track = x->job->v.def->rules.track;
    double mean_ms = mean_of(f, x);
    if (!is_copied(f, copied))
        return line_ms(track, held, max, mean_ms);
    return turn_ms(&f->play.limits[copied->index].progress, rank, since_of(f, track),
                   mean_ms / max);
}

static double rate_ms(const struct forecast *f, const struct engine *e, const struct bar *bar,
                      struct rank rank)
{
    const struct limit *limit = bar->limit;
    double each_ms = (double)bar->interval_us / 1000;
    if (is_copied(f, &limit->copied))
        return turn_ms(&f->play.limits[limit->copied.index].progress, rank, since_of(f, bar->track),
                       each_ms);
    double ahead = bar->track->heap.len > 0 ? bar->track->heap.len - 1 : 0;
    return later((double)limit->v.next_us / 1000 - (double)e->now_ms, 0) + each_ms * ahead;
}

static double permits_ms(const struct forecast *f, const struct exec *x, struct rank rank)
{
    const struct track *track = x->job->v.def->rules.track;
    const struct queue *queue = x->job->v.def->rules.queue;
    double ms = 0;
    for (size_t i = 0; i < BARS; i++) {
        const struct bar *bar = &track->bars[i];
        const struct limit *limit = bar->limit;
        if (limit == NULL || limit->kind == LIMIT_RATE)
            continue;
        uint32_t max = limit->kind == LIMIT_TEAM ? limit->v.max : bar->max;
        if (max > 0)
            ms = later(ms, permit_ms(f, &limit->copied, rank, x, limit->held, max));
    }
    if (queue->v.concurrency > 0)
        ms = later(ms, permit_ms(f, &queue->copied, rank, x, queue->held, queue->v.concurrency));
    return ms;
}

/* How long it takes itself, or something else that waits. */
static bool is_length_known(const struct forecast *f, const struct exec *x)
{
    const struct definition_rules *rules = &x->job->v.def->rules;
    return f->known || usual_is_known(usual_of(rules->track, rules->queue));
}

bool forecast_wait_ms(struct engine *e, const struct exec *x, struct rank rank,
                      const struct served *served, int64_t *ret_ms)
{
    const struct forecast *f = newest(e);
    const struct track *track = x->job->v.def->rules.track;
    bool limited = !exec_has_permits(x);
    double places_ms = slots_ms(f, e, x, rank, served);
    double starts_ms = 0;
    if (limited)
        places_ms = later(places_ms, permits_ms(f, x, rank));
    if (limited && track->bars[BAR_RATE].limit != NULL)
        starts_ms = rate_ms(f, e, &track->bars[BAR_RATE], rank);
    if (PLANTED(estimate_piles_up))
        places_ms *= (double)(2 + f->ready_len);
    *ret_ms = (int64_t)later(places_ms, starts_ms);
    return places_ms == 0 || is_length_known(f, x);
}
