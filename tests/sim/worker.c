#include "worker.h"
#include "base/plant.h"
#include "coverage.h"
#include "worker_crew.h"
#include "worker_runs.h"
#include "world.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    IDLE_GAP_MS = 100, /* these as in worker/link/poller.c */
    NO_VERDICT_GAP_MS = 500,
    UNKNOWN_GAP_MS = 1000,
    ORPHAN_WAIT_MS = 500,
    PEEK_WAIT_MS = 1000,
    REGISTER_TIMEOUT_MS = 10000,
    REST_MAX_MS = 8000, /* between a death and the next start */
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
    for (size_t i = 0; i < k->poller_count; i++) {
        *ret_poller = &k->pollers[i];
        if ((*ret_poller)->relay.call_no == call_no)
            return &(*ret_poller)->relay;
    }
    return NULL;
}

/* NULL when it was for the process before. */
static struct sim_link *link_of(struct sim_worker *k, const struct call *call,
                                struct sim_poller **ret_poller)
{
    return call->life != k->life ? NULL : link_with(k, call->no, ret_poller);
}

/* A lease is renewed by a poll that named it to its owner. */
static struct partition_set both(const struct partition_set *named,
                                 const struct partition_set *owned)
{
    if (named->count == 0 || owned->count == 0)
        return named->count == 0 ? *owned : *named;
    return (struct partition_set){.count = owned->count, .bits = named->bits & owned->bits};
}

/* Costs no attempt. We have offered it to several when there was work nowhere. */
static void give_back(struct sim_worker *k, const struct poll_lease *lease)
{
    lease_set_end(&k->lease_set, &(struct poll_result){.exec_id = lease->exec_id,
                                                       .token = lease->token,
                                                       .outcome = OUTCOME_RETURNED,
                                                       .error = STR(SIM_ERROR)});
}

static size_t take_leases(struct world *w, struct sim_worker *k, const struct sim_link *link,
                          const struct poll_reply *reply)
{
    size_t taken = 0;
    struct partition_set believed = crew_believed(w, k, reply);
    for (size_t i = 0; i < reply->lease_count; i++) {
        const struct poll_lease *lease = &reply->leases[i];
        if (believed.count > 0 && !partition_has(&believed, lease->exec_id))
            continue;
        bool full = k->lease_set.running_count >= k->hello.slots;
        if (!lease_set_accept(&k->lease_set, lease, k->seq + 1, link->sent_ms, w->boot_ms))
            continue;
        taken++;
        if (full)
            give_back(k, lease);
        else
            run_starts(w, k, lease);
    }
    if (taken > 0)
        runs_watch(w, k);
    return taken;
}

/* What a reply says about what we hold: terms, verdicts, stops. */
static void take_terms(struct world *w, struct sim_worker *k, const struct sim_link *link,
                       const struct poll_reply *reply)
{
    struct partition_set believed = crew_believed(w, k, reply);
    struct partition_set renewed = both(&link->scope, &reply->owned);
    renewed = both(&renewed, &believed);
    SAY(w, k->label,
        "poll %" PRIu64 " renews %04" PRIx64 " of %04" PRIx64 ", believed %04" PRIx64
        "%s, %zu kept",
        link->seq, renewed.bits, reply->owned.bits, believed.bits,
        reply->provisional ? ", provisional" : "", reply->kept_count);
    if (reply->provisional)
        lease_set_keep(&k->lease_set, reply->kept, reply->kept_count, link->sent_ms, &believed);
    else
        lease_set_renew(&k->lease_set, link->seq, link->sent_ms, &renewed);
    for (size_t i = 0; i < reply->verdict_count; i++)
        lease_set_verdict(&k->lease_set, &reply->verdicts[i]);
    lease_set_landed(&k->lease_set, link->seq);
    if (reply->provisional)
        return;
    runs_stop(w, k, link, reply, &believed);
    k->draining |= reply->drain;
}

