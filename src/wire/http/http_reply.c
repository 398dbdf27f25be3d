#include "wire/http/http_reply.h"
#include "base/buf.h"
#include "base/mem.h"

#include <llhttp.h>
#include <stdlib.h>

enum {
    NAME_MAX_BYTES = 32, /* longer names are none of ours */
    VALUE_MAX_BYTES = 256,
    HEADERS_MAX_BYTES = 4096,
};

struct http_reply {
    llhttp_t llhttp;
    http_reply_sink *sink;
    void *arg;
    struct buf name;
    struct buf value;
    struct buf content_type;
    struct buf retry_after;
    struct buf headers;
    int status;
    bool to_head;
    bool begun;
    bool has_head;
    bool complete;
    bool stopped;
    bool keeps_alive;
    bool spare; /* bytes behind the end of the answer */
};

static int on_begin(llhttp_t *llhttp)
{
    struct http_reply *r = llhttp->data;
    buf_clear(&r->name);
    buf_clear(&r->value);
    buf_clear(&r->content_type);
    buf_clear(&r->retry_after);
    buf_clear(&r->headers);
    return 0;
}

static int on_name(llhttp_t *llhttp, const char *at, size_t len)
{
    struct http_reply *r = llhttp->data;
    buf_add(&r->name, str_of(at, len));
    return 0;
}

static int on_value(llhttp_t *llhttp, const char *at, size_t len)
{
    struct http_reply *r = llhttp->data;
    buf_add(&r->value, str_of(at, len));
    return 0;
}

static void keep(struct http_reply *r, struct str name, struct buf *into)
{
    if (r->name.overflow || r->value.overflow || !str_eq_nocase(buf_str(&r->name), name))
        return;
    buf_clear(into);
    buf_add(into, str_trim(buf_str(&r->value)));
}

static int on_header_end(llhttp_t *llhttp)
{
    struct http_reply *r = llhttp->data;
    keep(r, STR("content-type"), &r->content_type);
    keep(r, STR("retry-after"), &r->retry_after);
    bool fits = r->headers.len + r->name.len + r->value.len + 3 <= r->headers.max;
    if (!r->name.overflow && !r->value.overflow && fits)
        buf_printf(&r->headers, "%.*s: %.*s\n", STR_ARG(buf_str(&r->name)),
                   STR_ARG(str_trim(buf_str(&r->value))));
    buf_clear(&r->name);
    buf_clear(&r->value);
    return 0;
}

static bool is_interim(const struct http_reply *r)
{
    return r->status / 100 == 1;
}

static int on_head_end(llhttp_t *llhttp)
{
    struct http_reply *r = llhttp->data;
    r->status = llhttp->status_code;
    r->has_head = !is_interim(r);
    /* 1: there is no body. Nor has an interim answer one, whatever its length says: it would be
     * joined to that of the real answer. */
    return r->to_head || is_interim(r) ? 1 : 0;
}

static int on_body(llhttp_t *llhttp, const char *at, size_t len)
{
    struct http_reply *r = llhttp->data;
    r->stopped = !r->sink(r->arg, str_of(at, len));
    return r->stopped ? -1 : 0;
}

static int on_end(llhttp_t *llhttp)
{
    struct http_reply *r = llhttp->data;
    if (is_interim(r))
        return 0; /* the real answer is still to come */
    r->complete = true;
    r->keeps_alive = llhttp_should_keep_alive(llhttp);
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_message_begin = on_begin,
    .on_header_field = on_name,
    .on_header_value = on_value,
    .on_header_value_complete = on_header_end,
    .on_headers_complete = on_head_end,
    .on_body = on_body,
    .on_message_complete = on_end,
};

struct http_reply *http_reply_new(http_reply_sink *sink, void *arg)
{
    struct http_reply *r = MEM_NEW(struct http_reply);
    r->sink = sink;
    r->arg = arg;
    r->name = BUF(NAME_MAX_BYTES);
    r->value = r->content_type = r->retry_after = BUF(VALUE_MAX_BYTES);
    r->headers = BUF(HEADERS_MAX_BYTES);
    http_reply_begin(r, false);
    return r;
}

void http_reply_free(struct http_reply *r)
{
    if (r == NULL)
        return;
    buf_free(&r->name);
    buf_free(&r->value);
    buf_free(&r->content_type);
    buf_free(&r->retry_after);
    buf_free(&r->headers);
    free(r);
}

void http_reply_begin(struct http_reply *r, bool to_head)
{
    llhttp_init(&r->llhttp, HTTP_RESPONSE, &settings);
    r->llhttp.data = r;
    r->status = 0;
    r->to_head = to_head;
    r->begun = r->has_head = r->complete = r->stopped = r->keeps_alive = r->spare = false;
    on_begin(&r->llhttp);
}

enum http_reply_state http_reply_feed(struct http_reply *r, struct str bytes)
{
    r->begun = true;
    llhttp_errno_t error = llhttp_execute(&r->llhttp, bytes.ptr, bytes.len);
    if (r->stopped)
        return HTTP_REPLY_STOPPED;
    if (r->complete) {
        r->spare = llhttp_get_error_pos(&r->llhttp) != bytes.ptr + bytes.len;
        return HTTP_REPLY_DONE;
    }
    return error == HPE_OK ? HTTP_REPLY_MORE : HTTP_REPLY_BAD;
}

enum http_reply_state http_reply_feed_eof(struct http_reply *r)
{
    llhttp_finish(&r->llhttp); /* its verdict is whether on_end was called */
    r->keeps_alive = false;
    return r->complete ? HTTP_REPLY_DONE : HTTP_REPLY_BAD;
}

bool http_reply_begun(const struct http_reply *r)
{
    return r->begun;
}

bool http_reply_has_head(const struct http_reply *r)
{
    return r->has_head;
}

int http_reply_status(const struct http_reply *r)
{
    return r->status;
}

static struct str text_or_null(const struct buf *text)
{
    return text->len > 0 ? buf_str(text) : (struct str){0};
}

struct str http_reply_content_type(const struct http_reply *r)
{
    return text_or_null(&r->content_type);
}

struct str http_reply_retry_after(const struct http_reply *r)
{
    return text_or_null(&r->retry_after);
}

struct str http_reply_headers(const struct http_reply *r)
{
    return buf_str(&r->headers);
}

bool http_reply_keeps_alive(const struct http_reply *r)
{
    /* Bytes behind the answer were not asked for, and belong to no request. */
    return r->keeps_alive && !r->spare;
}

const char *http_reply_problem(const struct http_reply *r)
{
    const char *reason = llhttp_get_error_reason(&r->llhttp);
    return reason != NULL ? reason : "the answer is cut off";
}
