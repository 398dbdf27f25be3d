/* forecast.h - when what waits is going to start, by one look at all of it.
 *
 * A forecast copies what the engine holds into a play (play.h): the tracks in which something
 * waits, the slots of the worker classes that serve them, the limits that they have, and how
 * long the runs under way will go on; and plays it through. From then on each question is
 * answered by looking up a rank. A forecast serves until enough has changed for its cost to be
 * worth it: it is made anew when it is old, or when as many questions were asked as it took
 * steps. So many submissions in a row pay for few forecasts, and none is made while nobody asks,
 * or while slots are free.
 *
 * Left out: failures, and single jobs that will be submitted or become due later; what keeps
 * coming to a track in which something waits is in it. Of very many tracks, classes, limits and
 * runs the first are copied. The others wait in a line of their own. */
#pragma once
#include "engine/estimate/play.h"

#include <stdbool.h>

struct engine;
struct exec;
struct forecast;
struct worker;

void forecast_free(struct forecast *f);
/* The next question needs a new one: what it copied did not happen. NULL is fine. */
void forecast_drop(struct forecast *f);

/* The slots that serve an execution, and how many of them are free. */
struct served {
    int64_t slots;
    int64_t free;
};

/* How long from now until the execution's turn comes, by slots and by limits; false when it is not
 * known how long anything takes. Some worker has to serve it. */
bool forecast_wait_ms(struct engine *e, const struct exec *x, struct rank rank,
                      const struct served *served, int64_t *ret_ms);

/* The slots of this worker that this server is likely to fill. Several servers share a fleet:
 * each is offered what is free where its work waits, and an even part where none does
 * (worker/link/credits.h). So it is what we have of the worker, and while slots are offered that
 * nothing of ours wants, what others are offered besides. */
int64_t worker_own_slots(const struct engine *e, const struct worker *w);
