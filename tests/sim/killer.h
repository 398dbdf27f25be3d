/* killer.h - a job that takes down the worker it runs on, and the server that gave it away.
 *
 * Such a job leaves no trace but leases that ended in silence, and would go on for ever. It is promised that it
 * is given up: at its second death it is a suspect, and from then on each death is counted as a loss; one that
 * outlives its probation before it kills goes free for longer, but not for ever. On days that have one
 * (scene.killer_ms) nothing else goes wrong. */
#pragma once
#include "worker.h"

/* This execution is the one. */
bool killer_is(struct world *w, uint64_t exec_id);
/* A run of it has just begun. */
void killer_starts(struct world *w, struct sim_worker *k, const struct sim_run *run);
