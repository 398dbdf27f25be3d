/* agenda.h - what will happen, and when: the heart of a simulation.
 *
 * Entries are done in the order of (boot clock, when they were written down). Nothing is ever
 * crossed out: who no longer wants an entry remembers its number, and lets one with another number
 * pass. */
#pragma once
#include "base/arena.h"
#include "base/heap.h"

struct world;

typedef void agenda_act(struct world *w, void *what, uint64_t no);

struct agenda {
    struct heap heap;
    uint64_t written;
    struct agenda_entry *spare; /* used ones, to be used again */
};

void agenda_free(struct agenda *a);
/* At boot_ms (at once when that has passed), act(w, what, no). */
void agenda_add(struct world *w, int64_t boot_ms, agenda_act *act, void *what, uint64_t no);
/* Does all that comes until then, and moves the clock there. */
void agenda_live_until(struct world *w, int64_t boot_ms);
/* Moves the clock to the next entry and does it. False when there is none. */
bool agenda_step(struct world *w);
