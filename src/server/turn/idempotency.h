/* idempotency.h - requests that may be sent again: the key, where it counts, and what it stands
 * for.
 *
 * The key is the client's; it counts among the requests of the same caller. It stands for a hash of
 * the request in its canonical form, so that a document which says the same in other words is the
 * same. engine/submit/idempotency.c does the rest. */
#pragma once
#include "server/call/request.h"
#include "server/turn/idempotency_hash.h"

/* Takes the Idempotency-Key of a POST into r->idempotency_key. False: it is not one, or has no
 * place here, and the request is answered. */
bool idempotency_read_header(struct request *r, bool has_place);

/* The key is empty when the sender gave none: then nothing is remembered. */
struct once idempotency_of_job(const struct request *r, struct str key,
                               const struct submission *item);
/* The same for a call of which its path and these parts say all, with the key of the header. */
struct once idempotency_of_call(const struct request *r, const struct str *parts, size_t count);
