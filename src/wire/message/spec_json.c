/* Job documents, read. spec_print.c writes them. */
#include "wire/message/spec_json.h"
#include "wire/json/fields.h"
#include "wire/message/depends_json.h"
#include "wire/message/sla_json.h"
#include "wire/message/unique_json.h"

#include <math.h>

/* ---- parts of a document that need a function of their own */

/* An array is executed as it is. Its bytes are counted as the kernel will: each with its NUL. */
static void read_argv(const struct fields *f, const struct field_place *at,
                      const struct json *value, struct spec *spec)
{
    if (value->count == 0)
        fields_fail(f, at, "must not be empty");
    if (value->count > SPEC_ARGS_MAX) {
        fields_fail(f, at, "must have at most %d items", SPEC_ARGS_MAX);
        return;
    }
    struct str *argv = ARENA_ARRAY(f->arena, struct str, value->count);
    size_t bytes = 0;
    for (size_t i = 0; i < value->count; i++) {
        struct field_place place = {.parent = at, .index = i};
        int64_t min = i == 0; /* the program must have a name, its arguments may be empty */
        if (!fields_text(f, &place, &value->items[i], FIELD_TEXT, min, SPEC_ARGV_BYTES_MAX))
            continue;
        argv[i] = value->items[i].string;
        bytes += argv[i].len + 1;
    }
    if (bytes > SPEC_ARGV_BYTES_MAX)
        fields_fail(f, at, "must be at most %d bytes in all", SPEC_ARGV_BYTES_MAX);
    spec->work = WORK_ARGV;
    spec->argv = argv;
    spec->argc = value->count;
}

static void read_command(const struct fields *f, const struct field_place *at,
                         const struct json *value, void *into)
{
    struct spec *spec = into;
    if (value->kind == JSON_ARRAY) {
        read_argv(f, at, value, spec);
    } else if (value->kind != JSON_STRING) {
        fields_fail(f, at, "must be an array or a string, not %s", json_value_name(value));
    } else if (fields_text(f, at, value, FIELD_TEXT, 1, SPEC_ARGV_BYTES_MAX - 1)) {
        struct str *text = ARENA_NEW(f->arena, struct str);
        *text = value->string;
        spec->work = WORK_SHELL;
        spec->argv = text;
        spec->argc = 1;
    }
}

static void read_handler(const struct fields *f, const struct field_place *at,
                         const struct json *value, void *into)
{
    struct spec *spec = into;
    if (!fields_text(f, at, value, FIELD_PATH, 1, SPEC_NAME_MAX))
        return;
    spec->work = WORK_HANDLER;
    spec->handler = value->string;
}

/* An object of texts, as pairs in the order of the document. */
struct pair_limits {
    size_t count_max;
    int64_t value_bytes_max;
    size_t bytes_max;
    char key_without; /* a character that no key may have; 0: none */
};

static bool check_key(const struct fields *f, const struct field_place *at,
                      const struct pair_limits *limits, struct str key)
{
    const struct json text = {.kind = JSON_STRING, .string = key};
    if (key.len == 0) {
        fields_fail(f, at->parent, "must not have an empty name");
        return false;
    }
    if (limits->key_without != 0 && str_index(key, limits->key_without) < key.len) {
        fields_fail(f, at, "must not have '%c' in its name", limits->key_without);
        return false;
    }
    return fields_text(f, at, &text, FIELD_LINE, 1, SPEC_NAME_MAX);
}

static struct pair *read_pairs(const struct fields *f, const struct field_place *at,
                               const struct json *value, enum field_kind kind,
                               const struct pair_limits *limits)
{
    if (!fields_kind(f, at, value, JSON_OBJECT))
        return NULL;
    if (value->count > limits->count_max) {
        fields_fail(f, at, "must have at most %zu members", limits->count_max);
        return NULL;
    }
    struct pair *pairs = ARENA_ARRAY(f->arena, struct pair, value->count);
    size_t bytes = 0;
    for (size_t i = 0; i < value->count; i++) {
        const struct json_member *member = &value->members[i];
        struct field_place place = {.parent = at, .key = member->key};
        if (!check_key(f, &place, limits, member->key) ||
            !fields_text(f, &place, &member->value, kind, 0, limits->value_bytes_max))
            continue;
        pairs[i] = (struct pair){member->key, member->value.string};
        bytes += pairs[i].key.len + pairs[i].value.len + 2; /* '=' and NUL */
    }
    if (bytes > limits->bytes_max)
        fields_fail(f, at, "must be at most %zu bytes in all", limits->bytes_max);
    return pairs;
}

