#include "cluster.h"
#include "base/plant.h"
#include "coverage.h"
#include "promises.h"
#include "server/cluster/balance.h"
#include "server/cluster/unsure.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    BEATS = 5,             /* renewals within a lease; these as in server/cluster/membership.c */
    FIRST_CLAIM_MS = 2000, /* for others to come back, after silence of our own */
};

static uint64_t bit(uint32_t partition)
{
    return UINT64_C(1) << partition;
}

bool cluster_may_decide(const struct sim_server *s)
{
    return s->world->boot_ms < s->member.renewed_ms + s->world->scene.node_lease_ms * 4 / 5;
}

bool cluster_has_grace(const struct sim_server *s)
{
    return s->world->boot_ms < s->member.renewed_ms + s->world->scene.grace_ms;
}

/* ---- what the newest view says */

static int server_of(const struct world *w, const struct cluster_view *view, struct str start)
{
    int node = cluster_map_find(view, start);
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
    unsure_date(&m->own, got, view, &m->cluster_map, w->boot_ms);
    model_owned(w, &m->own);
    saw(SAW_TAKEN);
    SAY(w, s->name, "takes partitions %04" PRIx64 ", %04" PRIx64 " from who fell silent", got,
        m->own.deprived & got);
}

static void give(struct sim_server *s)
{
    struct sim_member *m = &s->member;
    struct err err;
    if (m->giving == 0)
        return;
    SAY(s->world, s->name, "gives partitions %04" PRIx64, m->giving);
    saw(SAW_GIVEN);
    unsure_leave(&m->own, m->giving, s->world->boot_ms);
    m->member->ops->release(m->member, m->giving, &m->own, &err);
    m->giving = 0;
}

/* No lease is in doubt any more. Of what is to be given the engine that is there now cannot say so: it was loaded
 * without it. */
