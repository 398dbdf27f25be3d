#include "server/cluster/membership.h"
#include "base/id.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "server/cluster/balance.h"
#include "server/cluster/company.h"
#include "server/cluster/membership_inside.h"
#include "server/cluster/takeovers.h"
#include "server/cluster/unsure.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    BEATS = 5,             /* renewals within a lease, … */
    BEAT_MS_MAX = 1000,    /* … but at least one a second */
    BEAT_MS_AGAIN = 200,   /* after one that failed */
    FIRST_CLAIM_MS = 2000, /* for others to come back, after silence of our own */
    NAMESAKE_MS = 1500,    /* beyond its lease: then one of our name is there for good */
    NAMESAKE_LOOK_US = 250000,
    SHADOW_MS = 2500,    /* beyond the lease: then what a dead server had can be taken */
    FORGET_MS = 3600000, /* nodes that are gone stay in the list so long */
    FORGET_BEATS = 64,
    LAST_WAIT_MS = 4000, /* when the server ends; its turn has three of them */
    WAKES_MAX = 4,
};

static uint64_t bits_of(const struct ownership *own)
{
    return ownership_set(own).bits;
}

/* ---- telling the decider */

static void post(struct membership *m)
{
    struct ownership to = m->own;
    for (uint32_t p = 0; p < to.partitions; p++) {
        if (m->giving & membership_bit(p))
            to.epochs[p] = 0;
    }
    pthread_mutex_lock(&m->lock);
    bool same =
        atomic_load(&m->serial) > 0 && memcmp(to.epochs, m->posted.epochs, sizeof to.epochs) == 0;
    if (!same) {
        m->posted = to;
        m->held = m->own;
        m->unsure = UINT64_MAX; /* until the decider has loaded it, and says otherwise */
        atomic_store(&m->owned_bits, bits_of(&to));
        atomic_fetch_add(&m->serial, 1);
    }
    pthread_mutex_unlock(&m->lock);
}

/* Calls go nowhere before the server serves. */
static struct membership_events events_of(struct membership *m)
{
    pthread_mutex_lock(&m->lock);
    struct membership_events events = m->events;
    pthread_mutex_unlock(&m->lock);
    return events;
}

static void tell(struct membership *m)
{
    struct membership_events events = events_of(m);
    if (events.on_news != NULL)
        events.on_news(events.arg);
}

/* ---- what the view says about us */

struct node_rec membership_record(struct membership *m)
{
    pthread_mutex_lock(&m->lock);
    struct node_rec me = m->me;
    pthread_mutex_unlock(&m->lock);
    return me;
}

static bool is_mine(const struct membership *m, const struct partition_rec *p)
{
    return str_eq(p->owner, m->me.start);
}

/* Partitions that were taken from us are not ours any more, also where we had not noticed. */
static void drop_lost(struct membership *m, const struct cluster_view *v)
{
    for (size_t p = 0; p < v->partition_count; p++) {
        bool held = is_mine(m, &v->partitions[p]) && v->partitions[p].epoch == m->own.epochs[p];
        if (m->own.epochs[p] == 0 || held)
            continue;
        log_warn("another server has taken a partition from this one", "partition", LOG_NUMBER(p),
                 NULL);
        m->own.epochs[p] = 0;
        m->giving &= ~membership_bit(p);
        atomic_store(&m->deposed, true);
    }
}

/* Ours by the view, but we never heard so: the answer to a take was lost. It is given back, and
 * taken again in order, with its floors. */
static void release_strays(struct membership *m, const struct cluster_view *v)
{
    struct err err;
    uint64_t strays = 0;
    for (size_t p = 0; p < v->partition_count; p++) {
        if (is_mine(m, &v->partitions[p]) && m->own.epochs[p] == 0)
            strays |= membership_bit(p);
    }
    struct ownership none = m->own;
    for (size_t p = 0; p < v->partition_count; p++) {
        none.epochs[p] = strays & membership_bit(p) ? v->partitions[p].epoch : 0;
        none.unsure_ms[p] = v->partitions[p].unsure_ms;
    }
    if (strays != 0 && m->member->ops->release(m->member, strays, &none, &err) != RC_OK)
        log_warn("partitions could not be given back; the next renewal tries again", "error",
                 err.text, NULL);
}

