/* client.h - an HTTP/1.1 client on a libuv loop: one connection, kept alive.
 *
 * Requests on one client are sent one after another; a caller that wants two under way at once (a
 * parked poll and a log upload) makes two clients. A broken connection fails the request under way
 * with RC_UNREACHABLE and the next request connects anew. Only what met a *reused* connection that
 * the server was just closing is repeated silently: a GET or HEAD that got no byte of an answer,
 * and any other request of which not a byte was sent. on_head, on_data and on_done are called by
 * the loop, never from within http_client_send. Used by the worker, the command line and the
 * benchmark. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "wire/http/http.h" /* struct http_header */

#include <uv.h>

struct http_client;

struct http_response {
    int status;
    struct str body;         /* empty when on_data took it */
    struct str content_type; /* NULL str when absent */
    struct str retry_after;
    struct str headers; /* all, as http_response_header reads them */
};

/* One request; plain data, copied by http_client_send. */
struct http_call {
    const char *method;                /* "GET" */
    struct str target;                 /* "/api/v1/jobs?limit=5" */
    const char *content_type;          /* NULL without a body */
    struct str body;                   /* copied */
    struct str accept;                 /* may be empty */
    struct str last_event_id;          /* may be empty: sent as Last-Event-ID */
    const struct http_header *headers; /* more of them */
    size_t header_count;
    bool *ret_unsent;      /* when set: told whether a call that failed was never sent */
    uint64_t timeout_ms;   /* for the whole call; 0: none (streams) */
    uint64_t idle_ms;      /* longest silence, instead of timeout_ms; 0: none */
    size_t body_bytes_max; /* of the answer; 0: 64 MiB */
    /* When set, a 2xx body is handed over piece by piece as it arrives instead of collected. */
    void (*on_data)(void *arg, struct str piece);
    /* When set, told of the head of a 2xx answer that comes before any of the body. */
    void (*on_head)(void *arg, const struct http_response *head);
    /* http_client_call asks it after each piece, when set: false ends the call with RC_SHUTDOWN. */
    bool (*wants_more)(void *arg);
    /* Called exactly once: response is NULL when the call failed, and err says why. */
    void (*on_done)(void *arg, const struct http_response *response, const struct err *err);
    void *arg;
};

/* url is http://HOST:PORT (a path prefix is kept); token may be empty. RC_INVALID for a bad URL,
 * RC_UNSUPPORTED for https. */
enum rc http_client_new(uv_loop_t *loop, struct str url, struct str token,
                        struct http_client **ret_client, struct err *err);
/* Queues a call. */
void http_client_send(struct http_client *c, const struct http_call *call);
/* Gives up the call under way and all queued ones: their on_done is called with RC_SHUTDOWN. The
 * connection is closed; the client can be used again. */
void http_client_abort(struct http_client *c);
/* True while a call is under way or queued. */
bool http_client_busy(const struct http_client *c);
/* Aborts, closes and frees; the loop must run once more. NULL is fine. */
void http_client_free(struct http_client *c);

/* A header of an answer, case-insensitive, or a NULL str. */
struct str http_response_header(const struct http_response *response, struct str name);

/* For programs without a loop of their own (the command line): sends and runs a private loop until
 * done. The body lives in the arena. */
enum rc http_client_call(struct str url, struct str token, const struct http_call *call,
                         struct arena *arena, struct http_response *ret_response, struct err *err);
