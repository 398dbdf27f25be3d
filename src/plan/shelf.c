#include "plan/shelf.h"
#include "base/mem.h"

#include <stdlib.h>

/* A lease of a plan carries no definition: nobody runs it. */
#define NO_WORK STR("{\"command\":[\"true\"],\"queue\":\"default\"}")

/* The slots of a job that others wait for: the newest, by their ids, in a ring. */
struct slots {
    struct exec_rec ring[SHELF_SLOTS_KEPT];
    size_t count; /* ever */
};

struct shelf {
    struct store store; /* first */
    const struct world *world;
    struct hands_view hands;
    delta_sink *sink;
    void *sink_arg;
    struct map jobs;     /* struct job_rec, of those that are new or changed since; owned */
    struct map slots;    /* struct slots, by job; owned */
    struct strmap names; /* claims of names: struct claimed; owned */
    struct arena arena;  /* texts of jobs that are new */
};

struct claimed {
    struct str key; /* in the shelf's arena */
    uint64_t holder;
};

static struct shelf *shelf_of(struct store *store)
{
    return (struct shelf *)(void *)store;
}

/* ---- loading */

static enum rc own(struct store *store, struct str node, struct ownership *ret_owned,
                   struct err *err)
{
    (void)node;
    (void)err;
    const struct world *world = shelf_of(store)->world;
    uint64_t floor = 0;
    for (size_t i = 0; i < world->runs.len; i++)
        floor = world->runs.items[i].id > floor ? world->runs.items[i].id : floor;
    for (size_t i = 0; i < world->jobs.len; i++)
        floor = world->jobs.items[i]->rec.id > floor ? world->jobs.items[i]->rec.id : floor;
    *ret_owned = (struct ownership){.partitions = 1, .epochs = {1}, .id_floor = floor};
    return RC_OK;
}

static int by_id(const void *a, const void *b)
{
    const struct exec_rec *left = a;
    const struct exec_rec *right = b;
    return left->id < right->id ? -1 : left->id > right->id;
}

/* Executions, each behind its job, in the order of their ids. */
static enum rc load_runs(const struct shelf *s, const struct load_sink *sink, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct world *world = s->world;
    struct exec_rec *sorted = ARENA_ARRAY(&arena, struct exec_rec, world->runs.len + 1);
    for (size_t i = 0; i < world->runs.len; i++) {
        sorted[i] = world->runs.items[i];
        sorted[i].worker_id = s->hands.holders[i];
    }
    qsort(sorted, world->runs.len, sizeof *sorted, by_id);
    for (size_t i = 0; i < world->runs.len; i++) {
        const struct world_job *job = world_job(world, sorted[i].job_id);
        TRY(sink->job(sink->arg, &job->rec, err));
        TRY(sink->exec(sink->arg, &sorted[i], err));
    }
    return RC_OK;
}

static int by_ids(const void *a, const void *b)
{
    const struct dependency_rec *left = a;
    const struct dependency_rec *right = b;
    if (left->dependant != right->dependant)
        return left->dependant < right->dependant ? -1 : 1;
    return left->upstream < right->upstream ? -1 : left->upstream > right->upstream;
}

static enum rc load_dependencies(const struct world *world, const struct load_sink *sink,
                                 struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    size_t count = 0;
    struct dependency_rec *sorted =
        ARENA_ARRAY(&arena, struct dependency_rec, world->dependencies.len + 1);
    for (size_t i = 0; i < world->dependencies.len; i++) {
        const struct dependency_rec *rec = &world->dependencies.items[i];
        if (rec->state == DEPENDENCY_WAITING || rec->state == DEPENDENCY_PER_SLOT)
            sorted[count++] = *rec;
    }
    qsort(sorted, count, sizeof *sorted, by_ids);
    for (size_t i = 0; i < count; i++)
        TRY(sink->dependency(sink->arg, &sorted[i], err));
    return RC_OK;
}

static enum rc load(struct store *store, const struct ownership *owned, int64_t until_ms,
                    const struct load_sink *sink, struct err *err)
{
    (void)owned;
    (void)until_ms;
    const struct shelf *s = shelf_of(store);
    const struct world *world = s->world;
    for (size_t i = 0; i < s->hands.worker_count; i++)
        TRY(sink->worker(sink->arg, &s->hands.workers[i], err));
    for (size_t i = 0; i < world->queues.len; i++)
        TRY(sink->queue(sink->arg, &world->queues.items[i], err));
    for (size_t i = 0; i < world->teams.len; i++)
        TRY(sink->team(sink->arg, &world->teams.items[i], err));
    for (size_t i = 0; i < world->calendars.len; i++)
        TRY(sink->calendar(sink->arg, &world->calendars.items[i], err));
    TRY(load_runs(s, sink, err));
    return load_dependencies(world, sink, err);
}

