/* deletions.h - whether what is old may go, for threads beside the one that decides. */
#pragma once
#include "base/when.h"

#include <stdbool.h>

/* While nothing may go, it is asked again after so long: right after a start the first turn has not
 * spoken yet. */
enum { DELETIONS_LOOK_MS = 1000 };

/* from_ms: the bound that the engine gave with its last turn (engine_deletes_from_ms), which may
 * have been before the clock was set: the next one comes a moment later, and much later when the
 * store takes nothing. So the moment itself is asked, too. wait_ms: for how long nothing goes after
 * a large step. */
bool deletions_wait(struct moment now, int64_t from_ms, int64_t wait_ms);
