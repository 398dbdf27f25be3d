/* pace.h - when to call the server, and when to call again after a failure.
 *
 * A pace calls its owner back, at once or after a while, and knows how the last calls went: after a
 * failure it waits, longer each time and never the same for two workers, so that a server that
 * comes back is not trampled. */
#pragma once
#include "base/rng.h"
#include "wire/client/client.h"

typedef void pace_act(void *arg);

struct pace {
    uv_timer_t timer;
    pace_act *act;
    void *arg;
    const char *server; /* for people; NULL: the only one */
    bool quiet;         /* says nothing: somebody else talks to the same server, and does */
    bool backing_off;   /* the timer must not be made earlier */
    bool closed;
    int64_t retry_ms; /* the last pause after a failure; 0: the last call went well */
    struct rng rng;
};

enum { PACE_REFUSED_MS = 5000 }; /* what the server refuses does not get better by asking often */

void pace_init(struct pace *p, uv_loop_t *loop, pace_act *act, void *arg);
/* Stops for good; *p must live until on_closed. */
void pace_close(struct pace *p, uv_close_cb on_closed, void *data);

/* Acts after delay_ms, from the loop. Replaces what was planned, but never a pause after a
 * failure. */
void pace_in(struct pace *p, int64_t delay_ms);
/* Acts after about delay_ms, whatever else is asked for meanwhile. */
void pace_pause(struct pace *p, int64_t delay_ms);

/* The call failed, or its answer makes no sense: acts again after a pause. */
void pace_failed(struct pace *p, const char *why);
void pace_succeeded(struct pace *p);
/* Takes care of what any call may be answered: no answer, a server in trouble, a refused token.
 * False when the answer is the caller's to understand. */
bool pace_handled(struct pace *p, const struct http_response *response, const struct err *err,
                  struct str token_file);
