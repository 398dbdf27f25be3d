/* grant.c - work meets workers.
 *
 * Two occasions: a worker polls and is offered the best of all lanes it serves; and work becomes
 * ready and is offered to the workers that are parked, longest waiting first. Between turns no
 * parked worker has a free slot for anything that is ready, so a turn looks only at what is new
 * in it: polls that came, and lanes that are fresh. */
#include "engine/ready/grant.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/ready/breakers.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/queues.h"
#include "engine/ready/ready.h"
#include "engine/ready/silence.h"
#include "engine/ready/worker_class.h"
#include "engine/ready/workers.h"
#include "engine/submit/definition.h"
#include "engine/time/deadlines.h"
#include "engine/time/sla.h"
#include "engine/trace/traces.h"

/* A server that is not sure to be the owner is asked again soon: it may be sure by then. */
enum { PROVISIONAL_PARK_MS = 1000 };

/* The lease as the worker will see it. The texts move into the poll's own arena: the job may end
 * before the answer is written. An empty spec is fetched from the store by the turn. */
static void add_lease(struct engine *e, struct worker *w, const struct exec *x)
{
    const struct job *job = x->job;
    struct arena *arena = w->turn.cmd->arena;
    bool own = x->own_payload;
    struct poll_lease *lease = VEC_PUSH(arena, &w->turn.leases);
    *lease = (struct poll_lease){
        .exec_id = x->id,
        .job_id = job->id,
        .token = x->v.lease.token,
        .attempt = x->v.attempts,
        .slot_ms = x->v.slot_ms,
        .ttl_ms = e->options.lease_ms,
        .own_payload = own,
        .spec = own ? STR("") : arena_str(arena, definition_spec(job->v.def)),
        .payload = own ? STR("") : arena_str(arena, definition_payload(job->v.def)),
    };
    trace_of_lease(e, x, arena, lease);
    w->turn.free--;
}

void grant_again(struct engine *e, struct worker *w, struct exec *x)
{
    exec_start_clock(e, x); /* it cannot have begun before it arrives */
    exec_renew(e, x);       /* the worker will count a full term from the poll it has just sent */
    add_lease(e, w, x);
}

/* Suspects are waiting, and the worker may have one. */
static bool may_suspect(const struct engine *e, const struct worker *w)
{
    return e->ready.shadows.len > 0 && !worker_on_probation(w);
}

/* True when something was found that may not start any more, and ended. */
static bool fill(struct engine *e, struct worker *w)
{
    struct str reason = {0};
    bool expired = false;
    bool suspects = may_suspect(e, w);
    while (w->turn.free > 0) {
        struct heap_node *node = ready_best(&e->ready, w->worker_class, suspects);
        if (node == NULL)
            break;
        struct exec *x = CONTAINER_OF(node, struct exec, ready);
        if (deadline_pass(e, x)) {
            expired = true;
            continue;
        }
        if (e->owned.count > 1 && permits_ask(e, x))
            continue;
        if (reason.len == 0)
            reason = worker_words(e, STR("leased to "), w);
        exec_move(
            e, x,
            &(struct move){.event = EV_LEASE, .actor = SERVER, .reason = reason, .worker = w});
        suspects = suspects && !exec_is_suspect(x);
        rate_start(e, x->job);
        if (e->owned.count > 1)
            permits_started(e, x);
        breaker_started(e, x);
        add_lease(e, w, x);
    }
    return expired;
}

/* The first of a worker_class that may have what is in the lane; NULL: none may. */
static struct worker *first_waiting(const struct worker_class *worker_class,
                                    const struct lane *lane)
{
    LIST_EACH(&worker_class->waiting, node)
    {
        struct worker *w = CONTAINER_OF(node, struct worker, waiting);
        if (!lane->suspects || !worker_on_probation(w))
            return w;
    }
    return NULL;
}