/* ---- taking and giving */

static struct shares_plan plan(const struct membership *m, const struct cluster_view *v)
{
    bool just_back = m->back_ms > 0 && clock_boot_ms() - m->back_ms < FIRST_CLAIM_MS;
    return balance_plan(&m->cluster_map, v, just_back);
}

/* The view is from before: its next reader must not find the one that we took from, or nobody. */
static void show_taken(const struct membership *m, struct cluster_view *v, uint64_t taken)
{
    for (size_t p = 0; p < v->partition_count; p++) {
        struct partition_rec *rec = &v->partitions[p];
        if (!(taken & membership_bit(p)))
            continue;
        rec->former = rec->owner;
        rec->owner = m->me.start;
        rec->epoch = m->own.epochs[p];
        rec->since_ms = v->now_ms;
        rec->unsure_ms = m->own.unsure_ms[p];
    }
}

static void take(struct membership *m, struct cluster_view *v, uint64_t wanted)
{
    struct err err;
    uint64_t before = bits_of(&m->own);
    struct node_rec me = membership_record(m);
    if (m->member->ops->take(m->member, &me, wanted, v, &m->own, &err) != RC_OK) {
        log_warn("partitions could not be taken; the next renewal tries again", "error", err.text,
                 NULL);
        return;
    }
    uint64_t taken = bits_of(&m->own) & ~before;
    unsure_date(&m->own, taken, v, &m->cluster_map, clock_boot_ms());
    if (m->incidents != NULL)
        takeovers_note(m->incidents, v, taken, m->own.deprived, m->me.replaces);
    show_taken(m, v, taken);
    log_info("this server took partitions", "count", LOG_NUMBER(__builtin_popcountll(taken)), NULL);
    if (bits_of(&m->own) != 0)
        atomic_store(&m->deposed, false);
}

/* The decider is asked to stop; partitions that it has stopped deciding about are given. */
static void begin_giving(struct membership *m, const struct cluster_view *v,
                         const struct shares_plan *p)
{
    if (m->giving == 0)
        heirs_reset(&m->heirs);
    for (size_t i = 0; i < v->partition_count; i++) {
        if (!(p->give & membership_bit(i)) || m->own.epochs[i] == 0 ||
            (m->giving & membership_bit(i)))
            continue;
        m->giving |= membership_bit(i);
        heirs_set(&m->heirs, i, v->nodes[p->heirs[i]].address);
    }
}

/* A server that dies before this is written leaves a longer wait than needed, which is only slow.
 * Of partitions to be given it cannot be said any more: the decider's engine may be without
 * them. */
static void write_sure(struct membership *m)
{
    struct err err;
    pthread_mutex_lock(&m->lock);
    uint64_t sure = unsure_over(&m->own, m->unsure | m->giving);
    pthread_mutex_unlock(&m->lock);
    if (sure != 0 && m->member->ops->ensure(m->member, sure, &m->own, &err) != RC_OK)
        log_warn(
            "the row of this server still says that leases are in doubt; the next renewal tries again",
            "error", err.text, NULL);
}

static void finish_giving(struct membership *m)
{
    struct err err;
    uint64_t given = m->giving;
    if (given == 0 || atomic_load(&m->obeyed) < atomic_load(&m->serial))
        return;
    unsure_leave(&m->own, given, clock_boot_ms());
    if (m->member->ops->release(m->member, given, &m->own, &err) != RC_OK) {
        log_warn("partitions could not be given back; the next renewal tries again", "error",
                 err.text, NULL);
        return; /* the next view says whether they were */
    }
    m->giving = 0;
    log_info("this server gave partitions to other servers", "count",
             LOG_NUMBER(__builtin_popcountll(given)), NULL);
    struct membership_events events = events_of(m);
    if (events.on_given != NULL)
        heirs_tell(&m->heirs, given, events.on_given, events.arg);
}

/* ---- a renewal */

static void publish(struct membership *m, const struct cluster_view *v, struct arena *take_arena)
{
    cluster_map_publish(&m->cluster_map, v, take_arena);
    atomic_store(&m->settings_version, v->settings_version);
}

