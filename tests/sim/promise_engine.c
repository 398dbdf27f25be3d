/* promise_engine.c - what is in memory follows from what was kept.
 *
 * Looks into the engine (engine/core/model.h), as the engine's own tests do: a leaked slot or a lost
 * timer shows itself here in the turn that lost it, not an hour later. */
#include "coverage.h"
#include "engine/core/model.h"
#include "engine/ready/limit.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/worker_class.h"
#include "engine/time/calendars.h"
#include "engine/time/deadlines.h"
#include "engine/time/slots.h"
#include "promises.h"
#include "world.h"

#include <inttypes.h>
#include <string.h>

static bool is_far(const struct engine *e, const struct exec_rec *rec)
{
    if (rec->state == EXEC_RETRYING && rec->origin != ORIGIN_ONCE)
        return false; /* the next slot has to see that it is not over */
    if (model_is_held_by_calendar(rec))
        return false; /* who changes its calendar has to find it */
    return exec_is_waiting(rec->state) &&
           (rec->due_ms > e->horizon.due_ms ||
            (rec->due_ms == e->horizon.due_ms && rec->id > e->horizon.id));
}

static bool is_same(const struct exec *x, const struct exec_rec *rec)
{
    return x->job->id == rec->job_id && x->v.state == rec->state && x->v.slot_ms == rec->slot_ms &&
           x->v.due_ms == rec->due_ms && x->v.ready_ms == rec->ready_ms &&
           x->v.started_ms == rec->started_ms && x->v.attempts == rec->attempts &&
           x->v.lost == rec->lost && x->v.returned == rec->returned &&
           x->v.sla_since_ms == rec->sla_since_ms && x->v.sla_extra_ms == rec->sla_extra_ms &&
           x->v.sla_marks == rec->sla_marks && x->v.lease.token == rec->token &&
           lease_holder(&x->v.lease) == rec->worker_id && x->retry_of == rec->retry_of &&
           x->created_ms == rec->created_ms && x->origin == rec->origin &&
           x->v.nominal_ms == rec->nominal_ms && x->v.late == rec->late;
}

static void check_place(struct world *w, const struct engine *e, const struct exec *x,
                        const struct model_exec *kept)
{
    bool paused = x->job->v.state == JOB_PAUSED;
    int64_t deadline_ms = model_deadline_ms(w, kept);
    bool missed = kept->rec.origin == ORIGIN_PING && kept->rec.late; /* and waits for no moment */
    bool waits = exec_is_waiting(x->v.state) && !paused && !missed;
    PROMISE(w, exec_is_leased(x->v.state) || heap_holds(&x->due) == (waits || deadline_ms != 0),
            "%s waits for a moment without a timer, or the other way round", exec_label(w, x->id));
    if (deadline_ms != 0)
        PROMISE(w, e->deadlines.items[x->due.place - 1].key == (uint64_t)deadline_ms,
                "%s has its deadline at another moment", exec_label(w, x->id));
    PROMISE(w, heap_holds(&x->term.node) == (exec_is_leased(x->v.state) || exec_has_permits(x)),
            "%s has a lease without an end, or the other way round", exec_label(w, x->id));
    bool held = x->v.state == EXEC_SCHEDULED && x->v.ready_ms > 0;
    bool ready = x->v.state == EXEC_QUEUED && x->v.wants == 0; /* else it waits for permits */
    PROMISE(w,
            exec_is_leased(x->v.state) || /* then it is for its pace */
                heap_holds(&x->ready) == ((ready || held) && !paused),
            "%s is ready and not in its lane, or the other way round", exec_label(w, x->id));
}

/* No lease is renewed past its attempt's timeout. (When the end of it is, the model cannot always
 * tell: what was granted again and could not be sent has begun anew, and nobody was told.) */
static void check_term(struct world *w, const struct engine *e, const struct exec *x,
                       const struct model_exec *kept)
{
    int64_t times_out_ms = x->v.times_out_ms;
    if (!exec_is_leased(x->v.state) || kept->times_out_ms == 0)
        return;
    int64_t last_ms = times_out_ms > w->model.loaded_ms ? times_out_ms : w->model.loaded_ms;
    PROMISE(w, times_out_ms >= kept->times_out_ms, "%s has forgotten when it times out",
            exec_label(w, x->id));
    int64_t unsure_ms =
        w->cluster ? e->tenure.unsure_until_ms[partition_of(e->owned.count, x->id)] : 0;
    PROMISE(w,
            x->v.spared || /* its server slept: once more */
                x->v.lease.ends_ms <= last_ms + w->scene.engine.lease_ms ||
                x->v.lease.ends_ms <= unsure_ms,
            "the lease of %s was renewed after its timeout", exec_label(w, x->id));
}

