#include "server/config/trace_settings.h"
#include "base/log.h"
#include "bridge/post.h"
#include "wire/http/http.h"
#include "wire/http/http_text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HEADERS_MAX = 32,
    HOST_BYTES_MAX = 256,
    RATIO_DIGITS_MAX = 20,
};

/* ---- reading them */

enum rc trace_ratio_read(const char *text, double *ret_ratio, struct err *err)
{
    char *end;
    bool plain = text[0] != '\0' && strlen(text) <= RATIO_DIGITS_MAX &&
                 strspn(text, "0123456789.") == strlen(text);
    double ratio = plain ? strtod(text, &end) : -1;
    if (!plain || *end != '\0' || ratio < 0 || ratio > 1)
        return err_set(err, RC_INVALID, "trace_ratio must be a number from 0 to 1, as 0.01");
    *ret_ratio = ratio;
    return RC_OK;
}

/* A user and a password in the address would stand in the settings' page. libcurl takes three
 * slashes for two, and finds them behind those. */
static enum rc check_endpoint(const char *url, struct err *err)
{
    struct str rest = str_c(url);
    str_cut(&rest, '/');
    str_cut(&rest, '/');
    struct str host = str_cut(&rest, '/');
    if (!post_url_check(url) || host.len == 0 || str_index(host, '@') < host.len)
        return err_set(err, RC_INVALID,
                       "trace_endpoint must be http://HOST/PATH or https://HOST/PATH, without a "
                       "user; keys belong into trace_headers");
    return RC_OK;
}

static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '-' && c != '_' && c != '.')
            return false;
    }
    return name.len > 0;
}

/* "name=value,name=value", values percent-encoded, as OpenTelemetry has it. */
static enum rc read_headers(const char *text, struct arena *arena, const char *const **ret_headers,
                            struct err *err)
{
    const char **headers = ARENA_ARRAY(arena, const char *, HEADERS_MAX + 2);
    struct str rest = str_c(text);
    size_t count = 0;
    headers[count++] = "content-type: application/json";
    while (rest.len > 0) {
        struct str value = str_trim(str_cut(&rest, ','));
        if (value.len == 0)
            continue;
        struct str name = str_trim(str_cut(&value, '='));
        if (count > HEADERS_MAX)
            return err_set(err, RC_INVALID, "trace_headers has more than %d headers", HEADERS_MAX);
        if (value.ptr == NULL || !is_name(name) ||
            !http_decode(arena, str_trim(value), false, &value) || !http_is_header_text(value))
            return err_set(err, RC_INVALID,
                           "trace_headers must be NAME=VALUE,NAME=VALUE with values that are "
                           "percent-encoded; header %zu is not",
                           count);
        headers[count++] = arena_printf(arena, "%.*s: %.*s", STR_ARG(name), STR_ARG(value)).ptr;
    }
    *ret_headers = headers;
    return RC_OK;
}

/* ---- what OpenTelemetry's variables say */

static struct str variable(settings_env *env, const char *name)
{
    return str_trim(str_c(env(name)));
}

static enum rc check(struct str name, const char *value, struct arena *arena, struct err *err)
{
    const char *const *headers;
    double ratio;
    if (str_eq(name, STR("trace_endpoint")))
        return check_endpoint(value, err);
    if (str_eq(name, STR("trace_headers")))
        return read_headers(value, arena, &headers, err);
    return str_eq(name, STR("trace_ratio")) ? trace_ratio_read(value, &ratio, err) : RC_OK;
}

/* Unless one of our own sources said something. */
static void take(struct server_options *options, const char *name, struct str value,
                 const char *from, struct arena *arena)
{
    const struct setting *setting = settings_find(str_c(name));
    struct err err;
    if (value.len == 0 || settings_source(options, setting) != SOURCE_DEFAULT)
        return;
    enum rc rc = check(str_c(name), arena_zstr(arena, value), arena, &err);
    if (rc == RC_OK)
        rc = settings_set(options, setting, value, SOURCE_ENV, arena, &err);
    if (rc != RC_OK)
        log_warn("a variable of OpenTelemetry is passed over", "variable", from, "error", err.text,
                 NULL);
}

/* The one that is for traces alone goes before the one for everything. */
static void take_either(struct server_options *options, const char *name, settings_env *env,
                        const char *traces, const char *all, struct arena *arena)
{
    struct str own = variable(env, traces);
    if (own.len > 0)
        take(options, name, own, traces, arena);
    else
        take(options, name, variable(env, all), all, arena);
}

/* The address for everything is that of a directory. */
static void take_endpoint(struct server_options *options, settings_env *env, struct arena *arena)
{
    struct str own = variable(env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    struct str all = variable(env, "OTEL_EXPORTER_OTLP_ENDPOINT");
    if (own.len > 0) {
        take(options, "trace_endpoint", own, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", arena);
    } else if (all.len > 0) {
        const char *join = all.ptr[all.len - 1] == '/' ? "v1/traces" : "/v1/traces";
        take(options, "trace_endpoint", arena_printf(arena, "%.*s%s", STR_ARG(all), join),
             "OTEL_EXPORTER_OTLP_ENDPOINT", arena);
    }
}

static void take_ratio(struct server_options *options, settings_env *env, struct arena *arena)
{
    struct str sampler = variable(env, "OTEL_TRACES_SAMPLER");
    if (str_starts(sampler, STR("parentbased_"))) /* ours follows its parent in any case */
        sampler = str_from(sampler, STR("parentbased_").len);
    if (str_eq(sampler, STR("always_on")))
        take(options, "trace_ratio", STR("1"), "OTEL_TRACES_SAMPLER", arena);
    else if (str_eq(sampler, STR("always_off")))
        take(options, "trace_ratio", STR("0"), "OTEL_TRACES_SAMPLER", arena);
    else if (str_eq(sampler, STR("traceidratio")))
        take(options, "trace_ratio", variable(env, "OTEL_TRACES_SAMPLER_ARG"),
             "OTEL_TRACES_SAMPLER_ARG", arena);
}

void trace_settings_from_otel(struct server_options *options, settings_env *env,
                              struct arena *arena)
{
    if (str_eq_nocase(variable(env, "OTEL_SDK_DISABLED"), STR("true")) ||
        str_eq(variable(env, "OTEL_TRACES_EXPORTER"), STR("none")))
        return;
    take_endpoint(options, env, arena);
    take_either(options, "trace_headers", env, "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
                "OTEL_EXPORTER_OTLP_HEADERS", arena);
    take(options, "trace_service_name", variable(env, "OTEL_SERVICE_NAME"), "OTEL_SERVICE_NAME",
         arena);
    take_ratio(options, env, arena);
}

/* ---- the whole */

static struct str node_of(const struct server_options *o, struct arena *arena)
{
    char host[HOST_BYTES_MAX] = "";
    if (o->node[0] != '\0')
        return str_c(o->node);
    (void)gethostname(host, sizeof host - 1); /* empty: it has none */
    return arena_printf(arena, "%s/%s", host, o->listen);
}

enum rc trace_settings_read(const struct server_options *o, struct arena *arena,
                            struct trace_settings *ret_settings, struct err *err)
{
    struct trace_settings s = {
        .url = o->trace_endpoint,
        .service = str_c(o->trace_service_name),
        .node = node_of(o, arena),
        .timeout_ms = (int64_t)o->trace_timeout_ms,
        .queue_bytes_max = o->trace_queue_bytes_max,
    };
    TRY(check_endpoint(o->trace_endpoint, err));
    TRY(read_headers(o->trace_headers, arena, &s.headers, err));
    *ret_settings = s;
    return RC_OK;
}
