#include "wire/http/http_parse.h"
#include "base/mem.h"
#include "wire/http/http_text.h"

#include <assert.h>
#include <llhttp.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADERS_MAX = 100,      /* browsers send some 20 */
    HEADERS_FIRST = 16,     /* and everybody else fewer than this */
    BODY_AHEAD_MAX = 65536, /* reserved on the word of a Content-Length, before a byte came */
    BODY_KEEP_MAX = 16384,  /* kept from one request to the next */
    HEAD_USUAL_MAX = 4096,  /* every connection has room for it, whatever it asks */
    FRAMING_MAX = 4096,     /* chunk extensions; none has been seen */
    FRAMING_PER_BYTE = 8,   /* chunks of one byte cost 5: "1", CR, LF and CR, LF behind it */
    REQUEST_LINE_BLANKS = 2,
};

#define BODY_END "\r\n\r\n" /* of chunks: behind the size of the last one, and the empty line */

/* The line ends of a head, which llhttp reads more generously than we do. */
struct lines {
    size_t count;    /* lines that had something in them */
    size_t line_len; /* of the current one so far, its CR included */
    size_t blanks;   /* in the first line that has something in it */
    size_t bytes;    /* of all, from the first byte of the first line */
    char before;     /* the last byte of the piece before */
    bool ended;      /* the empty line behind the head was seen */
};

struct http_parser {
    llhttp_t llhttp;
    const struct http_limits *limits;
    struct http_request *req;
    struct str target;
    struct http_header header; /* the one being read */
    struct http_header *headers;
    size_t header_cap;
    struct lines lines;
    struct buf body;
    size_t body_wire_bytes;              /* with the framing of chunks */
    char body_tail[sizeof BODY_END - 1]; /* the last of these */
    struct http_refused refused;
    bool begun;
    bool head_done;
    bool paused; /* behind the head */
    bool chunked;
    bool expects;
    bool keeps_alive;
    bool old;
};

static int refuse(struct http_parser *p, int status, const char *reason)
{
    if (p->refused.status == 0)
        p->refused = (struct http_refused){status, reason};
    return -1; /* stops llhttp */
}

/* ---- the head as it comes in */

/* Appends to a text that usually is the newest thing in the arena, and then grows in place. */
static void text_add(struct arena *a, struct str *text, const char *at, size_t len)
{
    if (text->len > 0 && a->left >= len && arena_bytes(a, 0) == text->ptr + text->len) {
        memcpy(arena_bytes(a, len), at, len);
    } else {
        char *moved = arena_bytes(a, text->len + len);
        if (text->len > 0)
            memcpy(moved, text->ptr, text->len);
        memcpy(moved + text->len, at, len);
        text->ptr = moved;
    }
    text->len += len;
}

static int on_begin(llhttp_t *llhttp)
{
    struct http_parser *p = llhttp->data;
    p->begun = true;
    return 0;
}

static int on_target(llhttp_t *llhttp, const char *at, size_t len)
{
    struct http_parser *p = llhttp->data;
    if (p->target.len + len > p->limits->target_bytes_max)
        return refuse(p, 414, "the request target is too long");
    text_add(&p->req->arena, &p->target, at, len);
    return 0;
}

static int on_header_name(llhttp_t *llhttp, const char *at, size_t len)
{
    struct http_parser *p = llhttp->data;
    if (p->head_done) /* trailers were not asked for, and readers differ in what these may change */
        return refuse(p, 400, "headers behind the body are not taken");
    text_add(&p->req->arena, &p->header.name, at, len);
    return 0;
}

static int on_header_value(llhttp_t *llhttp, const char *at, size_t len)
{
    struct http_parser *p = llhttp->data;
    if (len > 0)
        text_add(&p->req->arena, &p->header.value, at, len);
    return 0;
}

static void grow_headers(struct http_parser *p)
{
    size_t cap = p->header_cap == 0 ? HEADERS_FIRST : p->header_cap * 2;
    struct http_header *grown = ARENA_ARRAY(&p->req->arena, struct http_header, cap);
    if (p->req->header_count > 0)
        memcpy(grown, p->headers, p->req->header_count * sizeof *grown);
    p->headers = grown;
    p->header_cap = cap;
    p->req->headers = grown;
}

static int on_header_end(llhttp_t *llhttp)
{
    struct http_parser *p = llhttp->data;
    if (p->header.name.len == 0)
        return refuse(p, 400, "a header has no name");
    if (p->req->header_count == HEADERS_MAX)
        return refuse(p, 431, "too many headers");
    if (p->req->header_count == p->header_cap)
        grow_headers(p);
    p->header.value = str_trim(p->header.value);
    p->headers[p->req->header_count++] = p->header;
    p->header = (struct http_header){0};
    return 0;
}

