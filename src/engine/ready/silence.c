/* silence.c - leases that end unseen.
 *
 * A lease that a server has inherited, and that nobody names until it ends, tells little: its
 * worker may have died with the server, for a reason that has nothing to do with what ran; or what
 * ran took both of them down, and will do so again. One such end says nothing. An execution of
 * which two in a row have ended so is a suspect: it goes on, but on probation, one at a time on a
 * worker, so that the next death has one suspect (or one of each server that gives the worker
 * something: they do not know of each other's). Probation is over when the run has ended, or has
 * been named for a while; but not for a suspect that outlives it again and again. Leases that this
 * server has heard of are not for here: when their worker falls silent they are lost, whatever else
 * was on it. */
#include "engine/ready/silence.h"
#include "base/plant.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/ready/report.h"
#include "engine/time/sla.h"

#define SILENT STR("the lease ended without a word from its worker")
#define DEAD STR("its worker is dead: another has taken its place")

bool exec_on_probation(const struct exec *x)
{
    return exec_is_leased(x->v.state) && exec_is_suspect(x) &&
           (x->v.unseen >= SUSPECT_FOR_GOOD_FROM || !x->v.proven);
}

bool worker_on_probation(const struct worker *w)
{
    LIST_EACH(&w->leases, node)
    {
        if (exec_on_probation(CONTAINER_OF(node, struct exec, on_worker)))
            return true;
    }
    return false;
}

/* That it left its probation is kept: the server that inherits the lease must know it. While
 * nothing can be kept it has not left it. */
void probation_named(struct engine *e, struct exec *x)
{
    if (x->v.named_ms == 0) {
        touch_exec(e, x);
        x->v.named_ms = e->boot_ms;
    }
    if (!exec_is_suspect(x) || x->v.proven || e->turn.away ||
        e->boot_ms - x->v.named_ms < e->options.probation_ms)
        return;
    touch_exec(e, x)->durable = true;
    x->v.proven = true;
}

/* ---- what had ended before */

static int64_t alive_ms(const struct engine *e, const struct exec *x)
{
    return e->tenure.alive_ms[partition_of(e->owned.count, x->id)];
}

bool unseen_timed_out(const struct engine *e, const struct exec *x)
{
    return x->v.times_out_ms != 0 && x->v.times_out_ms <= alive_ms(e, x);
}

bool unseen_sla_over(const struct engine *e, const struct exec *x)
{
    return sla_was_over(x, e->loaded.wall_ms - (e->loaded.boot_ms - alive_ms(e, x)));
}

/* ---- a server that stood still */

/* While there are terms there is a turn in every quarter of one, so this is no server that had
 * nothing to do. Nor is half a term too short to be a sleep: a worker renews within a quarter, and
 * kills what it runs a quarter before the end at most, so no lease of a healthy one ends within
 * half a term. */
void silence_begin(struct engine *e, int64_t boot_ms)
{
    if (boot_ms - e->boot_ms > e->options.lease_ms / 2 && !PLANTED(sleep_counts_losses))
        e->slept = true;
}

int64_t silence_turn_ms(const struct engine *e)
{
    return e->terms.len == 0 ? INT64_MAX : e->boot_ms + e->options.lease_ms / 4;
}

/* Also where the attempt's time is over: its end may wait in the poll that is decided about
 * next. */
static void spare(struct engine *e, struct exec *x)
{
    touch_exec(e, x);
    struct exec_values to = x->v;
    if (!PLANTED(timeout_while_asleep) || !exec_timed_out(e, x))
        lease_renew(&to.lease, e->boot_ms, e->options.lease_ms);
    to.spared = true;
    exec_set(e, x, &to);
}

/* Its worker may have slept as well, and have stopped it when it woke up: that is nobody's fault
 * either. */
void silence_spare(struct engine *e)
{
    if (!e->slept)
        return;
    MAP_EACH(&e->execs, slot)
    {
        struct exec *x = slot->value;
        if (exec_is_leased(x->v.state))
            spare(e, x);
    }
}

/* ---- ends */

/* Whether its end, here and now, is one that nobody can explain. */
static bool ends_unseen(const struct engine *e, const struct exec *x)
{
    return lease_is_unseen(&x->v.lease) && x->v.state == EXEC_RUNNING && !unseen_timed_out(e, x) &&
           !(sla_stops(x) && unseen_sla_over(e, x));
}

/* The worker's leases, among which may be those of others. */
static struct list *leases_of(struct engine *e, uint64_t worker_id)
{
    struct worker *w = map_get(&e->workers, worker_id);
    return w != NULL ? &w->leases : &e->orphans;
}

/* One of the worker's was on probation, and is to blame; it may be one whose own term has not
 * passed. */
static bool has_accused(const struct engine *e, const struct list *leases, uint64_t worker_id)
{
    LIST_EACH(leases, node)
    {
        const struct exec *x = CONTAINER_OF(node, struct exec, on_worker);
        if (x->v.lease.worker_id == worker_id && ends_unseen(e, x) && exec_on_probation(x))
            return true;
    }
    return false;
}

/* Leases of the worker that no poll has named, and that end by then, end together. */
static void end_unseen(struct engine *e, uint64_t worker_id, int64_t until_ms, struct str reason)
{
    struct list *leases = leases_of(e, worker_id);
    bool accused = has_accused(e, leases, worker_id);
    LIST_EACH(leases, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, on_worker);
        if (x->v.lease.worker_id != worker_id || !lease_is_unseen(&x->v.lease) ||
            x->v.lease.ends_ms > until_ms)
            continue;
        enum blame blame = !accused               ? BLAME_UNSEEN
                           : exec_on_probation(x) ? BLAME_LOST
                                                  : BLAME_OTHER;
        report_silence(e, x, reason, blame);
    }
}

void silence_ended(struct engine *e, struct exec *x)
{
    if (lease_is_unseen(&x->v.lease))
        end_unseen(e, x->v.lease.worker_id, e->boot_ms, SILENT);
    else
        report_silence(e, x, SILENT, BLAME_NONE);
}

void silence_dead(struct engine *e, uint64_t worker_id)
{
    struct list *leases = leases_of(e, worker_id);
    end_unseen(e, worker_id, INT64_MAX, DEAD);
    LIST_EACH(leases, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, on_worker);
        if (x->v.lease.worker_id == worker_id)
            report_silence(e, x, DEAD, BLAME_NONE);
    }
}
