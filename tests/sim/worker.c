#include "worker.h"
#include "worker/credits.h"
#include "worker_runs.h"
#include "world.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    IDLE_GAP_MS = 100, /* these as in worker/poller.c */
    START_OVER_MS = 100,
    REGISTER_TIMEOUT_MS = 10000,
    REST_MAX_MS = 8000, /* between a death and the next start */
    TURN_MS = 1000,     /* so long free slots stay where they are, while many want them */
};

static void act(struct world *w, void *what, uint64_t no);

bool sim_worker_sleeps(const struct world *w, const struct sim_worker *k)
{
    return w->boot_ms < k->asleep_until_ms;
}

/* Like the real pace: a pause after a failure is not cut short. */
static void act_in(struct world *w, struct sim_poller *p, int64_t delay_ms)
{
    int64_t at_ms = w->boot_ms + delay_ms;
    if (at_ms < p->paused_until_ms)
        at_ms = p->paused_until_ms;
    agenda_add(w, at_ms, act, p, ++p->act_no);
}

void sim_worker_act(struct world *w, struct sim_worker *k)
{
    for (size_t i = 0; i < k->poller_count; i++)
        act_in(w, &k->pollers[i], 0);
}

static void back_off(struct world *w, struct sim_poller *p)
{
    p->retry_ms = p->retry_ms == 0 ? 50 : p->retry_ms < 800 ? p->retry_ms * 2 : 1600;
    p->paused_until_ms = w->boot_ms + pick_ms(w, p->retry_ms / 2, p->retry_ms);
    act_in(w, p, 0);
}

/* ---- what the server says */

static struct sim_link *link_with(struct sim_worker *k, uint64_t call_no,
                                  struct sim_poller **ret_poller)
{
    for (size_t i = 0; i < k->poller_count * LINKS; i++) {
        *ret_poller = &k->pollers[i / LINKS];
        if ((*ret_poller)->links[i % LINKS].call_no == call_no)
            return &(*ret_poller)->links[i % LINKS];
    }
    return NULL;
}

/* NULL when it was for the process before. */
static struct sim_link *link_of(struct sim_worker *k, const struct call *call,
                                struct sim_poller **ret_poller)
{
    return call->life != k->life ? NULL : link_with(k, call->no, ret_poller);
}

/* The server does not know us, or takes somebody else for us: what runs here runs for nobody. */
static void start_over(struct world *w, struct sim_worker *k)
{
    SAY(w, k->label, "registers again");
    k->registered = false;
    runs_void(w, k);
    for (size_t i = 0; i < k->poller_count; i++) {
        struct sim_poller *p = &k->pollers[i];
        memset(p->links, 0, sizeof p->links);
        p->paused_until_ms = w->boot_ms + START_OVER_MS;
    }
    sim_worker_act(w, k);
}

/* What a poll to this server is about, as in worker/crew.c: all that it owns, what nobody else is known
 * to own, and what polls under way have named. */
static struct partition_set scope_of(const struct world *w, const struct sim_poller *p)
{
    const struct sim_worker *k = p->worker;
    const struct partition_set everything = {0};
    if (!w->cluster || p->owned.count == 0)
        return everything;
    struct partition_set scope = partition_all(p->owned.count);
    for (size_t i = 0; i < k->poller_count; i++) {
        if (&k->pollers[i] != p)
            scope.bits &= ~k->pollers[i].owned.bits;
    }
    scope.bits |= p->owned.bits;
    for (size_t i = 0; i < LINKS; i++) {
        const struct sim_link *link = &p->links[i];
        if (link->call_no == 0 || link->seq <= p->owned_seq)
            continue;
        if (link->scope.count == 0)
            return everything;
        scope.bits |= link->scope.bits;
    }
    return scope;
}

/* A lease is renewed by a poll that named it to its owner. */
static struct partition_set both(const struct partition_set *named,
                                 const struct partition_set *owned)
{
    if (named->count == 0 || owned->count == 0)
        return named->count == 0 ? *owned : *named;
    return (struct partition_set){.count = owned->count, .bits = named->bits & owned->bits};
}

