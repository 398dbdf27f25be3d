#include "job/spec.h"
#include "base/buf.h"
#include "base/rng.h"

#include <assert.h>

const struct retry retry_default = {
    .max_retries = SPEC_RETRIES_DEFAULT,
    .policy = RETRY_EXPONENTIAL,
    .delay_ms = 1000,
    .max_delay_ms = 3600000,
    .jitter_permille = 300,
};

static const struct str policy_names[] = {
    [RETRY_EXPONENTIAL] = STR_INIT("exponential"),
    [RETRY_LINEAR] = STR_INIT("linear"),
    [RETRY_FIXED] = STR_INIT("fixed"),
    [RETRY_IMMEDIATE] = STR_INIT("immediate"),
};

static const struct str overlap_names[] = {
    [OVERLAP_SKIP] = STR_INIT("skip"),
    [OVERLAP_QUEUE] = STR_INIT("queue"),
    [OVERLAP_PARALLEL] = STR_INIT("parallel"),
    [OVERLAP_REPLACE] = STR_INIT("replace"),
};

static const struct str on_conflict_names[] = {
    [CONFLICT_RETURN] = STR_INIT("return"),
    [CONFLICT_REPLACE] = STR_INIT("replace"),
    [CONFLICT_REJECT] = STR_INIT("reject"),
};

static const struct str misfire_names[] = {
    [MISFIRE_LATEST] = STR_INIT("latest"),
    [MISFIRE_ALL] = STR_INIT("all"),
    [MISFIRE_SKIP] = STR_INIT("skip"),
};

struct rules spec_rules(const struct spec *spec)
{
    return (struct rules){
        .queue = spec->queue,
        .handler = spec->handler,
        .team = spec->team,
        .priority = spec->priority,
        .timeout_ms = spec->timeout_ms,
        .retry = spec->retry,
        .concurrency = spec->concurrency,
        .rate = spec->rate,
        .unique = spec->unique,
        .breaker = spec->breaker,
        .stagger_ms = spec->stagger_ms,
        .misfire = spec->misfire,
        .overlap = spec->overlap,
        .delayed = spec->when == WHEN_DELAY,
        .start_within_ms = spec->start_within_ms,
        .expires_in_ms = spec->expires_in_ms,
        .sla = spec->sla,
        .calendars = spec->calendars,
        .calendar_count = spec->calendar_count,
    };
}

struct str rules_target(const struct rules *rules, char *ret_text)
{
    struct buf target = {.ptr = ret_text, .cap = SPEC_TARGET_MAX, .max = SPEC_TARGET_MAX};
    if (rules->breaker.none)
        return (struct str){0};
    if (rules->breaker.name.len > 0)
        return rules->breaker.name;
    if (rules->handler.len == 0)
        return (struct str){0};
    buf_add(&target, STR("handler:"));
    buf_add(&target, rules->handler);
    assert(!target.overflow);
    return buf_str(&target);
}

bool idempotency_key_is_valid(struct str key)
{
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] <= ' ' || key.ptr[i] > '~')
            return false;
    }
    return key.len > 0 && key.len <= SPEC_ONCE_KEY_MAX;
}

bool spec_recurs(const struct spec *spec)
{
    return spec->when == WHEN_EVERY || spec->when == WHEN_CRON;
}

struct schedule spec_schedule(const struct spec *spec, const struct zone *zone)
{
    const struct cron_clock clock = {.zone = zone, .gap = spec->gap, .fold = spec->fold};
    if (spec->when == WHEN_EVERY)
        return schedule_every(0, spec->when_ms);
    return schedule_cron(0, &spec->cron, &clock);
}

int64_t spec_due_ms(const struct spec *spec, int64_t now_ms)
{
    switch (spec->when) {
    case WHEN_AT: return spec->when_ms > now_ms ? spec->when_ms : now_ms;
    case WHEN_DELAY: return now_ms + spec->when_ms;
    default: return now_ms;
    }
}

