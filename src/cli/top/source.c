#include "cli/top/source.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "wire/client/client.h"
#include "wire/http/sse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API_PREFIX "/api/v1"

enum {
    EVENT_BYTES_MAX = 16 << 20,
    CALL_TIMEOUT_MS = 10000,
    SERIES_MS = 10000, /* they have a new point as often */
    IDLE_MS = 10000,   /* ticks come each second */
    QUEUES_MAX = 5000, /* more are not asked for at once */
    RETRY_FIRST_MS = 100,
    RETRY_MAX_MS = 2000,
};

enum list { LIST_RUNNING, LIST_FAILURES, LIST_WORKERS, LIST_CLUSTER, LIST_STATS, LISTS };
enum { DOCS = LISTS + TOP_SERIES_COUNT };

static const char *const list_paths[] = {
    [LIST_RUNNING] = "/executions?status=running&limit=200",
    [LIST_FAILURES] = "/executions?status=failed&status=timeout&limit=50",
    [LIST_WORKERS] = "/workers",
    [LIST_CLUSTER] = "/cluster",
    [LIST_STATS] = "/stats",
};

/* An answer, in memory of its own. */
struct answer {
    struct arena arena;
    struct json json;
};

/* A call of the round that is under way. */
struct asked {
    struct source *source;
    size_t which;
};

struct source {
    struct cli *cli;
    int64_t interval_ms;
    void (*on_change)(void *arg);
    void *arg;
    struct http_client *stream;
    struct http_client *calls;
    uv_timer_t retry;
    uv_timer_t poll;
    size_t open;
    bool closing;
    struct sse_reader reader;
    struct answer *newest; /* tick; owned, as all answers */
    struct answer *drawn;  /* it may be the newest */
    struct answer *before;
    struct answer *docs[DOCS];
    struct answer *stats_before;
    struct asked asked[DOCS];
    size_t waiting; /* calls of this round */
    bool had_round;
    int64_t series_us; /* when they were asked for; monotonic */
    unsigned failures;
    struct err lost;
    struct err refused;
};

static void answer_free(struct answer *a)
{
    if (a == NULL)
        return;
    arena_free(&a->arena);
    free(a);
}

/* NULL: it is no JSON. */
static struct answer *answer_new(struct str text)
{
    struct answer *a = MEM_NEW(struct answer);
    struct err err;
    text = arena_str(&a->arena, text);
    if (json_parse_by(&json_from_server, text, &a->arena, &a->json, &err) == RC_OK &&
        a->json.kind == JSON_OBJECT)
        return a;
    answer_free(a);
    return NULL;
}

static void path_of(char *ret_path, size_t size, size_t which)
{
    if (which < LISTS)
        snprintf(ret_path, size, "%s", list_paths[which]);
    else
        snprintf(ret_path, size, "/series?metric=%s&since=1m", top_series_names[which - LISTS]);
}

static void fill(struct top_data *data, size_t which, const struct json *json)
{
    switch (which) {
    case LIST_RUNNING: data->running = json; break;
    case LIST_FAILURES: data->failures = json; break;
    case LIST_WORKERS: data->workers = json; break;
    case LIST_CLUSTER: data->cluster = json; break;
    case LIST_STATS: data->queues = json; break;
    default: data->series[which - LISTS] = json; break;
    }
}

/* ---- lists and series */

/* A tick has the 50 queues that changed most; to sort and filter them all must be known. */
static bool has_more_queues(const struct source *s)
{
    const struct json *tick = s->newest == NULL ? NULL : &s->newest->json;
    const struct json *count = tick == NULL ? NULL : json_get(tick, STR("queue_count"));
    const struct json *queues = tick == NULL ? NULL : json_get(tick, STR("queues"));
    return count != NULL && count->kind == JSON_INT && count->integer <= QUEUES_MAX &&
           queues != NULL && queues->kind == JSON_ARRAY && count->integer > queues->count;
}

static bool is_as_old(const struct answer *a, const struct answer *b)
{
    return str_eq(api_text(&a->json, STR("as_of")), api_text(&b->json, STR("as_of")));
}

