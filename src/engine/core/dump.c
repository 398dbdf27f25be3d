/* dump.c - everything the engine holds, as text.
 *
 * One line per thing, sorted by id: its values, then its places as they really are in heaps and
 * lists, so that a place which does not follow from the values is seen. Values that only grow (the
 * time, ids, numbers of polls and grants) are left out: undo does not take them back. */
#include "base/mem.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/depend/depends.h"
#include "engine/ready/breakers.h"
#include "engine/ready/cordon.h"
#include "engine/ready/limit.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/ready.h"
#include "engine/ready/silence.h"
#include "engine/ready/workers.h"
#include "engine/time/calendars.h"
#include "engine/trace/traces.h"

#include <inttypes.h>
#include <stdlib.h>

static int by_key(const void *a, const void *b)
{
    const struct map_slot *left = a;
    const struct map_slot *right = b;
    return left->key < right->key ? -1 : left->key > right->key;
}

/* Owned by the caller. */
static struct map_slot *sorted(const struct map *m)
{
    struct map_slot *slots = mem_new(m->len * sizeof *slots);
    size_t len = 0;
    MAP_EACH(m, slot) slots[len++] = *slot;
    if (len > 0)
        qsort(slots, len, sizeof *slots, by_key);
    return slots;
}

static int by_name(const void *a, const void *b)
{
    const struct strmap_slot *left = a;
    const struct strmap_slot *right = b;
    return str_cmp(left->key, right->key);
}

static struct strmap_slot *sorted_names(const struct strmap *m)
{
    struct strmap_slot *slots = mem_new(m->len * sizeof *slots);
    size_t len = 0;
    for (size_t i = 0; i < m->cap; i++) {
        if (m->slots[i].value != NULL)
            slots[len++] = m->slots[i];
    }
    if (len > 0)
        qsort(slots, len, sizeof *slots, by_name);
    return slots;
}

static void dump_key(struct buf *out, const char *what, const struct heap *h,
                     const struct heap_node *node)
{
    if (heap_holds(node)) {
        const struct heap_item *item = &h->items[node->place - 1];
        buf_printf(out, " %s=%" PRIu64 "%s", what, item->key,
                   item->node == node ? "" : " (another's)");
    }
}

static void dump_edge(struct buf *out, const struct edge *edge)
{
    buf_printf(out, " %" PRIu64 ":%" PRIu64 ",%d,%d,%d,%d,%" PRIu64 ",%" PRId64 "%s%s",
               edge_exec_id(edge), edge->upstream, (int)edge->type, (int)edge->v.state,
               edge->v.asking, edge->v.unsure, edge->v.target, edge->v.slot_ms,
               heap_holds(&edge->place) ? ",placed" : "", edge->touched == NULL ? "" : ",touched");
}

static void dump_edges(struct buf *out, const struct job *job)
{
    LIST_EACH(&job->edges, node)
    {
        const struct edge *edge = CONTAINER_OF(node, struct edge, sibling);
        dump_edge(out, edge);
    }
    buf_add_char(out, '\n');
}

static void dump_standing(struct buf *out, uint64_t job_id, const struct rulebook *st)
{
    buf_printf(out, "standing %" PRIu64, job_id);
    LIST_EACH(&st->rules, node) dump_edge(out, CONTAINER_OF(node, struct edge, sibling));
    buf_add_char(out, '\n');
}

static void dump_job(struct buf *out, const struct job *job)
{
    const struct definition *def = job->v.def;
    buf_printf(out,
               "job %" PRIu64 " name=%.*s version=%" PRIu32 " lane=%.*s/%.*s priority=%" PRId32
               " retries=%" PRIu32 " created=%" PRId64 " text=%" PRIu32 "+%" PRIu32
               " state=%.*s last=%" PRIu64 " finished=%" PRId64 " execs=%" PRIu32 "%s",
               job->id, STR_ARG(job_name(job)), def->rules.version,
               STR_ARG(def->rules.track->lane->queue), STR_ARG(def->rules.track->lane->handler),
               def->rules.priority, def->rules.retry.max_retries, job->created_ms,
               def->rules.spec_len, def->rules.payload_len, STR_ARG(job_state_name(job->v.state)),
               job->v.last_exec, job->v.finished_ms, job->exec_count,
               job->touched == NULL ? "" : " touched");
    dump_edges(out, job);
}

