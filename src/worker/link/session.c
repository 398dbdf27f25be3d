#include "worker/link/session.h"
#include "base/id.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "worker/link/credits.h"
#include "worker/link/session_inside.h"

#include <assert.h>
#include <stdlib.h>

enum {
    WATCH_MS = 200,      /* how late on_lost may come; well within the margin of a lease */
    START_OVER_MS = 100, /* keeps two processes with one id from chasing each other */
    STALE_MAX = 3,       /* so many in a row are not the fault of two addresses of one server */
};

/* ---- leases that run out */

void session_tell_deadlines(struct session *c)
{
    if (c->events.on_deadline != NULL)
        lease_set_tell(&c->lease_set, c->events.on_deadline, c->events.arg);
}

static void on_watch(uv_timer_t *timer)
{
    struct session *c = timer->data;
    lease_set_expire(&c->lease_set, clock_boot_ms(), c->events.on_lost, c->events.arg);
    if (c->lease_set.running_count == 0)
        uv_timer_stop(timer);
}

/* Ticks while something runs. libuv's clock stands still while the machine sleeps, so the moment
 * itself cannot be handed to a timer. */
void session_watch(struct session *c)
{
    if (c->lease_set.running_count > 0 && !uv_is_active((uv_handle_t *)&c->watch))
        uv_timer_start(&c->watch, on_watch, WATCH_MS, WATCH_MS);
}

/* We come back from a long sleep (a closed laptop, a stopped process), and leases have run out. The
 * ends of commands meanwhile have been reported to our owner, who has not read them yet; a poll now
 * would call these commands running, and the server would give them away instead of taking their
 * results. */
bool session_overslept(struct session *c)
{
    int64_t now_ms = clock_boot_ms();
    if (now_ms < c->lease_set.deadline_ms)
        return false;
    lease_set_expire(&c->lease_set, now_ms, c->events.on_lost, c->events.arg);
    return true;
}

/* ---- whose is what */

static uint64_t claimed(const struct session *c, uint32_t count)
{
    uint64_t bits = 0;
    CREW_EACH(c, node)
    {
        const struct poller *p = poller_of(node);
        if (poller_is_connected(p) && p->owned.count == count)
            bits |= p->owned.bits;
    }
    return bits;
}

struct partition_set session_orphans(const struct session *c, const struct poller *p)
{
    uint32_t count = p->owned.count;
    return (struct partition_set){.count = count,
                                  .bits = partition_all(count).bits & ~claimed(c, count)};
}

/* A server that was told of a lease and is then not told again takes it for lost. So what a poll
 * has named is named until a reply to it, or to a newer one, says that it is not this server's. */
struct partition_set session_scope(const struct session *c, const struct poller *p)
{
    const struct partition_set everything = {0};
    if (!p->known || p->owned.count == 0)
        return everything;
    struct partition_set scope = session_orphans(c, p);
    scope.bits |= p->owned.bits;
    for (size_t i = 0; i < LINKS; i++) {
        const struct link *link = &p->links[i];
        if (!link->busy || link->seq <= p->owned_seq)
            continue;
        if (link->scope.count != scope.count)
            return everything;
        scope.bits |= link->scope.bits;
    }
    return scope;
}

struct partition_set session_believed(struct session *c, const struct poll_reply *reply)
{
    int64_t grace_ms = c->welcome.outage_grace_ms;
    int64_t lease_ms = c->welcome.lease_ms;
    int64_t keep_ms = grace_ms > INT64_MAX - lease_ms ? INT64_MAX : grace_ms + lease_ms;
    return epochs_hear(&c->epochs, reply, clock_boot_ms(), keep_ms);
}

/* ---- where to offer what is free */

uint32_t session_free_slots(const struct session *c)
{
    size_t running = c->lease_set.running_count;
    return c->draining || running >= c->hello.slots ? 0 : (uint32_t)(c->hello.slots - running);
}

