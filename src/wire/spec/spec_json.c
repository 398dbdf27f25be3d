/* Job documents, read. spec_print.c writes them. */
#include "wire/spec/spec_json.h"
#include "base/id.h"
#include "job/spec_scan.h"
#include "wire/json/fields.h"
#include "wire/spec/depends_json.h"
#include "wire/spec/expect_json.h"
#include "wire/spec/sla_json.h"
#include "wire/spec/unique_json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { FILTER_BYTES_MAX = 64 << 10 }; /* of a text field, every byte escaped sixfold */

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
    enum { AT, DELAY, EVERY, CRON, TIMEZONE, SECONDS };
    static const struct field schedule_fields[] = {
        [AT] = {FIELD("at", struct spec, when_ms), .kind = FIELD_WHEN},
        [DELAY] = {FIELD("delay", struct spec, when_ms), .kind = FIELD_DURATION,
                   .max = DURATION_MAX_MS},
        [EVERY] = {FIELD("every", struct spec, when_ms), .kind = FIELD_DURATION,
                   .min = SPEC_EVERY_MIN_MS, .max = DURATION_MAX_MS},
        [CRON] = {FIELD("cron", struct spec, cron_text), .kind = FIELD_LINE, .min = 1,
                  .max = CRON_TEXT_BYTES_MAX},
        [TIMEZONE] = {FIELD("timezone", struct spec, timezone), .kind = FIELD_LINE, .min = 1,
                      .max = SPEC_NAME_MAX},
        [SECONDS] = {FIELD("seconds", struct spec, seconds), .kind = FIELD_BOOL},
    };
    static const enum when_kind whens[] = {
        [AT] = WHEN_AT, [DELAY] = WHEN_DELAY, [EVERY] = WHEN_EVERY, [CRON] = WHEN_CRON};
    struct spec *spec = into;
    uint64_t seen = fields_read(f, at, value, schedule_fields, COUNT_OF(schedule_fields), spec);
    unsigned kinds = 0;
    unsigned kind = CRON;
    for (unsigned i = AT; i <= CRON; i++) {
        if (fields_seen(seen, i) && kinds++ == 0)
            kind = i;
    }
    bool is_cron = kinds == 1 && kind == CRON;
    if (kinds > 1)
        fields_fail(f, at, "must have only one of at, delay, every and cron");
    else if (kinds == 0 && value->kind == JSON_OBJECT)
        fields_fail(f, at, "must have one of at, delay, every and cron");
    else if ((fields_seen(seen, TIMEZONE) || fields_seen(seen, SECONDS)) && !is_cron)
        fields_fail(f, at, "must have timezone and seconds only beside cron");
    spec->when =
        kinds == 1 ? whens[kind] : WHEN_CRON; /* what is wrong in an expression is told, too */
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

static void read_dst(const struct fields *f, const struct field_place *at, const struct json *value,
                     void *into)
{
    static const struct field dst_fields[] = {
        {FIELD("gap", struct spec, gap), .kind = FIELD_ONE_OF, .words = &cron_gap_words},
        {FIELD("fold", struct spec, fold), .kind = FIELD_ONE_OF, .words = &cron_fold_words},
    };
    fields_read(f, at, value, dst_fields, COUNT_OF(dst_fields), into);
}

static void read_misfire(const struct fields *f, const struct field_place *at,
                         const struct json *value, void *into)
{
    static const struct field misfire_fields[] = {
        {FIELD("policy", struct misfire, policy), .kind = FIELD_ONE_OF,
         .words = &misfire_policy_words},
        {FIELD("grace", struct misfire, grace_ms), .kind = FIELD_DURATION, .max = DURATION_MAX_MS},
        {FIELD("limit", struct misfire, limit), .kind = FIELD_INT, .min = 1,
         .max = SPEC_MISFIRE_MAX},
    };
    struct spec *spec = into;
    fields_read(f, at, value, misfire_fields, COUNT_OF(misfire_fields), &spec->misfire);
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
        enum failure_class class;
        if (!fields_kind(f, &place, &value->items[i], JSON_STRING))
            continue;
        if (failure_parse(value->items[i].string, &class))
            bits |= UINT32_C(1) << class;
        else
            fields_fail(f, &place, "must be one of %.*s",
                        STR_ARG(words_text(&failure_words, f->arena)));
    }
    *(uint32_t *)into = bits;
}