/* What is blocked waits for something that is not over, or asks for what. */
static void check_blocked(struct world *w, const struct exec *x)
{
    uint32_t waits_for = 0;
    LIST_EACH(&x->job->edges, node)
    {
        const struct edge *edge = CONTAINER_OF(node, struct edge, sibling);
        if (edge->exec != x)
            continue;
        waits_for++;
        const struct model_exec *slot = model_exec(&w->model, edge->v.target);
        PROMISE(w, edge->v.asking || slot == NULL || !exec_is_final(slot->rec.state),
                "%s waits for %s, which is over", exec_label(w, x->id),
                exec_label(w, edge->v.target));
    }
    PROMISE(w, waits_for == x->waits_for, "%s waits for %" PRIu32 " others, and counts %d",
            exec_label(w, x->id), waits_for, x->waits_for);
    PROMISE(w,
            waits_for > 0 || (x->job->v.def->schedule != NULL && slot_under_way(x->job, x) != NULL),
            "%s waits for nobody to end", exec_label(w, x->id));
}

/* Its newest change, or that it is gone. */
static bool knows_calendar(const struct engine *e, const struct model_calendar *kept)
{
    const struct named_calendar *known = strmap_get(&e->calendars.by_name, kept->name);
    const struct book *book = known == NULL ? NULL : known->v.book;
    if (book == NULL || kept->plan == NULL)
        return book == NULL && kept->plan == NULL;
    return book->version == kept->version && book->changed_ms == kept->kept_ms;
}

/* In the turn that is over all that is held was looked at, with the calendars as they are now. In a cluster a
 * change comes to a server between two of its turns. */
static bool has_looked(const struct world *w, const struct sim_server *s)
{
    const struct engine *e = s->turn.engine;
    bool has = !calendars_want_turn(e);
    if (!w->cluster)
        return has;
    for (size_t i = 0; i < w->model.calendars.len; i++)
        has = has && w->model.calendars.items[i].plan != NULL &&
              knows_calendar(e, &w->model.calendars.items[i]);
    return has && s->calendar_changes != e->calendars.changes;
}

static void check_execs(struct world *w, const struct sim_server *s)
{
    const struct engine *e = s->turn.engine;
    bool looked = has_looked(w, s);
    size_t near = 0;
    for (size_t i = 0; i < w->model.execs.len; i++) {
        const struct model_exec *kept = w->model.execs.items[i];
        if (exec_is_final(kept->rec.state) || !partition_has(&e->owned, kept->rec.id))
            continue;
        const struct exec *x = map_get(&e->execs, kept->rec.id);
        if (x == NULL && is_far(e, &kept->rec)) {
            saw(SAW_FAR_AHEAD);
            continue;
        }
        PROMISE(w, x != NULL, "%s is within the horizon, but the engine does not know it",
                exec_label(w, kept->rec.id));
        PROMISE(w,
                is_same(x, &kept->rec) && x->job->v.state == kept->job->rec.state &&
                    x->job->v.def->rules.version == kept->job->rec.version,
                "%s is one thing in memory and another in the store", exec_label(w, kept->rec.id));
        check_term(w, e, x, kept);
        check_place(w, e, x, kept);
        if (x->v.state == EXEC_BLOCKED)
            check_blocked(w, x);
        if (looked)
            calendars_check_held(w, kept, e->now_ms);
        near++;
    }
    PROMISE(w, near == e->execs.len, "the engine holds %zu executions, the store %zu", e->execs.len,
            near);
}

/* ---- permits are live leases */

static void check_work_has_queue(struct world *w, const struct engine *e)
{
    for (size_t i = 0; i < w->model.execs.len && !w->cluster; i++) {
        const struct model_exec *x = w->model.execs.items[i];
        PROMISE(w,
                (exec_is_final(x->rec.state) && !x->is_letter) ||
                    strmap_get(&e->queues.by_name, x->rec.queue) != NULL,
                "%s has no queue in memory", exec_label(w, x->rec.id));
    }
}