/* Fills in all servers; returns the place of p. */
static size_t spread(const struct session *c, const struct poller *p, struct credit *credits)
{
    size_t count = 0;
    size_t me = 0;
    CREW_EACH(c, node)
    {
        const struct poller *other = poller_of(node);
        const struct link *newest = poller_newest(other);
        if (other == p)
            me = count;
        credits[count++] = (struct credit){
            .usable = (poller_is_connected(other) || c->poller_count == 1) && !other->provisional,
            .backlog = other->backlog,
            .out = newest == NULL ? 0 : newest->free,
        };
    }
    credits_spread(credits, count, session_free_slots(c), c->turn);
    return me;
}

uint32_t session_offer(const struct session *c, const struct poller *p)
{
    struct credit credits[POLLERS_MAX];
    size_t me = spread(c, p, credits);
    return credits_offer(credits, c->poller_count, session_free_slots(c), me);
}

bool session_offer_moved(const struct session *c, const struct poller *p)
{
    struct credit credits[POLLERS_MAX];
    size_t me = spread(c, p, credits);
    return credits_moved(credits, c->poller_count, session_free_slots(c), me);
}

/* ---- how it goes */

void session_stir(struct session *c)
{
    CREW_EACH(c, node)
    {
        poller_stir(poller_of(node));
    }
}

void session_nudge(struct session *c)
{
    CREW_EACH(c, node)
    {
        if (poller_newest(poller_of(node)) != NULL)
            poller_stir(poller_of(node));
    }
}

void session_registered(struct session *c, const struct welcome *welcome)
{
    char id[ID_TEXT_MAX];
    c->welcome = *welcome;
    c->registered = true;
    c->hello.replaces = 0; /* the next worker replaces us, and we may not be dead by then */
    c->seq = 0;
    id_format(id, ID_WORKER, c->welcome.worker_id);
    log_info("registered", "worker_id", id, NULL);
    if (c->events.on_welcome != NULL)
        c->events.on_welcome(c->events.arg, &c->welcome);
    session_stir(c);
}

/* No server knows us, or they know another process by our id: the runs here are no one's any more.
 * Polls that are still under way belong to the past. */
static void start_over(struct session *c, const char *why)
{
    log_warn("the worker registers again", "why", why, NULL);
    c->registered = false;
    CREW_EACH(c, node)
    {
        poller_reset(poller_of(node));
    }
    lease_set_void(&c->lease_set, c->events.on_lost, c->events.arg);
    c->epochs = (struct epochs){0}; /* nothing is held; the store may be another one */
    backoff_pause(&c->registrar->backoff, START_OVER_MS);
}

/* One that says no is enough only when nobody else can be asked. */
static void judge(struct session *c)
{
    bool unknown = false;
    CREW_EACH(c, node)
    {
        const struct poller *p = poller_of(node);
        if (!p->unknown && p->backoff.retry_ms == 0)
            return; /* it knows us, or has not said yet */
        unknown |= p->unknown;
    }
    if (unknown)
        start_over(c, "the server does not know us");
}

void session_unknown(struct session *c, struct poller *p)
{
    p->unknown = true;
    c->registrar = p;
    if (p->met && c->lease_set.running_count + c->lease_set.ended_count == 0)
        start_over(c, "a server has forgotten us, and nothing runs here");
    else
        judge(c);
    session_stir(c);
}

void session_stale(struct session *c, struct poller *p)
{
    c->registrar = p;
    if (c->poller_count == 1 || ++p->stale >= STALE_MAX)
        start_over(c, "another process polls with our id");
    else
        session_failed(c, p);
}

void session_failed(struct session *c, const struct poller *p)
{
    (void)p;
    judge(c);
    session_look_drained(c);
    if (!session_is_connected(c))
        session_try_seeds(c);
    session_stir(c);
}

void session_look_drained(struct session *c)
{
    bool told = false;
    if (!c->draining || c->drained)
        return;
    CREW_EACH(c, node)
    {
        const struct poller *p = poller_of(node);
        if (poller_is_connected(p) && !p->last_word)
            return;
        told |= p->last_word;
    }
    if (!told)
        return;
    c->drained = true;
    if (c->events.on_drained != NULL)
        c->events.on_drained(c->events.arg);
}

