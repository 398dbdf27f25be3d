/* outage.c - what goes on while the store takes nothing, and what is given up for good. */
#include "engine/core/outage.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/ready/workers.h"

#include <assert.h>

void engine_outage(struct engine *e)
{
    e->turn.away = true;
    /* Not by the heap of terms: leases whose end cannot be written down stand before them. */
    MAP_EACH(&e->workers, slot)
    {
        struct worker *w = slot->value;
        if (w->v.parked != NULL && w->v.wake_ms <= e->boot_ms)
            worker_wake(e, w);
    }
}

void outage_renew(struct engine *e, const struct worker *w, const struct poll *poll)
{
    for (size_t i = 0; i < poll->result_count; i++) {
        struct exec *x = map_get(&e->execs, poll->results[i].exec_id);
        if (x != NULL && exec_is_leased(x->v.state) &&
            lease_check(&x->v.lease, w->id, poll->results[i].token, NULL) == RC_OK)
            exec_renew(e, x);
    }
}

bool engine_drop(struct engine *e, uint64_t exec_id)
{
    struct exec *x = map_get(&e->execs, exec_id);
    assert(!in_turn(e));
    if (x == NULL)
        return false;
    exec_unplace(e, x);
    exec_free(e, x); /* and its job with the last of them */
    return true;
}
