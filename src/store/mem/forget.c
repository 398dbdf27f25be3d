/* forget.c - executions that retention deletes, and the job that ended with the last of them. */
#include "base/plant.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <stdlib.h>

static bool has_execs(const struct mem_store *m, uint64_t job_id)
{
    MAP_EACH(&m->live, slot)
    {
        if (((const struct exec_rec *)slot->value)->job_id == job_id)
            return true;
    }
    MAP_EACH(&m->history, slot)
    {
        if (((const struct exec_rec *)slot->value)->job_id == job_id)
            return true;
    }
    return false;
}

static void forget_job(struct mem_store *m, uint64_t job_id)
{
    if (!PLANTED(versions_outlive_job))
        mem_forget_versions(m, job_id);
    kept_job_free(map_remove(&m->jobs, job_id));
    for (size_t i = 0; i < m->dependencies.cap; i++) {
        struct dependency_rec *rec = m->dependencies.slots[i].value;
        if (rec == NULL || rec->dependant != job_id)
            continue;
        strmap_remove(&m->dependencies, dependency_key(rec));
        free(rec);
        i = SIZE_MAX; /* entries behind it may have moved up: from the start again */
    }
}

static void forget_sla_events(struct mem_store *m, uint64_t exec_id)
{
    for (size_t i = 0; i < m->sla_events.cap;) {
        struct sla_event_rec *event = m->sla_events.slots[i].value;
        if (event == NULL || event->exec_id != exec_id) {
            i++;
            continue;
        }
        size_t cap = m->sla_events.cap;
        map_remove(&m->sla_events, event->id); /* moves another one here, or all of them */
        kept_sla_event_free(event);
        if (m->sla_events.cap != cap)
            i = 0;
    }
}

void mem_forget_exec(struct mem_store *m, uint64_t exec_id)
{
    forget_sla_events(m, exec_id);
    struct exec_rec *exec = map_remove(&m->history, exec_id);
    struct attempt_list *list = map_remove(&m->attempts, exec_id);
    for (size_t i = 0; list != NULL && i < list->count; i++)
        kept_texts_free(&attempt_fields, &list->attempts[i]);
    if (list != NULL)
        free(list->attempts);
    free(list);
    if (exec == NULL)
        return;
    const struct job_rec *job = map_get(&m->jobs, exec->job_id);
    if (job != NULL && job_is_over(job->state) && !has_execs(m, exec->job_id))
        forget_job(m, exec->job_id);
    kept_exec_free(exec);
}
