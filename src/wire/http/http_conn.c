#include "wire/http/http_conn.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

enum {
    REST_KEEP_MAX = 4096, /* kept from one pipelined burst to the next */
    LINGER_MS = 2000,     /* a round trip to anywhere, and some */
    REFUSED_MAX = 64,     /* over a limit, being told so */
    ANSWER_SMALL_MAX = 4096,
    STRANGERS_PART = 4, /* strangers may hold a fourth of what others may */
    KEEPALIVE_S = 60,   /* finds out about peers that vanished while a request is parked */
    BODY_STEP = 16384, /* moves the deadline of a body: single bytes would keep one open for ever */
};

static void set_deadline(struct http_conn *c, uint64_t ms)
{
    c->deadline_ms = uv_now(c->server->loop) + ms;
}

static bool rest_waits(const struct http_conn *c)
{
    return c->rest_used < c->rest.len;
}

/* ---- how many there are, and what they hold */

static struct http_counts count_in(struct http_conn *c)
{
    union {
        struct sockaddr any;
        struct sockaddr_storage room;
    } peer = {.any.sa_family = AF_UNSPEC};
    int len = sizeof peer;
    uv_tcp_getpeername(&c->tcp, &peer.any,
                       &len); /* when it fails it has left, and counts as nobody's */
    c->origin = http_origin_of(&peer.any);
    c->server->open_count++;
    return http_quota_enter(c->server->limits.quota, c->origin);
}

static void count_out(struct http_conn *c)
{
    c->server->open_count--;
    http_quota_leave(c->server->limits.quota, c->origin, c->vouched);
    if (c->among != NULL)
        atomic_fetch_sub(c->among, 1);
    c->among = NULL;
}

static bool is_stranger(const struct http_conn *c)
{
    return !c->vouched;
}

/* An answer that an authorized client does not read is bounded by its nature, and takes no room
 * from requests; of a stranger everything counts. */
static size_t held_bytes(const struct http_conn *c)
{
    size_t request = http_parser_held_bytes(c->parser) + c->rest.cap + c->req.held_bytes;
    return is_stranger(c) ? request + http_out_unsent(&c->out) : request;
}

static bool hold(struct http_conn *c, size_t bytes)
{
    const struct http_limits *limits = &c->server->limits;
    size_t max = limits->buffered_bytes_max > 0 ? limits->buffered_bytes_max : SIZE_MAX;
    enum http_share share = is_stranger(c) ? HTTP_SHARE_STRANGERS : HTTP_SHARE_FRIENDS;
    if (is_stranger(c))
        max /= STRANGERS_PART;
    if (bytes == c->counted_bytes)
        return true;
    if (!http_quota_hold(limits->quota, share, c->counted_bytes, bytes, max))
        return false;
    c->counted_bytes = bytes;
    return true;
}

/* False: all connections of its share together would hold too much. */
static bool count_bytes(struct http_conn *c)
{
    return hold(c, held_bytes(c));
}

/* Taken until it is known how much of it the socket took. An amount that every socket takes needs
 * no room: a health check must be answered, however much others hold. */
bool http_conn_has_room(struct http_conn *c, size_t bytes)
{
    return !is_stranger(c) || bytes <= ANSWER_SMALL_MAX || hold(c, held_bytes(c) + bytes);
}

bool http_request_vouch(struct http_request *req)
{
    struct http_conn *c = req->conn;
    if (c->vouched || c->state >= HTTP_CONN_CLOSING)
        return false;
    hold(c, 0);
    http_quota_vouch(c->server->limits.quota, c->origin);
    list_remove(&c->strange);
    c->vouched = true;
    count_bytes(c); /* little so far; when it does not fit the body is refused */
    return true;
}

void http_request_count(struct http_request *req, atomic_size_t *among)
{
    struct http_conn *c = req->conn;
    if (c->among != NULL || c->state >= HTTP_CONN_CLOSING)
        return;
    c->among = among;
    atomic_fetch_add(among, 1);
}

bool http_request_hold(struct http_request *req, size_t bytes)
{
    struct http_conn *c = req->conn;
    req->held_bytes += bytes;
    if (c->state >= HTTP_CONN_CLOSING || count_bytes(c))
        return true;
    req->held_bytes -= bytes;
    return false;
}

struct http_origin http_request_origin(const struct http_request *req)
{
    return req->conn->origin;
}

void http_request_drop(struct http_request *req)
{
    http_conn_close(req->conn);
}

/* ---- the end */

static void destroy(struct http_conn *c)
{
    struct http_server *s = c->server;
    list_remove(&c->node);
    http_parser_free(c->parser);
    http_out_free(&c->out);
    buf_free(&c->rest);
    hold(c, 0);
    free(c);
    http_server_forget(s);
}

