/* clocks.h - the clocks of machines that may be wrong, and which time each server makes of them.
 *
 * On most days wall time is what world_now says, and steps of it are nobody's decision. On a day of clocks
 * (scene.clocks) every machine has a wall clock of its own, the database too, and each server goes by what
 * the real server/cluster/timing.c makes of its samples: alone by those of its own clock, in a cluster by the
 * database's. Workers have no wall clock at all: nothing of a worker asks for one. What goes wrong with
 * clocks on such a day, and what is promised then, is in clock_day.h. */
#pragma once
#include "server/cluster/timing.h"

#include "base/when.h"

struct world;
struct sim_server;
struct cluster_view;

enum { CLOCK_DATABASE = 3, CLOCKS = 4 }; /* before that: the machines of the servers */

/* What a server knows about the time. */
struct sim_timing {
    struct timing timing;
    bool knows;        /* it has had an answer of the database */
    int64_t leader_ms; /* the leader's beat that was looked at last */
};

/* Now, as this server knows it; world_now says the same from here on. */
struct moment sim_server_now(struct sim_server *s);
/* What the wall clock of a machine says. */
int64_t clocks_wall_ms(const struct world *w, int clock);
/* The clock that counts for a server. */
int clocks_counting(const struct world *w);

/* ---- alone */

/* A start, for which the store has said its newest id; 0: there is none. */
void clocks_begin(struct sim_server *s, uint64_t newest_id);
/* A sample, if a second has passed since the last. */
void clocks_look(struct sim_server *s);

/* ---- in a cluster */

/* The database has answered, after silence of our own or not. */
void clocks_answered(struct sim_server *s, const struct cluster_view *view, bool had_gap);
/* The time that the server's row says; 0: it does not know it. */
int64_t clocks_row_ms(const struct sim_server *s);
