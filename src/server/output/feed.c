#include "server/output/feed.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "server/call/board.h"
#include "server/cluster/membership.h"
#include "server/output/event_index.h"
#include "server/output/feed_link.h"
#include "server/output/feed_numbers.h"
#include "server/output/followers.h"
#include "wire/http/sse.h"
#include "wire/message/record_json.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    TICK_MS = 1000,
    TICK_BYTES_MAX = 16 << 20, /* for another server: every queue */
    EVENT_BYTES_MAX = 64 << 10,
    CHANNEL_BYTES_MAX = 4 << 20, /* between two looks of the tail's thread */
    UNSENT_HIGH = 256 << 10,     /* a reader with more than this unread is sent nothing */
    TARGET_BYTES_MAX = 512 << 10,
};

/* All who want the same. */
struct channel {
    struct list_node node;
    struct feed *feed;
    struct event_filter *filter; /* owned */
    struct indexed wants;
    bool own;               /* for another server: what happens here */
    bool fresh;             /* own: some reader has not been told of every queue */
    struct list readers;    /* follow.node */
    struct buf out;         /* owned: events since the last pump … */
    uint64_t printed;       /* … and how many they are */
    uint64_t this_second;   /* events since the last tick … */
    uint64_t counted;       /* … and those above the limit */
    struct feed_link *link; /* owned: to the other servers; NULL: there can be none */
};

/* A tick that the board is asked for; the board has it until it is delivered. */
struct asked {
    struct board_wait wait;
    struct parcel parcel;
    struct snapshot *snapshot;
    struct feed *feed;
};

struct feed {
    struct output_log *tail;
    struct server *server;
    struct list channels;
    struct event_index index;
    size_t readers;      /* people and programs … */
    size_t servers;      /* … and other servers */
    struct channel *all; /* the ticks of other servers; NULL: nobody reads */
    struct feed_numbers numbers;
    struct ink *last; /* held: the newest tick; NULL: it would be old */
    struct asked asked;
    bool asking;
    int64_t next_ms; /* boot clock */
};

/* ---- channels */

static void hear(void *arg, struct str node, struct str kind, struct str data);

/* Other servers that name something want events about it; ticks they hear anyway. */
static bool has_ticks(const struct channel *c)
{
    return !c->own || event_filter_is_empty(c->filter);
}

/* Of all other servers. */
static bool hears_ticks(const struct channel *c)
{
    return !c->own && event_filter_is_empty(c->filter);
}

/* To the other servers, for what this channel's readers want of them. */
static void open_link(struct channel *c)
{
    struct server *server = c->feed->server;
    CLEANUP(buf_free) struct buf target = BUF(TARGET_BYTES_MAX);
    if (server->membership == NULL || c->own)
        return;
    buf_printf(&target, "/api/v1/events?view=summary%s%.*s", c->filter->text.len > 0 ? "&" : "",
               STR_ARG(c->filter->text));
    c->link = feed_link_new(server, c->feed->tail->box, buf_str(&target), hear, c);
    feed_link_look(c->link);
}

static struct channel *channel_new(struct feed *feed, struct event_filter *take_filter, bool own)
{
    struct channel *c = MEM_NEW(struct channel);
    c->feed = feed;
    c->filter = take_filter;
    c->own = own;
    c->out = BUF(CHANNEL_BYTES_MAX);
    list_init(&c->readers);
    list_push_back(&feed->channels, &c->node);
    event_index_add(&feed->index, &c->wants, c->filter);
    open_link(c);
    return c;
}

static void channel_free(struct channel *c)
{
    if (c->link != NULL)
        feed_link_close(c->link);
    list_remove(&c->node);
    event_index_remove(&c->feed->index, &c->wants);
    event_filter_free(c->filter);
    free(c->filter);
    buf_free(&c->out);
    free(c);
}

static struct channel *find_channel(struct feed *feed, const struct event_filter *filter, bool own)
{
    LIST_EACH(&feed->channels, node)
    {
        struct channel *c = CONTAINER_OF(node, struct channel, node);
        if (c->own == own && str_eq(c->filter->text, filter->text))
            return c;
    }
    return NULL;
}