/* ---- what is known of jobs */

static const struct job_rec *find_job(const struct shelf *s, uint64_t id)
{
    const struct job_rec *changed = map_get(&s->jobs, id);
    const struct world_job *job = changed != NULL ? NULL : world_job(s->world, id);
    return changed != NULL ? changed : job != NULL ? &job->rec : NULL;
}

static struct slots *find_slots(const struct shelf *s, uint64_t job_id)
{
    return map_get(&s->slots, job_id);
}

static void watch_slots(struct shelf *s, uint64_t job_id)
{
    if (find_slots(s, job_id) == NULL)
        map_put(&s->slots, job_id, MEM_NEW(struct slots));
}

/* Of the texts of a run nothing is asked. */
static void keep_slot(struct slots *slots, const struct exec_rec *x)
{
    struct exec_rec *at = NULL;
    size_t kept = slots->count < SHELF_SLOTS_KEPT ? slots->count : SHELF_SLOTS_KEPT;
    for (size_t i = 0; i < kept && at == NULL; i++)
        at = slots->ring[i].id == x->id ? &slots->ring[i] : NULL;
    if (at == NULL)
        at = &slots->ring[slots->count++ % SHELF_SLOTS_KEPT];
    *at = *x;
    at->queue = at->payload = at->result = at->error = at->trail = at->charged = (struct str){0};
}

static void keep_slots(struct shelf *s, const struct exec_rec *x)
{
    struct slots *slots =
        s->slots.len == 0 || x->origin != ORIGIN_SLOT ? NULL : find_slots(s, x->job_id);
    if (slots != NULL)
        keep_slot(slots, x);
}

/* ---- answers */

static enum rc take_claim(struct shelf *s, struct question *q)
{
    struct claimed *held = strmap_get(&s->names, q->claim.key);
    q->answer.holder = q->claim.holder;
    if (q->claim.kind != CLAIM_NAME)
        return RC_OK;
    if (held != NULL && held->holder != 0) {
        q->answer.holder = held->holder;
        return RC_OK;
    }
    if (held == NULL) {
        held = ARENA_NEW(&s->arena, struct claimed);
        held->key = arena_str(&s->arena, q->claim.key);
        strmap_put(&s->names, held->key, held);
    }
    held->holder = q->claim.holder;
    return RC_OK;
}

static void answer_job(struct shelf *s, struct question *q)
{
    const struct job_rec *job = find_job(s, q->id);
    q->answer.jobs = job;
    q->answer.job_count = job != NULL;
}

static void answer_slot(struct shelf *s, struct question *q)
{
    const struct slots *slots = find_slots(s, q->id);
    size_t kept = slots == NULL                     ? 0
                  : slots->count < SHELF_SLOTS_KEPT ? slots->count
                                                    : SHELF_SLOTS_KEPT;
    for (size_t i = 0; i < kept; i++) {
        const struct exec_rec *x = &slots->ring[i];
        if (x->slot_ms <= q->until_ms && (q->answer.exec == NULL || x->id > q->answer.exec->id))
            q->answer.exec = x;
    }
    answer_job(s, q);
}

static enum rc answer(struct shelf *s, struct arena *arena, struct question *q)
{
    q->answer = (struct answer){0};
    switch (q->kind) {
    case ASK_CLAIM: return take_claim(s, q);
    case ASK_JOB:
    case ASK_AHEAD: answer_job(s, q); break;
    case ASK_SLOT: answer_slot(s, q); break;
    case ASK_PACE: q->answer.pace = ARENA_NEW(arena, struct sketch); break;
    default: break; /* there is nothing of the kind */
    }
    return RC_OK;
}

static enum rc admit(struct store *store, const struct ownership *owned,
                     struct question *const *questions, size_t count, struct arena *arena,
                     struct err *err)
{
    (void)owned;
    (void)err;
    for (size_t i = 0; i < count; i++)
        TRY(answer(shelf_of(store), arena, questions[i]));
    return RC_OK;
}

static enum rc fetch(struct store *store, uint64_t job_id, uint64_t exec_id, struct arena *arena,
                     struct str *ret_spec, struct str *ret_payload, struct err *err)
{
    (void)store;
    (void)job_id;
    (void)exec_id;
    (void)arena;
    (void)err;
    *ret_spec = NO_WORK;
    *ret_payload = STR("");
    return RC_OK;
}

/* ---- keeping */

