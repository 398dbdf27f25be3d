/* net.h - requests and replies on their way: lost, repeated, overtaken.
 *
 * A call is a request with its command, and later, the same thing carrying its reply home. Whoever
 * sent it remembers its number; a repeat has the same number, so that of two replies the first one
 * counts. A request may outlive the server that it was sent to, as behind a proxy, and arrive at
 * the next. Clients do not wait: what they are told is checked when it leaves the server, whether
 * or not it arrives. */
#pragma once
#include "job/command/command.h"

struct world;
struct sim_worker;
struct sim_server;

struct call {
    struct list_node all; /* on world.calls */
    struct list_node at;  /* on the mailbox of a server, or among what is inside it */
    struct command cmd;
    struct arena arena;
    uint64_t no;
    uint64_t delivery;         /* each is acted upon once */
    struct sim_server *to;     /* that it was sent to; NULL: whoever serves */
    int from;                  /* the end of the network (cuts.h) that it comes from, … */
    struct sim_server *via;    /* … by way of this server; NULL: straight */
    bool away;                 /* it was taken while the store was away: results get no verdict */
    int64_t wake_ms;           /* when its poll is parked: until then at most; else 0 */
    bool forwarded;            /* by another server, which is allowed once */
    bool astray;               /* who answers it believes in turns that are lost */
    int64_t replied_ms;        /* boot clock: its answer set out then */
    struct sim_worker *worker; /* who waits for the reply; NULL: nobody */
    uint64_t life;             /* of that worker */
};

struct call *call_new(struct world *w, enum command_kind kind, struct str actor);
/* From the world for good; it is on no list of a server. */
void call_free(struct call *call);

/* Sends it to its server (a client's: to any); it is the network's from now on. */
void net_send(struct world *w, struct call *take_call);
/* Sends it on to another server. */
void net_forward(struct world *w, struct call *take_call, struct sim_server *to);
/* Sends the answer home. */
void net_reply(struct world *w, struct call *take_call);
/* There will be no answer: the connection broke. The caller hears of it, or runs into its own
 * timeout. */
void net_break(struct world *w, struct call *take_call);
