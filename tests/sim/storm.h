/* storm.h - days on which one thing goes wrong at a time, with fair weather before and after it.
 *
 * On most days of a cluster everything may happen at once, and only what must never happen can be
 * promised. On a day of storms messages arrive and nobody is frozen; a storm comes, does its work, and
 * leaves time to recover. So it can be promised what has to happen, and by when:
 *
 * - no run dies of a storm that is shorter than the grace, nor of any number of lines that are cut when
 *   another way remains;
 * - no partition is without a server that decides about it for longer than the lease of a node and
 *   three seconds;
 * - work that waits in fair weather, and may start, is started while a worker has room for it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct world;
struct sim_server;
struct sim_worker;

struct storm {
    int64_t until_ms;                /* boot clock, as are these: the newest storm rages, … */
    int64_t fair_ms;                 /* … and has been recovered from by now */
    int64_t mercy_ms;                /* runs may die of it until then: … */
    const struct sim_worker *victim; /* … those of this worker; NULL: of any, … */
    uint64_t spared;                 /* … but none of these partitions */
    int64_t decided_ms[16];          /* when each partition was decided about last */
};

/* The first storm of the day is on its way. */
void storm_begin(struct world *w);
/* The day has had enough of them, and none rages now. */
bool storm_is_over(const struct world *w);
/* Server and worker are alone with each other. */
void storm_split(struct world *w, const struct sim_server *s, const struct sim_worker *k,
                 int64_t for_ms);
/* A worker kills a run whose lease nobody has renewed. */
void storm_run_dies(struct world *w, const struct sim_worker *k, uint64_t exec_id, uint64_t token);
