/* player.h - plays what lies ahead: the real engine, by turns like those of a server, under a clock
 * that leaps from one moment at which something happens to the next.
 *
 * Nothing fails, no worker comes or goes, and nobody submits anything; each run takes what runs of
 * its job usually take. The same world gives the same plan. */
#pragma once
#include "plan/changes.h"
#include "plan/score.h"

#define PLAN_BYTES_MAX (INT64_C(256) << 20)

struct player_wish {
    uint64_t slots;    /* 0: those of the workers */
    int64_t assume_ms; /* how long runs take of jobs without history */
    uint64_t firings_max;
    struct changes *changes; /* NULL: as things are */
    /* Called now and then; NULL: nobody looks. */
    void (*on_progress)(void *arg, int64_t at_ms, uint64_t firings);
    void *arg;
};

enum stop_reason { STOP_END, STOP_FIRINGS, STOP_MEMORY };

struct player_end {
    enum stop_reason why;
    int64_t at_ms; /* what lies behind it was not looked at */
    uint64_t slots;
    uint64_t turns;
    size_t left_out; /* executions that make no sense to the engine */
};

/* Counts in an open score what happens until its window ends. */
enum rc player_run(const struct world *world, const struct player_wish *wish, struct score *score,
                   struct player_end *ret_end, struct err *err);
