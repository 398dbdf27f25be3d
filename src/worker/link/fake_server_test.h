/* fake_server_test.h - a server that does what a test tells it; included by tests only.
 *
 * Speaks the worker protocol over real HTTP, on the test's own loop. It hands out the leases the
 * test queued, parks polls as the real one does, remembers every result and every byte of output,
 * and can be told to misbehave. Numbers of polls are checked here for every test. */
#pragma once
#include "base/id.h"
#include "base/mem.h"
#include "base/test/test.h"
#include "loop/clock.h"
#include "wire/http/http.h"
#include "wire/http/log_frame.h"
#include "wire/message/poll_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FAKE_RESULTS_MAX = 4096,
    FAKE_LEASES_MAX = 4096,
    FAKE_PATIENCE_MS = 20000, /* a test that waits this long has failed */
    FAKE_STANDS_MS = 100,     /* between two ticks: nobody was allowed to run */
    FAKE_LOG_BYTES_MAX = 64 << 20,
};

struct fake_server {
    uv_loop_t *loop;
    struct http_server *http;
    uv_timer_t tick;   /* wakes the loop, so that a test can look at the world */
    int64_t ticked_ms; /* boot clock */
    int64_t stood_ms;  /* how long this process stood still so far */
    uint16_t port;
    char url[64];
    struct arena arena; /* of all that is remembered */
    struct welcome welcome;

    /* What happened. */
    unsigned registrations;
    struct hello hello; /* of the newest one */
    unsigned refusals;  /* of fields that are not known */
    unsigned polls;
    uint64_t seq;     /* of the newest poll */
    unsigned era;     /* of the registration whose polls these are */
    uint64_t awaited; /* one that was overtaken on its way, by the other connection; 0: none */
    struct poll poll; /* the newest */
    struct poll_result results[FAKE_RESULTS_MAX];
    size_t result_count;
    size_t gathered; /* the most that one poll carried */
    struct buf log;  /* output, without notes */
    struct buf notes;
    uint64_t log_seq; /* of the newest piece */
    bool result_overtook_log;
    struct buf checkpoint; /* what is kept; may be put there by a test */
    unsigned fetches;
    unsigned puts;
    char checkpoint_path[256]; /* of the newest call about one, with its query */

    /* What to do. */
    struct poll_lease leases[FAKE_LEASES_MAX]; /* for the next poll with room */
    size_t lease_count;
    struct poll_lease given[FAKE_LEASES_MAX]; /* that have not ended, as far as it knows */
    size_t given_count;
    struct poll_stop stop; /* for the next reply; exec_id 0: none */
    bool drain;
    int poll_status;              /* answer polls with this instead; 0: behave */
    uint64_t unreadable;          /* the execution whose result it cannot read */
    bool takes_bare;              /* unless it comes with nothing but its outcome */
    uint64_t garbled;             /* replies that bring this lease are no JSON; 0: none */
    unsigned garbles;             /* how many were */
    bool hold_logs;               /* do not answer uploads */
    int checkpoint_status;        /* answer calls about checkpoints with this; 0: behave */
    unsigned checkpoint_refusals; /* this many times; 0: always */
    bool hold_fetch;              /* do not answer the next fetch */
    bool lose_reply;              /* hang up on the next poll after having taken it */
    bool frozen;                  /* do not answer polls */

    /* One of several. */
    struct fake_server *home;   /* who registers for all; NULL: it is alone, or the home itself */
    struct partition_set owned; /* what it judges and says it owns; count 0: everything */
    uint32_t backlog;
    struct str self;
    const struct str *servers;
    size_t server_count;
    struct fake_server **peers; /* all of them, to hand polls on to */
    size_t peer_count;
    const uint64_t *epochs; /* that it names; NULL: none */
    uint64_t heard_as;      /* of its answers; 0: it is of a version that gives none */
    bool provisional;       /* may not decide: takes no results, owns nothing */
    bool keeps;             /* what is held, while it is provisional */
    bool older;             /* refuses what was not known in the first version */
    bool cut; /* does not answer polls that come here; those that are handed on come through */
    int door_status;          /* answer polls that come here with this; 0: behave */
    bool hasty;               /* parks nothing */
    unsigned relayed;         /* polls that were meant for others */
    bool forgetful;           /* does not know anybody */
    unsigned foreign_results; /* that were offered, and are for others to judge */