/* May end with the request given back, and then with c freed. */
static void tell_gone(struct http_conn *c)
{
    if (!c->held || c->req.gone)
        return;
    c->req.gone = true;
    if (c->req.on_gone != NULL)
        c->req.on_gone(&c->req);
}

static void on_closed(uv_handle_t *handle)
{
    struct http_conn *c = handle->data;
    c->state = HTTP_CONN_CLOSED;
    if (c->held)
        tell_gone(c);
    else
        destroy(c);
}

void http_conn_close(struct http_conn *c)
{
    if (c->state >= HTTP_CONN_CLOSING)
        return;
    c->state = HTTP_CONN_CLOSING;
    c->deadline_ms = 0;
    list_remove(&c->ready);
    list_remove(&c->strange);
    count_out(c); /* libuv closes the socket at once, and only the handle later */
    uv_close((uv_handle_t *)&c->tcp, on_closed);
}

bool http_conn_is_idle(const struct http_conn *c)
{
    return c->state == HTTP_CONN_READING && !rest_waits(c) &&
           http_parser_phase(c->parser) == HTTP_PHASE_IDLE;
}

/* ---- sending */

static void read_on(struct http_conn *c);

static void on_shutdown(uv_shutdown_t *shutdown, int status)
{
    struct http_conn *c = shutdown->data;
    if (status < 0)
        http_conn_close(c);
}

static void linger(struct http_conn *c)
{
    c->shutdown.data = c;
    if (c->eof || uv_shutdown(&c->shutdown, (uv_stream_t *)&c->tcp, on_shutdown) < 0) {
        http_conn_close(c);
        return;
    }
    c->state = HTTP_CONN_LINGERING;
    set_deadline(c, LINGER_MS);
    read_on(c);
}

static void set_idle_deadline(struct http_conn *c)
{
    const struct http_limits *limits = &c->server->limits;
    bool hurried = is_stranger(c) && limits->stranger_timeout_ms > 0;
    set_deadline(c, hurried ? limits->stranger_timeout_ms : limits->idle_timeout_ms);
}

static void await_request(struct http_conn *c)
{
    c->state = HTTP_CONN_READING;
    set_idle_deadline(c);
    if (rest_waits(c))
        /* Not from here: this may be deep inside a handler's loop over its own things. */
        http_server_wake(c->server, c);
    else if (c->eof)
        http_conn_close(c);
    else
        read_on(c);
}

/* The socket has taken everything. */
static void all_sent(struct http_conn *c)
{
    if (c->state == HTTP_CONN_SENDING)
        await_request(c);
    else if (c->state == HTTP_CONN_ENDING)
        linger(c);
}

static void on_sent(struct http_out *out, int status)
{
    struct http_conn *c = CONTAINER_OF(out, struct http_conn, out);
    count_bytes(c); /* fewer now */
    if (status < 0)
        http_conn_close(c);
    else
        all_sent(c);
}

void http_conn_send(struct http_conn *c, const struct str *parts, size_t count)
{
    if (http_out_send(&c->out, parts, count) < 0)
        http_conn_close(c);
}

bool http_conn_may_go_on(const struct http_conn *c)
{
    return http_parser_keeps_alive(c->parser) && !c->server->draining && (!c->eof || rest_waits(c));
}

void http_conn_give_back(struct http_conn *c, bool last)
{
    c->held = false;
    http_parser_reset(c->parser);
    bool fits = count_bytes(c) || !is_stranger(c);
    if (c->state == HTTP_CONN_CLOSED) {
        destroy(c);
        return;
    }
    if (c->state == HTTP_CONN_CLOSING)
        return;
    if (!fits) { /* it does not read its answer, as so many do not */
        http_conn_close(c);
        return;
    }
    c->state = last ? HTTP_CONN_ENDING : HTTP_CONN_SENDING;
    c->unsent_seen = http_out_unsent(&c->out);
    set_deadline(c, c->server->limits.body_timeout_ms);
    if (c->unsent_seen == 0)
        all_sent(c);
}

/* ---- reading */

static void dispatch(struct http_conn *c)
{
    c->state = HTTP_CONN_HELD;
    c->deadline_ms = 0;
    c->held = true;
    c->server->handler(c->server->arg, &c->req);
}

/* Every step of a body has its time, and all of it the time that its bytes are worth: a client that
 * sends a step at the last moment, again and again, holds memory for hours otherwise. */