static void keep_time(struct membership *m, const struct cluster_view *v, int64_t sent_us,
                      bool had_gap)
{
    struct time_answer answer = {v->now_ms, sent_us, clock_boot_us()};
    struct time_company company = company_look(v, m->me.start, m->lease_ms, &m->leader_ms);
    int64_t newest_ms = v->newest_id == 0 ? TIMELINE_NO_ID : id_time_ms(v->newest_id);
    if (!m->knows_time)
        timekeeper_enter(&m->time, &m->time_rules, newest_ms, &answer, &company);
    else if (had_gap)
        (void)timekeeper_back(&m->time, &answer, &company);
    else
        (void)timekeeper_sample(&m->time, &answer, &company);
    m->knows_time = true;
}

static void note_renewed(struct membership *m, int64_t sent_us, const struct cluster_view *v)
{
    int64_t sent_ms = sent_us / 1000;
    bool had_gap = m->beats > 0 && sent_ms - m->sent_ms > m->lease_ms;
    if (had_gap)
        m->back_ms = sent_ms;
    m->had_gap = m->beats > 0 && sent_ms - m->sent_ms > FORGET_MS / 2;
    m->sent_ms = sent_ms;
    m->beats++;
    keep_time(m, v, sent_us, had_gap);
    if (m->losing)
        log_info("this server is a member of its cluster again", NULL);
    m->losing = false;
}

static void note_failed(struct membership *m, const struct err *err)
{
    if (err->rc == RC_DEPOSED || err->rc == RC_CONFLICT) {
        log_error("another server has the name of this one", "error", err->text, NULL);
        atomic_store(&m->until_ms, 0);
        atomic_store(&m->grace_until_ms, 0);
        atomic_store(&m->failed, true);
    } else if (!m->losing) {
        log_warn("this server could not renew its row in the cluster", "error", err->text, NULL);
    }
    m->losing = true;
}

static enum rc renew(struct membership *m, struct arena *arena, struct cluster_view *ret_view,
                     struct err *err)
{
    struct node_rec me = membership_record(m);
    me.draining = atomic_load(&m->draining);
    me.clock_ms = clock_own_wall_ms();
    me.time_ms = m->knows_time && clock_is_sure() ? clock_wall_ms() : 0;
    int64_t sent_us = clock_boot_us(); /* as early as can be: the lease runs from here */
    TRY(m->member->ops->renew(m->member, &me, m->lapsed_ms, arena, ret_view, err));
    bool same = m->own.partitions == 0 || ret_view->partition_count == m->own.partitions;
    if (!same || ret_view->partition_count == 0 || ret_view->partition_count > PARTITIONS_MAX)
        return err_set(err, RC_CORRUPT, "the store says that it has %zu partitions",
                       ret_view->partition_count);
    cluster_map_observe(&m->cluster_map, ret_view, clock_boot_ms());
    note_renewed(m, sent_us, ret_view);
    return RC_OK;
}

static void act_on(struct membership *m, struct cluster_view *v)
{
    m->own.partitions = (uint32_t)v->partition_count;
    drop_lost(m, v);
    release_strays(m, v);
    struct shares_plan p = plan(m, v);
    uint64_t wanted = p.take & ~bits_of(&m->own);
    if (wanted != 0)
        take(m, v, wanted);
    begin_giving(m, v, &p);
    post(m);
    /* Not before: until then the decider believes in what may have been taken from us. */
    atomic_store(&m->until_ms, m->sent_ms + m->lease_ms - m->lease_ms / BEATS);
    atomic_store(&m->grace_until_ms, m->sent_ms + m->me.grace_ms);
}

static void forget_old(struct membership *m, const struct cluster_view *v, struct arena *arena)
{
    struct err err;
    struct node_rec *gone = ARENA_ARRAY(arena, struct node_rec, v->node_count);
    size_t count = 0;
    for (size_t n = 0; m->beats % FORGET_BEATS == 1 && n < v->node_count; n++) {
        if (cluster_map_is_silent(&m->cluster_map, &v->nodes[n]) &&
            cluster_map_silent_ms(&m->cluster_map, &v->nodes[n]) > FORGET_MS)
            gone[count++] = v->nodes[n];
    }
    if (count > 0 && m->member->ops->forget(m->member, gone, count, &err) != RC_OK)
        log_warn("the rows of servers that are gone could not be deleted", "error", err.text, NULL);
}