/* Jobs that are over are only of interest to those who wait for them. */
static void keep_job(struct shelf *s, const struct job_change *change)
{
    struct job_rec *kept = map_get(&s->jobs, change->job.id);
    const struct job_rec *known = find_job(s, change->job.id);
    bool is_new = known == NULL || change->redefined;
    struct job_rec rec = is_new ? change->job : *known;
    if (is_new) {
        struct str *texts[] = {&rec.name, &rec.queue, &rec.owner, &rec.team, &rec.tags, &rec.spec};
        for (size_t i = 0; i < COUNT_OF(texts); i++)
            *texts[i] = arena_str(&s->arena, *texts[i]);
        rec.payload = rec.trail = (struct str){0};
    }
    rec.version = change->job.version;
    rec.state = change->job.state;
    rec.last_exec = change->job.last_exec;
    rec.finished_ms = change->job.finished_ms;
    if (kept == NULL) {
        kept = MEM_NEW(struct job_rec);
        map_put(&s->jobs, rec.id, kept);
    }
    *kept = rec;
}

static void release(struct shelf *s, const struct claim *claim)
{
    struct claimed *held = claim->kind == CLAIM_NAME ? strmap_get(&s->names, claim->key) : NULL;
    if (held != NULL && held->holder == claim->holder)
        held->holder = 0;
}

static bool is_waited_for(const struct shelf *s, const struct world_job *job)
{
    return job == NULL || job->is_upstream || find_slots(s, job->rec.id) != NULL;
}

static enum rc commit(struct store *store, const struct ownership *owned, const struct delta *delta,
                      struct err *err)
{
    struct shelf *s = shelf_of(store);
    (void)owned;
    (void)err;
    for (size_t i = 0; i < delta->job_count; i++) {
        if (is_waited_for(s, world_job(s->world, delta->jobs[i].job.id)) ||
            delta->jobs[i].redefined)
            keep_job(s, &delta->jobs[i]);
    }
    for (size_t i = 0; i < delta->dependency_count; i++)
        watch_slots(s, delta->dependencies[i].upstream);
    for (size_t i = 0; i < delta->exec_count; i++)
        keep_slots(s, &delta->execs[i].exec);
    for (size_t i = 0; i < delta->released_count; i++)
        release(s, &delta->released[i]);
    s->sink(s->sink_arg, delta);
    return RC_OK;
}

static void abort_turn(struct store *store)
{
    (void)store;
}

static enum rc settle(struct store *store, const struct ownership *owned, uint64_t turn,
                      enum settled *ret_settled, struct err *err)
{
    (void)store;
    (void)owned;
    (void)turn;
    (void)err;
    *ret_settled = SETTLED_KEPT;
    return RC_OK;
}

static const struct store_ops ops = {
    .own = own,
    .admit = admit,
    .fetch = fetch,
    .commit = commit,
    .abort = abort_turn,
    .settle = settle,
    .load = load,
};

/* ---- the whole */

static void claim_names(struct shelf *s)
{
    for (size_t i = 0; i < s->world->jobs.len; i++) {
        const struct job_rec *job = &s->world->jobs.items[i]->rec;
        if (job->name.len == 0)
            continue;
        struct claimed *held = ARENA_NEW(&s->arena, struct claimed);
        *held = (struct claimed){job->name, job->id};
        strmap_put(&s->names, held->key, held);
    }
}

struct shelf *shelf_new(const struct world *world, const struct hands *hands, delta_sink *sink,
                        void *arg)
{
    struct shelf *s = MEM_NEW(struct shelf);
    *s = (struct shelf){.store = {.ops = &ops},
                        .world = world,
                        .hands = hands_view(hands),
                        .sink = sink,
                        .sink_arg = arg};
    claim_names(s);
    for (size_t i = 0; i < world->jobs.len; i++) {
        if (world->jobs.items[i]->is_upstream && world->jobs.items[i]->rules.schedule != NULL)
            watch_slots(s, world->jobs.items[i]->rec.id);
    }
    for (size_t i = 0; i < world->ended.len; i++)
        keep_slots(s, &world->ended.items[i]);
    for (size_t i = 0; i < world->runs.len; i++)
        keep_slots(s, &world->runs.items[i]);
    return s;
}

void shelf_free(struct shelf *s)
{
    MAP_EACH(&s->jobs, slot) free(slot->value);
    MAP_EACH(&s->slots, slot) free(slot->value);
    map_free(&s->jobs);
    map_free(&s->slots);
    strmap_free(&s->names);
    arena_free(&s->arena);
    free(s);
}

struct store *shelf_store(struct shelf *s)
{
    return &s->store;
}
