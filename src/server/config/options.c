#include "server/config/options.h"
#include "base/log.h"
#include "bridge/post.h"
#include "job/job_env.h"
#include "loop/file.h"
#include "server/config/settings.h"
#include "server/config/trace_settings.h"
#include "server/config/webhooks.h"
#include "wire/client/client_url.h"
#include "wire/http/http_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIG_BYTES_MAX = 1 << 20, NODE_NAME_MAX = 64, PUBLIC_URL_MAX = 200 };

struct server_args {
    const char *data;
    const char *store;
    const char *listen;
    const char *metrics_listen;
    const char *node;
    const char *advertise;
    bool no_worker;
    const char *slots;
    const char *durability;
    bool allow_plaintext_remote;
    const char *log_level;
    const char *log_format;
    const char *config;
    struct opt_list sets;
    bool help;
};

/* A flag that is called like a setting (with dashes) sets it; the others are handled below. */
#define AT(member) offsetof(struct server_args, member)
static const struct opt table[] = {
    {"data", 0, OPT_TEXT, "DIR", AT(data), "the data directory (./belfry-data)"},
    {"store", 0, OPT_TEXT, "sqlite:DIR|URL", AT(store),
     "the database (the data directory); postgres://… for many"},
    {"listen", 0, OPT_TEXT, "HOST:PORT", AT(listen), "where to listen (127.0.0.1:7420)"},
    {"metrics-listen", 0, OPT_TEXT, "HOST:PORT", AT(metrics_listen),
     "another address, which has /metrics alone (none)"},
    {"node", 0, OPT_TEXT, "NAME", AT(node), "its name in a cluster (host name and port)"},
    {"advertise", 0, OPT_TEXT, "URL", AT(advertise),
     "where other servers reach it (where it listens)"},
    {"no-worker", 0, OPT_FLAG, NULL, AT(no_worker), "start no worker inside the server"},
    {"slots", 0, OPT_TEXT, "N", AT(slots), "how many runs at once the worker inside takes (8)"},
    {"durability", 0, OPT_TEXT, "full|normal", AT(durability),
     "normal is faster; a power failure may cost the newest answers (full)"},
    {"allow-plaintext-remote", 0, OPT_FLAG, NULL, AT(allow_plaintext_remote),
     "listen beyond this machine, keys and output unencrypted"},
    {"log-level", 0, OPT_TEXT, "LEVEL", AT(log_level), "debug, info, warn or error (info)"},
    {"log-format", 0, OPT_TEXT, "FORMAT", AT(log_format), "json, text or logfmt (json)"},
    {"config", 0, OPT_TEXT, "FILE", AT(config), "a JSON object with settings (BELFRY_CONFIG)"},
    {"set", 0, OPT_LIST, "NAME=VALUE", AT(sets), "any setting of the list below; many times"},
    OPT_HELP(struct server_args, help),
};

const struct opts server_opts = {
    "server", "[options]",
    "Runs a server, with a worker inside, until SIGTERM or Ctrl-C: the first one drains,\n"
    "a second one ends it at once. Settings come from flags, then BELFRY_* variables, then\n"
    "the config file.",
    table, COUNT_OF(table)};

/* "no-worker" to "no_worker". */
static struct str setting_name(const char *flag, struct arena *arena)
{
    char *name = arena_zstr(arena, str_c(flag));
    for (char *c = name; *c != '\0'; c++) {
        if (*c == '-')
            *c = '_';
    }
    return str_c(name);
}

/* The value a flag of its own gives to its setting, or NULL when it was not given. */
static const char *flag_value(const struct opt *opt, const struct server_args *args)
{
    const void *at = (const char *)args + opt->offset;
    if (opt->kind == OPT_FLAG)
        return *(const bool *)at ? "true" : NULL;
    return opt->kind == OPT_TEXT ? *(const char *const *)at : NULL;
}