static void check_queues(struct world *w, const struct engine *e)
{
    for (size_t i = 0; i < e->queues.by_name.cap; i++) {
        const struct queue *q = e->queues.by_name.slots[i].value;
        if (q == NULL)
            continue;
        size_t leases = model_queue_leases(&w->model, q->name);
        struct queue_rec kept = model_queue(&w->model, q->name);
        PROMISE(w, q->held - q->lent == leases, "%.*s counts %" PRIu32 " leases and has %zu",
                STR_ARG(q->name), q->held - q->lent, leases);
        PROMISE(w,
                w->cluster || /* others hear of it a moment later */
                    (q->v.paused == kept.paused && q->v.concurrency == kept.concurrency),
                "%.*s is one thing in memory and another in the store", STR_ARG(q->name));
        PROMISE(w, (q->known || q->users > 0) && !q->v.gone, "%.*s is there for nothing",
                STR_ARG(q->name));
    }
    check_work_has_queue(w, e);
}

static void check_team(struct world *w, const struct limit *limit)
{
    size_t leases = model_team_leases(&w->model, limit->key);
    struct team_rec kept = model_team(&w->model, limit->key);
    PROMISE(w, limit->held - limit->lent == leases,
            "the team '%.*s' counts %" PRIu32 " and there are %zu", STR_ARG(limit->key),
            limit->held, leases);
    PROMISE(w, w->cluster || limit->v.max == kept.concurrency,
            "the team '%.*s' is one thing in memory and another in the store", STR_ARG(limit->key));
}

static void check_limits(struct world *w, const struct engine *e)
{
    for (size_t i = 0; i < e->ready.limits.by_key.cap; i++) {
        const struct limit *limit = e->ready.limits.by_key.slots[i].value;
        if (limit != NULL && limit->kind == LIMIT_TEAM)
            check_team(w, limit);
        if (limit == NULL || limit->kind != LIMIT_CONCURRENCY)
            continue;
        size_t leases = model_key_leases(&w->model, limit->key);
        PROMISE(w, limit->held - limit->lent == leases,
                "the limit '%.*s' counts %" PRIu32 " and there are %zu", STR_ARG(limit->key),
                limit->held, leases);
    }
}

/* ---- workers: slots are live leases */

static void check_worker(struct world *w, const struct engine *e, const struct model_worker *kept)
{
    const struct worker *k = map_get(&e->workers, kept->rec.id);
    size_t leases = model_leases(&w->model, kept->rec.id);
    if (k == NULL && w->cluster && !partition_has(&e->owned, kept->rec.id) && leases == 0)
        return; /* it has never been here */
    PROMISE(w, k != NULL, "a worker that is kept is not in memory");
    PROMISE(w, k->busy == leases, "%.*s has %" PRIu32 " slots in use and %zu leases",
            STR_ARG(kept->rec.name), k->busy, leases);
    if (w->cluster)
        return; /* others may have given it something, or told it to drain */
    PROMISE(w, leases <= kept->rec.slots, "%.*s has %" PRIu32 " slots and %zu leases",
            STR_ARG(kept->rec.name), kept->rec.slots, leases);
    PROMISE(w, k->v.draining == kept->rec.draining, "%.*s drains in memory, or in the store, alone",
            STR_ARG(kept->rec.name));
    PROMISE(w, (k->v.cordon != NULL) == (kept->rec.cordoned_ms > 0),
            "%.*s is cordoned in memory, or in the store, alone", STR_ARG(kept->rec.name));
}

static bool waits_for(const struct world *w, const struct model_exec *x, const struct worker *k)
{
    const struct rules *rules = &model_wish(&w->model, x->job)->rules;
    if (x->rec.state != EXEC_QUEUED || model_is_suspect(x) ||
        !worker_class_serves(k->worker_class, rules->queue, rules->handler))
        return false;
    if (model_is_held(w, x))
        saw(SAW_HELD_BACK);
    return !model_is_held(w, x);
}

static void check_nobody_waits(struct world *w, const struct engine *e, const struct worker *k)
{
    const struct heap_item *wake = heap_min(&e->ready.limits.wakes);
    if (k->v.parked == NULL || k->v.offered == 0 || k->v.draining)
        return;
    if (wake != NULL && (int64_t)wake->key <= e->boot_ms)
        return; /* a full turn has left that for the next one */
    for (size_t i = 0; i < w->model.execs.len; i++) {
        const struct model_exec *x = w->model.execs.items[i];
        if (!partition_has(&e->owned, x->rec.id))
            continue;
        PROMISE(w, !waits_for(w, x, k), "%s waits for a worker while %.*s waits for work",
                exec_label(w, x->rec.id), (int)k->name_len, k->name);
    }
}

