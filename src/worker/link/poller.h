/* poller.h - one server's part of a worker's conversation (`session.h`).
 *
 * A poll without results is parked by the server until there is work. When something ends
 * meanwhile, or what is offered should be offered elsewhere, a newer poll on a second connection
 * takes its place. Leases in the reply to a poll that has been replaced are ignored: only the
 * newest poll knows whether there is still room, and the server sends or takes back what that poll
 * does not name (see `docs/protocol.md`).
 *
 * A lease counts as renewed when the poll that named it is answered by a server that says it owns
 * the lease's partition. */
#pragma once
#include "base/list.h"
#include "job/poll.h"
#include "worker/link/backoff.h"
#include "worker/link/failover_client.h"

enum { LINKS = 2 }; /* one poll is parked while another one replaces it */

struct session;

/* One connection and the poll on it. */
struct link {
    struct poller *poller;
    struct http_client *client; /* owned */
    bool busy;
    uint64_t seq;
    uint32_t free;    /* slots that it offers */
    bool tells_heard; /* it says what was heard, which an older server refuses */
    bool last;        /* nothing will follow */
    size_t result_count;
    struct partition_set scope; /* the partitions it is about; count 0: all */
    int64_t sent_ms;            /* boot clock */
};

/* Polls by way of another server, while this one cannot be reached: see relay.c. */
struct relay {
    struct failover_client *failover_client; /* owned; NULL: never needed so far */
    struct link link;                        /* without a client */
    uint64_t heard;                          /* as of a poller, by this way */
};

struct poller {
    struct list_node node; /* on session.pollers, or session.leaving */
    struct session *session;
    struct arena texts;
    struct str url;
    struct str server; /* as it calls itself; empty: it has not said */
    struct link links[LINKS];
    struct relay relay;
    struct backoff backoff;
    uint64_t seq;               /* of the newest poll */
    bool known;                 /* it has answered the newest poll that came to an end */
    bool met;                   /* it has known us since we registered */
    bool unknown;               /* its newest answer was that it does not know us */
    unsigned stale;             /* the last so many answers were that a newer poll was there */
    struct partition_set owned; /* count 0: everything */
    uint64_t owned_seq;         /* by the answer to this poll */
    bool provisional;           /* it may not decide: wants no results and no offers */
    /* The number of the newest answer that we have read (poll.heard); 0: none since the connection
     * was lost, or of a server that does not name epochs. */
    uint64_t heard;
    bool plain_hello; /* it has refused what newer servers want to know of us */
    uint32_t backlog;
    bool listed;         /* other servers have named it, when they last did */
    int64_t answered_ms; /* boot clock: its newest answer, or its first call */
    size_t result_max;   /* per poll; smaller while the server refuses them */
    size_t offer_max;    /* free slots per poll; smaller while we cannot read replies */
    bool last_word;      /* draining: it has been told that there is nothing left */
    bool retired;        /* on its way out */
    bool closing;
};

/* Begins at once, when the session is registered or it is its turn to register it. */
enum rc poller_new(struct session *c, struct str url, struct poller **ret_poller, struct err *err);
/* From the loop, not from within its own calls. Its session hears when it is closed. */
void poller_close(struct poller *p);
/* Its polls may have to say something else now. */
void poller_stir(struct poller *p);
/* The server answers, and knows us. */
bool poller_is_connected(const struct poller *p);
/* Everything that was said belongs to the past: the session will register again. */
void poller_reset(struct poller *p);
/* True when no poll to this server was begun since the one on this link. */
static inline bool poller_is_newest(const struct poller *p, const struct link *link)
{
    return link->seq == p->seq;
}

/* poller_reply.c: takes a whole reply; returns how many leases were taken up. */
size_t poller_take_reply(struct poller *p, const struct link *link, const struct poll_reply *reply);
/* Takes the part of a reply that is about leases we hold: terms, verdicts, stops. */
void poller_take(struct session *c, const struct link *link, const struct poll_reply *reply);
/* The newest poll of which the server may be told that its answer was read, when `before` was
 * it. */
uint64_t poller_heard(uint64_t before, const struct link *link, const struct poll_reply *reply);
/* The results of these may be told to this server: a server that may not decide has no use for
 * any. */
struct partition_set poller_result_scope(const struct poller *p, const struct partition_set *scope);
/* poller_repair.c: the server calls our poll bad. */
void poller_refused(struct poller *p, const struct link *link,
                    const struct http_response *response);
/* Half as many leases as this poll has asked for, down to none; and more again, after a reply that
 * was read. */
void poller_offer_less(struct poller *p, const struct link *link);
void poller_offer_more(struct poller *p);
/* A reply could not be read: polls soon for fewer leases. False when it was asked for none. */
bool poller_asks_again(struct poller *p, const struct link *link, const struct err *why);
/* Reports a lease that we cannot read as one that has failed for good. */
void poller_reject(struct session *c, const struct link *link, const struct poll_unread *unread);
/* relay.c: sends a poll to this server by way of another, if we hold something and can. */
void relay_poll(struct poller *p);
/* The newest poll, while it is under way; else NULL. */
const struct link *poller_newest(const struct poller *p);
