#include "server/cluster/seating.h"

struct seating {
    struct shares_node nodes[SHARES_NODES_MAX];
    int places[SHARES_NODES_MAX]; /* in the view */
    int count;
};

/* Seats of many. A server that seems to be away keeps what it has until it is known to be silent, but takes
 * nothing. If we left it a share of what is free, that would lie there until we had watched for a lease
 * ourselves; and the others, who have watched it for longer, would leave that share to us. */
enum { SILENT_SEAT, AWAY_SEAT, SEATS_OF_MANY };

static void seat_all(const struct roster *roster, const struct cluster_view *v, struct seating *s)
{
    s->nodes[SILENT_SEAT] = (struct shares_node){.silent = true};
    s->nodes[AWAY_SEAT] = (struct shares_node){.draining = true};
    s->places[SILENT_SEAT] = s->places[AWAY_SEAT] = SHARES_NOBODY;
    s->count = SEATS_OF_MANY;
    bool seated =
        false; /* we: rows of those that are gone may be many before we know that they are */
    for (size_t n = 0; n < v->node_count && s->count < SHARES_NODES_MAX; n++) {
        const struct node_rec *node = &v->nodes[n];
        bool me = str_eq(node->start, roster->me);
        bool last = s->count == SHARES_NODES_MAX - 1;
        if (roster_is_silent(roster, node) || roster_seems_away(roster, v, node) ||
            (last && !seated && !me))
            continue;
        seated = seated || me;
        s->nodes[s->count] = (struct shares_node){.draining = node->draining};
        s->places[s->count++] = (int)n;
    }
}

/* A server without a seat of its own that is not silent, since it seems to be away or there are too many, is
 * deprived of nothing. */
static int seat_of(const struct roster *roster, const struct seating *s,
                   const struct cluster_view *v, struct str start)
{
    int place = roster_find(v, start);
    if (place < 0)
        return SHARES_NOBODY;
    for (int n = SEATS_OF_MANY; n < s->count; n++) {
        if (s->places[n] == place)
            return n;
    }
    return roster_is_silent(roster, &v->nodes[place]) ? SILENT_SEAT : AWAY_SEAT;
}

struct shares_plan seating_plan(const struct roster *roster, const struct cluster_view *v,
                                bool just_back)
{
    struct seating seating;
    struct shares_place places[PARTITIONS_MAX];
    seat_all(roster, v, &seating);
    for (size_t p = 0; p < v->partition_count; p++)
        places[p] = (struct shares_place){
            .owner = seat_of(roster, &seating, v, v->partitions[p].owner),
            .former = seat_of(roster, &seating, v, v->partitions[p].former),
        };
    struct shares_plan plan = shares_make(&(struct shares_view){
        .me = seat_of(roster, &seating, v, roster->me),
        .just_back = just_back,
        .nodes = seating.nodes,
        .node_count = seating.count,
        .places = places,
        .partitions = (uint32_t)v->partition_count,
    });
    for (size_t p = 0; p < v->partition_count; p++) {
        if (plan.heirs[p] >= 0)
            plan.heirs[p] = seating.places[plan.heirs[p]];
    }
    return plan;
}
