#include "choice.h"
#include "world.h"

const struct str queue_words[] = {STR_INIT("default"), STR_INIT("mail")};
const struct str passing_words[] = {STR_INIT("p0"), STR_INIT("p1"), STR_INIT("p2"),
                                    STR_INIT("p3"), STR_INIT("p4"), STR_INIT("p5")};
const struct str team_words[] = {STR_INIT(""), STR_INIT("data"), STR_INIT("web")};
const struct str name_words[] = {STR_INIT("ada"), STR_INIT("bob"), STR_INIT("cyd")};
const struct str calendar_words[] = {STR_INIT("feast"), STR_INIT("freeze")};

struct str some_queue(struct world *w)
{
    return chance(w, w->scene.passing_permille) ? PICK(w, passing_words) : PICK(w, queue_words);
}

/* Mostly one of the newest, which have more to lose; sometimes one that never was. */
static size_t some(struct world *w, size_t len)
{
    size_t recent = len < 12 ? len : 12;
    return pick(w, 3) == 0 ? pick(w, len) : len - 1 - pick(w, recent);
}

uint64_t some_job(struct world *w)
{
    const struct model *m = &w->model;
    return m->jobs.len == 0 || pick(w, 50) == 0 ? 4711
                                                : m->jobs.items[some(w, m->jobs.len)]->rec.id;
}

uint64_t some_recurring(struct world *w)
{
    const struct model *m = &w->model;
    size_t from = pick(w, m->jobs.len + 1);
    for (size_t i = from; i < m->jobs.len; i++) {
        if (m->jobs.items[i]->schedule != NULL && !job_is_over(m->jobs.items[i]->rec.state))
            return m->jobs.items[i]->rec.id;
    }
    return some_job(w);
}

uint64_t some_paused(struct world *w)
{
    const struct model *m = &w->model;
    for (size_t i = 0; i < m->jobs.len; i++) {
        if (m->jobs.items[i]->rec.state == JOB_PAUSED)
            return m->jobs.items[i]->rec.id;
    }
    return some_job(w);
}

uint64_t some_edited(struct world *w)
{
    const struct model *m = &w->model;
    size_t from = pick(w, m->jobs.len + 1);
    for (size_t i = 0; i < m->jobs.len; i++) {
        const struct model_job *job = m->jobs.items[(from + i) % m->jobs.len];
        if (job->versions.len > 0 && !job_is_over(job->rec.state))
            return job->rec.id;
    }
    return some_job(w);
}

uint64_t some_blocked(struct world *w)
{
    const struct model *m = &w->model;
    size_t from = pick(w, m->execs.len + 1);
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct model_exec *x = m->execs.items[(from + i) % m->execs.len];
        if (x->rec.state == EXEC_BLOCKED && !model_recurs(x) &&
            m->wishes.items[x->job->submission].wait_count > 1)
            return x->rec.job_id;
    }
    return 0;
}

uint64_t some_exec(struct world *w)
{
    const struct model *m = &w->model;
    return m->execs.len == 0 || pick(w, 50) == 0 ? 4711
                                                 : m->execs.items[some(w, m->execs.len)]->rec.id;
}

uint64_t some_running(struct world *w)
{
    const struct model *m = &w->model;
    const struct model_exec *newest = NULL;
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct model_exec *x = m->execs.items[i];
        if (x->rec.state == EXEC_RUNNING &&
            (newest == NULL || x->changed_turn > newest->changed_turn))
            newest = x;
    }
    return newest == NULL ? some_exec(w) : newest->rec.id;
}

uint64_t some_cancelled(struct world *w)
{
    const struct model *m = &w->model;
    size_t from = pick(w, m->jobs.len + 1) / 2;
    for (size_t i = from; i < m->jobs.len; i++) {
        const struct model_job *job = m->jobs.items[i];
        if (job->schedule != NULL && job_is_over(job->rec.state))
            return job->execs.items[pick(w, job->execs.len)]->rec.id;
    }
    return some_exec(w);
}

uint64_t some_held(struct world *w)
{
    const struct model *m = &w->model;
    for (size_t i = m->execs.len; i-- > 0;) {
        const struct model_exec *x = m->execs.items[i];
        if (model_is_held_by_calendar(&x->rec) && model_recurs(x))
            return x->rec.job_id;
    }
    return some_recurring(w);
}

uint64_t some_letter(struct world *w)
{
    const struct model *m = &w->model;
    size_t from = pick(w, m->execs.len + 1);
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct model_exec *x = m->execs.items[(from + i) % m->execs.len];
        if (x->is_letter)
            return x->rec.id;
    }
    return some_exec(w);
}