/* ---- the head as a whole */

static bool map_method(uint8_t method, enum http_method *ret_method)
{
    switch (method) {
    case HTTP_GET: *ret_method = HTTP_METHOD_GET; return true;
    case HTTP_HEAD: *ret_method = HTTP_METHOD_HEAD; return true;
    case HTTP_POST: *ret_method = HTTP_METHOD_POST; return true;
    case HTTP_PUT: *ret_method = HTTP_METHOD_PUT; return true;
    case HTTP_PATCH: *ret_method = HTTP_METHOD_PATCH; return true;
    case HTTP_DELETE: *ret_method = HTTP_METHOD_DELETE; return true;
    case HTTP_OPTIONS: *ret_method = HTTP_METHOD_OPTIONS; return true;
    default: return false;
    }
}

static int check_line(struct http_parser *p)
{
    if (p->llhttp.http_major != 1 || p->llhttp.http_minor > 1)
        return refuse(p, 505, "this server speaks HTTP/1.1 and HTTP/1.0");
    if (!map_method(p->llhttp.method, &p->req->method))
        return refuse(p, 501, "the method is not known here");
    if (!http_target_is_sound(p->target, p->req->method == HTTP_METHOD_OPTIONS))
        return refuse(p, 400, "the request target must be a path of visible ASCII characters");
    return 0;
}

static int check_encoding(struct http_parser *p, struct str value)
{
    if (p->old)
        return refuse(p, 400, "HTTP/1.0 knows no Transfer-Encoding");
    if (p->llhttp.flags & F_CONTENT_LENGTH)
        return refuse(p, 400, "both Content-Length and Transfer-Encoding");
    /* "gzip, chunked" in one header or in two fails here alike. */
    if (!str_eq_nocase(value, STR("chunked")))
        return refuse(p, 501, "the only Transfer-Encoding known here is chunked");
    return 0;
}

/* A proxy that reads the first of two and a server that reads the last would see different
 * requests. Two lengths are refused by llhttp, two hosts below. */
static const char *check_single(const struct http_parser *p, size_t at)
{
    static const struct str singles[] = {
        STR_INIT("authorization"), STR_INIT("content-type"),    STR_INIT("transfer-encoding"),
        STR_INIT("expect"),        STR_INIT("idempotency-key"), STR_INIT("last-event-id"),
        STR_INIT("origin"),        STR_INIT("x-belfry"),        STR_INIT("sec-fetch-site")};
    struct str name = p->headers[at].name;
    bool single = false;
    for (size_t i = 0; i < COUNT_OF(singles) && !single; i++)
        single = str_eq_nocase(name, singles[i]);
    for (size_t i = 0; single && i < at; i++) {
        if (str_eq_nocase(p->headers[i].name, name))
            return "a header that may be there once is there twice";
    }
    return NULL;
}

static int check_headers(struct http_parser *p)
{
    size_t hosts = 0;
    for (size_t i = 0; i < p->req->header_count; i++) {
        const struct http_header *h = &p->headers[i];
        const char *twice = check_single(p, i);
        if (twice != NULL)
            return refuse(p, 400, twice);
        if (str_eq_nocase(h->name, STR("host"))) {
            if (!http_host_is_sound(h->value))
                return refuse(p, 400, "the Host header is malformed");
            hosts++;
        } else if (str_eq_nocase(h->name, STR("transfer-encoding"))) {
            if (check_encoding(p, h->value))
                return -1;
        } else if (str_eq_nocase(h->name, STR("expect")) && !p->old) {
            if (!str_eq_nocase(h->value, STR("100-continue")))
                return refuse(p, 417, "the only expectation known here is 100-continue");
            p->expects = true;
        }
    }
    if (hosts > 1 || (hosts == 0 && !p->old))
        return refuse(p, 400, "there must be exactly one Host header");
    return 0;
}

static int on_head_end(llhttp_t *llhttp)
{
    struct http_parser *p = llhttp->data;
    p->old = llhttp->http_minor == 0;
    if (check_line(p) || check_headers(p))
        return -1;

    p->req->query = p->target;
    p->req->path = str_cut(&p->req->query, '?');
    p->head_done = true;
    /* An Upgrade is an offer, which we decline by answering as if it had not been made. */
    llhttp->upgrade = 0;

    p->chunked = llhttp->flags & F_CHUNKED;
    if (!p->chunked && llhttp->content_length > p->limits->body_bytes_max)
        return refuse(p, 413, "the body is too large");
    if (!p->chunked && llhttp->content_length == 0) {
        p->expects = false;
        return 0;
    }
    p->paused = true;
    return HPE_PAUSED;
}

/* ---- the body */

