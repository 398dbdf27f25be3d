/* explain_ready.c - what keeps a ready execution from a worker. Everything here is bounded: it runs
 * in the turn, and a queue may hold a million. */
#include "engine/explain/explain.h"
#include "engine/ready/cordon.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/silence.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    AHEAD_MAX = 1000,   /* no reader needs a more exact number */
    TRACKS_MAX = 10000, /* of a lane, that are looked at */
    TERMS_MAX = 20000,  /* leases that are looked at for the holders of a limit */
    NAMES_BYTES_MAX = 1024,
    CORDONS_MAX = 3, /* that are named */
    CORDON_BYTES_MAX = 1 << 14,
};

/* ---- who holds a limit */

/* One of these is not NULL. */
struct held {
    const struct queue *queue;
    const struct limit *limit;
};

static bool holds(const struct job *job, const struct held *held)
{
    const struct bar *bars = job->v.def->rules.track->bars;
    if (held->queue != NULL)
        return job->v.def->rules.queue == held->queue;
    return bars[BAR_CONCURRENCY].limit == held->limit || bars[BAR_TEAM].limit == held->limit;
}

static int by_number(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* Permits follow from leases, so nobody keeps a list of who has one: the leases are asked. */
static size_t find_holders(const struct scene *s, const struct held *held, int64_t used,
                           uint64_t **ret_execs)
{
    const struct heap *terms = &s->engine->terms;
    uint64_t *execs = ARENA_ARRAY(s->arena, uint64_t, BLOCKER_EXECS_MAX);
    size_t count = 0;
    size_t enough = used < BLOCKER_EXECS_MAX ? (size_t)used : BLOCKER_EXECS_MAX;
    for (uint32_t i = 0; i < terms->len && i < TERMS_MAX && count < enough; i++) {
        struct term *term = CONTAINER_OF(terms->items[i].node, struct term, node);
        if (term->kind != TERM_LEASE)
            continue;
        const struct exec *x = CONTAINER_OF(term, struct exec, term);
        if (exec_is_leased(x->v.state) && holds(x->job, held))
            execs[count++] = x->id;
    }
    qsort(execs, count, sizeof *execs, by_number);
    *ret_execs = execs;
    return count;
}

/* ", held by exec_a, exec_b and 7 more"; nothing when none was found among those looked at. */
static struct str name_holders(const struct scene *s, const uint64_t *execs, size_t count,
                               size_t all)
{
    char bytes[NAMES_BYTES_MAX];
    struct buf names = {.ptr = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    for (size_t i = 0; i < count; i++) {
        char id[ID_TEXT_MAX];
        buf_add(&names, i == 0 ? STR(", held by ") : STR(", "));
        buf_add(&names, id_format(id, ID_EXEC, execs[i]));
    }
    if (count > 0 && all > count)
        buf_printf(&names, " and %zu more", all - count);
    return arena_str(s->arena, buf_str(&names));
}

/* Permits count as if they ran: those that were lent to other servers, and those that were asked
 * for. */
static struct str lent_text(const struct scene *s, const struct held *held)
{
    uint32_t lent = held->queue != NULL ? held->queue->lent : held->limit->lent;
    if (lent == 0)
        return STR("; it opens when one of them ends");
    return arena_printf(s->arena,
                        ", %" PRIu32 " of that as %s between servers; it opens when one of them "
                        "ends or is given back",
                        lent, lent == 1 ? "a permit" : "permits");
}

static void add_held(struct scene *s, struct blocker blocker, const struct held *held,
                     const char *about)
{
    uint64_t *execs;
    uint32_t lent = held->queue != NULL ? held->queue->lent : held->limit->lent;
    int64_t running = blocker.used - lent;
    blocker.exec_count = find_holders(s, held, running, &execs);
    blocker.execs = execs;
    struct str names = name_holders(s, execs, blocker.exec_count, (size_t)running);
    blocker.text =
        arena_printf(s->arena, "%s is at %" PRId64 " of %" PRId64 "%.*s%.*s", about, blocker.used,
                     blocker.limit, STR_ARG(names), STR_ARG(lent_text(s, held)));
    scene_add(s, blocker);
}

/* ---- limits */

static void explain_queue_limit(struct scene *s)
{
    const struct queue *q = s->job->v.def->rules.queue;
    if (q->v.concurrency == 0 || q->held < q->v.concurrency)
        return;
    const struct held held = {.queue = q};
    struct str about = arena_printf(s->arena, "the limit of queue '%.*s'", STR_ARG(q->name));
    add_held(s,
             (struct blocker){
                 .kind = BLOCKER_QUEUE_FULL,
                 .queue = arena_str(s->arena, q->name),
                 .used = q->held,
                 .limit = q->v.concurrency,
             },
             &held, about.ptr);
}

static void explain_team(struct scene *s)
{
    const struct bar *bar = &s->job->v.def->rules.track->bars[BAR_TEAM];
    if (bar_is_open(bar))
        return;
    const struct held held = {.limit = bar->limit};
    struct str about = arena_printf(s->arena, "the limit of team '%.*s'", STR_ARG(bar->limit->key));
    add_held(s,
             (struct blocker){
                 .kind = BLOCKER_TEAM_LIMIT,
                 .team = arena_str(s->arena, bar->limit->key),
                 .used = bar->limit->held,
                 .limit = bar->limit->v.max,
             },
             &held, about.ptr);
}

static void explain_concurrency(struct scene *s)
{
    const struct bar *bar = &s->job->v.def->rules.track->bars[BAR_CONCURRENCY];
    if (bar_is_open(bar))
        return;
    const struct held held = {.limit = bar->limit};
    struct str about =
        arena_printf(s->arena, "its concurrency key '%.*s'", STR_ARG(bar->limit->key));
    add_held(s,
             (struct blocker){
                 .kind = BLOCKER_CONCURRENCY,
                 .key = arena_str(s->arena, bar->limit->key),
                 .used = bar->limit->held,
                 .limit = bar->max,
             },
             &held, about.ptr);
}

static void explain_rate(struct scene *s)
{
    const struct bar *bar = &s->job->v.def->rules.track->bars[BAR_RATE];
    if (bar_is_open(bar))
        return;
    /* By the boot clock, as it will wake. */
    int64_t until_ms = s->engine->now_ms + bar->limit->v.wake_ms - s->engine->boot_ms;
    struct str when = scene_when(s, until_ms);
    scene_add(
        s, (struct blocker){
               .kind = BLOCKER_RATE,
               .text = arena_printf(s->arena, "its rate key '%.*s' allows the next start at %.*s",
                                    STR_ARG(bar->limit->key), STR_ARG(when)),
               .key = arena_str(s->arena, bar->limit->key),
               .until_ms = until_ms,
           });
}

static struct str breaker_text(const struct scene *s, const struct breaker *b, int64_t until_ms)
{
    if (b->v.probe != 0)
        return arena_printf(s->arena,
                            "'%.*s' kept failing; %.*s is tried now, and the rest follows when it "
                            "succeeds. If it runs for longer than until %.*s, another one is tried",
                            STR_ARG(b->target), STR_ARG(scene_id(s, ID_EXEC, b->v.probe)),
                            STR_ARG(scene_when(s, until_ms)));
    return arena_printf(
        s->arena,
        "'%.*s' keeps failing (%" PRIu32 " of %" PRIu32 " lately) and is left alone "
        "until %.*s; then one run is tried. To go on at once: belfry breakers reset "
        "%.*s",
        STR_ARG(b->target), b->v.window.failures + b->v.window.failures_before,
        b->v.window.calls + b->v.window.calls_before, STR_ARG(scene_when(s, until_ms)),
        STR_ARG(b->target));
}

static void explain_breaker(struct scene *s)
{
    const struct breaker *b = s->job->v.def->rules.track->breaker;
    if (b == NULL || breaker_lets_start(b))
        return;
    bool probed = b->v.probe != 0;
    /* By the boot clock, as it will wake. */
    int64_t until_ms = s->engine->now_ms + b->v.wake_ms - s->engine->boot_ms;
    uint64_t *probe = ARENA_NEW(s->arena, uint64_t);
    *probe = b->v.probe;
    scene_add(s, (struct blocker){
                     .kind = BLOCKER_BREAKER,
                     .text = breaker_text(s, b, until_ms),
                     .key = arena_str(s->arena, b->target),
                     .until_ms = until_ms,
                     .since_ms = b->v.opened_ms,
                     .execs = probe,
                     .exec_count = probed,
                 });
}

/* ---- workers */

struct census {
    uint32_t all;
    uint32_t able;    /* know the handler, or run commands */
    uint32_t serving; /* and take from its queue */
    uint32_t draining;
    uint32_t silent;
    uint32_t cordoned;                         /* that neither drain nor are silent, … */
    const struct worker *cordons[CORDONS_MAX]; /* … some of them, … */
    const struct worker *newest_cordon;        /* … and the one that was cordoned last */
    uint32_t slots;                            /* of those that serve, and are none of these */
    uint32_t busy;
    bool has_room;
    bool has_trust; /* one of those with room has no other suspect */
};

static void count_cordoned(const struct worker *w, struct census *c)
{
    if (c->cordoned < CORDONS_MAX)
        c->cordons[c->cordoned] = w;
    if (c->newest_cordon == NULL || w->v.cordon->since_ms > c->newest_cordon->v.cordon->since_ms)
        c->newest_cordon = w;
    c->cordoned++;
}

static void count_serving(const struct engine *e, const struct worker *w, struct census *c)
{
    c->serving++;
    c->draining += w->v.draining;
    if (w->v.draining)
        return;
    c->silent += worker_is_silent(e, w);
    if (worker_is_silent(e, w))
        return;
    if (w->v.cordon != NULL) {
        count_cordoned(w, c);
        return;
    }
    bool offers_none = w->v.parked != NULL && w->v.offered == 0;
    c->slots += w->slots;
    c->busy += w->busy;
    bool has_room = w->busy < w->slots && !offers_none;
    c->has_room |= has_room;
    c->has_trust |= has_room && !worker_on_probation(w);
}

static struct census count_workers(const struct scene *s)
{
    const struct lane *lane = s->job->v.def->rules.track->lane;
    struct census c = {0};
    MAP_EACH(&s->engine->workers, slot)
    {
        const struct worker *w = slot->value;
        if (w->v.gone)
            continue;
        c.all++;
        c.able += worker_class_knows(w->worker_class, lane->handler);
        if (worker_class_serves(w->worker_class, lane->queue, lane->handler))
            count_serving(s->engine, w, &c);
    }
    return c;
}

/* Counts as people say it: "1 worker", "2 workers". */
#define WORKERS(count) (count), (count) == 1 ? "worker" : "workers"

static struct blocker find_unserved(const struct scene *s, const struct census *c)
{
    const struct lane *lane = s->job->v.def->rules.track->lane;
    struct blocker b = {.kind = BLOCKER_NO_WORKER,
                        .text = STR("no worker is connected; start one: belfry worker")};
    if (c->all == 0)
        return b;
    if (c->able > 0) {
        b.kind = BLOCKER_QUEUE_UNSERVED;
        b.queue = arena_str(s->arena, lane->queue);
        b.text =
            arena_printf(s->arena,
                         "%" PRIu32 " %s could run it, but none serves the queue '%.*s'; start "
                         "one that does: belfry worker --queue %.*s",
                         WORKERS(c->able), STR_ARG(lane->queue), STR_ARG(lane->queue));
    } else if (lane->handler.len > 0) {
        b.kind = BLOCKER_NO_HANDLER;
        b.handler = arena_str(s->arena, lane->handler);
        b.text =
            arena_printf(s->arena,
                         "%" PRIu32 " %s connected, but none knows the handler '%.*s'; start a "
                         "worker that does",
                         c->all, c->all == 1 ? "worker is" : "workers are", STR_ARG(lane->handler));
    } else {
        b.kind = BLOCKER_NO_COMMANDS;
        b.text = arena_printf(s->arena,
                              "%" PRIu32 " %s connected, but none runs commands; start one that "
                              "does: belfry worker",
                              c->all, c->all == 1 ? "worker is" : "workers are");
    }
    return b;
}

bool explain_unserved(struct scene *s)
{
    struct census c = count_workers(s);
    if (c.serving > 0)
        return false;
    scene_add(s, find_unserved(s, &c));
    return true;
}

/* "wrk_… (host-1/4711) since 2026-11-16 03:00:00Z by key:admin (new disk)" */
static void name_cordon(const struct scene *s, const struct worker *w, struct buf *out)
{
    const struct cordon *cordon = w->v.cordon;
    buf_printf(out, "%.*s (%.*s) since %.*s by %.*s", STR_ARG(scene_id(s, ID_WORKER, w->id)),
               (int)w->name_len, w->name, STR_ARG(scene_when(s, cordon->since_ms)),
               STR_ARG(cordon->by));
    if (cordon->reason.len > 0)
        buf_printf(out, " (%.*s)", STR_ARG(cordon->reason));
}

static struct blocker find_cordoned(const struct scene *s, const struct census *c)
{
    const struct cordon *newest = c->newest_cordon->v.cordon;
    struct buf names = BUF(CORDON_BYTES_MAX);
    for (uint32_t i = 0; i < c->cordoned && i < CORDONS_MAX; i++) {
        buf_add(&names, i == 0 ? STR("") : STR(", "));
        name_cordon(s, c->cordons[i], &names);
    }
    if (c->cordoned > CORDONS_MAX)
        buf_printf(&names, " and %" PRIu32 " more", c->cordoned - CORDONS_MAX);
    struct blocker b = {
        .kind = BLOCKER_WORKERS_CORDONED,
        .since_ms = newest->since_ms,
        .by = arena_str(s->arena, newest->by),
        .text = arena_printf(
            s->arena,
            "%" PRIu32 " %s could run it, but %s cordoned: %.*s; it starts when one is not any "
            "more (belfry uncordon %.*s), or on another worker",
            WORKERS(c->cordoned), c->cordoned == 1 ? "is" : "all are", STR_ARG(buf_str(&names)),
            STR_ARG(scene_id(s, ID_WORKER, c->newest_cordon->id))),
    };
    buf_free(&names);
    return b;
}

static struct blocker find_busy(const struct scene *s, const struct census *c)
{
    struct blocker b = {.kind = BLOCKER_WORKERS_BUSY};
    uint32_t heard = c->serving - c->draining - c->silent - c->cordoned;
    if (heard > 0) {
        b.used = c->busy;
        b.limit = c->slots;
        b.text =
            arena_printf(s->arena,
                         "%" PRIu32 " %s could run it, but no slot is free (%" PRIu32 " of %" PRIu32
                         " in use); it starts when one is, or on another worker",
                         WORKERS(heard), c->busy, c->slots);
    } else if (c->cordoned > 0) {
        b = find_cordoned(s, c);
    } else if (c->silent > 0) {
        b.kind = BLOCKER_WORKERS_SILENT;
        b.text =
            arena_printf(s->arena,
                         "%" PRIu32 " %s could run it, but the server does not hear from them; "
                         "look after them, or start another",
                         WORKERS(c->silent));
    } else {
        b.kind = BLOCKER_WORKERS_DRAINING;
        b.text = arena_printf(s->arena,
                              "%" PRIu32 " %s could run it, but all of them finish what they have "
                              "and leave; start another",
                              WORKERS(c->draining));
    }
    return b;
}

static struct blocker find_probation(const struct scene *s)
{
    char text[WHEN_TEXT_MAX];
    uint32_t unseen = s->exec->v.unseen;
    duration_format(text, s->engine->options.probation_ms);
    return (struct blocker){
        .kind = BLOCKER_PROBATION,
        .used = unseen,
        .text =
            arena_printf(s->arena,
                         "its last %" PRIu32 " runs ended together with their worker, so "
                         "it runs on probation: one such run on a worker at a time. All workers "
                         "with a free slot have one; it starts when that has ended, or has run "
                         "for %s",
                         unseen, text),
    };
}

static void explain_busy(struct scene *s)
{
    struct census c = count_workers(s);
    if (c.serving > 0 && !c.has_room)
        scene_add(s, find_busy(s, &c));
    else if (c.serving > 0 && !c.has_trust && exec_is_suspect(s->exec))
        scene_add(s, find_probation(s));
}

/* ---- who stands before it */

/* How many of these tracks, but for its own, come before a place; no more than max. */
static size_t count_before(const struct heap *tracks, const struct track *own,
                           const struct heap_item *place, size_t max)
{
    size_t count = 0;
    for (uint32_t i = 0; i < tracks->len && i < TRACKS_MAX && count < max; i++) {
        const struct track *track = CONTAINER_OF(tracks->items[i].node, struct track, order);
        if (track != own)
            count += heap_count_before(&track->heap, place, max - count);
    }
    return count;
}

/* Those of its own track, and of the others that may start now. */
static size_t count_ahead(const struct exec *x)
{
    const struct track *own = x->job->v.def->rules.track;
    own = exec_is_suspect(x) ? own->shadow : own;
    own = exec_has_permits(x) ? own->twin : own;
    const struct lane *lane = own->lane;
    const struct heap_item *place = &own->heap.items[x->ready.place - 1];
    size_t count = heap_count_before(&own->heap, place, AHEAD_MAX);
    count += count_before(&lane->twins, own, place, AHEAD_MAX - count);
    if (own->main == NULL ||
        lane->gate == GATE_OPEN) /* else those that have no permit wait for it */
        count += count_before(&lane->heap, own, place, AHEAD_MAX - count);
    return count;
}

static void explain_ahead(struct scene *s)
{
    const struct exec *x = s->exec;
    const struct lane *lane = x->job->v.def->rules.track->lane;
    size_t ahead = heap_holds(&x->ready) ? count_ahead(x) : 0; /* of a paused job: nowhere */
    if (ahead == 0)
        return;
    bool more = ahead == AHEAD_MAX;
    scene_add(s, (struct blocker){
                     .kind = BLOCKER_BEHIND,
                     .text = arena_printf(s->arena,
                                          "%s%zu %s before it in the queue '%.*s'; it moves up as "
                                          "they start",
                                          more ? "at least " : "", ahead,
                                          ahead == 1 ? "other stands" : "others stand",
                                          STR_ARG(lane->queue)),
                     .queue = arena_str(s->arena, lane->queue),
                     .ahead = (int64_t)ahead,
                     .ahead_is_min = more,
                 });
}

/* Permits that it has asked for count as if it ran, so its limits may look full because of
 * itself. */
static void explain_permits(struct scene *s)
{
    struct str key;
    for (unsigned bar = 0; permits_waited(s->exec, &bar, &key); bar++) {
        uint32_t home = partition_of_bucket(s->engine->owned.count, inbox_home(key));
        scene_add(s, (struct blocker){
                         .kind = BLOCKER_PERMIT,
                         .key = arena_str(s->arena, str_from(key, 1)),
                         .text = arena_printf(s->arena,
                                              "it waits for a permit of '%.*s', whose home is "
                                              "partition %" PRIu32 "; it starts when that one's "
                                              "owner grants it",
                                              STR_ARG(str_from(key, 1)), home),
                     });
    }
}

static void explain_limits(struct scene *s)
{
    explain_queue_limit(s);
    explain_team(s);
    explain_concurrency(s);
    explain_rate(s);
}

void explain_ready(struct scene *s)
{
    if (exec_has_permits(s->exec))
        explain_permits(s);
    else
        explain_limits(s);
    explain_breaker(s);
    explain_busy(s);
    explain_ahead(s);
}
