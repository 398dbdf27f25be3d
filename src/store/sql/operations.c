#include "store/sql/operations.h"

static bool read_pair(struct row *row, struct exec_rec *exec, struct job_rec *job)
{
    return row_exec(row, exec) && row_job(row, job);
}

bool live_add(struct live_found *found, struct question *q, struct row row, struct arena *arena)
{
    struct exec_rec exec = {0};
    struct job_rec job;
    if (found->looked == 0)
        found->bytes_max = arena->used_bytes + LIVE_BYTES_MAX;
    q->answer.more = found->looked == question_scan_max(q, LIVE_SCAN_MAX) ||
                     found->execs.len == q->limit || arena->used_bytes > found->bytes_max;
    if (q->answer.more)
        return false;
    found->looked++;
    bool good = read_pair(&row, &exec, &job);
    if (exec.id > q->answer.place.exec_id)
        q->answer.place.exec_id = exec.id;
    if (good && operation_takes(q->operation, &job, &exec)) {
        *VEC_PUSH(arena, &found->execs) = exec;
        *VEC_PUSH(arena, &found->jobs) = job;
    }
    return true;
}

void live_answer(const struct live_found *found, struct question *q)
{
    q->answer.live = found->execs.items;
    q->answer.live_count = found->execs.len;
    q->answer.jobs = found->jobs.items;
    q->answer.job_count = found->jobs.len;
}

bool live_tell(struct row row, live_sink *sink, void *arg, uint64_t *ret_id)
{
    struct exec_rec exec = {0};
    struct job_rec job;
    bool good = read_pair(&row, &exec, &job);
    *ret_id = exec.id;
    return !good || sink(arg, &job, &exec);
}
