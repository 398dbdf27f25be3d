#include "server/api/gantt.h"
#include "base/id.h"

#include <stdlib.h>

void gantt_free(struct gantt *t)
{
    strmap_free(&t->queues);
    strmap_free(&t->by_queue);
    map_free(&t->by_worker);
}

int64_t gantt_step_ms(int64_t from_ms, int64_t until_ms)
{
    return (until_ms - from_ms + GANTT_STEPS - 1) / GANTT_STEPS;
}

static size_t step_at(int64_t from_ms, int64_t until_ms, int64_t at_ms)
{
    int64_t since_ms = at_ms > from_ms ? at_ms - from_ms : 0;
    size_t step = (size_t)(since_ms / gantt_step_ms(from_ms, until_ms));
    return step < GANTT_STEPS ? step : GANTT_STEPS - 1;
}

/* The same text in the arena, once. */
static struct str kept_text(struct strmap *texts, struct arena *arena, struct str text)
{
    struct str *kept = strmap_get(texts, text);
    if (kept != NULL)
        return *kept;
    kept = ARENA_NEW(arena, struct str);
    *kept = arena_str(arena, text);
    strmap_put(texts, *kept, kept);
    return *kept;
}

/* ---- lanes */

/* NULL: there is no room for one more. */
static struct gantt_lane *lane_of(struct gantt *t, const struct ran_rec *ran)
{
    bool by_queue = t->by == GANTT_BY_QUEUE;
    struct gantt_lane *lane =
        by_queue ? strmap_get(&t->by_queue, ran->queue) : map_get(&t->by_worker, ran->worker_id);
    if (lane != NULL || t->lanes.len == GANTT_LANES_MAX)
        return lane;
    lane = ARENA_NEW(t->arena, struct gantt_lane);
    *VEC_PUSH(t->arena, &t->lanes) = lane;
    if (by_queue) {
        lane->queue = kept_text(&t->queues, t->arena, ran->queue);
        strmap_put(&t->by_queue, lane->queue, lane);
    } else {
        lane->worker_id = ran->worker_id;
        map_put(&t->by_worker, ran->worker_id, lane);
    }
    return lane;
}

/* ---- bars */

static bool has_failed(const struct ran_rec *ran)
{
    return ran->state == EXEC_FAILED || ran->state == EXEC_TIMEOUT;
}

static int longest_first(const void *a, const void *b)
{
    const struct gantt_bar *left = a;
    const struct gantt_bar *right = b;
    if (left->length_ms != right->length_ms)
        return left->length_ms > right->length_ms ? -1 : 1;
    return left->ran.id > right->ran.id ? -1 : left->ran.id < right->ran.id;
}

static void cut_bars(struct gantt *t)
{
    if (t->bars.len <= t->limit)
        return;
    qsort(t->bars.items, t->bars.len, sizeof *t->bars.items, longest_first);
    for (size_t i = t->limit; i < t->bars.len; i++) {
        const struct gantt_bar *bar = &t->bars.items[i];
        struct gantt_cell *cell =
            &bar->lane->rest[step_at(t->from_ms, t->until_ms, bar->ran.started_ms)];
        cell->executions++;
        cell->failed += has_failed(&bar->ran);
    }
    t->bars.len = t->limit;
}

static int64_t seen_ms(const struct gantt *t, const struct ran_rec *ran)
{
    int64_t start_ms =
        ran->ready_ms > 0 && ran->ready_ms < ran->started_ms ? ran->ready_ms : ran->started_ms;
    int64_t end_ms = ran->finished_ms > 0 ? ran->finished_ms : t->now_ms;
    start_ms = start_ms > t->from_ms ? start_ms : t->from_ms;
    end_ms = end_ms < t->until_ms ? end_ms : t->until_ms;
    return end_ms > start_ms ? end_ms - start_ms : 0;
}

void gantt_add(struct gantt *t, const struct ran_rec *ran)
{
    struct gantt_lane *lane = lane_of(t, ran);
    t->executions++;
    if (lane == NULL) {
        t->left_out++;
        return;
    }
    lane->executions++;
    lane->failed += has_failed(ran);
    if (t->bars.len == 2 * t->limit)
        cut_bars(t);
    struct gantt_bar *bar = VEC_PUSH(t->arena, &t->bars);
    *bar = (struct gantt_bar){.ran = *ran, .lane = lane, .length_ms = seen_ms(t, ran)};
    bar->ran.queue = kept_text(&t->queues, t->arena, ran->queue);
}

