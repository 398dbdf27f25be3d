#include "engine/estimate/forecast_copy.h"
#include "base/mem.h"
#include "engine/core/exec.h"
#include "engine/ready/workers.h"
#include "engine/submit/definition.h"

#include <stdlib.h>
#include <string.h>

enum {
    TRACKS_MAX = 1000,    /* that are looked at */
    RUNS_MAX = 640,       /* under way, copied one by one; other runs of the play need room, too */
    ARRIVALS_MS = 600000, /* what came so long ago still says what will come */
    RUNS_MIN = 4,         /* that make a track's own length better than that of its lane */
    PARTS = 8,            /* of runs that are copied together */
};

static double later(double a_ms, double b_ms)
{
    return a_ms > b_ms ? a_ms : b_ms;
}

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- slots */

/* Of so many slots at least those that are our part of the partitions are ours. */
static int64_t fair_slots(const struct engine *e, int64_t slots)
{
    int64_t fair = slots * partition_set_len(&e->owned) / e->owned.count;
    return fair > 0 || slots == 0 ? fair : 1;
}

/* How many others there are for each like us: two of three servers. */
static double others(const struct engine *e)
{
    uint32_t own = partition_set_len(&e->owned);
    return own == 0 ? 0 : (double)e->owned.count / own - 1;
}

static bool is_alone(const struct engine *e)
{
    return partition_set_len(&e->owned) == e->owned.count;
}

/* A worker whose poll waits with free slots offers other servers as many: nothing waits
 * anywhere. */
static int64_t free_slots(const struct engine *e, const struct worker *w)
{
    int64_t rest = (int64_t)w->slots - w->busy;
    if (is_alone(e))
        return rest;
    int64_t offered = w->v.parked == NULL ? 0 : w->v.offered;
    int64_t all = (int64_t)((double)offered * (1 + others(e)));
    return all < rest ? all : rest;
}

int64_t worker_own_slots(const struct engine *e, const struct worker *w)
{
    return w->busy + free_slots(e, w);
}

static bool takes_work(const struct engine *e, const struct worker *w)
{
    return !w->v.gone && !w->v.draining && w->v.cordon == NULL && !worker_is_silent(e, w);
}

static void copy_crews(struct forecast *f, const struct engine *e)
{
    const struct strmap *classes = &e->worker_classes.by_key;
    for (size_t i = 0; i < classes->cap && f->play.crew_count < PLAY_CREWS; i++) {
        struct worker_class *class = classes->slots[i].value;
        if (class == NULL)
            continue;
        class->copied = (struct copied){f->serial, (uint32_t)f->play.crew_count};
        f->classes_end = i + 1;
        f->play.crews[f->play.crew_count++] = (struct play_crew){.slots = 0};
    }
}

/* ---- how long runs take */

/* Tracks of suspects and of those with permits have learnt nothing of their own. */
const struct usual *usual_of(const struct track *track, const struct queue *queue)
{
    while (track->main != NULL || track->origin != NULL)
        track = track->main != NULL ? track->main : track->origin;
    if (track->learnt->usual.runs >= RUNS_MIN)
        return &track->learnt->usual;
    const struct usual *lane = &track->lane->learnt->usual;
    return usual_is_known(lane) ? lane : &queue->usual;
}

/* Where nothing is known, as long as all else that waits. */
static void set_lengths(struct play_group *g, double mean_ms)
{
    g->mean_ms = mean_ms;
    for (size_t i = 0; i < USUAL_LENGTHS; i++)
        g->lengths_ms[i] = mean_ms;
}

static void average_unknown(struct forecast *f)
{
    double sum_ms = 0;
    size_t count = 0;
    for (size_t i = 0; i < f->play.group_count; i++) {
        sum_ms += f->play.groups[i].mean_ms;
        count += f->play.groups[i].mean_ms > 0;
    }
    f->known = count > 0;
    f->mean_ms = count > 0 ? sum_ms / (double)count : 1;
    for (size_t i = 0; i < f->play.group_count; i++) {
        if (f->play.groups[i].mean_ms <= 0)
            set_lengths(&f->play.groups[i], f->mean_ms);
    }
}

/* ---- limits */

static uint32_t copy_limit(struct forecast *f, struct copied *copied, uint64_t held)
{
    if (is_copied(f, copied))
        return copied->index;
    if (f->play.limit_count == PLAY_LIMITS)
        return UINT32_MAX;
    *copied = (struct copied){f->serial, (uint32_t)f->play.limit_count};
    f->copied_held[copied->index] = 0;
    f->play.limits[f->play.limit_count++] = (struct play_limit){.held = held};
    return copied->index;
}

