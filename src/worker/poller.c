#include "worker/poller.h"
#include "base/id.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "worker/holdings.h"
#include "worker/pace.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    IDLE_GAP_MS = 100,   /* between polls that are answered at once with nothing new */
    WATCH_MS = 200,      /* how late on_lost may come; well within the margin of a lease */
    START_OVER_MS = 100, /* keeps two processes with one id from chasing each other */
    REGISTER_TIMEOUT_MS = 10000,
    RESULT_BYTES_MAX = 4 << 20, /* texts of one poll: a quarter of what servers take by default */
    POLL_BYTES_MAX = 64 << 20,  /* the body: never reached, results and names are bounded */
    LINKS = 2,                  /* one poll is parked while another one replaces it */
};

/* One connection and the poll on it. */
struct link {
    struct poller *poller;
    struct http_client *client; /* owned */
    bool busy;
    uint64_t seq;
    uint32_t free; /* what it offers */
    size_t result_count;
    int64_t sent_ms; /* boot clock */
};

struct poller {
    uv_loop_t *loop;
    struct poller_events events;
    struct arena options; /* of hello and token_file */
    struct hello hello;
    struct str token_file;
    struct link links[LINKS];
    struct holdings holdings;
    struct arena scratch; /* of one poll or reply */
    struct welcome welcome;
    bool registered;
    uint64_t seq; /* of the newest poll */

    struct pace pace;
    uv_timer_t watch;  /* for leases that run out */
    size_t result_max; /* per poll; smaller while the server refuses them */
    size_t offer_max;  /* free slots per poll; smaller while replies are too large for us */

    int64_t told_deadline_ms;
    bool drain_told;
    bool draining;
    bool drained;
    bool closing;
    size_t handles; /* that still close; the last one frees */
};

/* ---- leases that run out */

static void tell_deadline(struct poller *p)
{
    int64_t deadline_ms = p->holdings.deadline_ms;
    if (deadline_ms == p->told_deadline_ms)
        return;
    p->told_deadline_ms = deadline_ms;
    if (p->events.on_deadline != NULL)
        p->events.on_deadline(p->events.arg, deadline_ms);
}

static void on_watch(uv_timer_t *timer)
{
    struct poller *p = timer->data;
    holdings_expire(&p->holdings, clock_boot_ms(), p->events.on_lost, p->events.arg);
    tell_deadline(p);
    if (p->holdings.running_count == 0)
        uv_timer_stop(timer);
}

/* Ticks while something runs. libuv's clock stands still while the machine sleeps, so the moment
 * itself cannot be handed to a timer. */
static void keep_watch(struct poller *p)
{
    if (p->holdings.running_count > 0 && !uv_is_active((uv_handle_t *)&p->watch))
        uv_timer_start(&p->watch, on_watch, WATCH_MS, WATCH_MS);
}

/* ---- registration */

static void on_registered(void *arg, const struct http_response *response, const struct err *err)
{
    struct link *link = arg;
    struct poller *p = link->poller;
    struct err bad;
    char id[ID_TEXT_MAX];

    link->busy = false;
    if (p->closing || pace_handled(&p->pace, response, err, p->token_file))
        return;
    arena_reset(&p->scratch);
    if (response->status != 201) {
        log_error("the server does not register us", "body",
                  arena_zstr(&p->scratch, response->body), NULL);
        pace_pause(&p->pace, PACE_REFUSED_MS);
        return;
    }
    if (welcome_parse(response->body, &p->scratch, &p->welcome, &bad)) {
        pace_failed(&p->pace, bad.text);
        return;
    }
    pace_succeeded(&p->pace);
    p->registered = true;
    p->seq = 0;
    id_format(id, ID_WORKER, p->welcome.worker_id);
    log_info("registered", "worker_id", id, NULL);
    if (p->events.on_welcome != NULL)
        p->events.on_welcome(p->events.arg, &p->welcome);
    pace_in(&p->pace, 0);
}

static void send_hello(struct poller *p)
{
    struct link *link = &p->links[0];
    CLEANUP(buf_free) struct buf body = BUF(POLL_BYTES_MAX);
    if (link->busy || p->links[1].busy)
        return;
    link->busy = true;
    hello_print(&body, &p->hello);
    http_client_send(link->client, &(struct http_call){
                                       .method = "POST",
                                       .target = STR("/api/v1/workers"),
                                       .content_type = "application/json",
                                       .body = buf_str(&body),
                                       .timeout_ms = REGISTER_TIMEOUT_MS,
                                       .on_done = on_registered,
                                       .arg = link,
                                   });
}