/* ---- the public face */

static void copy_hello(struct session *c, const struct hello *hello)
{
    struct str *queues = ARENA_ARRAY(&c->options, struct str, hello->queue_count);
    struct str *handlers = ARENA_ARRAY(&c->options, struct str, hello->handler_count);
    for (size_t i = 0; i < hello->queue_count; i++)
        queues[i] = arena_str(&c->options, hello->queues[i]);
    for (size_t i = 0; i < hello->handler_count; i++)
        handlers[i] = arena_str(&c->options, hello->handlers[i]);
    c->hello = *hello;
    c->hello.name = arena_str(&c->options, hello->name);
    c->hello.boot_id = arena_str(&c->options, hello->boot_id);
    c->hello.queues = queues;
    c->hello.handlers = handlers;
}

static enum rc open_seeds(struct session *c, struct str urls, struct err *err)
{
    struct str rest = arena_str(&c->options, urls);
    size_t max = 1;
    for (size_t i = 0; i < urls.len; i++)
        max += urls.ptr[i] == ',';
    if (max > POLLERS_MAX)
        return err_set(err, RC_INVALID, "%zu servers are too many", max);
    c->seeds = ARENA_ARRAY(&c->options, struct str, max);
    do {
        struct str url = str_trim(str_cut(&rest, ','));
        TRY(session_open(c, url, err));
        c->seeds[c->seed_count++] = url;
    } while (rest.len > 0);
    return RC_OK;
}

enum rc session_new(uv_loop_t *loop, const struct session_options *options,
                    struct session **ret_session, struct err *err)
{
    struct session *c = MEM_NEW(struct session);
    c->loop = loop;
    c->events = options->events;
    c->token = arena_str(&c->options, options->token);
    c->token_file = arena_str(&c->options, options->token_file);
    copy_hello(c, &options->hello);
    list_init(&c->pollers);
    list_init(&c->leaving);
    lease_set_init(&c->lease_set);
    uv_timer_init(loop, &c->watch); /* cannot fail */
    c->watch.data = c;
    c->handles = 1;
    if (open_seeds(c, options->urls, err)) {
        session_free(c);
        return err->rc;
    }
    *ret_session = c;
    return RC_OK;
}

void session_part_closed(struct session *c)
{
    if (--c->handles > 0)
        return;
    assert(c->closing);
    lease_set_free(&c->lease_set);
    arena_free(&c->scratch);
    arena_free(&c->options);
    free(c);
}

static void on_watch_closed(uv_handle_t *handle)
{
    session_part_closed(handle->data);
}

void session_free(struct session *c)
{
    if (c == NULL)
        return;
    assert(!c->closing);
    c->closing = true;
    CREW_EACH(c, node)
    {
        poller_close(poller_of(node));
    }
    LIST_EACH(&c->leaving, node)
    {
        poller_close(poller_of(node));
    }
    uv_close((uv_handle_t *)&c->watch, on_watch_closed);
}

void session_done(struct session *c, const struct poll_result *result)
{
    lease_set_end(&c->lease_set, result);
    session_stir(c);
}

void session_drain(struct session *c)
{
    if (c->draining)
        return;
    c->draining = true;
    session_stir(c);
}

bool session_is_connected(const struct session *c)
{
    CREW_EACH(c, node)
    {
        if (poller_is_connected(poller_of(node)))
            return c->registered;
    }
    return false;
}

size_t session_running(const struct session *c)
{
    return c->lease_set.running_count;
}

size_t session_pending(const struct session *c)
{
    return c->lease_set.ended_count;
}

struct str session_pick_server(const struct session *c, struct str now, bool failed)
{
    const struct poller *best = NULL;
    CREW_EACH(c, node)
    {
        const struct poller *p = poller_of(node);
        bool is_now = str_eq(p->url, now);
        if (is_now && !failed && poller_is_connected(p))
            return p->url;
        if (is_now && failed)
            continue;
        if (best == NULL || (poller_is_connected(p) && !poller_is_connected(best)))
            best = p;
    }
    return best == NULL ? now : best->url;
}
