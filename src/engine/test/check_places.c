/* Places follow from values, and nobody waits in vain. */
#include "engine/core/exec.h"
#include "engine/ready/breaker.h"
#include "engine/ready/limit.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/ready.h"
#include "engine/ready/silence.h"
#include "engine/test/check.h"
#include "engine/time/calendars.h"
#include "engine/time/deadlines.h"
#include "engine/time/expect.h"
#include "engine/time/slow_runs.h"

static bool test_serves(const struct worker *w, const struct lane *lane)
{
    struct buf text = BUF(1 << 16);
    struct buf line = BUF(1 << 10);
    bool yes;
    buf_printf(&text, "\n%.*s", STR_ARG(w->worker_class->queues));
    buf_printf(&line, "\n%.*s\n", STR_ARG(lane->queue));
    buf_add_char(&text, '\0');
    buf_add_char(&line, '\0');
    yes = w->worker_class->queues.len == 0 || strstr(text.ptr, line.ptr) != NULL;
    buf_clear(&text);
    buf_clear(&line);
    buf_printf(&text, "\n%.*s", STR_ARG(w->worker_class->handlers));
    buf_printf(&line, "\n%.*s\n", STR_ARG(lane->handler));
    buf_add_char(&text, '\0');
    buf_add_char(&line, '\0');
    yes = yes && (lane->handler.len == 0 ? w->worker_class->runs_commands
                                         : strstr(text.ptr, line.ptr) != NULL);
    buf_free(&text);
    buf_free(&line);
    return yes;
}

/* No worker waits for work that waits for a worker. */
static void check_nobody_waits_in_vain(const struct engine *e)
{
    MAP_EACH(&e->workers, slot)
    {
        const struct worker *w = slot->value;
        bool waits = w->v.parked != NULL && w->v.offered > 0 && !w->v.draining;
        assert_true(list_linked(&w->waiting) == waits);
        assert_true(!waits || list_linked(&w->worker_class->idle));
        for (uint32_t i = 0; waits && i < e->ready.order.len; i++) {
            const struct lane *lane =
                CONTAINER_OF(e->ready.order.items[i].node, struct lane, order);
            assert_false(test_serves(w, lane) && !(lane->suspects && worker_on_probation(w)));
        }
    }
}

/* The first limit of what runs that nobody was told of stands among the dues. */
static void check_sla(const struct engine *e, const struct exec *x)
{
    const struct sla *sla = &x->job->v.def->rules.sla;
    const struct exec_values *v = &x->v;
    bool runs = v->sla_since_ms > 0;
    bool warns = runs && sla->expected_ms > 0 && !(v->sla_marks & SLA_WARNED);
    bool ends = runs && sla->max_ms > 0 && !(v->sla_marks & SLA_VIOLATED);
    int64_t sla_ms =
        v->state != EXEC_RUNNING || !(warns || ends)
            ? INT64_MAX
            : v->sla_since_ms + v->sla_extra_ms + (warns ? sla->expected_ms : sla->max_ms);
    int64_t pace_ms = pace_next_ms(e, x) > 0 ? pace_next_ms(e, x) : INT64_MAX;
    int64_t next_ms = sla_ms < pace_ms ? sla_ms : pace_ms;
    assert_true(heap_holds(&x->due) == (next_ms != INT64_MAX));
    if (heap_holds(&x->due))
        assert_int_equal(e->dues.items[x->due.place - 1].key, next_ms);
    assert_true(heap_holds(&x->ready) == (v->pace == PACE_ASKING && slow_runs_watches(e, x)));
}

static void check_exec(const struct engine *e, const struct exec *x)
{
    bool leased = exec_is_leased(x->v.state);
    assert_null(x->touched);
    assert_false(exec_is_final(x->v.state));
    assert_true(leased == x->v.lease.held);
    bool paused = x->job->v.state == JOB_PAUSED;
    bool waits = exec_is_waiting(x->v.state) && !paused && !expect_is_missed(x);
    if (!leased) /* else it is for its SLA: check_sla */
        assert_true(heap_holds(&x->due) == (waits || deadline_ms(x) != NO_DEADLINE_MS));
    bool permits = exec_has_permits(x);
    bool ready = x->v.state == EXEC_QUEUED && x->v.wants == 0;
    assert_true((x->v.wants | x->v.has) == 0 || permits || leased);
    assert_true((x->v.wants & x->v.has) == 0 && (!leased || x->v.wants == 0));
    assert_true(heap_holds(&x->term.node) == (leased || permits));
    if (!leased) /* else it is for its pace: check_sla */
        assert_true(heap_holds(&x->ready) == ((ready || exec_is_held(x)) && !paused));
    assert_true(list_linked(&x->sibling));
    assert_true(list_linked(&x->on_worker) == leased);
    if (waits)
        assert_int_equal(e->dues.items[x->due.place - 1].key, x->v.due_ms);
    else if (heap_holds(&x->due) && !leased)
        assert_int_equal(e->deadlines.items[x->due.place - 1].key, deadline_ms(x));
    if (leased) {
        check_sla(e, x);
        assert_int_equal(e->terms.items[x->term.node.place - 1].key, x->v.lease.ends_ms);
    }
}

