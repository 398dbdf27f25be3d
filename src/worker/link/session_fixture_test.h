/* session_fixture_test.h - a session and several servers that share a store, as far as it can tell;
 * included by tests only. */
#pragma once
#include "base/log.h"
#include "worker/link/fake_server_test.h"
#include "worker/link/session_inside.h"

enum { SLOTS = 8, SEEN_MAX = 64, SERVERS = 3, PARTITIONS = 16 };

struct owner {
    uv_loop_t loop;
    struct fake_server *servers[SERVERS];
    char urls[SERVERS][64]; /* they outlive their servers */
    struct str addresses[SERVERS];
    uint32_t slots;
    struct session *session;
    uint64_t leases[SEEN_MAX];
    size_t lease_count;
    uint64_t lost[SEEN_MAX];
    size_t lost_count;
    uint64_t stopped;
    bool drained;
    uint64_t epochs[SERVERS][PARTITIONS_MAX];
};

/* An id in this partition; nth: another one. */
static uint64_t id_in(uint32_t partition, uint32_t nth)
{
    return ((uint64_t)partition_first_bucket(PARTITIONS, partition) << 12) + nth + 1;
}

static inline struct partition_set range(uint32_t first, uint32_t count)
{
    return (struct partition_set){.count = PARTITIONS,
                                  .bits = ((UINT64_C(1) << count) - 1) << first};
}

static inline void finish(struct owner *o, uint64_t exec_id)
{
    session_done(o->session, &(struct poll_result){.exec_id = exec_id,
                                                   .token = 1,
                                                   .outcome = OUTCOME_SUCCEEDED,
                                                   .usage = {.exit_code = 0}});
}

static inline void on_lease(void *arg, const struct poll_lease *lease, int64_t deadline_ms)
{
    struct owner *o = arg;
    assert_true(deadline_ms > 0);
    o->leases[o->lease_count++] = lease->exec_id;
}

static inline void on_stop(void *arg, uint64_t exec_id, uint64_t token, struct str reason)
{
    struct owner *o = arg;
    (void)token;
    (void)reason;
    o->stopped = exec_id;
}

static inline void on_lost(void *arg, uint64_t exec_id, uint64_t token)
{
    struct owner *o = arg;
    (void)token;
    o->lost[o->lost_count++] = exec_id;
}

static inline void on_drained(void *arg)
{
    struct owner *o = arg;
    o->drained = true;
}

/* Three servers with a third of the partitions each, about. */
static inline int set_up(void **state)
{
    struct owner *o = MEM_NEW(struct owner);
    log_set_level(LOG_ERROR);
    uv_loop_init(&o->loop);
    o->slots = SLOTS;
    for (size_t i = 0; i < SERVERS; i++) {
        struct fake_server *f = fake_new(&o->loop);
        o->servers[i] = f;
        memcpy(o->urls[i], f->url, sizeof o->urls[i]);
        o->addresses[i] = f->self = str_c(o->urls[i]);
        f->home = o->servers[0];
        f->owned = range((uint32_t)i * 5, 5);
        f->last = i == SERVERS - 1;
    }
    o->servers[0]->home = NULL;
    o->servers[2]->owned = range(10, 6);
    for (size_t i = 0; i < SERVERS; i++) {
        o->servers[i]->servers = o->addresses;
        o->servers[i]->server_count = SERVERS;
        o->servers[i]->peers = o->servers;
        o->servers[i]->peer_count = SERVERS;
    }
    *state = o;
    return 0;
}

/* Short leases: a test of three terms takes seconds. */
static inline void hurry(struct owner *o, int64_t lease_ms)
{
    o->servers[0]->welcome.lease_ms = lease_ms;
    o->servers[0]->welcome.park_ms = lease_ms / 4;
    for (size_t i = 0; i < SERVERS; i++)
        o->servers[i]->welcome.lease_ms = lease_ms;
}

static inline void start_at(struct owner *o, const char *urls)
{
    struct err err;
    struct session_options options = {
        .urls = str_c(urls),
        .token = STR("key"),
        .hello = {.name = STR("test"), .slots = o->slots, .runs_commands = true},
        .events = {.on_lease = on_lease,
                   .on_stop = on_stop,
                   .on_lost = on_lost,
                   .on_drained = on_drained,
                   .arg = o},
    };
    assert_int_equal(session_new(&o->loop, &options, &o->session, &err), RC_OK);
}

static inline bool all_parked(const struct owner *o)
{
    bool parked = true;
    for (size_t i = 0; i < SERVERS; i++)
        parked &= o->servers[i] == NULL || o->servers[i]->parked != NULL;
    return parked;
}

static uint32_t offered(const struct owner *o)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < SERVERS; i++)
        sum += o->servers[i] == NULL ? 0 : o->servers[i]->poll.free;
    return sum;
}

/* All three parked, with everything offered. */
static inline void start(struct owner *o)
{
    start_at(o, o->servers[0]->url);
    FAKE_WAIT(o->servers[0], all_parked(o) && offered(o) == o->slots);
}

static inline int tear_down(void **state)
{
    struct owner *o = *state;
    session_free(o->session);
    for (size_t i = 0; i < SERVERS; i++) {
        if (o->servers[i] != NULL)
            fake_free(o->servers[i]);
    }
    while (uv_loop_alive(&o->loop))
        uv_run(&o->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&o->loop), 0);
    free(o);
    return 0;
}

/* The servers answer parked polls now and then, as real ones do; each for this long. */
static inline void pass(struct owner *o, int64_t ms)
{
    int64_t end_us = clock_mono_us() + ms * 1000;
    while (clock_mono_us() < end_us) {
        int64_t next_us = clock_mono_us() + 100000;
        for (size_t i = 0; i < SERVERS; i++) {
            if (o->servers[i] != NULL && !o->servers[i]->frozen && !o->servers[i]->cut)
                fake_unpark(o->servers[i]);
        }
        while (clock_mono_us() < next_us)
            uv_run(&o->loop, UV_RUN_DEFAULT);
    }
}

/* The server dies: nobody listens any more. */
static inline void kill_server(struct owner *o, size_t i)
{
    struct fake_server *f = o->servers[i];
    o->servers[i] = NULL;
    f->last = false;
    fake_free(f);
}

static inline size_t results(const struct owner *o)
{
    size_t count = 0;
    for (size_t i = 0; i < SERVERS; i++)
        count += o->servers[i] == NULL ? 0 : o->servers[i]->result_count;
    return count;
}

static inline void name_epoch(struct owner *o, size_t i, uint32_t partition, uint64_t epoch)
{
    o->epochs[i][partition] = epoch;
    o->servers[i]->epochs = o->epochs[i];
}

/* Leases it at this server and waits until it is confirmed. */
static inline void lease_at(struct owner *o, size_t i, uint64_t exec_id)
{
    fake_lease(o->servers[i], exec_id, 1, "{}", "");
    FAKE_WAIT(o->servers[i], fake_holds(o->servers[i], exec_id));
}