static void await_body(struct http_conn *c)
{
    const struct http_limits *limits = &c->server->limits;
    c->body_seen = http_parser_body_bytes(c->parser);
    set_deadline(c, limits->body_timeout_ms);
    if (limits->body_rate_min == 0)
        return;
    uint64_t worth_ms = (uint64_t)c->body_seen * 1000 / limits->body_rate_min;
    uint64_t last_ms = c->body_since_ms + limits->body_timeout_ms + worth_ms;
    if (c->deadline_ms > last_ms)
        c->deadline_ms = last_ms;
}

static void await_more(struct http_conn *c, enum http_phase before)
{
    enum http_phase phase = http_parser_phase(c->parser);
    if (phase == HTTP_PHASE_HEAD && before == HTTP_PHASE_IDLE)
        set_deadline(c, c->server->limits.head_timeout_ms); /* for all of it, however it trickles */
    else if (phase == HTTP_PHASE_BODY &&
             http_parser_body_bytes(c->parser) >= c->body_seen + BODY_STEP)
        await_body(c);
}

/* The handler's, for as long as the gate looks at it: an answer finds everything as usual, except
 * that the parser is not done, so that it says goodbye. */
static void admit(struct http_conn *c, bool all_read)
{
    struct http_server *s = c->server;
    c->held = true;
    c->state = HTTP_CONN_HELD;
    c->deadline_ms = 0;
    if (s->gate != NULL && !s->gate(s->arg, &c->req))
        return;
    c->held = false;
    c->state = HTTP_CONN_READING;
    c->body_since_ms = uv_now(s->loop);
    await_body(c);
    if (all_read && http_parser_wants_continue(c->parser)) /* else it went ahead without us */
        http_conn_send(c, &STR("HTTP/1.1 100 Continue\r\n\r\n"), 1);
}

/* Reads up to the end of one request, at most, and acts on it. The bytes are counted before that:
 * whether more of them wait decides what an answer says about the connection. */
static void step(struct http_conn *c, struct str bytes, size_t *used)
{
    enum http_phase before = http_parser_phase(c->parser);
    size_t taken;
    enum http_parse got = http_parser_feed(c->parser, bytes, &taken);
    *used += taken;
    if ((got == HTTP_PARSE_MORE || got == HTTP_PARSE_DONE) && !count_bytes(c)) {
        http_conn_refuse(c, 503, "too many bytes of requests are under way; try again");
    } else if (got == HTTP_PARSE_MORE) {
        await_more(c, before);
    } else if (got == HTTP_PARSE_HEAD) {
        admit(c, taken == bytes.len);
    } else if (got == HTTP_PARSE_DONE) {
        dispatch(c);
    } else {
        struct http_refused refused = http_parser_refusal(c->parser);
        http_conn_refuse(c, refused.status, refused.reason);
    }
}

static void keep_rest(struct http_conn *c, struct str bytes)
{
    buf_add(&c->rest, bytes);
    /* Bounded by itself; when it does not fit the next body is refused, but a stranger must not
     * stay. */
    if (!count_bytes(c) && is_stranger(c)) {
        http_conn_close(c);
        return;
    }
    if (c->rest.len < HTTP_READ_BYTES)
        return;
    /* Only now: a connection that is not read cannot tell us that its client has left. */
    uv_read_stop((uv_stream_t *)&c->tcp);
    c->paused = true;
}

static void take_bytes(struct http_conn *c, struct str bytes)
{
    size_t used = 0;
    while (used < bytes.len && c->state == HTTP_CONN_READING && !rest_waits(c))
        step(c, str_from(bytes, used), &used);
    if (used < bytes.len && c->state < HTTP_CONN_ENDING)
        keep_rest(c, str_from(bytes, used));
}

static void on_eof(struct http_conn *c)
{
    c->eof = true;
    if (c->state == HTTP_CONN_LINGERING || (c->state == HTTP_CONN_READING && !rest_waits(c)))
        http_conn_close(c);
    else
        tell_gone(c);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buf)
{
    struct http_conn *c = stream->data;
    if (len == UV_EOF) {
        on_eof(c);
    } else if (len < 0) {
        http_conn_close(c);
    } else if (len > 0) {
        take_bytes(c, str_of(buf->base, (size_t)len));
    }
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
    (void)suggested;
    struct http_conn *c = handle->data;
    *ret_buf = uv_buf_init(c->server->read_bytes, sizeof c->server->read_bytes);
}

static void read_on(struct http_conn *c)
{
    if (!c->paused)
        return;
    c->paused = false;
    if (uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read) < 0)
        http_conn_close(c);
}

