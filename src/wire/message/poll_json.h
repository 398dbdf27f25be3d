/* poll_json.h - the worker protocol in JSON: registration, polls and their replies.
 *
 * Both directions of both sides: the server parses requests and prints replies, a worker does the
 * reverse. The server is strict: every problem of a request is reported with its field, unknown
 * fields too. A worker passes over members it does not know, so that an older worker survives a
 * newer server. Parsed text points into the source or lives in the arena. */
#pragma once
#include "job/poll.h"
#include "wire/json/json.h"
#include "wire/json/problem.h"

/* Of a server of before they were said: its defaults. */
enum { WELCOME_OUTAGE_GRACE_MS = 60000, WELCOME_FORGET_MS = 300000 };

/* The answer to a worker that registers. */
struct welcome {
    uint64_t worker_id;
    int64_t lease_ms;             /* how long a lease lasts without being renewed */
    int64_t park_ms;              /* the longest useful wait_ms */
    int64_t kill_grace_ms;        /* between TERM and KILL */
    int64_t output_bytes_max;     /* kept of one attempt's output */
    int64_t checkpoint_bytes_max; /* of one checkpoint; 0: a server that keeps none */
    int64_t checkpoint_ms;        /* how often to look whether a command has written one */
    int64_t outage_grace_ms;      /* how long a server may keep leases alive without its store */
    int64_t forget_ms;            /* a worker silent for this long must register again */
};

/* ---- the server's side; errors start zeroed, RC_INVALID when there is one */

/* `commands` defaults to true for a worker without handlers (what else would it do), else false. */
enum rc hello_parse(const struct json *doc, struct arena *arena, struct hello *ret_hello,
                    struct field_errors *errors);
void welcome_print(struct buf *out, const struct welcome *welcome);

/* worker_id stays 0: it stands in the URL. */
enum rc poll_parse(const struct json *doc, struct arena *arena, struct poll *ret_poll,
                   struct field_errors *errors);
void poll_reply_print(struct buf *out, const struct poll_reply *reply);

/* ---- the worker's side; RC_INVALID and a sentence */

void hello_print(struct buf *out, const struct hello *hello);
enum rc welcome_parse(struct str text, struct arena *arena, struct welcome *ret_welcome,
                      struct err *err);

void poll_print(struct buf *out, const struct poll *poll);
enum rc poll_reply_parse(struct str text, struct arena *arena, struct poll_reply *ret_reply,
                         struct err *err);