static void free_if_idle(struct channel *c)
{
    if (list_empty(&c->readers) && c != c->feed->all)
        channel_free(c);
}

/* Ticks tell of all servers, so theirs are heard as long as anybody reads here. */
static void follow_all(struct feed *feed)
{
    struct channel *all = feed->all;
    if (feed->readers > 0 && all == NULL) {
        struct event_filter none = {.kinds = 0};
        feed->all = find_channel(feed, &none, false);
        if (feed->all != NULL)
            return;
        struct event_filter *filter = MEM_NEW(struct event_filter);
        event_filter_end(filter);
        feed->all = channel_new(feed, filter, false);
    } else if (feed->readers == 0 && all != NULL) {
        feed->all = NULL;
        free_if_idle(all);
    }
}

/* ---- readers */

static bool nobody(const struct feed *feed)
{
    return feed->readers + feed->servers == 0;
}

static enum rc check_room(const struct feed *feed, const struct follow *f, struct err *err)
{
    uint64_t max = feed->server->options->feed_readers_max;
    if (f->own_only || feed->readers < max)
        return RC_OK;
    return err_set(err, RC_BUSY,
                   "%" PRIu64 " readers follow the summary of events already, and this server "
                   "serves no more (feed_readers_max)",
                   max);
}

static bool is_slow(const struct follow *f)
{
    return follow_unread(f) > UNSENT_HIGH;
}

/* What it was too slow for is told before anything else. */
static void hand_out(struct follow *f, struct ink *ink, uint64_t events)
{
    if (is_slow(f)) {
        f->skipped += events;
        return;
    }
    if (f->skipped > 0) {
        struct buf text = BUF(EVENT_BYTES_MAX);
        buf_printf(&text, "event: changed\ndata: {\"count\":%" PRIu64 "}\n\n", f->skipped);
        struct ink *changed = ink_new(&text);
        followers_send(f, changed);
        ink_release(changed);
        f->skipped = 0;
    }
    followers_send(f, ink);
}

static void send_all(struct channel *c, struct ink *ink, uint64_t events)
{
    LIST_EACH(&c->readers, node)
    {
        hand_out(CONTAINER_OF(node, struct follow, node), ink, events);
    }
}

enum rc feed_join(struct feed *feed, struct follow *f, struct err *err)
{
    TRY(check_room(feed, f, err));
    if (nobody(feed))
        feed->next_ms = clock_boot_ms();
    *(f->own_only ? &feed->servers : &feed->readers) += 1;
    struct channel *c = find_channel(feed, f->filter, f->own_only);
    if (c == NULL) {
        c = channel_new(feed, f->filter, f->own_only);
    } else {
        event_filter_free(f->filter);
        free(f->filter);
    }
    f->filter = NULL; /* the channel's, or as good as the channel's */
    f->channel = c;
    c->fresh = true;
    list_push_back(&c->readers, &f->node);
    follow_all(feed);
    followers_send(f, NULL);
    if (!c->own && feed->last != NULL)
        hand_out(f, feed->last, 0);
    return RC_OK;
}

void feed_leave(struct feed *feed, struct follow *f)
{
    if (!list_linked(&f->node))
        return; /* it has left, and is told of no more */
    list_remove(&f->node);
    *(f->own_only ? &feed->servers : &feed->readers) -= 1;
    free_if_idle(f->channel);
    follow_all(feed);
    if (feed->readers > 0)
        return;
    ink_release(feed->last);
    feed->last = NULL;
    feed_numbers_alone(&feed->numbers);
    if (!nobody(feed))
        return;
    feed_numbers_free(&feed->numbers);
    feed_numbers_init(&feed->numbers);
}

struct follow *feed_first(struct feed *feed)
{
    LIST_EACH(&feed->channels, node)
    {
        struct channel *c = CONTAINER_OF(node, struct channel, node);
        if (!list_empty(&c->readers))
            return CONTAINER_OF(list_first(&c->readers), struct follow, node);
    }
    return NULL;
}

/* ---- events */

