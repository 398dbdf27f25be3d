/* slow.h - a line in the log for each call that took longer than slow_request_ms, with where it
 * spent that time.
 *
 * Polls and streams wait on purpose and are never slow. A database that hangs makes every call slow
 * at once, so a net thread writes at most SLOW_LINES_MAX lines within SLOW_WINDOW_MS; how many were
 * left out stands in one more line when that time is over, and in metrics. */
#pragma once
#include "server/call/request.h"

enum { SLOW_LINES_MAX = 10, SLOW_WINDOW_MS = 10000 };

/* Of one net thread, and only touched there. */
struct slow_calls {
    struct server *server;
    size_t net;
    int64_t limit_us;  /* 0: no call is slow */
    uv_timer_t timer;  /* runs while there is a window */
    uint64_t told;     /* in this window: lines, … */
    uint64_t left_out; /* … and calls without one */
};

void slow_init(struct slow_calls *s, uv_loop_t *loop, struct server *server, size_t net);
/* Says what was left out; the loop must run once more. */
void slow_close(struct slow_calls *s);
/* The request is being answered. */
void slow_look(struct slow_calls *s, struct request *r, int status, int64_t now_us);