static size_t take_leases(struct world *w, struct sim_worker *k, const struct sim_link *link,
                          const struct poll_reply *reply)
{
    size_t taken = 0;
    for (size_t i = 0; i < reply->lease_count; i++) {
        const struct poll_lease *lease = &reply->leases[i];
        if (w->cluster && k->holdings.running_count >= k->hello.slots)
            break; /* two servers used one slot: what is not named is given back */
        if (!holdings_accept(&k->holdings, lease, k->seq + 1, link->sent_ms, w->boot_ms))
            continue;
        run_starts(w, k, lease);
        taken++;
    }
    if (taken > 0)
        runs_watch(w, k);
    return taken;
}

static void take_reply(struct world *w, struct sim_poller *p, const struct sim_link *link,
                       const struct poll_reply *reply)
{
    struct sim_worker *k = p->worker;
    size_t taken = 0;
    p->retry_ms = 0;
    struct partition_set renewed = both(&link->scope, &reply->owned);
    if (link->seq > p->owned_seq) {
        p->owned = reply->owned;
        p->owned_seq = link->seq;
        p->backlog = reply->backlog;
    }
    holdings_renew(&k->holdings, link->seq, link->sent_ms, &renewed);
    for (size_t i = 0; i < reply->verdict_count; i++)
        holdings_verdict(&k->holdings, &reply->verdicts[i]);
    holdings_landed(&k->holdings, link->seq);
    if (link->seq == p->seq && !k->draining)
        taken = take_leases(w, k, link, reply);
    runs_stop(w, k, reply);
    k->draining |= reply->drain;
    bool last_word = k->draining && link->free == 0 && link->seq == p->seq &&
                     k->holdings.running_count + k->holdings.ended_count == 0;
    if (last_word) {
        SAY(w, k->label, "leaves, as it was asked to");
        sim_worker_crash(w, k);
        return;
    }
    struct partition_set of = scope_of(w, p);
    bool idle = taken + reply->verdict_count == 0 && !holdings_wait(&k->holdings, &of) &&
                w->boot_ms - link->sent_ms < IDLE_GAP_MS;
    if (w->cluster)
        sim_worker_act(w, k); /* where there is work has changed */
    act_in(w, p, idle ? IDLE_GAP_MS : 0);
}

static void take_failure(struct world *w, struct sim_poller *p, const struct sim_link *link,
                         enum rc rc)
{
    if (w->cluster) /* somebody else may take its results */
        holdings_landed(&p->worker->holdings, link->seq);
    if (link->seq != p->seq) { /* a newer one says all it would have said */
        act_in(w, p, 0);
        return;
    }
    holdings_landed(&p->worker->holdings, link->seq);
    if (rc == RC_NOT_FOUND || rc == RC_STALE)
        start_over(w, p->worker);
    else
        back_off(w, p);
}

static void take_welcome(struct world *w, struct sim_poller *p, const struct call *call)
{
    struct sim_worker *k = p->worker;
    if (call->cmd.reply.rc != RC_OK) {
        back_off(w, p);
        return;
    }
    SAY(w, k->label, "is registered");
    p->retry_ms = 0;
    k->registered = true;
    k->id = call->cmd.reply.worker_id;
    k->seq = 0;
    for (size_t i = 0; i < k->poller_count; i++)
        k->pollers[i].seq = k->pollers[i].owned_seq = 0;
    sim_worker_act(w, k);
}

void sim_worker_hear(struct world *w, struct sim_worker *k, const struct call *call)
{
    struct sim_poller *p;
    struct sim_link *busy = link_of(k, call, &p);
    if (busy == NULL || !k->alive)
        return;
    struct sim_link link = *busy;
    busy->call_no = 0;
    if (call->cmd.kind == CMD_REGISTER)
        take_welcome(w, p, call);
    else if (!k->registered)
        return;
    else if (call->cmd.reply.rc == RC_OK)
        take_reply(w, p, &link, &call->cmd.reply.poll);
    else
        take_failure(w, p, &link, call->cmd.reply.rc);
}

