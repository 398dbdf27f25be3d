#include "bench/harness/fixture.h"
#include "base/arena.h"
#include "base/mem.h"
#include "bench/harness/child.h"
#include "bench/harness/database.h"
#include "bench/harness/machine.h"
#include "loop/clock.h"
#include "loop/file.h"
#include "loop/signals.h"
#include "wire/client/client.h"
#include "wire/json/json.h"
#include "worker/spawn/tmpdir.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK_MS = 100, /* how late a silence may be noticed */
    ASK_TIMEOUT_MS = 10000,
};

/* A server of the fixture. */
struct host {
    struct fixture *fixture;
    struct child *child;
    struct str url; /* empty until it has said it */
};

struct fixture {
    uv_loop_t loop;
    struct arena arena;
    struct signals *signals;
    uv_timer_t tick;
    const char *dir;
    struct database *database; /* NULL: SQLite in dir */
    struct host hosts[STAGE_SERVERS_MAX];
    uint32_t host_count;
    struct child *worker;
    struct http_client *client; /* for our own questions */
    struct http_client *peer;   /* the same with a worker's key; NULL until it is needed */
    struct arena *answer_arena; /* of the call under way */
    struct json *answer;
    struct str token;
    bool asking; /* for the server's numbers */
    struct stats stats;
    bool even;   /* all servers have equal shares */
    bool ending; /* processes may end now */
    uint64_t progress;
    struct err failure;
    struct note note;
    void (*on_note)(void *arg, const struct note *note);
    void *arg;
};

uv_loop_t *fixture_loop(struct fixture *s)
{
    return &s->loop;
}

struct str fixture_url(const struct fixture *s)
{
    return s->hosts[0].url;
}

struct str fixture_url_for(const struct fixture *s, uint32_t client)
{
    return s->hosts[client % s->host_count].url;
}

struct str fixture_token(const struct fixture *s)
{
    return s->token;
}

/* Counting may take longer than any answer: timers must not think that they waited all along. */
enum rc fixture_ledger(struct fixture *s, struct ledger *ret_ledger, struct err *err)
{
    enum rc rc = s->database != NULL ? database_read(s->database, ret_ledger, err)
                                     : ledger_read(s->dir, ret_ledger, err);
    uv_update_time(&s->loop);
    return rc;
}

static enum rc refuse_sqlite(const struct fixture *s, struct err *err)
{
    if (s->database != NULL)
        return RC_OK;
    return err_set(err, RC_INVALID, "this is measured on a --store of postgres://…, not on SQLite");
}

enum rc fixture_analyze(struct fixture *s, struct err *err)
{
    TRY(refuse_sqlite(s, err));
    enum rc rc = database_analyze(s->database, err);
    uv_update_time(&s->loop);
    return rc;
}

enum rc fixture_hold(struct fixture *s, struct err *err)
{
    TRY(refuse_sqlite(s, err));
    return database_hold(s->database, err);
}

const struct note *fixture_note(const struct fixture *s)
{
    return &s->note;
}

static int64_t servers_cpu_us(const struct fixture *s)
{
    int64_t us = 0;
    for (uint32_t i = 0; i < s->host_count; i++)
        us += child_cpu_us(s->hosts[i].child);
    return us;
}

struct fixture_usage fixture_usage(const struct fixture *s)
{
    return (struct fixture_usage){
        .server_us = servers_cpu_us(s),
        .worker_us = s->worker == NULL ? 0 : child_cpu_us(s->worker),
        .client_us = (int64_t)clock() * 1000000 / CLOCKS_PER_SEC,
        .store_us = s->database == NULL ? 0 : database_cpu_us(s->database),
        .machine_us = machine_cpu_us(),
    };
}

int64_t fixture_peak_bytes(const struct fixture *s)
{
    int64_t peak = 0;
    for (uint32_t i = 0; i < s->host_count; i++) {
        int64_t bytes = child_peak_bytes(s->hosts[i].child);
        peak = bytes > peak ? bytes : peak;
    }
    return peak;
}

