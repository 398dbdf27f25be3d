/* poller_reply.c - what the worker does with a reply that could be read: new leases, terms of those
 * it holds, verdicts, stops, and what the server says of itself. */
#include "loop/clock.h"
#include "worker/link/session_inside.h"

/* Costs no attempt. We have offered it to several when there was work nowhere. */
static void give_back(struct session *c, const struct poll_lease *lease)
{
    lease_set_end(&c->lease_set, &(struct poll_result){
                                     .exec_id = lease->exec_id,
                                     .token = lease->token,
                                     .outcome = OUTCOME_RETURNED,
                                     .usage = {.exit_code = -1},
                                     .error = STR("the worker has no free slot for it any more"),
                                 });
}

static bool is_in(const struct partition_set *set, uint64_t exec_id)
{
    return set->count == 0 || partition_has(set, exec_id);
}

/* How many are new to us: one may come again while its attempt of before is still dying. */
static size_t take_leases(struct session *c, const struct link *link,
                          const struct poll_reply *reply)
{
    size_t taken = 0;
    struct partition_set believed = session_believed(c, reply);
    for (size_t i = 0; i < reply->lease_count; i++) {
        const struct poll_lease *lease = &reply->leases[i];
        if (!is_in(&believed, lease->exec_id))
            continue;
        bool full = c->lease_set.running_count >= c->hello.slots;
        if (!lease_set_accept(&c->lease_set, lease, c->seq + 1, link->sent_ms, clock_boot_ms()))
            continue;
        taken++;
        if (full)
            give_back(c, lease);
        else
            c->events.on_lease(c->events.arg, lease,
                               lease_set_term_ms(&c->lease_set, lease->exec_id));
    }
    for (size_t i = 0; i < reply->unread_count; i++) {
        if (is_in(&believed, reply->unread[i].exec_id))
            poller_reject(c, link, &reply->unread[i]);
    }
    c->turn += taken > 0;
    session_watch(c);
    return taken;
}

static void take_stops(struct session *c, const struct poll_reply *reply,
                       const struct partition_set *believed)
{
    for (size_t i = 0; i < reply->stop_count; i++) {
        const struct poll_stop *stop = &reply->stops[i];
        if (is_in(believed, stop->exec_id) &&
            lease_set_runs(&c->lease_set, stop->exec_id, stop->token))
            c->events.on_stop(c->events.arg, stop->exec_id, stop->token, stop->reason);
    }
}

static void take_drain(struct session *c, const struct poll_reply *reply)
{
    if (!reply->drain || c->drain_told)
        return;
    c->drain_told = true;
    if (c->events.on_drain != NULL)
        c->events.on_drain(c->events.arg);
}

/* The partitions that the poll has named and the server owns. */
static struct partition_set both(const struct partition_set *named,
                                 const struct partition_set *owned)
{
    if (named->count == 0 || owned->count == 0)
        return named->count == 0 ? *owned : *named;
    return (struct partition_set){.count = owned->count, .bits = named->bits & owned->bits};
}

static void take_word(struct poller *p, const struct link *link, const struct poll_reply *reply)
{
    p->unknown = false;
    p->stale = 0;
    p->answered_ms = clock_boot_ms();
    p->met = true;
    /* Behind one address there may be several: one need not know what the other has said. */
    bool same = p->server.len == 0 || str_eq(p->server, reply->server);
    p->heard = same ? poller_heard(p->heard, link, reply) : 0;
    if (!poller_is_newest(p, link))
        return; /* answered to be rid of it; the answer to the newer one counts */
    p->known = true;
    p->owned = reply->owned;
    p->owned_seq = link->seq;
    p->provisional = reply->provisional;
    p->backlog = reply->backlog;
}

uint64_t poller_heard(uint64_t before, const struct link *link, const struct poll_reply *reply)
{
    if (reply->epochs == NULL)
        return 0;
    if (reply->provisional)
        return before;
    if (reply->heard_as > 0)
        return reply->heard_as;
    return before >= POLL_HEARD_AS || link->seq > before ? link->seq : before;
}

struct partition_set poller_result_scope(const struct poller *p, const struct partition_set *scope)
{
    return p->provisional ? (struct partition_set){.count = 1} : *scope;
}

/* The verdicts were durable when they were given, whoever decides now. */
static void take_verdicts(struct session *c, const struct link *link,
                          const struct poll_reply *reply)
{
    for (size_t i = 0; i < reply->verdict_count; i++)
        lease_set_verdict(&c->lease_set, &reply->verdicts[i]);
    lease_set_landed(&c->lease_set, link->seq);
}

void poller_take(struct session *c, const struct link *link, const struct poll_reply *reply)
{
    struct partition_set believed = session_believed(c, reply);
    struct partition_set renewed = both(&link->scope, &reply->owned);
    renewed = both(&renewed, &believed);
    if (reply->provisional)
        lease_set_keep(&c->lease_set, reply->kept, reply->kept_count, link->sent_ms, &believed);
    else
        lease_set_renew(&c->lease_set, link->seq, link->sent_ms, &renewed);
    take_verdicts(c, link, reply);
    if (!reply->provisional) {
        take_stops(c, reply, &believed);
        take_drain(c, reply);
    }
    session_tell_deadlines(c);
}

/* A poll that we have sent by way of another server since then does not name the leases of this
 * reply: by that the server has taken them back, or will, and may have given them to another
 * worker. */
static bool may_bring_leases(const struct poller *p, const struct link *link)
{
    return poller_is_newest(p, link) && p->relay.link.seq < link->seq;
}

size_t poller_take_reply(struct poller *p, const struct link *link, const struct poll_reply *reply)
{
    size_t taken = 0;
    take_word(p, link, reply);
    if (may_bring_leases(p, link) && !p->session->draining && !reply->provisional)
        taken = take_leases(p->session, link, reply);
    poller_take(p->session, link, reply);
    return taken;
}
