#include "worker/link/backoff.h"
#include "base/log.h"
#include "loop/clock.h"

#include <stdio.h>

enum {
    RETRY_FIRST_MS = 100,
    RETRY_MAX_MS = 2000, /* a server is back within a second or two; leases wait for it */
};

void backoff_init(struct backoff *p, uv_loop_t *loop, backoff_act *act, void *arg)
{
    *p = (struct backoff){.act = act, .arg = arg};
    p->rng.state = (uint64_t)clock_mono_us() ^ (uint64_t)(uintptr_t)p;
    uv_timer_init(loop, &p->timer); /* cannot fail */
    p->timer.data = p;
}

void backoff_close(struct backoff *p, uv_close_cb on_closed, void *data)
{
    p->closed = true;
    p->timer.data = data;
    uv_close((uv_handle_t *)&p->timer, on_closed);
}

static void on_timer(uv_timer_t *timer)
{
    struct backoff *p = timer->data;
    p->backing_off = false;
    p->act(p->arg);
}

void backoff_in(struct backoff *p, int64_t delay_ms)
{
    if (!p->closed && !p->backing_off)
        uv_timer_start(&p->timer, on_timer, (uint64_t)delay_ms, 0);
}

void backoff_pause(struct backoff *p, int64_t delay_ms)
{
    p->backing_off = false;
    backoff_in(p, delay_ms / 2 + (int64_t)rng_below(&p->rng, (uint64_t)delay_ms));
    p->backing_off = true;
}

static const char *server_of(const struct backoff *p)
{
    return p->server == NULL ? "" : p->server;
}

void backoff_failed(struct backoff *p, const char *why)
{
    if (p->retry_ms == 0 && !p->quiet)
        log_warn("a call to the server failed, trying again", "error", why, "server", server_of(p),
                 NULL);
    p->retry_ms = p->retry_ms == 0 ? RETRY_FIRST_MS : p->retry_ms * 2;
    if (p->retry_ms > RETRY_MAX_MS)
        p->retry_ms = RETRY_MAX_MS;
    backoff_pause(p, p->retry_ms);
}

void backoff_succeeded(struct backoff *p)
{
    if (p->retry_ms > 0 && !p->quiet)
        log_info("the server answers again", "server", server_of(p), NULL);
    p->retry_ms = 0;
}

bool backoff_handled(struct backoff *p, const struct http_response *response, const struct err *err,
                     struct str token_file)
{
    char text[32];
    if (response == NULL) {
        backoff_failed(p, err->text);
    } else if (response->status == 401 || response->status == 403) {
        if (!p->quiet)
            log_error("the server refuses the token of this worker", "token_file",
                      token_file.len > 0 ? token_file.ptr : "(not from a file)", NULL);
        backoff_pause(p, PACE_REFUSED_MS);
    } else if (response->status == 429 || response->status >= 500) {
        snprintf(text, sizeof(text), "status %d", response->status);
        backoff_failed(p, text);
    } else {
        return false;
    }
    return true;
}
