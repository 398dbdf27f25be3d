/* membership.h - keeps this server a member of its cluster.
 *
 * A thread of its own renews our row in the store every second, and learns by that who else is
 * there, who owns what, and what time it is. It takes and gives back partitions (job/shares.h) and
 * tells the decider what to decide about; the decider says when it has stopped deciding about what
 * is to be given, and only then it is given.
 *
 * A server that could not renew for as long as the lease may be deprived of everything by the
 * others. So there is a moment, by our boot clock counted from when the newest good renewal was
 * *sent*, after which nothing may be decided or committed here: membership_may_decide. It is early
 * by a fifth of the lease; a commit that slips through all the same is refused by the store, by its
 * epochs. For the grace, counted from the same moment, leases that memory knows may be kept alive:
 * membership_may_keep. A server that takes from us when we are silent waits for that, and a lease,
 * before it gives the work of an unheard worker to another one. How long is kept with each
 * partition (unsure_ms in store/store.h), until no such lease is left.
 *
 * If the process dies anywhere in here, our row grows old, and the others take what we had. */
#pragma once
#include "server/cluster/cluster_map.h"
#include "server/cluster/timekeeper.h"

struct incidents;
struct membership;

struct membership_options {
    struct str name;    /* of this server; no other that is there has it */
    struct str start;   /* of this start alone */
    struct str address; /* where the others reach us */
    struct str version;
    int64_t lease_ms;
    struct time_rules time;
    int64_t worker_lease_ms;     /* that workers are given */
    int64_t grace_ms;            /* that leases are kept alive without the store */
    struct str boot_id;          /* of this machine */
    struct str replaces;         /* a start that is dead for sure; empty: not known */
    struct incidents *incidents; /* notes what is taken, if there is one; outlives us */
};

/* Calls of the membership, on its own thread. */
struct membership_events {
    /* The decider has news: other partitions, a doubt cleared, settings. */
    void (*on_news)(void *arg);
    /* Partitions that were given back are free: their heir had better know at once. */
    void (*on_given)(void *arg, struct str heir_address);
    void *arg;
};

/* Becomes a member and takes what is free. A server of the same name that is not silent:
 * RC_CONFLICT, after as long as it takes to be sure that it is not one that died a moment ago. */
enum rc membership_join(struct store *store, const struct membership_options *options,
                        struct membership **ret_membership, struct err *err);
/* Renews from now on. Partitions that were taken have to be loaded, which may take longer than the
 * lease: without this the others would take it meanwhile. */
enum rc membership_start(struct membership *m, struct err *err);
/* The decider is there, and others reach us at this address, which may not have been known before:
 * from now on they are told. */
void membership_serve(struct membership *m, struct str address,
                      const struct membership_events *events);
/* From any thread: it will be stopped. A database that hangs is waited for some seconds more. */
void membership_hurry(struct membership *m);
/* Ends the thread, gives all partitions back and deletes our row. Nothing is decided here any
 * more. */
void membership_stop(struct membership *m);
void membership_free(struct membership *m); /* NULL is fine */

/* One renewal with all that follows from it: as the thread does every second. For tests. */
void membership_beat(struct membership *m);

/* ---- for the decider */

/* False when the right to decide may have ended, or is about to. */
bool membership_may_decide(const struct membership *m);
/* Of these partitions, under these epochs: the bits of those whose leases may still be kept alive
 * in memory. None when the grace is over; and never one that was lost, or given. */
uint64_t membership_may_keep(struct membership *m, const struct ownership *own);
/* The same for nothing in particular: the grace is not over. */
bool membership_has_grace(const struct membership *m);
/* Of what the news of that serial say is ours, these partitions have leases that nobody has
 * confirmed. */
void membership_set_unsure(struct membership *m, uint64_t serial, uint64_t partitions);
/* The partitions to decide about, when they are other than those that *serial stands for (0: none
 * were ever told). */
bool membership_news(struct membership *m, uint64_t *serial, struct ownership *ret_owned);
/* From now on nothing is decided about what the news of that serial leaves out. */
void membership_obey(struct membership *m, uint64_t serial);
/* The store says that something is not ours. The answer is a ticket; when it is cleared, news that
 * came before tell what is. */
uint64_t membership_doubt(struct membership *m);
bool membership_is_cleared(const struct membership *m, uint64_t ticket);
/* How many turns the store has lost that this server had committed, since it was asked for the last
 * time. Partitions that are told then are to be loaded again. */
uint64_t membership_hear_lost(struct membership *m);
uint64_t membership_settings_version(const struct membership *m);

/* ---- for everybody, from any thread */

uint32_t membership_partitions(const struct membership *m);
/* Whether this server decides about what has this id. */
bool membership_owns(const struct membership *m, uint64_t id);
bool membership_owns_any(const struct membership *m);
/* Why it owns nothing, for people; NULL: it owns something. */
const char *membership_why_idle(struct membership *m);
/* Finds the server that does, as far as is known: false when it is not there. May be ourselves. */
bool membership_owner(struct membership *m, uint64_t id, struct arena *arena,
                      struct peer *ret_owner);
/* Some other server that owns something, going round. False: there is none. */
bool membership_any_owner(struct membership *m, struct arena *arena, struct peer *ret_owner);
/* All others that are not silent. */
size_t membership_peers(struct membership *m, struct arena *arena, struct peer **ret_peers);
/* The newest view, copied, and who we are in it. */
void membership_look(struct membership *m, struct arena *arena, struct cluster_view *ret_view,
                     struct node_rec *ret_me);
/* How long that other server is silent that is so for longest; 0: there is no other. */
int64_t membership_longest_silence_ms(struct membership *m);
/* Whether that start has fallen silent, as far as we have been watching. */
bool membership_sees_silent(struct membership *m, struct str start);
bool membership_is_me(const struct membership *m, const struct peer *peer);
struct str membership_address(struct membership *m); /* ours; the text lives as long as m */
int64_t membership_lease_ms(const struct membership *m);
/* Renews soon, and not when the second is over. */
void membership_wake(struct membership *m);
/* From now on we give all we have, and take nothing. */
void membership_drain(struct membership *m);
/* Nothing is ours any more, or nobody is there to take it. */
bool membership_has_handed_over(struct membership *m);
/* Another server has our name: we cannot stay. */
bool membership_failed(const struct membership *m);
