#include "server/output/feed_link.h"
#include "base/mem.h"
#include "server/call/net.h"
#include "server/cluster/forward.h"
#include "server/cluster/membership.h"
#include "server/cluster/peers.h"
#include "wire/http/sse.h"

#include <stdlib.h>
#include <string.h>

enum { IDLE_MS = 10000, EVENT_BYTES_MAX = 16 << 20 };

struct feed_link {
    struct server *server;
    struct mailbox *tail_box;
    struct str target; /* owned, behind the struct */
    struct parcel close;
    struct parcel closed;

    /* the tail's */
    feed_hear *hear; /* NULL: it is closing */
    void *arg;

    struct parcel look;
    atomic_bool looking; /* `look` is on its way */
    struct list streams; /* the net's */
};

/* One server's. On the net's thread. */
struct stream {
    struct list_node node;
    struct feed_link *link;
    struct str name; /* owned, behind the struct */
    char *address;   /* owned, as it was joined last; NULL: it never was */
    struct peer_stream *stream;
    struct sse_reader reader;
    bool heard; /* since it was joined */
    bool ended;
    bool there; /* the newest look has found it */
};

/* ---- from the net to the tail */

struct heard {
    struct parcel parcel;
    struct feed_link *link;
    struct str node; /* all three behind the struct */
    struct str kind;
    struct str data;
};

static void deliver_heard(struct parcel *parcel)
{
    struct heard *heard = CONTAINER_OF(parcel, struct heard, parcel);
    if (heard->link->hear != NULL)
        heard->link->hear(heard->link->arg, heard->node, heard->kind, heard->data);
    free(heard);
}

static struct str put(char **at, struct str text)
{
    char *start = *at;
    if (text.len > 0)
        memcpy(start, text.ptr, text.len);
    *at += text.len;
    return str_of(start, text.len);
}

static void tell(struct stream *s, struct str kind, struct str data)
{
    size_t bytes = s->name.len + kind.len + data.len;
    struct heard *heard = mem_resize(NULL, sizeof *heard + bytes);
    char *at = (char *)(heard + 1);
    *heard = (struct heard){.parcel.deliver = deliver_heard, .link = s->link};
    heard->node = put(&at, s->name);
    heard->kind = put(&at, kind);
    heard->data = put(&at, data);
    if (mailbox_send_always(s->link->tail_box, &heard->parcel.mail) != RC_OK)
        free(heard);
}

static void on_event(void *arg, const struct sse_event *event)
{
    tell(arg, event->event, event->data);
}

/* ---- streams; on the net's thread */

static struct peers *peers_of(const struct stream *s)
{
    return net_peers(s->link->server->nets[0]);
}

/* A later look joins it again, or finds that it has left. */
static void end(struct stream *s)
{
    s->ended = true;
    tell(s, STR(""), STR(""));
}

static void on_data(void *arg, struct str piece)
{
    struct stream *s = arg;
    struct err err;
    if (!s->heard)
        peers_heard(peers_of(s), str_c(s->address));
    s->heard = true;
    if (!s->ended && sse_feed(&s->reader, piece, on_event, s, &err) != RC_OK)
        end(s);
}

static void on_done(void *arg, const struct http_response *response, const struct err *err)
{
    struct stream *s = arg;
    (void)err;
    if (response == NULL) /* with one it is alive, and does not want to say more */
        peers_missed(peers_of(s), str_c(s->address));
    if (!s->ended)
        end(s);
}

static void stream_free(struct stream *s)
{
    list_remove(&s->node);
    peer_stream_free(s->stream);
    sse_reader_free(&s->reader);
    free(s->address);
    free(s);
}

static struct stream *stream_of(struct feed_link *link, struct str name)
{
    LIST_EACH(&link->streams, node)
    {
        struct stream *s = CONTAINER_OF(node, struct stream, node);
        if (str_eq(s->name, name))
            return s;
    }
    struct stream *s = mem_new(sizeof *s + name.len);
    char *at = (char *)(s + 1);
    s->link = link;
    s->name = put(&at, name);
    s->ended = true;
    list_push_back(&link->streams, &s->node);
    return s;
}

static void join(struct stream *s, struct str address)
{
    struct err err;
    const struct http_header who = {STR(FORWARD_PRINCIPAL), STR("admin server")};
    const struct http_call call = {
        .method = "GET",
        .target = s->link->target,
        .accept = STR(SSE_TYPE),
        .headers = &who,
        .header_count = 1,
        .idle_ms = IDLE_MS,
        .on_data = on_data,
        .on_done = on_done,
        .arg = s,
    };
    peer_stream_free(s->stream);
    s->stream = NULL;
    s->heard = false;
    free(s->address);
    s->address = mem_dup(address.ptr, address.len);
    sse_reader_free(&s->reader);
    s->reader = sse_reader(EVENT_BYTES_MAX);
    s->ended = peers_stream(peers_of(s), address, &call, &s->stream, &err) != RC_OK;
}

static void deliver_look(struct parcel *parcel)
{
    struct feed_link *link = CONTAINER_OF(parcel, struct feed_link, look);
    CLEANUP(arena_free) struct arena arena = {0};
    struct peer *peers;
    atomic_store(&link->looking, false);
    size_t count = membership_peers(link->server->membership, &arena, &peers);
    LIST_EACH(&link->streams, node)
    {
        CONTAINER_OF(node, struct stream, node)->there = false;
    }
    for (size_t i = 0; i < count; i++) {
        struct stream *s = stream_of(link, peers[i].name);
        s->there = true;
        if (s->ended && peers_may_try(peers_of(s), peers[i].address))
            join(s, peers[i].address);
    }
    LIST_EACH(&link->streams, node)
    {
        struct stream *s = CONTAINER_OF(node, struct stream, node);
        if (!s->there && s->ended)
            stream_free(s);
    }
}

/* ---- the end: what was heard may still be on its way to the tail */

static void deliver_closed(struct parcel *parcel)
{
    free(CONTAINER_OF(parcel, struct feed_link, closed));
}

static void deliver_close(struct parcel *parcel)
{
    struct feed_link *link = CONTAINER_OF(parcel, struct feed_link, close);
    while (!list_empty(&link->streams))
        stream_free(CONTAINER_OF(list_first(&link->streams), struct stream, node));
    link->closed.deliver = deliver_closed;
    if (mailbox_send_always(link->tail_box, &link->closed.mail) != RC_OK)
        free(link); /* the tail has ended: it will look at no mail any more */
}

/* ---- on the tail's thread */

struct feed_link *feed_link_new(struct server *server, struct mailbox *tail_box, struct str target,
                                feed_hear *hear, void *arg)
{
    struct feed_link *link = mem_new(sizeof *link + target.len);
    char *at = (char *)(link + 1);
    link->server = server;
    link->tail_box = tail_box;
    link->target = put(&at, target);
    link->hear = hear;
    link->arg = arg;
    link->look.deliver = deliver_look;
    link->close.deliver = deliver_close;
    list_init(&link->streams);
    return link;
}

void feed_link_look(struct feed_link *link)
{
    if (!atomic_exchange(&link->looking, true))
        net_send(link->server->nets[0], &link->look);
}

void feed_link_close(struct feed_link *take_link)
{
    take_link->hear = NULL;
    net_send(take_link->server->nets[0], &take_link->close);
}
