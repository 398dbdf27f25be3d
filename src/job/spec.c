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

const struct words retry_policy_words =
    WORDS([RETRY_EXPONENTIAL] = "exponential", [RETRY_LINEAR] = "linear", [RETRY_FIXED] = "fixed",
          [RETRY_IMMEDIATE] = "immediate");
const struct words overlap_words =
    WORDS([OVERLAP_SKIP] = "skip", [OVERLAP_QUEUE] = "queue", [OVERLAP_PARALLEL] = "parallel",
          [OVERLAP_REPLACE] = "replace");
const struct words on_conflict_words = WORDS(
    [CONFLICT_RETURN] = "return", [CONFLICT_REPLACE] = "replace", [CONFLICT_REJECT] = "reject");
const struct words misfire_policy_words =
    WORDS([MISFIRE_LATEST] = "latest", [MISFIRE_ALL] = "all", [MISFIRE_SKIP] = "skip");
const struct words cron_gap_words = WORDS([CRON_GAP_AFTER] = "after", [CRON_GAP_SKIP] = "skip");
const struct words cron_fold_words =
    WORDS([CRON_FOLD_FIRST] = "first", [CRON_FOLD_SECOND] = "second", [CRON_FOLD_BOTH] = "both");

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
        .expects = spec->when == WHEN_PING,
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
    return spec_has_slots(spec) || spec->when == WHEN_PING;
}

bool spec_has_slots(const struct spec *spec)
{
    return spec->when == WHEN_EVERY || spec->when == WHEN_CRON;
}

struct schedule spec_schedule(const struct spec *spec, const struct zone *zone)
{
    const struct cron_clock clock = {.zone = zone, .gap = spec->gap, .fold = spec->fold};
    if (spec->when == WHEN_EVERY)
        return schedule_every(0, spec->when_ms);
    if (spec->when == WHEN_PING)
        return schedule_every(0, spec->expect.every_ms + spec->expect.grace_ms);
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

struct str overlap_name(enum overlap overlap)
{
    return words_name(&overlap_words, overlap);
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
    /* The part that exceeds the longest delay is subtracted from it. If it were cut off, runs that
     * failed together would come back together once their delays have reached the longest one. */
    int64_t beyond_ms = jitter_ms - (retry->max_delay_ms - delay_ms);
    return beyond_ms > 0 ? retry->max_delay_ms - beyond_ms : delay_ms + jitter_ms;
}