/* ---- a database that has gone back */

/* A standby that lagged has taken over: turns that were kept are missing, or a partition has an
 * epoch from before the one that we took it under. */
static bool has_gone_back(const struct membership *m, const struct cluster_view *v)
{
    bool back = v->lost_turns > 0;
    for (size_t p = 0; p < v->partition_count; p++)
        back |= v->partitions[p].epoch < m->own.epochs[p];
    return back;
}

static void note_gone_back(struct membership *m, uint64_t turns)
{
    if (m->had_gap) /* then what we had kept was forgotten as that of a server that is gone */
        return;
    if (turns == 0)
        turns = 1; /* it had taken a partition, at least */
    log_error("the database has lost turns that it had kept: it was set back, or a standby that "
              "lagged took over; memory is loaded again",
              "turns", LOG_NUMBER(turns), NULL);
    atomic_fetch_add(&m->lost_turns, turns);
}

/* Memory and database do not agree any more. Under new epochs all partitions are loaded again; lost
 * turns stay lost, and an alert says so. */
static enum rc recover(struct membership *m, struct arena *arena, struct cluster_view *view,
                       struct err *err)
{
    uint64_t turns = view->lost_turns;
    struct node_rec me = membership_record(m);
    TRY(m->member->ops->recover(m->member, &me, &m->own, err));
    note_gone_back(m, turns);
    m->giving = 0;
    return renew(m, arena, view, err);
}

void membership_beat(struct membership *m)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct cluster_view view = {0};
    struct err err;
    uint64_t doubts = atomic_load(&m->doubts);
    enum rc rc = renew(m, &arena, &view, &err);
    if (rc == RC_OK && has_gone_back(m, &view))
        rc = recover(m, &arena, &view, &err);
    if (rc != RC_OK) {
        note_failed(m, &err);
        return;
    }
    act_on(m, &view);
    write_sure(m);
    finish_giving(m);
    forget_old(m, &view, &arena);
    publish(m, &view, &arena);
    atomic_store(&m->cleared, doubts);
    tell(m);
}

/* ---- the thread */

static int64_t beat_ms(const struct membership *m)
{
    int64_t ms = m->lease_ms / BEATS;
    if (m->losing && ms > BEAT_MS_AGAIN)
        ms = BEAT_MS_AGAIN;
    return ms < BEAT_MS_MAX ? ms : BEAT_MS_MAX;
}

static void serve(void *arg)
{
    struct membership *m = arg;
    struct list mail;
    list_init(&mail);
    int64_t next_us = clock_mono_us();
    while (mailbox_wait(m->box, next_us) != RC_SHUTDOWN) {
        mailbox_take_all(m->box, &mail);
        while (list_pop_front(&mail) != NULL)
            continue;
        atomic_store(&m->waking, false);
        finish_giving(m); /* at once: no server decides about them meanwhile */
        membership_beat(m);
        next_us = clock_mono_us() + beat_ms(m) * 1000;
    }
}

void membership_wake(struct membership *m)
{
    if (!atomic_exchange(&m->waking, true))
        (void)mailbox_send_always(m->box, &m->wake); /* closed: it ends anyway */
}

/* ---- coming and going */

/* The server that has our name may be gone: then its row stays as it is for a lease. */
static void watch_namesake(struct membership *m, const struct cluster_view *v)
{
    int64_t now_ms = clock_boot_ms();
    for (size_t n = 0; n < v->node_count; n++) {
        if (!str_eq(v->nodes[n].name, m->me.name))
            continue;
        if (v->nodes[n].seen_ms != m->namesake_ms)
            m->namesake_since_ms = now_ms;
        m->namesake_ms = v->nodes[n].seen_ms;
        m->lapsed_ms = now_ms - m->namesake_since_ms > m->lease_ms ? m->namesake_ms : 0;
    }
}