static uint64_t heard_of(uint64_t before, const struct sim_link *link,
                         const struct poll_reply *reply)
{
    if (reply->epochs == NULL)
        return 0;
    if (reply->provisional)
        return before;
    if (reply->heard_as > 0)
        return reply->heard_as;
    return before >= POLL_HEARD_AS || link->seq > before ? link->seq : before;
}

static void take_word(struct sim_poller *p, const struct sim_link *link,
                      const struct poll_reply *reply)
{
    p->retry_ms = 0;
    p->unknown = false;
    p->stale = 0;
    p->met = true;
    p->heard = heard_of(p->heard, link, reply);
    if (link->seq != p->seq)
        return; /* answered only to be rid of it */
    p->known = true;
    p->owned = reply->owned;
    p->owned_seq = link->seq;
    p->provisional = reply->provisional;
    p->backlog = reply->backlog;
}

/* When to poll again. What was answered at once with nothing new is not asked in the same breath. */
static int64_t gap_ms(const struct world *w, const struct sim_poller *p,
                      const struct sim_link *link, size_t news)
{
    struct partition_set scope = crew_scope(w, p);
    scope = poller_result_scope(p, &scope);
    if (news > 0 || w->boot_ms - link->sent_ms >= IDLE_GAP_MS)
        return 0;
    if (link->result_count > 0 && w->cluster)
        return NO_VERDICT_GAP_MS;
    return lease_set_wait(&p->worker->lease_set, &scope) ? 0 : IDLE_GAP_MS;
}

static void take_reply(struct world *w, struct sim_poller *p, const struct sim_link *link,
                       const struct poll_reply *reply)
{
    struct sim_worker *k = p->worker;
    size_t taken = 0;
    bool first = !p->met;
    take_word(p, link, reply);
    bool newest = link->seq == p->seq && (p->relay.seq < link->seq || PLANTED(lease_behind_relay));
    if (newest && !k->draining && !reply->provisional)
        taken = take_leases(w, k, link, reply);
    take_terms(w, k, link, reply);
    bool last_word = k->draining && link->free == 0 && link->seq == p->seq &&
                     k->lease_set.running_count + k->lease_set.ended_count == 0;
    if (last_word) {
        SAY(w, k->label, "leaves, as it was asked to");
        sim_worker_crash(w, k);
        return;
    }
    int64_t delay_ms = first && w->cluster ? 0 : gap_ms(w, p, link, taken + reply->verdict_count);
    if (w->cluster)
        sim_worker_act(w, k); /* where there is work has changed */
    act_in(w, p, delay_ms);
}

static void relay_poll(struct world *w, struct sim_poller *p);

static void take_failure(struct world *w, struct sim_poller *p, const struct sim_link *link,
                         enum rc rc)
{
    if (w->cluster) /* somebody else may take its results */
        lease_set_landed(&p->worker->lease_set, link->seq);
    if (link->seq != p->seq) { /* a newer one says all it would have said */
        act_in(w, p, 0);
        if ((rc == RC_TIMEOUT || rc == RC_UNREACHABLE))
            relay_poll(w, p);
        return;
    }
    lease_set_landed(&p->worker->lease_set, link->seq);
    poller_doubt(p);
    if (rc == RC_NOT_FOUND) {
        p->paused_until_ms = w->boot_ms + UNKNOWN_GAP_MS;
        crew_unknown(w, p);
        return;
    }
    back_off(w, p);
    if (rc == RC_STALE)
        crew_stale(w, p);
    else
        crew_failed(w, p);
    if (rc == RC_TIMEOUT || rc == RC_UNREACHABLE)
        relay_poll(w, p);
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
    k->hello.replaces = 0; /* who comes next replaces us */
    k->id = call->cmd.reply.worker_id;
    k->seq = 0;
    for (size_t i = 0; i < k->poller_count; i++)
        k->pollers[i].seq = k->pollers[i].owned_seq = 0;
    sim_worker_act(w, k);
}

static void lose_relayed(struct sim_poller *p, const struct sim_link *link)
{
    p->relay_heard = 0;
    p->relays_lost++;
    lease_set_landed(&p->worker->lease_set, link->seq);
}