static void use_limit(struct forecast *f, struct play_bar *bar, uint64_t len, double mean_ms)
{
    if (bar->limit == UINT32_MAX)
        return;
    struct play_limit *limit = &f->play.limits[bar->limit];
    limit->waiting += len;
    limit->max = bar->max > limit->max ? bar->max : limit->max;
    limit->interval_ms = later(limit->interval_ms, bar->interval_ms);
    limit->mean_ms = later(limit->mean_ms, mean_ms);
}

static struct play_bar copy_bar(struct forecast *f, const struct engine *e, const struct bar *bar)
{
    struct limit *limit = bar->limit;
    bool none = limit == NULL || limit->remote || (limit->kind == LIMIT_TEAM && limit->v.max == 0);
    if (none)
        return (struct play_bar){.limit = UINT32_MAX};
    struct play_bar copy = {.limit = copy_limit(f, &limit->copied, limit->held)};
    if (limit->kind == LIMIT_RATE && copy.limit != UINT32_MAX) {
        copy.interval_ms = (double)bar->interval_us / 1000;
        f->play.limits[copy.limit].next_ms =
            later((double)limit->v.next_us / 1000 - (double)e->now_ms, 0);
    } else {
        copy.max = limit->kind == LIMIT_TEAM ? limit->v.max : bar->max;
    }
    return copy;
}

/* Of a track whose work has its permits there are none. */
static void copy_bars(struct forecast *f, const struct engine *e, const struct track *track,
                      struct queue *queue, struct play_bar bars[static PLAY_BARS])
{
    for (size_t i = 0; i < BARS; i++)
        bars[i] = copy_bar(f, e, &track->bars[i]);
    bars[BARS] = (struct play_bar){.limit = UINT32_MAX};
    if (track->main == NULL && queue->v.concurrency > 0)
        bars[BARS] = (struct play_bar){.limit = copy_limit(f, &queue->copied, queue->held),
                                       .max = queue->v.concurrency};
}

/* ---- what waits */

static int by_rank(const void *a, const void *b)
{
    const struct rank *left = a;
    const struct rank *right = b;
    return rank_before(*left, *right) ? -1 : rank_before(*right, *left);
}

/* All of it, or each n-th of the heap's array, which is as good as by chance. */
static void copy_order(struct play_group *g, const struct heap *heap)
{
    g->len = heap->len;
    g->sample_count = heap->len < PLAY_SAMPLES ? heap->len : PLAY_SAMPLES;
    for (size_t i = 0; i < g->sample_count; i++) {
        const struct heap_item *item =
            &heap->items[(2 * i + 1) * heap->len / (2 * g->sample_count)];
        g->samples[i] = (struct rank){item->key, item->tie};
    }
    qsort(g->samples, g->sample_count, sizeof *g->samples, by_rank);
}

uint32_t crews_of(const struct forecast *f, const struct engine *e, const struct lane *lane)
{
    const struct strmap *classes = &e->worker_classes.by_key;
    uint32_t crews = 0;
    for (size_t i = 0; i < classes->cap && i < f->classes_end; i++) {
        const struct worker_class *class = classes->slots[i].value;
        if (class != NULL && is_copied(f, &class->copied) &&
            worker_class_serves(class, lane->queue, lane->handler))
            crews |= UINT32_C(1) << class->copied.index;
    }
    return crews;
}

static struct queue *queue_of(const struct track *track)
{
    struct exec *first = CONTAINER_OF(heap_min(&track->heap)->node, struct exec, ready);
    return first->job->v.def->rules.queue;
}

/* Arrivals are taken to go on as in the last minutes. */
static double arrivals_age_ms(struct learnt *learnt, int64_t boot_ms)
{
    int64_t age_ms = boot_ms - learnt->since_ms;
    if (age_ms > ARRIVALS_MS) {
        for (size_t i = 0; i < RANKINGS; i++) {
            learnt->arrivals[i].count *= (float)ARRIVALS_MS / (float)age_ms;
            learnt->arrivals[i].priorities *= (float)ARRIVALS_MS / (float)age_ms;
        }
        learnt->since_ms = boot_ms - ARRIVALS_MS;
        age_ms = ARRIVALS_MS;
    }
    return later((double)age_ms, ARRIVALS_MS / 4.);
}

