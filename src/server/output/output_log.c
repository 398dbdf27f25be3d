/* output_log.c - the thread, keeping output, and the mail between it and the net threads. What is
 * sent to followers is in followers.c. */
#include "server/output/output_log.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/clock.h"
#include "loop/thread.h"
#include "server/metrics/metrics.h"
#include "server/output/checkpoints.h"
#include "server/output/followers.h"
#include "server/output/log_reader.h"

#include <stdlib.h>
#include <string.h>

enum {
    LAG_TICK_MS = 20,      /* how often a slow reader is looked at again */
    LOOK_AGAIN_MS = 500,   /* for output that another server took */
    TRIM_MAX = 10000,      /* chunks deleted in one go */
    TRIM_AGAIN_MS = 100,   /* when there was more */
    TRIM_REST_MS = 600000, /* when there was not */
};

struct news {
    struct parcel parcel;
    struct output_log *tail;
    size_t count;
    struct event events[];
};

/* ---- keeping output */

static void deliver_keep(struct parcel *parcel)
{
    struct request *r = CONTAINER_OF(parcel, struct request, parcel);
    list_push_back(&r->server->tail->keeping, &r->parcel.mail.node);
}

/* One chunk that its sender has no right to, and nothing of the upload is kept. */
static enum rc check_sender(struct output_log *t, const struct request *r, struct err *err)
{
    for (size_t i = 0; i < r->output.count && !r->output.of_ping; i++) {
        const struct log_chunk *chunk = &r->output.chunks[i];
        struct lease_name name = {r->output.worker_id, chunk->exec_id, chunk->token};
        TRY(fence_check(t->fence, &name, STANDING_PAST, err));
    }
    return RC_OK;
}

static void refuse_strangers(struct output_log *t)
{
    LIST_EACH(&t->keeping, node)
    {
        struct request *r = CONTAINER_OF(node, struct request, parcel.mail.node);
        r->rc = check_sender(t, r, &r->err);
        if (r->rc == RC_OK)
            continue;
        list_remove(node);
        request_send_home(r);
    }
}

/* All uploads that wait go into one transaction. */
static void keep_all(struct output_log *t)
{
    VEC(struct log_chunk) all = {0};
    struct err err = {0};
    refuse_strangers(t);
    if (list_empty(&t->keeping))
        return;
    LIST_EACH(&t->keeping, node)
    {
        const struct request *r = CONTAINER_OF(node, struct request, parcel.mail.node);
        for (size_t i = 0; i < r->output.count; i++)
            *VEC_PUSH(&t->arena, &all) = r->output.chunks[i];
    }
    enum rc rc = t->logs->ops->append(t->logs, all.items, all.len, &err);
    if (rc != RC_OK && !t->losing) /* once, and not for every upload that comes again */
        log_error("output cannot be written to the log store; workers keep it and send it again",
                  "error", err.text, NULL);
    else if (rc == RC_OK && t->losing)
        log_info("output can be written to the log store again", NULL);
    t->losing = rc != RC_OK;
    size_t bytes = 0;
    for (size_t i = 0; rc == RC_OK && i < all.len; i++) {
        bytes += all.items[i].bytes.len;
        followers_output(t, all.items[i].exec_id);
    }
    metrics_output(t->server->metrics, bytes);
    for (struct list_node *node; (node = list_pop_front(&t->keeping)) != NULL;) {
        struct request *r = CONTAINER_OF(node, struct request, parcel.mail.node);
        r->rc = rc;
        r->err = err;
        request_send_home(r);
    }
    arena_reset(&t->arena);
}

bool tail_deletes_nothing(const struct output_log *t, struct moment now)
{
    return deletions_wait(now, atomic_load(&t->server->deletes_from_ms),
                          t->server->options->engine.delete_wait_ms);
}

static void trim(struct output_log *t)
{
    struct err err;
    size_t count = 0;
    struct moment now = clock_now();
    if (now.boot_ms < t->trim_ms)
        return;
    if (tail_deletes_nothing(t, now)) {
        t->trim_ms = now.boot_ms + DELETIONS_LOOK_MS;
        return;
    }
    int64_t before_ms = now.wall_ms - (int64_t)t->server->options->logs_keep_ms;
    if (t->logs->ops->trim(t->logs, before_ms, TRIM_MAX, &count, &err) != RC_OK)
        log_warn("old output could not be deleted", "error", err.text, NULL);
    t->trim_ms = clock_boot_ms() + (count == TRIM_MAX ? TRIM_AGAIN_MS : TRIM_REST_MS);
}

