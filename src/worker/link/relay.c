/* relay.c - a word to a server that we cannot reach, by way of one that we can.
 *
 * A cut between us and one server must not cost the runs whose leases it owns: it is alive, so no
 * other server will take them over. Any server hands a poll on to another (`?server=`). Such a poll
 * offers nothing and does not wait, so that it costs the servers little; it names what we hold and
 * carries results, which renews leases and brings verdicts.
 *
 * The server may be one that has never answered us: it has just joined, and got some of our
 * partitions. Its address, as the others name it, is all that is needed; they look it up among the
 * members. */
#include "base/id.h"
#include "loop/clock.h"
#include "worker/link/session_inside.h"

enum { RESULT_BYTES_MAX = 1 << 20, POLL_BYTES_MAX = 16 << 20 };

static struct str pick(void *arg, struct str now, bool failed)
{
    const struct poller *p = arg;
    bool other = !str_eq(now, p->url);
    return session_pick_server(p->session, other ? now : p->url, !other || failed);
}

static void take_reply(struct poller *p, const struct poll_reply *reply)
{
    struct link *link = &p->relay.link;
    p->relay.heard = poller_heard(p->relay.heard, link, reply);
    p->provisional = reply->provisional;
    poller_take(p->session, link, reply);
}

/* Also when it was refused: the fields that may have been refused are not sent again, and nothing
 * is dropped. */
static void lose_reply(struct poller *p)
{
    p->relay.heard = 0;
    lease_set_landed(&p->session->lease_set, p->relay.link.seq);
}

static void on_relayed(void *arg, const struct http_response *response, const struct err *err)
{
    struct poller *p = arg;
    struct session *c = p->session;
    struct link *link = &p->relay.link;
    struct poll_reply reply;
    struct err bad;
    (void)err;
    link->busy = false;
    if (p->closing || p->retired || c->closing || !c->registered)
        return;
    arena_reset(&c->scratch);
    if (response == NULL || response->status >= 500) /* also when the other one cannot reach it */
        failover_client_failed(p->relay.failover_client);
    if (response != NULL && response->status == 200 &&
        poll_reply_parse(response->body, &c->scratch, &reply, &bad) == RC_OK)
        take_reply(p, &reply);
    else
        lose_reply(p);
    session_stir(c);
}

static struct str target_of(struct session *c, const struct poller *p)
{
    struct str address = p->server.len > 0 ? p->server : p->url;
    char id[ID_TEXT_MAX];
    CLEANUP(buf_free) struct buf text = BUF(POLL_BYTES_MAX);
    id_format(id, ID_WORKER, c->welcome.worker_id);
    buf_printf(&text, "/api/v1/workers/%s/poll?server=", id);
    for (size_t i = 0; i < address.len; i++)
        buf_printf(&text, "%%%02X", (unsigned char)address.ptr[i]);
    return arena_str(&c->scratch, buf_str(&text));
}

static void send_by_another(struct poller *p)
{
    struct session *c = p->session;
    struct link *link = &p->relay.link;
    CLEANUP(buf_free) struct buf body = BUF(POLL_BYTES_MAX);
    struct poll poll = {.seq = ++c->seq, .heard = p->relay.heard};
    struct partition_set all = {0};
    struct partition_set results = poller_result_scope(p, &all);
    arena_reset(&c->scratch);
    lease_set_fill(&c->lease_set, &poll, &results, SIZE_MAX, RESULT_BYTES_MAX, &c->scratch);
    *link = (struct link){.poller = p, .busy = true, .seq = poll.seq, .sent_ms = clock_boot_ms()};
    poll_print(&body, &poll);
    failover_client_send(p->relay.failover_client,
                         &(struct http_call){
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
    struct session *c = p->session;
    struct err err;
    if (!c->registered || p->relay.link.busy || !p->listed || !session_is_connected(c) ||
        !lease_set_any(&c->lease_set, NULL))
        return;
    if (p->relay.failover_client == NULL) {
        if (failover_client_new(c->loop, p->url, c->token, &p->relay.failover_client, &err) !=
            RC_OK)
            return;
        failover_client_guide(p->relay.failover_client, pick, p);
    }
    send_by_another(p);
}
