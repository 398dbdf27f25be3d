#include "server/output/deletions.h"

bool deletions_wait(struct moment now, int64_t from_ms, int64_t wait_ms)
{
    bool shaken = now.shaken_ms != 0 && now.wall_ms < now.shaken_ms + wait_ms;
    return now.unsure || shaken || now.wall_ms < from_ms;
}
