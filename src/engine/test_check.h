/* test_check.h - what must hold between any two turns, for the engine's tests.
 *
 * Places follow from values, nobody waits in vain, and the engine holds exactly what the table
 * (which only knows the deltas) says it should. */
#pragma once
#include "engine/internal.h"
#include "engine/permits.h"
#include "engine/test_table.h"

static inline bool test_serves(const struct worker *w, const struct lane *lane)
{
    struct buf text = BUF(1 << 16);
    struct buf line = BUF(1 << 10);
    bool yes;
    buf_printf(&text, "\n%.*s", STR_ARG(w->trade->queues));
    buf_printf(&line, "\n%.*s\n", STR_ARG(lane->queue));
    buf_add_char(&text, '\0');
    buf_add_char(&line, '\0');
    yes = w->trade->queues.len == 0 || strstr(text.ptr, line.ptr) != NULL;
    buf_clear(&text);
    buf_clear(&line);
    buf_printf(&text, "\n%.*s", STR_ARG(w->trade->handlers));
    buf_printf(&line, "\n%.*s\n", STR_ARG(lane->handler));
    buf_add_char(&text, '\0');
    buf_add_char(&line, '\0');
    yes = yes &&
          (lane->handler.len == 0 ? w->trade->runs_commands : strstr(text.ptr, line.ptr) != NULL);
    buf_free(&text);
    buf_free(&line);
    return yes;
}

/* No worker waits for work that waits for a worker. */
static inline void check_nobody_waits_in_vain(const struct engine *e)
{
    MAP_EACH(&e->workers, slot)
    {
        const struct worker *w = slot->value;
        bool waits = w->v.parked != NULL && w->v.offered > 0 && !w->v.draining;
        assert_true(list_linked(&w->waiting) == waits);
        assert_true(!waits || list_linked(&w->trade->idle));
        for (uint32_t i = 0; waits && i < e->ready.order.len; i++) {
            struct heap_node *order = e->ready.order.items[i].node;
            assert_false(test_serves(w, CONTAINER_OF(order, struct lane, order)));
        }
    }
}

/* The first limit of what runs that nobody was told of stands among the dues. */
static inline void check_sla(const struct engine *e, const struct exec *x)
{
    const struct sla *sla = &x->job->v.def->sla;
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
    assert_true(heap_holds(&x->ready) == (v->pace == PACE_ASKING && pace_watches(e, x)));
}

static inline void check_exec(const struct engine *e, const struct exec *x)
{
    bool leased = exec_is_leased(x->v.state);
    assert_null(x->touched);
    assert_false(exec_is_final(x->v.state));
    assert_true(leased == x->v.lease.held);
    bool paused = x->job->v.state == JOB_PAUSED;
    bool waits = exec_is_waiting(x->v.state) && !paused;
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

/* Lanes stand in order by the best in each. */
static inline void check_lanes(const struct engine *e)
{
    for (size_t i = 0; i < e->ready.lanes.cap; i++) {
        const struct lane *lane = e->ready.lanes.slots[i].value;
        if (lane == NULL)
            continue;
        const struct queue *q = strmap_get(&e->queues, lane->queue);
        assert_true(lane->closed ==
                    (q->v.paused || (q->v.concurrency > 0 && q->held >= q->v.concurrency)));
        assert_true(heap_holds(&lane->order) == (lane->heap.len > 0 && !lane->closed));
        if (heap_holds(&lane->order)) {
            const struct heap_item *item = &e->ready.order.items[lane->order.place - 1];
            assert_int_equal(item->key, heap_min(&lane->heap)->key);
            assert_int_equal(item->tie, heap_min(&lane->heap)->tie);
        }
    }
}

/* Tracks stand in their lane by the best in each, unless a limit or a breaker holds them back. */
static inline void check_tracks(const struct engine *e)
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
            const struct heap_item *item = &track->lane->heap.items[track->order.place - 1];
            assert_int_equal(item->key, heap_min(&track->heap)->key);
            assert_int_equal(item->tie, heap_min(&track->heap)->tie);
        }
    }
}

