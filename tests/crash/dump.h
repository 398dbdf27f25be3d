/* dump.h - everything a store holds, as text: the same for the same content.
 *
 * Read through the interface alone, so that one store can be compared with another, and a store
 * after a crash with what it should hold. */
#pragma once
#include "base/buf.h"
#include "store/store.h"

/* Claims are asked for by key. Lines are sorted. The store must have been owned as `own`. */
void dump_store(struct store *store, const struct ownership *own, const struct str *keys,
                size_t key_count, struct buf *out);
