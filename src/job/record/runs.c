#include "job/record/runs.h"

const struct exec_rec *runs_current(const struct exec_rec *execs, size_t count)
{
    const struct exec_rec *blocked = NULL;
    for (size_t i = 0; i < count; i++) {
        if (execs[i].state == EXEC_BLOCKED)
            blocked = blocked != NULL ? blocked : &execs[i];
        else if (execs[i].state != EXEC_SCHEDULED)
            return &execs[i];
    }
    return blocked;
}

const struct exec_rec *runs_ahead(const struct exec_rec *execs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (execs[i].state == EXEC_SCHEDULED)
            return &execs[i];
    }
    return NULL;
}

const struct exec_rec *runs_next(enum job_state state, bool recurs, const struct exec_rec *execs,
                                 size_t count)
{
    if (state == JOB_PAUSED)
        return NULL; /* when it runs next, nobody knows until it is resumed */
    const struct exec_rec *ahead = runs_ahead(execs, count);
    if (ahead != NULL && ahead->origin == ORIGIN_PING)
        return NULL;
    return ahead != NULL || recurs ? ahead : runs_current(execs, count);
}

enum phase runs_phase(enum job_state state, const struct exec_rec *execs, size_t count)
{
    const struct exec_rec *current = runs_current(execs, count);
    return job_phase(state, current == NULL ? EXEC_NONE : current->state,
                     runs_ahead(execs, count) != NULL);
}
