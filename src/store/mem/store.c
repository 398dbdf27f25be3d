#include "base/mem.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

struct claim *mem_claim_remove(struct mem_store *m, enum claim_kind kind, struct str key)
{
    return strmap_remove(&m->claims[kind], key);
}

void mem_claim_put(struct mem_store *m, struct claim *take_claim)
{
    strmap_put(&m->claims[take_claim->kind], take_claim->key, take_claim);
}

static void give_back(struct store *store)
{
    struct mem_store *m = mem_of(store);
    for (size_t i = 0; i < m->taken_count; i++) {
        struct claim *claim = m->taken[i].claim;
        mem_claim_remove(m, claim->kind, claim->key);
        kept_claim_free(claim);
        if (m->taken[i].before != NULL)
            mem_claim_put(m, m->taken[i].before);
    }
    m->taken_count = 0;
}

static enum rc own(struct store *store, struct str node, struct ownership *ret_owned,
                   struct err *err)
{
    struct mem_store *m = mem_of(store);
    (void)node; /* nobody else can open this store, so nobody asks who owns it */
    (void)err;
    give_back(store);
    m->epoch++;
    *ret_owned = (struct ownership){
        .partitions = 1,
        .epochs = {m->epoch},
        .id_floor = m->newest_id,
        .turn_floor = m->turn,
    };
    return RC_OK;
}

/* ---- answers */

int exec_by_id(const void *a, const void *b)
{
    uint64_t left = (*(const struct exec_rec *const *)a)->id;
    uint64_t right = (*(const struct exec_rec *const *)b)->id;
    return left < right ? -1 : left > right;
}

static int exec_by_due(const void *a, const void *b)
{
    int64_t left = (*(const struct exec_rec *const *)a)->due_ms;
    int64_t right = (*(const struct exec_rec *const *)b)->due_ms;
    return left < right ? -1 : left > right ? 1 : exec_by_id(a, b);
}

static void take_claim(struct mem_store *m, struct arena *arena, struct question *q)
{
    const struct claim *held = strmap_get(&m->claims[q->claim.kind], q->claim.key);
    if (held != NULL && (held->until_ms == 0 || held->until_ms > q->now_ms)) {
        q->answer.holder = held->holder;
        q->answer.note = arena_str(arena, held->note);
        return;
    }
    m->taken = kept_rows_grow(m->taken, m->taken_count, sizeof *m->taken);
    m->taken[m->taken_count++] = (struct taken){
        .claim = kept_claim(&q->claim),
        .before = mem_claim_remove(m, q->claim.kind, q->claim.key),
    };
    mem_claim_put(m, m->taken[m->taken_count - 1].claim);
    q->answer.holder = q->claim.holder;
}

static void answer_job(struct mem_store *m, uint64_t id, struct arena *arena, struct question *q)
{
    const struct job_rec *job = map_get(&m->jobs, id);
    if (job == NULL)
        return;
    struct job_rec *copy = ARENA_NEW(arena, struct job_rec);
    *copy = copy_job(arena, job_brief(job));
    const struct exec_rec **found = ARENA_ARRAY(arena, const struct exec_rec *, m->live.len);
    size_t count = 0;
    MAP_EACH(&m->live, slot)
    {
        const struct exec_rec *exec = slot->value;
        if (exec->job_id == id)
            found[count++] = exec;
    }
    qsort(found, count, sizeof(struct exec_rec *), exec_by_id);
    struct exec_rec *live = ARENA_ARRAY(arena, struct exec_rec, count);
    for (size_t i = 0; i < count; i++)
        live[i] = copy_exec(arena, exec_brief(found[i]));
    q->answer.jobs = copy;
    q->answer.job_count = 1;
    q->answer.live = live;
    q->answer.live_count = count;
}

static void answer_exec(struct mem_store *m, struct arena *arena, struct question *q)
{
    const struct exec_rec *found = map_get(&m->live, q->id);
    if (found == NULL)
        found = map_get(&m->history, q->id);
    if (found == NULL)
        return;
    struct exec_rec *copy = ARENA_NEW(arena, struct exec_rec);
    *copy = copy_exec(arena, exec_brief(found));
    q->answer.exec = copy;
    const struct letter_rec *letter = map_get(&m->letters, q->id);
    if (letter != NULL) {
        struct letter_rec *shown = ARENA_NEW(arena, struct letter_rec);
        *shown = copy_letter(arena, *letter);
        q->answer.letters = shown;
        q->answer.letter_count = 1;
    }
    answer_job(m, found->job_id, arena, q);
}

