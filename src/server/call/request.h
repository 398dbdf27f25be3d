/* request.h - one call of the API on its way through the server.
 *
 * A request is born on a net thread, travels as mail to the thread that can serve it (turn, query,
 * tail), comes home, and is answered there. It lives in its HTTP request's arena; the thread that
 * holds it may use that arena, and nobody else touches it meanwhile. */
#pragma once
#include "base/id.h"
#include "base/log.h"
#include "job/command/command.h"
#include "job/record/alert_filter.h"
#include "loop/mailbox.h"
#include "server/call/context.h"
#include "server/call/times.h"
#include "wire/http/http.h"
#include "wire/json/json.h"
#include "wire/json/problem.h"

/* The kinds of mail to a net thread. */
struct parcel {
    struct mail mail;
    void (*deliver)(struct parcel *parcel);
};

struct net;
struct route;
struct request;
struct follow;
struct checkpoint_call;
struct net_stream;
struct snapshot;
struct series_call;
struct forward;
struct gathering;
struct merged_events;

typedef void request_step(struct request *r);
typedef void request_look(struct request *r, struct reader *reader);
typedef enum rc request_keep(struct request *r, struct store *store, struct err *err);
typedef enum rc request_send(struct output_log *log, struct request *r);
typedef enum rc name_check(struct str name, struct arena *arena, struct field_errors *errors);

#define JSON_TYPE "application/json"
#define BYTES_TYPE "application/octet-stream"

enum { REQUEST_ID_MAX = 24 };

/* The page of a list that is asked for: its parameters, and how many entries there are in all. */
struct list_call {
    struct filter filter;
    struct alert_filter alerts; /* of alerts, instead of that */
    struct page page;
    enum job_sort sort;       /* of jobs; other than the newest first, … */
    struct sort_place behind; /* … this instead of page.before */
    bool want_total;
    int64_t total; /* -1: not asked for */
    bool total_is_estimate;
    int64_t as_of_ms; /* the total */
};

/* The members that are asked for by `fields` (shown.h). */
struct shown_call {
    const struct str *keys; /* NULL: all that are usual */
    size_t count;
    bool reads_apart;  /* something beside the records has to be read */
    bool outcomes;     /* last_outcomes is among them, … */
    bool pace;         /* … or p50_duration_ms, … */
    bool waits;        /* … or depends_on in a list, … */
    bool estimate;     /* … or when it is likely to start */
    struct str costly; /* one of the first three, if any */
};

/* Pieces of output to keep, and the worker that they come from. */
struct output_call {
    struct log_chunk *chunks;
    size_t count;
    uint64_t worker_id;
    bool of_ping; /* of a run elsewhere, which no worker had: a turn has just named it */
};

/* How the body of an answer is sent (represent.h). */
struct representation {
    const char *type;    /* NULL: JSON */
    struct str tag;      /* its ETag, quotes included; empty: none, or the version alone */
    struct str location; /* the path of what was made */
    bool by_look;        /* a query thread prints the body */
    bool is_made;        /* represent_body has looked at the body: … */
    bool is_packed;      /* … it is gzip, … */
    bool is_known;       /* … the client has it already, … */
    bool varies;         /* … or it could have been gzip */
    bool is_replayed;    /* it was given before, to the first request with that key */
    struct str cookie;   /* what the browser shall keep; empty: as it is */
    int retry_s;         /* when to come again; 0: soon */
};

struct request {
    struct parcel parcel; /* first: mail of threads that know requests only */
    struct http_request *http;
    struct arena *arena; /* the HTTP request's */
    struct server *server;
    struct net *net; /* where it came from and goes back to */
    const struct route *route;
    const struct principal *who;
    const struct session *session; /* of the browser that asks; NULL: a key does (browser.h) */
    struct str id;                 /* the part of the path that a route's {} stands for … */
    struct str sub_id;             /* … and its second one */
    bool by_name;                  /* the first one is a job's name, whatever it looks like */
    bool is_unpacked;              /* the body was gzip, and is not any more */
    struct str idempotency_key;    /* of the header Idempotency-Key; empty: none */
    char request_id[REQUEST_ID_MAX];
    struct request_times times;

    /* Among other servers. */
    bool by_server;              /* another one sent it, for its caller: not to be forwarded */
    struct forward *forward;     /* on its way to another one */
    struct gathering *gathering; /* while all of them are asked: takes the answer */

    /* On its way through our threads. */
    struct command cmd;            /* for the turn */
    union {                        /* for the thread that it is sent to, if that is not the turn */
        request_look *look;        /* called by a query thread */
        request_keep *keep;        /* called by the turn's thread, between two turns */
        struct output_call output; /* for the output log: what to keep, … */
        struct checkpoint_call *checkpoint; /* … what to do with a checkpoint, … */
        struct series_call *series;         /* … what to print of the last hour, … */
        struct follow *follow;              /* … or what to send on and on */
    };
    request_step *home; /* on the net thread, when it comes back */
    request_step *done; /* then, if that thread did its part */
    enum rc rc;         /* of a look, or of the output log */
    struct err err;
    const struct field_errors *errors; /* instead of err: the errors of each parameter */
    struct list_call list;
    struct shown_call shown;
    struct snapshot *snapshot; /* from the board, until `done` has been called */
    void *own;                 /* a handler's own, between its steps */

    /* The answer. */
    struct buf body;              /* owned: the printed answer, freed with it */
    uint32_t version;             /* of the job that is answered, told as its ETag; 0: none */
    struct representation form;   /* how the body is sent */
    struct net_stream *stream;    /* while it is an endless one … */
    struct merged_events *events; /* … or the events of all servers */
};