/* The server does not know us, or knows another process by our id: whatever runs here runs for
 * nobody. Polls that are still under way belong to the past. */
static void start_over(struct poller *p, const char *why)
{
    log_warn("registering again", "why", why, NULL);
    p->registered = false;
    for (size_t i = 0; i < LINKS; i++)
        http_client_abort(p->links[i].client);
    holdings_void(&p->holdings, p->events.on_lost, p->events.arg);
    tell_deadline(p);
    pace_pause(&p->pace, START_OVER_MS);
}

/* ---- replies */

/* How many are new to us: one may come again while its attempt of before is still dying. */
static size_t take_leases(struct poller *p, const struct link *link, const struct poll_reply *reply)
{
    size_t taken = 0;
    for (size_t i = 0; i < reply->lease_count; i++) {
        const struct poll_lease *lease = &reply->leases[i];
        if (holdings_accept(&p->holdings, lease, p->seq + 1, link->sent_ms, clock_boot_ms())) {
            p->events.on_lease(p->events.arg, lease);
            taken++;
        }
    }
    keep_watch(p);
    return taken;
}

static void take_stops(struct poller *p, const struct poll_reply *reply)
{
    for (size_t i = 0; i < reply->stop_count; i++) {
        const struct poll_stop *stop = &reply->stops[i];
        if (holdings_runs(&p->holdings, stop->exec_id, stop->token))
            p->events.on_stop(p->events.arg, stop->exec_id, stop->token, stop->reason);
    }
}

static void take_drain(struct poller *p, const struct poll_reply *reply)
{
    if (!reply->drain || p->drain_told)
        return;
    p->drain_told = true;
    if (p->events.on_drain != NULL)
        p->events.on_drain(p->events.arg);
}

static bool is_newest(const struct poller *p, const struct link *link)
{
    return link->seq == p->seq;
}

/* Returns how many leases were taken up. */
static size_t take_reply(struct poller *p, const struct link *link, const struct poll_reply *reply)
{
    size_t taken = 0;
    holdings_renew(&p->holdings, link->seq, link->sent_ms);
    for (size_t i = 0; i < reply->verdict_count; i++)
        holdings_verdict(&p->holdings, &reply->verdicts[i]);
    holdings_landed(&p->holdings, link->seq);
    if (is_newest(p, link) && !p->draining)
        taken = take_leases(p, link, reply);
    take_stops(p, reply);
    take_drain(p, reply);
    tell_deadline(p);
    return taken;
}

/* The last word is a poll that offers nothing and names nothing: whatever was granted into a reply
 * we will never read is taken back by it at once. */
static void look_drained(struct poller *p, const struct link *link)
{
    if (!p->draining || p->drained || link->free > 0 || !is_newest(p, link) ||
        p->holdings.running_count + p->holdings.ended_count > 0)
        return;
    p->drained = true;
    if (p->events.on_drained != NULL)
        p->events.on_drained(p->events.arg);
}

/* A poll the server calls bad must hold a result it cannot read. Fewer at a time, down to one,
 * find it; that one is given up, or it would keep all others from being told for ever. */
static void poll_refused(struct poller *p, const struct link *link, struct str body)
{
    log_error("the server refuses a poll", "body", arena_zstr(&p->scratch, body), NULL);
    if (link->result_count == 1)
        holdings_drop(&p->holdings, link->seq);
    p->result_max = link->result_count > 1 ? link->result_count / 2 : 1;
    holdings_landed(&p->holdings, link->seq);
    pace_pause(&p->pace, link->result_count > 0 ? IDLE_GAP_MS : PACE_REFUSED_MS);
}

