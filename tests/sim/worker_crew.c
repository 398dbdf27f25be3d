#include "worker_crew.h"
#include "base/plant.h"
#include "worker/link/credits.h"
#include "worker_runs.h"
#include "world.h"

#include <string.h>

enum {
    START_OVER_MS = 100, /* these as in worker/link/session.c */
    STALE_MAX = 3,
    TURN_MS = 1000, /* so long free slots stay where they are, while many want them */
};

bool poller_is_connected(const struct sim_poller *p)
{
    return p->known && p->retry_ms == 0;
}

struct sim_link *poller_newest(struct sim_poller *p)
{
    for (size_t i = 0; i < LINKS; i++) {
        if (p->links[i].call_no != 0 && p->links[i].seq == p->seq)
            return &p->links[i];
    }
    return NULL;
}

void poller_doubt(struct sim_poller *p)
{
    p->known = false;
    p->backlog = 0;
    p->heard = 0;
}

/* ---- whose is what */

struct partition_set crew_orphans(const struct sim_poller *p)
{
    const struct sim_worker *k = p->worker;
    struct partition_set orphans = partition_all(p->owned.count);
    for (size_t i = 0; i < k->poller_count; i++) {
        const struct sim_poller *other = &k->pollers[i];
        if (poller_is_connected(other) && other->owned.count == p->owned.count)
            orphans.bits &= ~other->owned.bits;
    }
    return orphans;
}

struct partition_set crew_scope(const struct world *w, const struct sim_poller *p)
{
    const struct partition_set everything = {0};
    if (!w->cluster || !p->known || p->owned.count == 0)
        return everything;
    struct partition_set scope = crew_orphans(p);
    scope.bits |= p->owned.bits;
    for (size_t i = 0; i < LINKS; i++) {
        const struct sim_link *link = &p->links[i];
        if (link->call_no == 0 || link->seq <= p->owned_seq)
            continue;
        if (link->scope.count != scope.count)
            return everything;
        scope.bits |= link->scope.bits;
    }
    return scope;
}

struct partition_set crew_believed(const struct world *w, struct sim_worker *k,
                                   const struct poll_reply *reply)
{
    const struct partition_set everything = {0};
    if (PLANTED(old_epoch_believed))
        return everything;
    int64_t keep_ms = w->scene.grace_ms + w->scene.engine.lease_ms;
    return epochs_hear(&k->epochs, reply, w->boot_ms, keep_ms);
}

struct partition_set poller_result_scope(const struct sim_poller *p,
                                         const struct partition_set *scope)
{
    return p->provisional ? (struct partition_set){.count = 1} : *scope;
}

/* ---- where to offer what is free */

uint32_t crew_free_slots(const struct sim_worker *k)
{
    size_t running = k->lease_set.running_count;
    return k->draining || running >= k->hello.slots ? 0 : (uint32_t)(k->hello.slots - running);
}

static void spread(const struct world *w, struct sim_worker *k, struct credit *ret_credits)
{
    for (size_t i = 0; i < k->poller_count; i++) {
        struct sim_poller *p = &k->pollers[i];
        const struct sim_link *newest = poller_newest(p);
        ret_credits[i] = (struct credit){.usable = poller_is_connected(p) && !p->provisional,
                                         .backlog = p->backlog,
                                         .out = newest == NULL ? 0 : newest->free};
    }
    credits_spread(ret_credits, k->poller_count, crew_free_slots(k),
                   (uint64_t)(w->boot_ms / TURN_MS));
}

uint32_t crew_offer(const struct world *w, struct sim_poller *p)
{
    struct sim_worker *k = p->worker;
    struct credit credits[POLLERS_MAX];
    if (!w->cluster)
        return crew_free_slots(k);
    spread(w, k, credits);
    return credits_offer(credits, k->poller_count, crew_free_slots(k), (size_t)(p - k->pollers));
}

bool crew_offer_moved(const struct world *w, struct sim_poller *p)
{
    struct sim_worker *k = p->worker;
    struct credit credits[POLLERS_MAX];
    if (!w->cluster)
        return poller_newest(p)->free != crew_free_slots(k);
    spread(w, k, credits);
    return credits_moved(credits, k->poller_count, crew_free_slots(k), (size_t)(p - k->pollers));
}

/* ---- how it goes */

/* No server knows us, or they take somebody else for us: what runs here runs for nobody. */
static void start_over(struct world *w, struct sim_worker *k)
{
    SAY(w, k->label, "registers again");
    k->registered = false;
    runs_void(w, k);
    k->epochs = (struct epochs){0};
    for (size_t i = 0; i < k->poller_count; i++) {
        struct sim_poller *p = &k->pollers[i];
        memset(p->links, 0, sizeof p->links);
        p->relay = (struct sim_link){0};
        poller_doubt(p);
        p->unknown = p->met = p->provisional = false;
        p->relay_heard = 0;
        p->stale = 0;
        p->owned = (struct partition_set){0};
        p->owned_seq = p->seq = 0;
        p->paused_until_ms = w->boot_ms + START_OVER_MS;
    }
    sim_worker_act(w, k);
}

/* One that says no is enough only when nobody else can be asked. */
static void judge(struct world *w, struct sim_worker *k)
{
    bool unknown = false;
    for (size_t i = 0; i < k->poller_count; i++) {
        const struct sim_poller *p = &k->pollers[i];
        if (!p->unknown && p->retry_ms == 0)
            return; /* it knows us, or has not said yet */
        unknown |= p->unknown;
    }
    if (unknown)
        start_over(w, k);
}

void crew_unknown(struct world *w, struct sim_poller *p)
{
    struct sim_worker *k = p->worker;
    p->unknown = true;
    if (p->met && k->lease_set.running_count + k->lease_set.ended_count == 0)
        start_over(w, k);
    else
        judge(w, k);
    sim_worker_act(w, k);
}

void crew_stale(struct world *w, struct sim_poller *p)
{
    if (p->worker->poller_count == 1 || ++p->stale >= STALE_MAX)
        start_over(w, p->worker);
    else
        crew_failed(w, p);
}

void crew_failed(struct world *w, struct sim_poller *p)
{
    judge(w, p->worker);
    sim_worker_act(w, p->worker);
}

struct sim_server *crew_go_between(const struct sim_poller *p)
{
    const struct sim_worker *k = p->worker;
    size_t first = p->relays_lost;
    for (size_t i = 0; i < k->poller_count; i++) {
        const struct sim_poller *other = &k->pollers[(first + i) % k->poller_count];
        if (other != p && poller_is_connected(other))
            return other->server;
    }
    return NULL;
}
