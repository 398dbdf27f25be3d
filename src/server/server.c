/* server.c - starting, watching, and ending a server. The main thread runs a small loop of its
 * own for signals and for the worker beside the server; everything else has its thread. */
#include "server/server.h"
#include "base/log.h"
#include "loop/clock.h"
#include "loop/kept.h"
#include "loop/signals.h"
#include "loop/zones.h"
#include "server/alert/alert_sender.h"
#include "server/alert/heartbeat.h"
#include "server/auth/codes.h"
#include "server/auth/wrong_keys.h"
#include "server/call/board.h"
#include "server/call/context.h"
#include "server/call/net.h"
#include "server/call/queries.h"
#include "server/call/route_table.h"
#include "server/call/worker_versions.h"
#include "server/cluster/incidents.h"
#include "server/cluster/membership.h"
#include "server/cluster/peers.h"
#include "server/config/data_dir.h"
#include "server/config/settings.h"
#include "server/local_worker.h"
#include "server/metrics/metrics.h"
#include "server/metrics/scrape.h"
#include "server/output/output_log.h"
#include "server/trace/tracer.h"
#include "server/turn/decider.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WATCH_MS = 200,
    FORECASTS_KEEP_MS = 60000, /* they look at every schedule */
    TIMELINES_KEEP_MS = 2000,  /* they look at everything that ran */
    ZONES_TRUST_MS = 1000,     /* a start asks for the zone of every schedule */
    HOST_NAME_BYTES = 256,
    HAND_OVER_US =
        3000000,          /* then what is still ours is given up, which costs the others a second */
    FILES_RESERVED = 256, /* databases, loops, and clients over the limit who are being told so */
};

struct process {
    struct server server;
    struct server_options options; /* a copy: net_threads is worked out */
    struct data_dir dir;
    struct arena texts; /* of dir */
    uv_loop_t loop;
    struct signals *signals;
    struct local_worker *worker;
    uv_timer_t watch;
    bool leaving; /* the worker is gone; partitions may still be handed over */
    int64_t leave_us;
    int exit_code;
};

/* ---- before the start */

static bool is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    if (inet_pton(AF_INET6, host, &v6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&v6);
    return strcmp(host, "localhost") == 0;
}

static enum rc check_address(const struct server_options *options, const char *host,
                             const char *address, struct err *err)
{
    if (is_loopback(host))
        return RC_OK;
    if (!options->allow_plaintext_remote)
        return err_set(err, RC_DENIED,
                       "refusing to listen on %s: keys would travel unencrypted. Listen on "
                       "127.0.0.1, or give --allow-plaintext-remote if the network is trusted",
                       host);
    log_warn(
        "the server listens beyond this machine without encryption; put a TLS proxy in front of it",
        "address", address, NULL);
    return RC_OK;
}

/* Where metrics need no key, none travels. */
static enum rc check_listen(const struct server_options *o, struct err *err)
{
    TRY(check_address(o, o->listen_host, o->listen, err));
    if (o->metrics_host == NULL || o->metrics_open)
        return RC_OK;
    return check_address(o, o->metrics_host, o->metrics_listen, err);
}

/* A connection is a descriptor, and most users may have 1024 unless they ask for what they may. */
static void raise_files(struct rlimit *ret_before)
{
    getrlimit(RLIMIT_NOFILE, ret_before); /* cannot fail: the number is right */
    struct rlimit most = *ret_before;
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most); /* when it fails there is what there was */
}

static void fit_threads(struct server_options *options)
{
    uint64_t wanted = options->net_threads;
    if (wanted == 0)
        options->net_threads = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (options->net_threads > SERVER_NETS_MAX)
        options->net_threads = SERVER_NETS_MAX;
    if (options->net_threads != wanted)
        settings_note_adjusted(options, STR("net_threads"));
}

/* Beyond what may be open nobody can even be told that there are too many. */
static void fit_connections(struct server_options *options)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    uint64_t most = files.rlim_cur;
    most = most > 2 * FILES_RESERVED ? most - FILES_RESERVED : most / 2;
    if (options->connections_max <= most)
        return;
    log_info("fewer connections than connections_max: the limit of open files is lower",
             "connections", LOG_NUMBER(most), NULL);
    options->connections_max = most;
    settings_note_adjusted(options, STR("connections_max"));
}