static void copy_arrivals(struct forecast *f, const struct engine *e, struct learnt *learnt,
                          const struct play_group *of)
{
    double age_ms = arrivals_age_ms(learnt, e->boot_ms);
    for (size_t i = 0; i < RANKINGS; i++) {
        const struct arrivals *arrivals = &learnt->arrivals[i];
        if (arrivals->count < 1 || f->play.group_count == PLAY_GROUPS)
            continue;
        struct play_group *g = &f->play.groups[f->play.group_count++];
        *g = *of;
        g->len = g->sample_count = 0;
        g->per_ms = arrivals->count / age_ms;
        g->first_key =
            ready_rank(&e->ready, (int32_t)(arrivals->priorities / arrivals->count), e->now_ms);
    }
}

static void copy_track(struct forecast *f, const struct engine *e, struct track *track)
{
    struct queue *queue = queue_of(track);
    struct play_group *g = &f->play.groups[f->play.group_count];
    bool shut = track->breaker != NULL && !breaker_lets_start(track->breaker);
    if (queue->v.paused || track->lane->suspects || shut)
        return;
    *g = (struct play_group){.crews = crews_of(f, e, track->lane)};
    if (g->crews == 0)
        return;
    const struct usual *usual = usual_of(track, queue);
    if (usual_is_known(usual)) {
        g->mean_ms = usual->mean_ms;
        usual_lengths(usual, g->lengths_ms);
    }
    copy_bars(f, e, track, queue, g->bars);
    copy_order(g, &track->heap);
    for (size_t i = 0; i < PLAY_BARS; i++)
        use_limit(f, &g->bars[i], g->len, g->mean_ms);
    track->copied = (struct copied){f->serial, (uint32_t)f->play.group_count++};
    if (track->learnt != NULL)
        copy_arrivals(f, e, track->learnt, g);
}

static void copy_tracks(struct forecast *f, const struct engine *e)
{
    LIST_EACH(&e->ready.waiting, node)
    {
        if (f->play.group_count == PLAY_GROUPS || f->looks++ == TRACKS_MAX)
            break;
        copy_track(f, e, CONTAINER_OF(node, struct track, waiting));
    }
}

/* ---- what runs */

/* The limits of a run that groups wait for. */
static void bars_of_run(struct forecast *f, const struct exec *x,
                        struct play_bar bars[static PLAY_BARS])
{
    const struct definition_rules *rules = &x->job->v.def->rules;
    for (size_t i = 0; i < PLAY_BARS; i++) {
        const struct limit *limit = i < BARS ? rules->track->bars[i].limit : NULL;
        const struct copied *copied = limit != NULL ? &limit->copied : NULL;
        if (i == BARS)
            copied = &rules->queue->copied;
        bool has = copied != NULL && is_copied(f, copied) && f->play.limits[copied->index].max > 0;
        bars[i] = (struct play_bar){.limit = has ? copied->index : UINT32_MAX, .max = has};
        if (has)
            f->copied_held[copied->index]++;
    }
}

/* Computed once for those that share a lane, as far as they are found again. */
static const double *lengths_of(struct forecast *f, const struct usual *usual)
{
    struct lengths *l = &f->lengths[(uintptr_t)usual / sizeof *usual % COUNT_OF(f->lengths)];
    if (l->usual != usual) {
        l->usual = usual;
        usual_lengths(usual, l->ms);
    }
    return l->ms;
}

static void copy_run(struct forecast *f, const struct engine *e, const struct exec *x,
                     uint32_t crew)
{
    struct play_bar bars[PLAY_BARS];
    const struct definition_rules *rules = &x->job->v.def->rules;
    const struct usual *usual = usual_of(rules->track, rules->queue);
    double took_ms = later((double)(e->now_ms - x->v.started_ms), 0);
    double rest_ms = f->mean_ms / 2;
    if (usual_is_known(usual))
        rest_ms = usual_rest_ms(lengths_of(f, usual), took_ms, 7 * f->play.run_count);
    bars_of_run(f, x, bars);
    play_add_run(&f->play, rest_ms, 1, crew, bars);
}

static void copy_worker(struct forecast *f, const struct engine *e, const struct worker *w)
{
    bool works = takes_work(e, w) && is_copied(f, &w->worker_class->copied);
    uint32_t index = works ? w->worker_class->copied.index : UINT32_MAX;
    struct crew_slots *slots = works ? &f->slots[index] : &f->nobody;
    f->looks += 1 + w->busy;
    slots->all += w->slots;
    slots->free += free_slots(e, w);
    slots->busy += w->busy;
    LIST_EACH(&w->leases, node)
    {
        if (f->play.run_count == RUNS_MAX)
            break;
        copy_run(f, e, CONTAINER_OF(node, struct exec, on_worker), index);
        slots->copied++;
    }
}