static void dump_exec(const struct engine *e, struct buf *out, const struct exec *x)
{
    const struct exec_values *v = &x->v;
    buf_printf(
        out,
        "exec %" PRIu64 " job=%" PRIu64 " retry_of=%" PRIu64 " slot=%" PRId64 " created=%" PRId64
        " state=%d attempts=%" PRIu32 " lost=%d returned=%d unseen=%d,%d done=%d told=%d"
        " spared=%d late=%d due=%" PRId64 " since=%" PRId64 " started=%" PRId64 " finished=%" PRId64
        " granted=%" PRIu64 " waits=%" PRIu16 " origin=%d nominal=%" PRId64 " slots=%" PRIu64
        ",%" PRId64,
        x->id, x->job->id, x->retry_of, x->v.slot_ms, x->created_ms, (int)v->state, v->attempts,
        v->lost, v->returned, v->unseen, v->proven, v->effect_done, v->stop_told, v->spared,
        v->late, v->due_ms, v->ready_ms, v->started_ms, v->finished_ms, v->granted, x->waits_for,
        (int)x->origin, x->v.nominal_ms, v->slot_count, v->slot_last_ms);
    buf_printf(out,
               " lease=%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%d,%d,%d,%d until=%" PRId64
               " sla=%" PRId64 "+%" PRId64 ",%d pace=%d,%" PRId64 " own=%d named=%" PRId64 " at:",
               v->lease.worker_id, v->lease.token, v->lease.ends_ms, v->lease.held,
               v->lease.confirmed, v->lease.inherited, v->lease.unsure, v->times_out_ms,
               v->sla_since_ms, v->sla_extra_ms, (int)v->sla_marks, (int)v->pace, v->usual_ms,
               x->own_payload, v->named_ms);
    bool waits = exec_is_waiting(v->state) && x->job->v.state != JOB_PAUSED;
    bool timed = waits || exec_is_leased(v->state);
    dump_key(out, timed ? "due" : "deadline", timed ? &e->dues : &e->deadlines, &x->due);
    dump_key(out, "term", &e->terms, &x->term.node);
    if (x->traced)
        buf_printf(out, " trace '%.*s'", STR_ARG(trace_context(e, x)));
    if (v->recharged)
        buf_printf(out, " charged '%.*s'", STR_ARG(*charge_of(e, x)));
    if ((v->wants | v->has) != 0)
        buf_printf(out, " permits %d,%d until %" PRId64, v->wants, v->has, v->give_back_ms);
    const struct track *all = x->job->v.def->rules.track;
    if (exec_is_suspect(x) && all->shadow != NULL)
        all = all->shadow;
    const struct track *track = exec_has_permits(x) && all->twin != NULL ? all->twin : all;
    if (exec_is_held(x))
        dump_key(out, "held", &e->calendars.held, &x->ready);
    else if (exec_is_leased(v->state))
        dump_key(out, "pacing", &e->pacing, &x->ready);
    else
        dump_key(out, "ready", &track->heap, &x->ready);
    const struct unique_rule *unique = x->job->v.def->rules.unique;
    if (unique != NULL && strmap_get(&e->uniques, unique->key) == x)
        buf_printf(out, " unique=%.*s", STR_ARG(unique->key));
    buf_printf(out, "%s%s\n", list_linked(&x->on_worker) ? " worker" : "",
               x->touched == NULL ? "" : " touched");
}

static void dump_trade_name(struct buf *out, const struct worker_class *worker_class)
{
    struct str queues = worker_class->queues;
    struct str handlers = worker_class->handlers;
    buf_printf(out, "commands=%d queues=", worker_class->runs_commands);
    while (queues.len > 0)
        buf_printf(out, "%.*s,", STR_ARG(str_cut(&queues, '\n')));
    buf_add(out, STR(" handlers="));
    while (handlers.len > 0)
        buf_printf(out, "%.*s,", STR_ARG(str_cut(&handlers, '\n')));
}

static void dump_trade(struct buf *out, const struct worker_class *worker_class)
{
    buf_add(out, STR("worker_class "));
    dump_trade_name(out, worker_class);
    buf_printf(out, " members=%zu%s waiting:", worker_class->members,
               list_linked(&worker_class->idle) ? " idle" : "");
    LIST_EACH(&worker_class->waiting, node)
    buf_printf(out, " %" PRIu64, CONTAINER_OF(node, struct worker, waiting)->id);
    buf_add_char(out, '\n');
}

