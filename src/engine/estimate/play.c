#include "engine/estimate/play.h"
#include "base/list.h"

#include <assert.h>
#include <string.h>

enum {
    NONE = -1,
    TICKS = 1024, /* keys of the heap are such parts of a millisecond: nothing is rounded */
    APART = 8,    /* of slots that become taken at one moment, so many parts go on by themselves */
    WATCH_MS = 10000,
    POINTS_APART_MS = 200,
    POINTS_PART = 20, /* of the time gone by */
    TOGETHER = 16,    /* runs are taken together as far as that is this part of the time gone by */
};

static double later(double a_ms, double b_ms)
{
    return a_ms > b_ms ? a_ms : b_ms;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void play_reset(struct play *p)
{
    p->ends.len = 0;
    p->group_count = p->crew_count = p->limit_count = p->run_count = p->steps = 0;
    p->unused = NULL;
    p->now_ms = 0;
}

void play_free(struct play *p)
{
    heap_free(&p->ends);
}

/* ---- how far it has come */

/* A moment that is not much later than the one before says nothing new: the ranks that came to
 * their turn by then count as of the one before. */
static bool is_near(double before_ms, double now_ms)
{
    return now_ms - before_ms < POINTS_APART_MS || now_ms - before_ms < now_ms / POINTS_PART;
}

static void note(struct progress *progress, struct rank rank, double now_ms)
{
    size_t len = progress->len;
    if (progress->open_ms >= 0 || (len > 0 && !rank_before(progress->points[len - 1].rank, rank)))
        return;
    if (len == 0 || (len < PLAY_POINTS && !is_near(progress->points[len - 1].at_ms, now_ms))) {
        progress->points[len].at_ms = now_ms;
        progress->len = ++len;
    }
    progress->points[len - 1].rank = rank;
}

static void open_up(struct progress *progress, double now_ms, double room)
{
    if (progress->open_ms >= 0)
        return;
    progress->open_ms = now_ms;
    progress->room = room;
}

double progress_at_ms(const struct progress *progress, struct rank rank)
{
    size_t low = 0;
    for (size_t high = progress->len; low < high;) {
        size_t middle = (low + high) / 2;
        if (rank_before(progress->points[middle].rank, rank))
            low = middle + 1;
        else
            high = middle;
    }
    return low < progress->len ? progress->points[low].at_ms : progress->open_ms;
}

/* ---- runs */

static struct play_run *take_run(struct play *p)
{
    struct play_run *run = p->unused;
    if (run != NULL)
        p->unused = run->next;
    else if (p->run_count < PLAY_RUNS)
        run = &p->runs[p->run_count++];
    if (run != NULL)
        run->node.place = 0;
    return run;
}

void play_add_run(struct play *p, double ends_ms, uint64_t slots, uint32_t crew,
                  const struct play_bar bars[static PLAY_BARS])
{
    struct play_run *run = take_run(p);
    assert(run != NULL);
    run->slots = slots;
    run->crew = crew;
    for (size_t i = 0; i < PLAY_BARS; i++)
        run->limits[i] = bars[i].max > 0 ? bars[i].limit : UINT32_MAX;
    heap_push(&p->ends, &run->node, (uint64_t)(ends_ms * TICKS), (uint64_t)(run - p->runs));
}

static void end_run(struct play *p, struct play_run *run)
{
    heap_remove(&p->ends, &run->node);
    if (run->crew != UINT32_MAX)
        p->crews[run->crew].free += run->slots;
    for (size_t i = 0; i < PLAY_BARS; i++) {
        if (run->limits[i] != UINT32_MAX)
            p->limits[run->limits[i]].held -= least(run->slots, p->limits[run->limits[i]].held);
    }
    run->next = p->unused;
    p->unused = run;
}

/* ---- starts */

static bool comes(const struct play_group *g)
{
    return g->per_ms > 0;
}

static bool has_work(const struct play *p, const struct play_group *g)
{
    return comes(g) ? p->now_ms * g->per_ms >= (double)(g->taken + 1) : g->sample < g->sample_count;
}

static struct rank rank_of(const struct play_group *g)
{
    if (comes(g))
        return (struct rank){g->first_key + (uint64_t)((double)(g->taken + 1) / g->per_ms), 0};
    return g->samples[g->sample];
}

/* For so many the limits have room now. */
static uint64_t room_of(const struct play *p, const struct play_group *g)
{
    uint64_t room = UINT64_MAX;
    for (size_t i = 0; i < PLAY_BARS; i++) {
        const struct play_bar *bar = &g->bars[i];
        if (bar->limit == UINT32_MAX)
            continue;
        const struct play_limit *limit = &p->limits[bar->limit];
        uint64_t one = bar->max == 0            ? limit->next_ms <= p->now_ms
                       : limit->held < bar->max ? bar->max - limit->held
                                                : 0;
        room = least(room, one);
    }
    return room;
}

static struct play_group *best_group(struct play *p, size_t crew)
{
    struct play_group *best = NULL;
    for (size_t i = 0; i < p->group_count; i++) {
        struct play_group *g = &p->groups[i];
        if ((g->crews >> crew & 1) != 0 && has_work(p, g) &&
            (best == NULL || rank_before(rank_of(g), rank_of(best))) && room_of(p, g) > 0)
            best = g;
    }
    return best;
}

static uint64_t left_of(const struct play *p, const struct play_group *g)
{
    return comes(g) ? (uint64_t)(p->now_ms * g->per_ms) - g->taken : g->left;
}

static uint64_t sample_len(const struct play_group *g)
{
    return (g->sample + 1) * g->len / g->sample_count - g->sample * g->len / g->sample_count;
}

/* A sample stands for those before and behind it: its own turn comes with the one in the middle. */
static bool reaches_sample(const struct play_group *g, uint64_t jobs)
{
    return comes(g) || g->left - jobs <= sample_len(g) / 2;
}

static void take(struct play_group *g, uint64_t jobs)
{
    if (comes(g)) {
        g->taken += jobs;
        return;
    }
    g->left -= jobs;
    if (g->left > 0)
        return;
    g->sample++;
    g->left = sample_len(g);
}

/* The group's limits hear of its starts. */
static void note_limits(struct play *p, const struct play_group *g, uint64_t slots, uint64_t jobs)
{
    for (size_t i = 0; i < PLAY_BARS; i++) {
        if (g->bars[i].limit == UINT32_MAX)
            continue;
        struct play_limit *limit = &p->limits[g->bars[i].limit];
        if (reaches_sample(g, jobs))
            note(&limit->progress, rank_of(g), p->now_ms);
        limit->waiting -= comes(g) ? 0 : least(jobs, limit->waiting);
        if (g->bars[i].max > 0)
            limit->held += slots;
        else
            limit->next_ms =
                later(limit->next_ms, p->now_ms) + g->bars[i].interval_ms * (double)jobs;
    }
}

static double interval_of(const struct play_group *g)
{
    double longest_ms = 0;
    for (size_t i = 0; i < PLAY_BARS; i++) {
        if (g->bars[i].limit != UINT32_MAX && g->bars[i].max == 0)
            longest_ms = later(longest_ms, g->bars[i].interval_ms);
    }
    return longest_ms;
}

/* So many jobs, one after the other on each of these slots. Runs that are taken together differ
 * less than single ones. */
static void occupy(struct play *p, struct play_group *g, size_t crew, uint64_t slots, uint64_t jobs)
{
    uint64_t parts = least(slots, APART);
    double each = (double)jobs / (double)slots;
    for (uint64_t i = 0; i < parts; i++) {
        double length_ms = g->lengths_ms[++g->drawn % USUAL_LENGTHS];
        if (each > 1)
            length_ms = g->mean_ms;
        uint64_t part = slots * (i + 1) / parts - slots * i / parts;
        play_add_run(p, p->now_ms + each * length_ms, part, (uint32_t)crew, g->bars);
    }
}

static void start(struct play *p, struct play_group *g, size_t crew)
{
    struct play_crew *c = &p->crews[crew];
    double step_ms = later(later(g->mean_ms, interval_of(g)), 1);
    uint64_t together = 1 + (uint64_t)(p->now_ms / TOGETHER / step_ms);
    uint64_t left = left_of(p, g);
    uint64_t wanted = (left + together - 1) / together;
    uint64_t slots = least(least(c->free, room_of(p, g)), wanted);
    uint64_t jobs = least(left, slots * together);
    if (reaches_sample(g, jobs))
        note(&c->progress, rank_of(g), p->now_ms);
    note_limits(p, g, slots, jobs);
    occupy(p, g, crew, slots, jobs);
    c->free -= slots;
    take(g, jobs);
    p->steps++;
}

/* Room for the parts of one start more. */
static bool has_steps(const struct play *p)
{
    size_t runs = p->ends.len;
    return p->steps < PLAY_STEPS && runs + APART <= PLAY_RUNS;
}

/* A limit has room for whoever comes when nothing before them is going to take it with the next
 * slot. Work that another limit keeps takes none: it may be kept for hours. */
static void open_limits(struct play *p)
{
    bool wanted[PLAY_LIMITS] = {false};
    for (size_t i = 0; i < p->group_count; i++) {
        const struct play_group *g = &p->groups[i];
        bool waits = !comes(g) && has_work(p, g) && room_of(p, g) > 0;
        for (size_t n = 0; waits && n < PLAY_BARS; n++) {
            if (g->bars[n].limit != UINT32_MAX)
                wanted[g->bars[n].limit] = true;
        }
    }
    for (size_t i = 0; i < p->limit_count; i++) {
        struct play_limit *limit = &p->limits[i];
        bool room = limit->max == 0 ? limit->next_ms <= p->now_ms : limit->held < limit->max;
        if (!wanted[i] && room)
            open_up(&limit->progress, p->now_ms,
                    limit->max == 0 ? 1 : (double)(limit->max - limit->held));
    }
}

static void start_all(struct play *p)
{
    for (size_t i = 0; i < p->crew_count; i++) {
        struct play_crew *c = &p->crews[i];
        struct play_group *g = NULL;
        while (c->free > 0 && has_steps(p) && (g = best_group(p, i)) != NULL)
            start(p, g, i);
        if (c->free > 0 && g == NULL)
            open_up(&c->progress, p->now_ms, (double)c->free);
    }
    open_limits(p);
}

/* ---- time */

/* All that waited has started. */
static bool is_done(const struct play *p)
{
    for (size_t i = 0; i < p->group_count; i++) {
        if (!comes(&p->groups[i]) && p->groups[i].sample < p->groups[i].sample_count)
            return false;
    }
    return true;
}

/* There is room everywhere; or all has started, and what goes on coming has been watched for a
 * while, for those that come with a low priority. */
static bool is_over(struct play *p)
{
    bool open = true;
    for (size_t i = 0; i < p->crew_count; i++)
        open &= p->crews[i].slots == 0 || p->crews[i].progress.open_ms >= 0;
    for (size_t i = 0; i < p->limit_count; i++)
        open &= p->limits[i].progress.open_ms >= 0;
    if (p->done_ms < 0 && is_done(p))
        p->done_ms = p->now_ms;
    return open || (p->done_ms >= 0 && p->now_ms > p->done_ms * 5 / 4 + WATCH_MS);
}

/* Moves to the next moment at which something can change; false: there is none. */
static bool step_time(struct play *p)
{
    double next_ms = p->ends.len == 0 ? NONE : (double)heap_min(&p->ends)->key / TICKS;
    for (size_t i = 0; i < p->limit_count; i++) {
        const struct play_limit *limit = &p->limits[i];
        if (limit->max == 0 && limit->next_ms > p->now_ms &&
            (next_ms < 0 || limit->next_ms < next_ms))
            next_ms = limit->next_ms;
    }
    if (next_ms < 0)
        return false;
    p->now_ms = later(p->now_ms, next_ms);
    while (p->ends.len > 0 && (double)heap_min(&p->ends)->key <= p->now_ms * TICKS)
        end_run(p, CONTAINER_OF(heap_min(&p->ends)->node, struct play_run, node));
    return true;
}

/* What the play did not reach is reckoned: as much work as is left, by as many slots as there
 * are. */
static void reckon_rest(struct play *p)
{
    for (size_t i = 0; i < p->crew_count; i++) {
        double work_ms = 0;
        for (size_t n = 0; n < p->group_count; n++) {
            const struct play_group *g = &p->groups[n];
            if ((g->crews >> i & 1) == 0 || comes(g) || g->sample == g->sample_count)
                continue;
            uint64_t begun = g->sample * g->len / g->sample_count;
            work_ms += g->mean_ms * (double)(g->len - begun);
        }
        double slots = p->crews[i].slots > 0 ? (double)p->crews[i].slots : 1;
        open_up(&p->crews[i].progress, p->now_ms + work_ms / slots, 0);
    }
    for (size_t i = 0; i < p->limit_count; i++) {
        struct play_limit *limit = &p->limits[i];
        double each_ms = limit->max == 0 ? limit->interval_ms : limit->mean_ms / (double)limit->max;
        open_up(&limit->progress, p->now_ms + each_ms * (double)limit->waiting, 0);
    }
}

static void begin(struct progress *progress)
{
    progress->len = 0;
    progress->open_ms = NONE;
    progress->room = 0;
}

static void prepare(struct play *p)
{
    p->done_ms = NONE;
    for (size_t i = 0; i < p->group_count; i++) {
        struct play_group *g = &p->groups[i];
        g->sample = 0;
        g->left = g->sample_count == 0 ? 0 : g->len / g->sample_count;
        g->drawn = 0;
        g->taken = 0;
    }
    for (size_t i = 0; i < p->crew_count; i++)
        begin(&p->crews[i].progress);
    for (size_t i = 0; i < p->limit_count; i++)
        begin(&p->limits[i].progress);
}

void play_run(struct play *p)
{
    prepare(p);
    do
        start_all(p);
    while (!is_over(p) && has_steps(p) && step_time(p));
    reckon_rest(p);
}