static enum rc make_dir(const char *path, struct err *err)
{
    struct stat dir;
    if ((mkdir(path, 0700) != 0 && errno != EEXIST) || stat(path, &dir) != 0)
        return err_set(err, RC_IO, "cannot make the data directory %s: %s", path, strerror(errno));
    /* Keys and history are in there: a user that may replace a file has both. */
    if (dir.st_mode & (S_IWGRP | S_IWOTH))
        return err_set(err, RC_DENIED,
                       "others may write to the data directory %s; `chmod go-w %s` forbids it",
                       path, path);
    if (dir.st_uid != geteuid() && dir.st_uid != 0)
        return err_set(
            err, RC_DENIED,
            "the data directory %s belongs to another user, who may write to it; `chown` "
            "it, or start the server as that user",
            path);
    return RC_OK;
}

/* ---- starting */

static enum rc start_nets(struct process *p, struct err *err)
{
    uint16_t port = p->options.listen_port;
    TRY(http_probe(str_c(p->options.listen_host), port, err));
    p->server.quota = http_quota_new();
    p->server.codes = codes_new();
    p->server.wrong_keys = wrong_keys_new();
    for (size_t i = 0; i < p->options.net_threads; i++) {
        TRY(net_start(&p->server, &port, &p->server.nets[i], err));
        atomic_fetch_add(&p->server.net_count, 1);
    }
    p->options.listen_port = port;
    return RC_OK;
}

static enum rc open_store(const struct server_options *o, struct store **ret_store, struct err *err)
{
    const struct postgres_options postgres = {
        .lease_ms = (int64_t)o->node_lease_ms,
        .partitions = (uint32_t)o->partitions,
    };
    if (o->store_url != NULL)
        return store_postgres_open(o->store_url, &postgres, ret_store, err);
    return store_sqlite_open(o->store_dir, (enum durability)o->durability, ret_store, err);
}

static bool is_anywhere(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static const char *host_name(char *ret_name, size_t max)
{
    if (gethostname(ret_name, max) != 0)
        snprintf(ret_name, max, "localhost");
    ret_name[max - 1] = '\0';
    return ret_name;
}

/* Where other servers reach this one. */
static struct str address_of(const struct process *p, struct arena *arena)
{
    char name[HOST_NAME_BYTES];
    const char *host = p->options.listen_host;
    if (p->options.advertise[0] != '\0')
        return str_c(p->options.advertise);
    if (is_anywhere(host))
        host = host_name(name, sizeof name);
    bool v6 = strchr(host, ':') != NULL;
    return arena_printf(arena, v6 ? "http://[%s]:%u" : "http://%s:%u", host,
                        (unsigned)p->options.listen_port);
}

static struct str node_name(const struct process *p, struct arena *arena)
{
    char name[HOST_NAME_BYTES];
    if (p->options.node[0] != '\0')
        return str_c(p->options.node);
    host_name(name, sizeof name);
    if (p->options.listen_port == 0) /* it will be any */
        return arena_printf(arena, "%s-%d", name, (int)getpid());
    return arena_printf(arena, "%s:%u", name, (unsigned)p->options.listen_port);
}

static enum rc join(struct process *p, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct server *s = &p->server;
    if (s->store->ops->member == NULL)
        return RC_OK;
    struct str name = node_name(p, &arena);
    const struct membership_options options = {
        .name = name,
        .start = arena_printf(&arena, "%.*s/%" PRId64 "-%d", STR_ARG(name), clock_wall_ms(),
                              (int)getpid()),
        .address = address_of(p, &arena),
        .version = STR(BELFRY_VERSION),
        .lease_ms = (int64_t)p->options.node_lease_ms,
        .time = timekeeper_rules(&p->options),
        .worker_lease_ms = p->options.engine.lease_ms,
        .grace_ms = (int64_t)p->options.outage_grace_ms,
        .boot_id = p->dir.boot_id,
        .replaces = p->dir.replaces,
        .incidents = s->incidents,
    };
    TRY(membership_join(s->store, &options, &s->membership, err));
    TRY(data_dir_sign(&p->dir, options.start, err));
    return membership_start(s->membership, err);
}

static void on_news(void *arg)
{
    struct server *s = arg;
    decider_nudge(s->decider);
}

static void on_given(void *arg, struct str heir_address)
{
    peers_wake(arg, heir_address);
}

static void serve_members(struct process *p)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct server *s = &p->server;
    if (s->membership != NULL)
        membership_serve(
            s->membership, address_of(p, &arena),
            &(struct membership_events){.on_news = on_news, .on_given = on_given, .arg = s});
}