void sim_worker_miss(struct world *w, struct sim_worker *k, const struct call *call)
{
    struct sim_poller *p;
    struct sim_link *busy = link_of(k, call, &p);
    if (busy == NULL || !k->alive)
        return;
    struct sim_link link = *busy;
    busy->call_no = 0;
    if (call->cmd.kind == CMD_POLL)
        take_failure(w, p, &link, RC_UNREACHABLE);
    else
        back_off(w, p);
}

/* ---- what it says */

/* Its patience with a call has ended: the connection is closed, and the server may hear of it. */
static void close_link(struct world *w, struct sim_poller *p, struct sim_link *link)
{
    struct sim_link old = *link;
    link->call_no = 0;
    if (old.seq == 0) {
        back_off(w, p);
        return;
    }
    if (!fault_strikes(w, FAULT_HANGUP_UNHEARD)) {
        struct call *hangup = call_new(w, CMD_HANGUP, STR("server"));
        hangup->cmd.target.id = p->worker->id;
        hangup->cmd.target.seq = old.seq;
        hangup->to = p->server;
        net_send(w, hangup);
    }
    take_failure(w, p, &old, RC_TIMEOUT);
}

static void lose_patience(struct world *w, void *what, uint64_t no)
{
    struct sim_worker *k = what;
    struct sim_poller *p;
    struct sim_link *link = k->alive ? link_with(k, no, &p) : NULL;
    if (link == NULL)
        return;
    if (sim_worker_sleeps(w, k)) {
        agenda_add(w, k->asleep_until_ms, lose_patience, k, no);
        return;
    }
    SAY(w, k->label, "gives up waiting");
    close_link(w, p, link);
}

static void send(struct world *w, struct sim_worker *k, struct sim_link *link, struct call *call,
                 int64_t patience_ms)
{
    call->worker = k;
    call->life = k->life;
    link->call_no = call->no;
    link->sent_ms = w->boot_ms;
    agenda_add(w, w->boot_ms + patience_ms, lose_patience, k, call->no);
    net_send(w, call);
}

/* The first poller does it, with any server. */
static void send_hello(struct world *w, struct sim_poller *p)
{
    struct sim_worker *k = p->worker;
    if (p != &k->pollers[0] || p->links[0].call_no != 0 || p->links[1].call_no != 0)
        return;
    struct call *call = call_new(w, CMD_REGISTER, STR("key:worker"));
    call->cmd.hello = k->hello;
    p->links[0] = (struct sim_link){0};
    send(w, k, &p->links[0], call, REGISTER_TIMEOUT_MS);
}

static uint32_t free_slots(const struct sim_worker *k)
{
    size_t running = k->holdings.running_count;
    return k->draining || running >= k->hello.slots ? 0 : (uint32_t)(k->hello.slots - running);
}

static struct sim_link *newest_link(struct sim_poller *p)
{
    for (size_t i = 0; i < LINKS; i++) {
        if (p->links[i].call_no != 0 && p->links[i].seq == p->seq)
            return &p->links[i];
    }
    return NULL;
}

/* How free slots are spread over the servers. */
static void spread(const struct world *w, struct sim_worker *k, struct credit *ret_credits)
{
    for (size_t i = 0; i < k->poller_count; i++) {
        struct sim_poller *p = &k->pollers[i];
        const struct sim_link *newest = newest_link(p);
        ret_credits[i] = (struct credit){.usable = p->retry_ms == 0,
                                         .backlog = p->backlog,
                                         .out = newest == NULL ? 0 : newest->free};
    }
    credits_spread(ret_credits, k->poller_count, free_slots(k), (uint64_t)(w->boot_ms / TURN_MS));
}

/* What a poll offers. */
static uint32_t offer_of(const struct world *w, struct sim_poller *p)
{
    struct sim_worker *k = p->worker;
    struct credit credits[POLLERS_MAX];
    if (!w->cluster)
        return free_slots(k);
    spread(w, k, credits);
    return credits_offer(credits, k->poller_count, free_slots(k), (size_t)(p - k->pollers));
}

static int64_t wait_ms(const struct world *w, const struct sim_poller *p)
{
    const struct sim_worker *k = p->worker;
    int64_t quarter_ms = w->scene.engine.lease_ms / 4;
    if (p->retry_ms > 0 || (k->draining && k->holdings.running_count == 0))
        return 0;
    return w->scene.engine.park_ms < quarter_ms ? w->scene.engine.park_ms : quarter_ms;
}

