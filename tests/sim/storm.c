#include "storm.h"
#include "coverage.h"
#include "promises.h"
#include "world.h"

#include <inttypes.h>

enum {
    WATCH_MS = 250,
    TAKEOVER_MS = 3000, /* beyond the lease of a node */
    RESTART_MS = 15000, /* a peer that comes back as often as that */
    RECOVER_MS = 6000,  /* servers come back, share again, and load */
    WAIT_MAX_MS = 10000,
};

/* ---- what a storm is */

static int64_t takeover_ms(const struct world *w)
{
    return w->scene.node_lease_ms + TAKEOVER_MS;
}

static struct sim_server *any_server(struct world *w)
{
    return &w->servers[pick(w, w->server_count)];
}

static struct sim_worker *any_worker(struct world *w)
{
    return &w->workers[pick(w, w->scene.workers)];
}

/* Clients play no part: whoever cannot ask has not been promised an answer. */
static int any_end(struct world *w)
{
    int end = (int)pick(w, w->server_count + 1 + w->scene.workers);
    return end < END_CLIENTS ? end : end + 1;
}

/* Returns the two ends, as bits. */
static unsigned cut_any(struct world *w, int64_t for_ms)
{
    int a = any_end(w);
    int b = any_end(w);
    while (b == a || (a > END_CLIENTS && b > END_CLIENTS)) {
        a = any_end(w);
        b = any_end(w);
    }
    cuts_make(w, a, b, for_ms);
    return 1U << a | 1U << b;
}

void storm_split(struct world *w, const struct sim_server *s, const struct sim_worker *k,
                 int64_t for_ms)
{
    int inside[2] = {end_of_server(w, s), end_of_worker(w, k)};
    for (int i = 0; i < ENDS; i++) {
        if (i == inside[0] || i == inside[1])
            continue;
        cuts_make(w, inside[0], i, for_ms);
        cuts_make(w, inside[1], i, for_ms);
    }
}

static void split_here(struct world *w, void *what, uint64_t no)
{
    if (!w->healing)
        storm_split(w, what, &w->workers[no], 3 * w->scene.engine.lease_ms);
}

static void crash(struct world *w, void *what, uint64_t no)
{
    struct sim_server *s = what;
    (void)no;
    if (s->up && !s->in_turn && !w->healing)
        sim_server_crash(s);
}

/* Whoever has what the first server had: somebody who has just taken it, and may still wait. */
static void crash_heir(struct world *w, void *what, uint64_t no)
{
    const struct sim_server *first = what;
    (void)no;
    for (size_t i = 0; i < w->server_count; i++) {
        struct sim_server *s = &w->servers[i];
        if (s != first && s->up && ownership_set(&s->member.own).bits != 0) {
            crash(w, s, 0);
            return;
        }
    }
}

static void flap(struct world *w, void *what, uint64_t no)
{
    struct sim_server *s = what;
    int64_t for_ms = pick_ms(w, 50, w->scene.node_lease_ms);
    if (no == 0 || w->healing)
        return;
    cuts_make(w, end_of_server(w, s), END_DATABASE, for_ms);
    agenda_add(w, w->boot_ms + for_ms + pick_ms(w, 1, w->scene.node_lease_ms), flap, s, no - 1);
}

/* Long ones are longer than the grace, and cost the runs that nobody can vouch for. */
static int64_t draw_length_ms(struct world *w)
{
    const struct scene *s = &w->scene;
    int64_t grace_ms = s->grace_ms > 2 * s->node_lease_ms ? s->grace_ms : 2 * s->node_lease_ms;
    if (pick(w, 3) == 0)
        return grace_ms + pick_ms(w, 0, 2 * s->engine.lease_ms);
    return pick_ms(w, 1, grace_ms - s->node_lease_ms);
}

static bool is_long(const struct world *w, int64_t for_ms)
{
    return for_ms > w->scene.grace_ms - w->scene.node_lease_ms;
}

/* Nobody can be blamed for the runs of victim that die of it. */
static void forgive(struct world *w, const struct sim_worker *victim, uint64_t spared,
                    int64_t for_ms)
{
    w->storm.victim = victim;
    w->storm.spared = spared;
    w->storm.mercy_ms = w->boot_ms + for_ms + w->scene.engine.lease_ms + takeover_ms(w);
}

/* What the worker has from servers on the other side is lost. What it has from the one on its own is
 * kept for a grace. */
static int64_t split(struct world *w, bool heir_dies)
{
    struct sim_server *s = any_server(w);
    const struct sim_worker *k = any_worker(w);
    int64_t for_ms = draw_length_ms(w);
    storm_split(w, s, k, for_ms);
    forgive(w, k, is_long(w, for_ms) ? 0 : ownership_set(&s->member.own).bits, for_ms);
    if (heir_dies)
        agenda_add(w, w->boot_ms + takeover_ms(w) + pick_ms(w, 0, w->scene.engine.lease_ms),
                   crash_heir, s, 0);
    int64_t twice_ms = 2 * takeover_ms(w) + w->scene.engine.lease_ms;
    return heir_dies && for_ms < twice_ms ? twice_ms : for_ms;
}

