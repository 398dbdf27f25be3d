#include "job/spec.h"
#include "base/buf.h"
#include "base/rng.h"

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

struct rules spec_rules(const struct spec *spec)
{
    return (struct rules){
        .queue = spec->queue,
        .handler = spec->handler,
        .priority = spec->priority,
        .timeout_ms = spec->timeout_ms,
        .retry = spec->retry,
        .concurrency = spec->concurrency,
        .rate = spec->rate,
    };
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

bool retry_policy_parse(struct str name, enum retry_policy *ret_policy)
{
    for (size_t i = 0; i < COUNT_OF(policy_names); i++) {
        if (str_eq(policy_names[i], name)) {
            *ret_policy = (enum retry_policy)i;
            return true;
        }
    }
    return false;
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
    return delay_ms + (int64_t)rng_below(&rng, spread + 1);
}