static void read_retry(const struct fields *f, const struct field_place *at,
                       const struct json *value, void *into)
{
    enum { MAX_RETRIES, POLICY, DELAY, MAX_DELAY, JITTER, RETRY_ON };
    static const struct field retry_fields[] = {
        [MAX_RETRIES] = {FIELD("max_retries", struct retry, max_retries), .kind = FIELD_INT,
                         .max = SPEC_RETRIES_MAX},
        [POLICY] = {FIELD("policy", struct retry, policy), .kind = FIELD_ONE_OF,
                    .words = &retry_policy_words},
        [DELAY] = {FIELD("delay", struct retry, delay_ms), .kind = FIELD_DURATION,
                   .max = DURATION_MAX_MS},
        [MAX_DELAY] = {FIELD("max_delay", struct retry, max_delay_ms), .kind = FIELD_DURATION,
                       .max = DURATION_MAX_MS},
        [JITTER] = {FIELD("jitter", struct retry, jitter_permille), .kind = FIELD_OWN,
                    .read = read_jitter},
        [RETRY_ON] = {FIELD("retry_on", struct retry, retry_on), .kind = FIELD_OWN,
                      .read = read_retry_on},
    };
    struct retry *retry = &((struct spec *)into)->retry;
    uint64_t seen = fields_read(f, at, value, retry_fields, COUNT_OF(retry_fields), retry);
    if (retry->delay_ms <= retry->max_delay_ms)
        return;
    if (!fields_seen(seen, MAX_DELAY)) { /* a default gives way to what the user said */
        retry->max_delay_ms = retry->delay_ms;
    } else if (!fields_seen(seen, DELAY)) {
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
        if (!fields_seen(seen, (unsigned)i))
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
    struct spec *spec = into;
    read_limit(f, at, value, limit_fields, COUNT_OF(limit_fields), &spec->concurrency);
}

static void read_rate(const struct fields *f, const struct field_place *at,
                      const struct json *value, void *into)
{
    static const struct field limit_fields[] = {
        LIMIT_KEY,
        LIMIT_COUNT,
        {FIELD("per", struct limit_rule, per_ms), .kind = FIELD_DURATION, .min = 1,
         .max = DURATION_MAX_MS},
    };
    struct spec *spec = into;
    read_limit(f, at, value, limit_fields, COUNT_OF(limit_fields), &spec->rate);
}

/* A name, or false: none. */
static void read_breaker(const struct fields *f, const struct field_place *at,
                         const struct json *value, void *into)
{
    struct breaker_wish *wish = &((struct spec *)into)->breaker;
    if (value->kind == JSON_BOOL && !value->boolean)
        wish->none = true;
    else if (value->kind != JSON_STRING)
        fields_fail(f, at, "must be a name or false, not %s",
                    value->kind == JSON_BOOL ? "true" : json_value_name(value));
    else if (fields_text(f, at, value, FIELD_WORD, 1, SPEC_NAME_MAX))
        wish->name = value->string;
}

/* ---- calendars */

/* "holidays", or {"name": "holidays", "policy": "hold"} to say otherwise than the calendar does. */
static void read_calendar(const struct fields *f, const struct field_place *at,
                          const struct json *value, struct calendar_wish *wish)
{
    enum { NAME, POLICY };
    static const struct field wish_fields[] = {
        [NAME] = {FIELD("name", struct calendar_wish, name), .kind = FIELD_WORD, .required = true,
                  .min = 1, .max = SPEC_NAME_MAX},
        [POLICY] = {FIELD("policy", struct calendar_wish, policy), .kind = FIELD_ONE_OF,
                    .words = &calendar_policy_words},
    };
    if (value->kind == JSON_OBJECT)
        wish->has_policy = fields_seen(
            fields_read(f, at, value, wish_fields, COUNT_OF(wish_fields), wish), POLICY);
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

static void read_sla(const struct fields *f, const struct field_place *at, const struct json *value,
                     void *into)
{
    struct spec *spec = into;
    sla_read(f, at, value, &spec->sla);
}

static void read_unique(const struct fields *f, const struct field_place *at,
                        const struct json *value, void *into)
{
    unique_read(f, at, value, &((struct spec *)into)->unique);
}

static void read_expect(const struct fields *f, const struct field_place *at,
                        const struct json *value, void *into)
{
    expect_read(f, at, value, into);
}

static void read_depends_on(const struct fields *f, const struct field_place *at,
                            const struct json *value, void *into)
{
    static const struct field depends = {
        FIELD_ARRAY("depends_on", struct spec, depends_on, depends_count), .kind = FIELD_LIST,
        .max = SPEC_DEPENDS_MAX, .items = &depends_items};
    fields_value(f, at, value, &depends, into);
}

static void read_idempotency_key(const struct fields *f, const struct field_place *at,
                                 const struct json *value, void *into)
{
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    struct spec *spec = into;
    if (idempotency_key_is_valid(value->string))
        spec->idempotency_key = value->string;
    else
        fields_fail(f, at, "must be 1 to %d characters of visible ASCII", SPEC_ONCE_KEY_MAX);
}

/* ---- the whole document */

#define READ_TEXT(name) FIELD(#name, struct spec, name), .kind = FIELD_TEXT
#define READ_LINE(name) FIELD(#name, struct spec, name), .kind = FIELD_LINE
#define READ_WORD(name) FIELD(#name, struct spec, name), .kind = FIELD_WORD
#define READ_RAW(name) FIELD(#name, struct spec, name), .kind = FIELD_RAW
#define READ_INT(name) FIELD(#name, struct spec, name), .kind = FIELD_INT
#define READ_SPAN(name) FIELD(#name, struct spec, name##_ms), .kind = FIELD_DURATION
#define READ_BOOL(name) FIELD(#name, struct spec, name), .kind = FIELD_BOOL
#define READ_ONE_OF(name) FIELD(#name, struct spec, name), .kind = FIELD_ONE_OF
/* Those that are written by hand are handed the whole spec. */
#define READ_OWN(key) .name = STR_INIT(#key), .kind = FIELD_OWN, .read = read_##key
#define READ_OWN_MANY(key) READ_OWN(key)

#define READ(name, kind, bounds, ...) [JOB_FIELD_##name] = {READ_##kind(name), bounds},
#define READ_LATER(key) [LATER_##key] = {.name = STR_INIT(#key), .kind = FIELD_LATER},

#define LATER_PLACE(name) LATER_##name,
enum { LATER_BEFORE = JOB_FIELD_COUNT - 1, JOB_FIELDS_LATER(LATER_PLACE) PLACES };
static_assert((int)PLACES <= FIELDS_MAX, "the answer of fields_read has a bit for each field");

static const struct field spec_fields[] = {JOB_FIELDS(READ) JOB_FIELDS_LATER(READ_LATER)};

/* Fields that only make sense when there is more than one slot. */
static void refuse_recurring(const struct fields *f, uint64_t seen)
{
    for (unsigned i = 0; i < JOB_FIELD_COUNT; i++) {
        enum job_printed printed = job_fields[i].printed;
        if (fields_seen(seen, i) &&
            (printed == JOB_PRINTED_RECURS || printed == JOB_PRINTED_RECURS_SET))
            field_error(f->errors, f->arena, job_fields[i].key,
                        "is for jobs whose schedule is every or cron");
    }
}

/* A job has one kind of work. Kinds that are not supported yet have been reported as such. */
static void check_work(const struct fields *f, const struct json *doc, uint64_t seen)
{
    bool command = fields_seen(seen, JOB_FIELD_command);
    bool handler = fields_seen(seen, JOB_FIELD_handler);
    bool later = fields_seen(seen, LATER_http) || fields_seen(seen, LATER_container) ||
                 fields_seen(seen, LATER_kubernetes) || fields_seen(seen, LATER_task);
    bool expect = expect_check(f, seen);
    if (command && handler && !expect)
        field_error(f->errors, f->arena, STR("handler"), "must not stand beside command");
    if (!command && !handler && !expect && !later && doc->kind == JSON_OBJECT)
        field_error(f->errors, f->arena, STR("command"), "is required, or handler, or expect");
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
    else if (spec_has_slots(&spec) && spec.unique.key.len > 0)
        field_error(errors, arena, STR("unique"),
                    "is for jobs that run once; of one that recurs, overlap says what becomes of a "
                    "slot while an earlier one is not over");
    if (spec.expires_in_ms > 0 && spec.start_within_ms >= spec.expires_in_ms)
        field_error(errors, arena, STR("start_within"), "must be shorter than expires_in");
    if (!stored && id_is_any(spec.name)) /* wherever a name is taken it would be an id */
        field_error(errors, arena, STR("name"), "must not look like an id");
    check_work(&f, doc, seen);
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

/* ---- filters of lists */

/* The text of a parameter as the JSON that a document would have. */
static struct json param_value(enum job_kind kind, struct str text)
{
    struct json value = {.kind = JSON_STRING, .string = text};
    if (kind == JOB_KIND_INT) /* what is no whole number is reported as if it were another one */
        value.kind = str_to_i64(text, &value.integer) ? JSON_INT : JSON_DOUBLE;
    if (kind == JOB_KIND_BOOL && (str_eq(text, STR("true")) || str_eq(text, STR("false"))))
        value = (struct json){.kind = JSON_BOOL, .boolean = text.len == strlen("true")};
    return value;
}

struct str spec_filter_value(enum job_field_id id, struct str text, struct arena *arena,
                             struct field_errors *errors)
{
    CLEANUP(buf_free) struct buf out = BUF(FILTER_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    const struct fields f = {.arena = arena, .errors = errors};
    const struct field_place at = {.key = job_fields[id].key};
    const struct json value = param_value(job_fields[id].kind, text);
    struct spec spec = {.when = WHEN_NOW};
    assert(job_fields[id].kind < JOB_KIND_RAW);
    fields_value(&f, &at, &value, &spec_fields[id], &spec);
    json_open(&w);
    spec_print_field(&w, &spec, id);
    json_close(&w);
    struct str found = spec_scan(buf_str(&out), job_fields[id].key);
    return found.len > 0 ? arena_str(arena, found) : STR("null");
}

/* False when no index has it. A job without the field is in none. */
static bool set_indexed(struct filter *f, enum job_field_id id, struct str value)
{
    size_t i = 0;
    if (job_fields[id].kept != JOB_KEPT_INDEXED || str_eq(value, STR("null")))
        return false;
    while (filter_columns[i].field != id)
        i++;
    filter_column_set(f, i, value);
    return true;
}

static bool is_filter_of(enum job_filter filter, enum filter_of of)
{
    return filter == JOB_FILTER_BOTH || (filter == JOB_FILTER_JOBS && (of & FILTER_OF_JOBS) != 0);
}

/* A field that the filter does not read by itself: its value as documents have it. */
static enum rc read_field(struct filter *f, enum filter_of of, struct str name, struct str text,
                          struct arena *arena, struct err *err)
{
    struct field_errors errors = {0};
    for (unsigned i = 0; i < JOB_FIELD_COUNT; i++) {
        if (!is_filter_of(job_fields[i].filter, of) || job_fields[i].kept == JOB_KEPT_COLUMN ||
            !str_eq(job_fields[i].key, name))
            continue;
        struct str value = spec_filter_value((enum job_field_id)i, text, arena, &errors);
        if (errors.count > 0)
            return err_set(err, RC_INVALID, "%.*s", STR_ARG(errors.items[0].message));
        if (!set_indexed(f, (enum job_field_id)i, value))
            filter_add_document(f, job_fields[i].key, value, arena);
        return RC_OK;
    }
    return err_set(err, RC_NOT_FOUND, "unknown field");
}

enum rc filter_param_read(struct filter *f, enum filter_of of, struct str name, struct str value,
                          struct arena *arena, struct err *err)
{
    enum rc rc = filter_set(f, of, name, value, arena, err);
    return rc == RC_NOT_FOUND ? read_field(f, of, name, value, arena, err) : rc;
}
