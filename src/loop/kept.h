/* kept.h - texts that are kept for a while, by a key: answers that cost more to make than to keep.
 *
 * A few of them, the newest; the oldest makes room. May be called from every thread. */
#pragma once
#include "base/buf.h"

enum { KEPT_MAX = 16, KEPT_BYTES_MAX = 1 << 20 };

struct kept;

struct kept *kept_new(int64_t keep_ms);
void kept_free(struct kept *kept); /* NULL is fine */
/* Adds the text that was put under that key at most keep_ms ago; false when there is none. */
bool kept_get(struct kept *kept, struct str key, struct buf *out);
/* A text of more than KEPT_BYTES_MAX is not kept. */
void kept_put(struct kept *kept, struct str key, struct str text);