void http_conn_resume(struct http_conn *c)
{
    while (c->state == HTTP_CONN_READING && rest_waits(c))
        step(c, str_from(buf_str(&c->rest), c->rest_used), &c->rest_used);
    if (rest_waits(c) && c->state < HTTP_CONN_ENDING)
        return;
    c->rest_used = 0;
    buf_clear(&c->rest);
    if (c->rest.cap > REST_KEEP_MAX)
        buf_free(&c->rest);
    count_bytes(c); /* fewer now */
    if (c->state != HTTP_CONN_READING)
        return;
    if (c->eof)
        http_conn_close(c);
    else
        read_on(c);
}

/* ---- the beginning, and time */

void http_conn_expire(struct http_conn *c)
{
    size_t unsent = http_out_unsent(&c->out);
    bool begun = http_parser_phase(c->parser) != HTTP_PHASE_IDLE;
    if (c->state == HTTP_CONN_READING && begun) {
        http_conn_refuse(c, 408, "the request did not arrive in time");
    } else if (unsent > 0 && unsent < c->unsent_seen) {
        c->unsent_seen = unsent;
        set_deadline(c, c->server->limits.body_timeout_ms);
    } else {
        http_conn_close(c);
    }
}

static struct http_conn *conn_new(struct http_server *s)
{
    struct http_conn *c = MEM_NEW(struct http_conn);
    c->server = s;
    c->req.conn = c;
    c->parser = http_parser_new(&s->limits, &c->req);
    c->rest = BUF(2 * HTTP_READ_BYTES); /* reading stops at one, and one read may be under way */
    c->paused = true;
    uv_tcp_init(s->loop, &c->tcp); /* cannot fail: it opens nothing yet */
    c->tcp.data = c;
    http_out_init(&c->out, (uv_stream_t *)&c->tcp, on_sent);
    list_push_back(&s->conns, &c->node);
    list_push_back(&s->strangers, &c->strange);
    return c;
}

static bool is_neighbour(const struct http_conn *a, const struct http_conn *b)
{
    return memcmp(&a->origin, &b->origin, sizeof a->origin) == 0;
}

/* One that was refused for being too many lingers, too, and leaves no room: then there is more than
 * one too many. */
static bool has_answer(const struct http_conn *c, size_t too_many)
{
    return c->state == HTTP_CONN_SENDING || c->state == HTTP_CONN_ENDING ||
           (c->state == HTTP_CONN_LINGERING && too_many == 1);
}

/* The stranger that has waited longest without asking for anything goes, else the one that has had
 * an answer for longest and does not read it, or does not leave: a crowd of these would keep
 * everybody out. When it is the newest one's address that has too many, it is one of that address.
 * Only one of this loop's: the kernel spreads connections over all loops alike. */
static bool make_room(struct http_server *s, const struct http_conn *newest, bool of_address,
                      size_t too_many)
{
    struct http_conn *gone = NULL;
    LIST_EACH(&s->strangers, node)
    {
        struct http_conn *c = CONTAINER_OF(node, struct http_conn, strange);
        bool fits = c != newest && (!of_address || is_neighbour(c, newest));
        if (fits && c->state == HTTP_CONN_READING) {
            gone = c;
            break;
        }
        if (fits && gone == NULL && has_answer(c, too_many))
            gone = c;
    }
    if (gone != NULL)
        http_conn_close(gone);
    return gone != NULL;
}

static bool is_crowd(const struct http_limits *limits, const struct http_counts *counts,
                     size_t spare)
{
    return limits->address_max > 0 && counts->of_origin > limits->address_max + spare;
}

void http_conn_accept(struct http_server *s)
{
    const struct http_limits *limits = &s->limits;
    struct http_conn *c = conn_new(s);
    bool accepted = uv_accept((uv_stream_t *)&s->listener, (uv_stream_t *)&c->tcp) == 0;
    struct http_counts counts = count_in(c);
    /* A client that is being told still counts, and cannot be made to leave: of one address only so
     * many. */
    if (!accepted || counts.all > limits->connections_max + REFUSED_MAX ||
        is_crowd(limits, &counts, REFUSED_MAX)) {
        http_conn_close(c);
        return;
    }
    uv_tcp_nodelay(&c->tcp, 1);
    uv_tcp_keepalive(&c->tcp, 1, KEEPALIVE_S);
    set_idle_deadline(c);
    read_on(c);
    if (is_crowd(limits, &counts, 0)) {
        if (!make_room(s, c, true, counts.of_origin - limits->address_max))
            http_conn_refuse(c, 503, "too many connections without a key from this address");
    } else if (counts.all > limits->connections_max) {
        if (!make_room(s, c, false, counts.all - limits->connections_max))
            http_conn_refuse(c, 503, "too many connections");
    }
}