static void read_env(const struct fields *f, const struct field_place *at, const struct json *value,
                     void *into)
{
    static const struct pair_limits limits = {
        .count_max = SPEC_ENV_MAX,
        .value_bytes_max = SPEC_ARGV_BYTES_MAX,
        .bytes_max = SPEC_ARGV_BYTES_MAX,
        .key_without = '=',
    };
    struct spec *spec = into;
    spec->env = read_pairs(f, at, value, FIELD_TEXT, &limits);
    spec->env_count = spec->env == NULL ? 0 : value->count;
}

static void read_tags(const struct fields *f, const struct field_place *at,
                      const struct json *value, void *into)
{
    static const struct pair_limits limits = {
        .count_max = SPEC_TAGS_MAX,
        .value_bytes_max = SPEC_TEXT_MAX,
        .bytes_max = SPEC_TAGS_MAX * (SPEC_NAME_MAX + SPEC_TEXT_MAX + 2),
    };
    struct spec *spec = into;
    spec->tags = read_pairs(f, at, value, FIELD_LINE, &limits);
    spec->tag_count = spec->tags == NULL ? 0 : value->count;
}

static void read_schedule(const struct fields *f, const struct field_place *at,
                          const struct json *value, void *into)
{
    enum { AT = 1, DELAY = 2, EVERY = 4, CRON = 8, TIMEZONE = 16, SECONDS = 32 }; /* bits of them */
    static const struct field schedule_fields[] = {
        {FIELD("at", struct spec, when_ms), .kind = FIELD_WHEN},
        {FIELD("delay", struct spec, when_ms), .kind = FIELD_DURATION, .max = SPEC_DURATION_MAX_MS},
        {FIELD("every", struct spec, when_ms), .kind = FIELD_DURATION, .min = SPEC_EVERY_MIN_MS,
         .max = SPEC_DURATION_MAX_MS},
        {FIELD("cron", struct spec, cron_text), .kind = FIELD_LINE, .min = 1,
         .max = CRON_TEXT_BYTES_MAX},
        {FIELD("timezone", struct spec, timezone), .kind = FIELD_LINE, .min = 1,
         .max = SPEC_NAME_MAX},
        {FIELD("seconds", struct spec, seconds), .kind = FIELD_BOOL},
    };
    struct spec *spec = into;
    uint64_t seen = fields_read(f, at, value, schedule_fields, COUNT_OF(schedule_fields), spec);
    uint64_t kind = seen & (AT | DELAY | EVERY | CRON);
    if ((kind & (kind - 1)) != 0)
        fields_fail(f, at, "must have only one of at, delay, every and cron");
    else if (kind == 0 && value->kind == JSON_OBJECT)
        fields_fail(f, at, "must have one of at, delay, every and cron");
    else if ((seen & (TIMEZONE | SECONDS)) != 0 && kind != CRON)
        fields_fail(f, at, "must have timezone and seconds only beside cron");
    spec->when = kind == AT      ? WHEN_AT
                 : kind == DELAY ? WHEN_DELAY
                 : kind == EVERY ? WHEN_EVERY
                                 : WHEN_CRON;
}

/* When the whole document is known: H in an expression stands for the job's name. */
static void parse_cron(const struct fields *f, struct spec *spec)
{
    const struct cron_options options = {.seconds = spec->seconds, .name = spec->name};
    struct str prefix;
    struct err err;
    if (spec->when != WHEN_CRON || spec->cron_text.len == 0)
        return;
    if (cron_parse(spec->cron_text, &options, &spec->cron, &prefix, &err) != RC_OK)
        field_error(f->errors, f->arena, STR("schedule.cron"), "%s", err.text);
    else if (schedule_zone_name(prefix, spec->timezone, &spec->zone, &err) != RC_OK)
        field_error(f->errors, f->arena, STR("schedule.timezone"), "%s", err.text);
}

