/* company.h - what the rows of other servers say about the time. */
#pragma once
#include "server/cluster/timing.h"
#include "store/store.h"

/* Each row has the time that its server goes by, and the database's, of the same moment. Others
 * count when they were heard within the lease by the database's clock: where that was set since,
 * their rows say nothing, and the next ones will. leader_ms: the beat of the leader that was looked
 * at last; it is looked at once. */
struct time_company company_look(const struct cluster_view *v, struct str me, int64_t lease_ms,
                                 int64_t *leader_ms);
