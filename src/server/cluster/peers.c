#include "server/cluster/peers.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/call/net.h"
#include "server/cluster/membership.h"
#include "server/cluster/rest.h"

#include <assert.h>
#include <stdlib.h>

enum {
    LINES_MAX = 8,      /* connections to one server, from one net thread */
    LINE_LEN_MAX = 256, /* calls on one of them */
    WAKE_MS = 1000,
    LATER_TICK_MS = 20,
};

/* One connection, and the calls on it. */
struct line {
    struct http_client *client; /* owned */
    size_t calls;
};

struct partner {
    struct list_node node;
    struct str address; /* owned, behind the struct */
    struct str key;     /* that the lines were opened with; lives as long as the server */
    struct line lines[LINES_MAX];
    struct rest rest; /* by the loop's clock */
};

/* A call on its line; wraps what its sender wanted to hear. */
struct errand {
    struct line *line;
    void (*on_done)(void *arg, const struct http_response *response, const struct err *err);
    void (*on_data)(void *arg, struct str piece);
    void *arg;
};

struct later {
    struct list_node node;
    struct request *request;
    request_step *step;
    uint64_t at_ms; /* the loop's clock */
};

struct peer_stream {
    struct list_node node;
    struct peers *peers;
    struct http_client *client; /* owned */
    void (*on_done)(void *arg, const struct http_response *response, const struct err *err);
    void (*on_head)(void *arg, const struct http_response *head); /* may be NULL */
    void (*on_data)(void *arg, struct str piece);
    void *arg;
    bool silent; /* its owner wants to hear nothing any more */
};

struct peers {
    uv_loop_t *loop;
    struct server *server;
    struct list partners;
    struct list streams;
    struct list waiting; /* struct later */
    uv_timer_t timer;
    bool closed;
};

/* ---- lines */

static struct partner *find_partner(struct peers *p, struct str address)
{
    LIST_EACH(&p->partners, node)
    {
        struct partner *one = CONTAINER_OF(node, struct partner, node);
        if (str_eq(one->address, address))
            return one;
    }
    struct partner *one = mem_new(sizeof *one + address.len);
    char *text = (char *)(one + 1);
    for (size_t i = 0; i < address.len; i++)
        text[i] = address.ptr[i];
    one->address = str_of(text, address.len);
    list_push_back(&p->partners, &one->node);
    return one;
}

static enum rc open_line(struct peers *p, struct partner *to, struct line *line, struct err *err)
{
    struct str key = auth_cluster_key(&p->server->auth);
    if (line->client != NULL && line->calls == 0 && !str_eq(to->key, key)) {
        http_client_free(line->client); /* another key counts now */
        line->client = NULL;
    }
    if (line->client != NULL)
        return RC_OK;
    to->key = key;
    return http_client_new(p->loop, to->address, key, &line->client, err);
}

/* One that is open and idle, else one that is not open yet, else the shortest. */
static struct line *choose_line(struct partner *to)
{
    struct line *best = &to->lines[0];
    for (size_t i = 0; i < LINES_MAX; i++) {
        struct line *line = &to->lines[i];
        if (line->client == NULL)
            return best->calls == 0 && best->client != NULL ? best : line;
        if (line->calls < best->calls)
            best = line;
    }
    return best;
}

static void call_done(void *arg, const struct http_response *response, const struct err *err)
{
    struct errand *e = arg;
    e->line->calls--;
    e->on_done(e->arg, response, err);
    free(e);
}

static void call_data(void *arg, struct str piece)
{
    struct errand *e = arg;
    e->on_data(e->arg, piece);
}

enum rc peers_send(struct peers *p, struct str address, const struct http_call *call,
                   struct err *err)
{
    if (p->closed)
        return err_set(err, RC_SHUTDOWN, "the server is shutting down");
    struct partner *to = find_partner(p, address);
    struct line *line = choose_line(to);
    if (line->calls >= LINE_LEN_MAX)
        return err_set(err, RC_BUSY, "too much is under way to %.*s", STR_ARG(address));
    TRY(open_line(p, to, line, err));
    struct errand *e = MEM_NEW(struct errand);
    *e = (struct errand){line, call->on_done, call->on_data, call->arg};
    struct http_call own = *call;
    own.arg = e;
    own.on_done = call_done;
    own.on_head = NULL; /* of streams only */
    own.on_data = call->on_data == NULL ? NULL : call_data;
    line->calls++;
    http_client_send(line->client, &own);
    return RC_OK;
}

/* ---- streams */

static void stream_done(void *arg, const struct http_response *response, const struct err *err)
{
    struct peer_stream *s = arg;
    if (!s->silent)
        s->on_done(s->arg, response, err);
}

static void stream_head(void *arg, const struct http_response *head)
{
    struct peer_stream *s = arg;
    if (!s->silent && s->on_head != NULL)
        s->on_head(s->arg, head);
}

static void stream_data(void *arg, struct str piece)
{
    struct peer_stream *s = arg;
    if (!s->silent)
        s->on_data(s->arg, piece);
}

enum rc peers_stream(struct peers *p, struct str address, const struct http_call *call,
                     struct peer_stream **ret_stream, struct err *err)
{
    struct http_client *client;
    if (p->closed)
        return err_set(err, RC_SHUTDOWN, "the server is shutting down");
    TRY(http_client_new(p->loop, address, auth_cluster_key(&p->server->auth), &client, err));
    struct peer_stream *s = MEM_NEW(struct peer_stream);
    s->peers = p;
    s->client = client;
    s->on_done = call->on_done;
    s->on_head = call->on_head;
    s->on_data = call->on_data;
    s->arg = call->arg;
    list_push_back(&p->streams, &s->node);
    struct http_call own = *call;
    own.arg = s;
    own.on_done = stream_done;
    own.on_head = stream_head;
    own.on_data = stream_data;
    http_client_send(client, &own);
    *ret_stream = s;
    return RC_OK;
}

