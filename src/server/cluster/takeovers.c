#include "server/cluster/takeovers.h"
#include "loop/clock.h"
#include "server/cluster/cluster_map.h"

#include <string.h>

struct str takeovers_server_name(const struct cluster_view *v, struct str start)
{
    int node = cluster_map_find(v, start);
    if (node != ROSTER_NOBODY)
        return v->nodes[node].name;
    for (size_t i = start.len; i > 0; i--) {
        if (start.ptr[i - 1] == '/')
            return str_head(start, i - 1);
    }
    return start;
}

/* The start that had it before. */
static struct str former_of(const struct partition_rec *p)
{
    return p->owner.len > 0 ? p->owner : p->former;
}

static enum takeover_why why_of(const struct partition_rec *p, bool deprived, struct str replaces)
{
    if (p->owner.len == 0)
        return p->former.len > 0 ? TAKEOVER_GIVEN : TAKEOVER_FREE;
    if (str_eq(p->owner, replaces))
        return TAKEOVER_REPLACED;
    return deprived ? TAKEOVER_SILENT : TAKEOVER_GONE;
}

static void set_name(struct takeover *t, struct str name)
{
    size_t len = name.len < sizeof t->from ? name.len : sizeof t->from - 1;
    if (len > 0)
        memcpy(t->from, name.ptr, len);
}

static uint64_t bit(size_t p)
{
    return UINT64_C(1) << p;
}

void takeovers_note(struct incidents *in, const struct cluster_view *v, uint64_t taken,
                    uint64_t deprived, struct str replaces)
{
    for (size_t p = 0; p < v->partition_count; p++) {
        if (!(taken & bit(p)))
            continue;
        struct str from = former_of(&v->partitions[p]);
        enum takeover_why why = why_of(&v->partitions[p], deprived & bit(p), replaces);
        struct takeover t = {.at_ms = clock_wall_ms(), .why = why};
        for (size_t i = p; i < v->partition_count; i++) {
            bool same = str_eq(former_of(&v->partitions[i]), from) &&
                        why_of(&v->partitions[i], deprived & bit(i), replaces) == why;
            if (same && taken & bit(i))
                t.partitions |= bit(i);
        }
        taken &= ~t.partitions;
        set_name(&t, takeovers_server_name(v, from));
        incidents_note_takeover(in, &t);
    }
}