static void dump_worker(const struct engine *e, struct buf *out, const struct worker *w)
{
    const struct worker_values *v = &w->v;
    buf_printf(out, "worker %" PRIu64 " name=%.*s slots=%" PRIu32 " worker_class ", w->id,
               (int)w->name_len, w->name, w->slots);
    dump_trade_name(out, w->worker_class);
    buf_printf(out,
               " seq=%" PRIu64 ",%" PRIu64 " replaces=%" PRIu64 " boot=%.*s seen=%" PRId64
               " wake=%" PRId64 " poll=%" PRIu64 ",%" PRIu64 " offered=%" PRIu32
               " draining=%d cordoned=%" PRId64 ",%d gone=%d at:",
               v->seq, v->told_seq, w->replaces, STR_ARG(worker_boot_id(w)), v->seen_ms, v->wake_ms,
               v->parked == NULL ? 0 : v->parked->poll.seq, v->parked_no, v->offered, v->draining,
               v->cordon == NULL ? 0 : v->cordon->since_ms, v->followed, v->gone);
    dump_key(out, "term", &e->terms, &w->term.node);
    buf_printf(out, "%s%s%s leases %" PRIu32 ":", list_linked(&w->waiting) ? " waiting" : "",
               w->turn.cmd == NULL ? "" : " open", w->touched == NULL ? "" : " touched", w->busy);
    LIST_EACH(&w->leases, node)
    buf_printf(out, " %" PRIu64, CONTAINER_OF(node, struct exec, on_worker)->id);
    buf_add_char(out, '\n');
}

static void dump_lane(struct buf *out, const struct lane *lane)
{
    static const char *const gates[] = {"", " full", " paused"};
    buf_printf(out, "lane %.*s/%.*s ready=%" PRIu32 "+%" PRIu32 "%s%s%s\n", STR_ARG(lane->queue),
               STR_ARG(lane->handler), lane->heap.len, lane->twins.len, gates[lane->gate],
               heap_holds(&lane->order) ? " ordered" : "", lane->suspects ? " suspects" : "");
}

static void dump_track(struct buf *out, const struct track *track)
{
    buf_printf(out, "track %.*s/%.*s", STR_ARG(track->lane->queue), STR_ARG(track->lane->handler));
    for (size_t i = 0; i < BARS; i++) {
        const struct bar *bar = &track->bars[i];
        if (bar->limit != NULL)
            buf_printf(out, "/%.*s %" PRIu32 " %" PRId64, STR_ARG(bar->limit->key), bar->max,
                       bar->interval_us);
    }
    buf_printf(out, " members=%zu ready=%" PRIu32 "%s%s\n", track->members, track->heap.len,
               track_is_open(track) ? "" : " closed", heap_holds(&track->order) ? " ordered" : "");
}

static void dump_limit(const struct engine *e, struct buf *out, const struct limit *limit)
{
    const struct limit_values *v = &limit->v;
    buf_printf(out,
               "limit %d %.*s members=%zu held=%" PRIu32 ",%" PRIu32 " next=%" PRId64 "+%" PRId64
               " wake=%" PRId64 "%s%s%s%s at:",
               (int)limit->kind, STR_ARG(limit->key), limit->members, limit->held, limit->lent,
               v->next_us, v->interval_us, v->wake_ms, v->shut ? " shut" : "",
               v->stored ? " stored" : "", v->gone ? " gone" : "",
               limit->touched == NULL ? "" : " touched");
    if (limit->kind == LIMIT_TEAM)
        buf_printf(out, " max=%" PRIu32 " changed=%" PRId64 " by %.*s", v->max, v->changed_ms,
                   STR_ARG(v->changed_by));
    dump_key(out, "wake", &e->ready.limits.wakes, &limit->wake);
    buf_add_char(out, '\n');
}

