#include "job/shares.h"

#include <assert.h>

struct count {
    uint32_t held;
    uint32_t due; /* what is its share */
    uint32_t given;
};

static bool takes(const struct shares_view *v, int node)
{
    return node >= 0 && !v->nodes[node].silent && !v->nodes[node].draining;
}

/* The node that has it and may keep it; shares of a node that drains or is silent go to others. */
static int keeper(const struct shares_view *v, uint32_t p)
{
    return takes(v, v->places[p].owner) ? v->places[p].owner : SHARES_NOBODY;
}

static int takers(const struct shares_view *v)
{
    int count = 0;
    for (int n = 0; n < v->node_count; n++)
        count += takes(v, n);
    return count;
}

static void count_held(const struct shares_view *v, struct count *counts)
{
    for (uint32_t p = 0; p < v->partitions; p++) {
        if (keeper(v, p) >= 0)
            counts[keeper(v, p)].held++;
    }
}

/* The remainder goes to those who have most, so that as little as possible moves. */
static void set_shares(const struct shares_view *v, struct count *counts)
{
    uint32_t servers = (uint32_t)takers(v);
    uint32_t extra = v->partitions % servers;
    for (int n = 0; n < v->node_count; n++)
        counts[n].due = takes(v, n) ? v->partitions / servers : 0;
    for (; extra > 0; extra--) {
        int most = SHARES_NOBODY;
        for (int n = 0; n < v->node_count; n++) {
            bool has_extra = counts[n].due > v->partitions / servers;
            if (takes(v, n) && !has_extra && (most < 0 || counts[n].held > counts[most].held))
                most = n;
        }
        counts[most].due++;
    }
}

static bool has_room(const struct count *c)
{
    return c->given < c->due;
}

static void give_to(struct shares_plan *plan, struct count *counts, uint32_t p, int node)
{
    plan->heirs[p] = node;
    counts[node].given++;
}

static int neediest(const struct shares_view *v, const struct count *counts)
{
    int best = SHARES_NOBODY;
    for (int n = 0; n < v->node_count; n++) {
        if (takes(v, n) && has_room(&counts[n]) &&
            (best < 0 || counts[n].due - counts[n].given > counts[best].due - counts[best].given))
            best = n;
    }
    return best;
}

/* First who has it, then who had it, then who needs it most. */
static void choose_heirs(const struct shares_view *v, struct count *counts,
                         struct shares_plan *plan)
{
    for (uint32_t p = 0; p < v->partitions; p++) {
        int node = keeper(v, p);
        if (node >= 0 && has_room(&counts[node]))
            give_to(plan, counts, p, node);
    }
    for (uint32_t p = 0; p < v->partitions; p++) {
        int node = v->places[p].former;
        if (plan->heirs[p] < 0 && takes(v, node) && has_room(&counts[node]))
            give_to(plan, counts, p, node);
    }
    for (uint32_t p = 0; p < v->partitions; p++) {
        if (plan->heirs[p] < 0)
            give_to(plan, counts, p, neediest(v, counts));
    }
}

/* No node decides about it, and none may be about to come back for it. */
static bool is_to_be_had(const struct shares_view *v, uint32_t p)
{
    int owner = v->places[p].owner;
    return owner < 0 || (v->nodes[owner].silent && !v->just_back);
}

struct shares_plan shares_make(const struct shares_view *v)
{
    struct count counts[SHARES_NODES_MAX] = {0};
    struct shares_plan plan = {0};
    assert(v->node_count <= SHARES_NODES_MAX && v->partitions <= PARTITIONS_MAX);
    for (uint32_t p = 0; p < PARTITIONS_MAX; p++)
        plan.heirs[p] = SHARES_NOBODY;
    if (takers(v) == 0)
        return plan;
    count_held(v, counts);
    set_shares(v, counts);
    choose_heirs(v, counts, &plan);
    for (uint32_t p = 0; p < v->partitions; p++) {
        bool mine = v->places[p].owner == v->me;
        if (mine && plan.heirs[p] != v->me)
            plan.give |= UINT64_C(1) << p;
        if (!mine && plan.heirs[p] == v->me && is_to_be_had(v, p))
            plan.take |= UINT64_C(1) << p;
    }
    return plan;
}