/* False: there are too many, and it is only counted. */
static bool may_print(struct channel *c)
{
    if (c->this_second >= c->feed->server->options->feed_events_max) {
        c->counted++;
        return false;
    }
    c->this_second++;
    c->printed++;
    return true;
}

/* What somebody wants; printed once, whoever wants it. */
struct telling {
    const struct event *event;
    struct buf json; /* owned */
};

static void tell_channel(void *arg, struct indexed *entry)
{
    struct telling *telling = arg;
    struct channel *c = CONTAINER_OF(entry, struct channel, wants);
    if (!may_print(c))
        return;
    if (telling->json.len == 0) {
        struct json_writer w = JSON_WRITER(&telling->json);
        event_print(&w, telling->event);
    }
    sse_print(&c->out, STR(""), event_kind(telling->event), buf_str(&telling->json));
}

void feed_event(struct feed *feed, const struct event *event)
{
    if (list_empty(&feed->channels))
        return;
    struct telling telling = {.event = event, .json = BUF(EVENT_BYTES_MAX)};
    event_index_find(&feed->index, event, tell_channel, &telling);
    buf_free(&telling.json);
}

static void hear_count(struct channel *c, struct str data)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err;
    struct json doc;
    if (json_parse(data, &arena, &doc, &err) != RC_OK)
        return;
    const struct json *count = json_get(&doc, STR("count"));
    if (count != NULL && count->kind == JSON_INT && count->integer > 0)
        c->counted += (uint64_t)count->integer;
}

/* Another server tells. */
static void hear(void *arg, struct str node, struct str kind, struct str data)
{
    struct channel *c = arg;
    struct feed *feed = c->feed;
    if (kind.len == 0) {
        if (hears_ticks(c))
            feed_numbers_lost(&feed->numbers, node);
    } else if (str_eq(kind, STR("tick"))) {
        feed_numbers_heard(&feed->numbers, node, data, clock_boot_ms(), &feed->tail->arena);
        arena_reset(&feed->tail->arena);
    } else if (str_eq(kind, STR("changed"))) {
        hear_count(c, data);
    } else if (may_print(c)) {
        sse_print(&c->out, STR(""), kind, data);
    }
}

static void flush(struct channel *c)
{
    if (c->out.len == 0)
        return;
    struct ink *ink = ink_new(&c->out);
    c->out = BUF(CHANNEL_BYTES_MAX);
    send_all(c, ink, c->printed);
    c->printed = 0;
    ink_release(ink);
}

/* ---- ticks */

static struct ink *tick_of(const struct buf *json)
{
    struct buf text = BUF(TICK_BYTES_MAX + EVENT_BYTES_MAX);
    sse_print(&text, STR(""), STR("tick"), buf_str(json));
    return ink_new(&text);
}

static size_t look_for_missing(struct feed *feed, struct str **ret_missing)
{
    struct membership *m = feed->server->membership;
    struct arena *arena = &feed->tail->arena;
    struct peer *peers = NULL;
    size_t count = m == NULL ? 0 : membership_peers(m, arena, &peers);
    struct str *names = ARENA_ARRAY(arena, struct str, count + 1);
    *ret_missing = ARENA_ARRAY(arena, struct str, count + 1);
    for (size_t i = 0; i < count; i++)
        names[i] = peers[i].name;
    return feed_numbers_missing(&feed->numbers, names, count, clock_boot_ms(), *ret_missing);
}

static void print_tick(struct feed *feed)
{
    CLEANUP(buf_free) struct buf json = BUF(TICK_BYTES_MAX);
    struct str *missing;
    size_t count = look_for_missing(feed, &missing);
    feed_numbers_print(&feed->numbers, missing, count, &json, &feed->tail->arena);
    arena_reset(&feed->tail->arena);
    ink_release(feed->last);
    feed->last = tick_of(&json);
}

static bool has_slow(const struct channel *c)
{
    LIST_EACH(&c->readers, node)
    {
        if (is_slow(CONTAINER_OF(node, struct follow, node)))
            return true;
    }
    return false;
}

