/* handler.h - handler jobs, run by functions of a program instead of commands.
 *
 * A program says which handlers it knows and is called for every lease. It answers at once, by what
 * the callback returns, or later, by `handler_done`. The conversation is the session's
 * (`session.h`): results are gathered and thousands of leases come with one reply, so an answer
 * costs microseconds. */
#pragma once
#include "job/poll.h"

#include <uv.h>

struct handler_worker;

struct handler_options {
    struct str url; /* of one or more servers, separated by commas */
    struct str token;
    struct str name;
    uint32_t slots; /* calls at once, 1 to POLL_SLOTS_MAX */
    const struct str *handlers;
    size_t handler_count;
    const struct str *queues; /* none: all */
    size_t queue_count;

    /* Runs a lease, whose texts are borrowed for the call. The name of the handler is in
     * lease->spec; see handler_name. Returns the outcome, or OUTCOME_NONE when handler_done will
     * tell. */
    enum outcome (*on_call)(void *arg, const struct poll_lease *lease);
    /* The server wants it ended, or the lease ran out: its outcome is still due. May be NULL. */
    void (*on_stop)(void *arg, uint64_t exec_id, uint64_t token, struct str reason);
    /* After handler_worker_drain, or when the server drains us: nothing is left to do or to tell.
     * May be NULL. */
    void (*on_drained)(void *arg);
    void *arg;
};

/* Starts at once, on the loop; options are copied. */
enum rc handler_worker_new(uv_loop_t *loop, const struct handler_options *options,
                           struct handler_worker **ret_worker, struct err *err);
/* Not from a callback. Leases that are out are lost; the loop must run once more. NULL is fine. */
void handler_worker_free(struct handler_worker *w);
/* Takes nothing new. */
void handler_worker_drain(struct handler_worker *w);

/* How a call that returned OUTCOME_NONE ended. Texts are copied. Harmless for a lease that is gone.
 * Leave usage.exit_code at -1. */
void handler_done(struct handler_worker *w, const struct poll_result *result);

/* Which handler a lease is for; reads lease->spec, so a worker with one handler need not ask. The
 * name lives in arena, and is empty when the spec makes no sense. */
struct str handler_name(const struct poll_lease *lease, struct arena *arena);