void peer_stream_free(struct peer_stream *s)
{
    if (s == NULL)
        return;
    s->silent = true;
    list_remove(&s->node);
    http_client_free(s->client);
    free(s);
}

/* ---- whether to try */

bool peers_may_try(struct peers *p, struct str address)
{
    return rest_may_try(&find_partner(p, address)->rest, uv_now(p->loop));
}

void peers_heard(struct peers *p, struct str address)
{
    rest_heard(&find_partner(p, address)->rest);
}

void peers_missed(struct peers *p, struct str address)
{
    rest_missed(&find_partner(p, address)->rest, uv_now(p->loop));
}

/* ---- later */

static void on_tick(uv_timer_t *timer)
{
    struct peers *p = timer->data;
    uint64_t now_ms = uv_now(p->loop);
    LIST_EACH(&p->waiting, node)
    {
        struct later *later = CONTAINER_OF(node, struct later, node);
        if (later->at_ms > now_ms && !p->closed)
            continue;
        struct request *r = later->request;
        request_step *step = later->step;
        list_remove(&later->node);
        free(later);
        step(r); /* may wait again: then it is at the end of the list, and its time has not come */
    }
    if (list_empty(&p->waiting))
        uv_timer_stop(timer);
}

void peers_later(struct peers *p, struct request *r, uint64_t ms, request_step *step)
{
    struct later *later = MEM_NEW(struct later);
    *later = (struct later){.request = r, .step = step, .at_ms = uv_now(p->loop) + ms};
    if (list_empty(&p->waiting))
        uv_timer_start(&p->timer, on_tick, LATER_TICK_MS, LATER_TICK_MS);
    list_push_back(&p->waiting, &later->node);
}

bool peers_closed(const struct peers *p)
{
    return p->closed;
}

/* ---- waking */

struct wake {
    struct parcel parcel;
    struct server *server;
    struct str target;
    size_t len;
    char address[];
};

static void woken(void *arg, const struct http_response *response, const struct err *err)
{
    (void)arg;
    (void)response;
    (void)err; /* it looks by itself within a second */
}

static void deliver_wake(struct parcel *parcel)
{
    struct wake *wake = CONTAINER_OF(parcel, struct wake, parcel);
    struct err err;
    (void)peers_send(net_peers(wake->server->nets[0]), str_of(wake->address, wake->len),
                     &(struct http_call){
                         .method = "POST",
                         .target = wake->target,
                         .timeout_ms = WAKE_MS,
                         .on_done = woken,
                     },
                     &err);
    free(wake);
}

static void wake(struct server *server, struct str address, struct str target)
{
    if (atomic_load(&server->net_count) == 0)
        return;
    struct wake *w = mem_new(sizeof *w + address.len);
    w->parcel.deliver = deliver_wake;
    w->server = server;
    w->target = target;
    w->len = address.len;
    for (size_t i = 0; i < address.len; i++)
        w->address[i] = address.ptr[i];
    net_send(server->nets[0], &w->parcel);
}

void peers_wake(struct server *server, struct str address)
{
    wake(server, address, STR("/api/v1/cluster/wake"));
}

void peers_mail_owners(struct server *server, uint64_t partitions)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct membership *m = server->membership;
    struct str told[PARTITIONS_MAX];
    size_t count = 0;
    uint32_t known = m == NULL ? 0 : membership_partitions(m);
    for (uint32_t i = 0; i < known; i++) {
        struct peer owner;
        size_t k = 0;
        uint64_t id = (uint64_t)partition_first_bucket(known, i) << ID_BUCKET_SHIFT;
        if (!(partitions >> i & 1) || !membership_owner(m, id, &arena, &owner))
            continue;
        while (k < count && !str_eq(told[k], owner.address))
            k++;
        if (k == count) {
            told[count++] = owner.address;
            wake(server, owner.address, STR("/api/v1/cluster/mail"));
        }
    }
}

/* ---- coming and going */

struct peers *peers_new(uv_loop_t *loop, struct server *server)
{
    struct peers *p = MEM_NEW(struct peers);
    p->loop = loop;
    p->server = server;
    list_init(&p->partners);
    list_init(&p->streams);
    list_init(&p->waiting);
    uv_timer_init(loop, &p->timer);
    p->timer.data = p;
    return p;
}

void peers_close(struct peers *p)
{
    assert(!p->closed);
    p->closed = true;
    LIST_EACH(&p->partners, node)
    {
        struct partner *one = CONTAINER_OF(node, struct partner, node);
        for (size_t i = 0; i < LINES_MAX; i++)
            http_client_free(one->lines[i].client);
    }
    while (!list_empty(&p->streams)) {
        struct peer_stream *s = CONTAINER_OF(list_first(&p->streams), struct peer_stream, node);
        struct err err;
        err_set(&err, RC_SHUTDOWN, "the server is shutting down");
        list_remove(&s->node);
        if (!s->silent)
            s->on_done(s->arg, NULL, &err); /* which frees it */
    }
    on_tick(&p->timer); /* all that wait */
    uv_close((uv_handle_t *)&p->timer, NULL);
}

void peers_free(struct peers *p)
{
    for (struct list_node *node; (node = list_pop_front(&p->partners)) != NULL;)
        free(CONTAINER_OF(node, struct partner, node));
    free(p);
}
