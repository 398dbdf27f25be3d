/* exec_values.c - what a step makes of the values of an execution. */
#include "base/plant.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/time/sla.h"
#include "engine/time/steps.h"

#include <assert.h>

int64_t ready_since_ms(struct engine *e)
{
    e->newest_ready_ms = later_ms(e->now_ms, e->newest_ready_ms);
    return e->newest_ready_ms;
}

static void count_up(uint16_t *counter)
{
    *counter += *counter < UINT16_MAX;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The other values that change with a step. The attempt that a lease began counts only when it
 * ended by a report or by its timeout: a lost or returned one is taken off again, and both are
 * counted apart. */
static void apply(struct engine *e, const struct exec *x, struct exec_values *v,
                  const struct move *move)
{
    if (move->event == EV_LATE || move->event == EV_MISS) {
        v->late = true;
        return;
    }
    v->due_ms = 0;
    bool begins = move->event == EV_LEASE || move->event == EV_RETRY;
    v->unsure |= e->moment.unsure && begins;
    v->newer |= steps_pending(e) && begins;
    switch (move->event) {
    case EV_DUE: v->ready_ms = ready_since_ms(e); return;
    case EV_LEASE:
        v->lease.token = larger(v->lease.token, larger(e->token_floor, x->named_token));
        v->lease = lease_grant(&v->lease, move->worker->id, e->boot_ms, e->options.lease_ms);
        v->granted = ++e->newest.grant;
        v->started_ms = e->now_ms;
        v->stop_told = false;
        v->spared = false;
        v->proven = false;
        v->named_ms = 0;
        v->pace = PACE_UNKNOWN;
        v->usual_ms = 0;
        v->attempts++;
        return;
    case EV_CANCEL:
        if (v->state == EXEC_STOPPING)
            return; /* still held */
        break;
    case EV_LOST:
    case EV_QUARANTINE:
        count_up(&v->lost);
        v->attempts -= !PLANTED(loss_counts_as_attempt);
        break;
    case EV_RETURN:
        count_up(&v->returned);
        v->attempts -= !PLANTED(attempt_counted_for_drain);
        break;
    case EV_HOLD:
        v->due_ms = move->due_ms;
        v->ready_ms = v->ready_ms > 0 ? v->ready_ms : later_ms(e->now_ms, 1);
        v->looked = e->calendars.changes;
        return;
    case EV_PLAN:
        v->due_ms = move->due_ms;
        v->ready_ms = 0; /* nothing holds it */
        return;
    case EV_RETRY: v->due_ms = move->due_ms; break;
    default: break;
    }
    lease_release(&v->lease);
    if (move->event == EV_RETRY)
        v->lease.worker_id = 0; /* the attempt was judged: nothing can come late any more */
    if (move->reported)
        v->unseen = 0;
    v->times_out_ms = 0;
}

void exec_values_after(struct engine *e, const struct exec *x, const struct move *move,
                       enum exec_state next, struct exec_values *to)
{
    *to = x->v;
    to->state = next;
    apply(e, x, to, move);
    if (move->event == EV_LEASE)
        sla_begin(e, x, to);
    if (move->event == EV_RETRY)
        sla_reset(to);
    if (exec_is_final(next)) {
        to->unseen = 0; /* only a next lease would ask */
        to->finished_ms = later_ms(e->now_ms, later_ms(x->created_ms, x->v.started_ms));
    }
    if (!exec_is_leased(next)) {
        to->proven = false;
        to->recharged = false;
    }
    /* The invariants of states, see job/state.h. */
    assert(exec_is_leased(next) == to->lease.held);
    assert(!to->lease.held || (to->lease.token > 0 && to->attempts > 0));
}
