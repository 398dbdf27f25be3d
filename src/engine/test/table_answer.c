/* What a table knows, asked by an engine: every kind of question there is. */
#include "engine/test/table.h"

static int due_order(const void *a, const void *b)
{
    const struct exec_rec *left = a;
    const struct exec_rec *right = b;
    if (left->due_ms != right->due_ms)
        return left->due_ms < right->due_ms ? -1 : 1;
    return left->id < right->id ? -1 : left->id > right->id;
}

static void answer_due(struct table *t, struct question *q)
{
    struct exec_rec *live = ARENA_ARRAY(&t->arena, struct exec_rec, t->live.len);
    size_t len = 0;
    MAP_EACH(&t->live, slot)
    {
        const struct exec_rec *x = slot->value;
        bool after = x->due_ms != q->after_ms ? x->due_ms > q->after_ms : x->id > q->after_id;
        if (exec_is_waiting(x->state) && after && x->due_ms <= q->until_ms)
            live[len++] = *x;
    }
    if (len > 0)
        qsort(live, len, sizeof *live, due_order);
    q->answer.more = len > q->limit;
    q->answer.live = live;
    q->answer.live_count = len < q->limit ? len : q->limit;
    struct job_rec *jobs = ARENA_ARRAY(&t->arena, struct job_rec, q->answer.live_count);
    for (size_t i = 0; i < q->answer.live_count; i++)
        jobs[i] = *(const struct job_rec *)map_get(&t->jobs, live[i].job_id);
    q->answer.jobs = jobs;
    q->answer.job_count = q->answer.live_count;
}

static int live_order(const void *a, const void *b)
{
    const struct exec_rec *left = a;
    const struct exec_rec *right = b;
    return left->id < right->id ? -1 : left->id > right->id;
}

static void answer_live(struct table *t, struct question *q)
{
    struct exec_rec *live = ARENA_ARRAY(&t->arena, struct exec_rec, t->live.len);
    struct job_rec *jobs = ARENA_ARRAY(&t->arena, struct job_rec, t->live.len);
    size_t len = 0;
    MAP_EACH(&t->live, slot) live[len++] = *(const struct exec_rec *)slot->value;
    if (len > 0)
        qsort(live, len, sizeof *live, live_order);
    size_t count = 0;
    q->answer.place.exec_id = q->after_id;
    for (size_t i = 0; i < len; i++) {
        const struct job_rec *job = map_get(&t->jobs, live[i].job_id);
        if (live[i].id <= q->after_id)
            continue;
        q->answer.more = count == q->limit;
        if (q->answer.more)
            break;
        q->answer.place.exec_id = live[i].id;
        if (!operation_takes(q->operation, job, &live[i]))
            continue;
        jobs[count] = *job;
        live[count++] = live[i];
    }
    q->answer.live = live;
    q->answer.jobs = jobs;
    q->answer.live_count = q->answer.job_count = count;
}

static int brief_order(const void *a, const void *b)
{
    const struct operation_brief *left = a;
    const struct operation_brief *right = b;
    return left->id < right->id ? -1 : left->id > right->id;
}

static void answer_operations(struct table *t, struct question *q)
{
    struct operation_brief *all = ARENA_ARRAY(&t->arena, struct operation_brief, t->operations.len);
    size_t len = 0;
    MAP_EACH(&t->operations, slot)
    {
        const struct operation_rec *op = slot->value;
        all[len++] = (struct operation_brief){op->id, op->state != OPERATION_RUNNING};
    }
    if (len > 0)
        qsort(all, len, sizeof *all, brief_order);
    q->answer.operations = all;
    q->answer.operation_count = len;
}

static void answer_job(struct table *t, struct question *q, uint64_t job_id)
{
    const struct job_rec *job = map_get(&t->jobs, job_id);
    if (job == NULL)
        return;
    q->answer.jobs = job;
    q->answer.job_count = 1;
    q->answer.newest = map_get(&t->live, job->last_exec);
}

