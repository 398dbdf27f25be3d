#include "cli/patience.h"

#include <stdint.h>
#include <uv.h>

enum {
    FAILURES_MAX = 20, /* with the waits below about half a minute: a slow restart */
    WAIT_FIRST_MS = 100,
    WAIT_MAX_MS = 2000,
};

static void wake(uv_timer_t *timer)
{
    uv_close((uv_handle_t *)timer, NULL);
}

/* There is no condition to wait for: a client is not told that a server is back. */
static void pause_ms(uint64_t ms)
{
    uv_loop_t loop;
    uv_timer_t timer;
    if (uv_loop_init(&loop) != 0)
        return;
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, wake, ms, 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
}

bool patience_wait(struct patience *p, enum rc rc)
{
    bool may_pass = rc == RC_UNREACHABLE || rc == RC_TIMEOUT || rc == RC_BUSY;
    if (!may_pass || p->failures >= FAILURES_MAX)
        return false;
    uint64_t ms = WAIT_FIRST_MS;
    for (unsigned i = 0; i < p->failures && ms < WAIT_MAX_MS; i++)
        ms *= 2;
    pause_ms(ms < WAIT_MAX_MS ? ms : WAIT_MAX_MS);
    p->failures++;
    return true;
}
