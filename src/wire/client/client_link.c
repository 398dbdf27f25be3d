#include "wire/client/client_link.h"
#include "base/list.h"
#include "base/mem.h"
#include "wire/http/http_reply.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { READ_BYTES = 16384 };

struct client_link {
    uv_tcp_t tcp;
    uv_getaddrinfo_t lookup;
    uv_connect_t connect;
    uv_write_t write;
    const struct client_url *url;
    const struct client_link_events *events;
    void *arg;
    struct addrinfo *found;         /* owned */
    const struct addrinfo *address; /* the one being tried, of found */
    struct http_reply *reply;
    struct buf request; /* under way, or waiting for the connection */
    int status;         /* why it is being closed: a libuv error */
    bool looking_up;
    bool connected;
    bool closed;  /* the socket is */
    bool dropped; /* its owner does not listen any more */
    bool busy;    /* a request is under way */
    bool reused;  /* and it is not the first one */
    bool ending;  /* no further request may go over it */
    bool sent_any;
    bool head_told; /* or more than that */
    char read_bytes[READ_BYTES];
};

/* ---- the end */

/* libuv may still have the socket or the lookup; the last one of them to return frees. */
static void release(struct client_link *l)
{
    if (!l->dropped || !l->closed || l->looking_up)
        return;
    uv_freeaddrinfo(l->found);
    http_reply_free(l->reply);
    buf_free(&l->request);
    free(l);
}

static void connect_next(struct client_link *l);

static void tell_failure(struct client_link *l)
{
    struct err err;
    if (l->connected)
        err_set(&err, RC_UNREACHABLE, "%s broke the connection: %s", l->url->text,
                uv_strerror(l->status));
    else
        err_set(&err, RC_UNREACHABLE, "cannot reach %s: %s", l->url->text, uv_strerror(l->status));
    l->events->on_failure(l->arg, &err);
}

static void on_closed(uv_handle_t *handle)
{
    struct client_link *l = handle->data;
    l->closed = true;
    if (l->dropped) {
        release(l);
    } else if (!l->connected && l->address != NULL && l->address->ai_next != NULL) {
        l->address = l->address->ai_next; /* "localhost" may be ::1 first, with nobody there */
        connect_next(l);
    } else {
        tell_failure(l);
    }
}

/* The failure is told from the loop, once the socket is closed. */
static void fail(struct client_link *l, int status)
{
    if (uv_is_closing((uv_handle_t *)&l->tcp))
        return;
    l->status = status;
    uv_close((uv_handle_t *)&l->tcp, on_closed);
}

void client_link_drop(struct client_link *l)
{
    if (l == NULL)
        return;
    assert(!l->dropped);
    l->dropped = true;
    if (l->looking_up)
        uv_cancel((uv_req_t *)&l->lookup); /* its callback comes in any case */
    if (!uv_is_closing((uv_handle_t *)&l->tcp))
        uv_close((uv_handle_t *)&l->tcp, on_closed);
    release(l);
}

/* ---- answers */

static bool on_piece(void *arg, struct str piece)
{
    struct client_link *l = arg;
    l->head_told = true;
    return l->events->on_piece(l->arg, http_reply_status(l->reply), piece) && !l->dropped;
}

/* An answer may come before all of its request was written: a body that is too large is refused by
 * its head. The rest is not read then, and libuv still has the request and the write: neither may
 * be used for the next call, so the connection is not. */
static bool is_written(const struct client_link *l)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&l->tcp) == 0;
}

static struct http_response head_of(const struct client_link *l)
{
    return (struct http_response){
        .status = http_reply_status(l->reply),
        .content_type = http_reply_content_type(l->reply),
        .retry_after = http_reply_retry_after(l->reply),
        .headers = http_reply_headers(l->reply),
    };
}

static void tell_head(struct client_link *l)
{
    if (l->head_told || !http_reply_has_head(l->reply))
        return;
    struct http_response head = head_of(l);
    l->head_told = true;
    l->events->on_head(l->arg, &head);
}

static void tell_answer(struct client_link *l)
{
    l->busy = false;
    l->reused = true;
    l->ending = !http_reply_keeps_alive(l->reply) || !is_written(l);
    struct http_response head = head_of(l);
    l->events->on_answer(l->arg, &head);
}

/* bad: what an answer that cannot be read means. One that was cut off may be whole at the next
 * try. */
