/* session_inside.h - what session.c, session_list.c and poller.c know of each other; no other file
 * includes it.
 *
 * All pollers share one counter for the numbers of polls. Servers only want them to grow; and so
 * two addresses of one server, which nobody can tell apart before it has answered, do no harm. */
#pragma once
#include "worker/link/epochs.h"
#include "worker/link/lease_set.h"
#include "worker/link/poller.h"
#include "worker/link/session.h"

enum { POLLERS_MAX = POLL_SERVERS_MAX };

struct session {
    uv_loop_t *loop;
    struct session_events events;
    struct arena options; /* of the texts */
    struct hello hello;
    struct str token;
    struct str token_file;
    struct str *seeds; /* the addresses we were given */
    size_t seed_count;
    struct list pollers; /* in the order in which they came */
    size_t poller_count;
    struct list leaving;      /* those that close */
    struct poller *registrar; /* whose turn it is to register us; one of the pollers */

    struct lease_set lease_set;
    struct epochs epochs; /* under which we were spoken to */
    struct arena scratch; /* of one poll or reply */
    struct welcome welcome;
    bool registered;
    uint64_t seq;  /* of the newest poll, whoever sent it */
    uint64_t turn; /* the server that is first when there are too few slots for all */

    uv_timer_t watch; /* for leases that run out */
    bool drain_told;
    bool draining;
    bool drained;
    bool closing;
    bool address_told; /* that a server's address makes no sense */
    size_t handles;    /* pollers and the watch, while they are not closed; the last one frees */
};

#define CREW_EACH(session, node) LIST_EACH(&(session)->pollers, node)

static inline struct poller *poller_of(struct list_node *node)
{
    return CONTAINER_OF(node, struct poller, node);
}

/* ---- session.c */

/* Slots that could start something now. */
uint32_t session_free_slots(const struct session *c);
/* The partitions that a poll to this server should name: those it owns, those that no answering
 * server owns, and those it was told of and has not disowned since. */
struct partition_set session_scope(const struct session *c, const struct poller *p);
/* The partitions that no answering server owns, by the same division as p's. */
struct partition_set session_orphans(const struct session *c, const struct poller *p);
/* Takes note of the epochs that a reply names; about which partitions it may be believed. */
struct partition_set session_believed(struct session *c, const struct poll_reply *reply);
/* How many slots to offer this server, and whether the poll that waits there offers the wrong
 * amount. */
uint32_t session_offer(const struct session *c, const struct poller *p);
bool session_offer_moved(const struct session *c, const struct poller *p);

void session_registered(struct session *c, const struct welcome *welcome);
/* The server does not know us. */
void session_unknown(struct session *c, struct poller *p);
/* It knows us, by a newer poll than ours. */
void session_stale(struct session *c, struct poller *p);
/* It did not answer, or not well: others may have to do its part. */
void session_failed(struct session *c, const struct poller *p);
/* Wakes all pollers: something has changed that their polls may have to say. */
void session_stir(struct session *c);
/* The same for those that are under way; a poller that pauses before its next poll goes on with the
 * pause. */
void session_nudge(struct session *c);
/* True when leases have run out while we slept. */
bool session_overslept(struct session *c);
/* Tells the owner which deadlines have moved. */
void session_tell_deadlines(struct session *c);
/* Starts to look after leases that run out. */
void session_watch(struct session *c);
void session_look_drained(struct session *c);
void session_part_closed(struct session *c);

/* ---- session_list.c: the servers */

/* Adds a poller for this address, unless there are too many. */
enum rc session_open(struct session *c, struct str url, struct err *err);
/* All that a reply says about servers. */
void session_learn(struct session *c, struct poller *p, const struct poll_reply *reply);
/* No server answers: tries the addresses that we were given, too. */
void session_try_seeds(struct session *c);
