/* shelf.h - the store of a plan: has what was read, answers from it, and forgets what has ended.
 *
 * A `struct store` as the turn knows them, with as much as a plan needs: nothing is ever lost or
 * busy, and nobody reads. All that is unfinished is in the engine's memory, so the engine asks for
 * little: whether a name is free, and for the slots of jobs that others wait for, of which the
 * newest are kept. Each delta is handed to whoever counts. */
#pragma once
#include "plan/hands.h"
#include "store/store.h"

enum { SHELF_SLOTS_KEPT = 64 /* of each job that others wait for; slots wait for newer ones */ };

struct shelf;

typedef void delta_sink(void *arg, const struct delta *delta);

/* The world must outlive it, and stays as it is; the hands too. */
struct shelf *shelf_new(const struct world *world, const struct hands *hands, delta_sink *sink,
                        void *arg);
void shelf_free(struct shelf *shelf);
struct store *shelf_store(struct shelf *shelf);