void fixture_listen(struct fixture *s, void (*on_note)(void *arg, const struct note *note),
                    void *arg)
{
    s->on_note = on_note;
    s->arg = arg;
}

/* ---- waiting */

void fixture_progress(struct fixture *s)
{
    s->progress++;
}

void fixture_fail(struct fixture *s, const struct err *err)
{
    if (s->failure.rc == RC_OK)
        s->failure = *err;
}

enum rc fixture_wait(struct fixture *s, bool (*done)(const void *arg), const void *arg,
                     const char *what, struct err *err)
{
    uint64_t seen = s->progress;
    int64_t heard_us = clock_mono_us();
    for (;;) {
        int64_t now_us = clock_mono_us();
        if (s->failure.rc != RC_OK) /* first: clients that failed are done as well */
            return err_set(err, s->failure.rc, "%s", s->failure.text);
        if (done(arg))
            return RC_OK;
        if (seen != s->progress) {
            seen = s->progress;
            heard_us = now_us;
        }
        if (now_us - heard_us > SILENCE_S * INT64_C(1000000))
            return err_set(err, RC_TIMEOUT, "no progress for %d s while waiting for %s", SILENCE_S,
                           what);
        uv_run(&s->loop, UV_RUN_ONCE);
    }
}

static void on_tick(uv_timer_t *timer)
{
    (void)timer; /* being woken is all */
}

static bool time_came(const void *arg)
{
    return clock_mono_us() >= *(const int64_t *)arg;
}

enum rc fixture_pause(struct fixture *s, int64_t ms, struct err *err)
{
    int64_t until_us = clock_mono_us() + ms * 1000;
    fixture_progress(s);
    uv_timer_start(&s->tick, on_tick, (uint64_t)ms, TICK_MS);
    return fixture_wait(s, time_came, &until_us, "time to pass", err);
}

/* ---- what happens meanwhile */

static void look_after(struct fixture *s, struct child *child, const char *name)
{
    struct err err;
    if (child == NULL || child_runs(child) || s->ending)
        return;
    const char *complaint = child_complaint(child);
    err_set(&err, RC_UNREACHABLE, "the %s ended: %s", name,
            complaint == NULL ? "exit code 0" : complaint);
    fixture_fail(s, &err);
}

static void on_signal(void *arg, int signum)
{
    struct fixture *s = arg;
    struct err err;
    if (signum == SIGCHLD) {
        for (uint32_t i = 0; i < s->host_count; i++)
            look_after(s, s->hosts[i].child, "server");
        look_after(s, s->worker, "worker");
        return;
    }
    err_set(&err, RC_SHUTDOWN, "interrupted: %s", strsignal(signum));
    fixture_fail(s, &err);
}

/* The server's log: it says where it listens, and what troubles it is for the user to see. */
static void on_server_line(void *arg, struct str line)
{
    struct host *host = arg;
    struct arena scratch = {0};
    struct json doc;
    if (json_parse(line, &scratch, &doc, NULL) == RC_OK) {
        const struct json *url = json_get(&doc, STR("url"));
        const struct json *level = json_get(&doc, STR("level"));
        if (url != NULL && url->kind == JSON_STRING)
            host->url = arena_str(&host->fixture->arena, url->string);
        if (level != NULL && level->kind == JSON_STRING && str_eq(level->string, STR("info")))
            line.len = 0;
    }
    if (line.len > 0)
        fprintf(stderr, "%.*s\n", STR_ARG(line));
    arena_free(&scratch);
}

static void on_worker_line(void *arg, struct str line)
{
    struct fixture *s = arg;
    struct err err;
    if (note_parse(line, &s->note, &err)) {
        fixture_fail(s, &err);
        return;
    }
    fixture_progress(s);
    if (s->on_note != NULL)
        s->on_note(s->arg, &s->note);
}