/* The size stands before the chunk: no need to wait for one that will not fit. */
static int on_chunk(llhttp_t *llhttp)
{
    struct http_parser *p = llhttp->data;
    if (llhttp->content_length > p->limits->body_bytes_max - p->body.len)
        return refuse(p, 413, "the body is too large");
    return 0;
}

static int on_body(llhttp_t *llhttp, const char *at, size_t len)
{
    struct http_parser *p = llhttp->data;
    p->expects = false; /* it went ahead without us */
    buf_add(&p->body, str_of(at, len));
    if (p->body.overflow)
        return refuse(p, 413, "the body is too large");
    return 0;
}

static int on_end(llhttp_t *llhttp)
{
    struct http_parser *p = llhttp->data;
    p->req->body = buf_str(&p->body);
    /* HTTP/1.0 closes, even if asked not to: a client that cares for speed does not speak it. */
    p->keeps_alive = !p->old && llhttp_should_keep_alive(llhttp);
    return HPE_PAUSED;
}

/* ---- feeding */

static const llhttp_settings_t settings = {
    .on_message_begin = on_begin,
    .on_url = on_target,
    .on_header_field = on_header_name,
    .on_header_value = on_header_value,
    .on_header_value_complete = on_header_end,
    .on_headers_complete = on_head_end,
    .on_chunk_header = on_chunk,
    .on_body = on_body,
    .on_message_complete = on_end,
};

struct http_parser *http_parser_new(const struct http_limits *limits, struct http_request *req)
{
    struct http_parser *p = MEM_NEW(struct http_parser);
    p->limits = limits;
    p->req = req;
    p->body = BUF(limits->body_bytes_max);
    llhttp_init(&p->llhttp, HTTP_REQUEST, &settings);
    p->llhttp.data = p;
    return p;
}

void http_parser_free(struct http_parser *p)
{
    if (p == NULL)
        return;
    arena_free(&p->req->arena);
    buf_free(&p->body);
    free(p);
}

void http_parser_reset(struct http_parser *p)
{
    arena_reset(&p->req->arena);
    *p->req = (struct http_request){.arena = p->req->arena, .conn = p->req->conn};
    if (p->body.cap > BODY_KEEP_MAX)
        buf_free(&p->body);
    buf_clear(&p->body);

    struct http_parser fresh = {.limits = p->limits, .req = p->req, .body = p->body};
    llhttp_init(&fresh.llhttp, HTTP_REQUEST, &settings);
    *p = fresh;
    p->llhttp.data = p;
}

/* One line of a head, or a piece of one. A line that starts with a space would continue the one
 * before it, and a LF alone would end it: proxies disagree on both, and request smuggling lives
 * from that. Returns what is wrong with it, or NULL. */
static const char *check_piece(struct lines *l, struct str piece, bool ends)
{
    if (l->line_len == 0 && l->count > 0 && piece.len > 0 &&
        (piece.ptr[0] == ' ' || piece.ptr[0] == '\t'))
        return "a header is continued on a second line";
    l->line_len += piece.len;
    for (size_t i = 0; l->count == 0 && i < piece.len; i++)
        l->blanks += piece.ptr[i] == ' ';
    if (piece.len > 0)
        l->before = piece.ptr[piece.len - 1];
    if (!ends)
        return NULL;
    if (l->line_len == 0 || l->before != '\r')
        return "a line must end with CR and LF";
    if (l->count == 0 && l->line_len > 1 && l->blanks != REQUEST_LINE_BLANKS)
        return "the first line must be METHOD TARGET VERSION, with one blank between";
    if (l->line_len > 1)
        l->count++;
    else if (l->count > 0) /* empty lines in front of a request are tolerated */
        l->ended = true;
    l->line_len = 0;
    return NULL;
}

/* How many of the bytes llhttp may see: all of them, or those in front of a line that will be
 * refused. It goes first, and what it refuses is refused with its own words. */
static size_t check_lines(struct http_parser *p, struct str bytes, struct http_refused *ret_refused)
{
    struct lines *l = &p->lines;
    size_t at = 0;
    while (at < bytes.len && !l->ended) {
        size_t room = p->limits->head_bytes_max - l->bytes;
        struct str rest = str_from(bytes, at);
        size_t len = str_index(rest, '\n');
        bool ends = len < rest.len;
        if (len + ends > room) {
            *ret_refused = l->count == 0
                               ? (struct http_refused){414, "the request line is too long"}
                               : (struct http_refused){431, "the headers are too large"};
            return at + room;
        }
        const char *wrong = check_piece(l, str_of(rest.ptr, len), ends);
        if (wrong != NULL) {
            *ret_refused = (struct http_refused){400, wrong};
            return at + len;
        }
        l->bytes += len + ends;
        at += len + ends;
    }
    return bytes.len;
}

