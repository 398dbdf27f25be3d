/* http_conn.h - one connection of the server, from accept to close.
 *
 *     READING --> HELD ----------> SENDING --> READING        the client may ask again
 *                   \-> STREAMING -/      \-> ENDING --> LINGERING --> CLOSING --> CLOSED
 *
 * READING waits for a request or for the rest of one. While HELD or STREAMING a handler has the
 * request. SENDING and ENDING wait until the socket has taken the answer; behind the last answer
 * LINGERING waits for the client's own end, because closing a socket that still has bytes to read
 * makes the kernel send a reset, which may destroy the answer on its way.
 *
 * From everywhere a broken socket leads to CLOSING. A connection is freed when it is CLOSED and no
 * handler has its request, so an answer that comes too late finds everything it touches. */
#pragma once
#include "base/list.h"
#include "wire/http/http.h"
#include "wire/http/http_out.h"
#include "wire/http/http_parse.h"
#include "wire/http/http_text.h"

enum { HTTP_READ_BYTES = 65536 };

enum http_conn_state {
    HTTP_CONN_READING,
    HTTP_CONN_HELD,
    HTTP_CONN_STREAMING,
    HTTP_CONN_SENDING,
    HTTP_CONN_ENDING,
    HTTP_CONN_LINGERING,
    HTTP_CONN_CLOSING,
    HTTP_CONN_CLOSED,
};

struct http_conn {
    uv_tcp_t tcp;
    struct http_server *server;
    struct list_node node;    /* in server->conns */
    struct list_node ready;   /* in server->ready, while `rest` can be read */
    struct list_node strange; /* in server->strangers, until somebody vouches for it */
    struct http_parser *parser;
    struct http_request req;
    struct http_out out;
    uv_shutdown_t shutdown;
    enum http_conn_state state;
    uint64_t deadline_ms;   /* uv_now's clock; 0: none */
    size_t unsent_seen;     /* at the last look, to tell a slow reader from a dead one */
    size_t body_seen;       /* when the deadline of the body was set */
    uint64_t body_since_ms; /* when it began; uv_now's clock */
    struct http_origin origin;
    bool vouched;         /* no stranger's */
    atomic_size_t *among; /* one less when it closes; NULL: it counts nowhere */
    size_t counted_bytes; /* as the quota knows, in the share of those like it */
    struct buf rest;      /* pipelined bytes, behind the request under way */
    size_t rest_used;
    bool held;   /* a handler has the request */
    bool paused; /* not reading: enough in `rest` */
    bool eof;    /* the client will send no more */
};

struct http_server {
    uv_loop_t *loop;
    struct http_limits limits;
    http_handler *handler;
    http_refusal *refusal;
    http_gate *gate;       /* NULL: everything is read */
    http_witness *witness; /* NULL: nobody counts */
    void *arg;
    uv_tcp_t listener;
    uv_timer_t sweep; /* one for all deadlines: restarting a timer per request is not free */
    uv_idle_t resume; /* runs while `ready` has connections */
    size_t handles;   /* of the three above, those still open */
    struct list conns;
    struct list ready;
    struct list strangers;        /* the oldest first */
    struct http_quota *own_quota; /* when nobody shares one with us */
    size_t open_count;            /* connections with an open socket */
    struct buf head;              /* scratch, for composing an answer's head */
    char date[HTTP_DATE_MAX];
    size_t date_len;
    time_t date_at;
    bool listening;
    bool draining;
    bool closing;
    void (*on_closed)(void *arg);
    void *closed_arg;
    char read_bytes[HTTP_READ_BYTES]; /* shared by all: what is read is parsed at once */
};

/* ---- http_conn.c */

/* Accepts from the server's listener. */
void http_conn_accept(struct http_server *s);
/* Goes on with pipelined requests. */
void http_conn_resume(struct http_conn *c);
/* Acts on a deadline that has passed. */
void http_conn_expire(struct http_conn *c);
/* It is idle, and nothing is lost by closing it. */
bool http_conn_is_idle(const struct http_conn *c);
/* May be called in any state. Handlers hear of it later, from the loop. */
void http_conn_close(struct http_conn *c);
/* Sends or queues; a broken socket leads to CLOSING. */
void http_conn_send(struct http_conn *c, const struct str *parts, size_t count);
/* Whether so many bytes may wait for their reader: of strangers all together may hold only so
 * much. */
bool http_conn_has_room(struct http_conn *c, size_t bytes);
/* Whether another request may follow on this connection. */
bool http_conn_may_go_on(const struct http_conn *c);
/* The answer is complete and the request is the connection's again. */
void http_conn_give_back(struct http_conn *c, bool last);

/* ---- http_answer.c */

/* Answers what is not worth a handler's time, and ends the connection. */
void http_conn_refuse(struct http_conn *c, int status, const char *reason);

/* ---- http.c */

/* A connection was freed. */
void http_server_forget(struct http_server *s);
/* A connection has pipelined bytes to go on with. */
void http_server_wake(struct http_server *s, struct http_conn *c);
