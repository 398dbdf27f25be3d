/* failover_client.h - a connection for what any server takes: output and checkpoints.
 *
 * One call at a time. It stays with one server while that answers; after a failure the next call
 * goes to another, if somebody knows one. */
#pragma once
#include "wire/client/client.h"

struct failover_client;

/* `now` is where the last call went, which may have failed. The answer is copied. */
typedef struct str failover_client_pick(void *arg, struct str now, bool failed);

/* url: the first address, and the only one unless failover_client_guide says who knows others. It
 * may be a list with commas, of which that is the first. */
enum rc failover_client_new(uv_loop_t *loop, struct str url, struct str token,
                            struct failover_client **ret_outlet, struct err *err);
void failover_client_guide(struct failover_client *o, failover_client_pick *pick, void *arg);
/* As http_client_send; not from within on_done. */
void failover_client_send(struct failover_client *o, const struct http_call *call);
/* The last call was of no use: the next one goes elsewhere. */
void failover_client_failed(struct failover_client *o);
void failover_client_abort(struct failover_client *o);
/* Aborts, closes and frees; the loop must run once more. NULL is fine. */
void failover_client_free(struct failover_client *o);
