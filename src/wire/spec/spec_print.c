/* Job documents, written. spec_json.c reads them. */
#include "base/when.h"
#include "job/time/preview.h"
#include "wire/spec/expect_json.h"
#include "wire/spec/sla_json.h"
#include "wire/spec/spec_json.h"
#include "wire/spec/unique_json.h"

#include <assert.h>

enum {
    TEXT_BYTES_USUAL = 512,
    TEXT_BYTES_MAX = 8 << 20, /* all limits of job/spec.h at once, every byte escaped sixfold */
};

static void put_duration(struct json_writer *w, const char *key, int64_t ms)
{
    char text[WHEN_TEXT_MAX];
    json_put_str(w, key, duration_format(text, ms));
}

/* ---- the fields that are written by hand */

static void put_command(struct json_writer *w, const struct spec *spec)
{
    if (spec->work == WORK_HANDLER || spec->work == WORK_PING)
        return;
    json_key(w, "command");
    if (spec->work == WORK_SHELL) {
        json_str(w, spec->argv[0]);
        return;
    }
    json_open_array(w);
    for (size_t i = 0; i < spec->argc; i++)
        json_str(w, spec->argv[i]);
    json_close_array(w);
}

static void put_handler(struct json_writer *w, const struct spec *spec)
{
    if (spec->work == WORK_HANDLER)
        json_put_str(w, "handler", spec->handler);
}

static void put_pairs(struct json_writer *w, const char *key, const struct pair *pairs,
                      size_t count)
{
    if (count == 0)
        return;
    json_key(w, key);
    json_open(w);
    for (size_t i = 0; i < count; i++) {
        json_key_str(w, pairs[i].key);
        json_str(w, pairs[i].value);
    }
    json_close(w);
}

static void put_env(struct json_writer *w, const struct spec *spec)
{
    put_pairs(w, "env", spec->env, spec->env_count);
}

static void put_tags(struct json_writer *w, const struct spec *spec)
{
    put_pairs(w, "tags", spec->tags, spec->tag_count);
}

static void put_cron(struct json_writer *w, const struct spec *spec)
{
    json_put_str(w, "cron", spec->cron_text);
    if (spec->timezone.len > 0)
        json_put_str(w, "timezone", spec->timezone);
    if (spec->seconds)
        json_put_bool(w, "seconds", true);
}

static void put_schedule(struct json_writer *w, const struct spec *spec)
{
    if (spec->when == WHEN_NOW || spec->when == WHEN_PING)
        return;
    json_key(w, "schedule");
    json_open(w);
    if (spec->when == WHEN_AT) {
        json_key(w, "at");
        json_when(w, spec->when_ms); /* also the first moment of 1970, which is not none */
    } else if (spec->when == WHEN_CRON) {
        put_cron(w, spec);
    } else {
        put_duration(w, spec->when == WHEN_EVERY ? "every" : "delay", spec->when_ms);
    }
    json_close(w);
}

static void put_misfire(struct json_writer *w, const struct spec *spec)
{
    json_key(w, "misfire");
    json_open(w);
    json_put_str(w, "policy", words_name(&misfire_policy_words, spec->misfire.policy));
    put_duration(w, "grace", spec->misfire.grace_ms);
    json_put_int(w, "limit", spec->misfire.limit);
    json_close(w);
}

static void put_dst(struct json_writer *w, const struct spec *spec)
{
    if (spec->when != WHEN_CRON)
        return;
    json_key(w, "dst");
    json_open(w);
    json_put_str(w, "gap", words_name(&cron_gap_words, spec->gap));
    json_put_str(w, "fold", words_name(&cron_fold_words, spec->fold));
    json_close(w);
}

/* 333 of 1000 is 0.333, 300 is 0.3, 1000 is 1: without a detour over floating point. */
static void put_permille(struct json_writer *w, const char *key, uint32_t permille)
{
    char text[] = {(char)('0' + permille / 1000), '.', (char)('0' + permille / 100 % 10),
                   (char)('0' + permille / 10 % 10), (char)('0' + permille % 10)};
    size_t len = sizeof text;
    while (len > 1 && (text[len - 1] == '0' || text[len - 1] == '.')) {
        if (text[--len] == '.')
            break;
    }
    json_put_raw(w, key, str_of(text, len));
}

