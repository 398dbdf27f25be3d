/* board.h - the numbers of this server, asked of the turn seldom and shared by all who read them.
 *
 * Lists that count, `GET /stats`, the ticks of `GET /events` and the samples of `GET /series` all
 * need the counters that the engine keeps. Each of them could ask the turn, and a thousand readers
 * would then cost a thousand copies in the thread that decides. So there is one copy: whoever asks
 * says how old it may be, all that wait for a newer one wait for the same, and while nobody asks
 * the turn copies nothing. */
#pragma once
#include "server/cluster/errand.h"

struct board;

/* The numbers of the turn at one moment. Shared and never changed; each holder releases it once. */
struct snapshot {
    struct errand errand; /* its arena has what the numbers name */
    atomic_int holders;
    int64_t at_ms; /* when it was asked for: wall clock, … */
    int64_t at_us; /* … and monotonic */
    struct board *board;
    struct stats_view stats; /* CMD_STATS; else the errand has the answer */
};

void snapshot_release(struct snapshot *s); /* NULL is fine */

/* A reader that waits for one; in memory of its own. */
struct board_wait {
    struct list_node node;
    int64_t from_us; /* monotonic: one that was asked for before is too old */
    /* On the turn's thread, or that of board_ask. NULL: there is none, and rc and err say why. */
    void (*take)(struct board_wait *wait, struct snapshot *take_snapshot);
    enum rc rc;
    struct err err;
};

/* Of what this command (CMD_STATS, CMD_WAITS) answers. */
struct board *board_new(struct server *server, enum command_kind kind);
/* When no thread is left that asks, and the decider has stopped. NULL is fine. */
void board_free(struct board *b);

/* From any thread: gives a snapshot that was asked for within max_age_us before this call, or
 * after it. */
void board_ask(struct board *b, int64_t max_age_us, struct board_wait *wait);