static inline size_t granted_by(const struct home *home)
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

/* What a home has granted is in the table, and what of our own needs a row there. */
static inline void check_homes(const struct engine *e, const struct table *t)
{
    struct arena arena = {0};
    size_t rows = 0;
    for (size_t i = 0; i < e->homes.cap; i++) {
        const struct home *home = e->homes.slots[i].value;
        if (home == NULL)
            continue;
        assert_true(home->permits.len > 0);
        MAP_EACH(&home->permits, slot)
        {
            const struct permit *p = slot->value;
            const struct permit_rec *rec =
                strmap_get(&t->permits, permit_name(&arena, home->key, p->exec_id));
            assert_true(rec != NULL && rec->granted == p->v.granted && rec->ask == p->v.ask);
            assert_int_equal(rec->bucket, inbox_home(rec->key));
            rows++;
        }
    }
    for (size_t i = 0; i < t->permits.cap; i++) {
        const struct permit_rec *rec = t->permits.slots[i].value;
        if (rec == NULL || !partition_has(&e->owned, rec->exec_id))
            continue;
        const struct exec *x = map_get(&e->execs, rec->exec_id);
        assert_true(x != NULL && x->v.has != 0);
        rows++;
    }
    assert_int_equal(t->permits.len, rows);
    arena_free(&arena);
}

/* Permits are what is leased, and no more. */
static inline void check_permits(const struct engine *e)
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
            const struct bar *bars = x->job->v.def->track->bars;
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
    for (size_t i = 0; i < e->queues.cap; i++) {
        const struct queue *q = e->queues.slots[i].value;
        size_t held = 0;
        size_t lent = 0;
        if (q == NULL)
            continue;
        MAP_EACH(&e->execs, slot)
        {
            const struct exec *x = slot->value;
            held += exec_is_leased(x->v.state) && x->job->v.def->queue == q;
            lent += exec_has_permits(x) && x->job->v.def->queue == q;
        }
        const struct home *home = strmap_get(&e->homes, q->home_key);
        lent += home == NULL ? 0 : granted_by(home);
        assert_int_equal(q->held, held + lent);
        assert_int_equal(q->lent, lent);
        assert_null(q->touched);
    }
}

/* Places follow from values, and nothing is left over from the turn. */
static inline void check_places(const struct engine *e)
{
    size_t dues = 0;
    size_t terms = e->workers.len;
    size_t ready = 0;
    size_t held = 0;
    size_t busy = 0;
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
    assert_int_equal(e->held.len, by_calendar);
    assert_int_equal(busy, held);
    assert_true(list_empty(&e->open) && list_empty(&e->done) && list_empty(&e->changed_queues));
    assert_true(list_empty(&e->ready.fresh));
}

static inline void check_same_exec(const struct exec *x, const struct exec_rec *rec)
{
    assert_int_equal(x->job->id, rec->job_id);
    assert_int_equal(x->v.state, rec->state);
    assert_int_equal(x->job->v.def->priority, rec->priority);
    assert_int_equal(x->retry_of, rec->retry_of);
    assert_int_equal(x->first, rec->first);
    assert_int_equal(x->origin, rec->origin);
    assert_int_equal(x->v.slot_ms, rec->slot_ms);
    assert_int_equal(x->v.nominal_ms, rec->nominal_ms);
    assert_int_equal(x->created_ms, rec->created_ms);
    assert_int_equal(x->v.due_ms, rec->due_ms);
    assert_int_equal(x->v.ready_ms, rec->ready_ms);
    assert_int_equal(x->v.started_ms, rec->started_ms);
    assert_int_equal(x->v.attempts, rec->attempts);
    assert_int_equal(x->v.lost, rec->lost);
    assert_int_equal(x->v.returned, rec->returned);
    assert_int_equal(x->v.late, rec->late);
    assert_int_equal(x->v.sla_since_ms, rec->sla_since_ms);
    assert_int_equal(x->v.sla_extra_ms, rec->sla_extra_ms);
    assert_int_equal(x->v.sla_marks, rec->sla_marks);
    assert_int_equal(x->v.lease.token, rec->token);
    assert_int_equal(lease_holder(&x->v.lease), rec->worker_id);
}

