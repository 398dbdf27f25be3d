/* cuts.h - who cannot reach whom.
 *
 * Servers, workers, the database and the clients are the ends of a network in which every pair has a
 * line of its own. A line that is cut carries nothing in either direction until it is mended; the
 * other lines know nothing of it. So a server may be cut off from its database alone, and a worker
 * from one of its servers, while everybody else meets both. While the world heals all lines are whole. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct world;
struct sim_server;
struct sim_worker;

enum {
    SERVERS_MAX = 3,
    WORKERS_MAX = 4,
    END_DATABASE = SERVERS_MAX, /* servers come first */
    END_CLIENTS,
    END_WORKERS, /* the first of them */
    ENDS = END_WORKERS + WORKERS_MAX,
};

struct cuts {
    int64_t until_ms[ENDS][ENDS]; /* boot clock */
};

int end_of_server(const struct world *w, const struct sim_server *s);
int end_of_worker(const struct world *w, const struct sim_worker *k);
const char *end_name(const struct world *w, int end);

/* The line between the two is cut from now on for that long, or longer if it was so already. */
void cuts_make(struct world *w, int a, int b, int64_t for_ms);
/* Nothing passes between the two now. */
bool cuts_part(const struct world *w, int a, int b);
bool cuts_part_server(const struct world *w, int end, const struct sim_server *s);