/* ---- the thread */

/* Workers may bring output to any server, and only that one knows at once. */
static bool looks_by_itself(const struct output_log *t)
{
    return t->server->membership != NULL && !list_empty(&t->follows);
}

static void look_again(struct output_log *t)
{
    if (!looks_by_itself(t) || clock_boot_ms() < t->look_ms)
        return;
    t->look_ms = clock_boot_ms() + LOOK_AGAIN_MS;
    followers_look(t);
}

static int64_t deadline_us(const struct output_log *t)
{
    int64_t next_ms = t->trim_ms < t->sweep_ms ? t->trim_ms : t->sweep_ms;
    if (looks_by_itself(t) && t->look_ms < next_ms)
        next_ms = t->look_ms;
    if (feed_next_ms(t->feed) < next_ms)
        next_ms = feed_next_ms(t->feed);
    if (series_next_ms(t->series) < next_ms)
        next_ms = series_next_ms(t->series);
    int64_t ahead_ms = next_ms - clock_boot_ms();
    if (t->lagging && ahead_ms > LAG_TICK_MS)
        ahead_ms = LAG_TICK_MS;
    return clock_mono_us() + (ahead_ms > 0 ? ahead_ms * 1000 : 0);
}

static void deliver_all(struct output_log *t)
{
    struct list mail;
    list_init(&mail);
    mailbox_take_all(t->box, &mail);
    for (struct list_node *node; (node = list_pop_front(&mail)) != NULL;) {
        struct mail *one = CONTAINER_OF(node, struct mail, node);
        struct parcel *parcel = CONTAINER_OF(one, struct parcel, mail);
        parcel->deliver(parcel);
    }
    keep_all(t);
}

static void serve(void *arg)
{
    struct output_log *t = arg;
    while (mailbox_wait(t->box, deadline_us(t)) != RC_SHUTDOWN) {
        deliver_all(t);
        look_again(t);
        followers_pump(t);
        feed_pump(t->feed);
        series_look(t->series);
        trim(t);
        checkpoints_sweep(t);
    }
    followers_end_all(t);
}

static void deliver_news(struct parcel *parcel)
{
    struct news *news = CONTAINER_OF(parcel, struct news, parcel);
    struct metrics *metrics = news->tail->server->metrics;
    int64_t now_ms = clock_boot_ms();
    for (size_t i = 0; i < news->count; i++) {
        metrics_event(metrics, &news->events[i], now_ms);
        followers_event(news->tail, &news->events[i]);
    }
    free(news);
}

struct move {
    struct parcel parcel;
    struct output_log *tail;
    struct partition_set owned;
};

static void deliver_move(struct parcel *parcel)
{
    struct move *move = CONTAINER_OF(parcel, struct move, parcel);
    followers_moved(move->tail, &move->owned);
    series_moved(move->tail->series, move->owned.bits);
    free(move);
}

void output_log_moved(struct output_log *t, struct partition_set owned)
{
    struct move *move = MEM_NEW(struct move);
    *move = (struct move){.parcel.deliver = deliver_move, .tail = t, .owned = owned};
    if (mailbox_send_always(t->box, &move->parcel.mail) != RC_OK)
        free(move);
}

/* ---- numbers of the engine */

static void deliver_gauges(struct parcel *parcel)
{
    struct gauges_news *news = CONTAINER_OF(parcel, struct gauges_news, parcel);
    metrics_gauges(news->tail->server->metrics, &news->gauges, clock_boot_ms());
    gauges_news_free(news);
}

struct gauges_news *gauges_news_new(void)
{
    return MEM_NEW(struct gauges_news);
}

void gauges_news_free(struct gauges_news *news)
{
    arena_free(&news->arena);
    free(news);
}

void output_log_gauges(struct output_log *t, struct gauges_news *take_news)
{
    take_news->parcel.deliver = deliver_gauges;
    take_news->tail = t;
    if (mailbox_send_always(t->box, &take_news->parcel.mail) != RC_OK)
        gauges_news_free(take_news);
}

struct old_names {
    struct parcel parcel;
    struct strmap names;
};

static void deliver_old_names(struct parcel *parcel)
{
    struct old_names *old = CONTAINER_OF(parcel, struct old_names, parcel);
    event_names_free_map(&old->names);
    free(old);
}

/* The names of old go by mail, behind the events that came after them: once it is delivered, those
 * events have taken the places in the ring of all that knew these names. */
