#include "net.h"
#include "base/mem.h"
#include "base/plant.h"
#include "client_wishes.h"
#include "world.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TRAVEL_MS = 20, SLOW_MS = 8000 };

struct call *call_new(struct world *w, enum command_kind kind, struct str actor)
{
    struct call *call = MEM_NEW(struct call);
    call->cmd.kind = kind;
    call->cmd.actor = actor;
    call->cmd.arena = &call->arena;
    call->no = ++w->call_no;
    call->delivery = call->no;
    call->from = END_CLIENTS;
    list_push_back(&w->calls, &call->all);
    return call;
}

void call_free(struct call *call)
{
    list_remove(&call->all);
    arena_free(&call->arena);
    free(call);
}

/* ---- there */

/* The way between the caller and its server, in both directions. */
static bool is_way_open(const struct world *w, const struct call *call, const struct sim_server *s)
{
    const struct sim_server *via = call->via;
    if (via == NULL)
        return !cuts_part_server(w, call->from, s);
    return via->up && !cuts_part_server(w, call->from, via) &&
           !cuts_part_server(w, end_of_server(w, via), s);
}

static void arrive(struct world *w, void *what, uint64_t no)
{
    struct call *call = what;
    struct sim_server *s = call->to != NULL ? call->to : w->server;
    (void)no;
    if (s->up && is_way_open(w, call, s))
        sim_server_take(s, call);
    else
        net_break(w, call);
}

static int64_t travel_ms(struct world *w, enum fault slow)
{
    return fault_strikes(w, slow) ? pick_ms(w, TRAVEL_MS, SLOW_MS) : pick_ms(w, 0, TRAVEL_MS);
}

static void repeat_poll(struct call *copy, const struct poll *poll)
{
    struct poll_held *held = ARENA_ARRAY(&copy->arena, struct poll_held, poll->held_count);
    struct poll_result *results = ARENA_ARRAY(&copy->arena, struct poll_result, poll->result_count);
    for (size_t i = 0; i < poll->held_count; i++)
        held[i] = poll->held[i];
    for (size_t i = 0; i < poll->result_count; i++) {
        results[i] = poll->results[i];
        results[i].error = arena_str(&copy->arena, poll->results[i].error);
        results[i].result = arena_str(&copy->arena, poll->results[i].result);
        results[i].tail = arena_str(&copy->arena, poll->results[i].tail);
    }
    copy->cmd.poll = *poll;
    copy->cmd.poll.held = held;
    copy->cmd.poll.results = results;
}

/* A copy with memory of its own. What was submitted twice is two wishes. */
static struct call *call_repeat(struct world *w, const struct call *call)
{
    struct call *copy = call_new(w, call->cmd.kind, call->cmd.actor);
    copy->no = call->no; /* but another delivery */
    copy->worker = call->worker;
    copy->life = call->life;
    copy->to = call->to;
    copy->from = call->from;
    copy->via = call->via;
    copy->forwarded = call->forwarded;
    copy->cmd.trace = call->cmd.trace; /* the day's */
    switch (call->cmd.kind) {
    case CMD_SUBMIT: client_submit_again(w, copy, &call->cmd); break;
    case CMD_EDIT_JOB: client_edit_again(w, copy, &call->cmd); break;
    case CMD_POLL: repeat_poll(copy, &call->cmd.poll); break;
    case CMD_REGISTER: copy->cmd.hello = call->cmd.hello; break; /* its texts are literals */
    case CMD_QUEUE: copy->cmd.queue = call->cmd.queue; break;
    case CMD_ALERT_SENT: copy->cmd.alert = call->cmd.alert; break;
    case CMD_SILENCE: copy->cmd.silence_wish = call->cmd.silence_wish; break; /* the day's, too */
    case CMD_RESET_BREAKER: copy->cmd.breaker = call->cmd.breaker; break;
    case CMD_OPERATE: copy->cmd.operate = call->cmd.operate; break;    /* literals, too */
    case CMD_CALENDAR: copy->cmd.calendar = call->cmd.calendar; break; /* its texts are the day's */
    default: copy->cmd.target = call->cmd.target; break;
    }
    return copy;
}

