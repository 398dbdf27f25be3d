#include "base/id.h"
#include "base/mem.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <assert.h>
#include <stdlib.h>

struct claim *mem_claim_remove(struct mem_store *m, enum claim_kind kind, struct str key)
{
    return strmap_remove(&m->claims[kind], key);
}

void mem_claim_put(struct mem_store *m, struct claim *take_claim)
{
    strmap_put(&m->claims[take_claim->kind], take_claim->key, take_claim);
}

bool mem_claim_is_taken(const struct mem_handle *h, enum claim_kind kind, struct str key)
{
    for (size_t i = 0; i < h->m->handle_count; i++) {
        const struct mem_handle *other = h->m->handles[i];
        for (size_t j = 0; other != h && j < other->taken_count; j++) {
            const struct claim *claim = other->taken[j].claim;
            if (claim->kind == kind && str_eq(claim->key, key))
                return true;
        }
    }
    return false;
}

static void give_claims_back(struct mem_handle *h)
{
    for (size_t i = h->taken_count; i-- > 0;) {
        struct claim *claim = h->taken[i].claim;
        mem_claim_remove(h->m, claim->kind, claim->key);
        kept_claim_free(claim);
        if (h->taken[i].before != NULL)
            mem_claim_put(h->m, h->taken[i].before);
    }
    h->taken_count = 0;
    h->locked = 0;
}

void mem_abort(struct store *store)
{
    give_claims_back(handle_of(store));
    handle_of(store)->severed = false;
}

void store_mem_sever(struct store *store)
{
    struct mem_handle *h = handle_of(store);
    h->severed |= h->locked != 0; /* it may be severed more than once */
    give_claims_back(h);
}

