#include "job/breaker.h"

struct str breaker_state_name(enum breaker_state state)
{
    static const struct str names[BREAKER_STATES] = {
        [BREAKER_CLOSED] = STR_INIT("closed"),
        [BREAKER_OPEN] = STR_INIT("open"),
        [BREAKER_HALF_OPEN] = STR_INIT("half_open"),
    };
    return names[state];
}

static void move_on(struct breaker_window *w, int64_t half_ms, int64_t now_ms)
{
    int64_t past_ms = now_ms - w->since_ms;
    if (past_ms >= 2 * half_ms) {
        *w = (struct breaker_window){.since_ms = now_ms};
    } else if (past_ms >= half_ms) {
        *w = (struct breaker_window){
            .since_ms = w->since_ms + half_ms,
            .calls_before = w->calls,
            .failures_before = w->failures,
        };
    }
}

void breaker_count(struct breaker_window *w, const struct breaker_rule *rule, int64_t now_ms,
                   bool failed)
{
    move_on(w, rule->window_ms / 2, now_ms);
    w->calls++;
    w->failures += failed;
}

bool breaker_trips(const struct breaker_window *w, const struct breaker_rule *rule)
{
    uint64_t calls = (uint64_t)w->calls + w->calls_before;
    uint64_t failures = (uint64_t)w->failures + w->failures_before;
    return calls >= rule->calls_min && failures > 0 && failures * 100 >= calls * rule->percent;
}