static void travel(struct world *w, struct call *take_call)
{
    if (take_call->cmd.kind != CMD_HANGUP && fault_strikes(w, FAULT_REQUEST_REPEATED)) {
        struct call *copy = call_repeat(w, take_call);
        /* Right behind the first, or when nobody remembers that. */
        int64_t behind_ms = pick_ms(w, 0, pick(w, 3) > 0 ? 2 * TRAVEL_MS : SLOW_MS);
        agenda_add(w, w->boot_ms + behind_ms, arrive, copy, copy->no);
    }
    if (fault_strikes(w, FAULT_REQUEST_LOST)) {
        net_break(w, take_call);
        return;
    }
    int64_t at_ms = w->boot_ms + travel_ms(w, FAULT_REQUEST_SLOW);
    agenda_add(w, at_ms, arrive, take_call, take_call->no);
}

void net_send(struct world *w, struct call *take_call)
{
    if (w->cluster && take_call->to == NULL)
        take_call->to = &w->servers[pick(w, w->server_count)];
    travel(w, take_call);
}

/* As a bug would have it: who hears nothing tries again. */
static void forward_again(struct world *w, const struct call *call)
{
    if (call->cmd.kind != CMD_TRIGGER_JOB && call->cmd.kind != CMD_RETRY_EXEC)
        return;
    struct call *twin = call_new(w, call->cmd.kind, call->cmd.actor);
    twin->delivery = call->delivery;
    twin->cmd.target = call->cmd.target;
    twin->to = call->to;
    twin->from = call->from;
    twin->forwarded = true;
    travel(w, twin);
}

void net_forward(struct world *w, struct call *take_call, struct sim_server *to)
{
    take_call->from = end_of_server(w, take_call->to);
    take_call->to = to;
    take_call->forwarded = true;
    if (PLANTED(forward_applied_twice))
        forward_again(w, take_call);
    travel(w, take_call);
}

/* ---- and back */

static void come_home(struct world *w, void *what, uint64_t no)
{
    struct call *call = what;
    if (w->boot_ms < call->worker->asleep_until_ms) { /* it waits in the socket */
        agenda_add(w, call->worker->asleep_until_ms, come_home, call, no);
        return;
    }
    sim_worker_hear(w, call->worker, call);
    call_free(call);
}

static void come_to_nothing(struct world *w, void *what, uint64_t no)
{
    struct call *call = what;
    if (w->boot_ms < call->worker->asleep_until_ms) {
        agenda_add(w, call->worker->asleep_until_ms, come_to_nothing, call, no);
        return;
    }
    sim_worker_miss(w, call->worker, call);
    call_free(call);
}

/* The epochs are the engine's, which may be gone when the reply arrives. */
static void own_epochs(struct call *call)
{
    struct poll_reply *reply = &call->cmd.reply.poll;
    if (call->cmd.kind != CMD_POLL || call->cmd.reply.rc != RC_OK || reply->epochs == NULL)
        return;
    uint64_t *epochs = ARENA_ARRAY(&call->arena, uint64_t, reply->owned.count);
    for (uint32_t i = 0; i < reply->owned.count; i++)
        epochs[i] = reply->epochs[i];
    reply->epochs = epochs;
}

void net_reply(struct world *w, struct call *take_call)
{
    if (take_call->worker == NULL) {
        call_free(take_call);
        return;
    }
    own_epochs(take_call);
    take_call->replied_ms = w->boot_ms;
    if ((take_call->to != NULL && !is_way_open(w, take_call, take_call->to)) ||
        fault_strikes(w, FAULT_REPLY_LOST)) {
        net_break(w, take_call);
        return;
    }
    int64_t at_ms = w->boot_ms + travel_ms(w, FAULT_REPLY_SLOW);
    agenda_add(w, at_ms, come_home, take_call, take_call->no);
}

void net_break(struct world *w, struct call *take_call)
{
    if (take_call->worker == NULL || pick(w, 2) == 0) {
        call_free(take_call); /* silence; the caller's patience will end */
        return;
    }
    agenda_add(w, w->boot_ms + pick_ms(w, 0, TRAVEL_MS), come_to_nothing, take_call, take_call->no);
}
