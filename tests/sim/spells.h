/* spells.h - bad times of a server in a cluster: it is frozen, as a stopped process or a machine that
 * sleeps is, between turns and in the middle of one; it is cut off from others; its database hangs. */
#pragma once
#include "agenda.h"

struct world;
struct sim_server;

/* Something bad happens to it, for a while. */
void spells_suffer(struct sim_server *s);
/* Something bad happens to everybody, or to a worker and a server. */
void spells_strike(struct world *w);

/* In the middle of a turn: the rest of the world goes on, and a database may lose its patience. */
void sim_server_freeze_here(struct sim_server *s);
/* In the middle of something: waits for a database that hangs, for so long at most. False: in vain. */
bool sim_server_outwaits(struct sim_server *s, int64_t most_ms);
/* True when it is frozen; then the entry is done when it is not. */
bool sim_server_defer(struct sim_server *s, agenda_act *act, uint64_t no);
/* It does not reach the store. */
bool sim_server_is_adrift(const struct sim_server *s);

/* The database answers nobody for that long. */
void database_hangs(struct world *w, int64_t for_ms);
bool database_is_hung(const struct world *w);