static void read_gap(const struct fields *f, const struct field_place *at, const struct json *value,
                     void *into)
{
    enum cron_gap *gap = into;
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    if (str_eq(value->string, STR("skip")))
        *gap = CRON_GAP_SKIP;
    else if (!str_eq(value->string, STR("after")))
        fields_fail(f, at, "must be one of after and skip");
}

static void read_fold(const struct fields *f, const struct field_place *at,
                      const struct json *value, void *into)
{
    enum cron_fold *fold = into;
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    if (str_eq(value->string, STR("second")))
        *fold = CRON_FOLD_SECOND;
    else if (str_eq(value->string, STR("both")))
        *fold = CRON_FOLD_BOTH;
    else if (!str_eq(value->string, STR("first")))
        fields_fail(f, at, "must be one of first, second and both");
}

static void read_dst(const struct fields *f, const struct field_place *at, const struct json *value,
                     void *into)
{
    static const struct field dst_fields[] = {
        {FIELD("gap", struct spec, gap), .kind = FIELD_OWN, .read = read_gap},
        {FIELD("fold", struct spec, fold), .kind = FIELD_OWN, .read = read_fold},
    };
    fields_read(f, at, value, dst_fields, COUNT_OF(dst_fields), into);
}

static void read_misfire_policy(const struct fields *f, const struct field_place *at,
                                const struct json *value, void *into)
{
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    if (!misfire_policy_parse(value->string, into))
        fields_fail(f, at, "must be one of latest, all and skip");
}

static void read_misfire(const struct fields *f, const struct field_place *at,
                         const struct json *value, void *into)
{
    static const struct field misfire_fields[] = {
        {FIELD("policy", struct misfire, policy), .kind = FIELD_OWN, .read = read_misfire_policy},
        {FIELD("grace", struct misfire, grace_ms), .kind = FIELD_DURATION,
         .max = SPEC_DURATION_MAX_MS},
        {FIELD("limit", struct misfire, limit), .kind = FIELD_INT, .min = 1,
         .max = SPEC_MISFIRE_MAX},
    };
    fields_read(f, at, value, misfire_fields, COUNT_OF(misfire_fields), into);
}

static void read_overlap(const struct fields *f, const struct field_place *at,
                         const struct json *value, void *into)
{
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    if (!overlap_parse(value->string, into))
        fields_fail(f, at, "must be one of skip, queue, parallel and replace");
}

static void read_policy(const struct fields *f, const struct field_place *at,
                        const struct json *value, void *into)
{
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    if (!retry_policy_parse(value->string, into))
        fields_fail(f, at, "must be one of exponential, linear, fixed and immediate");
}

static void read_jitter(const struct fields *f, const struct field_place *at,
                        const struct json *value, void *into)
{
    if (value->kind != JSON_INT && !fields_kind(f, at, value, JSON_DOUBLE))
        return;
    double jitter = value->kind == JSON_INT ? (double)value->integer : value->number;
    if (jitter >= 0 && jitter <= 1)
        *(uint32_t *)into = (uint32_t)lround(jitter * 1000);
    else
        fields_fail(f, at, "must be between 0 and 1");
}

static void read_retry_on(const struct fields *f, const struct field_place *at,
                          const struct json *value, void *into)
{
    uint32_t bits = 0;
    if (!fields_kind(f, at, value, JSON_ARRAY))
        return;
    if (value->count == 0)
        fields_fail(f, at, "must not be empty: without retries, max_retries is 0");
    for (size_t i = 0; i < value->count; i++) {
        struct field_place place = {.parent = at, .index = i};
        struct str names = failure_names();
        enum failure_class class;
        if (!fields_kind(f, &place, &value->items[i], JSON_STRING))
            continue;
        if (failure_parse(value->items[i].string, &class))
            bits |= UINT32_C(1) << class;
        else
            fields_fail(f, &place, "must be one of %.*s", STR_ARG(names));
    }
    *(uint32_t *)into = bits;
}

