#include "base/mem.h"
#include "loop/clock.h"
#include "server/call/context.h"
#include "server/config/options.h"
#include "server/trace/tracer.h"
#include "store/store.h"

#include "base/test/test.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    POST_BYTES_MAX = 16 << 20,
    MANY = 2000,      /* executions of one turn: some megabytes of spans */
    NEARLY = 2 << 20, /* what a collector takes at least, and a batch may not reach */
};

/* ---- a collector that takes everything and remembers the longest */

struct sink {
    int listener;
    int port;
    pthread_t thread;
    size_t posts;
    size_t longest;
};

static size_t body_bytes(const char *head)
{
    const char *at = strcasestr(head, "content-length:");
    assert_non_null(at);
    return (size_t)strtoull(at + strlen("content-length:"), NULL, 10);
}

/* False: the connection has ended. */
static bool take_post(struct sink *sink, int fd, char *bytes)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    size_t len = 0;
    size_t need = POST_BYTES_MAX;
    while (len < need) {
        ssize_t got = read(fd, bytes + len, POST_BYTES_MAX - len);
        if (got <= 0)
            return false;
        len += (size_t)got;
        bytes[len] = '\0';
        const char *end = strstr(bytes, "\r\n\r\n");
        if (end != NULL && need == POST_BYTES_MAX) {
            need = (size_t)(end + 4 - bytes) + body_bytes(bytes);
            sink->posts++;
            sink->longest = need > sink->longest ? need : sink->longest;
        }
    }
    return write(fd, answer, sizeof answer - 1) == sizeof answer - 1;
}

static void *sink_run(void *arg)
{
    struct sink *sink = arg;
    char *bytes = mem_new(POST_BYTES_MAX + 1);
    int fd;
    while ((fd = accept(sink->listener, NULL, NULL)) >= 0) {
        while (take_post(sink, fd, bytes))
            continue;
        close(fd);
    }
    free(bytes);
    return NULL;
}

static void sink_start(struct sink *sink)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    sink->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(sink->listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(sink->listener, 8), 0);
    assert_int_equal(getsockname(sink->listener, (struct sockaddr *)&address, &len), 0);
    sink->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&sink->thread, NULL, sink_run, sink), 0);
}

static void sink_stop(struct sink *sink)
{
    shutdown(sink->listener, SHUT_RDWR);
    pthread_join(sink->thread, NULL);
    close(sink->listener);
}

/* ---- a database that hangs, each time, until its reader has no more time */

static enum rc hang_exec(struct reader *reader, uint64_t id, struct arena *arena,
                         struct exec_rec *ret_exec, struct attempt_rec **ret_attempts,
                         size_t *ret_count, struct err *err)
{
    (void)id;
    (void)arena;
    (void)ret_exec;
    (void)ret_attempts;
    (void)ret_count;
    enum { LOOK_MS = 1 };
    const int64_t answer_ms = 2000;
    int64_t give_up_ms = clock_boot_ms() + answer_ms;
    while (clock_boot_ms() < give_up_ms) {
        int64_t until_ms = atomic_load(&reader->until_ms);
        if (until_ms != 0 && clock_boot_ms() >= until_ms)
            return err_set(err, RC_BUSY, "the server ends");
        (void)poll(NULL, 0, LOOK_MS);
    }
    return err_set(err, RC_IO, "the database does not answer");
}

static void close_reader(struct reader *reader)
{
    (void)reader;
}

static struct reader hanging;

static enum rc open_reader(struct store *store, struct reader **ret_reader, struct err *err)
{
    static const struct reader_ops ops = {.exec = hang_exec, .close = close_reader};
    (void)store;
    (void)err;
    hanging = (struct reader){.ops = &ops};
    *ret_reader = &hanging;
    return RC_OK;
}

/* ---- the server around it */

struct stage {
    struct sink sink;
    struct server_options options;
    struct store store;
    struct server server;
    struct tracer *tracer;
    char url[64];
};

static int stage_set_up(void **state)
{
    static const struct store_ops ops = {.reader = open_reader};
    static struct stage s;
    struct err err;
    s = (struct stage){.store = {.ops = &ops, .realm = 7}};
    sink_start(&s.sink);
    snprintf(s.url, sizeof s.url, "http://127.0.0.1:%d/v1/traces", s.sink.port);
    s.options = (struct server_options){.trace_endpoint = s.url,
                                        .trace_headers = "",
                                        .trace_service_name = "belfry",
                                        .trace_timeout_ms = 60000,
                                        .trace_queue_bytes_max = 64 << 20,
                                        .node = "a",
                                        .engine.trace.on = true};
    s.server = (struct server){.options = &s.options, .store = &s.store};
    assert_int_equal(tracer_start(&s.server, &s.tracer, &err), RC_OK);
    *state = &s;
    return 0;
}

/* What one turn told: executions that were cancelled (the store is asked about them), or ended
 * before they were anywhere (it is not). */
static void take(struct stage *s, size_t count, enum change_kind kind)
{
    static struct exec_change change;
    struct ended_trace *ended = mem_new(count * sizeof *ended);
    change = (struct exec_change){.kind = kind,
                                  .exec = {.id = 11,
                                           .job_id = 10,
                                           .state = EXEC_CANCELLED,
                                           .queue = STR("mail"),
                                           .created_ms = 1,
                                           .finished_ms = 2}};
    for (size_t i = 0; i < count; i++)
        ended[i] = (struct ended_trace){.trace = {.id = {1, 2}, .flags = TRACE_SAMPLED},
                                        .change = &change,
                                        .job = STR("a name that makes it longer")};
    tracer_take(s->tracer, ended, count);
    free(ended);
}

TEST(a_turn_with_many_ends_is_sent_in_several_batches, stage_set_up)
{
    struct stage *s = *state;
    take(s, MANY, CHANGE_RECORD);
    tracer_stop(s->tracer);
    sink_stop(&s->sink);
    assert_true(s->sink.posts >= 2);
    assert_true(s->sink.longest < NEARLY);
}

TEST(a_database_that_hangs_is_not_waited_for_with_each_execution_at_the_end, stage_set_up)
{
    const int64_t bearable_ms = 30000; /* all of them would take an hour */
    struct stage *s = *state;
    take(s, MANY, CHANGE_FINISH);
    int64_t begun_ms = clock_boot_ms();
    tracer_stop(s->tracer);
    assert_true(clock_boot_ms() - begun_ms < bearable_ms);
    sink_stop(&s->sink);
}