static enum gate gate_of(const struct queue *q)
{
    bool full = q->v.concurrency > 0 && q->held >= q->v.concurrency;
    return q->v.paused ? GATE_PAUSED : full ? GATE_FULL : GATE_OPEN;
}

/* The best that its gate lets out. */
static const struct heap_item *best_in(const struct lane *lane)
{
    const struct heap_item *twin = lane->gate == GATE_PAUSED ? NULL : heap_min(&lane->twins);
    const struct heap_item *other = lane->gate == GATE_OPEN ? heap_min(&lane->heap) : NULL;
    if (twin == NULL || other == NULL)
        return twin == NULL ? other : twin;
    bool first = twin->key != other->key ? twin->key < other->key : twin->tie < other->tie;
    return first ? twin : other;
}

/* Lanes stand in order by the best in each. */
static void check_lanes(const struct engine *e, const struct strmap *lanes)
{
    for (size_t i = 0; i < lanes->cap; i++) {
        const struct lane *lane = lanes->slots[i].value;
        if (lane == NULL)
            continue;
        const struct queue *q = strmap_get(&e->queues.by_name, lane->queue);
        const struct heap_item *best = best_in(lane);
        assert_int_equal(lane->gate, gate_of(q));
        assert_true(heap_holds(&lane->order) == (best != NULL));
        if (best != NULL) {
            const struct heap_item *item = &e->ready.order.items[lane->order.place - 1];
            assert_int_equal(item->key, best->key);
            assert_int_equal(item->tie, best->tie);
        }
    }
}

/* Tracks stand in their lane by the best in each, unless a limit or a breaker holds them back. */
static void check_tracks(const struct engine *e)
{
    for (size_t i = 0; i < e->ready.tracks.cap; i++) {
        const struct track *track = e->ready.tracks.slots[i].value;
        if (track == NULL)
            continue;
        const struct limit *many = track->bars[BAR_CONCURRENCY].limit;
        const struct limit *often = track->bars[BAR_RATE].limit;
        const struct limit *team = track->bars[BAR_TEAM].limit;
        bool held_back = (many != NULL && many->held >= track->bars[BAR_CONCURRENCY].max) ||
                         (often != NULL && !bar_is_open(&track->bars[BAR_RATE])) ||
                         (team != NULL && team->v.max > 0 && team->held >= team->v.max) ||
                         (track->breaker != NULL && !breaker_lets_start(track->breaker));
        assert_true(heap_holds(&track->order) == (track->heap.len > 0 && !held_back));
        if (heap_holds(&track->order)) {
            const struct heap *heap =
                track->main == NULL ? &track->lane->heap : &track->lane->twins;
            const struct heap_item *item = &heap->items[track->order.place - 1];
            assert_int_equal(item->key, heap_min(&track->heap)->key);
            assert_int_equal(item->tie, heap_min(&track->heap)->tie);
        }
    }
}

static size_t granted_by(const struct home *home)
{
    size_t count = 0;
    MAP_EACH(&home->permits, slot)
    {
        const struct permit *p = slot->value;
        assert_true(p->touched == NULL && !p->v.gone && heap_holds(&p->place) == !p->v.granted);
        count += p->v.granted;
    }
    return count;
}

static size_t users_of(const struct engine *e, const struct queue *q)
{
    struct map seen = {0};
    MAP_EACH(&e->jobs, slot)
    {
        struct definition *def = ((struct job *)slot->value)->v.def;
        if (def->rules.queue == q)
            map_put(&seen, (uintptr_t)def, def);
    }
    size_t users = seen.len + (strmap_get(&e->homes, q->home_key) != NULL);
    map_free(&seen);
    return users;
}

/* Nothing of it is unfinished, and nobody decided anything about it. */
static bool is_idle(const struct queue *q)
{
    bool idle = !q->v.paused && q->v.concurrency == 0;
    for (int i = 0; i < EXEC_STATES; i++)
        idle &=
            q->now.letters[i] == 0 && (exec_is_final((enum exec_state)i) || q->now.execs[i] == 0);
    return idle;
}

