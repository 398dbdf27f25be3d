/* check.h - what must hold between any two turns, for the engine's tests.
 *
 * Places follow from values, nobody waits in vain, and the engine holds exactly what the table
 * (which only knows the deltas) says it should. */
#pragma once
#include "engine/core/model.h"
#include "engine/test/table.h"

/* Of the engine alone: heaps, lists and sums follow from values, and nothing is left over from the
 * turn (check_places.c). */
void check_places(const struct engine *e);

/* The engine holds what the table says is unfinished, within its horizon and its partitions. */
void check_table(const struct engine *e, const struct table *t);

/* So it is with all there ever was: slots have one outcome each, and counters are the real numbers.
 * The table is only read. */
void check_history(const struct engine *e, struct table *t);