static void forget_old_names(struct output_log *t)
{
    struct old_names *old = MEM_NEW(struct old_names);
    *old = (struct old_names){.parcel.deliver = deliver_old_names, .names = t->names.before};
    if (mailbox_send_always(t->box, &old->parcel.mail) != RC_OK) {
        free(old); /* the tail is ending, and may still print; output_log_free frees them */
        return;
    }
    struct strmap sent;
    event_names_turn(&t->names, &sent);
}

void output_log_tell(struct output_log *t, const struct event *events, size_t count)
{
    if (count == 0)
        return;
    struct news *news = mem_resize(NULL, sizeof *news + count * sizeof *events);
    *news = (struct news){.parcel.deliver = deliver_news, .tail = t, .count = count};
    memcpy(news->events, events, count * sizeof *events);
    for (size_t i = 0; i < count; i++) {
        struct event *event = &news->events[i];
        event->queue = event_names_keep(&t->names, event->queue);
        event->handler = event_names_keep(&t->names, event->handler);
        event->breaker = event_names_keep(&t->names, event->breaker);
        event->actor = event_names_keep(&t->names, event->actor);
    }
    if (mailbox_send_always(t->box, &news->parcel.mail) != RC_OK)
        free(news);
    t->names.told += count;
    if (t->names.told >= EVENTS_KEPT)
        forget_old_names(t);
}

enum rc output_log_keep(struct output_log *t, struct request *r)
{
    r->parcel.deliver = deliver_keep;
    return mailbox_send(t->box, &r->parcel.mail);
}

enum rc output_log_checkpoint(struct output_log *t, struct request *r)
{
    r->parcel.deliver = checkpoints_serve;
    return mailbox_send(t->box, &r->parcel.mail);
}

static void deliver_series(struct parcel *parcel)
{
    struct request *r = CONTAINER_OF(parcel, struct request, parcel);
    series_print(r->server->tail->series, r->series, &r->body);
    request_send_home(r);
}

enum rc output_log_series(struct output_log *t, struct request *r)
{
    r->parcel.deliver = deliver_series;
    return mailbox_send(t->box, &r->parcel.mail);
}

enum rc output_log_lines(struct output_log *t, struct request *r)
{
    return log_reader_send(t->lines, r);
}

enum rc output_log_follow(struct output_log *t, struct request *r)
{
    r->parcel.deliver = followers_start;
    return mailbox_send(t->box, &r->parcel.mail);
}

void output_log_free(struct output_log *t)
{
    feed_free(t->feed);
    series_free(t->series);
    log_reader_free(t->lines);
    mailbox_free(t->box);
    fence_free(t->fence);
    if (t->reader != NULL)
        t->reader->ops->close(t->reader);
    if (t->logs != NULL)
        t->logs->ops->close(t->logs);
    arena_free(&t->arena);
    event_names_free(&t->names);
    free(t->ring);
    free(t);
}

enum rc output_log_start(struct server *server, struct output_log **ret_tail, struct err *err)
{
    struct output_log *t = MEM_NEW(struct output_log);
    t->server = server;
    t->box = mailbox_new(server->options->mailbox_max);
    t->trim_ms = t->sweep_ms = clock_boot_ms() + TRIM_AGAIN_MS;
    t->ring = mem_new(EVENTS_KEPT * sizeof *t->ring);
    /* Numbers of one start are larger than those of the start before, so that a reader who comes
     * back after a restart is recognised as one who missed something. */
    t->event_first = t->event_next = (uint64_t)clock_wall_ms() << 16;
    list_init(&t->follows);
    list_init(&t->keeping);
    t->feed = feed_new(t);
    t->series = series_new(t);
    enum rc rc = server->store->ops->logs(server->store, &t->logs, err);
    if (rc == RC_OK)
        rc = server->store->ops->reader(server->store, &t->reader, err);
    t->fence = fence_new(t->reader);
    if (rc == RC_OK)
        rc = log_reader_start(server, &t->lines, err);
    if (rc == RC_OK)
        rc = thread_start("tail", serve, t, &t->thread, err);
    if (rc != RC_OK) {
        if (t->lines != NULL)
            log_reader_stop(t->lines);
        output_log_free(t);
        return rc;
    }
    *ret_tail = t;
    return RC_OK;
}

void output_log_stop(struct output_log *t)
{
    log_reader_stop(t->lines);
    mailbox_close(t->box);
    thread_join(t->thread);
    t->thread = NULL;
}
