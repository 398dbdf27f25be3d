#include "engine/explain/waits.h"
#include "engine/core/commands.h"

#include <string.h>

/* States in which executions wait. */
static const enum exec_state waiting[] = {EXEC_SCHEDULED, EXEC_QUEUED, EXEC_RETRYING, EXEC_BLOCKED};
enum { STATES = COUNT_OF(waiting) };

/* Of one queue, while it is counted. */
struct found {
    const struct queue *queue;
    int64_t seen[STATES];
    int64_t by_kind[STATES][BLOCKER_KINDS];
};

struct census {
    struct engine *engine;
    struct arena *arena;
    const struct worker_class **classes; /* that have a worker */
    size_t class_count;
    struct map open;   /* those of them with a worker that is not cordoned, by their address */
    struct map served; /* lanes, by their address: enum blocker_kind of why none takes their work */
    struct strmap queues;
    struct found *last;
};

static int state_index(enum exec_state state)
{
    for (int i = 0; i < STATES; i++) {
        if (waiting[i] == state)
            return i;
    }
    return -1;
}

/* ---- what one execution waits for */

static uint64_t key_of(const void *thing)
{
    return (uint64_t)(uintptr_t)thing;
}

/* Thousands of workers are of a few kinds. */
static void find_classes(struct census *c)
{
    const struct map *workers = &c->engine->workers;
    struct map seen = {0};
    c->classes = ARENA_ARRAY(c->arena, const struct worker_class *, workers->len);
    MAP_EACH(workers, slot)
    {
        const struct worker *w = slot->value;
        uint64_t key = key_of(w->worker_class);
        if (w->v.gone)
            continue;
        if (w->v.cordon == NULL && map_get(&c->open, key) == NULL)
            map_put(&c->open, key, c); /* any pointer will do */
        if (map_get(&seen, key) != NULL)
            continue;
        map_put(&seen, key, c);
        c->classes[c->class_count++] = w->worker_class;
    }
    map_free(&seen);
}

static enum blocker_kind look_for_worker(const struct census *c, const struct lane *lane)
{
    enum blocker_kind why = BLOCKER_NO_WORKER;
    for (size_t i = 0; i < c->class_count; i++) {
        if (!worker_class_serves(c->classes[i], lane->queue, lane->handler))
            continue;
        if (map_get(&c->open, key_of(c->classes[i])) != NULL)
            return BLOCKER_NONE;
        why = BLOCKER_WORKERS_CORDONED;
    }
    return why;
}

/* BLOCKER_NONE: some worker takes what is in the lane. */
static enum blocker_kind unserved_by(struct census *c, struct lane *lane)
{
    enum blocker_kind *known = map_get(&c->served, key_of(lane));
    if (known == NULL) {
        known = ARENA_NEW(c->arena, enum blocker_kind);
        *known = look_for_worker(c, lane);
        map_put(&c->served, key_of(lane), known);
    }
    return *known;
}

static enum blocker_kind closed_by(const struct track *track)
{
    static const enum blocker_kind kinds[BARS] = {
        [BAR_CONCURRENCY] = BLOCKER_CONCURRENCY,
        [BAR_RATE] = BLOCKER_RATE,
        [BAR_TEAM] = BLOCKER_TEAM_LIMIT,
    };
    for (size_t i = 0; i < BARS; i++) {
        if (!bar_is_open(&track->bars[i]))
            return kinds[i];
    }
    bool calm = track->breaker == NULL || breaker_lets_start(track->breaker);
    return calm ? BLOCKER_NONE : BLOCKER_BREAKER;
}

static enum blocker_kind of_ready(struct census *c, const struct exec *x)
{
    const struct queue *q = x->job->v.def->rules.queue;
    const struct track *track = x->job->v.def->rules.track;
    enum blocker_kind closed = closed_by(track);
    enum blocker_kind unserved = unserved_by(c, track->lane);
    if (q->v.paused)
        return BLOCKER_QUEUE_PAUSED;
    if (x->v.wants != 0 && !heap_holds(&x->ready))
        return BLOCKER_PERMIT;
    if (unserved != BLOCKER_NONE)
        return unserved;
    if (q->v.concurrency > 0 && q->held >= q->v.concurrency)
        return BLOCKER_QUEUE_FULL;
    return closed != BLOCKER_NONE ? closed : BLOCKER_WORKERS_BUSY;
}