/* What is not closed is in the table, and nothing else; nothing is kept for nobody. */
static inline void check_breakers(const struct engine *e, const struct table *t)
{
    const struct strmap *all = &e->ready.breakers.by_target;
    size_t stored = 0;
    for (size_t i = 0; i < all->cap; i++) {
        const struct breaker *b = all->slots[i].value;
        size_t members = 0;
        if (b == NULL)
            continue;
        LIST_EACH(&b->tracks, node) members++;
        assert_int_equal(b->members, members);
        assert_true(b->touched == NULL && !b->v.gone);
        assert_true(members > 0 || heap_holds(&b->wake));
        if (b->v.state == BREAKER_CLOSED)
            continue;
        const struct breaker_rec *rec = strmap_get(&t->breakers, b->target);
        assert_non_null(rec);
        assert_true(rec->state == b->v.state && rec->probe == b->v.probe);
        stored++;
    }
    assert_int_equal(t->breakers.len, stored);
}

static inline void check_same_teams(const struct engine *e, const struct table *t)
{
    size_t decided = 0;
    for (size_t i = 0; i < e->ready.limits.by_key.cap; i++) {
        const struct limit *limit = e->ready.limits.by_key.slots[i].value;
        if (limit == NULL || limit->kind != LIMIT_TEAM)
            continue;
        const struct team_rec *team = strmap_get(&t->teams, limit->key);
        assert_true((team != NULL) == (limit->v.changed_ms != 0));
        assert_true(team != NULL || (limit->v.max == 0 && limit->members > 0));
        if (team == NULL)
            continue;
        assert_int_equal(limit->v.max, team->concurrency);
        assert_int_equal(limit->v.changed_ms, team->changed_ms);
        assert_true(str_eq(limit->v.changed_by, team->changed_by));
        decided++;
    }
    assert_int_equal(t->teams.len, decided);
}

static inline void check_same_limits(const struct engine *e, const struct table *t)
{
    size_t stored = 0;
    for (size_t i = 0; i < e->ready.limits.by_key.cap; i++) {
        const struct limit *limit = e->ready.limits.by_key.slots[i].value;
        if (limit == NULL || !limit->v.stored)
            continue;
        const struct rate_rec *rate = strmap_get(&t->rates, limit->key);
        assert_non_null(rate);
        assert_int_equal(limit->v.next_us, rate->next_us);
        stored++;
    }
    assert_int_equal(t->rates.len, stored);
    check_same_teams(e, t);
    for (size_t i = 0; i < t->queues.cap; i++) {
        const struct queue_rec *rec = t->queues.slots[i].value;
        if (rec == NULL)
            continue;
        const struct queue *q = strmap_get(&e->queues, rec->name);
        assert_true(q->v.paused == rec->paused && q->v.concurrency == rec->concurrency);
        assert_true(q->v.paused_ms == rec->paused_ms && q->v.changed_ms == rec->changed_ms);
        assert_true(str_eq(q->v.paused_by, rec->paused_by));
        assert_true(str_eq(q->v.changed_by, rec->changed_by));
    }
}

