/* local_worker.h - the worker that a server keeps beside itself.
 *
 * A process of its own in a session of its own, so that it, and what it runs, outlives a crash of
 * the server. It holds a lock in the data directory as long as it lives: a server that starts and
 * finds the lock taken has found the worker of its predecessor, and keeps it, unless that one asks
 * at another address: then it is told to leave, and another one started. */
#pragma once
#include "server/call/context.h"

#include <uv.h>

struct local_worker;

/* Looks once a second whether a worker is there and starts one when it is not. url is where the
 * server listens. */
struct local_worker *local_worker_new(uv_loop_t *loop, const struct server *server,
                                      const char *url);
/* Asks it to finish; on_gone is called when the lock is free. */
void local_worker_drain(struct local_worker *w, void (*on_gone)(void *arg), void *arg);
/* Stops looking after it. The loop must run once more. */
void local_worker_free(struct local_worker *w);
