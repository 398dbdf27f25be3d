/* output_sender.h - brings the output of all attempts to the server.
 *
 * One connection of its own, one upload at a time, each filled with a piece of every attempt in
 * turn, so that one that prints without end does not hold up the others. A failed upload is sent
 * again, which is harmless: pieces are numbered. It is sent in the name of the worker that was
 * given the lease, also when the server calls us by another name since: from anyone else it would
 * be refused. */
#pragma once
#include "worker/link/output.h"

#include <uv.h>

struct failover_client;
struct output_sender;

enum rc output_sender_new(uv_loop_t *loop, struct str url, struct str token,
                          struct output_sender **ret_uplink, struct err *err);
/* Which may be told of other servers. */
struct failover_client *output_sender_link(struct output_sender *u);
/* Drops what was not sent; the loop must run once more. NULL is fine. */
void output_sender_free(struct output_sender *u);

/* The output has pieces ready. They are sent within a moment, together with others; at once when
 * it is urgent. */
void output_sender_offer(struct output_sender *u, struct output *output, bool urgent);
/* Nothing will follow and nobody waits: the output is freed when it was sent. */
void output_sender_leave(struct output_sender *u, struct output *take_output);

/* How many unsent bytes an attempt may have before it should stop reading, while this many run. */
size_t output_sender_share(size_t running);
/* True when nothing is left to send, also of attempts that have left. */
bool output_sender_is_idle(const struct output_sender *u);
