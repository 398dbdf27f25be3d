/* The answering half of http.h: heads, bodies and streams. */
#include "wire/http/http_conn.h"

#include <assert.h>

static struct str date_now(struct http_server *s)
{
    time_t now = time(NULL);
    if (now != s->date_at || s->date_len == 0) {
        s->date_len = http_date(s->date, now).len;
        s->date_at = now;
    }
    return str_of(s->date, s->date_len);
}

/* Answers may carry what a client once sent. A line break in it would start another header, so
 * such a header is left out; the rest of the answer is still good. */
static void add_header(struct buf *head, struct str name, struct str value)
{
    if (!http_is_header_text(value))
        return;
    buf_add(head, name);
    buf_add(head, STR(": "));
    buf_add(head, value);
    buf_add(head, STR("\r\n"));
}

static struct buf *begin_head(struct http_server *s, int status, const char *content_type)
{
    struct buf *head = &s->head;
    buf_clear(head);
    buf_add(head, STR("HTTP/1.1 "));
    buf_add_u64(head, (uint64_t)status);
    buf_add_char(head, ' ');
    buf_add(head, str_c(http_status_phrase(status)));
    buf_add(head, STR("\r\n"));
    add_header(head, STR("Date"), date_now(s));
    if (content_type != NULL)
        add_header(head, STR("Content-Type"), str_c(content_type));
    return head;
}

static void end_head(struct buf *head, bool last)
{
    if (last)
        add_header(head, STR("Connection"), STR("close"));
    buf_add(head, STR("\r\n"));
}

static void tell(const struct http_conn *c, int status)
{
    if (c->server->witness != NULL)
        c->server->witness(c->server->arg, &c->req, status);
}

static void send_answer(struct http_conn *c, const struct http_answer *answer, bool last)
{
    bool bodiless = answer->status == 204 || answer->status == 304;
    tell(c, answer->status);
    struct buf *head = begin_head(c->server, answer->status, answer->content_type);
    if (!bodiless) {
        buf_add(head, STR("Content-Length: "));
        buf_add_u64(head, answer->body.len);
        buf_add(head, STR("\r\n"));
    }
    for (size_t i = 0; i < answer->header_count; i++)
        add_header(head, answer->headers[i].name, answer->headers[i].value);
    end_head(head, last);

    struct str parts[] = {buf_str(head), answer->body};
    bool head_only = bodiless || c->req.method == HTTP_METHOD_HEAD;
    http_conn_send(c, parts, head_only ? 1 : 2);
}

void http_conn_refuse(struct http_conn *c, int status, const char *reason)
{
    struct http_server *s = c->server;
    struct http_answer answer = s->refusal(s->arg, status, reason, &c->req.arena);
    send_answer(c, &answer, true);
    http_conn_give_back(c, true);
}

void http_respond(struct http_request *req, const struct http_answer *answer)
{
    struct http_conn *c = req->conn;
    assert(c->held && c->state != HTTP_CONN_STREAMING);
    if (c->state == HTTP_CONN_HELD && !http_conn_has_room(c, answer->body.len)) {
        http_conn_refuse(c, 503, "too many answers wait to be read; try again");
        return;
    }
    bool last = answer->close || !http_conn_may_go_on(c);
    if (c->state == HTTP_CONN_HELD)
        send_answer(c, answer, last);
    http_conn_give_back(c, last);
}

/* ---- streams */

static bool is_chunked(const struct http_conn *c)
{
    return !http_parser_is_old(c->parser);
}

void http_stream_open(struct http_request *req, const char *content_type)
{
    struct http_conn *c = req->conn;
    assert(c->held && c->state != HTTP_CONN_STREAMING);
    if (c->state != HTTP_CONN_HELD)
        return; /* closed meanwhile; the writes will say so */
    c->state = HTTP_CONN_STREAMING;
    tell(c, 200);
    struct buf *head = begin_head(c->server, 200, content_type);
    add_header(head, STR("Cache-Control"), STR("no-store"));
    if (is_chunked(c))
        add_header(head, STR("Transfer-Encoding"), STR("chunked"));
    end_head(head, !http_conn_may_go_on(c));
    http_conn_send(c, &(struct str){head->ptr, head->len}, 1);
}

size_t http_stream_unsent(const struct http_request *req)
{
    return http_out_unsent(&req->conn->out);
}

static void send_chunk(struct http_conn *c, struct str bytes)
{
    if (!is_chunked(c)) {
        http_conn_send(c, &bytes, 1);
        return;
    }
    struct buf *size = &c->server->head;
    buf_clear(size);
    buf_printf(size, "%zx\r\n", bytes.len);
    http_conn_send(c, (struct str[]){buf_str(size), bytes, STR("\r\n")}, 3);
}

enum rc http_stream_write(struct http_request *req, struct str bytes)
{
    struct http_conn *c = req->conn;
    if (c->state != HTTP_CONN_STREAMING || req->gone || req->method == HTTP_METHOD_HEAD)
        return RC_UNREACHABLE;
    size_t unsent = http_out_unsent(&c->out);
    if (unsent > 0 && unsent + bytes.len > c->server->limits.stream_bytes_max)
        return RC_BUSY;
    if (bytes.len > 0) /* an empty chunk would be the end */
        send_chunk(c, bytes);
    return c->state == HTTP_CONN_STREAMING ? RC_OK : RC_UNREACHABLE;
}

void http_stream_close(struct http_request *req)
{
    struct http_conn *c = req->conn;
    assert(c->held);
    bool last = !http_conn_may_go_on(c);
    if (c->state == HTTP_CONN_STREAMING && is_chunked(c) && req->method != HTTP_METHOD_HEAD)
        http_conn_send(c, &STR("0\r\n\r\n"), 1);
    http_conn_give_back(c, last);
}

void http_stream_abort(struct http_request *req)
{
    struct http_conn *c = req->conn;
    assert(c->held);
    http_conn_close(c);
    http_conn_give_back(c, true);
}
