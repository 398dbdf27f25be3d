#include "server/cluster/company.h"
#include "job/shares.h"
#include "server/cluster/cluster_map.h"

#include <stdlib.h>

static int64_t ahead_us(const struct node_rec *node)
{
    return (node->time_ms - node->seen_ms) * 1000;
}

static void look_at_others(const struct cluster_view *v, struct str me, int64_t lease_ms,
                           struct time_company *c)
{
    int64_t all[SHARES_NODES_MAX];
    uint32_t count = 0;
    for (size_t n = 0; n < v->node_count && count < SHARES_NODES_MAX; n++) {
        const struct node_rec *node = &v->nodes[n];
        bool heard = llabs(v->now_ms - node->seen_ms) <= lease_ms;
        if (heard && node->time_ms != 0 && !str_eq(node->start, me))
            all[count++] = ahead_us(node);
    }
    c->has_others = count > 0;
    c->median_us = count > 0 ? timeline_median(all, count) : 0;
}

struct time_company company_look(const struct cluster_view *v, struct str me, int64_t lease_ms,
                                 int64_t *leader_ms)
{
    struct time_company c = {0};
    struct str owner = v->partition_count > 0 ? v->partitions[0].owner : STR("");
    int n = cluster_map_find(v, owner);
    look_at_others(v, me, lease_ms, &c);
    c.leads = str_eq(owner, me);
    if (c.leads || n == ROSTER_NOBODY || v->nodes[n].seen_ms == *leader_ms)
        return c;
    *leader_ms = v->nodes[n].seen_ms;
    c.has_leader = v->nodes[n].time_ms != 0;
    c.ahead_us = ahead_us(&v->nodes[n]);
    return c;
}
