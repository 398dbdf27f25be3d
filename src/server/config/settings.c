#include "server/config/settings.h"
#include "base/opts.h"
#include "base/when.h"
#include "job/poll.h"
#include "wire/json/json.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1024) * KIB)
#define GIB (UINT64_C(1024) * MIB)
#define SECOND UINT64_C(1000)
#define HOUR (UINT64_C(3600) * SECOND)
#define DAY (UINT64_C(24) * HOUR)

/* clang-format off */

/* A row of each kind, which ends with its help and perhaps its traits. A field that is called
 * otherwise than its setting has the name before it. */
#define AT(field) offsetof(struct server_options, field), sizeof((struct server_options){0}.field)
#define TEXT(name, field, def, ...) \
    {name, SETTING_TEXT, AT(field), def, 0, 0, NULL, .help = __VA_ARGS__}
#define SWITCH(field, ...) \
    {#field, SETTING_BOOL, AT(field), "false", 0, 0, NULL, .help = __VA_ARGS__}
#define CHOICE(field, words, def, ...) \
    {#field, SETTING_CHOICE, AT(field), def, 0, 0, words, .help = __VA_ARGS__}
#define NUMBER(field, def, min, max, ...) RANGE(field, SETTING_NUMBER, def, min, max, __VA_ARGS__)
#define BYTES(field, def, min, max, ...) RANGE(field, SETTING_BYTES, def, min, max, __VA_ARGS__)
#define TIME(field, def, min, max, ...) RANGE(field, SETTING_TIME, def, min, max, __VA_ARGS__)
#define RANGE(field, kind, def, min, max, ...) \
    {#field, kind, AT(field), def, min, max, NULL, .help = __VA_ARGS__}
/* The engine's, whose defaults are its own (engine/core/engine_defaults.c). */
#define ENGINE_SWITCH(name, field, help) ENGINE(name, SETTING_BOOL, field, 0, 0, help)
#define ENGINE_NUMBER(name, field, min, max, help) \
    ENGINE(name, SETTING_NUMBER, field, min, max, help)
#define ENGINE_TIME(name, field, min, max, help) ENGINE(name, SETTING_TIME, field, min, max, help)
#define ENGINE(name, kind, field, min, max, words) \
    {name, kind, AT(engine.field), NULL, min, max, NULL, .help = words}

#define OWN SETTING_OWN
#define SECRET SETTING_SECRET

const struct setting settings_all[] = {
    TEXT("data", data_dir, "./belfry-data", "the data directory: keys, logs, database", OWN),
    TEXT("store", store, "", "sqlite:DIR or postgres://…; empty: the data directory", SECRET),
    TEXT("listen", listen, "127.0.0.1:7420", "HOST:PORT; IPv6 in brackets; port 0: any", OWN),
    TEXT("node", node, "", "its name in the cluster; empty: host name and port", OWN),
    TEXT("advertise", advertise, "", "its URL for other servers; empty: where it listens", OWN),
    TEXT("public_url", public_url, "", "where people reach its pages, for links and cookies"),
    TIME(node_lease_ms, "5s", SECOND, 60 * SECOND,
        "a server silent for this long loses its partitions"),
    NUMBER(partitions, "16", 1, PARTITIONS_MAX, "of a shared store, when it is made"),
    TIME(forward_wait_ms, "10s", 100, HOUR, "longest to wait for another server, or for its heir"),
    SWITCH(no_worker, "start no worker inside the server", OWN),
    SWITCH(allow_plaintext_remote, "listen beyond this machine, keys and output unencrypted", OWN),
    NUMBER(slots, "8", 1, POLL_SLOTS_MAX, "how many runs at once the worker inside takes", OWN),
    TEXT("job_env", job_env, "", "variables that its commands get, too; NAME* is a prefix", OWN),
    CHOICE(durability, "full|normal", "full", "normal: a power failure may cost the newest"),
    CHOICE(log_level, "debug|info|warn|error", "info", "what it says about itself on stderr", OWN),
    CHOICE(log_format, "json|text|logfmt", "json", "the form of these lines", OWN),
    TIME(slow_request_ms, "1s", 0, HOUR, "a call that took longer gets a line in the log; 0: none"),

    NUMBER(net_threads, "0", 0, SERVER_NETS_MAX, "threads for connections; 0: one per core", OWN),
    NUMBER(query_threads, "2", 1, 64, "threads for reading lists and pages", OWN),

    TEXT("metrics_listen", metrics_listen, "",
        "another HOST:PORT that has /metrics alone; empty: none", OWN),
    TEXT("metrics_prefix", metrics_prefix, "belfry", "begins the names of metrics; may be empty"),
    NUMBER(metrics_series_max, "10000", 1000, 1000000, "most lines of one scrape of /metrics"),
    SWITCH(metrics_open, "/metrics needs no key"),

    TEXT("trace_endpoint", trace_endpoint, "",
        "spans go here: http://HOST:4318/v1/traces; empty: nowhere"),
    TEXT("trace_headers", trace_headers, "", "of these posts: NAME=VALUE,… percent-encoded",
        SECRET),
    TEXT("trace_service_name", trace_service_name, "belfry", "the service that spans are from"),
    TEXT("trace_ratio", trace_ratio, "1", "0 to 1: so many of the traces that begin here"),
    CHOICE(trace_errors, "always|sampled", "always",
        "always: executions that failed, whatever the ratio"),
    TIME(trace_timeout_ms, "10s", 100, 5 * 60 * SECOND, "longest that one of these posts may take"),
    BYTES(trace_queue_bytes_max, "8MiB", 64 * KIB, GIB, "what waits for them; more is dropped"),

    BYTES(payload_bytes_max, "1MiB", 1, 32 * MIB, "largest payload of one job"),
    BYTES(request_bytes_max, "16MiB", KIB, GIB, "largest body of one request, so of one batch"),
    NUMBER(batch_jobs_max, "10000", 1, 100000, "most jobs in one batch"),
    NUMBER(connections_max, "10000", 1, 1000000, "most connections at once, files permitting", OWN),
    NUMBER(address_connections_max, "0", 0, 1000000,
        "of one address without a key; 0: half of all"),
    BYTES(buffered_bytes_max, "256MiB", MIB, 64 * GIB,
        "of requests under way; at least request_bytes_max"),
    ENGINE_NUMBER("live_max", live_max, 1, 100000000, "most unfinished runs held in memory"),
    ENGINE_NUMBER("lanes_max", lanes_max, 1, 1000000, "most pairs of queue and handler"),
    ENGINE_NUMBER("queues_max", queues_max, 1, 1000000, "most queues with work or settings"),
    ENGINE_NUMBER("workers_max", workers_max, 1, 1000000, "most workers at once"),
    BYTES(head_bytes_max, "32KiB", KIB, MIB, "largest request line and headers together"),
    NUMBER(mailbox_max, "10000", 16, 1000000, "most messages waiting for one thread"),
    BYTES(stream_bytes_max, "16MiB", 8 * MIB, GIB, "most unsent bytes to one reader of a stream"),
    NUMBER(feed_readers_max, "1000", 1, 1000000, "most readers of the summary of events at once"),
    NUMBER(feed_events_max, "50", 1, 100000,
        "events a second beside the ticks; more are counted"),
    BYTES(output_bytes_max, "16MiB", KIB, 16 * GIB, "kept of one attempt's output"),
    BYTES(checkpoint_bytes_max, "1MiB", 1, 64 * MIB, "largest checkpoint of one execution"),
    TIME(head_timeout_ms, "10s", 100, HOUR, "longest a request's head may take"),
    TIME(body_timeout_ms, "30s", 100, HOUR, "longest that 16 KiB of a body may take"),
    BYTES(body_rate_min, "4KiB", 0, GIB, "a second, of a body that takes longer than that"),
    TIME(idle_timeout_ms, "2m", 100, DAY, "an unused connection is closed after this"),
    TIME(stranger_timeout_ms, "10s", 100, DAY, "one that has shown no valid key, after this"),

    ENGINE_TIME("timeout_default", timeout_default_ms, 0, DURATION_MAX_MS,
        "timeout of jobs that are submitted without one; 0: none"),
    ENGINE_TIME("lease_ms", lease_ms, SECOND, HOUR, "a worker silent for this long loses its runs"),
    ENGINE_TIME("forget_ms", forget_ms, SECOND, 30 * DAY,
        "a worker silent for this long must register again"),
    ENGINE_TIME("park_ms", park_ms, 10, 10 * 60 * SECOND, "longest a worker's poll waits for work"),
    ENGINE_TIME("kill_grace_ms", kill_grace_ms, 0, HOUR, "between SIGTERM and SIGKILL"),
    ENGINE_NUMBER("lost_max", lost_max, 1, 10000,
        "an execution whose worker was lost so often is quarantined"),
    ENGINE_TIME("retry_after_max_ms", retry_after_max_ms, 0, 365 * DAY,
        "most that a worker may put off a retry"),
    TIME(checkpoint_ms, "5s", 100, HOUR, "how often a command's checkpoint is saved"),
    TIME(stats_age_ms, "1s", 0, 60 * SECOND, "oldest numbers that /stats and totals may show"),
    TIME(waits_age_ms, "2s", 0, 60 * SECOND, "oldest numbers that /stats/blockers may show"),
    TIME(tzdata_look_ms, "60s", 1, DAY, "how often to look whether time zones have other rules"),
    TIME(clock_step_ms, "60s", 0, DAY, "a clock that was set is followed after this"),
    CHOICE(clock_synced, "auto|no", "auto",
        "no: a start never trusts the clock for being synchronised"),
    ENGINE_TIME("clock_delete_wait_ms", delete_wait_ms, 0, 365 * DAY,
        "nothing is deleted so long after a step of the clock"),
    TIME(outage_grace_ms, "60s", 0, 3650 * DAY, "how long runs are kept alive without the store"),
    ENGINE_TIME("priority_age_ms", point_ms, 1, 365 * DAY,
        "waiting this long is worth a point of priority"),
    ENGINE_NUMBER("breaker_percent", breaker.percent, 0, 100,
        "so many calls failed: a target is left alone; 0: never"),
    ENGINE_NUMBER("breaker_calls_min", breaker.calls_min, 1, 1000000,
        "fewer calls than this say nothing about a target"),
    ENGINE_TIME("breaker_window_ms", breaker.window_ms, SECOND, DAY,
        "calls that ended within this count"),
    ENGINE_TIME("breaker_rest_ms", breaker.rest_ms, 100, DAY,
        "rest of a failing target, and patience with its probe"),
    TEXT("alert_webhooks", alert_webhooks, "", "addresses that alerts are posted to, with commas",
        SECRET),
    TEXT("heartbeat_url", heartbeat_url, "", "an address that is posted to while commits succeed",
        SECRET),
    TIME(heartbeat_ms, "60s", SECOND, DAY, "how often that is"),
    ENGINE_SWITCH("alert_job_failed", alerts.job_failed, "alert when an execution failed for good"),
    ENGINE_SWITCH("alert_worker_lost", alerts.worker_lost,
        "alert when a worker vanished with work"),
    ENGINE_SWITCH("alert_breaker_open", alerts.breaker_open, "alert when a target is left alone"),
    ENGINE_SWITCH("alert_sla", alerts.sla, "alert when a run takes longer than its SLA says"),
    ENGINE_SWITCH("alert_missed", alerts.missed,
                  "alert when an expected ping does not come, or fails"),
    ENGINE_SWITCH("alert_start_late", alerts.start_late,
        "alert when something has not started when it should have"),
    ENGINE_TIME("alert_quiet_ms", alerts.quiet_ms, SECOND, 30 * DAY,
        "the same thing is told once within this"),
    ENGINE_NUMBER("silences_max", silences_max, 1, 1000,
        "silences of alerts at a time; one more is refused"),
    ENGINE_TIME("alert_queue_age_ms", alerts.queue_age_ms, 0, 365 * DAY,
        "alert when something waits for this long; 0: never"),
    ENGINE_NUMBER("alert_depth_warning", alerts.depth_warning, 0, 1000000000,
        "warn when more wait in a queue; 0: never"),
    ENGINE_NUMBER("alert_depth_critical", alerts.depth_critical, 0, 1000000000,
        "critical when more wait; 0: never"),
    ENGINE_TIME("alert_window_ms", alerts.window_ms, 0, DAY,
        "what failed within this counts for the next four; 0: none"),
    ENGINE_NUMBER("alert_dead_letters", alerts.dead_letters, 0, 1000000000,
        "alert when more failed for good; 0: never"),
    ENGINE_NUMBER("alert_rate_calls_min", alerts.rate_calls_min, 1, 1000000000,
        "fewer ends in a queue say nothing"),
    ENGINE_NUMBER("alert_rate_warning", alerts.rate_warning_pct, 0, 100,
        "warn when more percent failed; 0: never"),
    ENGINE_NUMBER("alert_rate_critical", alerts.rate_critical_pct, 0, 100,
        "critical when more percent failed; 0: never"),
    ENGINE_NUMBER("alert_slow", alerts.slow_pct, 0, 100000,
        "warn at so many percent of its job's p95; 0: never"),
    ENGINE_TIME("alert_slow_min_ms", alerts.slow_min_ms, 1, 365 * DAY,
        "a run shorter than this is never slow"),
    ENGINE_NUMBER("alert_slow_runs_min", alerts.slow_runs_min, 1, 1000000,
        "fewer runs say nothing about what is usual"),
    ENGINE_NUMBER("versions_keep", versions_keep, 2, 10000,
                  "most definitions kept of a job that was edited"),
    ENGINE_NUMBER("operation_step_max", operation_step_max, 1, 10000,
                  "most things that one turn does for an action on many"),
    ENGINE_NUMBER("operation_per_s", operation_per_s, 0, 1000000,
        "most things a second of actions beside other work; 0: any"),
    ENGINE_TIME("horizon_ms", horizon_ms, SECOND, 365 * DAY,
        "runs due later than this are kept on disk only"),
    ENGINE_TIME("queues_keep_ms", queues_keep_ms, 0, 3650 * DAY,
        "how long idle queues are kept; 0: until room is needed"),
    ENGINE_TIME("history_keep_ms", history_keep_ms, SECOND, 3650 * DAY,
        "how long ended executions and SLA events are kept"),
    ENGINE_TIME("dead_letters_keep_ms", letters_keep_ms, SECOND, 3650 * DAY,
        "how long dead letters are kept"),
    ENGINE_TIME("alerts_keep_ms", alerts_keep_ms, SECOND, 3650 * DAY,
        "how long alerts are kept, once they were sent"),
    ENGINE_TIME("tallies_keep_ms", tallies_keep_ms, HOUR, 36500 * DAY,
        "how long the numbers of reports are kept"),
    ENGINE_TIME("idempotency_ms", once_ms, SECOND, 365 * DAY,
        "how long an Idempotency-Key is remembered"),
    ENGINE_TIME("unique_keep", unique_keep_ms, 0, 3650 * DAY,
        "how long a unique key is kept after success"),
    TIME(logs_keep_ms, "7d", 60 * SECOND, 3650 * DAY, "how long output and checkpoints are kept"),
};
/* clang-format on */
const size_t settings_count = COUNT_OF(settings_all);
static_assert(COUNT_OF(settings_all) <= SETTINGS_MAX, "no place for the source of the last ones");

const struct setting *settings_find(struct str name)
{
    for (size_t i = 0; i < settings_count; i++) {
        if (str_eq(str_c(settings_all[i].name), name))
            return &settings_all[i];
    }
    return NULL;
}

static bool parse_bool(struct str text, bool *ret_value)
{
    int word = opts_choice("false|true|no|yes|0|1", text);
    *ret_value = word % 2 != 0;
    return word >= 0;
}

static bool parse_bytes(struct str text, uint64_t *ret_bytes)
{
    static const struct {
        struct str suffix;
        uint64_t factor;
    } units[] = {{STR_INIT("KiB"), KIB}, {STR_INIT("MiB"), MIB}, {STR_INIT("GiB"), GIB}};
    uint64_t factor = 1;
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        size_t suffix_len = units[i].suffix.len;
        if (text.len > suffix_len &&
            str_eq(str_from(text, text.len - suffix_len), units[i].suffix)) {
            text.len -= suffix_len;
            factor = units[i].factor;
            break;
        }
    }
    return str_to_u64(text, ret_bytes) && !__builtin_mul_overflow(*ret_bytes, factor, ret_bytes);
}

static bool parse_time(struct str text, uint64_t *ret_ms)
{
    int64_t ms;
    if (str_to_u64(text, ret_ms))
        return true;
    if (duration_parse(text, &ms, NULL))
        return false;
    *ret_ms = (uint64_t)ms;
    return true;
}

/* "from 1s to 1h", in the unit of the setting. */
static struct str range_text(const struct setting *s, struct arena *arena)
{
    char min[WHEN_TEXT_MAX];
    char max[WHEN_TEXT_MAX];
    if (s->kind != SETTING_TIME)
        return arena_printf(arena, "%s from %" PRIu64 " to %" PRIu64,
                            s->kind == SETTING_BYTES ? "a size in bytes" : "a number", s->min,
                            s->max);
    struct str low = duration_format(min, (int64_t)s->min);
    struct str high = duration_format(max, (int64_t)s->max);
    return arena_printf(arena, "a time from %.*s to %.*s", STR_ARG(low), STR_ARG(high));
}

static enum rc refuse(const struct setting *s, struct str value, struct str expected,
                      struct err *err)
{
    return err_set(err, RC_INVALID, "%s must be %.*s, not '%.*s'", s->name, STR_ARG(expected),
                   STR_ARG(value));
}

static enum rc set_quantity(const struct setting *s, void *at, struct str value,
                            struct arena *arena, struct err *err)
{
    uint64_t number;
    bool ok = s->kind == SETTING_TIME    ? parse_time(value, &number)
              : s->kind == SETTING_BYTES ? parse_bytes(value, &number)
                                         : str_to_u64(value, &number);
    if (!ok || number < s->min || number > s->max)
        return refuse(s, value, range_text(s, arena), err);
    if (s->size == sizeof(uint32_t))
        *(uint32_t *)at = (uint32_t)number;
    else
        *(uint64_t *)at = number;
    return RC_OK;
}

static enum rc set_value(struct server_options *options, const struct setting *setting,
                         struct str value, struct arena *arena, struct err *err)
{
    void *at = (char *)options + setting->offset;
    switch (setting->kind) {
    case SETTING_TEXT: *(const char **)at = arena_zstr(arena, value); return RC_OK;
    case SETTING_BOOL:
        if (!parse_bool(value, at))
            return refuse(setting, value, STR("true or false"), err);
        return RC_OK;
    case SETTING_CHOICE: {
        int choice = opts_choice(setting->choices, value);
        if (choice < 0)
            return refuse(setting, value, str_c(setting->choices), err);
        *(unsigned *)at = (unsigned)choice;
        return RC_OK;
    }
    case SETTING_NUMBER:
    case SETTING_BYTES:
    case SETTING_TIME: break;
    }
    return set_quantity(setting, at, value, arena, err);
}

static uint8_t *source_of(struct server_options *options, const struct setting *s)
{
    return &options->sources[s - settings_all];
}

enum rc settings_set(struct server_options *options, const struct setting *setting,
                     struct str value, enum setting_source source, struct arena *arena,
                     struct err *err)
{
    TRY(set_value(options, setting, value, arena, err));
    *source_of(options, setting) = (uint8_t)source;
    return RC_OK;
}

void settings_defaults(struct server_options *options, struct arena *arena)
{
    options->engine = engine_defaults;
    for (size_t i = 0; i < settings_count; i++) {
        const struct setting *s = &settings_all[i];
        *source_of(options, s) = SOURCE_DEFAULT;
        enum rc rc =
            s->fallback == NULL ? RC_OK : set_value(options, s, str_c(s->fallback), arena, NULL);
        assert(rc == RC_OK); /* a default out of its own range would be our mistake */
    }
}

uint64_t settings_quantity(const struct server_options *options, const struct setting *s)
{
    const void *at = (const char *)options + s->offset;
    return s->size == sizeof(uint32_t) ? *(const uint32_t *)at : *(const uint64_t *)at;
}

struct str settings_default_text(const struct setting *s, char *ret_text)
{
    struct buf out = {.ptr = ret_text, .cap = WHEN_TEXT_MAX, .max = WHEN_TEXT_MAX};
    const struct server_options options = {.engine = engine_defaults};
    if (s->fallback != NULL)
        return str_c(s->fallback);
    if (s->kind == SETTING_BOOL)
        return *(const bool *)((const char *)&options + s->offset) ? STR("true") : STR("false");
    if (s->kind == SETTING_TIME)
        return duration_format(ret_text, (int64_t)settings_quantity(&options, s));
    buf_add_i64(&out, (int64_t)settings_quantity(&options, s));
    return buf_str(&out);
}

enum rc settings_from_values(struct server_options *options, const struct setting_value *values,
                             size_t count, enum setting_source source, struct arena *arena,
                             struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct setting *s = settings_find(values[i].name);
        if (s == NULL)
            return err_set(err, RC_INVALID, "there is no setting called '%.*s'",
                           STR_ARG(values[i].name));
        TRY(settings_set(options, s, values[i].value, source, arena, err));
    }
    return RC_OK;
}

/* From 1, as editors count. */
static size_t line_of(struct str text, const char *at)
{
    size_t line = 1;
    for (const char *c = text.ptr; c < at; c++)
        line += *c == '\n';
    return line;
}

static enum rc set_member(struct server_options *options, const struct json_member *m,
                          struct arena *arena, struct err *err)
{
    enum json_kind kind = m->value.kind;
    struct setting_value value = {m->key, kind == JSON_STRING ? m->value.string : m->value.raw};
    if (kind == JSON_ARRAY || kind == JSON_OBJECT || kind == JSON_NULL)
        return err_set(err, RC_INVALID, "%.*s must not be %s", STR_ARG(m->key),
                       json_kind_name(kind));
    return settings_from_values(options, &value, 1, SOURCE_CONFIG, arena, err);
}

enum rc settings_from_config(struct server_options *options, struct str json, struct arena *arena,
                             struct err *err)
{
    struct json document;
    TRY(json_parse(json, arena, &document, err));
    if (document.kind != JSON_OBJECT)
        return err_set(err, RC_INVALID, "a config file holds an object, not %s",
                       json_kind_name(document.kind));
    for (size_t i = 0; i < document.count; i++) {
        const struct json_member *m = &document.members[i];
        if (set_member(options, m, arena, err))
            return err_note(err, "line %zu", line_of(json, m->value.raw.ptr));
    }
    return RC_OK;
}

const char *settings_variable(const struct setting *setting, struct arena *arena)
{
    char *name = arena_zstr(arena, arena_printf(arena, "BELFRY_%s", setting->name));
    for (char *c = name; *c != '\0'; c++) {
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    }
    return name;
}

enum rc settings_from_env(struct server_options *options, settings_env *env, struct arena *arena,
                          struct err *err)
{
    for (size_t i = 0; i < settings_count; i++) {
        const char *variable = settings_variable(&settings_all[i], arena);
        const char *value = env(variable);
        if (value == NULL || value[0] == '\0') /* `BELFRY_SLOTS= belfry server` unsets it */
            continue;
        if (settings_set(options, &settings_all[i], str_c(value), SOURCE_ENV, arena, err))
            return err_note(err, "%s", variable);
    }
    return RC_OK;
}

/* ---- what is in force, for people */

enum { ADJUSTED = 0x80 }; /* beside the source */

void settings_note_adjusted(struct server_options *options, struct str name)
{
    const struct setting *s = settings_find(name);
    assert(s != NULL);
    *source_of(options, s) |= ADJUSTED;
}

bool settings_is_adjusted(const struct server_options *options, const struct setting *setting)
{
    return options->sources[setting - settings_all] & ADJUSTED;
}

enum setting_source settings_source(const struct server_options *options,
                                    const struct setting *setting)
{
    return options->sources[setting - settings_all] & ~(unsigned)ADJUSTED;
}

struct str settings_source_name(enum setting_source source)
{
    static const struct str names[SETTING_SOURCES] = {
        [SOURCE_DEFAULT] = STR_INIT("default"),
        [SOURCE_CONFIG] = STR_INIT("config_file"),
        [SOURCE_ENV] = STR_INIT("environment"),
        [SOURCE_FLAG] = STR_INIT("flag"),
    };
    assert(source < SETTING_SOURCES);
    return names[source];
}

/* In the largest unit that it is a whole number of. */
static struct str bytes_text(uint64_t bytes, struct arena *arena)
{
    bool whole = bytes > 0 && bytes % KIB == 0;
    if (whole && bytes % GIB == 0)
        return arena_printf(arena, "%" PRIu64 "GiB", bytes / GIB);
    if (whole && bytes % MIB == 0)
        return arena_printf(arena, "%" PRIu64 "MiB", bytes / MIB);
    return whole ? arena_printf(arena, "%" PRIu64 "KiB", bytes / KIB)
                 : arena_printf(arena, "%" PRIu64, bytes);
}

static struct str choice_text(const char *choices, unsigned choice)
{
    struct str rest = str_c(choices);
    struct str word = str_cut(&rest, '|');
    for (unsigned i = 0; i < choice; i++)
        word = str_cut(&rest, '|');
    return word;
}

struct str settings_value_text(const struct server_options *options, const struct setting *s,
                               struct arena *arena)
{
    const void *at = (const char *)options + s->offset;
    char text[WHEN_TEXT_MAX];
    switch (s->kind) {
    case SETTING_TEXT: {
        struct str value = str_c(*(const char *const *)at);
        bool hidden = s->traits & SETTING_SECRET && value.len > 0;
        return hidden ? STR("set") : value;
    }
    case SETTING_BOOL: return *(const bool *)at ? STR("true") : STR("false");
    case SETTING_CHOICE: return choice_text(s->choices, *(const unsigned *)at);
    case SETTING_BYTES: return bytes_text(settings_quantity(options, s), arena);
    case SETTING_TIME:
        return arena_str(arena, duration_format(text, (int64_t)settings_quantity(options, s)));
    case SETTING_NUMBER: break;
    }
    return arena_printf(arena, "%" PRIu64, settings_quantity(options, s));
}

void settings_help(struct buf *out)
{
    char text[WHEN_TEXT_MAX];
    buf_add(out, STR("\nsettings, their defaults, and what they mean:\n"));
    for (size_t i = 0; i < settings_count; i++) {
        const struct setting *s = &settings_all[i];
        struct str fallback = settings_default_text(s, text);
        buf_printf(out, "  %-23s %-15.*s %s\n", s->name, STR_ARG(fallback), s->help);
    }
}

/* The words of a setting; other settings that they name look like what they are. */
static void print_words(struct buf *out, struct str words)
{
    for (bool more = true; more;) {
        size_t len = str_index(words, ' ');
        struct str word = str_head(words, len);
        bool is_setting = str_index(word, '_') < word.len && settings_find(word) != NULL;
        buf_printf(out, is_setting ? "`%.*s`" : "%.*s", STR_ARG(word));
        more = len < words.len;
        words = str_from(words, len + more);
        buf_add(out, more ? STR(" ") : STR(" |\n"));
    }
}

void settings_table_print(struct buf *out)
{
    char text[WHEN_TEXT_MAX];
    buf_add(out, STR("| setting | default | meaning |\n|---|---|---|\n"));
    for (size_t i = 0; i < settings_count; i++) {
        const struct setting *s = &settings_all[i];
        struct str fallback = settings_default_text(s, text);
        buf_printf(out, fallback.len > 0 ? "| `%s` | `%.*s` | " : "| `%s` | %.*s | ", s->name,
                   STR_ARG(fallback));
        print_words(out, str_c(s->help));
    }
}