static void dump_breaker(const struct engine *e, struct buf *out, const struct breaker *b)
{
    const struct breaker_values *v = &b->v;
    buf_printf(out,
               "breaker %.*s %.*s members=%zu since=%" PRId64 " calls=%" PRIu32 "+%" PRIu32
               " failures=%" PRIu32 "+%" PRIu32 " opened=%" PRId64 " until=%" PRId64
               " wake=%" PRId64 " probe=%" PRIu64 "%s%s%s%s at:",
               STR_ARG(b->target), STR_ARG(breaker_state_name(v->state)), b->members,
               v->window.since_ms, v->window.calls_before, v->window.calls,
               v->window.failures_before, v->window.failures, v->opened_ms, v->until_ms, v->wake_ms,
               v->probe, v->gone ? " gone" : "", v->unsure ? " unsure" : "",
               v->newer ? " newer" : "", b->touched == NULL ? "" : " touched");
    dump_key(out, "wake", &e->ready.breakers.wakes, &b->wake);
    buf_add_char(out, '\n');
}

static void dump_numbers(struct buf *out, struct str queue, const char *what,
                         const int64_t *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        if (numbers[i] != 0)
            buf_printf(out, "queue %.*s %s %d: %" PRId64 "\n", STR_ARG(queue), what, i, numbers[i]);
    }
}

static void dump_queue(struct buf *out, const struct queue *q)
{
    buf_printf(out, "queue %.*s users=%" PRIu32 "%s%s%s\n", STR_ARG(q->name), q->users,
               q->known ? "" : " new", q->v.gone ? " gone" : "",
               q->touched == NULL ? "" : " touched");
    if (q->v.changed_ms != 0 || q->held > 0)
        buf_printf(out,
                   "queue %.*s held=%" PRIu32 " of %" PRIu32 "%s %" PRId64 " %.*s changed=%" PRId64
                   " %.*s\n",
                   STR_ARG(q->name), q->held, q->v.concurrency, q->v.paused ? " paused" : "",
                   q->v.paused_ms, STR_ARG(q->v.paused_by), q->v.changed_ms,
                   STR_ARG(q->v.changed_by));
    dump_numbers(out, q->name, "jobs", q->now.jobs, JOB_STATES);
    dump_numbers(out, q->name, "execs", q->now.execs, EXEC_STATES);
    dump_numbers(out, q->name, "letters", q->now.letters, EXEC_STATES);
    if (q->changes != NULL)
        buf_printf(out, "queue %.*s changes\n", STR_ARG(q->name));
}

static void dump_operations(const struct engine *e, struct buf *out)
{
    LIST_EACH(&e->operations.list, node)
    {
        const struct operation *op = CONTAINER_OF(node, struct operation, node);
        buf_printf(out,
                   "operation %" PRIu64 ".%" PRIu32 " %d by %.*s state=%d done=%" PRIu64
                   " refused=%" PRIu64 " at=%" PRId64 ",%" PRIu64 " wake=%" PRId64 " %.*s %zu%s\n",
                   op->rec.id, op->rec.partition, (int)op->rec.kind, STR_ARG(op->rec.by),
                   (int)op->v.state, op->v.done, op->v.refused, op->v.at.died_ms, op->v.at.exec_id,
                   op->v.wake_ms, (int)op->v.refusal_len, op->v.refusal, op->v.refusals_len,
                   op->touched == NULL ? "" : " touched");
    }
}

static void dump_home(struct buf *out, const struct home *home)
{
    struct map_slot *permits = sorted(&home->permits);
    buf_printf(out, "home %.*s asks=%" PRIu32 ":", STR_ARG(home->key), home->asks.len);
    for (size_t i = 0; i < home->permits.len; i++) {
        const struct permit *p = permits[i].value;
        buf_printf(out, " %" PRIu64 ",%d,%d,%" PRId64 ",%" PRId64 ",%" PRIu64 "%s%s", p->exec_id,
                   p->v.granted, p->v.gone, p->v.max, p->v.rank, p->v.ask,
                   heap_holds(&p->place) ? ",placed" : "", p->touched == NULL ? "" : ",touched");
    }
    buf_add_char(out, '\n');
    free(permits);
}

static void dump_calendar(struct buf *out, const struct named_calendar *calendar)
{
    buf_printf(out, "calendar %.*s users=%" PRIu32 " version=%" PRIu32 "%s\n",
               STR_ARG(calendar->name), calendar->users,
               calendar->v.book == NULL ? 0 : calendar->v.book->version,
               calendar->touched == NULL ? "" : " touched");
}