/* ---- the servers */

static bool server_listens(const void *arg)
{
    const struct host *host = arg;
    return host->url.len > 0;
}

/* --store is named as well, or a BELFRY_STORE would lead to a database that matters to somebody.
 * The keys are in the directory of the first one. */
static enum rc start_server(struct fixture *s, const struct fixture_options *options,
                            struct err *err)
{
    uint32_t number = s->host_count;
    struct host *host = &s->hosts[number];
    const char *store = s->database != NULL ? database_url(s->database)
                                            : arena_printf(&s->arena, "sqlite:%s", s->dir).ptr;
    const char *name = arena_printf(&s->arena, "bench-%u", number + 1).ptr;
    const char *dir = number == 0 ? s->dir : arena_printf(&s->arena, "%s/%s", s->dir, name).ptr;
    const char *argv[] = {
        "belfry",      "server",      "--no-worker", "--data",       dir,
        "--store",     store,         "--node",      name,           "--listen",
        "127.0.0.1:0", "--log-level", "info",        "--durability", options->durability,
        NULL,          NULL,          NULL};
    if (options->setting != NULL) {
        argv[COUNT_OF(argv) - 3] = "--set";
        argv[COUNT_OF(argv) - 2] = options->setting;
    }
    struct child_options child = {
        .argv = argv,
        .lines_fd = STDERR_FILENO,
        .on_line = on_server_line,
        .arg = host,
    };
    host->fixture = s;
    TRY(child_start(&s->loop, &child, &host->child, err));
    s->host_count++;
    return fixture_wait(s, server_listens, host, "the server to start", err);
}

static enum rc start_servers(struct fixture *s, const struct fixture_options *options,
                             struct err *err)
{
    for (uint32_t i = 0; i < options->servers; i++)
        TRY(start_server(s, options, err));
    const char *key = arena_printf(&s->arena, "%s/admin.key", s->dir).ptr;
    TRY(file_read_key(key, "admin.key", &s->arena, &s->token, err));
    return http_client_new(&s->loop, fixture_url(s), s->token, &s->client, err);
}

/* ---- what the server says */

static void on_stats(void *arg, const struct http_response *response, const struct err *err)
{
    struct fixture *s = arg;
    struct err bad;
    s->asking = false;
    if (response == NULL)
        fixture_fail(s, err);
    else if (stats_parse(response->body, &s->stats, &bad) != RC_OK)
        fixture_fail(s, &bad);
}

static bool answered(const void *arg)
{
    const struct fixture *s = arg;
    return !s->asking;
}

enum rc fixture_ask(struct fixture *s, struct stats *ret_stats, struct err *err)
{
    s->asking = true;
    http_client_send(s->client, &(struct http_call){
                                    .method = "GET",
                                    .target = STR("/api/v1/stats"),
                                    .timeout_ms = ASK_TIMEOUT_MS,
                                    .on_done = on_stats,
                                    .arg = s,
                                });
    TRY(fixture_wait(s, answered, s, "the server's numbers", err));
    *ret_stats = s->stats;
    return RC_OK;
}

static void on_cluster(void *arg, const struct http_response *response, const struct err *err)
{
    struct fixture *s = arg;
    s->asking = false;
    if (response == NULL)
        fixture_fail(s, err);
    else
        s->even = stats_are_even(response->body, s->host_count);
}

/* Those that come later are given their shares within a second or two. */
static enum rc settle(struct fixture *s, struct err *err)
{
    int64_t until_us = clock_mono_us() + SILENCE_S * INT64_C(1000000);
    while (!s->even && s->host_count > 1) {
        if (clock_mono_us() > until_us)
            return err_set(err, RC_TIMEOUT, "the servers do not come to equal shares");
        s->asking = true;
        http_client_send(s->client, &(struct http_call){
                                        .method = "GET",
                                        .target = STR("/api/v1/cluster"),
                                        .timeout_ms = ASK_TIMEOUT_MS,
                                        .on_done = on_cluster,
                                        .arg = s,
                                    });
        TRY(fixture_wait(s, answered, s, "the servers to know each other", err));
        TRY(fixture_pause(s, TICK_MS, err));
    }
    return RC_OK;
}