static void answer_ahead(struct table *t, struct question *q)
{
    MAP_EACH(&t->live, slot)
    {
        const struct exec_rec *x = slot->value;
        if (x->job_id == q->id && x->state == EXEC_SCHEDULED &&
            (q->answer.exec == NULL || x->id > q->answer.exec->id))
            q->answer.exec = x;
    }
    answer_job(t, q, q->id);
}

static void answer_exec(struct table *t, struct question *q)
{
    const struct exec_rec *x = map_get(&t->live, q->id);
    q->answer.exec = x != NULL ? x : map_get(&t->history, q->id);
    if (q->answer.exec != NULL)
        answer_job(t, q, q->answer.exec->job_id);
    q->answer.letters = map_get(&t->letters, q->id);
    q->answer.letter_count = q->answer.letters != NULL;
}

static int letter_by_place(const void *a, const void *b)
{
    return letter_order(((const struct letter_rec *)a)->place,
                        ((const struct letter_rec *)b)->place);
}

static void answer_letters(struct table *t, struct question *q)
{
    struct letter_rec *letters = ARENA_ARRAY(&t->arena, struct letter_rec, t->letters.len);
    size_t len = 0;
    MAP_EACH(&t->letters, slot)
    {
        const struct letter_rec *letter = slot->value;
        if (letter_order(letter->place, q->place) > 0 && letter->place.died_ms <= q->until_ms &&
            letter_fits(&q->filter, letter))
            letters[len++] = *letter;
    }
    if (len > 0)
        qsort(letters, len, sizeof *letters, letter_by_place);
    q->answer.more = len > q->limit;
    q->answer.letters = letters;
    q->answer.letter_count = q->answer.more ? q->limit : len;
    if (q->answer.letter_count > 0)
        q->answer.place = letters[q->answer.letter_count - 1].place;
}

static int old_order(const void *a, const void *b)
{
    const struct old_exec *left = a;
    const struct old_exec *right = b;
    return left->id < right->id ? -1 : left->id > right->id;
}

/* A standing rule waits for its job, and no later slot of that has ended. */
static bool is_named(const struct table *t, const struct exec_rec *x)
{
    bool named = false;
    for (size_t i = 0; i < t->depends.cap; i++) {
        const struct dependency_rec *rule = t->depends.slots[i].value;
        named |= rule != NULL && rule->upstream == x->job_id && rule->state == DEPENDENCY_PER_SLOT;
    }
    MAP_EACH(&t->history, slot)
    {
        const struct exec_rec *other = slot->value;
        named &= other->job_id != x->job_id || other->origin != ORIGIN_SLOT || other->id <= x->id;
    }
    return named;
}

static void answer_old(struct table *t, struct question *q)
{
    struct old_exec *old = ARENA_ARRAY(&t->arena, struct old_exec, t->history.len);
    size_t len = 0;
    MAP_EACH(&t->history, slot)
    {
        const struct exec_rec *x = slot->value;
        if (x->id > q->after_id && x->created_ms < q->until_ms)
            old[len++] = (struct old_exec){x->id, x->finished_ms,
                                           map_get(&t->letters, x->id) != NULL, is_named(t, x)};
    }
    if (len > 0)
        qsort(old, len, sizeof *old, old_order);
    q->answer.more = len > q->limit;
    q->answer.old = old;
    q->answer.old_count = q->answer.more ? q->limit : len;
}

/* They are kept in the order of their ids. */
static void answer_old_alerts(struct table *t, struct question *q)
{
    struct old_alert *old = ARENA_ARRAY(&t->arena, struct old_alert, t->alerts.len);
    size_t len = 0;
    for (size_t i = 0; i < t->alerts.len; i++) {
        const struct alert_rec *alert = t->alerts.items[i];
        if (alert->id > q->after_id && alert->at_ms < q->until_ms)
            old[len++] = (struct old_alert){alert->id, alert->at_ms, alert->state};
    }
    q->answer.more = len > q->limit;
    q->answer.old_alerts = old;
    q->answer.old_alert_count = q->answer.more ? q->limit : len;
}

