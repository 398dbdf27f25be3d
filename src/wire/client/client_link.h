/* client_link.h - one connection of the client.
 *
 * Finds the server's address, connects, and carries one request at a time. Its opener hears of
 * pieces, answers and failures, always from the loop and never from within a call of its own;
 * after a failure all that is left to do is to drop it. */
#pragma once
#include "base/buf.h"
#include "wire/client/client.h"
#include "wire/client/client_url.h"

struct client_link;

struct client_link_events {
    /* The head of an answer whose body is still to come, or to end. Told once, unless pieces of the
     * body, or the whole answer, came with it. */
    void (*on_head)(void *arg, const struct http_response *head);
    /* A piece of the answer's body; false: no more of it. */
    bool (*on_piece)(void *arg, int status, struct str piece);
    /* The answer is complete; its body came in pieces. Headers are borrowed for the call. */
    void (*on_answer)(void *arg, const struct http_response *head);
    /* The request failed, or the server closed a connection that was idle. */
    void (*on_failure)(void *arg, const struct err *err);
};

/* Starts connecting. The url and the events are borrowed until the link is dropped. */
struct client_link *client_link_open(uv_loop_t *loop, const struct client_url *url,
                                     const struct client_link_events *events, void *arg);
/* Nothing is heard of it any more; the loop frees it. NULL is fine. */
void client_link_drop(struct client_link *l);

/* Sends as soon as there is a connection. Only when no other request is under way. */
void client_link_send(struct client_link *l, struct buf take_request, bool to_head);
/* False when it must not be used again: the server wants to close it, or has. */
bool client_link_is_usable(const struct client_link *l);
/* After a failure: true when the request met a connection that had been idle and that the server
 * was closing at that moment, so that it never saw the request: not a byte of it was sent, or, if
 * asking twice does no harm (repeatable), not a byte of an answer came. */
bool client_link_was_stale(const struct client_link *l, bool repeatable);
/* After a failure: true when not a byte of the request was sent. */
bool client_link_sent_nothing(const struct client_link *l);
/* The request, to be sent again elsewhere. */
struct buf client_link_reclaim(struct client_link *l);