/* Whether llhttp would have taken this version: then something else is wrong with the line. */
static bool is_known_version(const llhttp_t *llhttp)
{
    return (llhttp->http_major == 1 && llhttp->http_minor <= 1) ||
           (llhttp->http_major == 2 && llhttp->http_minor == 0);
}

static struct http_refused explain(const struct http_parser *p, llhttp_errno_t error)
{
    switch (error) {
    case HPE_INVALID_METHOD:
        /* Letters may be a method we do not know; other bytes are no HTTP at all. */
        if (http_is_token_char(*llhttp_get_error_pos(&p->llhttp)))
            return (struct http_refused){501, "the method is not known here"};
        return (struct http_refused){400, "this is not HTTP"};
    case HPE_INVALID_VERSION:
        if (is_known_version(&p->llhttp))
            return (struct http_refused){400, "the version must be the end of its line"};
        return (struct http_refused){505, "this server speaks HTTP/1.1 and HTTP/1.0"};
    case HPE_PAUSED_H2_UPGRADE:
        return (struct http_refused){505, "this server speaks HTTP/1.1 and HTTP/1.0"};
    default: return (struct http_refused){400, llhttp_get_error_reason(&p->llhttp)};
    }
}

/* Chunks may be tiny and carry extensions; both make a long message of a short body. */
static int check_framing(struct http_parser *p, size_t used)
{
    p->body_wire_bytes += used;
    size_t allowed = FRAMING_MAX + p->body.len * FRAMING_PER_BYTE;
    if (p->body_wire_bytes > allowed)
        return refuse(p, 413, "the framing of the body is too large");
    return 0;
}

/* llhttp takes a LF alone for the empty line behind the last chunk. */
static void check_body_end(struct http_parser *p, struct str taken, bool done)
{
    size_t max = sizeof p->body_tail;
    size_t fresh = taken.len < max ? taken.len : max;
    memmove(p->body_tail, p->body_tail + fresh, max - fresh);
    memcpy(p->body_tail + max - fresh, taken.ptr + taken.len - fresh, fresh);
    if (done && memcmp(p->body_tail, BODY_END, max) != 0)
        refuse(p, 400, "a line must end with CR and LF");
}

/* The body is wanted; before that a head alone costs nothing. */
static void begin_body(struct http_parser *p)
{
    p->paused = false;
    llhttp_resume(&p->llhttp);
    if (!p->chunked && p->llhttp.content_length <= BODY_AHEAD_MAX)
        buf_reserve(&p->body, (size_t)p->llhttp.content_length);
}

enum http_parse http_parser_feed(struct http_parser *p, struct str bytes, size_t *ret_used)
{
    assert(p->refused.status == 0 && bytes.len > 0);
    struct http_refused line_refused = {0};
    bool in_head = !p->head_done;
    size_t len = in_head ? check_lines(p, bytes, &line_refused) : bytes.len;

    if (p->paused)
        begin_body(p);
    llhttp_errno_t error = llhttp_execute(&p->llhttp, bytes.ptr, len);
    bool stopped = error == HPE_PAUSED; /* behind the head or behind the request */
    *ret_used = stopped ? (size_t)(llhttp_get_error_pos(&p->llhttp) - bytes.ptr) : len;
    if (!in_head)
        check_framing(p, *ret_used);
    if (!in_head && p->chunked)
        check_body_end(p, str_of(bytes.ptr, *ret_used), stopped);

    if (p->refused.status == 0 && error != HPE_OK && !stopped)
        p->refused = explain(p, error);
    if (p->refused.status == 0)
        p->refused = line_refused;
    if (p->refused.status != 0)
        return HTTP_PARSE_REFUSED;
    return p->paused ? HTTP_PARSE_HEAD : stopped ? HTTP_PARSE_DONE : HTTP_PARSE_MORE;
}

enum http_phase http_parser_phase(const struct http_parser *p)
{
    return !p->begun ? HTTP_PHASE_IDLE : p->head_done ? HTTP_PHASE_BODY : HTTP_PHASE_HEAD;
}

struct http_refused http_parser_refusal(const struct http_parser *p)
{
    return p->refused;
}

bool http_parser_wants_continue(const struct http_parser *p)
{
    return p->head_done && p->expects;
}

size_t http_parser_body_bytes(const struct http_parser *p)
{
    return p->body_wire_bytes;
}

size_t http_parser_held_bytes(const struct http_parser *p)
{
    return p->body.cap + (p->lines.bytes > HEAD_USUAL_MAX ? p->lines.bytes : 0);
}

bool http_parser_keeps_alive(const struct http_parser *p)
{
    return p->keeps_alive;
}

bool http_parser_is_old(const struct http_parser *p)
{
    return p->old;
}
