/* relay.c - a word to a server that we cannot reach, by way of one that we can.
 *
 * A cut between us and one server must not cost the runs whose leases it owns: it is alive, so nobody
 * else will take them over. Any server hands a poll on to another (`?server=`). Such a poll offers
 * nothing and does not wait, so that it costs the servers little; it names what we hold and carries
 * results, which renews leases and brings verdicts. */
#include "base/id.h"
#include "loop/clock.h"
#include "worker/crew_inside.h"

enum { RESULT_BYTES_MAX = 1 << 20, POLL_BYTES_MAX = 16 << 20 };

static struct str pick(void *arg, struct str now, bool failed)
{
    const struct poller *p = arg;
    bool other = !str_eq(now, p->url);
    return crew_pick_server(p->crew, other ? now : p->url, !other || failed);
}

static void on_relayed(void *arg, const struct http_response *response, const struct err *err)
{
    struct poller *p = arg;
    struct crew *c = p->crew;
    struct link *link = &p->relay.link;
    struct poll_reply reply;
    struct err bad;
    (void)err;
    link->busy = false;
    if (p->closing || p->retired || c->closing || !c->registered)
        return;
    arena_reset(&c->scratch);
    if (response == NULL)
        outlet_failed(p->relay.outlet);
    if (response != NULL && response->status == 200 &&
        poll_reply_parse(response->body, &c->scratch, &reply, &bad) == RC_OK)
        poller_take(c, link, &reply);
    else
        holdings_landed(&c->holdings, link->seq);
    crew_stir(c);
}

static struct str target_of(struct crew *c, const struct poller *p)
{
    char id[ID_TEXT_MAX];
    CLEANUP(buf_free) struct buf text = BUF(POLL_BYTES_MAX);
    id_format(id, ID_WORKER, c->welcome.worker_id);
    buf_printf(&text, "/api/v1/workers/%s/poll?server=", id);
    for (size_t i = 0; i < p->server.len; i++)
        buf_printf(&text, "%%%02X", (unsigned char)p->server.ptr[i]);
    return arena_str(&c->scratch, buf_str(&text));
}

static void send_by_another(struct poller *p)
{
    struct crew *c = p->crew;
    struct link *link = &p->relay.link;
    CLEANUP(buf_free) struct buf body = BUF(POLL_BYTES_MAX);
    struct poll poll = {.seq = ++c->seq};
    arena_reset(&c->scratch);
    holdings_fill(&c->holdings, &poll, NULL, SIZE_MAX, RESULT_BYTES_MAX, &c->scratch);
    *link = (struct link){.poller = p, .busy = true, .seq = poll.seq, .sent_ms = clock_boot_ms()};
    poll_print(&body, &poll);
    outlet_send(p->relay.outlet, &(struct http_call){
                                     .method = "POST",
                                     .target = target_of(c, p),
                                     .content_type = "application/json",
                                     .body = buf_str(&body),
                                     .timeout_ms = (uint64_t)c->welcome.lease_ms / 4,
                                     .on_done = on_relayed,
                                     .arg = p,
                                 });
}

void relay_poll(struct poller *p)
{
    struct crew *c = p->crew;
    struct err err;
    if (!c->registered || p->relay.link.busy || !p->listed || p->server.len == 0 ||
        !crew_is_connected(c) || !holdings_any(&c->holdings, NULL))
        return;
    if (p->relay.outlet == NULL) {
        if (outlet_new(c->loop, p->url, c->token, &p->relay.outlet, &err) != RC_OK)
            return;
        outlet_guide(p->relay.outlet, pick, p);
    }
    send_by_another(p);
}
