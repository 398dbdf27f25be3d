/* What the engine holds is what the deltas said. */
#include "engine/core/exec.h"
#include "engine/depend/depends.h"
#include "engine/ready/breakers.h"
#include "engine/ready/cordon.h"
#include "engine/ready/limit.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/workers.h"
#include "engine/submit/unique.h"
#include "engine/test/check.h"
#include "engine/time/slots.h"
#include "engine/trace/traces.h"

static void check_same_exec(const struct engine *e, const struct exec *x,
                            const struct exec_rec *rec)
{
    assert_int_equal(x->job->id, rec->job_id);
    assert_int_equal(x->v.state, rec->state);
    assert_int_equal(x->job->v.def->rules.priority, rec->priority);
    assert_int_equal(x->retry_of, rec->retry_of);
    assert_int_equal(x->first, rec->first);
    assert_int_equal(x->origin, rec->origin);
    assert_int_equal(x->v.slot_ms, rec->slot_ms);
    assert_int_equal(x->v.nominal_ms, rec->nominal_ms);
    assert_int_equal(x->created_ms, rec->created_ms);
    assert_true(str_eq(trace_context(e, x), rec->trace));
    assert_int_equal(x->v.due_ms, rec->due_ms);
    assert_int_equal(x->v.ready_ms, rec->ready_ms);
    assert_int_equal(x->v.started_ms, rec->started_ms);
    assert_int_equal(x->v.attempts, rec->attempts);
    assert_int_equal(x->v.lost, rec->lost);
    assert_int_equal(x->v.returned, rec->returned);
    assert_int_equal(x->v.unseen, rec->unseen);
    assert_int_equal(x->v.proven, rec->proven);
    assert_int_equal(x->v.recharged, rec->recharged);
    assert_int_equal(x->v.late, rec->late);
    assert_int_equal(x->v.sla_since_ms, rec->sla_since_ms);
    assert_int_equal(x->v.sla_extra_ms, rec->sla_extra_ms);
    assert_int_equal(x->v.sla_marks, rec->sla_marks);
    assert_int_equal(x->v.lease.token, rec->token);
    assert_int_equal(lease_holder(&x->v.lease), rec->worker_id);
}

/* What is not closed is in the table, and nothing else; nothing is kept for nobody. */
static void check_breakers(const struct engine *e, const struct table *t)
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

static void check_same_teams(const struct engine *e, const struct table *t)
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

static void check_same_limits(const struct engine *e, const struct table *t)
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
        const struct queue *q = strmap_get(&e->queues.by_name, rec->name);
        assert_true(q->v.paused == rec->paused && q->v.concurrency == rec->concurrency);
        assert_true(q->v.paused_ms == rec->paused_ms && q->v.changed_ms == rec->changed_ms);
        assert_true(str_eq(q->v.paused_by, rec->paused_by));
        assert_true(str_eq(q->v.changed_by, rec->changed_by));
    }
}

/* Calendars, and which jobs that are not over go by them. */
static void check_same_calendars(const struct engine *e, const struct table *t)
{
    size_t books = 0;
    for (size_t i = 0; i < e->calendars.by_name.cap; i++) {
        const struct named_calendar *calendar = e->calendars.by_name.slots[i].value;
        if (calendar == NULL)
            continue;
        assert_null(calendar->touched);
        assert_true(calendar->users > 0 || calendar->v.book != NULL);
        const struct calendar_rec *rec = strmap_get(&t->calendars, calendar->name);
        books += calendar->v.book != NULL;
        if (calendar->v.book != NULL)
            assert_int_equal(calendar->v.book->version, rec->version);
    }
    assert_int_equal(books, e->calendars.book_count);
    assert_int_equal(books, t->calendars.len);
    for (size_t i = 0; i < t->uses.cap; i++) {
        const struct calendar_use *use = t->uses.slots[i].value;
        const struct job_rec *job = use == NULL ? NULL : map_get(&t->jobs, use->job_id);
        assert_true(use == NULL || !job_is_over(job->state));
    }
    MAP_EACH(&e->jobs, slot)
    {
        const struct job *job = slot->value;
        const struct calendar_list *list = job->v.def->rules.calendars;
        for (size_t i = 0; list != NULL && i < list->count; i++) {
            char key[300];
            snprintf(key, sizeof key, "%.*s|%" PRIu64, STR_ARG(list->items[i].calendar->name),
                     job->id);
            assert_true((strmap_get(&t->uses, str_c(key)) != NULL) == !job_is_over(job->v.state));
        }
    }
}

