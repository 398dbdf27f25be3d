/* late.h - commits whose words come late: those of a turn that was called lost since.
 *
 * The connection of a turn dies under its commit, and settling says that nothing of it was kept. But its words may
 * lie in the socket of a backend that was stopped, and arrive a while later. Then the store must not keep it. Only
 * whether it would is asked; what the commit says does not matter for that. */
#pragma once
#include "store/store_mem.h"

struct sim_store;

struct late {
    struct mem_sent sent;
    struct store *inner;
    bool settled; /* as lost */
};

/* The commit of a turn was sent, and is not kept now. */
void late_send(struct sim_store *s, const struct ownership *owned, uint64_t turn);
/* It was called so. */
void late_settle(struct sim_store *s, uint64_t turn, enum settled settled);
