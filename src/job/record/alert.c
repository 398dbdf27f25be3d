#include "job/record/alert.h"

#include <assert.h>

struct str alert_kind_name(enum alert_kind kind)
{
    static const struct str names[ALERT_KINDS] = {
        [ALERT_JOB_FAILED] = STR_INIT("job_failed"),
        [ALERT_WORKER_LOST] = STR_INIT("worker_lost"),
        [ALERT_BREAKER_OPEN] = STR_INIT("breaker_open"),
        [ALERT_DEAD_LETTERS] = STR_INIT("dead_letters"),
        [ALERT_QUEUE_OLD] = STR_INIT("queue_old"),
        [ALERT_QUEUE_DEPTH] = STR_INIT("queue_depth"),
        [ALERT_FAILURE_RATE] = STR_INIT("failure_rate"),
        [ALERT_SLA_WARNING] = STR_INIT("sla_warning"),
        [ALERT_SLA_VIOLATED] = STR_INIT("sla_violated"),
        [ALERT_START_LATE] = STR_INIT("start_late"),
        [ALERT_SLOW] = STR_INIT("slow"),
        [ALERT_TURNS_LOST] = STR_INIT("turns_lost"),
        [ALERT_CLOCK] = STR_INIT("clock"),
    };
    assert(kind > ALERT_NONE && kind < ALERT_KINDS);
    return names[kind];
}

struct str alert_level_name(enum alert_level level)
{
    return level == ALERT_CRITICAL ? STR("critical") : STR("warning");
}

struct str alert_state_name(enum alert_state state)
{
    static const struct str names[ALERT_STATES] = {
        [ALERT_KEPT] = STR_INIT("kept"),
        [ALERT_PENDING] = STR_INIT("pending"),
        [ALERT_SENT] = STR_INIT("sent"),
        [ALERT_GIVEN_UP] = STR_INIT("given_up"),
    };
    return names[state];
}