static void check_queues(const struct engine *e)
{
    for (size_t i = 0; i < e->queues.by_name.cap; i++) {
        const struct queue *q = e->queues.by_name.slots[i].value;
        size_t held = 0;
        size_t lent = 0;
        if (q == NULL)
            continue;
        MAP_EACH(&e->execs, slot)
        {
            const struct exec *x = slot->value;
            held += exec_is_leased(x->v.state) && x->job->v.def->rules.queue == q;
            lent += exec_has_permits(x) && x->job->v.def->rules.queue == q;
        }
        const struct home *home = strmap_get(&e->homes, q->home_key);
        lent += home == NULL ? 0 : granted_by(home);
        assert_int_equal(q->held, held + lent);
        assert_int_equal(q->lent, lent);
        assert_true(q->touched == NULL && (q->known || q->users > 0) && !q->v.gone);
        assert_int_equal(q->users, users_of(e, q));
        assert_true(list_linked(&q->idle) == (q->known && is_idle(q)));
    }
    assert_int_equal(e->queues.gone_count, 0);
}

/* Permits are what is leased, and no more. */
static void check_permits(const struct engine *e)
{
    for (size_t i = 0; i < e->ready.limits.by_key.cap; i++) {
        const struct limit *limit = e->ready.limits.by_key.slots[i].value;
        size_t held = 0;
        size_t lent = 0;
        size_t members = 0;
        if (limit == NULL)
            continue;
        MAP_EACH(&e->execs, slot)
        {
            const struct exec *x = slot->value;
            const struct bar *bars = x->job->v.def->rules.track->bars;
            bool of = bars[BAR_CONCURRENCY].limit == limit || bars[BAR_TEAM].limit == limit;
            held += exec_is_leased(x->v.state) && of;
            lent += exec_has_permits(x) && (of || (bars[BAR_RATE].limit == limit && limit->remote));
        }
        LIST_EACH(&limit->bars, node) members++;
        const struct home *home = strmap_get(&e->homes, limit_home_key(limit));
        members += home != NULL;
        lent += home == NULL ? 0 : granted_by(home);
        assert_int_equal(limit->held, held + lent);
        assert_int_equal(limit->lent, lent);
        assert_int_equal(limit->members, members);
        assert_true(limit->touched == NULL && !limit->v.gone);
        assert_true(heap_holds(&limit->wake) ==
                    (limit->v.shut || (limit->v.stored && members == 0)));
    }
    check_queues(e);
}

/* Places follow from values, and nothing is left over from the turn. */
static void check_totals(const struct engine *e)
{
    size_t dues = 0;
    size_t terms = e->workers.len;
    size_t ready = 0;
    size_t held = 0;
    size_t busy = 0;
    size_t by_class = 0;
    size_t by_calendar = 0;
    size_t pacing = 0;
    MAP_EACH(&e->execs, slot)
    {
        const struct exec *x = slot->value;
        check_exec(e, x);
        dues += heap_holds(&x->due);
        terms += exec_is_leased(x->v.state) || exec_has_permits(x);
        ready += heap_holds(&x->ready);
        by_calendar += exec_is_held(x) && heap_holds(&x->ready);
        pacing += exec_is_leased(x->v.state) && heap_holds(&x->ready);
        held += list_linked(&x->on_worker) && map_get(&e->workers, x->v.lease.worker_id) != NULL;
    }
    MAP_EACH(&e->workers, slot)
    {
        const struct worker *w = slot->value;
        assert_true(w->touched == NULL && w->turn.cmd == NULL && !w->v.gone);
        busy += w->busy;
        by_class += w->busy;
    }
    MAP_EACH(&e->jobs, slot)
    {
        const struct job *job = slot->value;
        assert_true(job->touched == NULL && job->exec_count > 0);
    }
    assert_int_equal(e->dues.len + e->deadlines.len, dues);
    assert_int_equal(e->terms.len, terms);
    assert_int_equal(e->ready.len, ready - by_calendar - pacing);
    assert_int_equal(e->pacing.len, pacing);
    assert_int_equal(e->calendars.held.len, by_calendar);
    assert_int_equal(busy, held);
    for (size_t i = 0; i < e->worker_classes.by_key.cap; i++) {
        const struct worker_class *class = e->worker_classes.by_key.slots[i].value;
        by_class -= class == NULL ? 0 : class->busy;
    }
    assert_int_equal(by_class, 0);
    assert_true(list_empty(&e->turn.open) && list_empty(&e->turn.done) &&
                list_empty(&e->turn.changed_queues));
    assert_true(list_empty(&e->ready.fresh));
}

void check_places(const struct engine *e)
{
    check_totals(e);
    check_lanes(e, &e->ready.lanes);
    check_lanes(e, &e->ready.shadows);
    check_tracks(e);
    check_permits(e);
    check_nobody_waits_in_vain(e);
}
