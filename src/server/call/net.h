/* net.h - the threads that own sockets: one loop and one HTTP server each. */
#pragma once
#include "server/call/request.h"

/* Starts a thread that listens on the server's address, together with the others (the kernel
 * spreads the connections). The port may be 0 for the first one; *port is then filled in. */
enum rc net_start(struct server *server, uint16_t *port, struct net **ret_net, struct err *err);
/* From any thread: parcel->deliver is called on the net's own. Never refused. */
void net_send(struct net *net, struct parcel *parcel);
/* Which of the threads it is, from 0 on. */
size_t net_number(const struct net *net);
/* Its calls to other servers; on its own thread. */
struct peers *net_peers(struct net *net);
/* From any thread: takes no new connections, closes idle ones. */
void net_drain(struct net *net);
/* From any thread but its own: closes all connections and ends the thread. Requests that are under
 * way elsewhere must have come home before. */
void net_stop(struct net *net);

/* ---- for streams, on the net's own thread */

/* Begins an endless answer; *unsent is kept up to date with what its reader has not taken yet, so
 * that who writes can wait. on_gone is called once when the reader leaves. */
void net_stream_open(struct request *r, const char *content_type, atomic_size_t *unsent,
                     void (*on_gone)(struct request *r));
/* It has pings from elsewhere. */
void net_stream_be_silent(struct request *r);
/* Ends it, and the request with it. A broken one is cut off, so that its reader notices. */
void net_stream_close(struct request *r, bool broken);
