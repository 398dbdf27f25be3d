/* session_list.c - which servers there are.
 *
 * The addresses that we were given are a beginning. Each server says in its replies which servers
 * there are, and which of them it is. New ones are polled; two addresses of one server become one
 * poller; one that nobody names any more is forgotten when it has been silent for a while, but not
 * before: it may still hold our leases. */
#include "base/log.h"
#include "loop/clock.h"
#include "worker/link/session_inside.h"

enum rc session_open(struct session *c, struct str url, struct err *err)
{
    struct poller *p;
    if (c->poller_count >= POLLERS_MAX)
        return err_set(err, RC_BUSY, "there are as many servers as there may be");
    TRY(poller_new(c, url, &p, err));
    list_push_back(&c->pollers, &p->node);
    c->poller_count++;
    c->handles++;
    if (c->registrar == NULL)
        c->registrar = p;
    return RC_OK;
}

/* It closes when the loop comes to it. */
static void retire(struct session *c, struct poller *p)
{
    log_info("a server left the list of servers to poll", "server", p->url.ptr, NULL);
    p->retired = true;
    list_remove(&p->node);
    list_push_back(&c->leaving, &p->node);
    c->poller_count--;
    if (c->registrar == p)
        c->registrar = poller_of(list_first(&c->pollers));
    p->backoff.backing_off = false;
    backoff_in(&p->backoff, 0);
}

static bool is_at(const struct poller *p, struct str address)
{
    return str_eq(p->server.len > 0 ? p->server : p->url, address);
}

static struct poller *find_at(const struct session *c, struct str address, const struct poller *but)
{
    CREW_EACH(c, node)
    {
        struct poller *p = poller_of(node);
        if (p != but && is_at(p, address))
            return p;
    }
    return NULL;
}

/* Of two ways to one server the one that works stays. False when that is not this one. */
static bool identify(struct session *c, struct poller *p, struct str server)
{
    if (server.len == 0 || str_eq(p->server, server))
        return true;
    p->server = arena_str(&p->texts, server);
    struct poller *other = find_at(c, server, p);
    if (other == NULL)
        return true;
    bool stays = !poller_is_connected(other);
    retire(c, stays ? other : p);
    return stays;
}

static bool is_named(const struct poller *p, const struct poll_reply *reply)
{
    for (size_t i = 0; i < reply->server_count; i++) {
        if (is_at(p, reply->servers[i]))
            return true;
    }
    return false;
}

static void open_new(struct session *c, struct str address)
{
    struct err err;
    if (find_at(c, address, NULL) != NULL)
        return;
    if (session_open(c, address, &err) == RC_OK) {
        log_info("a server joined the list of servers to poll", "server",
                 poller_of(c->pollers.head.prev)->url.ptr, NULL);
    } else if (!c->address_told) {
        c->address_told = true;
        log_warn("a server that the others name cannot be polled", "error", err.text, NULL);
    }
}

static void forget_gone(struct session *c)
{
    int64_t now_ms = clock_boot_ms();
    CREW_EACH(c, node)
    {
        struct poller *p = poller_of(node);
        bool silent = !poller_is_connected(p) && now_ms - p->answered_ms > c->welcome.lease_ms / 2;
        if (silent && !p->listed && c->poller_count > 1)
            retire(c, p);
    }
}

/* A provisional server names those it saw before it lost sight of the store: that one is missing
 * there says nothing, and whom we cannot reach ourselves would not be told by others any more. */
void session_learn(struct session *c, struct poller *p, const struct poll_reply *reply)
{
    if (!identify(c, p, reply->server) || reply->server_count == 0)
        return;
    for (size_t i = 0; i < reply->server_count; i++)
        open_new(c, reply->servers[i]);
    if (reply->provisional)
        return;
    CREW_EACH(c, node)
    {
        struct poller *other = poller_of(node);
        other->listed = is_named(other, reply);
    }
    forget_gone(c);
}

void session_try_seeds(struct session *c)
{
    struct err err;
    for (size_t i = 0; i < c->seed_count; i++) {
        bool there = false;
        CREW_EACH(c, node)
        {
            there |= str_eq(poller_of(node)->url, c->seeds[i]);
        }
        if (!there)
            (void)session_open(c, c->seeds[i], &err);
    }
}
