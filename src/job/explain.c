#include "job/explain.h"

#include <assert.h>

struct str blocker_kind_name(enum blocker_kind kind)
{
    static const struct str names[BLOCKER_KINDS] = {
        [BLOCKER_JOB_PAUSED] = STR_INIT("job_paused"),
        [BLOCKER_QUEUE_PAUSED] = STR_INIT("queue_paused"),
        [BLOCKER_CALENDAR] = STR_INIT("calendar"),
        [BLOCKER_SCHEDULED] = STR_INIT("scheduled"),
        [BLOCKER_PING] = STR_INIT("ping"),
        [BLOCKER_RETRY] = STR_INIT("retry"),
        [BLOCKER_OVERLAP] = STR_INIT("overlap"),
        [BLOCKER_DEPENDENCY] = STR_INIT("dependency"),
        [BLOCKER_NO_WORKER] = STR_INIT("no_worker"),
        [BLOCKER_NO_HANDLER] = STR_INIT("no_handler"),
        [BLOCKER_NO_COMMANDS] = STR_INIT("no_commands"),
        [BLOCKER_QUEUE_UNSERVED] = STR_INIT("queue_unserved"),
        [BLOCKER_QUEUE_FULL] = STR_INIT("queue_full"),
        [BLOCKER_TEAM_LIMIT] = STR_INIT("team_limit"),
        [BLOCKER_CONCURRENCY] = STR_INIT("concurrency"),
        [BLOCKER_RATE] = STR_INIT("rate"),
        [BLOCKER_PERMIT] = STR_INIT("permit"),
        [BLOCKER_BREAKER] = STR_INIT("breaker"),
        [BLOCKER_PROBATION] = STR_INIT("probation"),
        [BLOCKER_WORKERS_SILENT] = STR_INIT("workers_silent"),
        [BLOCKER_WORKERS_DRAINING] = STR_INIT("workers_draining"),
        [BLOCKER_WORKERS_CORDONED] = STR_INIT("workers_cordoned"),
        [BLOCKER_WORKERS_BUSY] = STR_INIT("workers_busy"),
        [BLOCKER_BEHIND] = STR_INIT("behind"),
        [BLOCKER_UNHEARD] = STR_INIT("unheard"),
        [BLOCKER_STOPPING] = STR_INIT("stopping"),
        [BLOCKER_FINISHED] = STR_INIT("finished"),
    };
    assert(kind > BLOCKER_NONE && kind < BLOCKER_KINDS);
    return names[kind];
}
