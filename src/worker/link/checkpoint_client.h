/* checkpoint_client.h - carries checkpoints between attempts and the server.
 *
 * One connection of its own and one errand at a time, so that a worker with a thousand slots holds
 * one checkpoint in memory and not a thousand: a checkpoint is read when its turn to be saved has
 * come. While the server cannot be reached an errand waits; when the server answers that it is in
 * trouble, it is tried again a few times, behind the others. */
#pragma once
#include "base/buf.h"
#include "base/list.h"

#include <uv.h>

struct failover_client;
struct checkpoint_client;

enum errand_kind { ERRAND_FETCH, ERRAND_SAVE };

enum errand_end {
    ERRAND_DONE,
    ERRAND_LOST,   /* the lease is not ours, or not any more */
    ERRAND_FAILED, /* the server will not do it */
};

/* The caller's own; must stay until on_done, or until it was cancelled. */
struct errand {
    enum errand_kind kind;
    uint64_t worker_id; /* whom the lease was given to */
    uint64_t exec_id;
    uint64_t token;
    size_t bytes_max; /* ERRAND_SAVE: of the body */
    /* ERRAND_SAVE: puts what to save into *body, anew for every try; a body of nothing takes the
     * checkpoint back. False: there is nothing to save after all, which ends the errand as done. */
    bool (*fill)(void *arg, struct buf *body);
    /* Called by the loop. text: the bytes that were fetched, or why it failed. */
    void (*on_done)(void *arg, enum errand_end end, struct str text);
    void *arg;

    /* the checkpoint_client's own */
    struct list_node node;
    unsigned refusals;
};

/* RC_INVALID, RC_UNSUPPORTED: as http_client_new says about the URL. */
enum rc checkpoint_client_new(uv_loop_t *loop, struct str url, struct str token,
                              struct checkpoint_client **ret_courier, struct err *err);
/* Errands that wait are forgotten; the loop must run once more. NULL is fine. */
/* Which may be told of other servers. */
struct failover_client *checkpoint_client_link(struct checkpoint_client *c);
void checkpoint_client_free(struct checkpoint_client *c);

void checkpoint_client_send(struct checkpoint_client *c, struct errand *errand);
/* It is not heard of again, although what is under way may still arrive. Harmless for one that
 * is not on its way. */
void checkpoint_client_cancel(struct checkpoint_client *c, struct errand *errand);