static enum rc apply_flags(struct server_options *options, const struct server_args *args,
                           struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const struct setting *setting = settings_find(setting_name(table[i].name, arena));
        const char *value = flag_value(&table[i], args);
        if (setting != NULL && value != NULL)
            TRY(settings_set(options, setting, str_c(value), SOURCE_FLAG, arena, err));
    }
    for (size_t i = 0; i < args->sets.count; i++) {
        struct str value = str_c(args->sets.items[i]);
        struct str name = str_cut(&value, '=');
        if (value.ptr == NULL)
            return err_set(err, RC_INVALID, "--set takes NAME=VALUE, not '%s'",
                           args->sets.items[i]);
        TRY(settings_from_values(options, &(struct setting_value){name, value}, 1, SOURCE_FLAG,
                                 arena, err));
    }
    return RC_OK;
}

/* As whoever looks from elsewhere would find it. */
static const char *whole_path(const char *path, struct arena *arena)
{
    char *whole = realpath(path, NULL);
    const char *copy = arena_zstr(arena, str_c(whole != NULL ? whole : path));
    free(whole);
    return copy;
}

static enum rc apply_config(struct server_options *options, const char *path, struct arena *arena,
                            struct err *err)
{
    struct str text;
    TRY(file_read(path, CONFIG_BYTES_MAX, arena, &text, err));
    if (settings_from_config(options, text, arena, err))
        return err_note(err, "%s", path);
    options->config_file = whole_path(path, arena);
    return RC_OK;
}

/* "127.0.0.1:7420" or "[::1]:7420" into its two halves. */
static enum rc split_address(const char *name, const char *address, struct arena *arena,
                             const char **ret_host, uint16_t *ret_port, struct err *err)
{
    const char *colon = strrchr(address, ':');
    uint64_t port;
    struct str host = colon == NULL ? STR("") : str_of(address, (size_t)(colon - address));
    bool bracketed = host.len > 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']';
    if (bracketed)
        host = str_of(host.ptr + 1, host.len - 2);
    /* More colons without brackets: an IPv6 address, of which nobody knows where it ends. */
    if (host.len == 0 || (!bracketed && (str_index(host, ':') < host.len || host.ptr[0] == '[')) ||
        !str_to_u64(str_c(colon + 1), &port) || port > UINT16_MAX)
        return err_set(err, RC_INVALID, "%s must be HOST:PORT or [IPV6]:PORT, not '%s'", name,
                       address);
    *ret_host = arena_zstr(arena, host);
    *ret_port = (uint16_t)port;
    return RC_OK;
}