/* … and these in the order of their hours, as long as nobody sets the clock back. */
static void answer_old_tallies(struct table *t, struct question *q)
{
    struct tally *old = ARENA_ARRAY(&t->arena, struct tally, t->tallies.len);
    size_t len = 0;
    for (size_t i = 0; i < t->tallies.len; i++) {
        if (t->tallies.items[i].hour < q->hour)
            old[len++] = t->tallies.items[i];
    }
    q->answer.more = len > q->limit;
    q->answer.tallies = old;
    q->answer.tally_count = q->answer.more ? q->limit : len;
}

static void answer_pace(struct table *t, struct question *q)
{
    struct sketch *pace = ARENA_NEW(&t->arena, struct sketch);
    for (size_t i = 0; i < t->tallies.len; i++) {
        const struct tally *row = &t->tallies.items[i];
        if (row->scope == TALLY_JOB && row->end == EXEC_COMPLETED && str_eq(row->key, q->name))
            sketch_put(pace, row->bucket, row->count);
    }
    q->answer.pace = pace;
}

static void answer_slot(struct table *t, struct question *q)
{
    const struct map *both[] = {&t->live, &t->history};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        MAP_EACH(both[i], slot)
        {
            const struct exec_rec *x = slot->value;
            const struct exec_rec *best = q->answer.exec;
            if (x->job_id == q->id && x->origin == ORIGIN_SLOT && x->slot_ms <= q->until_ms &&
                (best == NULL || x->slot_ms > best->slot_ms))
                q->answer.exec = x;
        }
    }
    answer_job(t, q, q->id);
}

static void answer_attempt(struct table *t, struct question *q)
{
    q->answer.attempt = map_get(&t->attempts, attempt_key(q->id, q->token));
}

static void answer_trail(struct table *t, struct question *q)
{
    const struct job_rec *job = map_get(&t->jobs, q->id);
    const struct exec_rec *x = map_get(&t->live, q->id);
    if (x == NULL)
        x = map_get(&t->history, q->id);
    q->answer.trail = job != NULL ? job->trail : x != NULL ? x->trail : STR("");
}

static void answer_claim(struct table *t, struct question *q)
{
    struct claim *claim = strmap_get(&t->claims[q->claim.kind], q->claim.key);
    if (claim == NULL || (claim->until_ms > 0 && claim->until_ms <= q->now_ms)) {
        claim = table_put_claim(t, &q->claim);
        *VEC_PUSH(&t->arena, &t->taken) = claim;
    } else {
        q->answer.note = claim->note;
    }
    q->answer.holder = claim->holder;
}

static void answer_calendar(struct table *t, struct question *q)
{
    uint64_t *ids = ARENA_ARRAY(&t->arena, uint64_t, t->uses.len);
    size_t len = 0;
    for (size_t i = 0; i < t->uses.cap; i++) {
        const struct calendar_use *use = t->uses.slots[i].value;
        if (use != NULL && str_eq(use->calendar, q->name))
            ids[len++] = use->job_id;
    }
    q->answer.ids = ids;
    q->answer.id_count = len < q->limit ? len : q->limit;
}

static void add_counters(struct table *t, const struct table *of, struct question *q)
{
    struct counter *counters =
        ARENA_ARRAY(&t->arena, struct counter, of->counters.len + q->answer.counter_count + 1);
    for (size_t i = 0; i < q->answer.counter_count; i++)
        counters[i] = q->answer.counters[i];
    for (size_t i = 0; i < of->counters.len; i++) {
        if (of->counters.items[i].value != 0 && str_eq(of->counters.items[i].queue, q->name))
            counters[q->answer.counter_count++] = of->counters.items[i];
    }
    q->answer.counters = counters;
}

static void answer_queue(struct table *t, struct question *q)
{
    add_counters(t, t, q);
    for (size_t i = 0; t->box != NULL && i < COUNT_OF(t->box->tables); i++) {
        if (t->box->tables[i] != NULL && t->box->tables[i] != t)
            add_counters(t, t->box->tables[i], q);
    }
}

