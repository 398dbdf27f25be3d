/* delta_text.h - a delta as text, in which two decisions about the same commands are alike: an id
 * that the turn made is its number among those the text has named so far. */
#pragma once
#include "base/buf.h"
#include "job/record/record.h"

/* newest_id: larger ones are new. */
void print_delta(struct buf *out, struct arena *arena, const struct delta *d, uint64_t newest_id);