struct str spec_tags_text(const struct spec *spec, struct arena *arena)
{
    struct str text = {0};
    size_t len = 1;
    if (spec->tag_count == 0)
        return text;
    for (size_t i = 0; i < spec->tag_count; i++)
        len += spec->tags[i].key.len + spec->tags[i].value.len + 2;
    struct buf out = {.ptr = arena_bytes(arena, len), .cap = len, .max = len};
    buf_add_char(&out, '\n');
    for (size_t i = 0; i < spec->tag_count; i++) {
        buf_add(&out, spec->tags[i].key);
        buf_add_char(&out, ':');
        buf_add(&out, spec->tags[i].value);
        buf_add_char(&out, '\n');
    }
    return buf_str(&out);
}

struct str retry_policy_name(enum retry_policy policy)
{
    return policy_names[policy];
}

/* Its place among the names, or -1. */
static int find_name(const struct str *names, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(names[i], name))
            return (int)i;
    }
    return -1;
}

bool retry_policy_parse(struct str name, enum retry_policy *ret_policy)
{
    int found = find_name(policy_names, COUNT_OF(policy_names), name);
    if (found >= 0)
        *ret_policy = (enum retry_policy)found;
    return found >= 0;
}

struct str on_conflict_name(enum on_conflict on_conflict)
{
    return on_conflict_names[on_conflict];
}

bool on_conflict_parse(struct str name, enum on_conflict *ret_on_conflict)
{
    int found = find_name(on_conflict_names, COUNT_OF(on_conflict_names), name);
    if (found >= 0)
        *ret_on_conflict = (enum on_conflict)found;
    return found >= 0;
}

struct str overlap_name(enum overlap overlap)
{
    return overlap_names[overlap];
}

bool overlap_parse(struct str name, enum overlap *ret_overlap)
{
    int found = find_name(overlap_names, COUNT_OF(overlap_names), name);
    if (found >= 0)
        *ret_overlap = (enum overlap)found;
    return found >= 0;
}

struct str misfire_policy_name(enum misfire_policy policy)
{
    return misfire_names[policy];
}

bool misfire_policy_parse(struct str name, enum misfire_policy *ret_policy)
{
    int found = find_name(misfire_names, COUNT_OF(misfire_names), name);
    if (found >= 0)
        *ret_policy = (enum misfire_policy)found;
    return found >= 0;
}

bool retry_allows(const struct retry *retry, struct failure failure)
{
    if (failure.permanent == PERMANENT_YES)
        return false;
    if (retry->retry_on != 0)
        return (retry->retry_on >> failure.class & 1) != 0;
    return failure.permanent == PERMANENT_NO || !failure_is_permanent(failure.class);
}

/* The delay before jitter, not capped yet; saturates instead of overflowing. */
static int64_t plain_delay_ms(const struct retry *retry, uint32_t attempt)
{
    int64_t delay_ms;
    switch (retry->policy) {
    case RETRY_IMMEDIATE: return 0;
    case RETRY_FIXED: return retry->delay_ms;
    case RETRY_LINEAR:
        return __builtin_mul_overflow(retry->delay_ms, (int64_t)attempt, &delay_ms) ? INT64_MAX
                                                                                    : delay_ms;
    default:
        if (attempt > 40 || retry->delay_ms > INT64_MAX >> attempt)
            return INT64_MAX;
        return retry->delay_ms << (attempt - 1);
    }
}

int64_t retry_delay_ms(const struct retry *retry, uint32_t attempt, uint64_t seed)
{
    int64_t delay_ms = plain_delay_ms(retry, attempt);
    if (delay_ms > retry->max_delay_ms)
        delay_ms = retry->max_delay_ms;
    struct rng rng = {.state = seed ^ (uint64_t)attempt << 56};
    uint64_t spread = (uint64_t)delay_ms * retry->jitter_permille / 1000;
    int64_t jitter_ms = (int64_t)rng_below(&rng, spread + 1);
    /* A delay beyond the longest one is mirrored at it: if it were merely cut off, all that failed
     * together would come back together from then on. */
    int64_t beyond_ms = jitter_ms - (retry->max_delay_ms - delay_ms);
    return beyond_ms > 0 ? retry->max_delay_ms - beyond_ms : delay_ms + jitter_ms;
}