static void answer_attempt(struct mem_store *m, struct arena *arena, struct question *q)
{
    const struct attempt_list *list = map_get(&m->attempts, q->id);
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        if (list->attempts[i].token != q->token)
            continue;
        struct attempt_rec *copy = ARENA_NEW(arena, struct attempt_rec);
        *copy = list->attempts[i];
        copy->error = arena_str(arena, copy->error);
        copy->tail = arena_str(arena, copy->tail);
        q->answer.attempt = copy;
    }
}

static void answer_trail(struct mem_store *m, struct arena *arena, struct question *q)
{
    const struct job_rec *job = map_get(&m->jobs, q->id);
    const struct exec_rec *exec = map_get(&m->live, q->id);
    if (exec == NULL)
        exec = map_get(&m->history, q->id);
    if (job != NULL)
        q->answer.trail = arena_str(arena, job->trail);
    else if (exec != NULL)
        q->answer.trail = arena_str(arena, exec->trail);
}

/* Slots are made in their order. */
static void find_slot(const struct map *execs, const struct question *q,
                      const struct exec_rec **found)
{
    MAP_EACH(execs, slot)
    {
        const struct exec_rec *exec = slot->value;
        if (exec->job_id == q->id && exec->origin == ORIGIN_SLOT && exec->slot_ms <= q->until_ms &&
            (*found == NULL || exec->id > (*found)->id))
            *found = exec;
    }
}

static void answer_slot(struct mem_store *m, struct arena *arena, struct question *q)
{
    const struct exec_rec *found = NULL;
    find_slot(&m->live, q, &found);
    find_slot(&m->history, q, &found);
    if (found != NULL) {
        struct exec_rec *copy = ARENA_NEW(arena, struct exec_rec);
        *copy = copy_exec(arena, exec_brief(found));
        q->answer.exec = copy;
    }
    answer_job(m, q->id, arena, q);
}

static bool is_due(const struct exec_rec *exec, const struct question *q)
{
    bool behind =
        exec->due_ms > q->after_ms || (exec->due_ms == q->after_ms && exec->id > q->after_id);
    return exec_is_waiting(exec->state) && behind && exec->due_ms <= q->until_ms;
}

static void answer_due(struct mem_store *m, struct arena *arena, struct question *q)
{
    const struct exec_rec **found = ARENA_ARRAY(arena, const struct exec_rec *, m->live.len);
    size_t count = 0;
    MAP_EACH(&m->live, slot)
    {
        const struct exec_rec *exec = slot->value;
        if (is_due(exec, q))
            found[count++] = exec;
    }
    qsort(found, count, sizeof(struct exec_rec *), exec_by_due);
    q->answer.more = count > q->limit;
    count = count < q->limit ? count : q->limit;
    struct exec_rec *live = ARENA_ARRAY(arena, struct exec_rec, count);
    struct job_rec *jobs = ARENA_ARRAY(arena, struct job_rec, count);
    struct map seen = {0};
    for (size_t i = 0; i < count; i++) {
        live[i] = copy_exec(arena, exec_brief(found[i]));
        struct job_rec *job = map_get(&m->jobs, live[i].job_id);
        if (job == NULL || map_get(&seen, job->id) != NULL)
            continue;
        map_put(&seen, job->id, job);
        jobs[q->answer.job_count++] = copy_job(arena, job_brief(job));
    }
    map_free(&seen);
    q->answer.jobs = jobs;
    q->answer.live = live;
    q->answer.live_count = count;
}

static int letter_by_place(const void *a, const void *b)
{
    return letter_order((*(const struct letter_rec *const *)a)->place,
                        (*(const struct letter_rec *const *)b)->place);
}

const struct letter_rec **mem_letters(const struct mem_store *m, struct arena *arena,
                                      size_t *ret_count)
{
    const struct letter_rec **all = ARENA_ARRAY(arena, const struct letter_rec *, m->letters.len);
    *ret_count = 0;
    MAP_EACH(&m->letters, slot) all[(*ret_count)++] = slot->value;
    qsort(all, *ret_count, sizeof(struct letter_rec *), letter_by_place);
    return all;
}