enum rc mem_own(struct store *store, struct str node, struct ownership *ret_owned, struct err *err)
{
    struct mem_store *m = mem_of(store);
    (void)err;
    mem_abort(store);
    *ret_owned = (struct ownership){.partitions = m->partition_count};
    for (uint32_t i = 0; i < m->partition_count; i++) {
        if (mem_partition_is_free(m, i))
            mem_partition_give(m, i, node, ret_owned);
    }
    mem_follow_members(m);
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

static bool is_ours(const struct mem_handle *h, const struct claim *claim)
{
    for (size_t i = 0; i < h->taken_count; i++) {
        if (h->taken[i].claim == claim)
            return true;
    }
    return false;
}

/* Until the turn is over it stands there instead of what does now. */
static void put_in_place(struct mem_handle *h, const struct claim *claim)
{
    h->taken = kept_rows_grow(h->taken, h->taken_count, sizeof *h->taken);
    struct taken *taken = &h->taken[h->taken_count++];
    taken->claim = kept_claim(claim);
    taken->before = mem_claim_remove(h->m, claim->kind, claim->key);
    mem_claim_put(h->m, taken->claim);
}

static enum rc take_claim(struct mem_handle *h, struct arena *arena, struct question *q,
                          struct err *err)
{
    struct mem_store *m = h->m;
    if (mem_claim_is_taken(h, q->claim.kind, q->claim.key)) /* a database would wait, for a while */
        return err_set(err, RC_BUSY, "another server is taking the same key");
    const struct claim *held = strmap_get(&m->claims[q->claim.kind], q->claim.key);
    if (held != NULL && (held->until_ms == 0 || held->until_ms > q->now_ms)) {
        q->answer.holder = held->holder;
        q->answer.note = arena_str(arena, held->note);
        if (q->claim.kind == CLAIM_UNIQUE && held->until_ms > 0 && !is_ours(h, held))
            put_in_place(h, held);
        return RC_OK;
    }
    put_in_place(h, &q->claim);
    q->answer.holder = q->claim.holder;
    return RC_OK;
}

static const struct exec_rec *tell_exec(struct arena *arena, const struct exec_rec *exec)
{
    struct exec_rec *copy = ARENA_NEW(arena, struct exec_rec);
    if (exec == NULL)
        return NULL;
    *copy = copy_exec(arena, exec_brief(exec));
    return copy;
}

static void answer_job(struct mem_store *m, uint64_t id, struct arena *arena, struct question *q)
{
    const struct job_rec *job = map_get(&m->jobs, id);
    if (job == NULL)
        return;
    struct job_rec *copy = ARENA_NEW(arena, struct job_rec);
    *copy = copy_job(arena, job_brief(job));
    q->answer.jobs = copy;
    q->answer.job_count = 1;
    q->answer.newest = tell_exec(arena, map_get(&m->live, job->last_exec));
}

static void answer_ahead(struct mem_store *m, struct arena *arena, struct question *q)
{
    const struct exec_rec *found = NULL;
    MAP_EACH(&m->live, slot)
    {
        const struct exec_rec *exec = slot->value;
        if (exec->job_id == q->id && exec->state == EXEC_SCHEDULED &&
            (found == NULL || exec->id > found->id))
            found = exec;
    }
    q->answer.exec = tell_exec(arena, found);
    answer_job(m, q->id, arena, q);
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
    copy->payload = arena_str(arena, found->payload);
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
        fields_copy(&attempt_fields, copy, arena);
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
    q->answer.exec = tell_exec(arena, found);
    answer_job(m, q->id, arena, q);
}

static bool is_due(const struct exec_rec *exec, const struct question *q)
{
    bool behind =
        exec->due_ms > q->after_ms || (exec->due_ms == q->after_ms && exec->id > q->after_id);
    return exec_is_waiting(exec->state) && behind && exec->due_ms <= q->until_ms;
}

static void answer_due(struct mem_store *m, const struct partition_set *owned, struct arena *arena,
                       struct question *q)
{
    const struct exec_rec **found = ARENA_ARRAY(arena, const struct exec_rec *, m->live.len);
    size_t count = 0;
    MAP_EACH(&m->live, slot)
    {
        const struct exec_rec *exec = slot->value;
        if (is_due(exec, q) && partition_has(owned, exec->id))
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

static void answer_letters(struct mem_store *m, const struct partition_set *owned,
                           struct arena *arena, struct question *q)
{
    size_t count;
    size_t looked = 0;
    const struct letter_rec **all = mem_letters(m, arena, &count);
    struct letter_rec *letters = ARENA_ARRAY(arena, struct letter_rec, q->limit);
    for (size_t i = 0; i < count && all[i]->place.died_ms <= q->until_ms; i++) {
        if (letter_order(all[i]->place, q->place) <= 0 ||
            !partition_has(owned, all[i]->place.exec_id))
            continue;
        q->answer.more = looked++ == question_scan_max(q, LETTERS_SCAN_MAX) ||
                         q->answer.letter_count == q->limit;
        if (q->answer.more)
            break;
        q->answer.place = all[i]->place;
        if (letter_fits(&q->filter, all[i]))
            letters[q->answer.letter_count++] = copy_letter(arena, *all[i]);
    }
    q->answer.letters = letters;
}

static void answer_met(struct mem_store *m, struct arena *arena, struct question *q)
{
    struct dependency_rec *met = ARENA_ARRAY(arena, struct dependency_rec, m->dependencies.len);
    struct job_rec *jobs = ARENA_ARRAY(arena, struct job_rec, m->dependencies.len);
    size_t count = 0;
    for (size_t i = 0; i < m->dependencies.cap; i++) {
        const struct dependency_rec *rec = m->dependencies.slots[i].value;
        if (rec != NULL && rec->dependant == q->id && rec->state == DEPENDENCY_MET &&
            map_get(&m->jobs, rec->upstream) != NULL)
            met[count++] = *rec;
    }
    if (count > 0)
        qsort(met, count, sizeof *met, dependency_by_ids);
    for (size_t i = 0; i < count; i++)
        jobs[i] = copy_job(arena, job_brief(map_get(&m->jobs, met[i].upstream)));
    q->answer = (struct answer){.jobs = jobs, .job_count = count, .met = met};
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

static void answer_queue(struct mem_store *m, struct arena *arena, struct question *q)
{
    VEC(struct counter) counters = {0};
    for (size_t i = 0; i < m->counter_count; i++) {
        if (m->counters[i].value != 0 && str_eq(m->counters[i].queue, q->name)) {
            struct counter *counter = VEC_PUSH(arena, &counters);
            *counter = m->counters[i];
            counter->queue = q->name;
        }
    }
    q->answer.counters = counters.items;
    q->answer.counter_count = counters.len;
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
    worker->boot_id = arena_str(arena, kept->boot_id);
    worker->cordoned_by = arena_str(arena, kept->cordoned_by);
    worker->cordon_reason = arena_str(arena, kept->cordon_reason);
    q->answer.worker = worker;
}

static void answer_alert(struct mem_store *m, struct arena *arena, struct question *q)
{
    const struct alert_rec *kept = map_get(&m->alerts, q->id);
    if (kept == NULL)
        return;
    struct alert_rec *alert = ARENA_NEW(arena, struct alert_rec);
    *alert = *kept;
    fields_copy(&alert_fields, alert, arena);
    q->answer.alert = alert;
}

static enum rc answer(struct mem_handle *h, const struct partition_set *owned, struct arena *arena,
                      struct question *q, struct err *err)
{
    struct mem_store *m = h->m;
    struct partition_set asked = *owned; /* of which it is about all, or some */
    if (q->partitions != 0)
        asked.bits &= q->partitions;
    q->answer = (struct answer){0};
    switch (q->kind) {
    case ASK_CLAIM: return take_claim(h, arena, q, err);
    case ASK_JOB: answer_job(m, q->id, arena, q); break;
    case ASK_AHEAD: answer_ahead(m, arena, q); break;
    case ASK_EXEC: answer_exec(m, arena, q); break;
    case ASK_ATTEMPT: answer_attempt(m, arena, q); break;
    case ASK_TRAIL: answer_trail(m, arena, q); break;
    case ASK_SLOT: answer_slot(m, arena, q); break;
    case ASK_DUE: answer_due(m, owned, arena, q); break;
    case ASK_LETTERS: answer_letters(m, &asked, arena, q); break;
    case ASK_LIVE: mem_answer_live(m, &asked, arena, q); break;
    case ASK_OPERATIONS: mem_answer_operations(m, arena, q); break;
    case ASK_OLD: mem_answer_old(m, owned, arena, q); break;
    case ASK_CALENDAR: answer_calendar(m, arena, q); break;
    case ASK_WORKER: answer_worker(m, arena, q); break;
    case ASK_ALERT: answer_alert(m, arena, q); break;
    case ASK_INBOX: mem_answer_inbox(m, owned, arena, q); break;
    case ASK_LEFT_MAIL: mem_answer_left_mail(m, owned, arena, q); break;
    case ASK_OLD_ALERTS: mem_answer_old_alerts(m, owned, arena, q); break;
    case ASK_OLD_TALLIES: mem_answer_old_tallies(m, owned, arena, q); break;
    case ASK_PACE: mem_answer_pace(m, arena, q); break;
    case ASK_QUEUE: answer_queue(m, arena, q); break;
    case ASK_MET: answer_met(m, arena, q); break;
    }
    return RC_OK;
}

enum rc mem_admit(struct store *store, const struct ownership *own,
                  struct question *const *questions, size_t count, struct arena *arena,
                  struct err *err)
{
    struct mem_handle *h = handle_of(store);
    struct partition_set owned = ownership_set(own);
    enum rc rc = mem_begin(h, own, err);
    for (size_t i = 0; rc == RC_OK && i < count; i++)
        rc = answer(h, &owned, arena, questions[i], err);
    if (rc != RC_OK)
        mem_abort(store);
    return rc;
}

enum rc mem_fetch(struct store *store, uint64_t job_id, uint64_t exec_id, struct arena *arena,
                  struct str *ret_spec, struct str *ret_payload, struct err *err)
{
    const struct job_rec *job = map_get(&mem_of(store)->jobs, job_id);
    const struct exec_rec *exec = map_get(&mem_of(store)->live, exec_id);
    if (job == NULL)
        return err_set(err, RC_NOT_FOUND, "there is no job %s", ID_TEXT(ID_JOB, job_id));
    if (exec_id != 0 && (exec == NULL || !exec->own_payload))
        return err_set(err, RC_NOT_FOUND, "%s has no payload", ID_TEXT(ID_EXEC, exec_id));
    *ret_spec = arena_str(arena, job->spec);
    *ret_payload = arena_str(arena, exec_id != 0 ? exec->payload : job->payload);
    return RC_OK;
}

/* A commit writes its turn to all that its owner has; the turns of other owners were smaller. */
enum rc mem_settle(struct store *store, const struct ownership *own, uint64_t turn,
                   enum settled *ret_settled, struct err *err)
{
    struct mem_store *m = mem_of(store);
    mem_abort(store);
    TRY(mem_check_epochs(m, own, err));
    TRY(mem_check_mark(handle_of(store), err));
    *ret_settled = SETTLED_KEPT;
    for (uint32_t i = 0; i < m->partition_count; i++) {
        if (own->epochs[i] != 0 && m->partitions[i].turn < turn)
            *ret_settled = SETTLED_LOST;
    }
    if (*ret_settled == SETTLED_LOST)
        mem_mark_lost(handle_of(store), turn);
    mem_follow_members(m);
    return RC_OK;
}

enum rc mem_check(struct store *store, struct err *err)
{
    (void)store;
    (void)err;
    return RC_OK;
}

/* ---- API keys */

enum rc mem_keys(struct store *store, struct arena *arena, struct key_rec **ret_keys,
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

void mem_key_drop(struct key_rec *key)
{
    kept_text_free(&key->name);
    kept_text_free(&key->role);
    kept_text_free(&key->hash);
}

enum rc mem_key_put(struct store *store, const struct key_rec *key, struct err *err)
{
    struct mem_store *m = mem_of(store);
    (void)err;
    size_t at = 0;
    while (at < m->key_count && m->keys[at].id < key->id)
        at++;
    if (at < m->key_count && m->keys[at].id == key->id) {
        mem_key_drop(&m->keys[at]);
    } else {
        m->keys = kept_rows_grow(m->keys, m->key_count, sizeof *m->keys);
        for (size_t i = m->key_count++; i > at; i--)
            m->keys[i] = m->keys[i - 1];
    }
    m->keys[at] = *key;
    m->keys[at].name = kept_text(key->name);
    m->keys[at].role = kept_text(key->role);
    m->keys[at].hash = kept_text(key->hash);
    mem_raise_newest(m, key->id);
    m->settings_version++;
    return RC_OK;
}

enum rc mem_key_sign_out(struct store *store, uint64_t id, struct err *err)
{
    struct mem_store *m = mem_of(store);
    for (size_t i = 0; i < m->key_count; i++) {
        if (m->keys[i].id != id)
            continue;
        m->keys[i].sessions++;
        m->settings_version++;
        return RC_OK;
    }
    return err_set(err, RC_NOT_FOUND, "the key is gone");
}

struct store_cost mem_cost(struct store *store)
{
    return (struct store_cost){.commits = atomic_load(&handle_of(store)->commits)};
}
