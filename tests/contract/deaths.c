#include "deaths.h"

static struct death draw_death(struct world *w, int64_t died_ms, const char *queue,
                               uint64_t fingerprint)
{
    struct death d = {.job = new_job(w)};
    d.job.job.queue = str_c(queue);
    d.job.job.owner = STR("ada");
    d.exec = new_exec(w, &d.job, EXEC_FAILED);
    d.exec.kind = CHANGE_RECORD;
    d.exec.exec.queue = str_c(queue);
    d.exec.exec.finished_ms = died_ms;
    d.job.job.last_exec = d.exec.exec.id;
    d.job.job.state = JOB_FAILED;
    d.job.job.finished_ms = died_ms;
    d.letter = (struct letter_rec){
        .place = {died_ms, d.exec.exec.id},
        .job_id = d.job.job.id,
        .state = EXEC_FAILED,
        .queue = str_c(queue),
        .name = d.job.job.name,
        .reason = LETTER_PERMANENT,
        .class = FAILURE_NETWORK,
        .fingerprint = fingerprint,
        .line = STR("connection refused by #"),
        .error = STR("connection refused by 10.0.0.1"),
        .attempts = 3,
        .lost = 1,
    };
    return d;
}

static void keep_death(struct world *w, const struct death *d)
{
    world_commit(w, (struct delta){.jobs = &d->job,
                                   .job_count = 1,
                                   .execs = &d->exec,
                                   .exec_count = 1,
                                   .letters = &d->letter,
                                   .letter_count = 1});
}

struct death kill_one(struct world *w, int64_t died_ms, const char *queue, uint64_t fingerprint)
{
    struct death d = draw_death(w, died_ms, queue, fingerprint);
    keep_death(w, &d);
    return d;
}
