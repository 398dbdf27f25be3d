#include "job/time/almanac.h"
#include "base/when.h"

const struct words calendar_policy_words =
    WORDS([CALENDAR_SKIP] = "skip", [CALENDAR_HOLD] = "hold");

static int64_t floor_s(int64_t ms)
{
    return ms / 1000 - (ms % 1000 < 0);
}

static int64_t to_ms(int64_t s)
{
    return s > WHEN_MAX_MS / 1000 ? WHEN_MAX_MS : s * 1000;
}

/* The ruling of this one alone. */
static struct ruling rule(const struct almanac_use *use, const struct zone *zone, int64_t at_ms)
{
    struct ruling ruling = {.verdict = CALENDAR_FREE, .calendar = use->name};
    int64_t until_s;
    if (use->almanac == NULL) {
        ruling.verdict = CALENDAR_HOLDS;
        ruling.until_ms = at_ms + ALMANAC_LOOK_AGAIN_MS;
        ruling.unreadable = true;
        return ruling;
    }
    if (use->almanac->zone != NULL)
        zone = use->almanac->zone;
    if (!calendar_covers(&use->almanac->calendar, zone, floor_s(at_ms), &until_s))
        return ruling;
    ruling.verdict = use->policy == CALENDAR_HOLD ? CALENDAR_HOLDS : CALENDAR_SKIPS;
    ruling.until_ms = to_ms(until_s);
    return ruling;
}

struct ruling almanac_ruling(const struct almanac_use *uses, size_t count, const struct zone *zone,
                             int64_t at_ms)
{
    struct ruling all = {.verdict = CALENDAR_FREE};
    for (size_t i = 0; i < count; i++) {
        struct ruling one = rule(&uses[i], zone, at_ms);
        if (one.verdict > all.verdict ||
            (one.verdict == all.verdict && one.until_ms > all.until_ms))
            all = one;
    }
    return all;
}
