#include "cuts.h"
#include "world.h"

#include <inttypes.h>

int end_of_server(const struct world *w, const struct sim_server *s)
{
    return (int)(s - w->servers);
}

int end_of_worker(const struct world *w, const struct sim_worker *k)
{
    return END_WORKERS + (int)(k - w->workers);
}

const char *end_name(const struct world *w, int end)
{
    if (end < SERVERS_MAX)
        return w->servers[end].name;
    if (end == END_DATABASE)
        return "the database";
    return end == END_CLIENTS ? "clients" : w->workers[end - END_WORKERS].label;
}

void cuts_make(struct world *w, int a, int b, int64_t for_ms)
{
    int64_t until_ms = w->boot_ms + for_ms;
    if (end_name(w, a) == NULL || end_name(w, b) == NULL)
        return; /* nobody is there on this day */
    SAY(w, "network", "%s and %s are cut off from each other for %" PRId64 " ms", end_name(w, a),
        end_name(w, b), for_ms);
    if (until_ms > w->cuts.until_ms[a][b])
        w->cuts.until_ms[a][b] = w->cuts.until_ms[b][a] = until_ms;
}

bool cuts_part(const struct world *w, int a, int b)
{
    return !w->healing && w->boot_ms < w->cuts.until_ms[a][b];
}

bool cuts_part_server(const struct world *w, int end, const struct sim_server *s)
{
    return cuts_part(w, end, end_of_server(w, s));
}