/* The texts are the holdings', which may change while the call is on its way. */
static void own_texts(struct call *call)
{
    struct poll *poll = &call->cmd.poll;
    struct poll_result *results = ARENA_ARRAY(&call->arena, struct poll_result, poll->result_count);
    for (size_t i = 0; i < poll->result_count; i++) {
        results[i] = poll->results[i];
        results[i].result = arena_str(&call->arena, results[i].result);
        results[i].error = arena_str(&call->arena, results[i].error);
        results[i].tail = arena_str(&call->arena, results[i].tail);
    }
    poll->results = results;
}

/* A run of this worker that was lost, and which somebody else was given since. */
static const struct model_attempt *find_lost(const struct sim_worker *k, const struct model_exec *x)
{
    for (size_t i = 0; !exec_is_final(x->rec.state) && i < x->attempts.len; i++) {
        const struct model_attempt *attempt = &x->attempts.items[i];
        if (attempt->worker_id == k->id && attempt->outcome == OUTCOME_LOST &&
            attempt->token < x->rec.token)
            return attempt;
    }
    return NULL;
}

/* By luck alone it would hardly be seen: its process had ended well, and it says so only now. */
static void add_late_success(struct world *w, const struct sim_worker *k, struct call *call)
{
    struct poll *poll = &call->cmd.poll;
    for (size_t i = 0; i < w->model.execs.len; i++) {
        const struct model_exec *x = w->model.execs.items[i];
        const struct model_attempt *lost = find_lost(k, x);
        if (lost == NULL || pick(w, 3) > 0)
            continue;
        struct poll_result *results =
            ARENA_ARRAY(&call->arena, struct poll_result, poll->result_count + 1);
        for (size_t j = 0; j < poll->result_count; j++)
            results[j] = poll->results[j];
        results[poll->result_count++] = (struct poll_result){.exec_id = x->rec.id,
                                                             .token = lost->token,
                                                             .outcome = OUTCOME_SUCCEEDED,
                                                             .result = STR(SIM_RESULT)};
        poll->results = results;
        return;
    }
}

static void send_poll(struct world *w, struct sim_poller *p, struct sim_link *link)
{
    struct sim_worker *k = p->worker;
    struct call *call = call_new(w, CMD_POLL, STR("key:worker"));
    struct poll *poll = &call->cmd.poll;
    struct partition_set of = scope_of(w, p);
    *poll = (struct poll){
        .worker_id = k->id, .seq = k->seq + 1, .free = offer_of(w, p), .wait_ms = wait_ms(w, p)};
    p->seq = ++k->seq;
    call->to = p->server;
    holdings_fill(&k->holdings, poll, &of, SIZE_MAX, SIZE_MAX, &call->arena);
    own_texts(call);
    add_late_success(w, k, call);
    *link = (struct sim_link){
        .seq = poll->seq, .free = poll->free, .result_count = poll->result_count, .scope = of};
    SAY(w, k->label, "poll %" PRIu64 ": %" PRIu32 " free, %zu held, %zu results, wait %" PRId64,
        poll->seq, poll->free, poll->held_count, poll->result_count, poll->wait_ms);
    send(w, k, link, call, poll->wait_ms + w->scene.engine.lease_ms / 4);
}

static struct sim_link *idle_link(struct sim_poller *p)
{
    for (size_t i = 0; i < LINKS; i++) {
        if (p->links[i].call_no == 0)
            return &p->links[i];
    }
    return NULL;
}

static bool has_moved(const struct world *w, struct sim_poller *p, const struct sim_link *newest)
{
    struct sim_worker *k = p->worker;
    struct credit credits[POLLERS_MAX];
    if (!w->cluster)
        return newest->free != free_slots(k);
    spread(w, k, credits);
    return credits_moved(credits, k->poller_count, free_slots(k), (size_t)(p - k->pollers));
}

