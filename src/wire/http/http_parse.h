/* http_parse.h - bytes into requests, without a socket.
 *
 * llhttp knows the grammar; this module adds what a careful server must refuse: everything that
 * two readers could understand differently (two lengths, a length and chunks, two hosts or keys,
 * folded headers, lines that do not end in CR and LF, trailers), everything over a limit, and every
 * method and encoding nobody serves. Bytes may come in pieces of any size. All of a request lives
 * in its arena, except the body, which is the parser's until the next reset. */
#pragma once
#include "wire/http/http.h"

struct http_parser;

enum http_parse {
    HTTP_PARSE_MORE,    /* all bytes were taken; the request is not complete */
    HTTP_PARSE_HEAD,    /* the head is complete and a body follows, of which nothing was taken; said
                         * once, so that nobody reads a body that is not wanted */
    HTTP_PARSE_DONE,    /* the request is complete; bytes behind it were not taken */
    HTTP_PARSE_REFUSED, /* see http_parser_refusal; only a reset helps */
};

/* Where in a request the next byte belongs. */
enum http_phase { HTTP_PHASE_IDLE, HTTP_PHASE_HEAD, HTTP_PHASE_BODY };

struct http_refused {
    int status;
    const char *reason;
};

/* Fills *req, which must be zeroed, and which lives as long as the parser; so do the limits. */
struct http_parser *http_parser_new(const struct http_limits *limits, struct http_request *req);
/* Frees the request's arena too. NULL is fine. */
void http_parser_free(struct http_parser *p);

/* Takes bytes up to the end of the request; *ret_used says how many. Not to be called again after
 * DONE or REFUSED before a reset. */
enum http_parse http_parser_feed(struct http_parser *p, struct str bytes, size_t *ret_used);
/* Forgets the request and empties its arena; the next byte begins another. */
void http_parser_reset(struct http_parser *p);

enum http_phase http_parser_phase(const struct http_parser *p);
struct http_refused http_parser_refusal(const struct http_parser *p);
/* The head is complete, no byte of the body has come, and the client waits for a 100. */
bool http_parser_wants_continue(const struct http_parser *p);
/* How much of the body has come, with its framing. */
size_t http_parser_body_bytes(const struct http_parser *p);
/* The memory that the request takes: its body, and a head that is larger than heads are. */
size_t http_parser_held_bytes(const struct http_parser *p);
/* After DONE: whether the client allows another request on this connection. */
bool http_parser_keeps_alive(const struct http_parser *p);
/* HTTP/1.0: no chunks in the answer. */
bool http_parser_is_old(const struct http_parser *p);