static void dump_maps(const struct engine *e, struct buf *out)
{
    struct map_slot *jobs = sorted(&e->jobs);
    struct map_slot *execs = sorted(&e->execs);
    struct map_slot *workers = sorted(&e->workers);
    for (size_t i = 0; i < e->jobs.len; i++)
        dump_job(out, jobs[i].value);
    for (size_t i = 0; i < e->execs.len; i++)
        dump_exec(e, out, execs[i].value);
    for (size_t i = 0; i < e->workers.len; i++)
        dump_worker(e, out, workers[i].value);
    struct map_slot *standing = sorted(&e->depends.rulebooks);
    for (size_t i = 0; i < e->depends.rulebooks.len; i++)
        dump_standing(out, standing[i].key, standing[i].value);
    struct strmap_slot *waiters = sorted_names(&e->depends.waiters);
    for (size_t i = 0; i < e->depends.waiters.len; i++) {
        buf_add(out, STR("waiter"));
        dump_edge(out, waiters[i].value);
        buf_add_char(out, '\n');
    }
    free(waiters);
    free(standing);
    free(jobs);
    free(execs);
    free(workers);
}

void engine_dump(const struct engine *e, struct buf *out)
{
    struct strmap_slot *lanes = sorted_names(&e->ready.lanes);
    struct strmap_slot *shadows = sorted_names(&e->ready.shadows);
    struct strmap_slot *tracks = sorted_names(&e->ready.tracks);
    struct strmap_slot *limits = sorted_names(&e->ready.limits.by_key);
    struct strmap_slot *breakers = sorted_names(&e->ready.breakers.by_target);
    struct strmap_slot *worker_classes = sorted_names(&e->worker_classes.by_key);
    struct strmap_slot *queues = sorted_names(&e->queues.by_name);
    struct strmap_slot *calendars = sorted_names(&e->calendars.by_name);
    buf_printf(out,
               "turn %" PRIu64 " horizon %" PRId64 ",%" PRIu64 " dues %" PRIu32 " terms %" PRIu32
               " deadlines %" PRIu32
               " ready %zu upstreams %zu edges %zu standing %zu asking %" PRIu32 " held %" PRIu32
               " calendars %zu,%" PRIu32 "\n",
               e->newest.turn, e->horizon.due_ms, e->horizon.id, e->dues.len, e->terms.len,
               e->deadlines.len, e->ready.len, e->depends.upstreams.len, e->depends.edge_count,
               e->depends.rulebooks.len, e->depends.asking.len, e->calendars.held.len,
               e->calendars.book_count, e->calendars.changes);
    buf_printf(out, "retain wake=%" PRId64 " after=%" PRIu64 ",%" PRIu64 "\n", e->retain.wake_ms,
               e->retain.after_id, e->retain.after_alert);
    buf_printf(out, "silences %zu, the first ends at %" PRId64 "\n", e->silences.by_id.len,
               e->silences.end_next_ms);
    dump_maps(e, out);
    dump_operations(e, out);
    for (size_t i = 0; i < e->ready.lanes.len; i++)
        dump_lane(out, lanes[i].value);
    for (size_t i = 0; i < e->ready.shadows.len; i++)
        dump_lane(out, shadows[i].value);
    for (size_t i = 0; i < e->ready.tracks.len; i++)
        dump_track(out, tracks[i].value);
    for (size_t i = 0; i < e->ready.limits.by_key.len; i++)
        dump_limit(e, out, limits[i].value);
    for (size_t i = 0; i < e->ready.breakers.by_target.len; i++)
        dump_breaker(e, out, breakers[i].value);
    for (size_t i = 0; i < e->worker_classes.by_key.len; i++)
        dump_trade(out, worker_classes[i].value);
    for (size_t i = 0; i < e->queues.by_name.len; i++)
        dump_queue(out, queues[i].value);
    dump_queue(out, &e->queues.forgotten);
    for (size_t i = 0; i < e->calendars.by_name.len; i++)
        dump_calendar(out, calendars[i].value);
    struct strmap_slot *homes = sorted_names(&e->homes);
    for (size_t i = 0; i < e->homes.len; i++)
        dump_home(out, homes[i].value);
    free(homes);
    free(lanes);
    free(shadows);
    free(tracks);
    free(limits);
    free(breakers);
    free(worker_classes);
    free(queues);
    free(calendars);
}