/* Calendars, and which jobs that are not over go by them. */
static inline void check_same_calendars(const struct engine *e, const struct table *t)
{
    size_t books = 0;
    for (size_t i = 0; i < e->calendars.cap; i++) {
        const struct named_calendar *calendar = e->calendars.slots[i].value;
        if (calendar == NULL)
            continue;
        assert_null(calendar->touched);
        assert_true(calendar->users > 0 || calendar->v.book != NULL);
        const struct calendar_rec *rec = strmap_get(&t->calendars, calendar->name);
        books += calendar->v.book != NULL;
        if (calendar->v.book != NULL)
            assert_int_equal(calendar->v.book->version, rec->version);
    }
    assert_int_equal(books, e->book_count);
    assert_int_equal(books, t->calendars.len);
    for (size_t i = 0; i < t->uses.cap; i++) {
        const struct calendar_use *use = t->uses.slots[i].value;
        const struct job_rec *job = use == NULL ? NULL : map_get(&t->jobs, use->job_id);
        assert_true(use == NULL || !job_is_over(job->state));
    }
    MAP_EACH(&e->jobs, slot)
    {
        const struct job *job = slot->value;
        const struct calendar_list *list = job->v.def->calendars;
        for (size_t i = 0; list != NULL && i < list->count; i++) {
            char key[300];
            snprintf(key, sizeof key, "%.*s|%" PRIu64, STR_ARG(list->items[i].calendar->name),
                     job->id);
            assert_true((strmap_get(&t->uses, str_c(key)) != NULL) == !job_is_over(job->v.state));
        }
    }
}

/* Workers of other servers may be unknown, and be told to drain by word of mouth. */
static inline void check_same_workers(const struct engine *e, const struct table *t)
{
    size_t known = 0;
    MAP_EACH(&t->workers, slot)
    {
        const struct worker_rec *rec = slot->value;
        const struct worker *worker = map_get(&e->workers, rec->id);
        known += worker != NULL;
        if (!partition_has(&e->owned, rec->id))
            continue;
        assert_non_null(worker);
        assert_int_equal(worker->v.draining, rec->draining);
    }
    assert_int_equal(e->workers.len, known);
}

/* The engine holds exactly what the table says is unfinished and within the horizon. */
static inline void check_same(const struct engine *e, const struct table *t)
{
    size_t near = 0;
    MAP_EACH(&t->live, slot)
    {
        const struct exec_rec *rec = slot->value;
        const struct job_rec *job_rec = map_get(&t->jobs, rec->job_id);
        const struct exec *x = map_get(&e->execs, rec->id);
        if (!partition_has(&e->owned, rec->id)) {
            assert_null(x);
            continue;
        }
        bool far = exec_is_waiting(rec->state) &&
                   !(rec->state == EXEC_RETRYING && rec->origin != ORIGIN_ONCE) &&
                   !(rec->state == EXEC_SCHEDULED && rec->ready_ms > 0) &&
                   (rec->due_ms > e->horizon.due_ms ||
                    (rec->due_ms == e->horizon.due_ms && rec->id > e->horizon.id));
        assert_true(far == (x == NULL));
        if (x == NULL)
            continue;
        near++;
        check_same_exec(x, rec);
        assert_int_equal(x->job->v.state, job_rec->state);
        assert_int_equal(x->job->v.last_exec, job_rec->last_exec);
        assert_int_equal(x->job->v.finished_ms, job_rec->finished_ms);
        assert_true(str_eq(job_name(x->job), job_rec->name));
        assert_true(str_eq(x->job->v.def->queue->name, rec->queue));
        assert_true(str_eq(job_rec->queue, rec->queue));
        assert_int_equal(x->job->v.def->version, job_rec->version);
    }
    assert_int_equal(e->execs.len, near);
    check_same_limits(e, t);
    check_breakers(e, t);
    check_same_calendars(e, t);
    check_same_workers(e, t);
}

/* What waits stands with what has to end, which is not over; the table knows the same. */
static inline void check_edge(const struct engine *e, const struct table *t,
                              const struct edge *edge)
{
    bool remote = depends_is_remote(e, edge->upstream);
    const struct dependency_rec rec = edge_record(edge);
    const struct dependency_rec *kept = strmap_get(&t->depends, depend_key(&rec));
    enum dependency_state state = edge->rule != NULL ? DEPENDENCY_PER_SLOT : DEPENDENCY_WAITING;
    assert_true(edge->touched == NULL && heap_holds(&edge->place));
    assert_true(edge->v.state == DEPENDENCY_WAITING && edge->exec->v.state == EXEC_BLOCKED);
    assert_non_null(kept);
    assert_true(kept->state == state && kept->type == edge->type);
    if (edge->v.asking || remote)
        return;
    const struct job_rec *upstream = map_get(&t->jobs, edge->v.target);
    if (upstream == NULL) {
        assert_non_null(map_get(&t->live, edge->v.target)); /* it is a slot's */
        return;
    }
    assert_int_equal(edge->v.target, edge->upstream);
    assert_true(!job_is_over(upstream->state) ||
                job_has_unfinished(map_get(&e->jobs, edge->upstream)));
}

