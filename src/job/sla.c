#include "job/sla.h"

#include <assert.h>

/* The strictest first. */
static const unsigned policy_order[] = {SLA_STRICT, SLA_FLEXIBLE, SLA_WARNING_ONLY};
const struct words sla_policy_words =
    WORDS_ORDERED(policy_order, [SLA_FLEXIBLE] = "flexible", [SLA_STRICT] = "strict",
                  [SLA_WARNING_ONLY] = "warning_only");

struct str sla_event_kind_name(enum sla_event_kind kind)
{
    static const struct str names[SLA_EVENT_KINDS] = {
        [SLA_EVENT_WARNING] = STR_INIT("warning"),
        [SLA_EVENT_VIOLATION] = STR_INIT("violation"),
        [SLA_EVENT_EXTENSION] = STR_INIT("extension"),
        [SLA_EVENT_END] = STR_INIT("end"),
    };
    assert(kind >= SLA_EVENT_WARNING && kind < SLA_EVENT_KINDS);
    return names[kind];
}

struct str sla_event_action(const struct sla_event_rec *event)
{
    switch (event->kind) {
    case SLA_EVENT_WARNING: return STR("alert");
    case SLA_EVENT_EXTENSION: return STR("extend");
    case SLA_EVENT_VIOLATION:
        return event->policy == SLA_STRICT         ? STR("stop")
               : event->policy == SLA_WARNING_ONLY ? STR("alert")
                                                   : STR("critical_alert");
    default: return STR("none");
    }
}

static int64_t limit_ms(const struct sla_event_rec *event)
{
    return event->kind == SLA_EVENT_WARNING ? event->expected_ms
           : event->kind == SLA_EVENT_EXTENSION
               ? 0
               : sla_deciding_ms(event->expected_ms, event->max_ms);
}

int64_t sla_event_overrun_ms(const struct sla_event_rec *event)
{
    int64_t limit = limit_ms(event);
    return limit > 0 && event->actual_ms > limit ? event->actual_ms - limit : 0;
}

int64_t sla_event_overrun_percent(const struct sla_event_rec *event)
{
    int64_t limit = limit_ms(event);
    return limit > 0 ? sla_event_overrun_ms(event) * 100 / limit : 0;
}

bool sla_event_is_violation(const struct sla_event_rec *event)
{
    return event->kind == SLA_EVENT_VIOLATION || event->kind == SLA_EVENT_END ||
           (event->kind == SLA_EVENT_WARNING && event->max_ms == 0);
}

int64_t sla_event_violation_bp(const struct sla_event_rec *event)
{
    enum { WHOLE = 10000 };
    int64_t limit = limit_ms(event);
    int64_t over = sla_event_overrun_ms(event);
    if (limit == 0 || !sla_event_is_violation(event))
        return 0;
    return over <= INT64_MAX / WHOLE ? over * WHOLE / limit : over / limit * WHOLE;
}
