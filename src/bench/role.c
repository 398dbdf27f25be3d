#include "bench/role.h"
#include "base/log.h"
#include "loop/clock.h"
#include "loop/signals.h"
#include "wire/json.h"
#include "worker/handler.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    NOTE_BYTES_MAX = 128,
    TELL_MS = 5, /* between two notes about what is only counted */
};

struct role {
    uv_loop_t loop;
    struct signals *signals;
    struct handler_worker *worker;
    uv_timer_t timer;
    struct arena arena; /* of one payload */
    uint64_t calls;
    uint64_t told;
};

/* ---- notes */

void note_print(struct buf *out, const struct note *note)
{
    buf_printf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", note->calls, note->start_us,
               note->drained_us);
}

enum rc note_parse(struct str line, struct note *ret_note, struct err *err)
{
    struct str rest = line;
    struct str calls = str_cut(&rest, ' ');
    struct str start = str_cut(&rest, ' ');
    if (str_to_u64(calls, &ret_note->calls) && str_to_u64(start, &ret_note->start_us) &&
        str_to_u64(rest, &ret_note->drained_us))
        return RC_OK;
    return err_set(err, RC_INVALID, "the worker said '%.*s'", STR_ARG(line));
}

/* Nobody listens any more when it fails: the benchmark is gone, and so are we. */
static void tell(struct role *r, uint64_t start_us, uint64_t drained_us)
{
    CLEANUP(buf_free) struct buf line = BUF(NOTE_BYTES_MAX);
    struct note note = {r->calls, start_us, drained_us};
    note_print(&line, &note);
    if (write(STDOUT_FILENO, line.ptr, line.len) != (ssize_t)line.len)
        exit(EXIT_FAILURE);
    r->told = r->calls;
}

static void on_timer(uv_timer_t *timer)
{
    struct role *r = timer->data;
    if (r->calls != r->told)
        tell(r, 0, 0);
}

/* ---- the handler */

static enum outcome on_call(void *arg, const struct poll_lease *lease)
{
    int64_t now_us = clock_mono_us(); /* before anything else: this is what is measured */
    struct role *r = arg;
    struct json payload;
    r->calls++;
    if (lease->payload.len == 0)
        return OUTCOME_SUCCEEDED;
    arena_reset(&r->arena);
    if (json_parse(lease->payload, &r->arena, &payload, NULL) != RC_OK)
        return OUTCOME_PERMANENT;
    const struct json *sent = json_get(&payload, STR(ROLE_SENT));
    if (sent == NULL || sent->kind != JSON_INT || sent->integer >= now_us)
        return OUTCOME_PERMANENT;
    tell(r, (uint64_t)(now_us - sent->integer), 0);
    return OUTCOME_SUCCEEDED;
}

/* ---- beginning and end */

static void on_drained(void *arg)
{
    struct role *r = arg;
    tell(r, 0, (uint64_t)clock_mono_us());
    uv_stop(&r->loop);
}

static void on_signal(void *arg, int signum)
{
    struct role *r = arg;
    if (signum == SIGTERM)
        handler_worker_drain(r->worker);
}

static enum rc start(struct role *r, const struct role_options *options, struct err *err)
{
    r->signals = signals_new(&r->loop, on_signal, r);
    uv_timer_init(&r->loop, &r->timer); /* cannot fail */
    r->timer.data = r;
    uv_timer_start(&r->timer, on_timer, TELL_MS, TELL_MS);
    return handler_worker_new(&r->loop,
                              &(struct handler_options){
                                  .url = options->url,
                                  .token = options->token,
                                  .name = STR("bench"),
                                  .slots = options->slots,
                                  .handlers = &STR(ROLE_HANDLER),
                                  .handler_count = 1,
                                  .on_call = on_call,
                                  .on_drained = on_drained,
                                  .arg = r,
                              },
                              &r->worker, err);
}

static void end(struct role *r)
{
    handler_worker_free(r->worker);
    uv_close((uv_handle_t *)&r->timer, NULL);
    signals_free(r->signals);
    uv_run(&r->loop, UV_RUN_DEFAULT);
    uv_loop_close(&r->loop);
    arena_free(&r->arena);
}

int role_main(const struct role_options *options)
{
    struct role r = {0};
    struct err err;
    uv_loop_init(&r.loop);
    enum rc rc = start(&r, options, &err);
    if (rc == RC_OK)
        uv_run(&r.loop, UV_RUN_DEFAULT);
    else
        log_error("cannot work", "error", err.text, NULL);
    end(&r);
    return rc == RC_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