static struct worker *longest_waiting(const struct engine *e, const struct lane *lane)
{
    struct worker *longest = NULL;
    LIST_EACH(&e->worker_classes.idle, node)
    {
        const struct worker_class *worker_class = CONTAINER_OF(node, struct worker_class, idle);
        struct worker *w = first_waiting(worker_class, lane);
        if (w != NULL && (longest == NULL || w->v.parked_no < longest->v.parked_no) &&
            worker_class_serves(worker_class, lane->queue, lane->handler))
            longest = w;
    }
    return longest;
}

/* One lane to one worker at a time: the lane may be gone with what that one was given. */
static bool offer_fresh(struct engine *e)
{
    bool expired = false;
    for (struct lane *lane; (lane = ready_fresh(&e->ready)) != NULL;) {
        struct worker *w = longest_waiting(e, lane);
        if (w == NULL) {
            ready_offered(lane);
            continue;
        }
        worker_open(e, w);
        expired |= fill(e, w);
    }
    return expired;
}

/* A tick that had too much to do leaves some that are overdue: they end where they would start.
 * Work that becomes ready by that is offered to those that were asked before, too. */
void grant_all(struct engine *e)
{
    bool again = true;
    while (again) {
        again = false;
        LIST_EACH(&e->turn.open, node)
        again |= fill(e, CONTAINER_OF(node, struct worker, turn.node));
        again |= offer_fresh(e);
    }
}

/* ---- answering or parking what was polled */

static struct str stop_reason(const struct exec *x)
{
    return x->v.state == EXEC_STOPPING ? STR("the execution was cancelled")
           : sla_stops(x)              ? STR("the attempt took longer than its SLA allows")
                                       : STR("the attempt is past its timeout");
}

/* Adds the runs that the worker should stop; true when one of them was not told before. */
static bool add_stops(struct engine *e, struct worker *w)
{
    bool news = false;
    LIST_EACH(&w->leases, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, on_worker);
        bool cancelled = x->v.state == EXEC_STOPPING;
        if (!cancelled && !exec_timed_out(e, x) && !sla_stops(x))
            continue;
        *VEC_PUSH(w->turn.cmd->arena, &w->turn.stops) =
            (struct poll_stop){x->id, x->v.lease.token, stop_reason(x)};
        if (!x->v.stop_told) {
            touch_exec(e, x);
            x->v.stop_told = news = true;
        }
    }
    return news;
}

static void answer(struct engine *e, struct worker *w)
{
    struct poll_reply *reply = &w->turn.cmd->reply.poll;
    if (is_provisional(e)) {
        answer_provisionally(e, w->turn.cmd);
        command_done(e, w->turn.cmd);
        return;
    }
    worker_told(e, w, w->turn.cmd);
    reply->leases = w->turn.leases.items;
    reply->lease_count = w->turn.leases.len;
    reply->stops = w->turn.stops.items;
    reply->stop_count = w->turn.stops.len;
    if (reply->owned.count > 0 && !e->turn.away && !w->v.draining && w->v.cordon == NULL)
        reply->backlog =
            (uint32_t)ready_count(&e->ready, w->worker_class, may_suspect(e, w), POLL_BACKLOG_MAX);
    command_done(e, w->turn.cmd);
}

static void park(struct engine *e, struct worker *w)
{
    int64_t wait_ms = w->turn.cmd->poll.wait_ms;
    if (wait_ms > e->options.park_ms)
        wait_ms = e->options.park_ms;
    if (is_provisional(e) && wait_ms > PROVISIONAL_PARK_MS)
        wait_ms = PROVISIONAL_PARK_MS;
    int64_t until_ms = e->boot_ms + wait_ms;
    if (w->turn.until_ms != 0 && w->turn.until_ms < until_ms)
        until_ms =
            w->turn.until_ms; /* it was opened for nothing, and its worker counts from before */
    touch_worker(e, w);
    w->v.offered = w->turn.free;
    worker_set_parked(e, w, w->turn.cmd, until_ms);
}

void polls_close(struct engine *e)
{
    LIST_EACH(&e->turn.open, node)
    {
        struct worker *w = CONTAINER_OF(node, struct worker, turn.node);
        bool news = !is_provisional(e) && add_stops(e, w);
        if (news || w->turn.answer || w->turn.leases.len > 0)
            answer(e, w);
        else
            park(e, w);
    }
}