static void answer_letters(struct mem_store *m, struct arena *arena, struct question *q)
{
    size_t count;
    size_t looked = 0;
    const struct letter_rec **all = mem_letters(m, arena, &count);
    struct letter_rec *letters = ARENA_ARRAY(arena, struct letter_rec, q->limit);
    for (size_t i = 0; i < count && all[i]->place.died_ms <= q->until_ms; i++) {
        if (letter_order(all[i]->place, q->place) <= 0)
            continue;
        q->answer.more = looked++ == LETTERS_SCAN_MAX || q->answer.letter_count == q->limit;
        if (q->answer.more)
            break;
        q->answer.place = all[i]->place;
        if (letter_fits(&q->filter, all[i]))
            letters[q->answer.letter_count++] = copy_letter(arena, *all[i]);
    }
    q->answer.letters = letters;
}

static void answer_old(struct mem_store *m, struct arena *arena, struct question *q)
{
    const struct exec_rec **found = ARENA_ARRAY(arena, const struct exec_rec *, m->history.len);
    size_t count = 0;
    MAP_EACH(&m->history, slot)
    {
        const struct exec_rec *exec = slot->value;
        if (exec->id > q->after_id && exec->created_ms < q->until_ms)
            found[count++] = exec;
    }
    qsort(found, count, sizeof(struct exec_rec *), exec_by_id);
    q->answer.more = count > q->limit;
    count = count < q->limit ? count : q->limit;
    struct old_exec *old = ARENA_ARRAY(arena, struct old_exec, count);
    for (size_t i = 0; i < count; i++)
        old[i] = (struct old_exec){found[i]->id, found[i]->finished_ms,
                                   map_get(&m->letters, found[i]->id) != NULL};
    q->answer.old = old;
    q->answer.old_count = count;
}