    struct http_request *parked;
    int64_t parked_us; /* since then, by the monotonic clock */
    struct http_request *held_log;
    struct http_request *held_fetch;
    bool closed;
    bool last; /* of those on its loop */
};

static inline void fake_answer(struct http_request *req, int status, const char *type,
                               struct str body)
{
    http_respond(req, &(struct http_answer){.status = status, .content_type = type, .body = body});
}

static inline void fake_reply(struct http_request *req, const struct poll_reply *reply)
{
    CLEANUP(buf_free) struct buf body = BUF(FAKE_LOG_BYTES_MAX);
    poll_reply_print(&body, reply);
    fake_answer(req, 200, "application/json", buf_str(&body));
}

static inline void fake_register(struct fake_server *f, struct http_request *req)
{
    CLEANUP(buf_free) struct buf body = BUF(4096);
    struct fake_server *home = f->home != NULL ? f->home : f;
    struct field_errors errors = {0};
    struct json doc;
    struct err err;
    assert_int_equal(json_parse(arena_str(&f->arena, req->body), &f->arena, &doc, &err), RC_OK);
    assert_int_equal(hello_parse(&doc, &f->arena, &home->hello, &errors), RC_OK);
    if (f->older && (home->hello.boot_id.len > 0 || home->hello.replaces != 0)) {
        f->refusals++;
        fake_answer(req, 400, "application/json", STR("{}"));
        return;
    }
    home->registrations++;
    home->welcome.worker_id = 1000 + home->registrations;
    welcome_print(&body, &home->welcome);
    fake_answer(req, 201, "application/json", buf_str(&body));
}

/* What every reply says. */
static inline struct poll_reply fake_plain(const struct fake_server *f)
{
    struct partition_set nothing = {.count = f->owned.count};
    return (struct poll_reply){
        .drain = f->drain,
        .owned = f->provisional ? nothing : f->owned,
        .epochs = f->epochs,
        .heard_as = f->heard_as,
        .provisional = f->provisional,
        .kept = f->poll.held,
        .kept_count = f->provisional && f->keeps ? f->poll.held_count : 0,
        .backlog = f->backlog,
        .server = f->self,
        .servers = f->servers,
        .server_count = f->server_count,
    };
}

static inline void fake_note_given(struct fake_server *f, const struct poll_lease *leases,
                                   size_t count)
{
    assert_true(f->given_count + count <= FAKE_LEASES_MAX);
    memcpy(f->given + f->given_count, leases, count * sizeof(leases[0]));
    f->given_count += count;
}

static inline void fake_note_ended(struct fake_server *f, uint64_t exec_id)
{
    for (size_t i = 0; i < f->given_count; i++) {
        if (f->given[i].exec_id == exec_id) {
            f->given[i] = f->given[--f->given_count];
            return;
        }
    }
}

static inline bool fake_is_named(const struct poll *poll, const struct poll_lease *lease)
{
    for (size_t i = 0; i < poll->held_count; i++) {
        if (poll->held[i].exec_id == lease->exec_id && poll->held[i].token == lease->token)
            return true;
    }
    for (size_t i = 0; i < poll->result_count; i++) {
        if (poll->results[i].exec_id == lease->exec_id && poll->results[i].token == lease->token)
            return true;
    }
    return false;
}

/* As the real one does: a lease that the newest poll does not name has not arrived, and is due
 * again. A worker takes no lease from a reply that comes when its next poll is on its way. */
static inline void fake_give_again(struct fake_server *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->given_count; i++) {
        if (fake_is_named(&f->poll, &f->given[i])) {
            f->given[kept++] = f->given[i];
        } else {
            assert_true(f->lease_count < FAKE_LEASES_MAX);
            f->leases[f->lease_count++] = f->given[i];
        }
    }
    f->given_count = kept;
}

