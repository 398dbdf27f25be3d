/* backoff.h - when to call the server, and when to call again after a failure.
 *
 * A backoff calls its owner back, at once or after a while, and knows how the last calls went:
 * after a failure it waits, longer each time and never the same for two workers, so that a server
 * that comes back is not trampled. */
#pragma once
#include "base/rng.h"
#include "wire/client/client.h"

typedef void backoff_act(void *arg);

struct backoff {
    uv_timer_t timer;
    backoff_act *act;
    void *arg;
    const char *server; /* for people; NULL: the only one */
    bool quiet;         /* logs nothing: another part talks to the same server, and does */
    bool backing_off;   /* the timer must not be made earlier */
    bool closed;
    int64_t retry_ms; /* the last pause after a failure; 0: the last call went well */
    struct rng rng;
};

enum { PACE_REFUSED_MS = 5000 }; /* a refusal does not get better by asking often */

void backoff_init(struct backoff *p, uv_loop_t *loop, backoff_act *act, void *arg);
/* Stops for good; *p must live until on_closed. */
void backoff_close(struct backoff *p, uv_close_cb on_closed, void *data);

/* Acts after delay_ms, from the loop. Replaces what was planned, but never a pause after a
 * failure. */
void backoff_in(struct backoff *p, int64_t delay_ms);
/* Acts after about delay_ms, whatever else is asked for meanwhile. */
void backoff_pause(struct backoff *p, int64_t delay_ms);

/* The call failed, or its answer makes no sense: acts again after a pause. */
void backoff_failed(struct backoff *p, const char *why);
void backoff_succeeded(struct backoff *p);
/* Takes care of what any call may be answered: no answer, a server in trouble, a refused token.
 * False when the answer is the caller's to understand. */
bool backoff_handled(struct backoff *p, const struct http_response *response, const struct err *err,
                     struct str token_file);