static enum blocker_kind kind_of(struct census *c, const struct exec *x)
{
    if (x->job->v.state == JOB_PAUSED)
        return BLOCKER_JOB_PAUSED;
    switch (x->v.state) {
    case EXEC_SCHEDULED:
        if (x->origin == ORIGIN_PING)
            return BLOCKER_PING;
        return x->v.ready_ms > 0 ? BLOCKER_CALENDAR : BLOCKER_SCHEDULED;
    case EXEC_RETRYING: return BLOCKER_RETRY;
    case EXEC_BLOCKED: return x->waits_for > 0 ? BLOCKER_DEPENDENCY : BLOCKER_OVERLAP;
    default: return of_ready(c, x);
    }
}

/* Upstreams of those that memory does not hold. */
static enum blocker_kind kind_of_state(enum exec_state state)
{
    switch (state) {
    case EXEC_RETRYING: return BLOCKER_RETRY;
    case EXEC_BLOCKED: return BLOCKER_DEPENDENCY;
    case EXEC_QUEUED: return BLOCKER_WORKERS_BUSY;
    default: return BLOCKER_SCHEDULED;
    }
}

/* ---- all of them */

static struct found *found_of(struct census *c, const struct queue *q)
{
    if (c->last != NULL && c->last->queue == q)
        return c->last;
    c->last = strmap_get(&c->queues, q->name);
    if (c->last == NULL) {
        c->last = ARENA_NEW(c->arena, struct found);
        c->last->queue = q;
        strmap_put(&c->queues, q->name, c->last);
    }
    return c->last;
}

/* True when all were looked at. */
static bool look(struct census *c)
{
    size_t looked = 0;
    MAP_EACH(&c->engine->execs, slot)
    {
        const struct exec *x = slot->value;
        int state = state_index(x->v.state);
        if (looked++ == WAITS_LOOK_MAX)
            return false;
        if (state < 0)
            continue;
        struct found *f = found_of(c, x->job->v.def->rules.queue);
        f->seen[state]++;
        f->by_kind[state][kind_of(c, x)]++;
    }
    return true;
}

/* Those that were seen stand for all of their state, unless the rest is known to be far ahead. */
static void count_state(const struct found *f, int state, int64_t all, bool whole,
                        struct waits *ret_waits)
{
    int64_t given = 0;
    int64_t seen = f == NULL ? 0 : f->seen[state];
    for (int kind = 0; kind < BLOCKER_KINDS && seen > 0; kind++) {
        int64_t count = f->by_kind[state][kind];
        if (!whole || seen > all) /* this turn's steps count with the next one */
            count = count * all / seen;
        ret_waits->by_kind[kind] += count;
        given += count;
    }
    if (all > given)
        ret_waits->by_kind[kind_of_state(waiting[state])] += all - given;
}

static bool count_queue(const struct found *f, const struct queue *q, bool whole,
                        struct waits *ret_waits)
{
    bool any = false;
    *ret_waits = (struct waits){.queue = q->name};
    for (int i = 0; i < STATES; i++) {
        int64_t all = q->now.execs[waiting[i]];
        if (all <= 0)
            continue;
        count_state(f, i, all, whole, ret_waits);
        any = true;
    }
    return any;
}

void decide_waits(struct engine *e, struct command *cmd)
{
    struct census c = {.engine = e, .arena = cmd->arena};
    struct waits *all = ARENA_ARRAY(cmd->arena, struct waits, e->queues.by_name.len + 1);
    size_t count = 0;
    find_classes(&c);
    bool whole = look(&c);
    for (size_t i = 0; i < e->queues.by_name.cap; i++) {
        const struct queue *q = e->queues.by_name.slots[i].value;
        if (q == NULL || !count_queue(strmap_get(&c.queues, q->name), q, whole, &all[count]))
            continue;
        all[count].queue = arena_str(cmd->arena, q->name);
        count++;
    }
    map_free(&c.open);
    map_free(&c.served);
    strmap_free(&c.queues);
    cmd->reply.waits = all;
    cmd->reply.wait_count = count;
    cmd->reply.waits_sampled = !whole;
    command_done(e, cmd);
}