/* Workers of other servers may be unknown, and be told to drain by word of mouth. */
static void check_same_workers(const struct engine *e, const struct table *t)
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
        assert_int_equal(worker->v.cordon == NULL ? 0 : worker->v.cordon->since_ms,
                         rec->cordoned_ms);
        assert_int_equal(worker->replaces, rec->replaces);
        assert_true(str_eq(worker_boot_id(worker), rec->boot_id));
    }
    assert_int_equal(e->workers.len, known);
}

/* The engine holds exactly what the table says is unfinished and within the horizon. */
static void check_same(const struct engine *e, const struct table *t)
{
    size_t near = 0;
    size_t charged = 0;
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
        check_same_exec(e, x, rec);
        charged += x->v.recharged;
        assert_true(!x->v.recharged || str_eq(*charge_of(e, x), rec->charged));
        assert_int_equal(x->job->v.state, job_rec->state);
        assert_int_equal(x->job->v.last_exec, job_rec->last_exec);
        assert_int_equal(x->job->v.finished_ms, job_rec->finished_ms);
        assert_true(str_eq(job_name(x->job), job_rec->name));
        assert_true(str_eq(x->job->v.def->rules.queue->name, rec->queue));
        assert_true(str_eq(job_rec->queue, rec->queue));
        assert_int_equal(x->job->v.def->rules.version, job_rec->version);
    }
    assert_int_equal(e->execs.len, near);
    assert_int_equal(e->charges.len, charged);
    check_same_limits(e, t);
    check_breakers(e, t);
    check_same_calendars(e, t);
    assert_int_equal(e->silences.by_id.len, t->silences.len);
    check_same_workers(e, t);
}

/* What waits stands with what has to end, which is not over; the table knows the same. */
static void check_edge(const struct engine *e, const struct table *t, const struct edge *edge)
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

static size_t check_rules(const struct engine *e, const struct table *t)
{
    size_t count = 0;
    MAP_EACH(&e->depends.rulebooks, slot)
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
static size_t check_waiters(const struct engine *e, const struct table *t)
{
    for (size_t i = 0; i < e->depends.waiters.cap; i++) {
        const struct edge *edge = e->depends.waiters.slots[i].value;
        if (edge == NULL)
            continue;
        const struct waiter_change change = waiter_changed(edge);
        const struct waiter_rec *kept = strmap_get(&t->waiters, waiter_name(&change.waiter));
        assert_true(kept != NULL && !change.forget && kept->type == edge->type);
        assert_int_equal(kept->slot_ms, edge->v.slot_ms);
        assert_true(edge->touched == NULL && heap_holds(&edge->place) && edge->exec == NULL);
    }
    assert_int_equal(t->waiters.len, e->depends.waiters.len);
    return e->depends.waiters.len;
}

static void check_edges(const struct engine *e, const struct table *t)
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
    assert_int_equal(e->depends.edge_count, edges + waiters);
    assert_int_equal(waits_for, edges - rules);
    assert_int_equal(e->turn.ended.len, 0);
}

/* What a home has granted is in the table, and what of our own needs a row there. */
static void check_homes(const struct engine *e, const struct table *t)
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

