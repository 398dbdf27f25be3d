/* limits.h - limits whose home is where a test wants it, and decisions about the others. */
#pragma once
#include "engine/test/world.h"

/* A key of that kind whose home is in a partition of two; which: the first such key, the second, ….
 * The text lasts for fifteen more calls. */
const char *key_at(enum limit_kind kind, uint32_t partition, unsigned which);

/* Each takes a turn. */
void limit_queue(struct world *w, const char *name, uint32_t concurrency);
void limit_team(struct world *w, const char *name, uint32_t concurrency);
void pause_queue(struct world *w, const char *name, bool pause);
