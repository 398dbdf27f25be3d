/* idempotency_hash.h - what a key stands for, without the request that it came with.
 *
 * A turn needs it for jobs that come from SQL, and has no requests. The key is empty when the
 * sender gave none: then nothing is remembered. */
#pragma once
#include "job/command/command.h"

struct once idempotency_in_scope(struct str scope, struct str key, const struct submission *item,
                                 struct arena *arena);
/* The same for a call of which these texts say all. */
struct once idempotency_of_texts(struct str scope, struct str key, const struct str *texts,
                                 size_t count, struct arena *arena);
