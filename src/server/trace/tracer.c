#include "server/trace/tracer.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "bridge/post.h"
#include "loop/clock.h"
#include "loop/mailbox.h"
#include "loop/thread.h"
#include "server/call/context.h"
#include "server/config/trace_settings.h"
#include "server/trace/spans.h"
#include "store/store.h"
#include "wire/json/json.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TURNS_MAX = 100000, /* that wait; bytes are the limit that counts */
    LINGER_US = 500000, /* for more of a batch */
    BATCH_BYTES = 1 << 20,
    BODY_BYTES_MAX = 64 << 20, /* of a batch whose last execution is as long as it can be */
    ANSWER_BYTES_MAX = 1 << 16,
    TRIES_MAX = 5,
    FLUSH_US = 3000000, /* for all that is left when the server ends */
};

#define RETRY_FIRST_US INT64_C(1000000)
#define RETRY_LAST_US (INT64_C(60) * 1000000) /* also when Retry-After asks for more */

struct batch {
    struct buf body;
    size_t spans;
};

struct tracer {
    struct server *server;
    struct trace_settings settings;
    uint64_t realm;
    struct thread *thread;
    struct mailbox *box; /* of struct trace_told */
    struct reader *reader;
    struct post_line *line;
    struct post_answer answer;
    struct list waiting; /* struct trace_told that came out of the box */
    size_t first_told;   /* so many records of the first of them were in a batch */
    struct batch batch;
    struct arena arena; /* of one execution that is read */
    struct arena texts; /* of the settings */
    struct rng jitter;
    int64_t flush_until_us; /* once the server ends; 0: it does not */
    bool down;              /* the last batch was not taken, which was said */
    atomic_bool stopping;
    atomic_int_least64_t exported;
    atomic_int_least64_t rejected;
    atomic_int_least64_t failed;
    atomic_int_least64_t dropped[TRACE_DROPS];
    atomic_size_t queue_bytes;
};

static void count(atomic_int_least64_t *counter, size_t by)
{
    atomic_fetch_add_explicit(counter, (int_least64_t)by, memory_order_relaxed);
}

/* ---- the turn's side */

static void drop(struct tracer *t, const struct ended_trace *ended, size_t ended_count)
{
    size_t spans = 0;
    if (ended_count == 0)
        return;
    for (size_t i = 0; i < ended_count; i++)
        spans += trace_span_count(&ended[i]);
    count(&t->dropped[TRACE_DROP_FULL], spans);
}

void tracer_take(struct tracer *t, const struct ended_trace *ended, size_t ended_count)
{
    size_t used = atomic_load_explicit(&t->queue_bytes, memory_order_relaxed);
    size_t max = t->settings.queue_bytes_max;
    struct trace_told *told = used < max ? trace_tell(ended, ended_count, max - used) : NULL;
    size_t fit = told == NULL ? 0 : told->count;
    drop(t, ended + fit, ended_count - fit);
    if (told == NULL)
        return;
    size_t bytes = told->bytes; /* it is the thread's once it is sent */
    atomic_fetch_add_explicit(&t->queue_bytes, bytes, memory_order_relaxed);
    if (mailbox_send(t->box, &told->mail) == RC_OK)
        return;
    atomic_fetch_sub_explicit(&t->queue_bytes, bytes, memory_order_relaxed);
    drop(t, ended, fit);
    free(told);
}

/* ---- batches */

static void begin_batch(struct tracer *t)
{
    const struct span_source source = {t->settings.service, t->settings.node};
    buf_clear(&t->batch.body);
    t->batch.spans = 0;
    spans_begin(&t->batch.body, &source);
}

/* The store may be away, or have forgotten it: then what the turn has told is all that is known. */
static struct trace_past read_past(struct tracer *t, const struct trace_record *record)
{
    struct trace_past past = {0};
    struct exec_rec exec;
    struct attempt_rec *attempts;
    struct err err;
    if (!record->whole && t->reader->ops->exec(t->reader, record->exec_id, &t->arena, &exec,
                                               &attempts, &past.attempt_count, &err) == RC_OK) {
        past.trail = exec.trail;
        past.attempts = attempts;
    }
    return past;
}

static void add_record(struct tracer *t, const struct trace_record *record)
{
    struct batch *b = &t->batch;
    size_t len = b->body.len;
    arena_reset(&t->arena);
    struct trace_past past = read_past(t, record);
    size_t spans = spans_print(&b->body, t->realm, record, &past, b->spans > 0);
    if (!b->body.overflow) {
        b->spans += spans;
        return;
    }
    b->body.len = len; /* thousands of attempts with long errors: nobody could read that */
    b->body.overflow = false;
    count(&t->dropped[TRACE_DROP_FULL], spans);
}