static enum rc start(struct process *p, struct err *err)
{
    struct server *s = &p->server;
    TRY(check_listen(&p->options, err));
    TRY(make_dir(p->options.data_dir, err));
    TRY(data_dir_lock(p->options.data_dir, &p->texts, &p->dir, err));
    s->incidents = incidents_new();
    s->metrics = metrics_new(p->options.metrics_series_max, p->options.net_threads, route_count);
    s->worker_versions = worker_versions_new();
    TRY(open_store(&p->options, &s->store, err));
    p->options.engine.trace.realm = s->store->realm;
    TRY(join(p, err));
    TRY(auth_open(&s->auth, s->store, p->options.data_dir, s->started_ms, err));
    s->zones = zones_new(NULL);
    s->forecasts = kept_new(FORECASTS_KEEP_MS);
    s->timelines = kept_new(TIMELINES_KEEP_MS);
    zones_trust_ms(s->zones, ZONES_TRUST_MS);
    atomic_store(&s->deletes_from_ms, INT64_MAX); /* until the first turn has said so */
    s->board = board_new(s, CMD_STATS);
    s->waits = board_new(s, CMD_WAITS);
    TRY(output_log_start(s, &s->tail, err));
    TRY(tracer_start(s, &s->tracer, err));
    TRY(decider_start(s, &s->decider, err));
    TRY(queries_start(s, &s->queries, err));
    TRY(alert_sender_start(s, &s->alert_sender, err));
    TRY(heartbeat_start(s, &s->heartbeat, err));
    TRY(scraper_start(s, &s->scraper, err));
    TRY(start_nets(p, err));
    serve_members(p);
    return RC_OK;
}

static const char *url_of(const struct process *p, char *ret_text, size_t max)
{
    bool v6 = strchr(p->options.listen_host, ':') != NULL;
    snprintf(ret_text, max, v6 ? "http://[%s]:%u" : "http://%s:%u", p->options.listen_host,
             (unsigned)p->options.listen_port);
    return ret_text;
}

/* ---- ending */

static void end_loop(struct process *p)
{
    uv_close((uv_handle_t *)&p->watch, NULL);
    local_worker_free(p->worker);
    p->worker = NULL;
    signals_free(p->signals);
    uv_stop(&p->loop);
}

/* Partitions are handed over while this server still serves and forwards, so that no client
 * waits. */
static bool may_leave(struct process *p)
{
    struct membership *m = p->server.membership;
    return m == NULL || membership_failed(m) || membership_has_handed_over(m) ||
           clock_mono_us() > p->leave_us;
}

static void leave(void *arg)
{
    struct process *p = arg;
    p->leaving = true;
    p->leave_us = clock_mono_us() + HAND_OVER_US;
    if (may_leave(p))
        end_loop(p);
}

/* While the worker finishes, the server goes on serving it; new jobs are refused. */
static void drain(struct process *p)
{
    log_info("the server drains: it takes no new jobs; a second signal ends it at once", NULL);
    if (p->server.membership != NULL)
        membership_drain(p->server.membership);
    if (p->worker != NULL)
        local_worker_drain(p->worker, leave, p);
    else
        leave(p);
}

static void on_signal(void *arg, int signum)
{
    struct process *p = arg;
    if (signum != SIGTERM && signum != SIGINT)
        return;
    if (atomic_exchange(&p->server.draining, true))
        _exit(0); /* everything that was acknowledged is durable */
    drain(p);
}

