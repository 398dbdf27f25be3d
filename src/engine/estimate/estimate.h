/* estimate.h - when something that waits is likely to start.
 *
 * A guess from what memory knows: the work before it, the places that serve it (slots of workers,
 * limits) and how long runs usually take a place, its rate, its breaker, its calendars. It costs a
 * submission next to nothing: the work ahead is counted as far as a screen, slots once a second.
 * Where nothing can be said the estimate says why, in the words of explanations. */
#pragma once
#include "job/explain.h"

struct engine;
struct exec;
struct job;

/* How long a run in the execution's lane took its place: what follows learns from it. */
void estimate_learn(const struct exec *x, int64_t took_ms);
/* Between turns too; what it counts is memory only. */
struct estimate estimate_start(struct engine *e, const struct exec *x);
/* Counts the slots of all classes of workers (worker_class.h), unless that was done just now. */
void estimate_slots(struct engine *e);