static inline size_t check_rules(const struct engine *e, const struct table *t)
{
    size_t count = 0;
    MAP_EACH(&e->standing, slot)
    {
        const struct rulebook *st = slot->value;
        LIST_EACH(&st->rules, node)
        {
            const struct edge *rule = CONTAINER_OF(node, struct edge, sibling);
            const struct dependency_rec rec = edge_record(rule);
            const struct dependency_rec *kept = strmap_get(&t->depends, depend_key(&rec));
            assert_true(rule->touched == NULL && rule->exec == NULL && rule->rule == NULL);
            assert_true(kept->state == DEPENDENCY_PER_SLOT && kept->type == rule->type);
            count++;
        }
    }
    return count;
}

/* Who waits elsewhere is in the table, and nobody else. */
static inline size_t check_waiters(const struct engine *e, const struct table *t)
{
    for (size_t i = 0; i < e->waiters.cap; i++) {
        const struct edge *edge = e->waiters.slots[i].value;
        if (edge == NULL)
            continue;
        const struct waiter_change change = waiter_changed(edge);
        const struct waiter_rec *kept = strmap_get(&t->waiters, waiter_name(&change.waiter));
        assert_true(kept != NULL && !change.forget && kept->type == edge->type);
        assert_int_equal(kept->slot_ms, edge->v.slot_ms);
        assert_true(edge->touched == NULL && heap_holds(&edge->place) && edge->exec == NULL);
    }
    assert_int_equal(t->waiters.len, e->waiters.len);
    return e->waiters.len;
}

static inline void check_edges(const struct engine *e, const struct table *t)
{
    size_t rules = check_rules(e, t);
    size_t waiters = check_waiters(e, t);
    size_t edges = rules;
    size_t kept = rules;
    size_t waits_for = 0;
    MAP_EACH(&e->jobs, slot)
    {
        const struct job *job = slot->value;
        LIST_EACH(&job->edges, node)
        {
            const struct edge *edge = CONTAINER_OF(node, struct edge, sibling);
            check_edge(e, t, edge);
            kept += edge->rule == NULL;
            edges++;
        }
        LIST_EACH(&job->execs, node)
        {
            const struct exec *x = CONTAINER_OF(node, struct exec, sibling);
            bool blocked = x->v.state == EXEC_BLOCKED;
            waits_for += x->waits_for;
            assert_true(blocked || x->waits_for == 0);
            assert_true(job->v.def->schedule != NULL ? !blocked || slot_under_way(job, NULL) != NULL
                                                     : blocked == (x->waits_for > 0));
        }
    }
    for (size_t i = 0; i < t->depends.cap; i++) {
        const struct dependency_rec *rec = t->depends.slots[i].value;
        kept -= rec != NULL && partition_has(&e->owned, rec->dependant) &&
                (rec->state == DEPENDENCY_WAITING || rec->state == DEPENDENCY_PER_SLOT);
    }
    assert_int_equal(kept, 0);
    assert_int_equal(e->edge_count, edges + waiters);
    assert_int_equal(waits_for, edges - rules);
    assert_int_equal(e->ended.len, 0);
}