static void read_retry(const struct fields *f, const struct field_place *at,
                       const struct json *value, void *into)
{
    static const struct field retry_fields[] = {
        {FIELD("max_retries", struct retry, max_retries), .kind = FIELD_INT,
         .max = SPEC_RETRIES_MAX},
        {FIELD("policy", struct retry, policy), .kind = FIELD_OWN, .read = read_policy},
        {FIELD("delay", struct retry, delay_ms), .kind = FIELD_DURATION,
         .max = SPEC_DURATION_MAX_MS},
        {FIELD("max_delay", struct retry, max_delay_ms), .kind = FIELD_DURATION,
         .max = SPEC_DURATION_MAX_MS},
        {FIELD("jitter", struct retry, jitter_permille), .kind = FIELD_OWN, .read = read_jitter},
        {FIELD("retry_on", struct retry, retry_on), .kind = FIELD_OWN, .read = read_retry_on},
    };
    enum { DELAY = 1 << 2, MAX_DELAY = 1 << 3 }; /* bits of these two */
    struct retry *retry = into;
    uint64_t seen = fields_read(f, at, value, retry_fields, COUNT_OF(retry_fields), retry);
    if (retry->delay_ms <= retry->max_delay_ms)
        return;
    if (!(seen & MAX_DELAY)) { /* a default gives way to what the user said */
        retry->max_delay_ms = retry->delay_ms;
    } else if (!(seen & DELAY)) {
        retry->delay_ms = retry->max_delay_ms;
    } else {
        struct field_place place = {.parent = at, .key = STR("delay")};
        fields_fail(f, &place, "must not be longer than max_delay");
    }
}

/* Both kinds of limit; a rate has a window, too. */
static void read_limit(const struct fields *f, const struct field_place *at,
                       const struct json *value, const struct field *limit_fields, size_t count,
                       struct limit_rule *rule)
{
    uint64_t seen = fields_read(f, at, value, limit_fields, count, rule);
    for (size_t i = 0; value->kind == JSON_OBJECT && i < count; i++) {
        struct field_place place = {.parent = at, .key = limit_fields[i].name};
        if (!(seen & (UINT64_C(1) << i)))
            fields_fail(f, &place, "is required");
    }
}

#define LIMIT_KEY                                                                                  \
    {                                                                                              \
        FIELD("key", struct limit_rule, key), .kind = FIELD_LINE, .min = 1, .max = SPEC_NAME_MAX   \
    }
#define LIMIT_COUNT                                                                                \
    {                                                                                              \
        FIELD("limit", struct limit_rule, limit), .kind = FIELD_INT, .min = 1,                     \
                                                  .max = SPEC_LIMIT_MAX                            \
    }

static void read_concurrency(const struct fields *f, const struct field_place *at,
                             const struct json *value, void *into)
{
    static const struct field limit_fields[] = {LIMIT_KEY, LIMIT_COUNT};
    read_limit(f, at, value, limit_fields, COUNT_OF(limit_fields), into);
}

static void read_rate(const struct fields *f, const struct field_place *at,
                      const struct json *value, void *into)
{
    static const struct field limit_fields[] = {
        LIMIT_KEY,
        LIMIT_COUNT,
        {FIELD("per", struct limit_rule, per_ms), .kind = FIELD_DURATION, .min = 1,
         .max = SPEC_DURATION_MAX_MS},
    };
    read_limit(f, at, value, limit_fields, COUNT_OF(limit_fields), into);
}

/* A name, or false: none. */
static void read_breaker(const struct fields *f, const struct field_place *at,
                         const struct json *value, void *into)
{
    struct breaker_wish *wish = into;
    if (value->kind == JSON_BOOL && !value->boolean)
        wish->none = true;
    else if (value->kind != JSON_STRING)
        fields_fail(f, at, "must be a name or false, not %s",
                    value->kind == JSON_BOOL ? "true" : json_value_name(value));
    else if (fields_text(f, at, value, FIELD_WORD, 1, SPEC_NAME_MAX))
        wish->name = value->string;
}

/* ---- calendars */

static void read_calendar_policy(const struct fields *f, const struct field_place *at,
                                 const struct json *value, void *into)
{
    struct calendar_wish *wish = into;
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    wish->has_policy = calendar_policy_parse(value->string, &wish->policy);
    if (!wish->has_policy)
        fields_fail(f, at, "must be skip or hold");
}