/* In the order of the classes, whatever the order was. */
static void put_retry_on(struct json_writer *w, uint32_t bits)
{
    if (bits == 0)
        return;
    json_key(w, "retry_on");
    json_open_array(w);
    for (int i = FAILURE_NONE + 1; i < FAILURE_CLASSES; i++) {
        if ((bits >> i & 1) != 0)
            json_str(w, failure_name((enum failure_class)i));
    }
    json_close_array(w);
}

/* Most jobs leave it as it is, and each is printed when it is submitted: its text is known. */
static const struct str retry_default_text =
    STR_INIT("{\"max_retries\":3,\"policy\":\"exponential\",\"delay\":\"1s\",\"max_delay\":\"1h\","
             "\"jitter\":0.3}");

static bool is_default(const struct retry *retry)
{
    const struct retry *usual = &retry_default;
    return retry->max_retries == usual->max_retries && retry->policy == usual->policy &&
           retry->delay_ms == usual->delay_ms && retry->max_delay_ms == usual->max_delay_ms &&
           retry->jitter_permille == usual->jitter_permille && retry->retry_on == usual->retry_on;
}

static void put_retry(struct json_writer *w, const struct spec *spec)
{
    const struct retry *retry = &spec->retry;
    if (spec->work == WORK_PING)
        return;
    if (is_default(retry)) {
        json_put_raw(w, "retry", retry_default_text);
        return;
    }
    json_key(w, "retry");
    json_open(w);
    json_put_int(w, "max_retries", retry->max_retries);
    json_put_str(w, "policy", words_name(&retry_policy_words, retry->policy));
    put_duration(w, "delay", retry->delay_ms);
    put_duration(w, "max_delay", retry->max_delay_ms);
    put_permille(w, "jitter", retry->jitter_permille);
    put_retry_on(w, retry->retry_on);
    json_close(w);
}

static void put_limit(struct json_writer *w, const char *key, const struct limit_rule *rule)
{
    if (rule->key.len == 0)
        return;
    json_key(w, key);
    json_open(w);
    json_put_str(w, "key", rule->key);
    json_put_int(w, "limit", rule->limit);
    if (rule->per_ms > 0)
        put_duration(w, "per", rule->per_ms);
    json_close(w);
}

static void put_concurrency(struct json_writer *w, const struct spec *spec)
{
    put_limit(w, "concurrency", &spec->concurrency);
}

static void put_rate(struct json_writer *w, const struct spec *spec)
{
    put_limit(w, "rate", &spec->rate);
}

static void put_sla(struct json_writer *w, const struct spec *spec)
{
    sla_put(w, &spec->sla);
}

static void put_unique(struct json_writer *w, const struct spec *spec)
{
    unique_put(w, &spec->unique);
}

static void put_calendars(struct json_writer *w, const struct spec *spec)
{
    if (spec->calendar_count == 0)
        return;
    json_key(w, "calendars");
    json_open_array(w);
    for (size_t i = 0; i < spec->calendar_count; i++) {
        const struct calendar_wish *wish = &spec->calendars[i];
        if (!wish->has_policy) {
            json_str(w, wish->name);
            continue;
        }
        json_open(w);
        json_put_str(w, "name", wish->name);
        json_put_str(w, "policy", words_name(&calendar_policy_words, wish->policy));
        json_close(w);
    }
    json_close_array(w);
}

static void put_breaker(struct json_writer *w, const struct spec *spec)
{
    if (spec->breaker.none)
        json_put_bool(w, "breaker", false);
    else if (spec->breaker.name.len > 0)
        json_put_str(w, "breaker", spec->breaker.name);
}

static void put_expect(struct json_writer *w, const struct spec *spec)
{
    expect_put(w, &spec->expect);
}

/* ---- the whole document, from the list: a statement for each field that is printed */