/* What many executions in one turn left behind may be a hundred times as long as a batch. */
static void add_next(struct tracer *t)
{
    struct trace_told *told = CONTAINER_OF(list_first(&t->waiting), struct trace_told, mail.node);
    add_record(t, &told->records[t->first_told++]);
    if (t->first_told < told->count)
        return;
    t->first_told = 0;
    list_pop_front(&t->waiting);
    atomic_fetch_sub_explicit(&t->queue_bytes, told->bytes, memory_order_relaxed);
    free(told);
}

/* Moves what waits into a batch until that is large enough. False: nothing waits. */
static bool fill_batch(struct tracer *t)
{
    if (list_empty(&t->waiting))
        return false;
    begin_batch(t);
    while (!list_empty(&t->waiting) && t->batch.body.len < BATCH_BYTES)
        add_next(t);
    spans_end(&t->batch.body);
    return true;
}

/* ---- sending one */

enum batch_end { BATCH_TAKEN, BATCH_REFUSED, BATCH_AGAIN };

/* It takes a batch and rejects some of its spans: {"partialSuccess": {"rejectedSpans": "3"}}. */
static size_t rejected_of(struct tracer *t)
{
    struct json doc;
    struct err err;
    int64_t rejected = 0;
    arena_reset(&t->arena);
    if (t->answer.body.len == 0 ||
        json_parse(buf_str(&t->answer.body), &t->arena, &doc, &err) != RC_OK)
        return 0;
    const struct json *said = json_get(json_get(&doc, STR("partialSuccess")), STR("rejectedSpans"));
    if (said != NULL && said->kind == JSON_INT)
        rejected = said->integer;
    else if (said != NULL && said->kind == JSON_STRING)
        (void)str_to_i64(said->string, &rejected);
    if (rejected < 0)
        return 0;
    return (uint64_t)rejected < t->batch.spans ? (size_t)rejected : t->batch.spans;
}