/* ---- the end */

static int busiest_first(const void *a, const void *b)
{
    const struct gantt_lane *left = *(struct gantt_lane *const *)a;
    const struct gantt_lane *right = *(struct gantt_lane *const *)b;
    if (left->executions != right->executions)
        return left->executions > right->executions ? -1 : 1;
    int names = str_cmp(left->queue, right->queue);
    return names != 0 ? names : left->worker_id < right->worker_id ? -1 : 1;
}

static int by_name(const void *a, const void *b)
{
    const struct gantt_lane *left = *(struct gantt_lane *const *)a;
    const struct gantt_lane *right = *(struct gantt_lane *const *)b;
    int names = str_cmp(left->queue, right->queue);
    if (names != 0 || left->worker_id == right->worker_id)
        return names;
    return left->worker_id < right->worker_id ? -1 : 1;
}

static int by_start(const void *a, const void *b)
{
    const struct ran_rec *left = &((const struct gantt_bar *)a)->ran;
    const struct ran_rec *right = &((const struct gantt_bar *)b)->ran;
    if (left->started_ms != right->started_ms)
        return left->started_ms < right->started_ms ? -1 : 1;
    return left->id < right->id ? -1 : left->id > right->id;
}

size_t gantt_end(struct gantt *t, size_t lanes_max)
{
    size_t lanes = t->lanes.len;
    if (lanes > lanes_max) {
        qsort(t->lanes.items, lanes, sizeof *t->lanes.items, busiest_first);
        for (size_t i = lanes_max; i < lanes; i++)
            t->left_out += t->lanes.items[i]->executions;
        t->lanes.len = lanes_max;
    }
    if (t->lanes.len > 0)
        qsort(t->lanes.items, t->lanes.len, sizeof *t->lanes.items, by_name);
    cut_bars(t);
    if (t->bars.len > 0)
        qsort(t->bars.items, t->bars.len, sizeof *t->bars.items, by_start);
    return lanes;
}

int64_t gantt_due_ms(const struct ran_rec *ran, int64_t stagger_ms)
{
    if (ran->origin == ORIGIN_PING)
        return ran->started_ms; /* elsewhere: when it should have begun is not known here */
    if (ran->starts > 1 || ran->slot_ms == 0)
        return ran->ready_ms;
    if (ran->origin == ORIGIN_REQUEST || ran->retry_of != 0)
        return ran->created_ms;
    return ran->slot_ms + stagger_ms;
}

/* ---- runs ahead */

void gantt_ahead_free(struct gantt_ahead *t)
{
    strmap_free(&t->texts);
}

static int earliest_first(const void *a, const void *b)
{
    const struct gantt_run *left = a;
    const struct gantt_run *right = b;
    if (left->at_ms != right->at_ms)
        return left->at_ms < right->at_ms ? -1 : 1;
    return left->job_id < right->job_id ? -1 : left->job_id > right->job_id;
}

static int in_turn(const void *a, const void *b)
{
    const struct gantt_run *left = a;
    const struct gantt_run *right = b;
    if (left->turn != right->turn)
        return left->turn < right->turn ? -1 : 1;
    return earliest_first(a, b);
}

static void cut_runs(struct gantt_ahead *t)
{
    if (t->runs.len <= t->limit)
        return;
    qsort(t->runs.items, t->runs.len, sizeof *t->runs.items, in_turn);
    for (size_t i = t->limit; i < t->runs.len; i++)
        t->rest[step_at(t->from_ms, t->until_ms, t->runs.items[i].at_ms)]++;
    t->runs.len = t->limit;
}

void gantt_ahead_add(struct gantt_ahead *t, const struct gantt_run *run)
{
    t->turn = t->count > 0 && t->job_id == run->job_id ? t->turn + 1 : 0;
    t->job_id = run->job_id;
    t->count++;
    if (t->runs.len == 2 * t->limit)
        cut_runs(t);
    struct gantt_run *kept = VEC_PUSH(t->arena, &t->runs);
    *kept = *run;
    kept->turn = t->turn;
    kept->queue = kept_text(&t->texts, t->arena, run->queue);
    kept->job_name = kept_text(&t->texts, t->arena, run->job_name);
}

void gantt_ahead_end(struct gantt_ahead *t)
{
    cut_runs(t);
    if (t->runs.len > 0)
        qsort(t->runs.items, t->runs.len, sizeof *t->runs.items, earliest_first);
}
