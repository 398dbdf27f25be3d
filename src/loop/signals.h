/* signals.h - signals as ordinary events of one loop.
 *
 * SIGTERM, SIGINT, SIGHUP and SIGCHLD arrive as calls on the loop's thread, where everything may be
 * done that a signal handler may not. SIGPIPE is ignored for the whole process: a client that left
 * is an error code of a write. (A child inherits that; code that starts programs resets it.) */
#pragma once

#include <uv.h>

struct signals;

typedef void signals_handler(void *arg, int signum);

/* The loop's thread must not have the signals blocked. The loop keeps running until
 * signals_free. */
struct signals *signals_new(uv_loop_t *loop, signals_handler *on_signal, void *arg);
/* Gives the signals back to their defaults. The loop must run once more. NULL is fine. */
void signals_free(struct signals *s);
