/* worker_views.h - what the API shows of workers: CMD_WORKERS, CMD_WORKER. */
#pragma once
#include "job/command/command.h"

struct engine;
struct worker;

/* Without what it runs; its texts are in the arena. */
struct worker_view worker_view_of(const struct engine *e, const struct worker *w,
                                  struct arena *arena);
void decide_workers(struct engine *e, struct command *cmd);
/* One, with what it runs of what is decided here. */
void decide_worker(struct engine *e, struct command *cmd);
