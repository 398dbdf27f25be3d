/* forward.h - requests that another server has to decide.
 *
 * A client may ask any server, and gets the answer of the one that decides about its request: the
 * whole request goes there over HTTP, with the key that servers have, in the name of the caller,
 * and the answer is handed on as it is. A request is forwarded once: a server that gets it and
 * finds that it is not his any more says so (421), the map is asked for anew, and it is tried
 * again, here or there. While nobody decides about it, as in a hand-over or after a death, it waits
 * forward_wait_ms, which is longer than a take-over takes; then it is 503 with Retry-After.
 *
 * If either server dies meanwhile, or the connection between them, the client is told that nobody
 * knows (502), unless the request can be repeated without harm: then it is. Which can, the table of
 * routes says, not the method: to pause twice is to pause once, while a change that was made from
 * version 3 is refused when it comes again. A request that is refused then may have been done by
 * the first try: again nobody knows. */
#pragma once
#include "server/call/request.h"
#include "wire/client/client.h"

/* Headers of forwarded requests; a client's own are ignored. */
#define FORWARD_PRINCIPAL "Belfry-Principal" /* ROLE NAME of who asks */
#define FORWARD_REQUEST "Belfry-Request-Id"
#define FORWARD_WEB "Belfry-Web"   /* it is a browser */
#define FORWARD_HOST "Belfry-Host" /* of a browser that signs in: what it calls us */

/* Each is true when r is taken care of: it goes elsewhere, or is answered. False: it is ours, go
 * on. The id 0 is in the first partition. */
bool forward_to_owner(struct request *r, uint64_t id);
/* To who decides about the job that holds the unique key of this one. */
bool forward_to_holder(struct request *r, const struct submission *item);
/* To anybody who owns something, when we do not. */
bool forward_to_any(struct request *r);
/* To this very server, once: for a worker that cannot reach it by itself, and for what that server
 * alone knows. */
bool forward_to_address(struct request *r, struct str address);
/* The decider says that it is not ours (any more): finds out whose it is, and begins anew. */
void forward_refused(struct request *r);

/* True when this answer, of ours or of another server, may be due to a try of the same request
 * whose own answer was lost. */
bool forward_is_doubtful(const struct request *r, int status);

/* A request by another server: the caller it speaks for. */
void forward_read(struct request *r);
/* The same request as a call to another server, without on_done; its texts are in arena. */
struct http_call forward_call(struct request *r, struct arena *arena);
/* A question of our own in the caller's name, likewise. */
struct http_call forward_question(struct request *r, struct str target, struct arena *arena);
