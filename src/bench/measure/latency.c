#include "bench/measure/latency.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "wire/client/client.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    /* Ten commits long: until then the worker's report is durable and its next poll is parked. */
    PAUSE_MS = 5,
    CALL_TIMEOUT_MS = 20000,
    BODY_BYTES_MAX = 256,
};

struct probe {
    struct fixture *fixture;
    const struct latency_plan *plan;
    struct latency *latency;
    struct http_client *http; /* owned */
    uv_timer_t pause;
    int64_t sent_us;
    int64_t until_us;
    bool answered; /* the job under way was */
    bool started;
    bool done;
};

static void send_job(struct probe *p);

static void on_pause(uv_timer_t *timer)
{
    send_job(timer->data);
}

/* Answer and start come in either order; the job is through when both are there. */
static void step(struct probe *p)
{
    if (!p->answered || !p->started)
        return;
    p->latency->jobs++;
    p->latency->ended_us = clock_mono_us();
    fixture_progress(p->fixture);
    p->done = p->latency->jobs >= p->plan->jobs_max || p->latency->ended_us >= p->until_us;
    if (!p->done)
        uv_timer_start(&p->pause, on_pause, PAUSE_MS, 0);
}

static void on_note(void *arg, const struct note *note)
{
    struct probe *p = arg;
    if (note->start_us == 0)
        return;
    hist_add(&p->latency->start_us, note->start_us);
    p->started = true;
    step(p);
}

static void on_done(void *arg, const struct http_response *response, const struct err *err)
{
    struct probe *p = arg;
    struct err bad;
    if (response == NULL) {
        fixture_fail(p->fixture, err);
    } else if (response->status != 201) {
        err_set(&bad, RC_INVALID, "a submission was answered %d: %.*s", response->status,
                STR_ARG(str_head(response->body, 200)));
        fixture_fail(p->fixture, &bad);
    } else {
        hist_add(&p->latency->answer_us, (uint64_t)(clock_mono_us() - p->sent_us));
        p->answered = true;
        step(p);
    }
}

static void send_job(struct probe *p)
{
    CLEANUP(buf_free) struct buf body = BUF(BODY_BYTES_MAX);
    p->answered = p->started = false;
    p->sent_us = clock_mono_us();
    buf_printf(&body,
               "{\"handler\":\"" ROLE_HANDLER "\",\"payload\":{\"" ROLE_SENT "\":%" PRId64 "}}",
               p->sent_us);
    http_client_send(p->http, &(struct http_call){
                                  .method = "POST",
                                  .target = STR("/api/v1/jobs"),
                                  .content_type = "application/json",
                                  .body = buf_str(&body),
                                  .timeout_ms = CALL_TIMEOUT_MS,
                                  .on_done = on_done,
                                  .arg = p,
                              });
}

static bool is_done(const void *arg)
{
    const struct probe *p = arg;
    return p->done;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void probe_free(struct probe **probe)
{
    struct probe *p = *probe;
    fixture_listen(p->fixture, NULL, NULL);
    http_client_free(p->http);
    uv_close((uv_handle_t *)&p->pause, on_closed);
}

enum rc latency_run(struct fixture *fixture, const struct latency_plan *plan,
                    struct latency *ret_latency, struct err *err)
{
    CLEANUP(probe_free) struct probe *p = MEM_NEW(struct probe);
    *ret_latency = (struct latency){0};
    p->fixture = fixture;
    p->plan = plan;
    p->latency = ret_latency;
    uv_timer_init(fixture_loop(fixture), &p->pause); /* cannot fail */
    p->pause.data = p;
    fixture_listen(fixture, on_note, p);
    TRY(http_client_new(fixture_loop(fixture), fixture_url(fixture), fixture_token(fixture),
                        &p->http, err));
    ret_latency->begun_us = clock_mono_us();
    p->until_us = ret_latency->begun_us + plan->seconds_max * 1000000;
    send_job(p);
    return fixture_wait(fixture, is_done, p, "a job to start", err);
}
