/* http.h - an HTTP/1.1 server on one libuv loop.
 *
 * llhttp reads the bytes, this module owns the connections. A handler is called once per request,
 * when head and body are complete and within the limits (a gate may look at the head before the
 * body is read), and answers with exactly one of `http_respond` or `http_stream_open` …
 * `http_stream_close`, at once or much later: the request is the handler's until then, also when
 * the client has left meanwhile (answering a client that left is harmless and frees the request).
 * Requests of one connection are served in order, one at a time; pipelined ones wait. Everything
 * here runs on the loop's thread; there are no locks. Handlers and on_gone are called by the loop,
 * never from within a call to this module.
 *
 * Inside: http_parse makes requests of bytes, http_conn is the life of one connection, http_answer
 * and http_out write, http.c listens and keeps the time. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "wire/http/http_quota.h"

#include <stdatomic.h>
#include <uv.h>

struct http_server;
struct http_conn;

enum http_method {
    HTTP_METHOD_GET,
    HTTP_METHOD_HEAD, /* handled as GET; the body is not sent */
    HTTP_METHOD_POST,
    HTTP_METHOD_PUT,
    HTTP_METHOD_PATCH,
    HTTP_METHOD_DELETE,
    HTTP_METHOD_OPTIONS,
};
const char *http_method_name(enum http_method method); /* "GET" */

struct http_header {
    struct str name;
    struct str value;
};

/* All limits are settings; hitting one is answered with its own status (431, 414, 413, 408,
 * 503). */
struct http_limits {
    size_t head_bytes_max; /* request line and headers together */
    size_t target_bytes_max;
    size_t body_bytes_max;
    size_t connections_max; /* more are answered 503 and closed; but strangers make room first */
    size_t address_max;     /* the same for strangers of one address; 0: no limit of its own */
    /* Of requests, over all connections: 503. Strangers may hold a quarter as much beside it,
     * answers that they do not read included. 0: no limit. */
    size_t buffered_bytes_max;
    struct http_quota
        *quota; /* in which all servers that share these limits count; NULL: this one alone */
    size_t stream_bytes_max;      /* unsent bytes a slow stream reader may pile up */
    uint64_t head_timeout_ms;     /* from the first byte of a request to the end of its head */
    uint64_t body_timeout_ms;     /* for every 16 KiB of a body, either way; a client that sends
                                * or takes less is given up */
    size_t body_rate_min;         /* bytes a second of a body that takes longer than that; 0: any */
    uint64_t idle_timeout_ms;     /* keep-alive without a request, … */
    uint64_t stranger_timeout_ms; /* … of a connection that nobody has vouched for; 0: the same */
};

struct http_request {
    enum http_method method;
    struct str path;  /* as sent, still percent-encoded, without the query */
    struct str query; /* behind '?', still encoded */
    struct str body;
    const struct http_header *headers;
    size_t header_count;
    struct arena arena; /* everything of this request lives here; the handler may use it too */
    size_t held_bytes;  /* by http_request_hold */
    bool gone;          /* the client has left; set on the loop's thread */
    /* When set: called once if the client leaves before the answer. To leave is to end the sending
     * side, since nobody can tell a client that closed from one that only has nothing more to say;
     * an answer is therefore still sent, and a half-closed client gets it. */
    void (*on_gone)(struct http_request *req);
    void *user;       /* the handler's own, … */
    int64_t begun_us; /* … and this, too: when it was called */
    struct http_conn *conn;
};

typedef void http_handler(void *arg, struct http_request *req);
/* Looks at a head whose body has not been read yet. True: read it, then call the handler. False: it
 * has answered at once (http_respond); the body is not read, and the connection ends. */
typedef bool http_gate(void *arg, struct http_request *req);

/* Is told the status of each answer as it is given, of refusals and of streams that begin, too;
 * req->user is NULL when no handler has seen it. */
typedef void http_witness(void *arg, const struct http_request *req, int status);

/* A response's body and extra headers. */
struct http_answer {
    int status;
    const char *content_type; /* NULL when there is no body */
    struct str body;          /* borrowed for the call; usually in the request's arena */
    const struct http_header *headers;
    size_t header_count;
    bool close; /* close the connection after this answer */
};

