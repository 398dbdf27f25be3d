#include "job/record/alert.h"

const struct words alert_kind_words = WORDS(
    [ALERT_JOB_FAILED] = "job_failed", [ALERT_WORKER_LOST] = "worker_lost",
    [ALERT_BREAKER_OPEN] = "breaker_open", [ALERT_DEAD_LETTERS] = "dead_letters",
    [ALERT_QUEUE_OLD] = "queue_old", [ALERT_QUEUE_DEPTH] = "queue_depth",
    [ALERT_FAILURE_RATE] = "failure_rate", [ALERT_SLA_WARNING] = "sla_warning",
    [ALERT_SLA_VIOLATED] = "sla_violated", [ALERT_START_LATE] = "start_late", [ALERT_SLOW] = "slow",
    [ALERT_TURNS_LOST] = "turns_lost", [ALERT_CLOCK] = "clock", [ALERT_MISSED] = "missed");
const struct words alert_level_words =
    WORDS([ALERT_WARNING] = "warning", [ALERT_CRITICAL] = "critical");
const struct words alert_state_words =
    WORDS([ALERT_KEPT] = "kept", [ALERT_PENDING] = "pending", [ALERT_SENT] = "sent",
          [ALERT_GIVEN_UP] = "given_up", [ALERT_SILENCED] = "silenced");

struct str alert_kind_name(enum alert_kind kind)
{
    return words_name(&alert_kind_words, kind);
}

struct str alert_level_name(enum alert_level level)
{
    return words_name(&alert_level_words, level);
}

struct str alert_state_name(enum alert_state state)
{
    return words_name(&alert_state_words, state);
}

bool alert_key_fits(struct str pattern, struct str key)
{
    if (pattern.len > 0 && pattern.ptr[pattern.len - 1] == '*')
        return str_starts(key, str_head(pattern, pattern.len - 1));
    return str_eq(pattern, key);
}
