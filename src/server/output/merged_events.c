#include "server/output/merged_events.h"
#include "base/mem.h"
#include "server/call/net.h"
#include "server/cluster/forward.h"
#include "server/cluster/membership.h"
#include "server/cluster/peers.h"
#include "wire/http/sse.h"

#include <stdlib.h>

enum {
    LOOK_MS = 1000, /* for servers that came or went */
    IDLE_MS = 60000,
    EVENT_BYTES_MAX = 1 << 20,
    PLACE_BYTES_MAX = 8 << 10,
    PLACE_DIGITS = 24,
};

/* One server's events. */
struct tributary {
    struct list_node node;
    struct merged_events *merged_events;
    struct str name;          /* owned, behind the struct */
    char place[PLACE_DIGITS]; /* id of its newest event; empty: none yet */
    size_t place_len;
    struct peer_stream *stream; /* NULL: not under way */
    struct sse_reader reader;
    bool ended;
};

/* All of them, and who reads. */
struct merged_events {
    struct request *request;
    struct list tributaries;
    atomic_size_t unread;
    bool broken;   /* too slow: something is missing, so nothing may follow */
    bool from_now; /* while those who are there at the beginning are joined */
};

/* ---- places: "NODE=NUMBER;NODE=NUMBER", names percent-encoded */

static void add_encoded(struct buf *out, struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     c == '-' || c == '.' || c == ':' || c == '_';
        if (plain)
            buf_add_char(out, (char)c);
        else
            buf_printf(out, "%%%02x", c);
    }
}

static void print_place(const struct merged_events *merged_events, struct buf *out)
{
    LIST_EACH(&merged_events->tributaries, node)
    {
        const struct tributary *t = CONTAINER_OF(node, struct tributary, node);
        if (t->place_len == 0)
            continue;
        if (out->len > 0)
            buf_add_char(out, ';');
        add_encoded(out, t->name);
        buf_printf(out, "=%.*s", (int)t->place_len, t->place);
    }
}

/* Where the reader was with this server; empty: nothing is said about it. */
static struct str find_place(struct request *r, struct str name)
{
    struct str rest = http_request_header(r->http, STR("Last-Event-ID"));
    while (rest.len > 0) {
        struct str number = str_cut(&rest, ';');
        struct str key = str_cut(&number, '=');
        struct str decoded;
        if (http_decode(r->arena, key, false, &decoded) && str_eq(decoded, name))
            return number;
    }
    return STR("");
}

/* ---- the end */

static void tributary_free(struct tributary *t)
{
    list_remove(&t->node);
    peer_stream_free(t->stream);
    sse_reader_free(&t->reader);
    free(t);
}

/* r is gone afterwards, and the merged_events with it. */
static void merged_events_end(struct merged_events *merged_events, bool broken)
{
    while (!list_empty(&merged_events->tributaries))
        tributary_free(
            CONTAINER_OF(list_first(&merged_events->tributaries), struct tributary, node));
    struct request *r = merged_events->request;
    r->events = NULL;
    net_stream_close(r, broken);
}

/* ---- what comes */

static void on_event(void *arg, const struct sse_event *event)
{
    struct tributary *t = arg;
    struct merged_events *merged_events = t->merged_events;
    CLEANUP(buf_free) struct buf place = BUF(PLACE_BYTES_MAX);
    CLEANUP(buf_free) struct buf out = BUF(EVENT_BYTES_MAX + PLACE_BYTES_MAX);
    if (merged_events->broken || event->id.len == 0 || event->id.len > sizeof t->place)
        return;
    t->place_len = event->id.len;
    for (size_t i = 0; i < event->id.len; i++)
        t->place[i] = event->id.ptr[i];
    print_place(merged_events, &place);
    sse_print(&out, buf_str(&place), event->event, event->data);
    merged_events->broken =
        http_stream_write(merged_events->request->http, buf_str(&out)) == RC_BUSY;
}