static void keep(struct source *s, size_t which, struct answer *take)
{
    struct answer **place = &s->docs[which];
    if (which == LIST_STATS && *place != NULL && !is_as_old(*place, take)) {
        answer_free(s->stats_before);
        s->stats_before = *place;
        *place = NULL;
    }
    answer_free(*place);
    *place = take;
}

static void on_answer(void *arg, const struct http_response *response, const struct err *err)
{
    struct asked *asked = arg;
    struct source *s = asked->source;
    (void)err; /* the stream tells whether the server is lost; till then the old answer stays */
    s->waiting--;
    if (s->closing)
        return;
    struct answer *a =
        response != NULL && response->status == 200 ? answer_new(response->body) : NULL;
    if (a != NULL)
        keep(s, asked->which, a);
    if (s->waiting > 0 || s->had_round)
        return;
    s->had_round = true;
    s->on_change(s->arg);
}

static void ask(struct source *s, size_t which)
{
    char path[128];
    char target[160];
    path_of(path, sizeof path, which);
    snprintf(target, sizeof target, API_PREFIX "%s", path);
    s->asked[which] = (struct asked){s, which};
    s->waiting++;
    http_client_send(s->calls, &(struct http_call){
                                   .method = "GET",
                                   .target = str_c(target),
                                   .accept = STR("application/json"),
                                   .timeout_ms = CALL_TIMEOUT_MS,
                                   .on_done = on_answer,
                                   .arg = &s->asked[which],
                               });
}

static void ask_all(struct source *s)
{
    int64_t now_us = clock_mono_us();
    if (s->waiting > 0 || s->lost.rc != RC_OK)
        return;
    for (size_t i = 0; i < LISTS; i++) {
        if (i != LIST_STATS || has_more_queues(s))
            ask(s, i);
    }
    if (s->series_us != 0 && now_us - s->series_us < SERIES_MS * INT64_C(1000))
        return;
    s->series_us = now_us;
    for (size_t i = LISTS; i < DOCS; i++)
        ask(s, i);
}

static void on_poll(uv_timer_t *timer)
{
    ask_all(timer->data);
}

/* ---- ticks */

static void take_tick(struct source *s, struct str text)
{
    struct answer *a = answer_new(text);
    if (a == NULL)
        return;
    bool is_news = s->newest == NULL || s->lost.rc != RC_OK;
    s->failures = 0;
    s->lost = (struct err){.rc = RC_OK};
    if (s->newest != s->drawn)
        answer_free(s->newest);
    s->newest = a;
    if (!is_news)
        return;
    ask_all(s);
    source_step(s);
    s->on_change(s->arg);
}

static void on_event(void *arg, const struct sse_event *event)
{
    if (str_eq(event->event, STR("tick")))
        take_tick(arg, event->data);
}

static void on_data(void *arg, struct str piece)
{
    struct source *s = arg;
    struct err err;
    if (sse_feed(&s->reader, piece, on_event, s, &err) != RC_OK)
        http_client_abort(s->stream);
}

static void begin(struct source *s);

static void on_retry(uv_timer_t *timer)
{
    begin(timer->data);
}

static void lose(struct source *s, const struct http_response *response, const struct err *err)
{
    bool first = s->lost.rc == RC_OK;
    if (response == NULL)
        s->lost = *err;
    else if (response->status / 100 == 2)
        err_set(&s->lost, RC_UNREACHABLE, "the stream ended");
    else
        err_set(&s->lost, RC_UNREACHABLE, "it answered %d", response->status);
    if (s->lost.rc == RC_OK)
        s->lost.rc = RC_UNREACHABLE;
    if (response != NULL && (response->status == 401 || response->status == 403))
        err_set(&s->refused, RC_DENIED, "the server does not take the key any more");
    uint64_t ms = RETRY_FIRST_MS;
    for (unsigned i = 0; i < s->failures && ms < RETRY_MAX_MS; i++)
        ms *= 2;
    s->failures++;
    uv_timer_start(&s->retry, on_retry, ms < RETRY_MAX_MS ? ms : RETRY_MAX_MS, 0);
    if (first || s->refused.rc != RC_OK)
        s->on_change(s->arg);
}

static void on_end(void *arg, const struct http_response *response, const struct err *err)
{
    struct source *s = arg;
    sse_reader_free(&s->reader);
    if (!s->closing)
        lose(s, response, err);
}