#define PUT_TEXT(name) json_put_str(w, #name, spec->name)
#define PUT_LINE(name) PUT_TEXT(name)
#define PUT_WORD(name) PUT_TEXT(name)
#define PUT_RAW(name) json_put_raw(w, #name, spec->name)
#define PUT_INT(name) json_put_int(w, #name, spec->name)
#define PUT_SPAN(name) put_duration(w, #name, spec->name##_ms)
#define PUT_BOOL(name) json_put_bool(w, #name, spec->name)
#define PUT_ONE_OF(name)                                                                           \
    json_put_str(w, #name, words_name(job_fields[JOB_FIELD_##name].words, spec->name))
#define PUT_OWN(name) put_##name(w, spec)
#define PUT_OWN_MANY(name) PUT_OWN(name)

#define IS_SET_TEXT(name) spec->name.len > 0
#define IS_SET_LINE(name) IS_SET_TEXT(name)
#define IS_SET_WORD(name) IS_SET_TEXT(name)
#define IS_SET_RAW(name) IS_SET_TEXT(name)
#define IS_SET_INT(name) spec->name != 0
#define IS_SET_SPAN(name) spec->name##_ms != 0
#define IS_SET_BOOL(name) spec->name
#define IS_SET_ONE_OF(name) spec->name != 0
#define IS_SET_OWN(name) true /* its function looks */
#define IS_SET_OWN_MANY(name) true

#define PRINTS_ALWAYS(is_set) true
#define PRINTS_IF_SET(is_set) (is_set)
#define PRINTS_RECURS(is_set) recurs
#define PRINTS_RECURS_SET(is_set) recurs && (is_set)

#define KEPT_COLUMN(statement) statement
#define KEPT_INDEXED(statement) statement
#define KEPT_DOCUMENT(statement) statement
#define KEPT_APART(statement)

#define PUT(name, kind, bounds, printed, kept, ...)                                                \
    KEPT_##kept(if (PRINTS_##printed(IS_SET_##kind(name))) { PUT_##kind(name); })

void spec_print(struct json_writer *w, const struct spec *spec)
{
    const bool recurs = spec_has_slots(spec);
    JOB_FIELDS(PUT)
}

#define PUT_ONE(name, kind, bounds, printed, kept, ...)                                            \
    case JOB_FIELD_##name: PUT(name, kind, , printed, kept, ) break;

void spec_print_field(struct json_writer *w, const struct spec *spec, enum job_field_id id)
{
    const bool recurs = true; /* where there is a value, its job may have it */
    switch (id) { /* some fields are printed nowhere. NOLINTNEXTLINE(bugprone-branch-clone) */
        JOB_FIELDS(PUT_ONE)
    case JOB_FIELD_COUNT: break;
    }
}

struct str spec_text(const struct spec *spec, struct arena *arena)
{
    CLEANUP(buf_free) struct buf out = BUF(TEXT_BYTES_MAX);
    buf_reserve(&out, TEXT_BYTES_USUAL);
    struct json_writer w = JSON_WRITER(&out);
    json_open(&w);
    spec_print(&w, spec);
    json_close(&w);
    assert(!out.overflow);
    return arena_str(arena, buf_str(&out));
}

struct str spec_schedule_text(const struct spec *spec, int64_t now_ms, struct arena *arena)
{
    char text[WHEN_TEXT_MAX];
    char grace[WHEN_TEXT_MAX];
    switch (spec->when) {
    case WHEN_PING:
        if (spec->expect.grace_ms == 0)
            return arena_printf(arena, "a ping every %s",
                                duration_format(text, spec->expect.every_ms).ptr);
        return arena_printf(arena, "a ping every %s, or up to %s later",
                            duration_format(text, spec->expect.every_ms).ptr,
                            duration_format(grace, spec->expect.grace_ms).ptr);
    case WHEN_DELAY:
        return arena_printf(arena, "once, %s after it was submitted",
                            duration_format(text, spec->when_ms).ptr);
    case WHEN_AT:
        if (spec->when_ms > now_ms)
            return arena_printf(arena, "once, at %s", when_format(text, spec->when_ms).ptr);
        return arena_printf(arena, "once, right away (the time given, %s, has passed)",
                            when_format(text, spec->when_ms).ptr);
    case WHEN_EVERY:
    case WHEN_CRON: {
        struct schedule schedule = spec_schedule(spec, zone_utc()); /* words ask no clock */
        return preview_words(&schedule, spec->zone, arena);
    }
    default: return STR("once, right away");
    }
}