static void on_answered(struct poller *p, const struct link *link,
                        const struct http_response *response)
{
    struct poll_reply reply;
    struct err bad;
    if (poll_reply_parse(response->body, &p->scratch, &reply, &bad)) {
        holdings_landed(&p->holdings, link->seq);
        pace_failed(&p->pace, bad.text);
        return;
    }
    pace_succeeded(&p->pace);
    size_t taken = take_reply(p, link, &reply);
    look_drained(p, link);
    p->result_max = SIZE_MAX;
    p->offer_max = p->offer_max > SIZE_MAX / 2 ? SIZE_MAX : p->offer_max * 2;
    bool idle = taken + reply.verdict_count == 0 && !holdings_wait(&p->holdings) &&
                clock_boot_ms() - link->sent_ms < IDLE_GAP_MS;
    pace_in(&p->pace, idle ? IDLE_GAP_MS : 0);
}

/* The newest poll was not taken; its results wait again. */
static void on_failed(struct poller *p, const struct link *link,
                      const struct http_response *response, const struct err *err)
{
    holdings_landed(&p->holdings, link->seq);
    if (response == NULL && err->rc == RC_TOO_LARGE)
        p->offer_max = link->free > 1 ? link->free / 2 : 1;
    if (pace_handled(&p->pace, response, err, p->token_file))
        return;
    assert(response != NULL); /* that was handled */
    if (response->status == 404)
        start_over(p, "the server does not know us");
    else if (response->status == 409)
        start_over(p, "another process polls with our id");
    else
        pace_failed(&p->pace, "an unexpected status");
}

static void on_polled(void *arg, const struct http_response *response, const struct err *err)
{
    struct link *link = arg;
    struct poller *p = link->poller;
    int status = response == NULL ? 0 : response->status;

    link->busy = false;
    if (p->closing || !p->registered)
        return;
    arena_reset(&p->scratch);
    if (status == 200)
        on_answered(p, link, response);
    else if (!is_newest(p, link)) /* it carried no results; a newer one says all it would have */
        pace_in(&p->pace, 0);
    else if (status == 400 || status == 413)
        poll_refused(p, link, response->body);
    else
        on_failed(p, link, response, err);
}

/* ---- polls */

static uint32_t free_slots(const struct poller *p)
{
    size_t running = p->holdings.running_count;
    size_t free = p->draining || running >= p->hello.slots ? 0 : p->hello.slots - running;
    return (uint32_t)(free < p->offer_max ? free : p->offer_max);
}

/* How long the server may park us: never so long that a lease is renewed only once in its life. And
 * not at all after a failure: leases have been running down meanwhile, and only the reply says that
 * they are good again. */
static int64_t wait_ms(const struct poller *p)
{
    int64_t quarter_ms = p->welcome.lease_ms / 4;
    if (p->pace.retry_ms > 0 || (p->draining && p->holdings.running_count == 0))
        return 0;
    return p->welcome.park_ms < quarter_ms ? p->welcome.park_ms : quarter_ms;
}

static void send_poll(struct poller *p, struct link *link)
{
    CLEANUP(buf_free) struct buf body = BUF(POLL_BYTES_MAX);
    char id[ID_TEXT_MAX];
    struct poll poll = {.seq = ++p->seq, .free = free_slots(p), .wait_ms = wait_ms(p)};

    arena_reset(&p->scratch);
    holdings_fill(&p->holdings, &poll, p->result_max, RESULT_BYTES_MAX, &p->scratch);
    link->busy = true;
    link->seq = poll.seq;
    link->free = poll.free;
    link->result_count = poll.result_count;
    link->sent_ms = clock_boot_ms();
    poll_print(&body, &poll);
    id_format(id, ID_WORKER, p->welcome.worker_id);
    http_client_send(link->client,
                     &(struct http_call){
                         .method = "POST",
                         .target = arena_printf(&p->scratch, "/api/v1/workers/%s/poll", id),
                         .content_type = "application/json",
                         .body = buf_str(&body),
                         /* Leaves time for two more before a lease ends. */
                         .timeout_ms = (uint64_t)(poll.wait_ms + p->welcome.lease_ms / 4),
                         .on_done = on_polled,
                         .arg = link,
                     });
}

static struct link *newest_link(struct poller *p)
{
    for (size_t i = 0; i < LINKS; i++) {
        if (p->links[i].busy && is_newest(p, &p->links[i]))
            return &p->links[i];
    }
    return NULL;
}

static struct link *free_link(struct poller *p)
{
    for (size_t i = 0; i < LINKS; i++) {
        if (!p->links[i].busy)
            return &p->links[i];
    }
    return NULL;
}

