#include "engine/core/job.h"
#include "base/buf.h"
#include "base/mem.h"
#include "engine/core/model.h"

#include <assert.h>
#include <stdlib.h>

struct job *job_new(struct engine *e, const struct job_rec *rec, struct definition *take_def)
{
    struct job *job = mem_new(sizeof *job + rec->name.len);
    struct buf name = {.ptr = job->name, .cap = rec->name.len, .max = rec->name.len};
    buf_add(&name, rec->name);
    job->name_len = (uint32_t)rec->name.len;
    job->id = rec->id;
    job->created_ms = rec->created_ms;
    job->owner = name_keep(e, rec->owner);
    list_init(&job->execs);
    list_init(&job->edges);
    job->v = (struct job_values){rec->state, take_def, rec->last_exec, rec->finished_ms};
    map_put(&e->jobs, job->id, job);
    return job;
}

void job_free(struct engine *e, struct job *job)
{
    assert(job->exec_count == 0 && job->touched == NULL);
    while (!list_empty(&job->edges))
        edge_free(e, CONTAINER_OF(job->edges.head.next, struct edge, sibling));
    map_remove(&e->jobs, job->id);
    definition_free(e, job->v.def);
    free(job);
}

struct str job_name(const struct job *job)
{
    return str_of(job->name, job->name_len);
}

bool job_has_unfinished(const struct job *job)
{
    LIST_EACH(&job->execs, node)
    {
        if (!exec_is_final(CONTAINER_OF(node, struct exec, sibling)->v.state))
            return true;
    }
    return false;
}

/* A paused job starts nothing: its executions that wait for their time or for a worker have no
 * place then. And with a new definition they may belong in another track. */
void job_set_values(struct engine *e, struct job *job, const struct job_values *to)
{
    if (job->v.def == to->def && (job->v.state == JOB_PAUSED) == (to->state == JOB_PAUSED)) {
        job->v = *to;
        return;
    }
    LIST_EACH(&job->execs, node)
    exec_unplace(e, CONTAINER_OF(node, struct exec, sibling));
    job->v = *to;
    LIST_EACH(&job->execs, node)
    exec_place(e, CONTAINER_OF(node, struct exec, sibling));
}
