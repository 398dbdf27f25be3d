/* unsure.h - until when leases that a former owner gave may live without anybody knowing.
 *
 * A server that fell silent keeps leases alive for its grace, and their workers hold them for a
 * lease after that. The partition's row says how long that is, as a duration, since no two servers
 * have a clock in common; here it gets a beginning and an end on ours. Plain values: no I/O, no
 * clock. */
#pragma once
#include "server/cluster/cluster_map.h"

/* After a take: fills unsure_until_ms and alive_ms of what was taken. v: the view by which it was
 * wanted. */
void unsure_date(struct ownership *own, uint64_t taken, const struct cluster_view *v,
                 const struct cluster_map *cluster_map, int64_t boot_ms);
/* Before a release: unsure_ms of what is given becomes what is left. */
void unsure_leave(struct ownership *own, uint64_t given, int64_t boot_ms);
/* The bits of what is owned whose row still says unsure, while unsure has no bit for it. */
uint64_t unsure_over(const struct ownership *own, uint64_t unsure);