/* "holidays", or {"name": "holidays", "policy": "hold"} to say otherwise than the calendar does. */
static void read_calendar(const struct fields *f, const struct field_place *at,
                          const struct json *value, struct calendar_wish *wish)
{
    static const struct field wish_fields[] = {
        {FIELD("name", struct calendar_wish, name), .kind = FIELD_WORD, .required = true, .min = 1,
         .max = SPEC_NAME_MAX},
        {.name = STR_INIT("policy"), .kind = FIELD_OWN, .read = read_calendar_policy},
    };
    if (value->kind == JSON_OBJECT)
        fields_read(f, at, value, wish_fields, COUNT_OF(wish_fields), wish);
    else if (fields_text(f, at, value, FIELD_WORD, 1, SPEC_NAME_MAX))
        wish->name = value->string;
}

static void read_calendars(const struct fields *f, const struct field_place *at,
                           const struct json *value, void *into)
{
    struct spec *spec = into;
    if (!fields_kind(f, at, value, JSON_ARRAY))
        return;
    if (value->count > SPEC_CALENDARS_MAX) {
        fields_fail(f, at, "must have at most %d items", SPEC_CALENDARS_MAX);
        return;
    }
    struct calendar_wish *wishes = ARENA_ARRAY(f->arena, struct calendar_wish, value->count);
    for (size_t i = 0; i < value->count; i++) {
        struct field_place place = {.parent = at, .index = i};
        read_calendar(f, &place, &value->items[i], &wishes[i]);
        for (size_t k = 0; k < i; k++) {
            if (wishes[i].name.len > 0 && str_eq(wishes[i].name, wishes[k].name))
                fields_fail(f, &place, "is there twice");
        }
    }
    spec->calendars = wishes;
    spec->calendar_count = value->count;
}

static void read_once_key(const struct fields *f, const struct field_place *at,
                          const struct json *value, void *into)
{
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    if (idempotency_key_is_valid(value->string))
        *(struct str *)into = value->string;
    else
        fields_fail(f, at, "must be 1 to %d characters of visible ASCII", SPEC_ONCE_KEY_MAX);
}

/* ---- the whole document */

#define LATER(text)                                                                                \
    {                                                                                              \
        .name = STR_INIT(text), .kind = FIELD_LATER                                                \
    }

enum { COMMAND = 1 << 0, HANDLER = 1 << 1, WORK = (1 << 5) - 1 }; /* bits of the first five */

/* Members without a place of their own are handed the whole spec. */
static const struct field spec_fields[] = {
    {.name = STR_INIT("command"), .kind = FIELD_OWN, .read = read_command},
    {.name = STR_INIT("handler"), .kind = FIELD_OWN, .read = read_handler},
    LATER("http"),
    LATER("container"),
    LATER("task"),
    {FIELD("name", struct spec, name), .kind = FIELD_LINE, .min = 1, .max = SPEC_NAME_MAX},
    {FIELD("description", struct spec, description), .kind = FIELD_TEXT, .max = SPEC_TEXT_MAX},
    {FIELD("payload", struct spec, payload), .kind = FIELD_RAW},
    {.name = STR_INIT("env"), .kind = FIELD_OWN, .read = read_env},
    {FIELD("working_dir", struct spec, working_dir), .kind = FIELD_TEXT, .min = 1,
     .max = SPEC_TEXT_MAX},
    {.name = STR_INIT("schedule"), .kind = FIELD_OWN, .read = read_schedule},
    {FIELD("priority", struct spec, priority), .kind = FIELD_INT, .max = SPEC_PRIORITY_MAX},
    {FIELD("queue", struct spec, queue), .kind = FIELD_WORD, .min = 1, .max = SPEC_NAME_MAX},
    {FIELD("timeout", struct spec, timeout_ms), .kind = FIELD_DURATION, .min = 1,
     .max = SPEC_DURATION_MAX_MS},
    {FIELD("retry", struct spec, retry), .kind = FIELD_OWN, .read = read_retry},
    {.name = STR_INIT("tags"), .kind = FIELD_OWN, .read = read_tags},
    {FIELD("team", struct spec, team), .kind = FIELD_WORD, .min = 1, .max = SPEC_NAME_MAX},
    LATER("resources"),
    LATER("labels"),
    {FIELD("sla", struct spec, sla), .kind = FIELD_OWN, .read = sla_read},
    {FIELD("overlap", struct spec, overlap), .kind = FIELD_OWN, .read = read_overlap},
    {FIELD("misfire", struct spec, misfire), .kind = FIELD_OWN, .read = read_misfire},
    {.name = STR_INIT("dst"), .kind = FIELD_OWN, .read = read_dst},
    {FIELD("stagger", struct spec, stagger_ms), .kind = FIELD_DURATION,
     .max = SPEC_DURATION_MAX_MS},
    {FIELD_ARRAY("depends_on", struct spec, depends_on, depends_count), .kind = FIELD_LIST,
     .max = SPEC_DEPENDS_MAX, .items = &depends_items},
    {FIELD("concurrency", struct spec, concurrency), .kind = FIELD_OWN, .read = read_concurrency},
    {FIELD("rate", struct spec, rate), .kind = FIELD_OWN, .read = read_rate},
    {FIELD("unique", struct spec, unique), .kind = FIELD_OWN, .read = unique_read},
    {FIELD("breaker", struct spec, breaker), .kind = FIELD_OWN, .read = read_breaker},
    {FIELD("idempotency_key", struct spec, idempotency_key), .kind = FIELD_OWN,
     .read = read_once_key},
    {FIELD("start_within", struct spec, start_within_ms), .kind = FIELD_DURATION, .min = 1,
     .max = SPEC_DURATION_MAX_MS},
    {FIELD("expires_in", struct spec, expires_in_ms), .kind = FIELD_DURATION, .min = 1,
     .max = SPEC_DURATION_MAX_MS},
    LATER("at_most_once"),
    {.name = STR_INIT("calendars"), .kind = FIELD_OWN, .read = read_calendars},
    LATER("secrets"),
    LATER("user"),
    LATER("sandbox"),
};

