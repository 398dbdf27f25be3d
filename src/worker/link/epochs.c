#include "worker/link/epochs.h"

struct partition_set epochs_hear(struct epochs *e, const struct poll_reply *reply, int64_t now_ms,
                                 int64_t keep_ms)
{
    struct partition_set believed = {0};
    if (reply->epochs == NULL || reply->owned.count == 0)
        return believed;
    if (e->count != reply->owned.count)
        *e = (struct epochs){.count = reply->owned.count};
    believed.count = e->count;
    for (uint32_t p = 0; p < e->count; p++) {
        bool forgotten = now_ms - e->of[p].heard_ms > keep_ms;
        if (reply->epochs[p] < e->of[p].epoch && !forgotten)
            continue;
        believed.bits |= UINT64_C(1) << p;
        if (reply->epochs[p] == 0)
            continue;
        e->of[p].epoch = reply->epochs[p];
        e->of[p].heard_ms = now_ms;
    }
    return believed;
}