/* As OTLP has it: these four, and no answer at all, may pass. */
static bool may_pass(long status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

static void tell_down(struct tracer *t, const char *what, const char *why)
{
    if (!t->down)
        log_warn(what, "error", why, NULL);
    t->down = true;
}

static enum batch_end judge(struct tracer *t, enum rc rc, const struct err *err)
{
    char status[32];
    snprintf(status, sizeof status, "status %ld", t->answer.status);
    if (rc == RC_OK && t->answer.status >= 200 && t->answer.status <= 299) {
        size_t rejected = rejected_of(t);
        count(&t->rejected, rejected);
        count(&t->exported, t->batch.spans - rejected);
        if (t->down)
            log_info("the collector of traces takes spans again", NULL);
        t->down = false;
        return BATCH_TAKEN;
    }
    count(&t->failed, 1);
    if (rc != RC_OK || may_pass(t->answer.status)) {
        tell_down(t, "spans could not be sent; they are kept as long as there is room",
                  rc != RC_OK ? err->text : status);
        return BATCH_AGAIN;
    }
    tell_down(t, "the collector of traces refuses spans; they are dropped", status);
    return BATCH_REFUSED;
}

static int64_t left_us(const struct tracer *t)
{
    int64_t left_us = t->flush_until_us - clock_mono_us();
    return left_us > 0 ? left_us : 0;
}

static enum batch_end send_once(struct tracer *t)
{
    struct err err = {0};
    bool last = t->flush_until_us != 0;
    int64_t timeout_ms = t->settings.timeout_ms;
    if (last && left_us(t) / 1000 < timeout_ms)
        timeout_ms = left_us(t) / 1000 + 1;
    const struct post post = {t->settings.url, t->settings.headers, buf_str(&t->batch.body),
                              timeout_ms, last ? NULL : &t->stopping};
    enum rc rc = post_line_send(t->line, &post, &t->answer, &err);
    if (rc != RC_OK && !last && atomic_load(&t->stopping))
        return BATCH_AGAIN; /* it was we who hung up */
    return judge(t, rc, &err);
}

/* Mail that comes meanwhile is left for the next batch. False: the server ends. */
static bool wait_until(struct tracer *t, int64_t until_us)
{
    enum rc rc;
    while ((rc = mailbox_wait(t->box, until_us)) == RC_OK)
        mailbox_take_all(t->box, &t->waiting);
    return rc != RC_SHUTDOWN;
}

static void begin_flush(struct tracer *t)
{
    if (t->flush_until_us == 0)
        t->flush_until_us = clock_mono_us() + FLUSH_US;
}

static int64_t pause_us(struct tracer *t, unsigned tries)
{
    int64_t us = RETRY_FIRST_US << tries;
    us += (int64_t)rng_below(&t->jitter, (uint64_t)us / 4); /* many servers, one collector */
    if (t->answer.retry_after_ms * 1000 > us)
        us = t->answer.retry_after_ms * 1000;
    return us < RETRY_LAST_US ? us : RETRY_LAST_US;
}

/* Once the server ends there is one try more, if there is still time. */
static void send_batch(struct tracer *t)
{
    enum batch_end end = BATCH_AGAIN;
    for (unsigned tries = 0; tries < TRIES_MAX && end == BATCH_AGAIN; tries++) {
        bool last = t->flush_until_us != 0;
        if (last && left_us(t) == 0)
            break;
        end = send_once(t);
        if (end != BATCH_AGAIN || last)
            break;
        if (tries + 1 < TRIES_MAX && !wait_until(t, clock_mono_us() + pause_us(t, tries)))
            begin_flush(t);
    }
    if (end == BATCH_REFUSED)
        count(&t->dropped[TRACE_DROP_REFUSED], t->batch.spans);
    else if (end == BATCH_AGAIN)
        count(&t->dropped[t->flush_until_us != 0 ? TRACE_DROP_STOPPED : TRACE_DROP_UNREACHABLE],
              t->batch.spans);
}

/* ---- the thread */

static void run(void *arg)
{
    struct tracer *t = arg;
    bool goes_on = true;
    while (goes_on) {
        if (list_empty(&t->waiting)) {
            goes_on = mailbox_wait(t->box, MAILBOX_FOREVER) != RC_SHUTDOWN;
            mailbox_take_all(t->box, &t->waiting);
        }
        if (goes_on && atomic_load(&t->queue_bytes) < BATCH_BYTES / 4)
            goes_on = wait_until(t, clock_mono_us() + LINGER_US);
        if (!goes_on)
            begin_flush(t);
        mailbox_take_all(t->box, &t->waiting);
        while (fill_batch(t))
            send_batch(t);
        goes_on = goes_on && t->flush_until_us == 0;
    }
}

/* ---- starting, ending */

static enum rc begin(struct tracer *t, struct err *err)
{
    struct store *store = t->server->store;
    TRY(trace_settings_read(t->server->options, &t->texts, &t->settings, err));
    TRY(post_init(err));
    TRY(store->ops->reader(store, &t->reader, err));
    t->realm = store->realm;
    t->line = post_line_new();
    t->box = mailbox_new(TURNS_MAX);
    return thread_start("tracer", run, t, &t->thread, err);
}

enum rc tracer_start(struct server *server, struct tracer **ret_tracer, struct err *err)
{
    *ret_tracer = NULL;
    if (!server->options->engine.trace.on)
        return RC_OK;
    struct tracer *t = MEM_NEW(struct tracer);
    t->server = server;
    t->batch.body = BUF(BODY_BYTES_MAX);
    t->answer.body = BUF(ANSWER_BYTES_MAX);
    t->jitter.state = (uint64_t)clock_mono_us();
    list_init(&t->waiting);
    if (begin(t, err) != RC_OK) {
        tracer_stop(t);
        return err->rc;
    }
    *ret_tracer = t;
    return RC_OK;
}

void tracer_stop(struct tracer *t)
{
    if (t == NULL)
        return;
    if (t->thread != NULL) {
        atomic_store(&t->stopping, true);
        /* A database that hangs would else be waited for with each execution. */
        atomic_store(&t->reader->until_ms, clock_boot_ms() + FLUSH_US / 1000);
        mailbox_close(t->box);
        thread_join(t->thread);
    }
    mailbox_free(t->box);
    if (t->reader != NULL)
        t->reader->ops->close(t->reader);
    post_line_free(t->line);
    buf_free(&t->batch.body);
    buf_free(&t->answer.body);
    arena_free(&t->arena);
    arena_free(&t->texts);
    free(t);
}

struct trace_counts tracer_counts(struct tracer *t)
{
    struct trace_counts counts = {0};
    if (t == NULL)
        return counts;
    counts.exported = atomic_load(&t->exported);
    counts.rejected = atomic_load(&t->rejected);
    counts.failed = atomic_load(&t->failed);
    counts.queue_bytes = (int64_t)atomic_load(&t->queue_bytes);
    for (size_t i = 0; i < TRACE_DROPS; i++)
        counts.dropped[i] = atomic_load(&t->dropped[i]);
    return counts;
}