/* Fields that only make sense when there is more than one slot. */
static void refuse_recurring(const struct fields *f, uint64_t seen)
{
    static const char *const names[] = {"overlap", "misfire", "dst", "stagger"};
    for (size_t i = 0; i < COUNT_OF(spec_fields); i++) {
        if ((seen & (UINT64_C(1) << i)) == 0)
            continue;
        for (size_t k = 0; k < COUNT_OF(names); k++) {
            if (str_eq(spec_fields[i].name, str_c(names[k])))
                field_error(f->errors, f->arena, spec_fields[i].name,
                            "is for jobs whose schedule is every or cron");
        }
    }
}

static enum rc parse(const struct json *doc, bool stored, struct arena *arena,
                     struct spec *ret_spec, struct field_errors *errors)
{
    const struct fields f = {.arena = arena, .errors = errors, .stored = stored};
    struct spec spec = {
        .when = WHEN_NOW,
        .queue = SPEC_QUEUE,
        .priority = SPEC_PRIORITY_DEFAULT,
        .retry = retry_default,
        .misfire = misfire_default,
    };
    uint64_t seen = fields_read(&f, NULL, doc, spec_fields, COUNT_OF(spec_fields), &spec);
    parse_cron(&f, &spec);
    if (!spec_recurs(&spec))
        refuse_recurring(&f, seen);
    else if (spec.unique.key.len > 0)
        field_error(errors, arena, STR("unique"),
                    "is for jobs that run once; of one that recurs, overlap says what becomes of a "
                    "slot while an earlier one is not over");
    if (spec.expires_in_ms > 0 && spec.start_within_ms >= spec.expires_in_ms)
        field_error(errors, arena, STR("start_within"), "must be shorter than expires_in");
    if ((seen & COMMAND) && (seen & HANDLER))
        field_error(errors, arena, STR("handler"), "must not stand beside command");
    if (!(seen & WORK) && doc->kind == JSON_OBJECT)
        field_error(errors, arena, STR("command"), "is required, or handler");
    if (errors->count > 0)
        return RC_INVALID;
    *ret_spec = spec;
    return RC_OK;
}

enum rc spec_parse(const struct json *doc, struct arena *arena, struct spec *ret_spec,
                   struct field_errors *errors)
{
    return parse(doc, false, arena, ret_spec, errors);
}

enum rc spec_read(struct str text, struct arena *arena, struct spec *ret_spec, struct err *err)
{
    struct json doc;
    struct field_errors errors = {.count = 0};
    TRY(json_parse(text, arena, &doc, err));
    if (parse(&doc, true, arena, ret_spec, &errors)) {
        struct str why = field_errors_text(&errors, arena);
        return err_set(err, RC_INVALID, "%.*s", STR_ARG(why));
    }
    return RC_OK;
}