/* A name is held by its job exactly while the job has something unfinished. */
static void check_names(const struct table *t)
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
static void check_uniques(const struct engine *e, const struct table *t)
{
    size_t held = 0;
    MAP_EACH(&e->execs, slot)
    {
        const struct exec *x = slot->value;
        if (!unique_held(x))
            continue;
        struct str key = x->job->v.def->rules.unique->key;
        const struct claim *claim = strmap_get(&t->claims[CLAIM_UNIQUE], key);
        assert_ptr_equal(strmap_get(&e->uniques, key), x);
        assert_non_null(claim);
        assert_int_equal(claim->holder, x->job->id);
        held++;
    }
    assert_int_equal(e->uniques.len, held);
}

void check_table(const struct engine *e, const struct table *t)
{
    check_same(e, t);
    check_names(t);
    check_uniques(e, t);
    check_edges(e, t);
    check_homes(e, t);
}

/* An active job with a schedule has exactly one execution ahead, as has one that expects pings, and
 * no slot two outcomes. */
static void check_slots(const struct table *t)
{
    struct map ahead = {0};
    struct map fates = {0}; /* by job and slot: both are large, so a sum will do for a test */
    const struct map *all[] = {&t->live, &t->history, &t->forgotten};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        MAP_EACH(all[i], slot)
        {
            const struct exec_rec *x = slot->value;
            if (x->origin != ORIGIN_SLOT && x->origin != ORIGIN_PING)
                continue;
            uint64_t fate = x->job_id * 1000003 + (uint64_t)x->slot_ms;
            assert_true(t->repeats || x->origin == ORIGIN_PING || map_get(&fates, fate) == NULL);
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
        bool recurs = x->origin == ORIGIN_SLOT || x->origin == ORIGIN_PING;
        if (recurs && !job_is_over(job->state))
            assert_non_null(map_get(&ahead, job->id));
    }
    map_free(&ahead);
    map_free(&fates);
}

static void check_known(const struct engine *e, const struct table *t)
{
    static const struct queue none;
    for (size_t i = 0; i < t->counters.len; i++) {
        const struct counter *c = &t->counters.items[i];
        const struct queue *q =
            c->queue.len == 0 ? &e->queues.forgotten : strmap_get(&e->queues.by_name, c->queue);
        if (q == NULL)
            q = &none;
        assert_int_equal(c->value, c->kind == COUNTER_JOBS    ? q->now.jobs[c->state]
                                   : c->kind == COUNTER_EXECS ? q->now.execs[c->state]
                                                              : q->now.letters[c->state]);
    }
}

static bool is_of_past(const struct counter *c)
{
    return c->kind == COUNTER_JOBS    ? job_is_over((enum job_state)c->state)
           : c->kind == COUNTER_EXECS ? exec_is_final((enum exec_state)c->state)
                                      : false;
}

/* What is over counts with its queue until that is forgotten, and in the sum for ever. */
static void check_counted(const struct table *t, struct table *other)
{
    struct table sums = {0};
    for (size_t i = 0; i < t->counters.len; i++) {
        const struct counter *c = &t->counters.items[i];
        if (is_of_past(c))
            *table_counter(&sums, c->kind, STR("all"), c->state) += c->value;
        else
            assert_int_equal(c->value, *table_counter(other, c->kind, c->queue, c->state));
    }
    for (size_t i = 0; i < other->counters.len; i++) {
        const struct counter *c = &other->counters.items[i];
        if (is_of_past(c))
            *table_counter(&sums, c->kind, STR("all"), c->state) -= c->value;
    }
    for (size_t i = 0; i < sums.counters.len; i++)
        assert_int_equal(sums.counters.items[i].value, 0);
    table_free(&sums);
}

/* The sums of all deltas are the real numbers, and the engine knows them. */
static void check_counters(const struct engine *e, struct table *t)
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
    check_known(e, t);
    check_counted(t, &counted);
    check_counted(&counted, t);
    table_free(&counted);
}

void check_history(const struct engine *e, struct table *t)
{
    check_slots(t);
    check_counters(e, t);
}
