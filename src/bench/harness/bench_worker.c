#include "bench/harness/bench_worker.h"
#include "base/log.h"
#include "loop/clock.h"
#include "loop/signals.h"
#include "wire/json/json.h"
#include "worker/run/handler.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    NOTES_BYTES_MAX = 16 << 20,
    TELL_MS = 5, /* between two notes about what is only counted */
};

struct role {
    uv_loop_t loop;
    struct signals *signals;
    struct handler_worker *worker;
    uv_timer_t timer;
    struct arena arena; /* of one payload */
    struct buf notes;   /* that wait to be told */
    uint64_t calls;
    uint64_t retries;
    uint64_t told;
};

/* ---- notes */

void note_print(struct buf *out, const struct note *note)
{
    buf_printf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
               note->calls, note->start_us, note->drained_us, note->number, note->slot_ms,
               note->retries);
}

enum rc note_parse(struct str line, struct note *ret_note, struct err *err)
{
    uint64_t *const members[] = {&ret_note->calls,  &ret_note->start_us, &ret_note->drained_us,
                                 &ret_note->number, &ret_note->slot_ms,  &ret_note->retries};
    struct str rest = line;
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        struct str word = i + 1 < COUNT_OF(members) ? str_cut(&rest, ' ') : rest;
        if (!str_to_u64(word, members[i]))
            return err_set(err, RC_INVALID, "the worker said '%.*s'", STR_ARG(line));
    }
    return RC_OK;
}

static void note(struct role *r, uint64_t start_us, uint64_t drained_us)
{
    note_print(&r->notes, &(struct note){.calls = r->calls,
                                         .start_us = start_us,
                                         .drained_us = drained_us,
                                         .retries = r->retries});
    r->told = r->calls;
}

static void note_slot(struct role *r, int64_t number, int64_t slot_ms)
{
    int64_t late_ms = clock_wall_ms() - slot_ms + 1; /* the part of one that the clock hides */
    note_print(&r->notes, &(struct note){
                              .calls = r->calls,
                              .start_us = late_ms > 0 ? (uint64_t)late_ms * 1000 : 0,
                              .number = (uint64_t)number,
                              .slot_ms = (uint64_t)slot_ms,
                              .retries = r->retries,
                          });
    r->told = r->calls;
}

/* No process listens any more when it fails: the benchmark is gone, and so are we. */
static void tell(struct role *r)
{
    for (size_t at = 0; at < r->notes.len;) {
        ssize_t len = write(STDOUT_FILENO, r->notes.ptr + at, r->notes.len - at);
        if (len <= 0)
            exit(EXIT_FAILURE);
        at += (size_t)len;
    }
    buf_clear(&r->notes);
}

static void on_timer(uv_timer_t *timer)
{
    struct role *r = timer->data;
    if (r->calls != r->told)
        note(r, 0, 0);
    tell(r);
}

/* ---- the handler */

/* How long after the moment in this member of the payload; 0: there is none. */
static uint64_t since(const struct json *payload, struct str member, int64_t now_us)
{
    const struct json *moment = json_get(payload, member);
    if (moment == NULL || moment->kind != JSON_INT)
        return 0;
    return moment->integer < now_us ? (uint64_t)(now_us - moment->integer) : 1;
}

static enum outcome on_call(void *arg, const struct poll_lease *lease)
{
    int64_t now_us = clock_mono_us(); /* before anything else: this is what is measured */
    struct role *r = arg;
    struct json payload;
    r->calls++;
    r->retries += lease->attempt > 1;
    if (lease->payload.len == 0)
        return OUTCOME_SUCCEEDED;
    arena_reset(&r->arena);
    if (json_parse(lease->payload, &r->arena, &payload, NULL) != RC_OK)
        return OUTCOME_PERMANENT;
    if (json_get(&payload, STR(ROLE_FAIL)) != NULL)
        return OUTCOME_FAILED;
    if (json_get(&payload, STR(ROLE_FAIL_FIRST)) != NULL)
        return lease->attempt == 1 ? OUTCOME_FAILED : OUTCOME_SUCCEEDED;
    if (json_get(&payload, STR(ROLE_FILL)) != NULL)
        return OUTCOME_SUCCEEDED;
    const struct json *number = json_get(&payload, STR(ROLE_NUMBER));
    if (number != NULL && number->kind == JSON_INT) {
        note_slot(r, number->integer, lease->slot_ms);
        return OUTCOME_SUCCEEDED;
    }
    uint64_t sent_us = since(&payload, STR(ROLE_SENT), now_us);
    uint64_t due_us = since(&payload, STR(ROLE_DUE), now_us);
    if (sent_us + due_us == 0)
        return OUTCOME_PERMANENT;
    note(r, sent_us + due_us, 0);
    if (sent_us > 0)
        tell(r);
    return OUTCOME_SUCCEEDED;
}

/* ---- beginning and end */

static void on_drained(void *arg)
{
    struct role *r = arg;
    note(r, 0, (uint64_t)clock_mono_us());
    tell(r);
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
    buf_free(&r->notes);
}

int role_main(const struct role_options *options)
{
    struct role r = {.notes = BUF(NOTES_BYTES_MAX)};
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