static void send_own_tick(struct channel *c)
{
    CLEANUP(buf_free) struct buf json = BUF(TICK_BYTES_MAX);
    feed_numbers_print_own(&c->feed->numbers, c->fresh, &json);
    if (json.overflow) {
        c->fresh = true;
        return; /* they are told that we are missing */
    }
    c->fresh = has_slow(c); /* it misses what has changed now */
    struct ink *ink = tick_of(&json);
    send_all(c, ink, 0);
    ink_release(ink);
}

/* The end of a second: what was too much is told as a number. */
static void end_second(struct channel *c)
{
    if (c->counted > 0) {
        buf_printf(&c->out, "event: changed\ndata: {\"count\":%" PRIu64 "}\n\n", c->counted);
        c->printed += c->counted;
    }
    c->counted = c->this_second = 0;
    flush(c);
}

static void tell_tick(struct feed *feed)
{
    if (feed->readers > 0)
        print_tick(feed);
    LIST_EACH(&feed->channels, node)
    {
        struct channel *c = CONTAINER_OF(node, struct channel, node);
        if (c->own && has_ticks(c))
            send_own_tick(c);
        else if (has_ticks(c))
            send_all(c, feed->last, 0);
    }
}

static void deliver_numbers(struct parcel *parcel)
{
    struct feed *feed = CONTAINER_OF(parcel, struct asked, parcel)->feed;
    struct snapshot *s = feed->asked.snapshot;
    feed->asking = false;
    if (s != NULL && !nobody(feed)) {
        struct stats_view stats = s->stats;
        struct stats_moment moment = {
            .now_ms = clock_wall_ms(),
            .as_of_ms = s->at_ms,
            .uptime_ms = clock_wall_ms() - feed->server->started_ms,
        };
        stats.quarantined = atomic_load(&feed->server->quarantined);
        stats.cost = feed->server->store->ops->cost(feed->server->store);
        feed_numbers_own(&feed->numbers, &stats, &moment);
        tell_tick(feed);
    }
    snapshot_release(s);
}

/* On the turn's thread. */
static void take_numbers(struct board_wait *wait, struct snapshot *take_snapshot)
{
    struct asked *asked = CONTAINER_OF(wait, struct asked, wait);
    asked->snapshot = take_snapshot;
    asked->parcel.deliver = deliver_numbers;
    if (mailbox_send_always(asked->feed->tail->box, &asked->parcel.mail) != RC_OK)
        snapshot_release(take_snapshot); /* the tail has ended */
}

static void begin_tick(struct feed *feed)
{
    feed->next_ms += TICK_MS;
    if (feed->next_ms <= clock_boot_ms()) /* it stood still: nothing is made up for */
        feed->next_ms = clock_boot_ms() + TICK_MS;
    LIST_EACH(&feed->channels, node)
    {
        struct channel *c = CONTAINER_OF(node, struct channel, node);
        end_second(c);
        if (c->link != NULL)
            feed_link_look(c->link);
    }
    if (feed->asking)
        return; /* the turn has more to do than to answer */
    feed->asking = true;
    board_ask(feed->server->board, 0, &feed->asked.wait);
}

void feed_pump(struct feed *feed)
{
    if (nobody(feed))
        return;
    if (clock_boot_ms() >= feed->next_ms)
        begin_tick(feed);
    LIST_EACH(&feed->channels, node)
    {
        flush(CONTAINER_OF(node, struct channel, node));
    }
}

int64_t feed_next_ms(const struct feed *feed)
{
    return nobody(feed) ? INT64_MAX : feed->next_ms;
}

/* ---- from start to end */

struct feed *feed_new(struct output_log *t)
{
    struct feed *feed = MEM_NEW(struct feed);
    feed->tail = t;
    feed->server = t->server;
    feed->asked.feed = feed;
    feed->asked.wait.take = take_numbers;
    list_init(&feed->channels);
    event_index_init(&feed->index);
    feed_numbers_init(&feed->numbers);
    return feed;
}

void feed_free(struct feed *feed)
{
    if (feed == NULL)
        return;
    ink_release(feed->last);
    event_index_free(&feed->index);
    feed_numbers_free(&feed->numbers);
    free(feed);
}