static void take_relayed(struct world *w, struct sim_poller *p, const struct sim_link *link,
                         const struct call *call)
{
    const struct poll_reply *reply = &call->cmd.reply.poll;
    if (call->cmd.reply.rc == RC_OK) {
        saw(SAW_RELAYED);
        p->relay_heard = heard_of(p->relay_heard, link, reply);
        p->provisional = reply->provisional;
        take_terms(w, p->worker, link, reply);
    } else {
        lose_relayed(p, link);
    }
    sim_worker_act(w, p->worker);
}

void sim_worker_hear(struct world *w, struct sim_worker *k, const struct call *call)
{
    struct sim_poller *p;
    struct sim_link *busy = link_of(k, call, &p);
    if (busy == NULL || !k->alive)
        return;
    struct sim_link link = *busy;
    busy->call_no = 0;
    link.lost = past_is_answer_lost(w, call);
    if (call->cmd.kind == CMD_REGISTER)
        take_welcome(w, p, call);
    else if (!k->registered)
        return;
    else if (call->via != NULL)
        take_relayed(w, p, &link, call);
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
    if (call->via != NULL)
        lose_relayed(p, &link);
    else if (call->cmd.kind == CMD_POLL)
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
        hangup->from = end_of_worker(w, p->worker);
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
    SAY(w, k->label, "gives up waiting for %s", w->cluster ? p->server->name : "the server");
    if (link == &p->relay) {
        link->call_no = 0;
        lose_relayed(p, link);
        return;
    }
    close_link(w, p, link);
}

static void send(struct world *w, struct sim_worker *k, struct sim_link *link, struct call *call,
                 int64_t patience_ms)
{
    call->worker = k;
    call->life = k->life;
    call->from = end_of_worker(w, k);
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

/* How long one of several servers may park us: see worker/link/poller.c. */
static int64_t crew_wait_ms(const struct world *w, const struct sim_poller *p, uint32_t offer,
                            int64_t longest_ms)
{
    const struct sim_worker *k = p->worker;
    struct partition_set orphans = crew_orphans(p);
    int64_t left_ms = lease_set_deadline_ms(&k->lease_set, &p->owned) - w->boot_ms;
    int64_t spare_ms = left_ms - w->scene.engine.lease_ms / 2;
    if (spare_ms <= 0)
        return 0;
    longest_ms = spare_ms < longest_ms ? spare_ms : longest_ms;
    if (lease_set_any(&k->lease_set, &orphans) && longest_ms > ORPHAN_WAIT_MS)
        longest_ms = ORPHAN_WAIT_MS;
    if (offer == 0 && crew_free_slots(k) > 0 && longest_ms > PEEK_WAIT_MS)
        longest_ms = PEEK_WAIT_MS;
    return longest_ms;
}

static int64_t wait_ms(const struct world *w, const struct sim_poller *p, uint32_t offer)
{
    const struct sim_worker *k = p->worker;
    int64_t longest_ms = w->scene.engine.lease_ms / 4;
    if (w->scene.engine.park_ms < longest_ms)
        longest_ms = w->scene.engine.park_ms;
    if (!poller_is_connected(p) || (k->draining && k->lease_set.running_count == 0))
        return 0;
    return p->owned.count == 0 ? longest_ms : crew_wait_ms(w, p, offer, longest_ms);
}

/* The texts are the lease_set', which may change while the call is on its way. */
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
    struct partition_set of = crew_scope(w, p);
    uint32_t offer = crew_offer(w, p);
    struct partition_set results = poller_result_scope(p, &of);
    *poll = (struct poll){.worker_id = k->id,
                          .seq = k->seq + 1,
                          .free = offer,
                          .wait_ms = wait_ms(w, p, offer),
                          .heard = w->cluster ? p->heard : 0};
    p->seq = ++k->seq;
    call->to = p->server;
    lease_set_fill(&k->lease_set, poll, &results, SIZE_MAX, SIZE_MAX, &call->arena);
    own_texts(call);
    add_late_success(w, k, call);
    *link = (struct sim_link){
        .seq = poll->seq, .free = poll->free, .result_count = poll->result_count, .scope = of};
    SAY(w, k->label,
        "poll %" PRIu64 " to %s: %" PRIu32 " free, %zu held, %zu results, wait %" PRId64, poll->seq,
        w->cluster ? p->server->name : "the server", poll->free, poll->held_count,
        poll->result_count, poll->wait_ms);
    send(w, k, link, call, poll->wait_ms + w->scene.engine.lease_ms / 4);
}

