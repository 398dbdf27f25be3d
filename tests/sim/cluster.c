#include "cluster.h"
#include "base/plant.h"
#include "coverage.h"
#include "job/shares.h"
#include "promises.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>

enum { BEATS = 5 }; /* renewals within a lease */

static uint64_t bit(uint32_t partition)
{
    return UINT64_C(1) << partition;
}

bool cluster_may_decide(const struct sim_server *s)
{
    return s->world->boot_ms < s->member.until_ms;
}

/* ---- what the newest view says */

static int find_node(const struct cluster_view *view, struct str start)
{
    for (size_t i = 0; start.len > 0 && i < view->node_count; i++) {
        if (str_eq(view->nodes[i].start, start))
            return (int)i;
    }
    return SHARES_NOBODY;
}

static bool is_silent(const struct sim_server *s, const struct cluster_view *view,
                      const struct node_rec *node)
{
    return !str_eq(node->start, s->member.me.start) &&
           view->now_ms - node->seen_ms > s->world->scene.node_lease_ms;
}

static int server_of(const struct world *w, const struct cluster_view *view, struct str start)
{
    int node = find_node(view, start);
    for (size_t i = 0; node >= 0 && i < w->server_count; i++) {
        if (str_eq(view->nodes[node].name, str_c(w->servers[i].name)))
            return (int)i;
    }
    return -1;
}

static void learn_owners(struct sim_server *s, const struct cluster_view *view)
{
    for (size_t i = 0; i < view->partition_count; i++)
        s->member.owners[i] = server_of(s->world, view, view->partitions[i].owner);
}

/* Whatever was taken from us is not ours any more, whatever we thought. */
static void drop_lost(struct sim_server *s, const struct cluster_view *view)
{
    struct sim_member *m = &s->member;
    for (uint32_t i = 0; i < view->partition_count; i++) {
        const struct partition_rec *p = &view->partitions[i];
        bool held = str_eq(p->owner, m->me.start) && p->epoch == m->own.epochs[i];
        if (m->own.epochs[i] == 0 || held)
            continue;
        SAY(s->world, s->name, "has lost partition %" PRIu32, i);
        saw(SAW_DEPRIVED);
        m->own.epochs[i] = 0;
        m->giving &= ~bit(i);
    }
}

static struct shares_plan plan(const struct sim_server *s, const struct cluster_view *view)
{
    struct shares_node nodes[SHARES_NODES_MAX];
    struct shares_place places[PARTITIONS_MAX];
    for (size_t i = 0; i < view->node_count; i++)
        nodes[i] = (struct shares_node){.silent = is_silent(s, view, &view->nodes[i]),
                                        .draining = view->nodes[i].draining};
    for (size_t i = 0; i < view->partition_count; i++)
        places[i] = (struct shares_place){.owner = find_node(view, view->partitions[i].owner),
                                          .former = find_node(view, view->partitions[i].former)};
    return shares_make(&(struct shares_view){
        .me = find_node(view, s->member.me.start),
        .nodes = nodes,
        .node_count = (int)view->node_count,
        .places = places,
        .partitions = (uint32_t)view->partition_count,
    });
}

/* ---- acting on it */

static void take(struct sim_server *s, const struct cluster_view *view, uint64_t wanted)
{
    struct world *w = s->world;
    struct sim_member *m = &s->member;
    struct err err;
    uint64_t before = ownership_set(&m->own).bits;
    if (m->member->ops->take(m->member, &m->me, wanted, view, &m->own, &err))
        return;
    uint64_t got = ownership_set(&m->own).bits & ~before;
    if (got == 0)
        return;
    model_owned(w, &m->own);
    saw(SAW_TAKEN);
    SAY(w, s->name, "takes partitions %04" PRIx64, got);
}

static void give(struct sim_server *s)
{
    struct sim_member *m = &s->member;
    struct err err;
    if (m->giving == 0)
        return;
    SAY(s->world, s->name, "gives partitions %04" PRIx64, m->giving);
    saw(SAW_GIVEN);
    m->member->ops->release(m->member, m->giving, &m->own, &err);
    m->giving = 0;
}

/* What the engine is to decide about. */
static struct ownership wanted(const struct sim_member *m)
{
    struct ownership own = m->own;
    for (uint32_t i = 0; i < own.partitions; i++) {
        if (m->giving & bit(i))
            own.epochs[i] = 0;
    }
    return own;
}

static bool is_loaded(const struct sim_server *s, const struct ownership *own)
{
    bool same = s->member.loaded;
    for (uint32_t i = 0; i < own->partitions; i++)
        same = same && own->epochs[i] == s->turn.owned.epochs[i];
    return same;
}

static void load_changes(struct sim_server *s)
{
    if (!PLANTED(floors_forgotten))
        turn_raise_floors(&s->turn, &s->member.own);
    struct ownership own = wanted(&s->member);
    if (!is_loaded(s, &own))
        s->member.loaded = sim_server_load(s, &own);
}