static void write_sure(struct sim_server *s)
{
    struct sim_member *m = &s->member;
    struct err err;
    uint64_t sure = m->loaded ? unsure_over(&m->own, engine_unsure(s->turn.engine) | m->giving) : 0;
    if (sure != 0)
        m->member->ops->ensure(m->member, sure, &m->own, &err);
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

void cluster_read_settings(struct sim_server *s)
{
    struct sim_member *m = &s->member;
    struct err err;
    uint64_t version = m->settings_newest;
    if (m->settings == version || !m->loaded || turn_settings(&s->turn, &err) != RC_OK)
        return;
    m->settings = version;
    sim_server_stir(s); /* something may have been let go */
}

static void act_on(struct sim_server *s, const struct cluster_view *view)
{
    struct world *w = s->world;
    struct sim_member *m = &s->member;
    drop_lost(s, view);
    learn_owners(s, view);
    bool just_back = m->back_ms > 0 && w->boot_ms - m->back_ms < FIRST_CLAIM_MS;
    struct shares_plan p = balance_plan(&m->cluster_map, view, just_back);
    if (m->loaded)
        give(s); /* what was left out by the engine that is there now */
    uint64_t wanted = p.take & ~ownership_set(&m->own).bits;
    if (wanted != 0)
        take(s, view, wanted);
    m->giving |= p.give & ownership_set(&m->own).bits;
    load_changes(s);
    write_sure(s);
    m->settings_newest = view->settings_version;
    cluster_read_settings(s);
}

/* The last beat of a predecessor of our name that has fallen silent; 0: there is none. By the store's clock,
 * which runs as boot clocks do here: a real server would watch for a lease. */
static int64_t lapsed_ms(const struct sim_server *s, const struct cluster_view *view)
{
    for (size_t i = 0; i < view->node_count; i++) {
        const struct node_rec *node = &view->nodes[i];
        bool silent = view->now_ms - node->seen_ms > s->world->scene.node_lease_ms;
        if (str_eq(node->name, s->member.me.name) && silent)
            return node->seen_ms;
    }
    return 0;
}

/* Turns that were kept are missing, or a partition has an epoch from before the one that we took it under. */
static bool has_gone_back(const struct sim_member *m, const struct cluster_view *view)
{
    bool back = view->lost_turns > 0;
    for (uint32_t i = 0; i < view->partition_count; i++)
        back |= view->partitions[i].epoch < m->own.epochs[i];
    return back;
}

static enum rc recover(struct sim_server *s, struct arena *arena, struct cluster_view *view,
                       struct err *err)
{
    struct sim_member *m = &s->member;
    past_noticed(s, view->lost_turns);
    TRY(m->member->ops->recover(m->member, &m->me, &m->own, err));
    model_owned(s->world, &m->own);
    m->giving = 0;
    return m->member->ops->renew(m->member, &m->me, 0, arena, view, err);
}

static enum rc renew(struct sim_server *s, struct err *err)
{
    struct world *w = s->world;
    struct sim_member *m = &s->member;
    CLEANUP(arena_free) struct arena arena = {0};
    struct cluster_view view;
    int64_t lease_ms = w->scene.node_lease_ms;
    if (m->sent_ms == 0)
        m->sent_ms = w->boot_ms;
    if (sim_server_is_adrift(s))
        return err_set(err, RC_IO, "the simulated store cannot be reached");
    m->me.clock_ms =
        w->scene.clocks ? clocks_wall_ms(w, (int)(s - w->servers)) : world_now(w).wall_ms;
    m->me.time_ms = clocks_row_ms(s);
    enum rc rc = m->member->ops->renew(m->member, &m->me, 0, &arena, &view, err);
    int64_t lapsed = rc == RC_CONFLICT ? lapsed_ms(s, &view) : 0;
    if (lapsed != 0)
        rc = m->member->ops->renew(m->member, &m->me, lapsed, &arena, &view, err);
    TRY(rc);
    if (has_gone_back(m, &view))
        TRY(recover(s, &arena, &view, err));
    cluster_map_observe(&m->cluster_map, &view, w->boot_ms);
    bool had_gap = m->renewed_ms > 0 && m->sent_ms - m->renewed_ms > lease_ms;
    if (had_gap)
        m->back_ms = m->sent_ms;
    clocks_answered(s, &view, had_gap);
    m->renewed_ms = m->sent_ms;
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
    if (database_is_hung(w)) { /* the answer will come, and counts from now */
        if (s->member.sent_ms == 0)
            s->member.sent_ms = w->boot_ms;
        agenda_add(w, w->hangs_until_ms, beat, s, no);
        return;
    }
    enum rc rc = renew(s, &err);
    s->member.sent_ms = 0;
    if (rc != RC_OK)
        SAY(w, s->name, "could not renew: %s", err.text);
    if (rc == RC_DEPOSED)
        sim_server_crash(s);
    else
        beat_in(s, pick_ms(w, 1, w->scene.node_lease_ms / BEATS));
}

/* ---- life and death */

/* Whoever starts in the data directory of a server that is dead knows that it is, most of the time. */
static void name_start(struct sim_server *s)
{
    struct world *w = s->world;
    struct sim_member *m = &s->member;
    memcpy(s->former_start, s->start, sizeof s->start);
    snprintf(s->start, sizeof s->start, "%s-%" PRIu64, s->name, w->step);
    m->me = (struct node_rec){.name = str_c(s->name),
                              .start = str_c(s->start),
                              .lease_ms = w->scene.engine.lease_ms,
                              .grace_ms = w->scene.grace_ms};
    if (pick(w, 2) == 0)
        m->me.replaces = str_c(s->former_start);
    cluster_map_init(&m->cluster_map, m->me.start, w->scene.node_lease_ms);
    m->cluster_map.replaces = m->me.replaces;
}

bool cluster_join(struct sim_server *s, struct err *err)
{
    struct sim_member *m = &s->member;
    uint64_t beat_no = m->beat_no;
    *m = (struct sim_member){.beat_no = beat_no};
    s->time = (struct sim_timing){0};
    name_start(s);
    struct store *inner = s->door->inner;
    if (inner->ops->member(inner, &m->member, err) != RC_OK || renew(s, err) != RC_OK) {
        cluster_vanish(s);
        return false;
    }
    m->sent_ms = 0;
    beat_in(s, 1);
    return true;
}

void cluster_vanish(struct sim_server *s)
{
    struct sim_member *m = &s->member;
    if (m->member != NULL) {
        m->member->ops->close(m->member);
        cluster_map_free(&m->cluster_map);
    }
    m->member = NULL;
    m->beat_no++;
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