static void on_data(void *arg, struct str piece)
{
    struct tributary *t = arg;
    struct err err;
    if (sse_feed(&t->reader, piece, on_event, t, &err) != RC_OK)
        t->ended = true;
}

static void on_done(void *arg, const struct http_response *response, const struct err *err)
{
    struct tributary *t = arg;
    (void)response;
    (void)err;
    t->ended = true; /* the next look joins it again, or finds that it has left */
}

/* ---- who is there */

static struct tributary *find_tributary(struct merged_events *merged_events, struct str name)
{
    LIST_EACH(&merged_events->tributaries, node)
    {
        struct tributary *t = CONTAINER_OF(node, struct tributary, node);
        if (str_eq(t->name, name))
            return t;
    }
    return NULL;
}

static struct tributary *tributary_new(struct merged_events *merged_events, struct str name)
{
    struct tributary *t = mem_new(sizeof *t + name.len);
    char *text = (char *)(t + 1);
    for (size_t i = 0; i < name.len; i++)
        text[i] = name.ptr[i];
    t->merged_events = merged_events;
    t->name = str_of(text, name.len);
    struct str place = find_place(merged_events->request, name);
    t->place_len = place.len <= sizeof t->place ? place.len : 0;
    for (size_t i = 0; i < t->place_len; i++)
        t->place[i] = place.ptr[i];
    list_push_back(&merged_events->tributaries, &t->node);
    return t;
}

static void join(struct tributary *t, struct str address)
{
    struct err err;
    struct merged_events *merged_events = t->merged_events;
    CLEANUP(arena_free) struct arena arena = {0}; /* of a moment: a merged_events flows for days */
    struct http_call call = forward_call(merged_events->request, &arena);
    sse_reader_free(&t->reader);
    t->reader = sse_reader(EVENT_BYTES_MAX);
    /* Of one that came later the reader knows nothing: it is told so, by a reset. */
    call.last_event_id = t->place_len > 0          ? str_of(t->place, t->place_len)
                         : merged_events->from_now ? STR("")
                                                   : STR("first");
    call.timeout_ms = 0;
    call.idle_ms = IDLE_MS;
    call.on_data = on_data;
    call.on_done = on_done;
    call.arg = t;
    peer_stream_free(t->stream);
    t->stream = NULL;
    t->ended = peers_stream(net_peers(merged_events->request->net), address, &call, &t->stream,
                            &err) != RC_OK;
}

static void follow_node(struct merged_events *merged_events, struct str name, struct str address)
{
    struct tributary *t = find_tributary(merged_events, name);
    if (t == NULL)
        t = tributary_new(merged_events, name);
    if (t->stream == NULL || t->ended)
        join(t, address);
}

/* All that are there. Places of those that left stay, in case they come back. */
static void look_around(struct merged_events *merged_events)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct cluster_view view;
    struct node_rec me;
    struct peer *peers;
    struct membership *m = merged_events->request->server->membership;
    membership_look(m, &arena, &view, &me);
    size_t count = membership_peers(m, &arena, &peers);
    for (size_t i = 0; i < count; i++)
        follow_node(merged_events, peers[i].name, peers[i].address);
    follow_node(merged_events, me.name, me.address);
}

static void look(struct request *r)
{
    struct merged_events *merged_events = r->events;
    if (r->http->gone || merged_events->broken || peers_closed(net_peers(r->net))) {
        merged_events_end(merged_events, true);
        return;
    }
    look_around(merged_events);
    merged_events->from_now = false;
    peers_later(net_peers(r->net), r, LOOK_MS, look);
}

bool events_all(struct request *r)
{
    if (r->server->membership == NULL || r->by_server)
        return false;
    struct merged_events *merged_events = ARENA_NEW(r->arena, struct merged_events);
    merged_events->request = r;
    merged_events->from_now = http_request_header(r->http, STR("Last-Event-ID")).len == 0;
    list_init(&merged_events->tributaries);
    r->events = merged_events;
    net_stream_open(r, SSE_TYPE, &merged_events->unread, NULL);
    look(r);
    return true;
}