static void read_settings(struct sim_server *s, uint64_t version)
{
    struct err err;
    if (s->member.settings == version || !s->member.loaded)
        return;
    if (turn_settings(&s->turn, &err) == RC_OK)
        s->member.settings = version;
}

static void act_on(struct sim_server *s, const struct cluster_view *view)
{
    struct sim_member *m = &s->member;
    drop_lost(s, view);
    learn_owners(s, view);
    struct shares_plan p = plan(s, view);
    if (m->loaded)
        give(s); /* what was left out by the engine that is there now */
    if (p.take != 0)
        take(s, view, p.take);
    m->giving |= p.give & ownership_set(&m->own).bits;
    load_changes(s);
    read_settings(s, view->settings_version);
}

/* The last beat of a predecessor of our name that has fallen silent; 0: there is none. */
static int64_t lapsed_ms(const struct sim_server *s, const struct cluster_view *view)
{
    for (size_t i = 0; i < view->node_count; i++) {
        if (str_eq(view->nodes[i].name, s->member.me.name) && is_silent(s, view, &view->nodes[i]))
            return view->nodes[i].seen_ms;
    }
    return 0;
}

static enum rc renew(struct sim_server *s, struct err *err)
{
    struct world *w = s->world;
    struct sim_member *m = &s->member;
    CLEANUP(arena_free) struct arena arena = {0};
    struct cluster_view view;
    int64_t lease_ms = w->scene.node_lease_ms;
    if (sim_server_is_adrift(s))
        return err_set(err, RC_IO, "the simulated store cannot be reached");
    m->me.clock_ms = world_now(w).wall_ms;
    enum rc rc = m->member->ops->renew(m->member, &m->me, 0, &arena, &view, err);
    int64_t lapsed = rc == RC_CONFLICT ? lapsed_ms(s, &view) : 0;
    if (lapsed != 0)
        rc = m->member->ops->renew(m->member, &m->me, lapsed, &arena, &view, err);
    TRY(rc);
    m->until_ms = w->boot_ms + lease_ms * 4 / 5;
    if (m->own.partitions == 0)
        m->own.partitions = (uint32_t)view.partition_count;
    act_on(s, &view);
    return RC_OK;
}

static void beat(struct world *w, void *what, uint64_t no);

static void beat_in(struct sim_server *s, int64_t delay_ms)
{
    agenda_add(s->world, s->world->boot_ms + delay_ms, beat, s, ++s->member.beat_no);
}

static void beat(struct world *w, void *what, uint64_t no)
{
    struct sim_server *s = what;
    struct err err;
    if (!s->up || no != s->member.beat_no)
        return;
    if (sim_server_defer(s, beat, no))
        return;
    enum rc rc = renew(s, &err);
    if (rc != RC_OK)
        SAY(w, s->name, "could not renew: %s", err.text);
    if (rc == RC_DEPOSED)
        sim_server_crash(s);
    else
        beat_in(s, pick_ms(w, 1, w->scene.node_lease_ms / BEATS));
}

/* ---- life and death */

bool cluster_join(struct sim_server *s, struct err *err)
{
    struct world *w = s->world;
    struct sim_member *m = &s->member;
    uint64_t beat_no = m->beat_no;
    *m = (struct sim_member){.beat_no = beat_no};
    snprintf(m->start, sizeof m->start, "%s-%" PRIu64, s->name, w->step);
    m->me = (struct node_rec){.name = str_c(s->name), .start = str_c(m->start)};
    struct store *inner = s->door->inner;
    if (inner->ops->member(inner, &m->member, err) != RC_OK || renew(s, err) != RC_OK) {
        cluster_vanish(s);
        return false;
    }
    beat_in(s, 1);
    return true;
}

void cluster_vanish(struct sim_server *s)
{
    if (s->member.member != NULL)
        s->member.member->ops->close(s->member.member);
    s->member.member = NULL;
    s->member.beat_no++;
}

void cluster_doubt(struct sim_server *s)
{
    s->member.loaded = false;
    beat_in(s, 0);
}

/* ---- whose is it? */

static struct sim_server *server_at(const struct sim_server *s, int at)
{
    return at < 0 || &s->world->servers[at] == s ? NULL : &s->world->servers[at];
}

struct sim_server *cluster_owner(const struct sim_server *s, uint64_t id)
{
    return server_at(s, s->member.owners[partition_of(s->member.own.partitions, id)]);
}

struct sim_server *cluster_any_owner(const struct sim_server *s)
{
    for (uint32_t i = 0; i < s->member.own.partitions; i++) {
        if (server_at(s, s->member.owners[i]) != NULL)
            return server_at(s, s->member.owners[i]);
    }
    return NULL;
}
