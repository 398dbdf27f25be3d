#include "server/cluster/balance.h"

struct seats {
    struct shares_node nodes[SHARES_NODES_MAX];
    int places[SHARES_NODES_MAX]; /* in the view */
    int count;
};

/* Seats of many. A server that seems to be away keeps what it has until it is known to be silent,
 * but takes nothing. If we left it a share of what is free, that would lie there until we had
 * watched for a lease ourselves; and the others, who have watched it for longer, would leave that
 * share to us. */
enum { SILENT_SEAT, AWAY_SEAT, SEATS_OF_MANY };

static void seat_all(const struct cluster_map *cluster_map, const struct cluster_view *v,
                     struct seats *s)
{
    s->nodes[SILENT_SEAT] = (struct shares_node){.silent = true};
    s->nodes[AWAY_SEAT] = (struct shares_node){.draining = true};
    s->places[SILENT_SEAT] = s->places[AWAY_SEAT] = SHARES_NOBODY;
    s->count = SEATS_OF_MANY;
    bool seated =
        false; /* we: rows of those that are gone may be many before we know that they are */
    for (size_t n = 0; n < v->node_count && s->count < SHARES_NODES_MAX; n++) {
        const struct node_rec *node = &v->nodes[n];
        bool me = str_eq(node->start, cluster_map->me);
        bool last = s->count == SHARES_NODES_MAX - 1;
        if (cluster_map_is_silent(cluster_map, node) ||
            cluster_map_seems_away(cluster_map, v, node) || (last && !seated && !me))
            continue;
        seated = seated || me;
        s->nodes[s->count] = (struct shares_node){.draining = node->draining};
        s->places[s->count++] = (int)n;
    }
}

/* A server without a seat of its own that is not silent, since it seems to be away or there are too
 * many, is deprived of nothing. */
static int seat_of(const struct cluster_map *cluster_map, const struct seats *s,
                   const struct cluster_view *v, struct str start)
{
    int place = cluster_map_find(v, start);
    if (place < 0)
        return SHARES_NOBODY;
    for (int n = SEATS_OF_MANY; n < s->count; n++) {
        if (s->places[n] == place)
            return n;
    }
    return cluster_map_is_silent(cluster_map, &v->nodes[place]) ? SILENT_SEAT : AWAY_SEAT;
}

struct shares_plan balance_plan(const struct cluster_map *cluster_map, const struct cluster_view *v,
                                bool just_back)
{
    struct seats seats;
    struct shares_place places[PARTITIONS_MAX];
    seat_all(cluster_map, v, &seats);
    for (size_t p = 0; p < v->partition_count; p++)
        places[p] = (struct shares_place){
            .owner = seat_of(cluster_map, &seats, v, v->partitions[p].owner),
            .former = seat_of(cluster_map, &seats, v, v->partitions[p].former),
        };
    struct shares_plan plan = shares_make(&(struct shares_view){
        .me = seat_of(cluster_map, &seats, v, cluster_map->me),
        .just_back = just_back,
        .nodes = seats.nodes,
        .node_count = seats.count,
        .places = places,
        .partitions = (uint32_t)v->partition_count,
    });
    for (size_t p = 0; p < v->partition_count; p++) {
        if (plan.heirs[p] >= 0)
            plan.heirs[p] = seats.places[plan.heirs[p]];
    }
    return plan;
}