static void begin(struct source *s)
{
    uint64_t idle_ms = api_stream_idle_ms();
    s->reader = sse_reader(EVENT_BYTES_MAX);
    http_client_send(s->stream, &(struct http_call){
                                    .method = "GET",
                                    .target = STR(API_PREFIX "/events?view=summary"),
                                    .accept = STR(SSE_TYPE),
                                    .idle_ms = idle_ms < IDLE_MS ? idle_ms : IDLE_MS,
                                    .on_data = on_data,
                                    .on_done = on_end,
                                    .arg = s,
                                });
}

/* ---- what is shown */

void source_step(struct source *s)
{
    if (s->newest == s->drawn)
        return;
    answer_free(s->before);
    s->before = s->drawn;
    s->drawn = s->newest;
}

struct top_data source_data(const struct source *s)
{
    struct top_data data = {
        .tick = s->drawn == NULL ? NULL : &s->drawn->json,
        .before = s->before == NULL ? NULL : &s->before->json,
    };
    for (size_t i = 0; i < DOCS; i++)
        fill(&data, i, s->docs[i] == NULL ? NULL : &s->docs[i]->json);
    data.queues_before = s->stats_before == NULL ? NULL : &s->stats_before->json;
    if (!has_more_queues(s))
        data.queues = NULL; /* those of an hour ago, perhaps */
    return data;
}

struct str source_lost(const struct source *s)
{
    return s->lost.rc == RC_OK ? STR("") : str_c(s->lost.text);
}

enum rc source_refused(const struct source *s, struct err *err)
{
    if (s->refused.rc != RC_OK)
        *err = s->refused;
    return s->refused.rc;
}

/* ---- life */

struct source *source_new(uv_loop_t *loop, struct cli *cli, int64_t interval_ms,
                          void (*on_change)(void *arg), void *arg)
{
    struct source *s = MEM_NEW(struct source);
    struct err err;
    s->cli = cli;
    s->interval_ms = interval_ms;
    s->on_change = on_change;
    s->arg = arg;
    if (http_client_new(loop, cli->url, cli->token, &s->stream, &err) != RC_OK ||
        http_client_new(loop, cli->url, cli->token, &s->calls, &err) != RC_OK)
        err_set(&s->refused, RC_INVALID, "%s", err.text); /* it was reached a moment ago */
    uv_timer_init(loop, &s->retry);
    uv_timer_init(loop, &s->poll);
    s->retry.data = s->poll.data = s;
    s->open = 2;
    uv_timer_start(&s->poll, on_poll, (uint64_t)interval_ms, (uint64_t)interval_ms);
    if (s->refused.rc == RC_OK)
        begin(s);
    return s;
}

static void on_closed(uv_handle_t *handle)
{
    struct source *s = handle->data;
    if (--s->open > 0)
        return;
    if (s->newest != s->drawn)
        answer_free(s->newest);
    answer_free(s->drawn);
    answer_free(s->before);
    answer_free(s->stats_before);
    for (size_t i = 0; i < DOCS; i++)
        answer_free(s->docs[i]);
    free(s);
}

void source_free(struct source *s)
{
    if (s == NULL)
        return;
    s->closing = true;
    http_client_free(s->stream);
    http_client_free(s->calls);
    uv_close((uv_handle_t *)&s->retry, on_closed);
    uv_close((uv_handle_t *)&s->poll, on_closed);
}

/* ---- once */

enum rc source_once(struct cli *cli, struct top_data *ret_data, struct err *err)
{
    *ret_data = (struct top_data){.tick = NULL};
    struct json *stats = ARENA_NEW(&cli->arena, struct json);
    TRY(api_get(cli, STR("/stats"), stats, err));
    ret_data->tick = stats;
    for (size_t i = 0; i < DOCS; i++) {
        if (i == LIST_STATS)
            continue; /* it has them all */
        char path[128];
        struct json *json = ARENA_NEW(&cli->arena, struct json);
        path_of(path, sizeof path, i);
        TRY(api_get(cli, str_c(path), json, err));
        fill(ret_data, i, json);
    }
    return RC_OK;
}
