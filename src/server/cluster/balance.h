/* balance.h - a view of the cluster as job/shares.h knows it.
 *
 * All nodes that are silent are one there, since they are treated alike and there may be any number
 * of them. So are those that only seem to be away (cluster_map_seems_away), and those beyond the
 * last seat: they are deprived of nothing, and take nothing. */
#pragma once
#include "job/shares.h"
#include "server/cluster/cluster_map.h"

/* The plan of what we should take and give; its heirs are places in the view. just_back: we were
 * silent ourselves. */
struct shares_plan balance_plan(const struct cluster_map *cluster_map, const struct cluster_view *v,
                                bool just_back);