/* A reply with all that is due for this poll. */
static inline void fake_reply_due(struct fake_server *f, struct http_request *req,
                                  const struct poll_verdict *verdicts, size_t verdict_count)
{
    size_t count = f->lease_count < f->poll.free ? f->lease_count : f->poll.free;
    struct poll_reply reply = fake_plain(f);
    if (f->provisional)
        count = 0;
    reply.leases = f->leases;
    reply.lease_count = count;
    reply.stops = &f->stop;
    reply.stop_count = f->stop.exec_id != 0 && !f->provisional;
    reply.verdicts = verdicts;
    reply.verdict_count = verdict_count;
    for (size_t i = 0; i < count; i++) {
        if (f->leases[i].exec_id == f->garbled && f->garbled != 0) {
            f->garbles++;
            fake_answer(req, 200, "application/json", STR("{\"leases\":[{\"exec"));
            return; /* the same are due again with the next poll */
        }
    }
    f->lease_count -= count;
    fake_note_given(f, f->leases, count);
    fake_reply(req, &reply);
    memmove(f->leases, f->leases + count, f->lease_count * sizeof(f->leases[0]));
    f->stop.exec_id = 0;
}

static inline void fake_on_gone(struct http_request *req)
{
    struct fake_server *f = req->user;
    if (f->parked == req)
        f->parked = NULL;
    if (f->held_log == req)
        f->held_log = NULL;
    if (f->held_fetch == req)
        f->held_fetch = NULL;
    fake_answer(req, 500, NULL, STR(""));
}

static inline void fake_unpark(struct fake_server *f)
{
    struct http_request *parked = f->parked;
    f->parked = NULL;
    if (parked != NULL) {
        parked->on_gone = NULL;
        fake_reply_due(f, parked, NULL, 0);
    }
}

static inline bool fake_owns(const struct fake_server *f, uint64_t exec_id)
{
    return !f->provisional && (f->owned.count == 0 || partition_has(&f->owned, exec_id));
}

static inline struct poll_verdict *fake_take_results(struct fake_server *f, size_t *ret_count)
{
    size_t count = 0;
    struct poll_verdict *verdicts =
        ARENA_ARRAY(&f->arena, struct poll_verdict, f->poll.result_count);
    if (f->poll.result_count > f->gathered)
        f->gathered = f->poll.result_count;
    for (size_t i = 0; i < f->poll.result_count; i++) {
        const struct poll_result *result = &f->poll.results[i];
        if (!fake_owns(f, result->exec_id)) {
            f->foreign_results++;
            continue;
        }
        assert_true(f->result_count < FAKE_RESULTS_MAX);
        f->results[f->result_count++] = *result;
        fake_note_ended(f, result->exec_id);
        f->result_overtook_log |= result->usage.log_seq > f->log_seq;
        verdicts[count++] = (struct poll_verdict){result->exec_id, result->token, true};
    }
    *ret_count = count;
    return verdicts;
}

/* A worker polls over two connections, so one poll may overtake the one before. Otherwise their
 * numbers grow one by one; several servers share the numbers of one worker. */
static inline bool fake_is_newest(struct fake_server *f, uint64_t seq)
{
    if (seq == f->awaited && seq != 0) {
        f->awaited = 0;
        return false;
    }
    if (f->server_count > 0 && seq < f->seq)
        return false;
    if (f->server_count > 0) {
        assert_true(seq > f->seq);
    } else if (seq == f->seq + 2)
        f->awaited = f->seq + 1;
    else
        assert_int_equal(seq, f->seq + 1);
    f->seq = seq;
    return true;
}

/* As one of an older version, that does not know all a poll may say. */
static inline bool fake_refuses_new(const struct fake_server *f)
{
    bool has_new = f->poll.heard > 0;
    for (size_t i = 0; i < f->poll.result_count; i++)
        has_new |= f->poll.results[i].code == POLL_CODE_SPAWNER_DIED;
    return f->older && has_new;
}

static inline bool fake_reads_all(const struct fake_server *f)
{
    for (size_t i = 0; i < f->poll.result_count; i++) {
        const struct poll_result *result = &f->poll.results[i];
        if (result->exec_id == f->unreadable && (result->result.len > 0 || !f->takes_bare))
            return false;
    }
    return true;
}