/* A name is held by its job exactly while the job has something unfinished. */
static inline void check_names(const struct table *t)
{
    size_t named = 0;
    struct map seen = {0};
    MAP_EACH(&t->live, slot)
    {
        const struct exec_rec *rec = slot->value;
        const struct job_rec *job = map_get(&t->jobs, rec->job_id);
        if (job->name.len == 0 || map_get(&seen, job->id) != NULL)
            continue;
        const struct claim *claim = strmap_get(&t->claims[CLAIM_NAME], job->name);
        assert_non_null(claim);
        assert_int_equal(claim->holder, job->id);
        map_put(&seen, job->id, slot->value);
        named++;
    }
    map_free(&seen);
    assert_int_equal(t->claims[CLAIM_NAME].len, named);
}

/* So is the key of unique work, by the job in memory whose execution is in the map. */
static inline void check_uniques(const struct engine *e, const struct table *t)
{
    size_t held = 0;
    MAP_EACH(&e->execs, slot)
    {
        const struct exec *x = slot->value;
        if (!unique_held(x))
            continue;
        struct str key = x->job->v.def->unique->key;
        const struct claim *claim = strmap_get(&t->claims[CLAIM_UNIQUE], key);
        assert_ptr_equal(strmap_get(&e->uniques, key), x);
        assert_non_null(claim);
        assert_int_equal(claim->holder, x->job->id);
        held++;
    }
    assert_int_equal(e->uniques.len, held);
}

/* An active job with a schedule has exactly one execution ahead, and no slot two outcomes. */
static inline void check_slots(const struct table *t)
{
    struct map ahead = {0};
    struct map fates = {0}; /* by job and slot: both are large, so a sum will do for a test */
    const struct map *all[] = {&t->live, &t->history, &t->forgotten};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        MAP_EACH(all[i], slot)
        {
            const struct exec_rec *x = slot->value;
            if (x->origin != ORIGIN_SLOT)
                continue;
            uint64_t fate = x->job_id * 1000003 + (uint64_t)x->slot_ms;
            assert_null(map_get(&fates, fate));
            map_put(&fates, fate, slot->value);
            if (x->state == EXEC_SCHEDULED) {
                assert_null(map_get(&ahead, x->job_id));
                map_put(&ahead, x->job_id, slot->value);
            }
        }
    }
    MAP_EACH(&t->history, slot)
    {
        const struct exec_rec *x = slot->value;
        const struct job_rec *job = map_get(&t->jobs, x->job_id);
        if (x->origin == ORIGIN_SLOT && !job_is_over(job->state))
            assert_non_null(map_get(&ahead, job->id));
    }
    map_free(&ahead);
    map_free(&fates);
}

/* The sums of all deltas are the real numbers, and the engine knows them. */
static inline void check_counters(const struct engine *e, struct table *t)
{
    struct table counted = {0};
    MAP_EACH(&t->jobs, slot)
    {
        const struct job_rec *job = slot->value;
        ++*table_counter(&counted, COUNTER_JOBS, job->queue, job->state);
    }
    const struct map *all[] = {&t->live, &t->history, &t->forgotten};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        MAP_EACH(all[i], slot)
        {
            const struct exec_rec *x = slot->value;
            ++*table_counter(&counted, COUNTER_EXECS, x->queue, x->state);
        }
    }
    MAP_EACH(&t->letters, slot)
    {
        const struct letter_rec *letter = slot->value;
        ++*table_counter(&counted, COUNTER_LETTERS, letter->queue, letter->state);
    }
    for (size_t i = 0; i < t->counters.len; i++) {
        const struct counter *c = &t->counters.items[i];
        const struct queue *q = strmap_get(&e->queues, c->queue);
        assert_int_equal(c->value, *table_counter(&counted, c->kind, c->queue, c->state));
        assert_int_equal(c->value, c->kind == COUNTER_JOBS    ? q->jobs[c->state]
                                   : c->kind == COUNTER_EXECS ? q->execs[c->state]
                                                              : q->letters[c->state]);
    }
    for (size_t i = 0; i < counted.counters.len; i++) {
        const struct counter *c = &counted.counters.items[i];
        assert_int_equal(c->value, *table_counter(t, c->kind, c->queue, c->state));
    }
    table_free(&counted);
}