static enum rc split_listen(struct server_options *o, struct arena *arena, struct err *err)
{
    TRY(split_address("listen", o->listen, arena, &o->listen_host, &o->listen_port, err));
    if (o->metrics_listen[0] == '\0')
        return RC_OK;
    return split_address("metrics_listen", o->metrics_listen, arena, &o->metrics_host,
                         &o->metrics_port, err);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static enum rc check_prefix(const struct server_options *o, struct err *err)
{
    enum { PREFIX_BYTES_MAX = 64 };
    struct str prefix = str_c(o->metrics_prefix);
    bool good = prefix.len <= PREFIX_BYTES_MAX;
    for (size_t i = 0; i < prefix.len; i++)
        good = good && (is_letter(prefix.ptr[i]) ||
                        (i > 0 && prefix.ptr[i] >= '0' && prefix.ptr[i] <= '9'));
    return good ? RC_OK
                : err_set(err, RC_INVALID,
                          "metrics_prefix must be at most %d letters, digits and _, and begin "
                          "with no digit",
                          PREFIX_BYTES_MAX);
}

static enum rc find_store(struct server_options *o, struct err *err)
{
    struct str store = str_c(o->store);
    struct str scheme = str_cut(&store, ':');
    if (scheme.len == 0) {
        o->store_dir = o->data_dir;
        return RC_OK;
    }
    if (str_starts(store, STR("//")) &&
        (str_eq(scheme, STR("postgres")) || str_eq(scheme, STR("postgresql")))) {
        o->store_url = o->store;
        return RC_OK;
    }
    /* Behind a scheme, and in a text without one, there may be a password. */
    if (store.ptr == NULL)
        return err_set(err, RC_INVALID,
                       "store must be sqlite:DIR or postgres://USER:PASSWORD@HOST/DATABASE");
    if (!str_eq(scheme, STR("sqlite")) || store.len == 0)
        return err_set(err, RC_INVALID,
                       "store must be sqlite:DIR or postgres://USER:PASSWORD@HOST/DATABASE, not "
                       "'%.*s:…'",
                       STR_ARG(scheme));
    o->store_dir = store.ptr; /* the end of o->store, so it ends in a NUL as well */
    return RC_OK;
}

/* A payload travels inside a request, so the request's limit must leave room for it; a checkpoint
 * is all of one. */
static enum rc check_limits(const struct server_options *o, struct err *err)
{
    if (o->payload_bytes_max >= o->request_bytes_max)
        return err_set(err, RC_INVALID, "request_bytes_max must be larger than payload_bytes_max");
    if (o->checkpoint_bytes_max > o->request_bytes_max)
        return err_set(err, RC_INVALID,
                       "request_bytes_max must not be smaller than checkpoint_bytes_max");
    if (webhooks_check(o->alert_webhooks, err) != RC_OK)
        return err_note(err, "alert_webhooks");
    if (o->heartbeat_url[0] != '\0' && !post_url_check(o->heartbeat_url))
        return err_set(err, RC_INVALID, "heartbeat_url: is not an http or https address");
    if (job_env_check(str_c(o->job_env), err) != RC_OK)
        return err_note(err, "job_env");
    return RC_OK;
}

/* One request must fit. Not refused: an installation that takes large requests must start also with
 * a version that has this limit, or another default of it. */
static void raise_buffered(struct server_options *o)
{
    if (o->buffered_bytes_max >= o->request_bytes_max)
        return;
    o->buffered_bytes_max = o->request_bytes_max;
    settings_note_adjusted(o, STR("buffered_bytes_max"));
    log_info("buffered_bytes_max is as large as request_bytes_max, to have room for one request",
             NULL);
}

static enum rc check_node(const struct server_options *o, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct client_url url;
    struct str name = str_c(o->node);
    if (name.len > NODE_NAME_MAX || !http_is_header_text(name) || !str_is_utf8(name))
        return err_set(err, RC_INVALID, "node must be a name of at most %d visible characters",
                       NODE_NAME_MAX);
    if (o->advertise[0] != '\0' &&
        client_url_parse(&arena, str_c(o->advertise), &url, err) != RC_OK)
        return err_note(err, "advertise");
    return RC_OK;
}

/* It goes into links and is compared with what browsers say of themselves: the bare beginning of an
 * address. */
static enum rc check_public_url(const struct server_options *o, struct err *err)
{
    struct str rest = str_c(o->public_url);
    if (rest.len == 0)
        return RC_OK;
    struct str scheme = str_cut(&rest, '/');
    bool is_http = str_eq(scheme, STR("http:")) || str_eq(scheme, STR("https:"));
    bool has_host = rest.len > 1 && rest.ptr[0] == '/' && rest.ptr[1] != '/';
    if (rest.len > 1 && rest.ptr[rest.len - 1] == '/')
        rest.len--;
    if (!is_http || !has_host || rest.len > PUBLIC_URL_MAX || !http_is_header_text(rest) ||
        str_index(rest, '?') < rest.len || str_index(rest, '#') < rest.len ||
        str_index(str_from(rest, 1), '/') < rest.len - 1 || str_index(rest, '@') < rest.len ||
        str_index(rest, ' ') < rest.len)
        return err_set(err, RC_INVALID,
                       "public_url must be http://HOST or https://HOST, perhaps with a port");
    return RC_OK;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Servers that share a store may lose sight of it and of each other (docs/operations.md). A worker
 * that polled before a server fell silent must still hold its lease when another one has taken over
 * and answers. */
static enum rc check_cluster(const struct server_options *o, struct err *err)
{
    enum { KILL_MS = 1000, SPARE_MS = 3000 };
    int64_t lease_ms = o->engine.lease_ms;
    int64_t node_lease_ms = (int64_t)o->node_lease_ms;
    int64_t park_ms = smaller(o->engine.park_ms, lease_ms / 4);
    int64_t kill_ms = smaller(KILL_MS, lease_ms / 4);
    int64_t least_ms = park_ms + node_lease_ms + kill_ms + SPARE_MS;
    if (o->store_url == NULL)
        return RC_OK;
    if (lease_ms < least_ms)
        return err_set(
            err, RC_INVALID,
            "with servers that share a store, lease_ms (%" PRId64 ") must be at least %" PRId64
            ": a poll waits for %" PRId64
            " (park_ms, or a quarter of lease_ms), a takeover for node_lease_ms (%" PRId64
            "), a worker stops %" PRId64 " early, and %d are for loading",
            lease_ms, least_ms, park_ms, node_lease_ms, kill_ms, SPARE_MS);
    if (o->outage_grace_ms < o->node_lease_ms)
        return err_set(err, RC_INVALID,
                       "with servers that share a store, outage_grace_ms (%" PRIu64
                       ") must not be less than node_lease_ms (%" PRIu64 ")",
                       o->outage_grace_ms, o->node_lease_ms);
    return RC_OK;
}

static enum rc check_traces(struct server_options *o, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct trace_settings settings;
    double ratio;
    TRY(trace_ratio_read(o->trace_ratio, &ratio, err));
    if (o->trace_service_name[0] == '\0')
        return err_set(err, RC_INVALID, "trace_service_name must not be empty");
    o->engine.trace.on = o->trace_endpoint[0] != '\0';
    o->engine.trace.errors = o->trace_errors == 0;
    o->engine.trace.ratio = trace_ratio_of(ratio);
    return o->engine.trace.on ? trace_settings_read(o, &arena, &settings, err) : RC_OK;
}

/* Hands the engine the settings that it must know although they are not its own. */
static void tell_engine(struct server_options *o)
{
    o->engine.payload_bytes_max = o->payload_bytes_max;
    o->engine.document_bytes_max = o->request_bytes_max;
    o->engine.alerts.deliver = o->alert_webhooks[0] != '\0';
}

/* The last step: sets options that follow from others, and refuses those that do not go
 * together. */
static enum rc finish(struct server_options *options, struct arena *arena, struct err *err)
{
    TRY(split_listen(options, arena, err));
    TRY(check_prefix(options, err));
    TRY(check_limits(options, err));
    raise_buffered(options);
    TRY(check_node(options, err));
    TRY(check_traces(options, err));
    TRY(check_public_url(options, err));
    TRY(find_store(options, err));
    tell_engine(options);
    return check_cluster(options, err);
}

/* As browsers name it, in Host and Origin: without the port that goes without saying. */
struct str server_public_url(const struct server_options *o)
{
    struct str url = str_c(o->public_url);
    struct str usual = str_starts(url, STR("https:")) ? STR(":443") : STR(":80");
    if (url.len > 0 && url.ptr[url.len - 1] == '/')
        url.len--;
    if (url.len > usual.len && str_eq(str_from(url, url.len - usual.len), usual))
        url.len -= usual.len;
    return url;
}

enum rc server_options_parse(int argc, char *const *argv, settings_env *env, struct arena *arena,
                             struct server_options *ret_options, bool *ret_help, struct err *err)
{
    struct opt_words words;
    struct server_args args = {.config = env("BELFRY_CONFIG")};
    TRY(opts_parse(&server_opts, argc, argv, &args, &words, arena, err));
    *ret_help = args.help;
    if (args.help)
        return RC_OK;
    if (words.count > 0)
        return err_set(err, RC_INVALID, "unexpected argument '%s'", words.items[0]);

    *ret_options = (struct server_options){0};
    settings_defaults(ret_options, arena);
    if (args.config != NULL && args.config[0] != '\0')
        TRY(apply_config(ret_options, args.config, arena, err));
    TRY(settings_from_env(ret_options, env, arena, err));
    TRY(apply_flags(ret_options, &args, arena, err));
    trace_settings_from_otel(ret_options, env, arena);
    return finish(ret_options, arena, err);
}