static bool is_asked_for(const struct question *q, const struct inbox_rec *rec)
{
    if (q->kind == ASK_INBOX)
        return rec->id > q->after_id && (rec->kind == INBOX_SUBMIT) == q->submissions;
    for (size_t i = 0; i < q->id_count; i++) {
        if (q->ids[i] == rec->id)
            return true;
    }
    return false;
}

static void answer_inbox(struct table *t, struct question *q)
{
    struct inbox_rec *mail = ARENA_ARRAY(&t->arena, struct inbox_rec, t->box->rows.len + 1);
    struct inbox_page page = {.rows_max = q->limit, .bytes_max = q->bytes_max};
    for (size_t i = 0; i < t->box->rows.len && !q->answer.more; i++) {
        const struct inbox_rec *rec = &t->box->rows.items[i];
        if (!partition_has_bucket(&t->owned, rec->bucket) || !is_asked_for(q, rec))
            continue;
        mail[page.rows] = *rec;
        q->answer.more = !inbox_page_takes(&page, rec);
    }
    q->answer.mail = mail;
    q->answer.mail_count = page.rows;
    q->answer.after_id = q->answer.more ? mail[page.rows - 1].id : 0;
}

static void answer_any_job(struct table *t, struct question *q)
{
    answer_job(t, q, q->id);
    for (size_t i = 0; t->box != NULL && q->answer.job_count == 0 && i < COUNT_OF(t->box->tables);
         i++) {
        if (t->box->tables[i] != NULL)
            answer_job(t->box->tables[i], q, q->id);
    }
}

static void answer_met(struct table *t, struct question *q)
{
    struct dependency_rec *met = ARENA_ARRAY(&t->arena, struct dependency_rec, t->depends.len);
    struct job_rec *jobs = ARENA_ARRAY(&t->arena, struct job_rec, t->depends.len);
    size_t len = 0;
    for (size_t i = 0; i < t->depends.cap; i++) {
        const struct dependency_rec *rec = t->depends.slots[i].value;
        if (rec == NULL || rec->dependant != q->id || rec->state != DEPENDENCY_MET)
            continue;
        struct question job = {.kind = ASK_JOB, .id = rec->upstream};
        answer_any_job(t, &job);
        if (job.answer.job_count == 0)
            continue;
        jobs[len] = job.answer.jobs[0];
        met[len++] = *rec;
    }
    q->answer = (struct answer){.jobs = jobs, .job_count = len, .met = met};
}

static void answer_alert(struct table *t, struct question *q)
{
    for (size_t i = 0; i < t->alerts.len; i++) {
        if (t->alerts.items[i]->id == q->id)
            q->answer.alert = t->alerts.items[i];
    }
}

void table_answer(struct table *t, struct question *q)
{
    switch (q->kind) {
    case ASK_CLAIM: answer_claim(t, q); break;
    case ASK_JOB: answer_any_job(t, q); break;
    case ASK_AHEAD: answer_ahead(t, q); break;
    case ASK_INBOX:
    case ASK_LEFT_MAIL: answer_inbox(t, q); break;
    case ASK_EXEC: answer_exec(t, q); break;
    case ASK_ATTEMPT: answer_attempt(t, q); break;
    case ASK_TRAIL: answer_trail(t, q); break;
    case ASK_LETTERS: answer_letters(t, q); break;
    case ASK_LIVE: answer_live(t, q); break;
    case ASK_OPERATIONS: answer_operations(t, q); break;
    case ASK_OLD: answer_old(t, q); break;
    case ASK_OLD_ALERTS: answer_old_alerts(t, q); break;
    case ASK_OLD_TALLIES: answer_old_tallies(t, q); break;
    case ASK_PACE: answer_pace(t, q); break;
    case ASK_MET: answer_met(t, q); break;
    case ASK_SLOT: answer_slot(t, q); break;
    case ASK_CALENDAR: answer_calendar(t, q); break;
    case ASK_QUEUE: answer_queue(t, q); break;
    case ASK_ALERT: answer_alert(t, q); break;
    case ASK_WORKER: q->answer.worker = map_get(&t->workers, q->id); break;
    default: answer_due(t, q); break;
    }
}