/* True when the newest poll no longer says the truth, and waits for something to happen. One that
 * carries results is answered soon, and more of them gather meanwhile. */
static bool is_outdated(const struct poller *p, const struct link *newest)
{
    return newest->result_count == 0 &&
           (holdings_wait(&p->holdings) || newest->free != free_slots(p));
}

/* True when we come back from a long sleep (a closed laptop, a stopped process): leases have run
 * out. What ended meanwhile has been reported to our owner, who has not read it yet; a poll now
 * would call it running, and the server would give it away instead of taking the result. */
static bool has_overslept(struct poller *p)
{
    int64_t now_ms = clock_boot_ms();
    if (now_ms < p->holdings.deadline_ms)
        return false;
    holdings_expire(&p->holdings, now_ms, p->events.on_lost, p->events.arg);
    tell_deadline(p);
    return true;
}

static void act(void *arg)
{
    struct poller *p = arg;
    if (has_overslept(p)) {
        pace_in(&p->pace, IDLE_GAP_MS);
        return;
    }
    const struct link *newest = newest_link(p);
    struct link *link = free_link(p);
    if (p->drained || link == NULL)
        return;
    if (!p->registered)
        send_hello(p);
    else if (newest == NULL || is_outdated(p, newest))
        send_poll(p, link);
}

/* ---- the public face */

static void copy_hello(struct poller *p, const struct hello *hello)
{
    struct str *queues = ARENA_ARRAY(&p->options, struct str, hello->queue_count);
    struct str *handlers = ARENA_ARRAY(&p->options, struct str, hello->handler_count);
    for (size_t i = 0; i < hello->queue_count; i++)
        queues[i] = arena_str(&p->options, hello->queues[i]);
    for (size_t i = 0; i < hello->handler_count; i++)
        handlers[i] = arena_str(&p->options, hello->handlers[i]);
    p->hello = *hello;
    p->hello.name = arena_str(&p->options, hello->name);
    p->hello.queues = queues;
    p->hello.handlers = handlers;
}

enum rc poller_new(uv_loop_t *loop, const struct poller_options *options,
                   struct poller **ret_poller, struct err *err)
{
    struct http_client *clients[LINKS] = {NULL};
    for (size_t i = 0; i < LINKS; i++) {
        if (http_client_new(loop, options->url, options->token, &clients[i], err)) {
            http_client_free(clients[0]);
            return err->rc;
        }
    }
    struct poller *p = MEM_NEW(struct poller);
    p->loop = loop;
    p->events = options->events;
    p->token_file = arena_str(&p->options, options->token_file);
    copy_hello(p, &options->hello);
    for (size_t i = 0; i < LINKS; i++)
        p->links[i] = (struct link){.poller = p, .client = clients[i]};
    holdings_init(&p->holdings);
    p->result_max = p->offer_max = SIZE_MAX;
    p->told_deadline_ms = INT64_MAX;
    pace_init(&p->pace, loop, act, p);
    uv_timer_init(loop, &p->watch); /* cannot fail */
    p->watch.data = p;
    pace_in(&p->pace, 0);
    *ret_poller = p;
    return RC_OK;
}

static void on_closed(uv_handle_t *handle)
{
    struct poller *p = handle->data;
    if (--p->handles > 0)
        return;
    holdings_free(&p->holdings);
    arena_free(&p->scratch);
    arena_free(&p->options);
    free(p);
}

void poller_free(struct poller *p)
{
    if (p == NULL)
        return;
    assert(!p->closing);
    p->closing = true;
    for (size_t i = 0; i < LINKS; i++)
        http_client_free(p->links[i].client);
    p->handles = 2;
    pace_close(&p->pace, on_closed, p);
    uv_close((uv_handle_t *)&p->watch, on_closed);
}

void poller_done(struct poller *p, const struct poll_result *result)
{
    holdings_end(&p->holdings, result);
    pace_in(&p->pace, 0);
}

void poller_drain(struct poller *p)
{
    if (p->draining)
        return;
    p->draining = true;
    pace_in(&p->pace, 0);
}

bool poller_is_connected(const struct poller *p)
{
    return p->registered && p->pace.retry_ms == 0;
}

size_t poller_running(const struct poller *p)
{
    return p->holdings.running_count;
}

size_t poller_pending(const struct poller *p)
{
    return p->holdings.ended_count;
}
