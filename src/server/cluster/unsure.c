#include "server/cluster/unsure.h"

/* From when on depends. An owner that fell silent counts its grace from its last beat, which we saw
 * when it had been sent already. One that gave the partition back said what was left then, or a
 * moment ago. */
static void date_one(struct ownership *own, size_t p, int64_t beat_ms, int64_t boot_ms)
{
    bool deprived = own->deprived >> p & 1;
    int64_t from_ms = deprived && beat_ms > 0 ? beat_ms : boot_ms;
    own->alive_ms[p] = deprived ? from_ms : 0;
    own->unsure_until_ms[p] = own->unsure_ms[p] == 0 ? 0 : from_ms + own->unsure_ms[p];
}

void unsure_date(struct ownership *own, uint64_t taken, const struct cluster_view *v,
                 const struct cluster_map *cluster_map, int64_t boot_ms)
{
    for (size_t p = 0; p < v->partition_count; p++) {
        int64_t beat_ms = cluster_map_changed_ms(cluster_map, v->partitions[p].owner);
        if (taken >> p & 1)
            date_one(own, p, beat_ms, boot_ms);
    }
}

void unsure_leave(struct ownership *own, uint64_t given, int64_t boot_ms)
{
    for (size_t p = 0; p < own->partitions; p++) {
        int64_t left_ms = own->unsure_until_ms[p] - boot_ms;
        if ((given >> p & 1) && own->unsure_ms[p] != 0)
            own->unsure_ms[p] = left_ms > 0 ? left_ms : 0;
    }
}

uint64_t unsure_over(const struct ownership *own, uint64_t unsure)
{
    uint64_t over = 0;
    for (size_t p = 0; p < own->partitions; p++) {
        if (own->epochs[p] != 0 && own->unsure_ms[p] != 0 && !(unsure >> p & 1))
            over |= UINT64_C(1) << p;
    }
    return over;
}
