#include "engine/explain/gauges.h"
#include "engine/core/model.h"
#include "engine/ready/breaker.h"
#include "engine/ready/limit.h"
#include "engine/ready/queues.h"
#include "engine/ready/workers.h"

static void add_queue(const struct engine *e, const struct queue *q, int64_t now_ms,
                      struct arena *arena, struct gauges *g)
{
    struct queue_gauges *to = &g->queues[g->queue_count++];
    *to = (struct queue_gauges){
        .queue = arena_str(arena, q->name),
        .waited_ms = queue_head_waited_ms(q, now_ms),
        .running = q->held - q->lent,
        .home = partition_has_bucket(&e->owned, q->home),
        .limit = q->v.concurrency,
        .used = q->held,
        .paused = q->v.paused,
    };
    for (size_t i = 1; i < EXEC_STATES; i++) {
        if (!exec_is_final((enum exec_state)i))
            to->execs[i] = q->now.execs[i];
        to->letters += q->now.letters[i];
    }
}

static void add_queues(const struct engine *e, int64_t now_ms, struct arena *arena,
                       struct gauges *g)
{
    g->queues = ARENA_ARRAY(arena, struct queue_gauges, e->queues.by_name.len + 1);
    for (size_t i = 0; i < e->queues.by_name.cap; i++) {
        const struct queue *q = e->queues.by_name.slots[i].value;
        if (q != NULL)
            add_queue(e, q, now_ms, arena, g);
    }
}

static void add_targets(const struct engine *e, bool closed, struct arena *arena, struct gauges *g)
{
    const struct strmap *all = &e->ready.breakers.by_target;
    for (size_t i = 0; i < all->cap && g->target_count < GAUGE_TARGETS_MAX; i++) {
        const struct breaker *b = all->slots[i].value;
        if (b != NULL && (b->v.state == BREAKER_CLOSED) == closed)
            g->targets[g->target_count++] =
                (struct target_gauges){arena_str(arena, b->target), b->v.state};
    }
}

/* Jobs may bear different numbers of a key: it is full for those that bear the fewest. */
static bool is_full(const struct limit *limit)
{
    switch (limit->kind) {
    case LIMIT_RATE: return limit->v.shut;
    case LIMIT_TEAM: return limit->v.max > 0 && limit->held >= limit->v.max;
    default: return limit->rungs.len > 0 && limit->held >= limit->rungs.items[0]->max;
    }
}

static void add_limit(const struct limit *limit, struct arena *arena, struct gauges *g)
{
    static const enum gauge_limit kinds[] = {
        [LIMIT_CONCURRENCY] = GAUGE_LIMIT_CONCURRENCY,
        [LIMIT_RATE] = GAUGE_LIMIT_RATE,
        [LIMIT_TEAM] = GAUGE_LIMIT_TEAM,
    };
    struct limit_gauges *to = &g->limits[kinds[limit->kind]];
    if (!limit->remote) {
        to->known++;
        to->full += is_full(limit);
    }
    if (limit->kind == LIMIT_TEAM)
        g->teams[g->team_count++] = (struct team_gauges){
            .team = arena_str(arena, limit->key),
            .running = limit->held - limit->lent,
            .limit = limit->remote ? 0 : limit->v.max,
        };
}

static void add_limits(const struct engine *e, struct arena *arena, struct gauges *g)
{
    const struct strmap *all = &e->ready.limits.by_key;
    size_t teams = 0;
    for (size_t i = 0; i < all->cap; i++) {
        const struct limit *limit = all->slots[i].value;
        teams += limit != NULL && limit->kind == LIMIT_TEAM;
    }
    g->teams = ARENA_ARRAY(arena, struct team_gauges, teams + 1);
    for (size_t i = 0; i < all->cap; i++) {
        if (all->slots[i].value != NULL)
            add_limit(all->slots[i].value, arena, g);
    }
}

/* It may have work of other servers, too: then it offers less than all. */
static bool is_idle(const struct worker *w)
{
    return w->busy == 0 && (w->v.parked == NULL || w->v.offered >= w->slots);
}

/* Of one that takes nothing more only the slots count that it has filled: the others are of no use
 * to what waits. */
static size_t slots_of(const struct engine *e, const struct worker *w)
{
    if (worker_is_silent(e, w) || w->v.draining || w->v.cordon != NULL)
        return w->busy;
    return partition_has(&e->owned, w->id) ? w->slots : 0;
}

static void add_worker(const struct engine *e, const struct worker *w, struct gauges *g)
{
    g->slots += slots_of(e, w);
    g->slots_busy += w->busy;
    g->polls_parked += w->v.parked != NULL;
    if (!partition_has(&e->owned, w->id))
        return;
    if (worker_is_silent(e, w))
        g->workers_silent++;
    else if (w->v.draining)
        g->workers_draining++;
    else if (w->v.cordon != NULL)
        g->workers_cordoned++;
    else if (is_idle(w))
        g->workers_idle++;
    else
        g->workers_busy++;
}

static size_t count_overdue(const struct engine *e, int64_t now_ms)
{
    const struct heap_item behind = {.key = (uint64_t)now_ms + 1};
    return now_ms > 0 ? heap_count_before(&e->dues, &behind, SIZE_MAX) : 0;
}

void engine_gauges(const struct engine *e, int64_t now_ms, struct arena *arena,
                   struct gauges *ret_gauges)
{
    struct gauges *g = ret_gauges;
    *g = (struct gauges){
        .in_memory = e->execs.len,
        .mail_waiting = left_waiting(&e->inbox.left),
        .mail_unknown = e->inbox.left.strange,
        .overdue = count_overdue(e, now_ms - GAUGE_OVERDUE_MS),
    };
    add_queues(e, now_ms, arena, g);
    g->targets = ARENA_ARRAY(arena, struct target_gauges, GAUGE_TARGETS_MAX);
    add_targets(e, false, arena, g);
    add_targets(e, true, arena, g);
    add_limits(e, arena, g);
    MAP_EACH(&e->workers, slot)
    {
        const struct worker *w = slot->value;
        if (!w->v.gone)
            add_worker(e, w, g);
    }
}