/* Runs of which nothing is copied but how many there are: as if they had begun evenly spread. */
static void add_runs(struct forecast *f, uint64_t count, double mean_ms, uint32_t crew,
                     const struct play_bar bars[static PLAY_BARS])
{
    for (uint64_t i = 0; i < PARTS && count > 0; i++) {
        uint64_t part = count * (i + 1) / PARTS - count * i / PARTS;
        if (part > 0)
            play_add_run(&f->play, mean_ms * ((double)i + 0.5) / PARTS, part, crew, bars);
    }
}

static const struct play_bar no_bars[PLAY_BARS] = {
    {.limit = UINT32_MAX}, {.limit = UINT32_MAX}, {.limit = UINT32_MAX}, {.limit = UINT32_MAX}};

/* How many of a group came by themselves: those of one request are ready at one moment. */
static double came_alone(const struct play_group *g)
{
    size_t alone = 0;
    for (size_t i = 0; i < g->sample_count; i++)
        alone += (i == 0 || g->samples[i - 1].key != g->samples[i].key) &&
                 (i + 1 == g->sample_count || g->samples[i + 1].key != g->samples[i].key);
    return g->sample_count == 0 ? 0 : (double)g->len * (double)alone / (double)g->sample_count;
}

/* Of a crew's slots our part, by how much waits for it here and elsewhere. The other servers are
 * taken to have as much as we have of what comes one by one, and nothing of what came in one
 * request: that lies in one partition. */
static int64_t share_of(const struct forecast *f, const struct engine *e, uint32_t crew,
                        int64_t slots)
{
    double here = 0;
    double elsewhere = 0;
    for (size_t i = 0; i < f->play.group_count; i++) {
        const struct play_group *g = &f->play.groups[i];
        if ((g->crews >> crew & 1) == 0)
            continue;
        here += (double)g->len;
        elsewhere += came_alone(g) * others(e);
    }
    return here > 0 ? (int64_t)((double)slots * here / (here + elsewhere)) : 0;
}

/* Slots that are ours and neither free nor busy with us are busy with others, and come later. */
static void fill_crew(struct forecast *f, const struct engine *e, uint32_t i)
{
    const struct crew_slots *slots = &f->slots[i];
    int64_t own = slots->busy + slots->free;
    if (!is_alone(e) && slots->all > 0) {
        own = max_of(own, fair_slots(e, slots->all));
        own = max_of(own, share_of(f, e, i, slots->all));
    }
    f->play.crews[i].slots = (uint64_t)own;
    f->play.crews[i].free = (uint64_t)slots->free;
    add_runs(f, (uint64_t)(slots->busy - slots->copied), f->mean_ms, i, no_bars);
    add_runs(f, (uint64_t)(own - slots->busy - slots->free), f->mean_ms, i, no_bars);
}

static void copy_workers(struct forecast *f, const struct engine *e)
{
    memset(f->slots, 0, sizeof f->slots);
    memset(f->lengths, 0, sizeof f->lengths);
    MAP_EACH(&e->workers, slot)
    {
        copy_worker(f, e, slot->value);
    }
    for (uint32_t i = 0; i < f->play.crew_count; i++)
        fill_crew(f, e, i);
}

/* Holders of limits that are no runs of ours, or were not copied. */
static void copy_holders(struct forecast *f)
{
    for (uint32_t i = 0; i < f->play.limit_count; i++) {
        const struct play_limit *limit = &f->play.limits[i];
        struct play_bar bars[PLAY_BARS];
        memcpy(bars, no_bars, sizeof bars);
        bars[0] = (struct play_bar){.limit = i, .max = 1};
        if (limit->max > 0 && limit->held > f->copied_held[i] &&
            f->play.run_count + PARTS <= PLAY_RUNS / 4 * 3)
            add_runs(f, limit->held - f->copied_held[i], limit->mean_ms, UINT32_MAX, bars);
    }
}

void forecast_copy(struct forecast *f, const struct engine *e)
{
    play_reset(&f->play);
    f->serial++;
    f->looks = 0;
    copy_crews(f, e);
    copy_tracks(f, e);
    average_unknown(f);
    copy_workers(f, e);
    copy_holders(f);
}
