#include "base/mem.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <stdlib.h>

static enum rc load_exec(const struct job_rec *job, const struct exec_rec *exec,
                         const struct load_sink *sink, struct err *err)
{
    if (job == NULL) { /* of no use without it */
        if (sink->damaged != NULL)
            sink->damaged(sink->arg, exec->id);
        return RC_OK;
    }
    struct job_rec job_shown = job_brief(job);
    struct exec_rec exec_shown = exec_brief(exec);
    if (sink->job != NULL)
        TRY(sink->job(sink->arg, &job_shown, err));
    return sink->exec == NULL ? RC_OK : sink->exec(sink->arg, &exec_shown, err);
}

static bool is_near(const struct exec_rec *exec, int64_t until_ms)
{
    return !exec_is_waiting(exec->state) || exec->due_ms <= until_ms ||
           (exec->state == EXEC_RETRYING && exec->origin != ORIGIN_ONCE) ||
           (exec->state == EXEC_SCHEDULED && exec->ready_ms > 0);
}

static enum rc load_execs(struct mem_store *m, const struct partition_set *owned, int64_t until_ms,
                          const struct load_sink *sink, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct exec_rec **found = ARENA_ARRAY(&arena, const struct exec_rec *, m->live.len);
    size_t count = 0;
    MAP_EACH(&m->live, slot)
    {
        const struct exec_rec *exec = slot->value;
        if (partition_has(owned, exec->id) && is_near(exec, until_ms))
            found[count++] = exec;
    }
    qsort(found, count, sizeof(struct exec_rec *), exec_by_id);
    for (size_t i = 0; i < count; i++)
        TRY(load_exec(map_get(&m->jobs, found[i]->job_id), found[i], sink, err));
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

static enum rc load_dependencies(struct mem_store *m, const struct partition_set *owned,
                                 const struct load_sink *sink, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct dependency_rec *found = ARENA_ARRAY(&arena, struct dependency_rec, m->dependencies.len);
    size_t count = 0;
    for (size_t i = 0; i < m->dependencies.cap; i++) {
        const struct dependency_rec *rec = m->dependencies.slots[i].value;
        if (rec != NULL && partition_has(owned, rec->dependant) &&
            (rec->state == DEPENDENCY_WAITING || rec->state == DEPENDENCY_PER_SLOT))
            found[count++] = *rec;
    }
    qsort(found, count, sizeof *found, dependency_by_ids);
    for (size_t i = 0; i < count; i++)
        TRY(sink->dependency(sink->arg, &found[i], err));
    return RC_OK;
}

static enum rc load_operations(struct mem_store *m, const struct partition_set *owned,
                               const struct load_sink *sink, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    size_t count;
    const struct operation_rec **all = mem_operations(m, &arena, &count);
    for (size_t i = 0; i < count; i++) {
        if (all[i]->state == OPERATION_RUNNING && (owned->bits >> all[i]->partition & 1) != 0)
            TRY(sink->operation(sink->arg, all[i], err));
    }
    return RC_OK;
}

enum rc mem_settings(struct store *store, const struct load_sink *sink, struct err *err)
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
    MAP_EACH(&m->workers, slot)
    {
        const struct worker_rec *worker = slot->value;
        if (sink->cordon != NULL && worker->cordoned_ms > 0)
            TRY(sink->cordon(sink->arg, worker, err));
    }
    for (size_t i = 0; sink->calendar != NULL && i < m->calendars.cap; i++) {
        if (m->calendars.slots[i].value != NULL)
            TRY(sink->calendar(sink->arg, m->calendars.slots[i].value, err));
    }
    MAP_EACH(&m->silences, slot)
    {
        if (sink->silence != NULL)
            TRY(sink->silence(sink->arg, slot->value, err));
    }
    return RC_OK;
}

static enum rc load_counters(const struct mem_store *m, const struct partition_set *owned,
                             const struct load_sink *sink, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    size_t count;
    struct counter *counters = mem_counters(m, owned, &arena, &count);
    for (size_t i = 0; i < count; i++)
        TRY(sink->counter(sink->arg, &counters[i], err));
    return RC_OK;
}

/* Workers that registered in what is owned, and whoever has a lease there. */
static enum rc load_workers(struct mem_store *m, const struct partition_set *owned,
                            const struct load_sink *sink, struct err *err)
{
    CLEANUP(map_free) struct map holders = {0};
    MAP_EACH(&m->live, slot)
    {
        const struct exec_rec *exec = slot->value;
        if (exec->worker_id != 0 && partition_has(owned, exec->id))
            map_put(&holders, exec->worker_id, slot->value);
    }
    MAP_EACH(&m->workers, slot)
    {
        if (partition_has(owned, slot->key) || map_get(&holders, slot->key) != NULL)
            TRY(sink->worker(sink->arg, slot->value, err));
    }
    return RC_OK;
}

/* Without the lock, since sinks are called and nobody else changes tables meanwhile. */

/* One target may have rows of two servers that were: the one that is left alone longer counts. */
static bool is_outdone(const struct mem_store *m, const struct partition_set *owned,
                       uint32_t partition, const struct breaker_rec *breaker)
{
    for (uint32_t i = 0; i < owned->count; i++) {
        const struct breaker_rec *other =
            (owned->bits >> i & 1) == 0 ? NULL : strmap_get(&m->breakers[i], breaker->target);
        if (other != NULL && i != partition &&
            (other->until_ms > breaker->until_ms ||
             (other->until_ms == breaker->until_ms && i < partition)))
            return true;
    }
    return false;
}

static enum rc load_breakers(struct mem_store *m, const struct partition_set *owned,
                             const struct load_sink *sink, struct err *err)
{
    for (uint32_t i = 0; i < owned->count; i++) {
        for (size_t j = 0; (owned->bits >> i & 1) != 0 && j < m->breakers[i].cap; j++) {
            const struct breaker_rec *breaker = m->breakers[i].slots[j].value;
            if (breaker != NULL && !is_outdone(m, owned, i, breaker))
                TRY(sink->breaker(sink->arg, breaker, err));
        }
    }
    return RC_OK;
}

enum rc mem_load(struct store *store, const struct ownership *own, int64_t until_ms,
                 const struct load_sink *sink, struct err *err)
{
    struct mem_store *m = mem_of(store);
    struct partition_set owned = ownership_set(own);
    TRY(mem_settings(store, sink, err));
    if (sink->operation != NULL)
        TRY(load_operations(m, &owned, sink, err));
    if (sink->counter != NULL)
        TRY(load_counters(m, &owned, sink, err));
    for (size_t i = 0; sink->rate != NULL && i < m->rates.cap; i++) {
        if (m->rates.slots[i].value != NULL)
            TRY(sink->rate(sink->arg, m->rates.slots[i].value, err));
    }
    if (sink->clock != NULL && m->clock_kept.at_ms != 0)
        TRY(sink->clock(sink->arg, &m->clock_kept, err));
    if (sink->breaker != NULL)
        TRY(load_breakers(m, &owned, sink, err));
    if (sink->worker != NULL)
        TRY(load_workers(m, &owned, sink, err));
    if (sink->permit != NULL)
        TRY(mem_load_permits(m, &owned, sink, err));
    TRY(load_execs(m, &owned, until_ms, sink, err));
    if (sink->dependency != NULL)
        TRY(load_dependencies(m, &owned, sink, err));
    return sink->waiter == NULL ? RC_OK : mem_load_waiters(m, &owned, sink, err);
}