/* A worker that reaches a server neither straight nor by the first way round that it tries may be too late
 * with the second. */
static int64_t cut_two(struct world *w, int64_t for_ms)
{
    unsigned first = cut_any(w, for_ms);
    unsigned second = cut_any(w, for_ms);
    unsigned workers = (first | second) >> END_WORKERS;
    bool meet = (first & second & ((1U << END_DATABASE) - 1)) != 0;
    for (size_t i = 0; meet && i < w->scene.workers; i++) {
        if (workers >> i & 1)
            forgive(w, &w->workers[i], 0, for_ms);
    }
    return for_ms;
}

static int64_t hang(struct world *w)
{
    int64_t for_ms = draw_length_ms(w);
    database_hangs(w, for_ms);
    if (is_long(w, for_ms))
        forgive(w, NULL, 0, for_ms);
    return for_ms;
}

static int64_t restart_often(struct world *w)
{
    struct sim_server *s = any_server(w);
    int64_t times = pick_ms(w, 2, 4);
    for (int64_t i = 0; i < times; i++)
        agenda_add(w, w->boot_ms + i * RESTART_MS, crash, s, 0);
    return times * RESTART_MS;
}

static int64_t take_over_twice(struct world *w)
{
    struct sim_server *s = any_server(w);
    int64_t then_ms = takeover_ms(w) + pick_ms(w, 0, w->scene.engine.lease_ms);
    crash(w, s, 0);
    agenda_add(w, w->boot_ms + then_ms, crash_heir, s, 0);
    return then_ms + takeover_ms(w);
}

static bool runs_something_of(const struct sim_worker *k, const struct sim_server *s)
{
    const struct partition_set owned = ownership_set(&s->member.own);
    for (size_t i = 0; k->alive && i < RUNS_MAX; i++) {
        if (k->runs[i].token != 0 && partition_has(&owned, k->runs[i].exec_id))
            return true;
    }
    return false;
}

/* A server without its database keeps leases that another has taken over already, for a worker that
 * has heard the other one and then reaches nobody but the first. */
static int64_t split_late(struct world *w)
{
    enum { TRIES = 10 };
    struct sim_server *s = any_server(w);
    const struct sim_worker *k = any_worker(w);
    int64_t heard_ms = takeover_ms(w) + pick_ms(w, 0, takeover_ms(w));
    int64_t for_ms = heard_ms + 3 * w->scene.engine.lease_ms;
    for (int i = 0; i < TRIES && !runs_something_of(k, s); i++) {
        s = any_server(w);
        k = any_worker(w);
    }
    cuts_make(w, end_of_server(w, s), END_DATABASE, for_ms);
    forgive(w, k, 0, for_ms);
    agenda_add(w, w->boot_ms + heard_ms, split_here, s, (uint64_t)(k - w->workers));
    return for_ms;
}

/* A worker starts while it cannot reach a server, which then joins anew and gets what the worker runs. */
static int64_t join_unmet(struct world *w)
{
    struct sim_worker *k = any_worker(w);
    struct sim_server *s = any_server(w);
    int64_t then_ms = 2 * RECOVER_MS + w->scene.engine.lease_ms;
    int64_t for_ms = then_ms + 2 * (takeover_ms(w) + RECOVER_MS + w->scene.engine.lease_ms);
    if (k->alive)
        sim_worker_crash(w, k);
    cuts_make(w, end_of_worker(w, k), end_of_server(w, s), for_ms);
    agenda_add(w, w->boot_ms + then_ms, crash, s, 0);
    return for_ms;
}

static int64_t die_together(struct world *w)
{
    struct sim_worker *k = any_worker(w);
    if (k->alive)
        sim_worker_crash(w, k);
    crash(w, any_server(w), 0);
    return takeover_ms(w);
}

/* ---- one after the other */

static int64_t strike(struct world *w)
{
    int64_t for_ms = draw_length_ms(w);
    switch (pick(w, 13)) {
    case 0: cut_any(w, for_ms); return for_ms;
    case 1: return cut_two(w, for_ms);
    case 2: return split(w, false);
    case 3: return split(w, true);
    case 4: return hang(w);
    case 5: return restart_often(w);
    case 6: return take_over_twice(w);
    case 7: return die_together(w);
    case 8: return join_unmet(w);
    case 9:
    case 10:
    case 11: return split_late(w);
    default: flap(w, any_server(w), 8); return 16 * w->scene.node_lease_ms;
    }
}

static void break_out(struct world *w, void *what, uint64_t no)
{
    struct storm *storm = &w->storm;
    if (w->healing || w->scene.killer_ms > 0)
        return;
    saw(SAW_STORM);
    storm->until_ms = w->boot_ms + strike(w);
    storm->fair_ms = storm->until_ms + RECOVER_MS + takeover_ms(w);
    SAY(w, "storm", "lasts %" PRId64 " ms", storm->until_ms - w->boot_ms);
    int64_t calm_ms = w->scene.engine.lease_ms + pick_ms(w, 0, WAIT_MAX_MS);
    agenda_add(w, storm->fair_ms + calm_ms, break_out, what, no);
}