static inline void fake_poll(struct fake_server *f, struct http_request *req)
{
    struct poll poll;
    struct field_errors errors = {0};
    struct json doc;
    struct err err;
    struct str body = arena_str(&f->arena, req->body);
    const struct fake_server *home = f->home != NULL ? f->home : f;
    if (f->era != home->registrations) { /* another worker */
        f->era = home->registrations;
        f->seq = f->awaited = 0;
        f->given_count = 0;
    }
    assert_int_equal(json_parse_by(&json_from_user, body, &f->arena, &doc, &err), RC_OK);
    assert_int_equal(poll_parse(&doc, &f->arena, &poll, &errors), RC_OK);
    if (!fake_is_newest(f, poll.seq)) {
        struct poll_reply plain = fake_plain(f);
        fake_reply(req, &plain); /* what it reports will come again */
        return;
    }
    f->poll = poll;
    f->polls++;
    bool refused = fake_refuses_new(f);
    f->refusals += refused;
    int status = fake_reads_all(f) && !refused ? f->poll_status : 400;
    if (status != 0) {
        fake_answer(req, status, "application/json", STR("{}"));
        return;
    }
    if (f->lose_reply) {
        f->lose_reply = false;
        http_respond(req, &(struct http_answer){.status = 500, .close = true});
        return;
    }
    if (f->frozen) {
        req->user = f;
        req->on_gone = fake_on_gone;
        return;
    }
    struct http_request *older = f->parked;
    f->parked = NULL;
    if (older != NULL && !f->cut) {
        older->on_gone = NULL;
        struct poll_reply plain = fake_plain(f);
        fake_reply(older, &plain);
    }
    fake_give_again(f);
    size_t verdict_count = 0;
    const struct poll_verdict *verdicts = fake_take_results(f, &verdict_count);
    bool due = f->hasty || f->poll.result_count > 0 || f->poll.wait_ms == 0 ||
               f->stop.exec_id != 0 || (f->lease_count > 0 && f->poll.free > 0);
    if (due) {
        fake_reply_due(f, req, verdicts, verdict_count);
        return;
    }
    f->parked = req;
    f->parked_us = clock_mono_us();
    req->user = f;
    req->on_gone = fake_on_gone;
}

static inline void fake_log(struct fake_server *f, struct http_request *req)
{
    struct str rest = req->body;
    struct log_chunk chunk;
    struct err err;
    while (rest.len > 0) {
        assert_int_equal(log_frame_next(&rest, &chunk, &err), RC_OK);
        assert_true(chunk.bytes.len > 0);
        buf_add(chunk.stream == LOG_NOTE ? &f->notes : &f->log, chunk.bytes);
        f->log_seq = chunk.seq;
    }
    if (f->hold_logs) {
        f->held_log = req;
        req->user = f;
        req->on_gone = fake_on_gone;
        return;
    }
    fake_answer(req, 204, NULL, STR(""));
}

static inline void fake_release_log(struct fake_server *f)
{
    struct http_request *req = f->held_log;
    f->hold_logs = false;
    f->held_log = NULL;
    if (req != NULL) {
        req->on_gone = NULL;
        fake_answer(req, 204, NULL, STR(""));
    }
}

static inline void fake_give_checkpoint(struct fake_server *f, struct http_request *req)
{
    bool some = f->checkpoint.len > 0;
    fake_answer(req, some ? 200 : 204, some ? "application/octet-stream" : NULL,
                buf_str(&f->checkpoint));
}

static inline void fake_release_fetch(struct fake_server *f)
{
    struct http_request *req = f->held_fetch;
    f->held_fetch = NULL;
    if (req != NULL) {
        req->on_gone = NULL;
        fake_give_checkpoint(f, req);
    }
}

/* True when it was answered with trouble. */
static inline bool fake_refuse_checkpoint(struct fake_server *f, struct http_request *req)
{
    int status = f->checkpoint_status;
    if (status == 0)
        return false;
    if (f->checkpoint_refusals > 0 && --f->checkpoint_refusals == 0)
        f->checkpoint_status = 0;
    fake_answer(req, status, NULL, STR(""));
    return true;
}