static int by_number(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void answer_calendar(struct mem_store *m, struct arena *arena, struct question *q)
{
    uint64_t *ids = ARENA_ARRAY(arena, uint64_t, m->calendar_use_count);
    size_t count = 0;
    for (size_t i = 0; i < m->calendar_use_count; i++) {
        if (str_eq(m->calendar_uses[i].calendar, q->name))
            ids[count++] = m->calendar_uses[i].job_id;
    }
    if (count > 0)
        qsort(ids, count, sizeof *ids, by_number);
    q->answer.ids = ids;
    q->answer.id_count = count < q->limit ? count : q->limit;
}

static void answer_worker(struct mem_store *m, struct arena *arena, struct question *q)
{
    const struct worker_rec *kept = map_get(&m->workers, q->id);
    if (kept == NULL)
        return;
    struct worker_rec *worker = ARENA_NEW(arena, struct worker_rec);
    *worker = *kept;
    worker->name = arena_str(arena, kept->name);
    worker->queues = arena_str(arena, kept->queues);
    worker->handlers = arena_str(arena, kept->handlers);
    q->answer.worker = worker;
}

static enum rc admit(struct store *store, const struct ownership *owned,
                     struct question *const *questions, size_t count, struct arena *arena,
                     struct err *err)
{
    struct mem_store *m = mem_of(store);
    enum rc rc = mem_check_epoch(m, owned, err);
    if (rc != RC_OK) {
        give_back(store);
        return rc;
    }
    for (size_t i = 0; i < count; i++) {
        struct question *q = questions[i];
        q->answer = (struct answer){0};
        switch (q->kind) {
        case ASK_CLAIM: take_claim(m, arena, q); break;
        case ASK_JOB: answer_job(m, q->id, arena, q); break;
        case ASK_EXEC: answer_exec(m, arena, q); break;
        case ASK_ATTEMPT: answer_attempt(m, arena, q); break;
        case ASK_TRAIL: answer_trail(m, arena, q); break;
        case ASK_SLOT: answer_slot(m, arena, q); break;
        case ASK_DUE: answer_due(m, arena, q); break;
        case ASK_LETTERS: answer_letters(m, arena, q); break;
        case ASK_OLD: answer_old(m, arena, q); break;
        case ASK_CALENDAR: answer_calendar(m, arena, q); break;
        case ASK_WORKER: answer_worker(m, arena, q); break;
        case ASK_INBOX: mem_answer_inbox(m, owned, arena, q); break;
        }
    }
    return RC_OK;
}

static enum rc fetch(struct store *store, uint64_t job_id, struct arena *arena,
                     struct str *ret_spec, struct str *ret_payload, struct err *err)
{
    const struct job_rec *job = map_get(&mem_of(store)->jobs, job_id);
    if (job == NULL)
        return err_set(err, RC_NOT_FOUND, "there is no job %" PRIu64, job_id);
    *ret_spec = arena_str(arena, job->spec);
    *ret_payload = arena_str(arena, job->payload);
    return RC_OK;
}

static enum rc settle(struct store *store, const struct ownership *owned, uint64_t turn,
                      enum settled *ret_settled, struct err *err)
{
    struct mem_store *m = mem_of(store);
    TRY(mem_check_epoch(m, owned, err));
    *ret_settled = m->turn >= turn ? SETTLED_KEPT : SETTLED_LOST;
    return RC_OK;
}

/* ---- loading: without the lock, since sinks are called and only this thread changes tables */

static enum rc load_exec(const struct job_rec *job, const struct exec_rec *exec, bool is_first,
                         const struct load_sink *sink, struct err *err)
{
    if (job == NULL) { /* of no use without it */
        if (sink->damaged != NULL)
            sink->damaged(sink->arg, exec->id);
        return RC_OK;
    }
    struct job_rec job_shown = job_brief(job);
    struct exec_rec exec_shown = exec_brief(exec);
    if (sink->job != NULL && is_first)
        TRY(sink->job(sink->arg, &job_shown, err));
    return sink->exec == NULL ? RC_OK : sink->exec(sink->arg, &exec_shown, err);
}

static enum rc load_execs(struct mem_store *m, int64_t until_ms, const struct load_sink *sink,
                          struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct exec_rec **found = ARENA_ARRAY(&arena, const struct exec_rec *, m->live.len);
    size_t count = 0;
    MAP_EACH(&m->live, slot)
    {
        const struct exec_rec *exec = slot->value;
        if (!exec_is_waiting(exec->state) || exec->due_ms <= until_ms ||
            (exec->state == EXEC_RETRYING && exec->origin != ORIGIN_ONCE) ||
            (exec->state == EXEC_SCHEDULED && exec->ready_ms > 0))
            found[count++] = exec;
    }
    qsort(found, count, sizeof(struct exec_rec *), exec_by_id);
    CLEANUP(map_free) struct map told = {0};
    for (size_t i = 0; i < count; i++) {
        struct job_rec *job = map_get(&m->jobs, found[i]->job_id);
        bool is_first = map_get(&told, found[i]->job_id) == NULL;
        TRY(load_exec(job, found[i], is_first, sink, err));
        if (job != NULL)
            map_put(&told, job->id, job);
    }
    return RC_OK;
}

int dependency_by_ids(const void *a, const void *b)
{
    const struct dependency_rec *left = a;
    const struct dependency_rec *right = b;
    if (left->dependant != right->dependant)
        return left->dependant < right->dependant ? -1 : 1;
    return left->upstream < right->upstream ? -1 : left->upstream > right->upstream;
}

static enum rc load_dependencies(struct mem_store *m, const struct load_sink *sink, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct dependency_rec *found = ARENA_ARRAY(&arena, struct dependency_rec, m->dependencies.len);
    size_t count = 0;
    for (size_t i = 0; i < m->dependencies.cap; i++) {
        const struct dependency_rec *rec = m->dependencies.slots[i].value;
        if (rec != NULL && (rec->state == DEPENDENCY_WAITING || rec->state == DEPENDENCY_PER_SLOT))
            found[count++] = *rec;
    }
    qsort(found, count, sizeof *found, dependency_by_ids);
    for (size_t i = 0; i < count; i++)
        TRY(sink->dependency(sink->arg, &found[i], err));
    return RC_OK;
}

static int operation_by_id(const void *a, const void *b)
{
    uint64_t left = (*(const struct operation_rec *const *)a)->id;
    uint64_t right = (*(const struct operation_rec *const *)b)->id;
    return left < right ? -1 : left > right;
}

static enum rc load_operations(struct mem_store *m, const struct load_sink *sink, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct operation_rec **all =
        ARENA_ARRAY(&arena, const struct operation_rec *, m->operations.len);
    size_t count = 0;
    MAP_EACH(&m->operations, slot) all[count++] = slot->value;
    qsort(all, count, sizeof(struct operation_rec *), operation_by_id);
    for (size_t i = 0; i < count; i++)
        TRY(sink->operation(sink->arg, all[i], err));
    return RC_OK;
}

static enum rc settings(struct store *store, const struct load_sink *sink, struct err *err)
{
    struct mem_store *m = mem_of(store);
    for (size_t i = 0; sink->queue != NULL && i < m->queues.cap; i++) {
        if (m->queues.slots[i].value != NULL)
            TRY(sink->queue(sink->arg, m->queues.slots[i].value, err));
    }
    for (size_t i = 0; sink->team != NULL && i < m->teams.cap; i++) {
        if (m->teams.slots[i].value != NULL)
            TRY(sink->team(sink->arg, m->teams.slots[i].value, err));
    }
    for (size_t i = 0; sink->calendar != NULL && i < m->calendars.cap; i++) {
        if (m->calendars.slots[i].value != NULL)
            TRY(sink->calendar(sink->arg, m->calendars.slots[i].value, err));
    }
    return RC_OK;
}

static enum rc load(struct store *store, const struct ownership *own, int64_t until_ms,
                    const struct load_sink *sink, struct err *err)
{
    struct mem_store *m = mem_of(store);
    TRY(settings(store, sink, err));
    if (sink->operation != NULL)
        TRY(load_operations(m, sink, err));
    for (size_t i = 0; sink->counter != NULL && i < m->counter_count; i++)
        TRY(sink->counter(sink->arg, &m->counters[i], err));
    for (size_t i = 0; sink->rate != NULL && i < m->rates.cap; i++) {
        if (m->rates.slots[i].value != NULL)
            TRY(sink->rate(sink->arg, m->rates.slots[i].value, err));
    }
    for (size_t i = 0; sink->breaker != NULL && i < m->breakers.cap; i++) {
        if (m->breakers.slots[i].value != NULL)
            TRY(sink->breaker(sink->arg, m->breakers.slots[i].value, err));
    }
    MAP_EACH(&m->workers, slot)
    {
        if (sink->worker != NULL)
            TRY(sink->worker(sink->arg, slot->value, err));
    }
    if (sink->permit != NULL)
        TRY(mem_load_permits(m, own, sink, err));
    TRY(load_execs(m, until_ms, sink, err));
    if (sink->dependency != NULL)
        TRY(load_dependencies(m, sink, err));
    return sink->waiter == NULL ? RC_OK : mem_load_waiters(m, own, sink, err);
}

static enum rc check(struct store *store, struct err *err)
{
    (void)store;
    (void)err;
    return RC_OK;
}

/* ---- API keys */

static enum rc keys(struct store *store, struct arena *arena, struct key_rec **ret_keys,
                    size_t *ret_count, struct err *err)
{
    struct mem_store *m = mem_of(store);
    (void)err;
    struct key_rec *copies = ARENA_ARRAY(arena, struct key_rec, m->key_count);
    for (size_t i = 0; i < m->key_count; i++) {
        copies[i] = m->keys[i];
        copies[i].name = arena_str(arena, m->keys[i].name);
        copies[i].role = arena_str(arena, m->keys[i].role);
        copies[i].hash = arena_str(arena, m->keys[i].hash);
    }
    *ret_keys = copies;
    *ret_count = m->key_count;
    return RC_OK;
}

static void key_drop(struct key_rec *key)
{
    kept_text_free(&key->name);
    kept_text_free(&key->role);
    kept_text_free(&key->hash);
}

static enum rc key_put(struct store *store, const struct key_rec *key, struct err *err)
{
    struct mem_store *m = mem_of(store);
    (void)err;
    size_t at = 0;
    while (at < m->key_count && m->keys[at].id < key->id)
        at++;
    if (at < m->key_count && m->keys[at].id == key->id) {
        key_drop(&m->keys[at]);
    } else {
        m->keys = kept_rows_grow(m->keys, m->key_count, sizeof *m->keys);
        for (size_t i = m->key_count++; i > at; i--)
            m->keys[i] = m->keys[i - 1];
    }
    m->keys[at] = *key;
    m->keys[at].name = kept_text(key->name);
    m->keys[at].role = kept_text(key->role);
    m->keys[at].hash = kept_text(key->hash);
    if (key->id > m->newest_id)
        m->newest_id = key->id;
    return RC_OK;
}

static struct store_cost cost(struct store *store)
{
    return (struct store_cost){.commits = atomic_load(&mem_of(store)->commits)};
}

/* ---- opening and closing */

static void free_rows(struct mem_store *m)
{
    MAP_EACH(&m->jobs, slot)
    kept_job_free(slot->value);
    MAP_EACH(&m->live, slot)
    kept_exec_free(slot->value);
    MAP_EACH(&m->history, slot)
    kept_exec_free(slot->value);
    MAP_EACH(&m->workers, slot)
    kept_worker_free(slot->value);
    for (size_t i = 0; i < m->queues.cap; i++)
        kept_queue_free(m->queues.slots[i].value);
    for (size_t i = 0; i < m->teams.cap; i++)
        kept_team_free(m->teams.slots[i].value);
    for (size_t i = 0; i < m->rates.cap; i++)
        kept_rate_free(m->rates.slots[i].value);
    for (size_t i = 0; i < m->calendars.cap; i++)
        kept_calendar_free(m->calendars.slots[i].value);
    for (size_t i = 0; i < m->calendar_use_count; i++)
        kept_text_free(&m->calendar_uses[i].calendar);
    free(m->calendar_uses);
    strmap_free(&m->calendars);
    strmap_free(&m->queues);
    strmap_free(&m->teams);
    for (size_t i = 0; i < m->dependencies.cap; i++)
        free(m->dependencies.slots[i].value);
    for (size_t i = 0; i < m->tallies.cap; i++)
        kept_tally_free(m->tallies.slots[i].value);
    strmap_free(&m->tallies);
    MAP_EACH(&m->sla_events, slot)
    kept_sla_event_free(slot->value);
    map_free(&m->sla_events);
    MAP_EACH(&m->alerts, slot)
    kept_alert_free(slot->value);
    map_free(&m->alerts);
    for (size_t i = 0; i < m->breakers.cap; i++)
        kept_breaker_free(m->breakers.slots[i].value);
    strmap_free(&m->breakers);
    strmap_free(&m->rates);
    strmap_free(&m->dependencies);
    map_free(&m->jobs);
    map_free(&m->live);
    map_free(&m->history);
    map_free(&m->workers);
    MAP_EACH(&m->letters, slot) kept_letter_free(slot->value);
    MAP_EACH(&m->operations, slot) kept_operation_free(slot->value);
    map_free(&m->letters);
    map_free(&m->operations);
}

static void free_lists(struct mem_store *m)
{
    MAP_EACH(&m->attempts, slot)
    {
        struct attempt_list *list = slot->value;
        for (size_t i = 0; i < list->count; i++) {
            kept_text_free(&list->attempts[i].error);
            kept_text_free(&list->attempts[i].tail);
        }
        free(list->attempts);
        free(list);
    }
    MAP_EACH(&m->logs, slot)
    {
        struct chunk_list *list = slot->value;
        for (size_t i = 0; i < list->count; i++)
            kept_text_free(&list->chunks[i].bytes);
        free(list->chunks);
        free(list);
    }
    MAP_EACH(&m->checkpoints, slot)
    {
        struct checkpoint *checkpoint = slot->value;
        kept_text_free(&checkpoint->bytes);
        free(checkpoint);
    }
    map_free(&m->attempts);
    map_free(&m->logs);
    map_free(&m->checkpoints);
}

static void free_claims(struct mem_store *m)
{
    for (size_t kind = 0; kind < CLAIM_KINDS; kind++) {
        struct strmap *claims = &m->claims[kind];
        for (size_t i = 0; i < claims->cap; i++) {
            kept_claim_free(claims->slots[i].value);
        }
        strmap_free(claims);
    }
    for (size_t i = 0; i < m->taken_count; i++) /* of a turn that never ended */
        kept_claim_free(m->taken[i].before);
    free(m->taken);
}

static void close_store(struct store *store)
{
    struct mem_store *m = mem_of(store);
    free_rows(m);
    free_lists(m);
    free_claims(m);
    mem_free_inbox(m);
    for (size_t i = 0; i < m->counter_count; i++)
        kept_text_free(&m->counters[i].queue);
    free(m->counters);
    for (size_t i = 0; i < m->key_count; i++)
        key_drop(&m->keys[i]);
    free(m->keys);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static const struct store_ops ops = {
    .own = own,
    .admit = admit,
    .fetch = fetch,
    .commit = mem_commit,
    .abort = give_back,
    .settle = settle,
    .load = load,
    .settings = settings,
    .check = check,
    .keys = keys,
    .key_put = key_put,
    .reader = mem_reader_open,
    .logs = mem_logs_open,
    .cost = cost,
    .close = close_store,
};

struct store *store_mem_open(void)
{
    struct mem_store *m = MEM_NEW(struct mem_store);
    m->store.ops = &ops;
    pthread_mutex_init(&m->lock, NULL);
    return &m->store;
}
