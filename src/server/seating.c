#include "server/seating.h"

struct seating {
    struct shares_node nodes[SHARES_NODES_MAX];
    int places[SHARES_NODES_MAX]; /* in the view */
    int count;
};

enum { SILENT_SEAT };

/* A server that seems to be away keeps what it has until it is known to be silent, but takes nothing. If we left
 * it a share of what is free, that would lie there until we had watched for a lease ourselves; and the
 * others, who have watched it for longer, would leave that share to us. */
static struct shares_node seat(const struct roster *roster, const struct cluster_view *v,
                               const struct node_rec *node)
{
    return (struct shares_node){.draining = node->draining || roster_seems_away(roster, v, node)};
}

static void seat_all(const struct roster *roster, const struct cluster_view *v, struct seating *s)
{
    s->nodes[SILENT_SEAT] = (struct shares_node){.silent = true};
    s->places[SILENT_SEAT] = SHARES_NOBODY;
    s->count = 1;
    bool seated =
        false; /* we: rows of those that are gone may be many before we know that they are */
    for (size_t n = 0; n < v->node_count && s->count < SHARES_NODES_MAX; n++) {
        bool me = str_eq(v->nodes[n].start, roster->me);
        bool last = s->count == SHARES_NODES_MAX - 1;
        if (roster_is_silent(roster, &v->nodes[n]) || (last && !seated && !me))
            continue;
        seated = seated || me;
        s->nodes[s->count] = seat(roster, v, &v->nodes[n]);
        s->places[s->count++] = (int)n;
    }
}

static int seat_of(const struct seating *s, const struct cluster_view *v, struct str start)
{
    int place = roster_find(v, start);
    for (int n = 1; n < s->count; n++) {
        if (place >= 0 && s->places[n] == place)
            return n;
    }
    return place >= 0 ? SILENT_SEAT : SHARES_NOBODY;
}

struct shares_plan seating_plan(const struct roster *roster, const struct cluster_view *v,
                                bool just_back)
{
    struct seating seating;
    struct shares_place places[PARTITIONS_MAX];
    seat_all(roster, v, &seating);
    for (size_t p = 0; p < v->partition_count; p++)
        places[p] = (struct shares_place){
            .owner = seat_of(&seating, v, v->partitions[p].owner),
            .former = seat_of(&seating, v, v->partitions[p].former),
        };
    struct shares_plan plan = shares_make(&(struct shares_view){
        .me = seat_of(&seating, v, roster->me),
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
