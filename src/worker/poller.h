/* poller.h - a worker's conversation with its server.
 *
 * Registers, then polls for ever: tells what is free, what runs and what ended, and is told what to
 * run and what to stop. Knows nothing about processes; the owner is called for every lease and
 * answers, now or later, with `poller_done`. What the owner can rely on:
 *
 * - a lease is handed over once, and its result is offered until the server has said what became
 *   of it, over any number of lost connections and restarts of the server;
 * - when a lease could not be renewed in time, on_lost comes early enough to kill what runs;
 * - results are gathered: while one poll is under way the next one fills, so thousands of short
 *   runs cost a handful of requests.
 *
 * A poll without results is parked by the server until there is work. When something ends
 * meanwhile, a newer poll on a second connection takes its place. Leases in the reply to a poll
 * that has been replaced are ignored: only the newest poll knows whether there is still room, and
 * the server sends or takes back what that poll does not name (see `docs/protocol.md`). */
#pragma once
#include "job/poll.h"
#include "wire/poll_json.h"

#include <uv.h>

struct poller;

/* Called on the loop's thread; none of them may free the poller. Texts are borrowed for the call. */
struct poller_events {
    /* After every registration; before the first lease. May be NULL. */
    void (*on_welcome)(void *arg, const struct welcome *welcome);
    /* Run it and call poller_done once, at once or later. */
    void (*on_lease)(void *arg, const struct poll_lease *lease);
    /* The server wants it ended; may come several times. poller_done is still due. */
    void (*on_stop)(void *arg, uint64_t exec_id, uint64_t token, struct str reason);
    /* The lease is about to end, or is void: kill it at once. poller_done is still due. */
    void (*on_lost)(void *arg, uint64_t exec_id, uint64_t token);
    /* Everything that runs must be dead at this moment (boot clock) unless it is moved again;
     * INT64_MAX when nothing runs. May be NULL. */
    void (*on_deadline)(void *arg, int64_t deadline_ms);
    /* The server wants us to finish and leave. Comes once; may be NULL. */
    void (*on_drain)(void *arg);
    /* After poller_drain: nothing runs and nothing is left to tell. Comes once; may be NULL. */
    void (*on_drained)(void *arg);
    void *arg;
};

/* Copied. */
struct poller_options {
    struct str url;
    struct str token;
    struct str token_file; /* for the message when the token is refused; may be empty */
    struct hello hello;
    struct poller_events events;
};

/* Starts at once. RC_INVALID, RC_UNSUPPORTED: as http_client_new says about the URL. */
enum rc poller_new(uv_loop_t *loop, const struct poller_options *options,
                   struct poller **ret_poller, struct err *err);
/* Ends the conversation without another word; the loop must run once more. NULL is fine. */
void poller_free(struct poller *p);

/* A lease ended. Texts are copied; a result for a lease that is void is dropped. */
void poller_done(struct poller *p, const struct poll_result *result);

/* Takes nothing new from now on; on_drained says when all is told. */
void poller_drain(struct poller *p);
/* True when the server answered last time we asked. */
bool poller_is_connected(const struct poller *p);
size_t poller_running(const struct poller *p);
/* Results that wait for a verdict. */
size_t poller_pending(const struct poller *p);