/* ---- sending it somewhere; on the net thread. A full mailbox is answered 503 at once.
 *
 * It comes back to `done` when it was done; else the problem is answered before that. */

/* To the turn, with the command of its route filled in. */
void request_to_turn(struct request *r, request_step *done);
/* The same with another command than its route's. */
void request_to_turn_as(struct request *r, enum command_kind kind, request_step *done);
/* The same, but it also comes to `done` when the turn has refused it, with cmd.reply.rc. */
void request_to_turn_refusable(struct request *r, enum command_kind kind, request_step *done);
/* For the numbers of this server, into cmd.reply.stats: as they are, or as they were at
 * cmd.reply.at_ms, at most stats_age_ms ago. The turn is asked once for all who wait. */
void request_to_board(struct request *r, request_step *done);
/* The same for how many wait for what (cmd.reply.waits), at most waits_age_ms ago. */
void request_to_waits(struct request *r, request_step *done);
/* To a query thread, which calls look; answered with r->body, or with the problem of r->rc. */
void request_to_query(struct request *r, request_look *look);
/* The same, but it is not answered yet. */
void request_to_query_first(struct request *r, request_look *look, request_step *done);
/* To the thread that has the store, which calls keep between two turns: for the few things that are
 * kept beside what the engine decides. */
void request_to_store(struct request *r, request_keep *keep, request_step *done);
/* To the output log, by one of the functions in output_log.h. */
void request_to_output_log(struct request *r, request_send *send, request_step *done);
/* To the thread of scrapes, which prints the metrics into r->body. */
void request_to_scraper(struct request *r, request_step *done);
/* Home again, from any thread. */
void request_send_home(struct request *r);
/* For log_set_about: the ids that each line about a request carries. arg: the request, held by the
 * thread that writes. */
size_t request_about(void *arg, struct log_field ret_fields[LOG_ABOUT_MAX]);

/* All values of a header that may be there several times, with commas between; in the arena. */
struct str request_header_joined(struct request *r, struct str name);
/* The trace that the caller asks in, as executions keep it; empty: it gave none, or one that makes
 * no sense, which is the same. */
struct str request_trace(struct request *r);

/* ---- answering; on the net thread; ends the request */

void request_answer(struct request *r, int status, struct str json);
/* The path of a thing that was made, for r->form.location: of this collection, with this id. */
struct str request_location(struct request *r, const char *collection, struct str id);
/* Bytes that are nobody's business. */
void request_answer_bytes(struct request *r, struct str bytes);
void request_answer_empty(struct request *r, int status);
/* The answer is printed into r->body, which starts empty, and is then given. */
struct json_writer request_writer(struct request *r);
void request_answer_body(struct request *r, int status);
void request_problem(struct request *r, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The problem that a code stands for. */
void request_fail(struct request *r, enum rc rc, const char *detail);
void request_fail_fields(struct request *r, const struct field_errors *errors);

/* ---- reading it; each answers the problem itself when it returns false */

/* The client takes this type (Accept), else 406. */
bool request_accepts(struct request *r, const char *type);
/* r->http->body is from now on what was meant: gzip is unpacked, within the limit of what comes
 * out. The calls below do that themselves. */
bool request_unpack(struct request *r);
/* The body as JSON. An empty one is refused unless optional, which then gives an empty object. */
bool request_json(struct request *r, bool optional, struct json *ret_doc);
/* The same for a merge patch, which may also be called what it is
 * (application/merge-patch+json). */
bool request_merge_patch(struct request *r, struct json *ret_doc);
/* The body of a command about one thing, into r->cmd.target: absent, or {"reason": "…"}. */
bool request_reason(struct request *r);
/* The id in the path. A well-formed id of another kind is 404 as well as an unknown one. */
bool request_path_id(struct request *r, const char *prefix, uint64_t *ret_id);
bool request_path_sub_id(struct request *r, const char *prefix, uint64_t *ret_id);
/* The name in the path, as it was meant, checked; field is what a problem calls it. */
bool request_path_name(struct request *r, const char *field, name_check *check,
                       struct str *ret_name);
/* Of a call about one thing: there are no parameters, and the path has an id of its route's
 * subject, which goes into r->cmd.target. */
bool request_target(struct request *r);
/* All parameters are among the names (NULL-ended) that this call knows, are there once, and have a
 * value that can be read: none is passed over. */
bool request_params_known(struct request *r, const char *const *names);
/* The same, but those in `repeats` may be there several times. */
bool request_params_repeat(struct request *r, const char *const *names, const char *const *repeats);
/* Each parameter that is there, decoded, from the query on: of calls whose parameters are known.
 * False: there is no more. */
bool request_next_param(struct request *r, struct str *rest, struct str *ret_name,
                        struct str *ret_value);
/* There are none. */
bool request_no_params(struct request *r);

/* The parameters `limit` and `count` of a list, into r->list. Problems are added
 * to errors; the cursor is the list's own business. */
void request_page(struct request *r, struct field_errors *errors);
/* A parameter that is a time, or a date as its first moment in UTC; left alone when it is
 * absent. */
void request_moment(struct request *r, const char *name, int64_t *ret_ms,
                    struct field_errors *errors);
/* A parameter that bounds a filter by time, in which 0 stands for no bound; never 0 when it was
 * given. */
void request_bound(struct request *r, const char *name, int64_t *ret_ms,
                   struct field_errors *errors);
