/* http_reply.h - bytes into answers: what the client reads with, without a socket.
 *
 * The status is kept, and the headers as far as they are of a sensible size. The body is handed on
 * piece by piece; a caller that wants it whole collects it. Interim answers (100) are skipped. */
#pragma once
#include "base/str.h"

struct http_reply;

enum http_reply_state {
    HTTP_REPLY_MORE,    /* not complete yet */
    HTTP_REPLY_DONE,    /* complete */
    HTTP_REPLY_STOPPED, /* the sink wanted no more */
    HTTP_REPLY_BAD,     /* this is not HTTP; http_reply_problem says why */
};

/* Takes a piece of the body; false to stop. */
typedef bool http_reply_sink(void *arg, struct str piece);

struct http_reply *http_reply_new(http_reply_sink *sink, void *arg);
void http_reply_free(struct http_reply *r); /* NULL is fine */

/* Gets ready for the next answer. One to a HEAD request has no body, whatever its headers say. */
void http_reply_begin(struct http_reply *r, bool to_head);
/* Not to be called again after anything but MORE. */
enum http_reply_state http_reply_feed(struct http_reply *r, struct str bytes);
/* The server has closed: for an answer without a length this is its end. */
enum http_reply_state http_reply_feed_eof(struct http_reply *r);

/* False before the first byte of an answer. */
bool http_reply_begun(const struct http_reply *r);
/* True when the status and all headers are there; those of an interim answer do not count. */
bool http_reply_has_head(const struct http_reply *r);
int http_reply_status(const struct http_reply *r);
struct str http_reply_content_type(const struct http_reply *r); /* NULL str when absent */
struct str http_reply_retry_after(const struct http_reply *r);
/* All headers, "name: value\n" each. */
struct str http_reply_headers(const struct http_reply *r);
/* After DONE: whether the connection can be used again. */
bool http_reply_keeps_alive(const struct http_reply *r);
const char *http_reply_problem(const struct http_reply *r);