static void on_put(void *arg, const struct http_response *response, const struct err *err)
{
    struct fixture *s = arg;
    struct err bad;
    s->asking = false;
    if (response == NULL) {
        fixture_fail(s, err);
    } else if (response->status != 200) {
        err_set(&bad, RC_INVALID, "a PUT was answered %d: %.*s", response->status,
                STR_ARG(str_head(response->body, 200)));
        fixture_fail(s, &bad);
    }
}

enum rc fixture_put(struct fixture *s, struct str target, struct str body, struct err *err)
{
    s->asking = true;
    http_client_send(s->client, &(struct http_call){
                                    .method = "PUT",
                                    .target = target,
                                    .content_type = "application/json",
                                    .body = body,
                                    .timeout_ms = ASK_TIMEOUT_MS,
                                    .on_done = on_put,
                                    .arg = s,
                                });
    return fixture_wait(s, answered, s, "the server to change something", err);
}

static void on_post(void *arg, const struct http_response *response, const struct err *err)
{
    struct fixture *s = arg;
    struct err bad;
    s->asking = false;
    if (response == NULL) {
        fixture_fail(s, err);
    } else if (response->status >= 300) {
        err_set(&bad, RC_INVALID, "a POST was answered %d: %.*s", response->status,
                STR_ARG(str_head(response->body, 200)));
        fixture_fail(s, &bad);
    } else if (json_parse(arena_str(s->answer_arena, response->body), s->answer_arena, s->answer,
                          &bad) != RC_OK) {
        fixture_fail(s, &bad);
    }
}

enum rc fixture_post(struct fixture *s, struct str target, struct str body, struct arena *arena,
                     struct json *ret_answer, struct err *err)
{
    if (s->peer == NULL) {
        const char *path = arena_printf(&s->arena, "%s/worker.key", s->dir).ptr;
        struct str token;
        TRY(file_read_key(path, "worker.key", &s->arena, &token, err));
        TRY(http_client_new(&s->loop, fixture_url(s), token, &s->peer, err));
    }
    s->asking = true;
    s->answer_arena = arena;
    s->answer = ret_answer;
    http_client_send(s->peer, &(struct http_call){
                                  .method = "POST",
                                  .target = target,
                                  .content_type = "application/json",
                                  .body = body,
                                  .timeout_ms = ASK_TIMEOUT_MS,
                                  .on_done = on_post,
                                  .arg = s,
                              });
    return fixture_wait(s, answered, s, "the server to answer a worker", err);
}

/* ---- the worker */

/* What `belfry worker` complains about is for the user to see. */
static void on_complaint(void *arg, struct str line)
{
    (void)arg;
    fprintf(stderr, "%.*s\n", STR_ARG(line));
}

static enum rc launch_worker(struct fixture *s, const struct fixture_options *options,
                             struct err *err)
{
    const char *key = arena_printf(&s->arena, "%s/worker.key", s->dir).ptr;
    const char *url = arena_zstr(&s->arena, fixture_url(s));
    const char *slots = arena_printf(&s->arena, "%u", options->slots).ptr;
    const char *handler[] = {"belfry",       "bench", "--role",  "worker", "--server", url,
                             "--token-file", key,     "--slots", slots,    NULL};
    const char *commands[] = {"belfry",       "worker", "--log-level", "warn", "--server", url,
                              "--token-file", key,      "--slots",     slots,  NULL};
    bool real = options->runs_commands;
    struct child_options child = {
        .argv = real ? commands : handler,
        .lines_fd = real ? STDERR_FILENO : STDOUT_FILENO,
        .on_line = real ? on_complaint : on_worker_line,
        .arg = s,
    };
    return child_start(&s->loop, &child, &s->worker, err);
}