static bool is_outdated(const struct world *w, struct sim_poller *p, const struct sim_link *newest)
{
    struct partition_set of = scope_of(w, p);
    return newest->result_count == 0 &&
           (holdings_wait(&p->worker->holdings, &of) || has_moved(w, p, newest));
}

static void act(struct world *w, void *what, uint64_t no)
{
    struct sim_poller *p = what;
    struct sim_worker *k = p->worker;
    if (!k->alive || no != p->act_no)
        return;
    if (sim_worker_sleeps(w, k)) {
        agenda_add(w, k->asleep_until_ms, act, p, no);
        return;
    }
    if (w->boot_ms >= k->holdings.deadline_ms) { /* slept too long: first hear of what ended */
        runs_expire(w, k);
        act_in(w, p, IDLE_GAP_MS);
        return;
    }
    const struct sim_link *newest = newest_link(p);
    struct sim_link *link = idle_link(p);
    if (link == NULL)
        return;
    if (!k->registered)
        send_hello(w, p);
    else if (newest == NULL || is_outdated(w, p, newest))
        send_poll(w, p, link);
}

/* ---- life and death */

static void draw_trade(struct world *w, struct sim_worker *k)
{
    bool all = w->healing || pick(w, 2) == 0;
    k->queues[0] = pick(w, 2) == 0 ? STR("default") : STR("mail");
    k->handlers[0] = STR("send");
    k->hello = (struct hello){
        .name = str_c(k->label),
        .queues = k->queues,
        .queue_count = all ? 0 : 1,
        .handlers = k->handlers,
    };
    k->hello.handler_count = all || pick(w, 2) == 0 ? 1 : 0;
    k->hello.runs_commands = all || pick(w, 2) == 0;
    k->hello.slots = 1 + (uint32_t)pick(w, 3);
}

void sim_worker_start(struct world *w, struct sim_worker *k)
{
    assert(!k->alive);
    const char *label = k->label;
    uint64_t life = k->life + 1;
    uint64_t act_nos[POLLERS_MAX];
    for (size_t i = 0; i < POLLERS_MAX; i++)
        act_nos[i] = k->pollers[i].act_no;
    uint64_t run_no = k->run_no; /* numbers of the life before mean nothing in this one */
    uint64_t watch_no = k->watch_no + 1;
    *k = (struct sim_worker){.label = label,
                             .life = life,
                             .poller_count = w->cluster ? w->server_count : 1,
                             .run_no = run_no,
                             .watch_no = watch_no,
                             .alive = true};
    for (size_t i = 0; i < k->poller_count; i++)
        k->pollers[i] = (struct sim_poller){
            .worker = k, .server = w->cluster ? &w->servers[i] : NULL, .act_no = act_nos[i]};
    holdings_init(&k->holdings);
    draw_trade(w, k);
    SAY(w, label, "starts with %" PRIu32 " slots", k->hello.slots);
    sim_worker_act(w, k);
}

static void start(struct world *w, void *what, uint64_t no)
{
    struct sim_worker *k = what;
    if (!k->alive && no == k->life)
        sim_worker_start(w, k);
}

void sim_worker_free(struct sim_worker *k)
{
    if (k->alive)
        holdings_free(&k->holdings);
    k->alive = false;
}

void sim_worker_crash(struct world *w, struct sim_worker *k)
{
    SAY(w, k->label, "is gone");
    sim_worker_free(k);
    memset(k->runs, 0, sizeof k->runs); /* its spawner has killed them */
    k->life++;
    agenda_add(w, w->boot_ms + pick_ms(w, 0, REST_MAX_MS), start, k, k->life);
}

void sim_worker_sleep(struct world *w, struct sim_worker *k, int64_t for_ms)
{
    if (sim_worker_sleeps(w, k))
        return;
    SAY(w, k->label, "sleeps for %" PRId64 " ms", for_ms);
    k->asleep_until_ms = w->boot_ms + for_ms;
}

void sim_worker_hang_up(struct world *w, struct sim_worker *k)
{
    struct sim_poller *p = &k->pollers[w->cluster ? pick(w, k->poller_count) : 0];
    struct sim_link *newest = newest_link(p);
    if (k->registered && newest != NULL)
        close_link(w, p, newest);
}