static inline void fake_checkpoint(struct fake_server *f, struct http_request *req)
{
    bool put = req->method == HTTP_METHOD_PUT;
    snprintf(f->checkpoint_path, sizeof(f->checkpoint_path), "%.*s?%.*s", STR_ARG(req->path),
             STR_ARG(req->query));
    f->puts += put;
    f->fetches += !put;
    if (fake_refuse_checkpoint(f, req))
        return;
    if (put) {
        buf_clear(&f->checkpoint);
        buf_add(&f->checkpoint, req->body);
        fake_answer(req, 204, NULL, STR(""));
    } else if (f->hold_fetch) {
        f->hold_fetch = false;
        f->held_fetch = req;
        req->user = f;
        req->on_gone = fake_on_gone;
    } else {
        fake_give_checkpoint(f, req);
    }
}

static inline struct fake_server *fake_at(struct fake_server *f, struct str address)
{
    for (size_t i = 0; i < f->peer_count; i++) {
        if (f->peers[i] != NULL && str_eq(f->peers[i]->self, address))
            return f->peers[i];
    }
    return NULL;
}

/* A poll that is meant for another server is handed on. */
static inline void fake_route_poll(struct fake_server *f, struct http_request *req)
{
    struct str address;
    struct fake_server *meant = f;
    if (http_request_param(req, STR("server"), &address)) {
        f->relayed++;
        meant = fake_at(f, address);
    } else if (f->cut) {
        req->user = f;
        req->on_gone = fake_on_gone;
        return;
    }
    if (meant == NULL)
        fake_answer(req, 503, NULL, STR(""));
    else if (meant == f && f->door_status != 0)
        fake_answer(req, f->door_status, NULL, STR(""));
    else
        fake_poll(meant, req);
}

static inline void fake_handle(void *arg, struct http_request *req)
{
    struct fake_server *f = arg;
    char prefix[64];
    char id[ID_TEXT_MAX];
    const struct fake_server *home = f->home != NULL ? f->home : f;
    id_format(id, ID_WORKER, home->welcome.worker_id);
    int len = snprintf(prefix, sizeof(prefix), "/api/v1/workers/%s", id);
    struct str tail = str_from(req->path, (size_t)len);
    bool known = str_starts(req->path, str_of(prefix, (size_t)len)) && !f->forgetful;
    if (str_eq(req->path, STR("/api/v1/workers")))
        fake_register(f, req);
    else if (known && str_eq(tail, STR("/poll")))
        fake_route_poll(f, req);
    else if (known && str_eq(tail, STR("/logs")))
        fake_log(f, req);
    else if (known && str_starts(tail, STR("/checkpoints/")))
        fake_checkpoint(f, req);
    else
        fake_answer(req, 404, NULL, STR(""));
}

static inline struct http_answer fake_refuse(void *arg, int status, const char *reason,
                                             struct arena *arena)
{
    (void)arg;
    (void)arena;
    return (struct http_answer){
        .status = status, .content_type = "text/plain", .body = str_c(reason)};
}

/* One of several does not park for longer than it is asked to. */
static inline void fake_on_tick(uv_timer_t *timer)
{
    struct fake_server *f = timer->data;
    int64_t now_ms = clock_boot_ms();
    if (now_ms - f->ticked_ms > FAKE_STANDS_MS)
        f->stood_ms += now_ms - f->ticked_ms;
    f->ticked_ms = now_ms;
    if (f->server_count > 0 && f->parked != NULL && !f->frozen && !f->cut &&
        clock_mono_us() - f->parked_us > f->poll.wait_ms * 1000)
        fake_unpark(f);
    uv_stop(timer->loop);
}

static inline struct fake_server *fake_new(uv_loop_t *loop)
{
    static const struct http_limits limits = {
        .head_bytes_max = 16384,
        .target_bytes_max = 1024,
        .body_bytes_max = 64 << 20,
        .connections_max = 100,
        .stream_bytes_max = 1 << 20,
        .head_timeout_ms = 60000,
        .body_timeout_ms = 60000,
        .idle_timeout_ms = 60000,
    };
    struct fake_server *f = MEM_NEW(struct fake_server);
    f->last = true;
    struct err err;
    f->loop = loop;
    f->log = f->notes = f->checkpoint = BUF(FAKE_LOG_BYTES_MAX);
    f->welcome = (struct welcome){
        .lease_ms = 20000,
        .outage_grace_ms = WELCOME_OUTAGE_GRACE_MS,
        .forget_ms = WELCOME_FORGET_MS,
        .park_ms = 5000,
        .kill_grace_ms = 10000,
        .output_bytes_max = 1 << 20,
    };
    f->http = http_server_new(loop, &limits, fake_handle, fake_refuse, f);
    if (http_server_listen(f->http, STR("127.0.0.1"), 0, false, &f->port, &err))
        fail_msg("%s", err.text);
    snprintf(f->url, sizeof(f->url), "http://127.0.0.1:%u", f->port);
    uv_timer_init(loop, &f->tick);
    f->tick.data = f;
    f->ticked_ms = clock_boot_ms();
    uv_timer_start(&f->tick, fake_on_tick, 5, 5);
    return f;
}

