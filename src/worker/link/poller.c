#include "worker/link/poller.h"
#include "base/id.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "worker/link/session_inside.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    IDLE_GAP_MS = 100,       /* between polls that are answered at once with nothing new */
    NO_VERDICT_GAP_MS = 500, /* between polls whose results are for others to judge */
    UNKNOWN_GAP_MS = 1000,   /* before a server that does not know us is asked again */
    ORPHAN_WAIT_MS = 500,    /* parked at most, while we wait for a new owner of what we hold */
    PEEK_WAIT_MS = 1000,     /* parked at most, when all slots are offered to others */
    REGISTER_TIMEOUT_MS = 10000,
    RESULT_BYTES_MAX = 4 << 20, /* texts of one poll: a quarter of what servers take by default */
    POLL_BYTES_MAX = 64 << 20,  /* the body: never reached, results and names are bounded */
};

bool poller_is_connected(const struct poller *p)
{
    return p->known && p->backoff.retry_ms == 0;
}

void poller_stir(struct poller *p)
{
    backoff_in(&p->backoff, 0);
}

/* It is unknown what the server has heard: the next poll says everything. */
static void doubt(struct poller *p)
{
    p->known = false;
    p->backlog = 0;
    p->heard = 0; /* the next answer may come from another process, and an older one */
}

/* ---- registration */

static void not_registered(struct poller *p)
{
    struct session *c = p->session;
    struct list_node *next = p->node.next == &c->pollers.head ? p->node.next->next : p->node.next;
    c->registrar = poller_of(next);
    poller_stir(c->registrar);
}

/* An older server refuses the fields that it does not know. */
static bool says_more(const struct poller *p)
{
    const struct hello *hello = &p->session->hello;
    return !p->plain_hello && (hello->boot_id.len > 0 || hello->replaces != 0);
}

static void on_registered(void *arg, const struct http_response *response, const struct err *err)
{
    struct link *link = arg;
    struct poller *p = link->poller;
    struct session *c = p->session;
    struct welcome welcome;
    struct err bad;

    link->busy = false;
    if (p->closing || p->retired || c->closing)
        return;
    if (backoff_handled(&p->backoff, response, err, c->token_file)) {
        not_registered(p);
        return;
    }
    arena_reset(&c->scratch);
    p->plain_hello = response->status == 400 && says_more(p);
    if (p->plain_hello) {
        poller_stir(p);
        return;
    }
    if (response->status != 201) {
        log_error("the server refuses to register this worker", "body",
                  arena_zstr(&c->scratch, response->body), NULL);
        backoff_pause(&p->backoff, PACE_REFUSED_MS);
        not_registered(p);
        return;
    }
    if (welcome_parse(response->body, &c->scratch, &welcome, &bad)) {
        backoff_failed(&p->backoff, bad.text);
        not_registered(p);
        return;
    }
    backoff_succeeded(&p->backoff);
    session_registered(c, &welcome);
}