static void check_workers(struct world *w, const struct engine *e)
{
    size_t known = 0;
    for (size_t i = 0; i < w->model.workers.len; i++) {
        if (w->model.workers.items[i]->forgotten)
            continue;
        const struct worker *k = map_get(&e->workers, w->model.workers.items[i]->rec.id);
        known += k != NULL;
        check_worker(w, e, w->model.workers.items[i]);
        if (k != NULL)
            check_nobody_waits(w, e, k);
    }
    PROMISE(w, w->cluster || known == e->workers.len, "the engine holds %zu workers, the store %zu",
            e->workers.len, known);
}

void promise_engine(struct world *w, const struct sim_server *s)
{
    if (s->deposed || !s->up || s->astray || !model_is_owner(w, &s->turn.owned))
        return;
    w->model.scope = &s->turn.engine->owned;
    check_execs(w, s);
    check_workers(w, s->turn.engine);
    check_queues(w, s->turn.engine);
    check_limits(w, s->turn.engine);
    w->model.scope = NULL;
}

void promise_calendars(struct world *w, struct sim_server *s, int64_t boot_ms)
{
    const struct engine *e = s->turn.engine;
    for (size_t i = 0; i < w->model.calendars.len; i++) {
        const struct model_calendar *kept = &w->model.calendars.items[i];
        PROMISE(w, boot_ms <= kept->changed_ms + w->scene.node_lease_ms || knows_calendar(e, kept),
                "%s decides by a calendar '%.*s' that was changed %" PRId64 " ms ago", s->name,
                STR_ARG(kept->name), boot_ms - kept->changed_ms);
    }
    s->calendar_changes = e->calendars.changes;
}

void promise_near(struct world *w, const struct sim_server *s)
{
    const struct engine *e = s->turn.engine;
    if (e->clock.v.shifting) /* a page at a time */
        return;
    int64_t far_ms = world_now(w).wall_ms + 2 * w->scene.engine.horizon_ms;
    for (uint32_t i = 0; i < e->dues.len; i++) {
        enum exec_state state = CONTAINER_OF(e->dues.items[i].node, struct exec, due)->v.state;
        PROMISE(w,
                (int64_t)e->dues.items[i].key <= far_ms || state == EXEC_RETRYING ||
                    exec_is_held(CONTAINER_OF(e->dues.items[i].node, struct exec, due)) ||
                    state == EXEC_RUNNING, /* it is for its SLA */
                "%s is due %" PRIu64 " ms ahead, and in memory",
                exec_label(w, e->dues.items[i].tie), e->dues.items[i].key - (uint64_t)far_ms);
    }
}

void promise_parked(struct world *w, const struct sim_server *s)
{
    LIST_EACH(&s->inside, node)
    {
        struct call *call = CONTAINER_OF(node, struct call, at);
        const struct worker *k = call->cmd.kind == CMD_POLL
                                     ? map_get(&s->turn.engine->workers, call->cmd.poll.worker_id)
                                     : NULL;
        PROMISE(w, k != NULL && k->v.parked == &call->cmd,
                "a command of kind %d is neither answered nor parked", (int)call->cmd.kind);
        PROMISE(w, call->wake_ms == 0 || k->v.wake_ms <= call->wake_ms,
                "poll %" PRIu64 " is looked at in vain, and waits anew", call->cmd.poll.seq);
        call->wake_ms = k->v.wake_ms;
    }
}

void promise_undone(struct world *w, const struct sim_server *s, struct str before)
{
    enum { DUMP_BYTES_MAX = 1 << 22 };
    CLEANUP(buf_free) struct buf after = BUF(DUMP_BYTES_MAX);
    if (before.len == 0)
        return; /* nobody knew that it would fail */
    engine_dump(s->turn.engine, &after);
    struct str left = before;
    struct str right = buf_str(&after);
    while (left.len > 0 || right.len > 0) {
        struct str was = str_cut(&left, '\n');
        struct str is = str_cut(&right, '\n');
        PROMISE(w, str_eq(was, is), "undo left a trace: what was '%.*s' is '%.*s'", STR_ARG(was),
                STR_ARG(is));
    }
}