/* handler is called for complete requests; refusal turns a protocol error (400, 408, 413, 414,
 * 431, 501, 503, 505 …) into a body, so that they look like every other problem of the API. */
typedef struct http_answer http_refusal(void *arg, int status, const char *reason,
                                        struct arena *arena);

struct http_server *http_server_new(uv_loop_t *loop, const struct http_limits *limits,
                                    http_handler *handler, http_refusal *refusal, void *arg);
/* Before listening. Without a gate every body is read. Requests that have none go to the handler
 * straight away. */
void http_server_set_gate(struct http_server *s, http_gate *gate);
/* Before listening, too. */
void http_server_set_witness(struct http_server *s, http_witness *witness);
/* Binds and listens. With shared, several loops may listen on one port (SO_REUSEPORT). A port of 0
 * picks one; *ret_port says which. */
enum rc http_server_listen(struct http_server *s, struct str host, uint16_t port, bool shared,
                           uint16_t *ret_port, struct err *err);
/* RC_IO when somebody listens there already. For those who share a port among themselves: the
 * kernel would let a stranger's sockets share it too. */
enum rc http_probe(struct str host, uint16_t port, struct err *err);
/* Stops accepting; idle connections close now, busy ones after their answer. */
void http_server_drain(struct http_server *s);
/* Closes everything at once, which handlers hear as on_gone. The loop must run until on_closed was
 * called, which is when all requests that handlers still held have been answered; by then the
 * server is freed. on_closed may be NULL. */
void http_server_close(struct http_server *s, void (*on_closed)(void *arg), void *arg);
size_t http_server_connections(const struct http_server *s);

/* The value of a header, case-insensitive, or a NULL str. */
struct str http_request_header(const struct http_request *req, struct str name);
/* Whether the client takes an answer of this type ("text/plain"): it says nothing about it, or what
 * it says of this type most closely does not exclude it. */
bool http_request_accepts(const struct http_request *req, struct str type);
/* Whether the client says that it takes a body in this coding ("gzip"). */
bool http_request_takes_coding(const struct http_request *req, struct str coding);
/* Whether the client has the representation with this tag (its quotes included) already, or says
 * that it has any (If-None-Match). */
bool http_request_has_tag(const struct http_request *req, struct str tag);
/* The decoded value of a query parameter, in the request's arena. False when it is absent or badly
 * encoded. */
bool http_request_param(struct http_request *req, struct str name, struct str *ret_value);
/* Percent-decodes into the arena; false for a bad escape, and for %00. */
bool http_decode(struct arena *arena, struct str text, bool plus_is_space, struct str *ret_text);

/* The handler holds so many bytes more in the request's arena than were sent; false: all requests
 * together would hold too much. Until the answer. */
bool http_request_hold(struct http_request *req, size_t bytes);
/* The caller has shown who it is: its connection is no stranger's from now on. A stranger has less
 * time to ask for something, and makes room when there are too many connections. True: it was one
 * until now. */
bool http_request_vouch(struct http_request *req);
/* The connection counts there until it closes. Once for each. */
void http_request_count(struct http_request *req, atomic_size_t *among);

/* Where it comes from. */
struct http_origin http_request_origin(const struct http_request *req);
/* Closes the connection as if the client had left, from the loop; until then the request stays its
 * handler's. */
void http_request_drop(struct http_request *req);

/* Answers and gives the request back; req is gone afterwards. */
void http_respond(struct http_request *req, const struct http_answer *answer);

/* Starts an endless answer (server-sent events). The request stays the handler's until
 * http_stream_close. To HEAD only the head is sent; writes answer RC_UNREACHABLE. */
void http_stream_open(struct http_request *req, const char *content_type);
/* RC_BUSY when the reader is too slow: with these bytes more than stream_bytes_max would be unsent,
 * so nothing was added. RC_UNREACHABLE when it has left. */
enum rc http_stream_write(struct http_request *req, struct str bytes);
size_t http_stream_unsent(const struct http_request *req);
/* Sends what is left, ends the answer and gives the request back. */
void http_stream_close(struct http_request *req);
/* Gives the request back and closes the connection in the middle of the answer, so that its reader
 * knows that something is missing. */
void http_stream_abort(struct http_request *req);