static void on_reply(struct client_link *l, enum http_reply_state state, enum rc bad)
{
    if (l->dropped)
        return;
    if (state == HTTP_REPLY_MORE) {
        tell_head(l);
        return;
    }
    if (state == HTTP_REPLY_DONE) {
        tell_answer(l);
        return;
    }
    struct err err;
    if (state == HTTP_REPLY_STOPPED)
        err_set(&err, RC_TOO_LARGE, "%s gave an answer that is too large", l->url->text);
    else
        err_set(&err, bad, "%s gave an answer that is not HTTP: %s", l->url->text,
                http_reply_problem(l->reply));
    l->events->on_failure(l->arg, &err);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *buf)
{
    struct client_link *l = stream->data;
    if (len > 0 && l->busy)
        on_reply(l, http_reply_feed(l->reply, str_of(buf->base, (size_t)len)), RC_CORRUPT);
    else if (len > 0)
        fail(l, UV_EPROTO); /* bytes that were not asked for */
    else if (len == UV_EOF && l->busy && http_reply_begun(l->reply))
        on_reply(l, http_reply_feed_eof(l->reply), RC_UNREACHABLE);
    else if (len < 0)
        fail(l, (int)len);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
    (void)suggested;
    struct client_link *l = handle->data;
    *ret_buf = uv_buf_init(l->read_bytes, sizeof l->read_bytes);
}

/* ---- requests */

static void on_written(uv_write_t *write, int status)
{
    struct client_link *l = CONTAINER_OF(write, struct client_link, write);
    if (status < 0)
        fail(l, status);
}

static void transmit(struct client_link *l)
{
    uv_buf_t left = {.base = l->request.ptr, .len = l->request.len};
    int sent = uv_try_write((uv_stream_t *)&l->tcp, &left, 1);
    if (sent > 0) {
        l->sent_any = true;
        left.base += sent;
        left.len -= (size_t)sent;
    }
    if (left.len == 0)
        return;
    int failed = uv_write(&l->write, (uv_stream_t *)&l->tcp, &left, 1, on_written);
    if (failed < 0)
        fail(l, failed);
}

void client_link_send(struct client_link *l, struct buf take_request, bool to_head)
{
    assert(!l->busy && !l->dropped && !l->ending && is_written(l));
    buf_free(&l->request);
    l->request = take_request;
    l->busy = true;
    l->sent_any = l->head_told = false;
    http_reply_begin(l->reply, to_head);
    if (l->connected)
        transmit(l);
}

bool client_link_is_usable(const struct client_link *l)
{
    uv_os_fd_t fd;
    char byte;
    if (l->ending || uv_fileno((const uv_handle_t *)&l->tcp, &fd) < 0)
        return false;
    /* The server may have closed it long ago, if the loop had no time to look. */
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

bool client_link_was_stale(const struct client_link *l, bool repeatable)
{
    return l->reused && !http_reply_begun(l->reply) && (repeatable || !l->sent_any);
}

bool client_link_sent_nothing(const struct client_link *l)
{
    return !l->sent_any;
}

struct buf client_link_reclaim(struct client_link *l)
{
    struct buf request = l->request;
    l->request = (struct buf){0};
    return request;
}

/* ---- connecting */

static void on_connected(uv_connect_t *connect, int status)
{
    struct client_link *l = CONTAINER_OF(connect, struct client_link, connect);
    if (status == 0)
        status = uv_read_start((uv_stream_t *)&l->tcp, on_alloc, on_read);
    if (status < 0) {
        fail(l, status);
        return;
    }
    l->connected = true;
    uv_tcp_nodelay(&l->tcp, 1);
    if (l->busy)
        transmit(l);
}

static void connect_next(struct client_link *l)
{
    if (l->closed) {
        uv_tcp_init(l->tcp.loop, &l->tcp); /* cannot fail: it opens nothing yet */
        l->closed = false;
    }
    int failed = uv_tcp_connect(&l->connect, &l->tcp, l->address->ai_addr, on_connected);
    if (failed < 0)
        fail(l, failed);
}

static void on_looked_up(uv_getaddrinfo_t *lookup, int status, struct addrinfo *found)
{
    struct client_link *l = CONTAINER_OF(lookup, struct client_link, lookup);
    l->looking_up = false;
    l->found = found;
    l->address = found;
    if (l->dropped)
        release(l);
    else if (status < 0)
        fail(l, status);
    else
        connect_next(l);
}

/* Numbers need no lookup, and so no thread that waits for one. */
static bool look_up_number(struct client_link *l)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICSERV | AI_NUMERICHOST};
    if (getaddrinfo(l->url->host, l->url->port, &hints, &l->found) != 0)
        return false;
    l->address = l->found;
    return true;
}

struct client_link *client_link_open(uv_loop_t *loop, const struct client_url *url,
                                     const struct client_link_events *events, void *arg)
{
    struct client_link *l = MEM_NEW(struct client_link);
    l->url = url;
    l->events = events;
    l->arg = arg;
    l->reply = http_reply_new(on_piece, l);
    uv_tcp_init(loop, &l->tcp);
    l->tcp.data = l;
    if (look_up_number(l)) {
        connect_next(l);
        return l;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    int failed = uv_getaddrinfo(loop, &l->lookup, on_looked_up, url->host, url->port, &hints);
    if (failed < 0)
        fail(l, failed);
    else
        l->looking_up = true;
    return l;
}
