/* poller_repair.c - a poll that the server refuses, and a reply that we cannot read.
 *
 * Neither must keep all else from being said: while polls fail no lease is renewed, and what runs
 * is killed for it. So both are made smaller until they come through, and what is left then is
 * dealt with by itself. */
#include "base/log.h"
#include "loop/clock.h"
#include "worker/link/session_inside.h"

enum {
    SMALLER_GAP_MS = 100, /* before the same is tried with less */
    ALONE_GAP_MS = 1000,  /* at most, before one lease is asked for again that we could not read */
};

/* Whether the poll may have been refused for what older servers do not know; the next one goes
 * without it. All results are put in older words at once: one by one takes too long when hundreds
 * of commands died with their spawner. */
static bool is_too_new(struct poller *p, const struct link *link, int status)
{
    if (!link->tells_heard)
        return status == 400 && lease_set_reword(&p->session->lease_set, link->seq);
    p->heard = 0;
    return true;
}

/* A poll the server calls bad must hold a result it cannot read. Fewer at a time, down to one, find
 * it. That one is sent once more with the outcome alone, which is what counts; only when even that
 * is refused it is given up, or it would keep all others from being told for ever. But first it is
 * sent without what a server of an older version does not know. */
void poller_refused(struct poller *p, const struct link *link, const struct http_response *response)
{
    struct session *c = p->session;
    if (is_too_new(p, link, response->status)) {
        lease_set_landed(&c->lease_set, link->seq);
        backoff_pause(&p->backoff, SMALLER_GAP_MS);
        return;
    }
    log_error("the server refuses a poll", "body", arena_zstr(&c->scratch, response->body), NULL);
    if (link->result_count == 1 && !lease_set_strip(&c->lease_set, link->seq))
        lease_set_drop(&c->lease_set, link->seq);
    p->result_max = link->result_count > 1 ? link->result_count / 2 : 1;
    lease_set_landed(&c->lease_set, link->seq);
    backoff_pause(&p->backoff, link->result_count > 0 ? SMALLER_GAP_MS : PACE_REFUSED_MS);
}

/* Down to nothing: then the reply brings no lease, but terms and verdicts. */
void poller_offer_less(struct poller *p, const struct link *link)
{
    p->offer_max = link->free / 2;
}

void poller_offer_more(struct poller *p)
{
    if (p->offer_max == 0)
        p->offer_max = 1;
    else
        p->offer_max = p->offer_max > SIZE_MAX / 2 ? SIZE_MAX : p->offer_max * 2;
}

bool poller_asks_again(struct poller *p, const struct link *link, const struct err *why)
{
    if (link->free == 0)
        return false;
    log_warn("a reply cannot be read; fewer leases are asked for", "error", why->text, NULL);
    poller_offer_less(p, link);
    int64_t alone_ms = p->session->welcome.lease_ms / 8; /* running leases are renewed in between */
    alone_ms = alone_ms < ALONE_GAP_MS ? alone_ms : ALONE_GAP_MS;
    backoff_pause(&p->backoff, link->free == 1 ? alone_ms : SMALLER_GAP_MS);
    return true;
}

void poller_reject(struct session *c, const struct link *link, const struct poll_unread *unread)
{
    const struct poll_lease lease = {
        .exec_id = unread->exec_id, .token = unread->token, .ttl_ms = c->welcome.lease_ms};
    if (!lease_set_accept(&c->lease_set, &lease, c->seq + 1, link->sent_ms, clock_boot_ms()))
        return;
    lease_set_end(&c->lease_set,
                  &(struct poll_result){
                      .exec_id = unread->exec_id,
                      .token = unread->token,
                      .outcome = OUTCOME_PERMANENT,
                      .usage = {.exit_code = -1},
                      .error = arena_printf(&c->scratch, "the worker cannot read its lease: %.*s",
                                            STR_ARG(unread->why)),
                      .code = POLL_CODE_UNREADABLE,
                  });
}
