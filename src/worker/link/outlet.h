/* outlet.h - a connection for what any server takes: output and checkpoints.
 *
 * One call at a time. It stays with one server while that answers; after a failure the next call goes
 * to another, if somebody knows one. */
#pragma once
#include "wire/client/client.h"

struct outlet;

/* `now` is where the last call went, which may have failed. The answer is copied. */
typedef struct str outlet_pick(void *arg, struct str now, bool failed);

/* url: the first address, and the only one unless outlet_guide says who knows others. It may be a list
 * with commas, of which that is the first. */
enum rc outlet_new(uv_loop_t *loop, struct str url, struct str token, struct outlet **ret_outlet,
                   struct err *err);
void outlet_guide(struct outlet *o, outlet_pick *pick, void *arg);
/* As http_client_send; not from within on_done. */
void outlet_send(struct outlet *o, const struct http_call *call);
/* The last call was of no use: the next one goes elsewhere. */
void outlet_failed(struct outlet *o);
void outlet_abort(struct outlet *o);
/* Aborts, closes and frees; the loop must run once more. NULL is fine. */
void outlet_free(struct outlet *o);