/* Offers nothing and does not wait; it names what we hold and carries results. */
static void relay_poll(struct world *w, struct sim_poller *p)
{
    struct sim_worker *k = p->worker;
    struct sim_server *via = w->cluster && k->registered ? crew_go_between(p) : NULL;
    if (PLANTED(relay_needs_meeting) && !p->met)
        return;
    if (via == NULL || p->relay.call_no != 0 || !lease_set_any(&k->lease_set, NULL))
        return;
    struct call *call = call_new(w, CMD_POLL, STR("key:worker"));
    struct poll *poll = &call->cmd.poll;
    struct partition_set all = {0};
    struct partition_set results = poller_result_scope(p, &all);
    *poll = (struct poll){.worker_id = k->id, .seq = ++k->seq, .heard = p->relay_heard};
    call->to = p->server;
    call->via = via;
    lease_set_fill(&k->lease_set, poll, &results, SIZE_MAX, SIZE_MAX, &call->arena);
    own_texts(call);
    p->relay = (struct sim_link){.seq = poll->seq, .result_count = poll->result_count};
    SAY(w, k->label, "poll %" PRIu64 " to %s by way of %s: %zu held, %zu results", poll->seq,
        p->server->name, via->name, poll->held_count, poll->result_count);
    send(w, k, &p->relay, call, w->scene.engine.lease_ms / 4);
}

static struct sim_link *idle_link(struct sim_poller *p)
{
    for (size_t i = 0; i < LINKS; i++) {
        if (p->links[i].call_no == 0)
            return &p->links[i];
    }
    return NULL;
}

/* True when we hold something that the newest poll does not name and should. */
static bool names_too_little(const struct sim_poller *p, const struct sim_link *newest,
                             const struct partition_set *scope)
{
    if (newest->scope.count == 0)
        return false;
    struct partition_set more = *scope;
    if (scope->count == newest->scope.count)
        more.bits &= ~newest->scope.bits;
    return (more.count == 0 || more.bits != 0) && lease_set_any(&p->worker->lease_set, &more);
}

static bool is_outdated(const struct world *w, struct sim_poller *p, const struct sim_link *newest)
{
    struct partition_set of = crew_scope(w, p);
    struct partition_set results = poller_result_scope(p, &of);
    return newest->result_count == 0 &&
           (lease_set_wait(&p->worker->lease_set, &results) || crew_offer_moved(w, p) ||
            names_too_little(p, newest, &of));
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
    if (w->boot_ms >= k->lease_set.deadline_ms) { /* slept too long: first hear of what ended */
        runs_expire(w, k);
        act_in(w, p, IDLE_GAP_MS);
        return;
    }
    const struct sim_link *newest = poller_newest(p);
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
    k->hello.boot_id = STR("the machine");
    if (k->dead_id != 0 && pick(w, 2) == 0) /* its lock was free */
        k->hello.replaces = k->dead_id;
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
                             .full_ms = w->boot_ms,
                             .dead_id = k->registered ? k->id : k->dead_id,
                             .alive = true};
    for (size_t i = 0; i < k->poller_count; i++)
        k->pollers[i] = (struct sim_poller){
            .worker = k, .server = w->cluster ? &w->servers[i] : NULL, .act_no = act_nos[i]};
    lease_set_init(&k->lease_set);
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
        lease_set_free(&k->lease_set);
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
    struct sim_link *newest = poller_newest(p);
    if (k->registered && newest != NULL)
        close_link(w, p, newest);
}
