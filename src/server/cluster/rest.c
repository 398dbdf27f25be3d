#include "server/cluster/rest.h"

enum {
    TRY_MS = 11000,    /* one try takes no longer, whatever is heard of it */
    TOGETHER_MS = 500, /* streams that a server had are missed within this */
};

bool rest_may_try(struct rest *rest, uint64_t now_ms)
{
    if (rest->pause_ms == 0)
        return true;
    if (now_ms < rest->again_ms)
        return false;
    rest->again_ms = now_ms + TRY_MS;
    return true;
}

void rest_heard(struct rest *rest)
{
    rest->pause_ms = 0;
}

void rest_missed(struct rest *rest, uint64_t now_ms)
{
    uint64_t pause_ms = rest->pause_ms == 0 ? REST_MIN_MS : 2 * rest->pause_ms;
    if (rest->pause_ms > 0 && now_ms - rest->missed_ms < TOGETHER_MS)
        return;
    rest->missed_ms = now_ms;
    rest->pause_ms = pause_ms < REST_MAX_MS ? pause_ms : REST_MAX_MS;
    rest->again_ms = now_ms + rest->pause_ms;
}