static enum rc start_worker(struct fixture *s, const struct fixture_options *options,
                            struct err *err)
{
    struct stats stats;
    TRY(fixture_ask(s, &stats, err));
    uint64_t others = stats.workers;
    TRY(launch_worker(s, options, err));
    while (stats.workers == others) /* for the few milliseconds that it takes to register */
        TRY(fixture_ask(s, &stats, err));
    return RC_OK;
}

enum rc fixture_hire(struct fixture *s, uint32_t slots, struct err *err)
{
    return start_worker(s, &(struct fixture_options){.slots = slots}, err);
}

/* ---- beginning and end */

static enum rc make_dir(struct fixture *s, const char *root, struct err *err)
{
    char *dir = arena_zstr(&s->arena, arena_printf(&s->arena, "%s/belfry-bench-XXXXXX", root));
    if (mkdtemp(dir) == NULL)
        return err_set(err, RC_IO, "cannot make a directory in %s: %s", root, strerror(errno));
    s->dir = dir;
    return RC_OK;
}

enum rc fixture_open(const struct fixture_options *options, struct fixture **ret_stage,
                     struct err *err)
{
    struct fixture *s = MEM_NEW(struct fixture);
    *ret_stage = s;
    int failed = uv_loop_init(&s->loop);
    if (failed != 0) {
        free(s);
        *ret_stage = NULL;
        return err_set(err, RC_IO, "cannot make an event loop: %s", uv_strerror(failed));
    }
    s->signals = signals_new(&s->loop, on_signal, s);
    uv_timer_init(&s->loop, &s->tick); /* cannot fail */
    uv_timer_start(&s->tick, on_tick, TICK_MS, TICK_MS);
    TRY(make_dir(s, options->tmp_root, err));
    if (options->store != NULL)
        TRY(database_make(options->store, options->here, &s->database, err));
    TRY(start_servers(s, options, err));
    TRY(settle(s, err));
    return options->slots == 0 ? RC_OK : start_worker(s, options, err);
}

static bool child_gone(const void *arg)
{
    return !child_runs(*(struct child *const *)arg);
}

static enum rc end_child(struct fixture *s, struct child *child, const char *name, struct err *err)
{
    if (child == NULL || !child_runs(child))
        return RC_OK;
    s->ending = true;
    child_signal(child, SIGTERM);
    TRY(fixture_wait(s, child_gone, &child, name, err));
    const char *complaint = child_complaint(child);
    if (complaint != NULL)
        return err_set(err, RC_UNREACHABLE, "%s: %s", name, complaint);
    return RC_OK;
}

enum rc fixture_drain(struct fixture *s, struct err *err)
{
    return end_child(s, s->worker, "the end of the worker", err);
}

enum rc fixture_leave(struct fixture *s, struct err *err)
{
    TRY(fixture_drain(s, err));
    for (uint32_t i = 0; i < s->host_count; i++)
        TRY(end_child(s, s->hosts[i].child, "the end of the server", err));
    return RC_OK;
}

/* Signals are ours until the end, so that ^C does not leave the directory behind. */
void fixture_free(struct fixture **fixture)
{
    struct fixture *s = *fixture;
    struct err err;
    if (s == NULL)
        return;
    http_client_free(s->client);
    http_client_free(s->peer);
    child_free(s->worker);
    for (uint32_t i = 0; i < s->host_count; i++)
        child_free(s->hosts[i].child);
    database_free(s->database);
    uv_close((uv_handle_t *)&s->tick, NULL);
    if (s->dir != NULL && tmpdir_remove(s->dir, &err))
        fprintf(stderr, "belfry bench: %s\n", err.text);
    signals_free(s->signals);
    uv_run(&s->loop, UV_RUN_DEFAULT);
    uv_loop_close(&s->loop);
    arena_free(&s->arena);
    free(s);
    *fixture = NULL;
}
