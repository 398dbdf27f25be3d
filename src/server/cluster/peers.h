/* peers.h - calls to other servers of the cluster, on one net thread.
 *
 * Connections are kept and used again, a few to each server; what finds them all busy waits behind
 * the shortest line, and is refused when the lines are long. Every call carries the key that
 * servers have, which this file alone handles. */
#pragma once
#include "server/call/request.h"
#include "wire/client/client.h"

struct peers;

struct peers *peers_new(uv_loop_t *loop, struct server *server);
/* Gives up every call: their on_done is called with RC_SHUTDOWN, and nothing is taken from now on.
 * The loop must run once more. */
void peers_close(struct peers *p);
void peers_free(struct peers *p); /* after that */

/* RC_BUSY, RC_INVALID (an address that makes no sense), RC_SHUTDOWN: not sent, and on_done is not
 * called. */
enum rc peers_send(struct peers *p, struct str address, const struct http_call *call,
                   struct err *err);

/* A connection of its own, for an answer without an end. */
struct peer_stream;
enum rc peers_stream(struct peers *p, struct str address, const struct http_call *call,
                     struct peer_stream **ret_stream, struct err *err);
/* Ends it; on_done is not called (any more). Also after on_done. */
void peer_stream_free(struct peer_stream *s);

/* ---- streams that are opened again and again, whatever becomes of them: as rest.h says, for
 * all of them together */

bool peers_may_try(struct peers *p, struct str address);
void peers_heard(struct peers *p, struct str address);
void peers_missed(struct peers *p, struct str address);

/* From any thread: the server at that address had better look at the cluster, and at its mail. */
void peers_wake(struct server *server, struct str address);
/* The same, of its mail only, to all who own one of these partitions. */
void peers_mail_owners(struct server *server, uint64_t partitions);

/* ---- for requests that wait a moment before they are tried again, on this thread */

bool peers_closed(const struct peers *p);
/* Calls step(r) after that long, or when the peers are closed. */
void peers_later(struct peers *p, struct request *r, uint64_t ms, request_step *step);