/* The clock for promises about time: it does not count while this process stands still, which it
 * does with the whole machine, as a rule. */
static inline int64_t fake_clock_ms(const struct fake_server *f)
{
    return clock_boot_ms() - f->stood_ms;
}

static inline void fake_on_closed(void *arg)
{
    struct fake_server *f = arg;
    f->closed = true;
}

/* Runs the loop until everything on it is closed. */
static inline void fake_free(struct fake_server *f)
{
    if (f->parked != NULL)
        fake_unpark(f);
    fake_release_log(f);
    fake_release_fetch(f);
    uv_close((uv_handle_t *)&f->tick, NULL);
    http_server_close(f->http, fake_on_closed, f);
    while (!f->closed || (f->last && uv_loop_alive(f->loop)))
        uv_run(f->loop, UV_RUN_DEFAULT); /* the clocks of others stop it */
    arena_free(&f->arena);
    buf_free(&f->log);
    buf_free(&f->notes);
    buf_free(&f->checkpoint);
    free(f);
}

/* Runs the loop until the condition holds; fails when it never does. */
#define FAKE_WAIT(f, condition)                                                                    \
    do {                                                                                           \
        int64_t end_us_ = clock_mono_us() + FAKE_PATIENCE_MS * INT64_C(1000);                      \
        while (!(condition)) {                                                                     \
            if (clock_mono_us() > end_us_)                                                         \
                fail_msg("waited too long for: %s", #condition);                                   \
            uv_run((f)->loop, UV_RUN_DEFAULT);                                                     \
        }                                                                                          \
    } while (0)

/* ---- what tests ask for */

/* Queues a lease and wakes a parked poll. spec and payload live as long as the test. */
static inline void fake_lease(struct fake_server *f, uint64_t exec_id, uint64_t token,
                              const char *spec, const char *payload)
{
    assert_true(f->lease_count < FAKE_LEASES_MAX);
    f->leases[f->lease_count++] = (struct poll_lease){
        .exec_id = exec_id,
        .job_id = exec_id + 1,
        .token = token,
        .attempt = 1,
        .slot_ms = 1794816000000,
        .ttl_ms = f->welcome.lease_ms,
        .spec = str_c(spec),
        .payload = str_c(payload),
    };
    if (f->parked != NULL && f->poll.free > 0)
        fake_unpark(f);
}

static inline void fake_stop(struct fake_server *f, uint64_t exec_id, uint64_t token)
{
    f->stop = (struct poll_stop){exec_id, token, STR("cancelled by key:admin")};
    fake_unpark(f);
}

static inline const struct poll_result *fake_result(const struct fake_server *f, uint64_t exec_id)
{
    for (size_t i = 0; i < f->result_count; i++) {
        if (f->results[i].exec_id == exec_id)
            return &f->results[i];
    }
    return NULL;
}

static inline bool fake_holds(const struct fake_server *f, uint64_t exec_id)
{
    for (size_t i = 0; i < f->poll.held_count; i++) {
        if (f->poll.held[i].exec_id == exec_id)
            return true;
    }
    return false;
}

static inline bool fake_printed(const struct fake_server *f, const char *text)
{
    return f->log.len > 0 && memmem(f->log.ptr, f->log.len, text, strlen(text)) != NULL;
}

static inline bool fake_noted(const struct fake_server *f, const char *text)
{
    return f->notes.len > 0 && memmem(f->notes.ptr, f->notes.len, text, strlen(text)) != NULL;
}