/* One that died a moment ago still looks alive. */
static enum rc enter(struct membership *m, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct cluster_view view = {0};
    bool said = false;
    int64_t until_us = clock_mono_us() + (m->lease_ms + NAMESAKE_MS) * 1000;
    enum rc rc;
    while ((rc = renew(m, &arena, &view, err)) == RC_CONFLICT && clock_mono_us() < until_us) {
        watch_namesake(m, &view);
        if (!said)
            log_info(
                "a server of this name renewed its row a moment ago; waiting until its lease is over",
                "name", m->me.name.ptr, NULL);
        said = true;
        clock_pause_us(NAMESAKE_LOOK_US);
    }
    if (rc == RC_CONFLICT)
        return err_set(err, RC_CONFLICT,
                       "another server of this cluster is called '%.*s'; give this one a name of "
                       "its own with --node",
                       STR_ARG(m->me.name));
    return rc;
}

/* Our row comes first, so that what is taken has an owner who is there. A server that was killed
 * has its partitions until its lease is over: no server renews, and waiting helps. Where one
 * renews, all is taken, and we are one more. */
static enum rc first_beat(struct membership *m, struct err *err)
{
    int64_t until_us = clock_mono_us() + (m->lease_ms + SHADOW_MS) * 1000;
    TRY(enter(m, err));
    for (;;) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct cluster_view view = {0};
        TRY(renew(m, &arena, &view, err));
        act_on(m, &view);
        bool enough = bits_of(&m->own) != 0 || cluster_map_has_company(&m->cluster_map);
        if (enough || clock_mono_us() > until_us) {
            publish(m, &view, &arena);
            return RC_OK;
        }
        clock_pause_us(NAMESAKE_LOOK_US);
    }
}

enum rc membership_join(struct store *store, const struct membership_options *options,
                        struct membership **ret_membership, struct err *err)
{
    struct membership *m = MEM_NEW(struct membership);
    pthread_mutex_init(&m->lock, NULL);
    m->lease_ms = options->lease_ms;
    m->time_rules = options->time;
    m->incidents = options->incidents;
    m->me = (struct node_rec){
        .name = arena_str(&m->texts, options->name),
        .start = arena_str(&m->texts, options->start),
        .address = arena_str(&m->texts, options->address),
        .version = arena_str(&m->texts, options->version),
        .lease_ms = options->worker_lease_ms,
        .grace_ms = options->grace_ms,
        .boot_id = arena_str(&m->texts, options->boot_id),
        .replaces = arena_str(&m->texts, options->replaces),
    };
    cluster_map_init(&m->cluster_map, m->me.start, m->lease_ms);
    m->cluster_map.replaces = m->me.replaces;
    m->box = mailbox_new(WAKES_MAX);
    enum rc rc = store->ops->member(store, &m->member, err);
    if (rc == RC_OK)
        rc = first_beat(m, err);
    if (rc != RC_OK) {
        membership_free(m);
        return rc;
    }
    *ret_membership = m;
    return RC_OK;
}

enum rc membership_start(struct membership *m, struct err *err)
{
    return thread_start("member", serve, m, &m->thread, err);
}

void membership_serve(struct membership *m, struct str address,
                      const struct membership_events *events)
{
    struct str copy = arena_str(&m->texts, address);
    pthread_mutex_lock(&m->lock);
    m->me.address = copy;
    m->events = *events;
    pthread_mutex_unlock(&m->lock);
    membership_wake(m);
}

void membership_hurry(struct membership *m)
{
    atomic_store(&m->member->until_ms, clock_boot_ms() + LAST_WAIT_MS);
}

void membership_stop(struct membership *m)
{
    struct err err;
    mailbox_close(m->box);
    thread_join(m->thread);
    m->thread = NULL;
    if (atomic_load(&m->failed))
        return;
    unsure_leave(&m->own, bits_of(&m->own), clock_boot_ms());
    if (m->member->ops->release(m->member, bits_of(&m->own), &m->own, &err) != RC_OK ||
        m->member->ops->leave(m->member, &m->me, &err) != RC_OK)
        log_warn("could not leave the cluster in order; the others will notice", "error", err.text,
                 NULL);
}

void membership_free(struct membership *m)
{
    if (m == NULL)
        return;
    if (m->member != NULL)
        m->member->ops->close(m->member);
    struct list unheard; /* calls by those that woke it before it was started */
    list_init(&unheard);
    mailbox_take_all(m->box, &unheard);
    mailbox_free(m->box);
    pthread_mutex_destroy(&m->lock);
    arena_free(&m->texts);
    heirs_free(&m->heirs);
    cluster_map_free(&m->cluster_map);
    free(m);
}