/* ---- what is promised */

static bool is_decided(const struct world *w, uint32_t partition)
{
    for (size_t i = 0; i < w->server_count; i++) {
        const struct sim_server *s = &w->servers[i];
        if (s->up && s->member.loaded && cluster_may_decide(s) &&
            s->turn.owned.epochs[partition] == w->model.epochs[partition])
            return true;
    }
    return false;
}

static void check_partitions(struct world *w)
{
    for (uint32_t i = 0; i < CLUSTER_PARTITIONS; i++) {
        if (database_is_hung(w) || is_decided(w, i))
            w->storm.decided_ms[i] = w->boot_ms;
        PROMISE(w, w->boot_ms - w->storm.decided_ms[i] <= takeover_ms(w) + WATCH_MS,
                "nobody has decided about partition %" PRIu32 " for %" PRId64 " ms", i,
                w->boot_ms - w->storm.decided_ms[i]);
    }
}

static bool has_room(const struct world *w, const struct sim_worker *k, const struct model_exec *x)
{
    const struct rules *rules = &model_wish(&w->model, x->job)->rules;
    bool queue = k->hello.queue_count == 0 || str_eq(k->queues[0], rules->queue);
    bool handler = rules->handler.len == 0
                       ? k->hello.runs_commands
                       : k->hello.handler_count > 0 && str_eq(k->handlers[0], rules->handler);
    return queue && handler && k->alive && k->registered && !k->draining &&
           w->boot_ms - k->full_ms > WAIT_MAX_MS;
}

/* Since when it has been allowed to start: what held it back may have ended only now. */
static int64_t allowed_ms(const struct model_exec *x)
{
    return x->held_ms > x->queued_ms ? x->held_ms : x->queued_ms;
}

static void check_waiting(struct world *w, const struct model_exec *x)
{
    int64_t waited_ms = w->boot_ms - allowed_ms(x);
    if (x->rec.state != EXEC_QUEUED || waited_ms < WAIT_MAX_MS)
        return;
    for (size_t i = 0; i < w->scene.workers; i++)
        PROMISE(w, !has_room(w, &w->workers[i], x),
                "%s has waited for %" PRId64 " ms while %s had room for it",
                exec_label(w, x->rec.id), waited_ms, w->workers[i].label);
}

static void watch_held(struct world *w)
{
    for (size_t i = 0; i < w->model.execs.len; i++) {
        struct model_exec *x = w->model.execs.items[i];
        if (x->rec.state == EXEC_QUEUED && (model_is_suspect(x) || model_is_held(w, x)))
            x->held_ms = w->boot_ms;
    }
}

static bool is_cordoned(const struct world *w, const struct sim_worker *k)
{
    const struct model_worker *known = model_worker(&w->model, k->id);
    return known != NULL && known->rec.cordoned_ms > 0;
}

/* For how long a worker has had room. */
static void watch_workers(struct world *w)
{
    for (size_t i = 0; i < w->scene.workers; i++) {
        struct sim_worker *k = &w->workers[i];
        if (!k->alive || !k->registered || k->lease_set.running_count >= k->hello.slots ||
            is_cordoned(w, k))
            k->full_ms = w->boot_ms;
    }
}

static void watch(struct world *w, void *what, uint64_t no)
{
    check_partitions(w);
    watch_workers(w);
    watch_held(w);
    if (w->boot_ms > w->storm.fair_ms + WAIT_MAX_MS && w->scene.killer_ms == 0) {
        for (size_t i = 0; i < w->model.execs.len; i++)
            check_waiting(w, w->model.execs.items[i]);
    }
    agenda_add(w, w->boot_ms + WATCH_MS, watch, what, no);
}

void storm_begin(struct world *w)
{
    agenda_add(w, w->boot_ms + WAIT_MAX_MS + pick_ms(w, 0, w->scene.engine.lease_ms), break_out,
               NULL, 0);
    watch(w, NULL, 0);
}

bool storm_is_over(const struct world *w)
{
    return w->boot_ms >= w->scene.storms_ms && w->boot_ms >= w->storm.fair_ms;
}

static bool is_forgiven(const struct world *w, const struct sim_worker *k, uint64_t exec_id)
{
    const struct storm *storm = &w->storm;
    struct partition_set spared = {.count = CLUSTER_PARTITIONS, .bits = storm->spared};
    return w->boot_ms < storm->mercy_ms && (storm->victim == NULL || storm->victim == k) &&
           !partition_has(&spared, exec_id);
}

void storm_run_dies(struct world *w, const struct sim_worker *k, uint64_t exec_id, uint64_t token)
{
    const struct model_exec *x = model_exec(&w->model, exec_id);
    if (w->scene.storms_ms == 0 || w->scene.killer_ms > 0 || x == NULL ||
        is_forgiven(w, k, exec_id) || x->rec.state != EXEC_RUNNING || x->rec.token != token ||
        x->rec.worker_id != k->id || model_timed_out(w, x) || model_must_stop(x))
        return;
    PROMISE(w, false, "%s dies on %s, since nobody has renewed its lease", exec_label(w, exec_id),
            k->label);
}
