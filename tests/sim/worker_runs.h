/* worker_runs.h - what runs on a simulated worker.
 *
 * A run is a moment at which it will end and a dice roll how; the model knows its job's timeout, and
 * some defy that. Its end is written into the worker's lease_set, as that of a process is. */
#pragma once
#include "worker.h"

void run_starts(struct world *w, struct sim_worker *k, const struct poll_lease *lease);
/* Those that the server wants to be stopped; some have ended by themselves. */
void runs_stop(struct world *w, struct sim_worker *k, const struct sim_link *link,
               const struct poll_reply *reply, const struct partition_set *believed);
/* Kills whatever could not be renewed in time. */
void runs_expire(struct world *w, struct sim_worker *k);
/* The same from now on, whenever there is something to kill. */
void runs_watch(struct world *w, struct sim_worker *k);
/* Kills all of them: they run for nobody. */
void runs_void(struct world *w, struct sim_worker *k);