static void send_hello(struct poller *p)
{
    struct link *link = &p->links[0];
    CLEANUP(buf_free) struct buf body = BUF(POLL_BYTES_MAX);
    if (link->busy || p->links[1].busy)
        return;
    struct hello hello = p->session->hello;
    if (p->plain_hello) {
        hello.boot_id = STR("");
        hello.replaces = 0;
    }
    link->busy = true;
    hello_print(&body, &hello);
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

/* ---- replies */

/* The next poll is the last word then: it offers nothing and names nothing. By it the server takes
 * back at once whatever was granted into a reply that we will never read. */
static bool is_all_told(const struct session *c)
{
    return c->draining && c->lease_set.running_count + c->lease_set.ended_count == 0;
}

static void look_drained(struct poller *p, const struct link *link)
{
    if (link->last && poller_is_newest(p, link))
        p->last_word = true;
    session_look_drained(p->session);
}

/* When to poll again. A server that answered at once with nothing new is not asked again at once.
 * */
static int64_t gap_ms(const struct poller *p, const struct link *link, size_t news)
{
    struct partition_set scope = session_scope(p->session, p);
    scope = poller_result_scope(p, &scope);
    bool quick = clock_boot_ms() - link->sent_ms < IDLE_GAP_MS;
    if (news > 0 || !quick)
        return 0;
    if (link->result_count > 0)
        return NO_VERDICT_GAP_MS;
    return lease_set_wait(&p->session->lease_set, &scope) ? 0 : IDLE_GAP_MS;
}

static bool has_moved(const struct poller *p, const struct poll_reply *reply)
{
    return p->provisional != reply->provisional || p->owned.count != reply->owned.count ||
           p->owned.bits != reply->owned.bits;
}

static void on_answered(struct poller *p, const struct link *link,
                        const struct http_response *response)
{
    struct session *c = p->session;
    struct poll_reply reply;
    struct err bad;
    if (poll_reply_parse(response->body, &c->scratch, &reply, &bad)) {
        lease_set_landed(&c->lease_set, link->seq);
        doubt(p);
        if (!poller_asks_again(p, link, &bad)) {
            backoff_failed(&p->backoff, bad.text);
            session_failed(c, p);
        }
        return;
    }
    bool first = !p->met;
    bool moved = has_moved(p, &reply);
    backoff_succeeded(&p->backoff);
    size_t taken = poller_take_reply(p, link, &reply);
    look_drained(p, link);
    p->result_max = SIZE_MAX;
    poller_offer_more(p);
    size_t news = taken + reply.verdict_count;
    int64_t delay_ms = first ? 0 : gap_ms(p, link, news);
    session_learn(c, p, &reply);
    if (news > 0 || first || moved)
        session_stir(c);
    else
        session_nudge(c);
    backoff_in(&p->backoff, delay_ms);
}

/* The newest poll was not taken; its results wait again. */
static void on_failed(struct poller *p, const struct link *link,
                      const struct http_response *response, const struct err *err)
{
    struct session *c = p->session;
    lease_set_landed(&c->lease_set, link->seq);
    doubt(p);
    if (response == NULL && err->rc == RC_TOO_LARGE)
        poller_offer_less(p, link);
    bool handled = backoff_handled(&p->backoff, response, err, c->token_file);
    if (!handled && response->status == 404) {
        backoff_pause(&p->backoff, UNKNOWN_GAP_MS);
        session_unknown(c, p);
    } else if (!handled && response->status == 409) {
        backoff_failed(&p->backoff, "a newer poll was there before");
        if (p->relay.link.seq > link->seq) /* it was ours, by way of another */
            session_failed(c, p);
        else
            session_stale(c, p);
    } else {
        if (!handled)
            backoff_failed(&p->backoff, "an unexpected status");
        session_failed(c, p);
        if (response == NULL || response->status >= 500) /* a proxy before it may have said that */
            relay_poll(p);
    }
}

/* But when it was never answered, the newer one may not be either, and that shows only much
 * later. */
static void on_outlived(struct poller *p, const struct http_response *response)
{
    backoff_in(&p->backoff, 0);
    if (response == NULL)
        relay_poll(p);
}

static void on_polled(void *arg, const struct http_response *response, const struct err *err)
{
    struct link *link = arg;
    struct poller *p = link->poller;
    struct session *c = p->session;
    int status = response == NULL ? 0 : response->status;

    assert(link->busy);
    link->busy = false;
    if (p->closing || p->retired || c->closing || !c->registered)
        return;
    arena_reset(&c->scratch);
    if (status == 200)
        on_answered(p, link, response);
    else if (!poller_is_newest(
                 p, link)) /* it carried no results; a newer one says all it would have, */
        on_outlived(p, response);
    else if (status == 400 || status == 413)
        poller_refused(p, link, response);
    else
        on_failed(p, link, response, err);
}

/* ---- polls */

static int64_t at_most(int64_t a_ms, int64_t b_ms)
{
    return a_ms < b_ms ? a_ms : b_ms;
}

/* How long one of several servers may park us. Our leases may come from another owner: a server
 * that has just taken them over must say soon that they are good, and which will be the next is
 * unknown. And a server that has died in silence is given up only a quarter of a lease after it
 * should have answered; another quarter is left then, to ask again and by way of others. */
static int64_t session_wait_ms(const struct poller *p, uint32_t offer, int64_t longest_ms)
{
    const struct session *c = p->session;
    struct partition_set orphans = session_orphans(c, p);
    int64_t left_ms = lease_set_deadline_ms(&c->lease_set, &p->owned) - clock_boot_ms();
    int64_t spare_ms = left_ms - c->welcome.lease_ms / 2;
    if (spare_ms <= 0)
        return 0;
    longest_ms = at_most(longest_ms, spare_ms);
    if (lease_set_any(&c->lease_set, &orphans))
        longest_ms = at_most(longest_ms, ORPHAN_WAIT_MS);
    if (offer == 0 && session_free_slots(c) > 0)
        longest_ms = at_most(longest_ms, PEEK_WAIT_MS);
    return longest_ms;
}

/* How long the server may park us: never so long that a lease is renewed only once in its life. And
 * not at all after a failure, nor for the first time: leases have been running down meanwhile, and
 * only the reply says that they are good again. */
static int64_t wait_ms(const struct poller *p, uint32_t offer)
{
    const struct session *c = p->session;
    int64_t longest_ms = at_most(c->welcome.park_ms, c->welcome.lease_ms / 4);
    if (!poller_is_connected(p) || (c->draining && c->lease_set.running_count == 0))
        return 0;
    return p->owned.count == 0 ? longest_ms : session_wait_ms(p, offer, longest_ms);
}

static uint32_t offer_of(const struct poller *p)
{
    uint32_t offer = session_offer(p->session, p);
    return offer < p->offer_max ? offer : (uint32_t)p->offer_max;
}

static void send_poll(struct poller *p, struct link *link)
{
    struct session *c = p->session;
    CLEANUP(buf_free) struct buf body = BUF(POLL_BYTES_MAX);
    char id[ID_TEXT_MAX];
    uint32_t offer = offer_of(p);
    struct poll poll = {
        .seq = ++c->seq, .free = offer, .wait_ms = wait_ms(p, offer), .heard = p->heard};
    assert(c->registered && !link->busy);
    bool less = poller_newest(p) != NULL && poller_newest(p)->free > offer;

    arena_reset(&c->scratch);
    link->scope = session_scope(c, p);
    struct partition_set results = poller_result_scope(p, &link->scope);
    lease_set_fill(&c->lease_set, &poll, &results, p->result_max, RESULT_BYTES_MAX, &c->scratch);
    link->busy = true;
    link->tells_heard = poll.heard > 0;
    link->seq = p->seq = poll.seq;
    link->free = poll.free;
    link->last = is_all_told(c);
    link->result_count = poll.result_count;
    link->sent_ms = clock_boot_ms();
    poll_print(&body, &poll);
    id_format(id, ID_WORKER, c->welcome.worker_id);
    http_client_send(link->client,
                     &(struct http_call){
                         .method = "POST",
                         .target = arena_printf(&c->scratch, "/api/v1/workers/%s/poll", id),
                         .content_type = "application/json",
                         .body = buf_str(&body),
                         /* Leaves time for two more before a lease ends. */
                         .timeout_ms = (uint64_t)(poll.wait_ms + c->welcome.lease_ms / 4),
                         .on_done = on_polled,
                         .arg = link,
                     });
    if (less)
        session_stir(c); /* another server wanted it */
}

const struct link *poller_newest(const struct poller *p)
{
    for (size_t i = 0; i < LINKS; i++) {
        if (p->links[i].busy && poller_is_newest(p, &p->links[i]))
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

/* True when we hold something that the newest poll does not name and should. */
static bool names_too_little(const struct poller *p, const struct link *newest,
                             const struct partition_set *scope)
{
    if (newest->scope.count == 0)
        return false;
    struct partition_set more = *scope;
    if (scope->count == newest->scope.count)
        more.bits &= ~newest->scope.bits;
    return (more.count == 0 || more.bits != 0) && lease_set_any(&p->session->lease_set, &more);
}

static bool offers_wrong(const struct poller *p, const struct link *newest)
{
    if (p->session->poller_count == 1)
        return newest->free != offer_of(p);
    return session_offer_moved(p->session, p) && newest->free != offer_of(p);
}

/* True when the newest poll no longer says the truth, and waits for something to happen. One that
 * carries results is answered soon, and more of them gather meanwhile. */
static bool is_outdated(const struct poller *p, const struct link *newest)
{
    struct partition_set scope = session_scope(p->session, p);
    struct partition_set results = poller_result_scope(p, &scope);
    return newest->result_count == 0 &&
           (lease_set_wait(&p->session->lease_set, &results) || offers_wrong(p, newest) ||
            names_too_little(p, newest, &scope) || (is_all_told(p->session) && !newest->last));
}

static void act(void *arg)
{
    struct poller *p = arg;
    struct session *c = p->session;
    if (p->retired) {
        poller_close(p);
        return;
    }
    if (session_overslept(c)) {
        backoff_in(&p->backoff, IDLE_GAP_MS);
        return;
    }
    const struct link *newest = poller_newest(p);
    struct link *link = free_link(p);
    if (c->drained || p->last_word || link == NULL)
        return;
    if (!c->registered && c->registrar == p)
        send_hello(p);
    else if (c->registered && (newest == NULL || is_outdated(p, newest)))
        send_poll(p, link);
}

/* ---- beginning and end */

enum rc poller_new(struct session *c, struct str url, struct poller **ret_poller, struct err *err)
{
    struct http_client *clients[LINKS] = {NULL};
    for (size_t i = 0; i < LINKS; i++) {
        if (http_client_new(c->loop, url, c->token, &clients[i], err)) {
            http_client_free(clients[0]);
            return err->rc;
        }
    }
    struct poller *p = MEM_NEW(struct poller);
    p->session = c;
    p->url = str_of(arena_zstr(&p->texts, url), url.len);
    for (size_t i = 0; i < LINKS; i++)
        p->links[i] = (struct link){.poller = p, .client = clients[i]};
    p->result_max = p->offer_max = SIZE_MAX;
    p->answered_ms = clock_boot_ms();
    backoff_init(&p->backoff, c->loop, act, p);
    p->backoff.server = p->url.ptr;
    backoff_in(&p->backoff, 0);
    *ret_poller = p;
    return RC_OK;
}

static void on_closed(uv_handle_t *handle)
{
    struct poller *p = handle->data;
    struct session *c = p->session;
    list_remove(&p->node);
    arena_free(&p->texts);
    free(p);
    session_part_closed(c);
}

void poller_close(struct poller *p)
{
    if (p->closing)
        return;
    p->closing = true;
    for (size_t i = 0; i < LINKS; i++)
        http_client_free(p->links[i].client);
    failover_client_free(p->relay.failover_client);
    backoff_close(&p->backoff, on_closed, p);
}

void poller_reset(struct poller *p)
{
    for (size_t i = 0; i < LINKS; i++)
        http_client_abort(p->links[i].client);
    if (p->relay.failover_client != NULL)
        failover_client_abort(p->relay.failover_client);
    doubt(p);
    p->unknown = p->met = p->last_word = p->provisional = false;
    p->relay.heard = p->relay.link.seq = 0;
    p->stale = 0;
    p->owned = (struct partition_set){0};
    p->owned_seq = p->seq = 0;
}
