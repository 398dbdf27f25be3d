/* read.h - what a server is asked for a plan. */
#pragma once
#include "cli/cli.h"
#include "plan/world.h"

struct world_wish {
    bool without_workers; /* the slots are given: no key for workers is needed */
    bool definitions;     /* nothing but jobs, calendars and the slots ahead */
};

/* Fills a world that is open. RC_TOO_LARGE: there is more than a plan takes. */
enum rc world_read(struct world *world, struct cli *cli, const struct world_wish *wish,
                   struct err *err);
