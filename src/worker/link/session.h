/* session.h - a worker's conversation with its servers.
 *
 * The worker registers once, then polls every server there is, for ever: it tells which slots are
 * free, what runs and which runs ended, and is told which to start and which to stop. The session
 * knows nothing about processes; its owner is called for every lease and answers, now or later,
 * with `session_done`. The owner can rely on this:
 *
 * - a lease is handed over once, and its result is offered until a server has said what became of
 *   it, over any number of lost connections, restarts of servers and moves of partitions;
 * - when a lease could not be renewed in time, by its owner, on_lost comes early enough to
 *   kill what runs;
 * - results are gathered: while one poll is under way the next one fills, so thousands of short
 *   runs cost a handful of requests.
 *
 * One server is enough to begin; the others are found through its replies, and those that leave are
 * forgotten. Each has a poller of its own (`poller.h`) over the same lease_set. Free slots are
 * spread over them (`credits.h`); a lease too many is given back. */
#pragma once
#include "job/poll.h"
#include "wire/message/poll_json.h"

#include <uv.h>

struct session;

/* Called on the loop's thread; none of them may free the session. Texts are borrowed for the
 * call. */
struct session_events {
    /* After every registration; before the first lease. May be NULL. */
    void (*on_welcome)(void *arg, const struct welcome *welcome);
    /* Run it and call session_done once, at once or later. It must be dead at the deadline (boot
     * clock) unless that is moved. */
    void (*on_lease)(void *arg, const struct poll_lease *lease, int64_t deadline_ms);
    /* A server wants it ended; may come several times. session_done is still due. */
    void (*on_stop)(void *arg, uint64_t exec_id, uint64_t token, struct str reason);
    /* The lease is about to end, or is void: kill it at once. session_done is still due. */
    void (*on_lost)(void *arg, uint64_t exec_id, uint64_t token);
    /* The lease was renewed, and its deadline moved to this later moment. May be NULL. */
    void (*on_deadline)(void *arg, uint64_t exec_id, uint64_t token, int64_t deadline_ms);
    /* A server wants us to finish and leave. Comes once; may be NULL. */
    void (*on_drain)(void *arg);
    /* After session_drain: nothing runs and nothing is left to tell. Comes once; may be NULL. */
    void (*on_drained)(void *arg);
    void *arg;
};

/* Copied. */
struct session_options {
    struct str urls; /* one or more, separated by commas */
    struct str token;
    struct str token_file; /* for the message when the token is refused; may be empty */
    struct hello hello;
    struct session_events events;
};

/* Starts at once. RC_INVALID, RC_UNSUPPORTED: as http_client_new says about one of the URLs. */
enum rc session_new(uv_loop_t *loop, const struct session_options *options,
                    struct session **ret_session, struct err *err);
/* Ends all conversations without another word; the loop must run once more. NULL is fine. */
void session_free(struct session *c);

/* A lease ended. Texts are copied; a result for a lease that is void is dropped. */
void session_done(struct session *c, const struct poll_result *result);

/* Takes nothing new from now on; on_drained says when all is told. */
void session_drain(struct session *c);
/* True when a server answered last time we asked. */
bool session_is_connected(const struct session *c);
size_t session_running(const struct session *c);
/* Results that wait for a verdict. */
size_t session_pending(const struct session *c);

/* Where to send what any server takes, such as output: `now` while that one answers, else another
 * one that does; when none does, any other. Valid until the loop goes on. */
struct str session_pick_server(const struct session *c, struct str now, bool failed);
