/* api.h - calls to the server's API, for the command line.
 *
 * Blocking, one after the other. A problem that the server answers comes back as an error like any
 * other: its detail is the sentence, the fields it complains about go to `cli->details`, and the
 * status decides the code and with it the exit code. */
#pragma once
#include "cli/cli.h"
#include "wire/json/json.h"

/* path is what follows /api/v1. An empty body is none. *ret_json is the answer, and its `raw` the
 * text of it; both live in the run's arena. */
enum rc api_call(struct cli *cli, const char *method, struct str path, struct str body,
                 struct json *ret_json, struct err *err);
/* The same under a condition, "If-Match" say, which is sent with "*". RC_STALE when it is not
 * met. */
enum rc api_call_if(struct cli *cli, const char *condition, const char *method, struct str path,
                    struct str body, struct json *ret_json, struct err *err);
/* POSTs under an Idempotency-Key: however often it is sent, it is done once. */
enum rc api_call_once(struct cli *cli, const char *key, struct str path, struct str body,
                      uint64_t timeout_ms, struct json *ret_json, struct err *err);
enum rc api_get(struct cli *cli, struct str path, struct json *ret_json, struct err *err);

/* GETs something long and hands it over in pieces. RC_UNREACHABLE also when it breaks off. */
struct api_stream {
    struct str path;
    struct str accept;
    struct str last_event_id;
    /* An error ends the stream, and is what api_stream returns. */
    enum rc (*on_data)(void *arg, struct str piece, struct err *err);
    void *arg;
};
enum rc api_stream(struct cli *cli, const struct api_stream *stream, struct err *err);
/* The longest silence of a stream (BELFRY_STREAM_IDLE). */
uint64_t api_stream_idle_ms(void);

/* A list, page by page until `limit` items were handed over (0: all) or the end. */
struct api_list {
    const char *path; /* "/jobs" */
    const char *key;  /* the member of the answer that holds the items: "jobs" */
    struct str query; /* "status=failed&queue=mail", encoded; may be empty */
    uint64_t limit;
    bool whole; /* the server gives all of it in one piece, and takes no parameters */
};
/* Where a list stopped. */
struct api_rest {
    uint64_t given;
    bool more; /* there are, beyond the limit */
    struct str
        cursor; /* where they begin; empty at the end, and when the server gives no cursors */
};
/* The item lives in the run's arena, as ret_rest does, which may be NULL. */
typedef void api_sink(void *arg, const struct json *item);
enum rc api_list(struct cli *cli, const struct api_list *list, api_sink *sink, void *arg,
                 struct api_rest *ret_rest, struct err *err);

/* Adds a text percent-encoded: for a part of a path that a user typed. */
void api_add_encoded(struct buf *out, const char *text);
/* Adds "name=value" to a query, percent-encoded; a NULL value adds nothing. */
void api_add_param(struct buf *query, const char *name, const char *value);

/* The body {"reason": …}, or none for a NULL. */
struct str api_reason(const char *reason, struct arena *arena);

/* What the only word on the command line stands for: an id, a job's name, or a part of an id. Only
 * what is no id is asked for. RC_INVALID unless there is exactly one word. */
enum rc api_target(struct cli *cli, struct cli_target *ret_target, struct err *err);
/* The id of the job that a text stands for, in the same way. */
enum rc api_job_id(struct cli *cli, struct str text, struct str *ret_id, struct err *err);

/* The id of the worker that a text stands for: an id, a part of one, or a worker's name. RC_INVALID
 * when it stands for several (worker_id.c). */
enum rc api_worker_id(struct cli *cli, struct str text, struct str *ret_id, struct err *err);

/* The id of the target's execution: itself, or of a job the newest one whose time has come; before
 * that, the one that waits for it. */
enum rc api_execution_of(struct cli *cli, const struct cli_target *target, struct str *ret_id,
                         struct err *err);

/* Why the target does not run: the answer of its /explain. */
enum rc api_explain(struct cli *cli, const struct cli_target *target, struct json *ret_json,
                    struct err *err);

/* The text of a member, or an empty one when it is missing or no text. */
struct str api_text(const struct json *object, struct str key);

/* Prints what became of the thing with this id: "job_… paused", or the whole answer as JSON. */
void api_print_status(struct cli *cli, struct str id, const struct json *answer);

/* Turns a problem document (or a part of a batch's answer) into an error, with the fields it names
 * in cli->details. */
enum rc api_problem(struct cli *cli, int status, const struct json *problem, struct err *err);

/* The body that limits a queue or a team: a number, or "none". RC_INVALID for anything else. */
enum rc api_limit_body(struct cli *cli, const char *text, struct str *ret_body, struct err *err);
