#include "job/record/record.h"
#include "job/state.h"

#include <assert.h>

static const struct str origin_names[ORIGINS] = {
    [ORIGIN_ONCE] = STR_INIT("once"),
    [ORIGIN_SLOT] = STR_INIT("slot"),
    [ORIGIN_REQUEST] = STR_INIT("request"),
    [ORIGIN_PING] = STR_INIT("ping"),
};

struct str origin_name(enum origin origin)
{
    assert(origin < ORIGINS);
    return origin_names[origin];
}

bool exec_change_holds(const struct exec_change *change)
{
    const struct exec_rec *exec = &change->exec;
    const struct job_change *job = change->ends_job;
    const struct attempt_rec *attempt = change->ends_attempt;
    bool ends = change->kind == CHANGE_FINISH || change->kind == CHANGE_RECORD;
    if (exec->id == 0 || exec->job_id == 0 || exec_is_final(exec->state) != ends)
        return false;
    if (change->kind != CHANGE_FINISH)
        return job == NULL && attempt == NULL;
    return (job == NULL || (job->with_exec && job->job.id == exec->job_id)) &&
           (attempt == NULL ||
            (attempt->with_exec && attempt->exec_id == exec->id && attempt->token == exec->token));
}
