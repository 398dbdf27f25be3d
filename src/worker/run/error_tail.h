/* error_tail.h - the end of what an attempt printed to its stderr, in bounded memory. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"

/* Zeroed: empty. Takes memory with the first byte. */
struct error_tail {
    struct buf bytes; /* twice as much as is kept at most, so that moving it is rare */
};

void error_tail_add(struct error_tail *tail, struct str bytes);
/* The part that is worth keeping (failure_tail), as text that can be sent: without control
 * characters but line breaks and tabs, and with '?' for what is no UTF-8. */
struct str error_tail_text(const struct error_tail *tail, struct arena *arena);
void error_tail_free(struct error_tail *tail);