static void on_watch(uv_timer_t *timer)
{
    struct process *p = timer->data;
    struct membership *m = p->server.membership;
    bool failed = decider_failed(p->server.decider) || (m != NULL && membership_failed(m));
    if (failed) {
        log_error("this server cannot decide any more and ends; start it again", NULL);
        p->exit_code = EXIT_FAILURE;
    }
    if (failed || (p->leaving && may_leave(p)))
        end_loop(p);
}

/* From the outside in: no new connections, then everything under way comes home, then the nets can
 * go, and only then what they might still have spoken to. */
static void stop(struct process *p)
{
    struct server *s = &p->server;
    size_t nets = atomic_load(&s->net_count);
    for (size_t i = 0; i < nets; i++)
        net_drain(s->nets[i]);
    if (s->queries != NULL)
        queries_hurry(s->queries);
    heartbeat_stop(s->heartbeat);
    alert_sender_stop(s->alert_sender);
    if (s->membership != NULL)
        membership_hurry(s->membership);
    if (s->decider != NULL)
        decider_stop(s->decider);
    if (s->membership != NULL)
        membership_stop(s->membership); /* nothing is decided here any more */
    if (s->queries != NULL)
        queries_stop(s->queries);
    scraper_stop(s->scraper);
    tracer_stop(s->tracer); /* after the last turn, and the last scrape */
    if (s->tail != NULL)
        output_log_stop(s->tail);
    for (size_t i = 0; i < nets; i++)
        net_stop(s->nets[i]);
    if (s->queries != NULL)
        queries_free(s->queries);
    if (s->tail != NULL)
        output_log_free(s->tail);
    if (s->decider != NULL)
        decider_free(s->decider);
    board_free(s->board);
    board_free(s->waits);
    membership_free(s->membership);
    zones_free(s->zones);
    kept_free(s->forecasts);
    kept_free(s->timelines);
    incidents_free(s->incidents);
    scraper_free(s->scraper);
    metrics_free(s->metrics);
    worker_versions_free(s->worker_versions);
    http_quota_free(s->quota);
    codes_free(s->codes);
    wrong_keys_free(s->wrong_keys);
    auth_close(&s->auth);
    if (s->store != NULL)
        s->store->ops->close(s->store);
    data_dir_unlock(&p->dir);
    arena_free(&p->texts);
}

static void serve(struct process *p)
{
    char url[512];
    url_of(p, url, sizeof url);
    if (!p->options.no_worker)
        p->worker = local_worker_new(&p->loop, &p->server, url);
    uv_timer_init(&p->loop, &p->watch);
    p->watch.data = p;
    uv_timer_start(&p->watch, on_watch, WATCH_MS, WATCH_MS);
    log_info("ready", "url", url, "data", p->options.data_dir, "version", BELFRY_VERSION, NULL);
    uv_run(&p->loop, UV_RUN_DEFAULT);
}

/* A turn and a batch of jobs need some megabytes for some milliseconds, hundreds of times a second.
 * Given back to the system in between, they would be fetched and cleared page by page each time:
 * a twentieth of all processor time under load. */
static void keep_memory(void)
{
    enum { LARGE_BYTES = 8 << 20, KEEP_BYTES = 32 << 20 };
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    mallopt(M_TRIM_THRESHOLD, KEEP_BYTES);
}

int server_main(const struct server_options *options)
{
    struct process p = {.options = *options, .dir.fd = -1};
    struct err err;
    keep_memory();
    p.server.options = &p.options;
    p.server.started_ms = clock_wall_ms();
    fit_threads(&p.options);
    raise_files(&p.server.files);
    fit_connections(&p.options);
    /* Before the start: the server may be ended the moment after it said that it is ready. */
    uv_loop_init(&p.loop);
    p.signals = signals_new(&p.loop, on_signal, &p);
    if (start(&p, &err) == RC_OK) {
        serve(&p);
    } else {
        log_error("cannot start", "error", err.text, NULL);
        p.exit_code = EXIT_FAILURE;
        signals_free(p.signals);
    }
    uv_run(&p.loop, UV_RUN_DEFAULT); /* for handles that were closed */
    uv_loop_close(&p.loop);
    stop(&p);
    if (p.exit_code == 0)
        log_info("ended in order", NULL);
    return p.exit_code;
}
