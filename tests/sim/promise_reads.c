/* promise_reads.c - lists and records, read through the store, against the model. */
#include "promises.h"
#include "world.h"

#include <inttypes.h>

static bool same_job(const struct job_rec *a, const struct job_rec *b)
{
    return a->id == b->id && a->version == b->version && a->state == b->state &&
           str_eq(a->name, b->name) && str_eq(a->queue, b->queue) && str_eq(a->owner, b->owner) &&
           str_eq(a->team, b->team) && str_eq(a->tags, b->tags) && a->priority == b->priority &&
           a->created_ms == b->created_ms && a->finished_ms == b->finished_ms &&
           a->changed_ms == b->changed_ms && a->last_exec == b->last_exec &&
           str_eq(a->spec, b->spec);
}

static bool same_exec(const struct exec_rec *a, const struct exec_rec *b)
{
    return a->id == b->id && a->job_id == b->job_id && a->state == b->state &&
           str_eq(a->queue, b->queue) && a->priority == b->priority && a->retry_of == b->retry_of &&
           a->slot_ms == b->slot_ms && a->created_ms == b->created_ms && a->due_ms == b->due_ms &&
           a->ready_ms == b->ready_ms && a->started_ms == b->started_ms &&
           a->finished_ms == b->finished_ms && a->attempts == b->attempts && a->lost == b->lost &&
           a->returned == b->returned && a->sla_since_ms == b->sla_since_ms &&
           a->sla_extra_ms == b->sla_extra_ms && a->sla_marks == b->sla_marks &&
           a->token == b->token && a->worker_id == b->worker_id && a->origin == b->origin &&
           a->nominal_ms == b->nominal_ms && a->slot_count == b->slot_count &&
           a->slot_last_ms == b->slot_last_ms && str_eq(a->error, b->error);
}

/* ---- the same filters, said again in the plainest way */

static bool created_within(const struct filter *f, int64_t created_ms)
{
    return created_ms >= f->created.after_ms &&
           (f->created.before_ms == 0 || created_ms < f->created.before_ms);
}

static bool has_tag(struct str tags, struct str tag)
{
    while (tags.len > 0) {
        if (str_eq(str_cut(&tags, '\n'), tag))
            return true;
    }
    return false;
}

static bool wants_job(const struct filter *f, const struct job_rec *job)
{
    return (f->states == 0 || (f->states & FILTER_STATE(job->state)) != 0) &&
           (f->queue.len == 0 || str_eq(f->queue, job->queue)) &&
           (f->owner.len == 0 || str_eq(f->owner, job->owner)) &&
           (f->team.len == 0 || str_eq(f->team, job->team)) &&
           (f->name.len == 0 || str_eq(f->name, job->name)) &&
           (f->tags.len == 0 || has_tag(job->tags, f->tags)) && created_within(f, job->created_ms);
}

static bool wants_exec(const struct filter *f, const struct exec_rec *x)
{
    return (f->states == 0 || (f->states & FILTER_STATE(x->state)) != 0) &&
           (f->queue.len == 0 || str_eq(f->queue, x->queue)) &&
           (f->job_id == 0 || f->job_id == x->job_id) && created_within(f, x->created_ms);
}

/* The newest one below `before` that the filter wants, found by looking at all of them. */
static const struct job_rec *next_job(const struct world *w, const struct filter *f,
                                      uint64_t before)
{
    const struct job_rec *next = NULL;
    for (size_t i = 0; i < w->model.jobs.len; i++) {
        const struct job_rec *job = &w->model.jobs.items[i]->rec;
        if (w->model.jobs.items[i]->forgotten_turn != 0)
            continue;
        if (job->id < before && (next == NULL || job->id > next->id) && wants_job(f, job))
            next = job;
    }
    return next;
}

static const struct exec_rec *next_exec(const struct world *w, const struct filter *f,
                                        uint64_t before)
{
    const struct exec_rec *next = NULL;
    for (size_t i = 0; i < w->model.execs.len; i++) {
        const struct exec_rec *x = &w->model.execs.items[i]->rec;
        if (w->model.execs.items[i]->forgotten_turn != 0)
            continue;
        if (x->id < before && (next == NULL || x->id > next->id) && wants_exec(f, x))
            next = x;
    }
    return next;
}

/* ---- page by page */

static void read_jobs(struct world *w, const struct filter *f, size_t limit)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct reader *r = w->reader;
    struct page page = {.limit = limit};
    uint64_t last = UINT64_MAX;
    struct err err;
    do {
        struct job_page got;
        PROMISE(w, r->ops->jobs(r, f, &page, &arena, &got, &err) == RC_OK, "a list failed: %s",
                err.text);
        for (size_t i = 0; i < got.count; i++) {
            const struct job_rec *want = next_job(w, f, last);
            PROMISE(w, want != NULL && same_job(&got.jobs[i], want),
                    "a list of jobs shows %s where %s should stand", job_label(w, got.jobs[i].id),
                    want == NULL ? "nothing" : job_label(w, want->id));
            last = want->id;
        }
        page.before = got.next;
    } while (page.before != 0);
    const struct job_rec *missed = next_job(w, f, last);
    PROMISE(w, missed == NULL, "a list of jobs leaves %s out", job_label(w, missed->id));
}

static void read_execs(struct world *w, const struct filter *f, size_t limit)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct reader *r = w->reader;
    struct page page = {.limit = limit};
    uint64_t last = UINT64_MAX;
    struct err err;
    do {
        struct exec_page got;
        PROMISE(w, r->ops->execs(r, f, &page, &arena, &got, &err) == RC_OK, "a list failed: %s",
                err.text);
        for (size_t i = 0; i < got.count; i++) {
            const struct exec_rec *want = next_exec(w, f, last);
            PROMISE(w, want != NULL && same_exec(&got.execs[i], want),
                    "a list of executions shows %s where %s should stand",
                    exec_label(w, got.execs[i].id),
                    want == NULL ? "nothing" : exec_label(w, want->id));
            last = want->id;
        }
        page.before = got.next;
    } while (page.before != 0);
    const struct exec_rec *missed = next_exec(w, f, last);
    PROMISE(w, missed == NULL, "a list of executions leaves %s out", exec_label(w, missed->id));
}

/* ---- dead letters */

static bool same_letter(const struct letter_rec *a, const struct letter_rec *b)
{
    return letter_order(a->place, b->place) == 0 && a->job_id == b->job_id &&
           a->state == b->state && a->reason == b->reason && a->class == b->class &&
           a->fingerprint == b->fingerprint && a->attempts == b->attempts && a->lost == b->lost &&
           str_eq(a->queue, b->queue) && str_eq(a->name, b->name) && str_eq(a->owner, b->owner) &&
           str_eq(a->line, b->line) && str_eq(a->error, b->error);
}

struct letter_reading {
    struct world *w;
    const struct letter_filter *filter;
    struct letter_place last;
    size_t left; /* on this page */
};

static const struct letter_rec *next_letter(const struct letter_reading *r)
{
    const struct letter_rec *next = NULL;
    for (size_t i = 0; i < r->w->model.execs.len; i++) {
        const struct model_exec *x = r->w->model.execs.items[i];
        if (x->is_letter && letter_order(x->letter.place, r->last) < 0 &&
            (next == NULL || letter_order(x->letter.place, next->place) > 0) &&
            letter_fits(r->filter, &x->letter))
            next = &x->letter;
    }
    return next;
}

static bool take_letter(void *arg, const struct letter_rec *letter)
{
    struct letter_reading *r = arg;
    if (r->left == 0)
        return false;
    const struct letter_rec *want = next_letter(r);
    PROMISE(r->w, want != NULL && same_letter(letter, want),
            "a list of dead letters shows %s where %s should stand",
            exec_label(r->w, letter->place.exec_id),
            want == NULL ? "nothing" : exec_label(r->w, want->place.exec_id));
    r->last = want->place;
    r->left--;
    return true;
}

static void read_letters(struct world *w, const struct letter_filter *filter, size_t limit)
{
    struct letter_reading r = {.w = w, .filter = filter, .last = {INT64_MAX, UINT64_MAX}};
    struct letter_place at = {0};
    struct err err;
    do {
        r.left = limit;
        PROMISE(w,
                w->reader->ops->letters(w->reader, filter, at, 7, take_letter, &r, &at, &err) ==
                    RC_OK,
                "a list failed: %s", err.text);
    } while (at.exec_id != 0);
    const struct letter_rec *missed = next_letter(&r);
    PROMISE(w, missed == NULL, "a list of dead letters leaves %s out",
            exec_label(w, missed->place.exec_id));
}

/* ---- one by one */

static void read_one(struct world *w, const struct model_exec *x)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct reader *r = w->reader;
    struct job_rec job;
    struct exec_rec exec;
    struct attempt_rec *attempts;
    size_t count;
    struct err err;
    enum rc rc = r->ops->exec(r, x->rec.id, &arena, &exec, &attempts, &count, &err);
    if (x->forgotten_turn != 0) {
        PROMISE(w, rc == RC_NOT_FOUND, "%s was deleted, and is there", exec_label(w, x->rec.id));
        rc = r->ops->job(r, x->rec.job_id, &arena, &job, &err);
        PROMISE(w, (rc == RC_NOT_FOUND) == (x->job->forgotten_turn != 0),
                "%s was deleted, and is there, or the other way round",
                job_label(w, x->rec.job_id));
        versions_check(w, x->job);
        return;
    }
    PROMISE(w, rc == RC_OK && same_exec(&exec, &x->rec) && str_eq(exec.result, x->rec.result),
            "%s is not as it was kept", exec_label(w, x->rec.id));
    rc = r->ops->job(r, x->rec.job_id, &arena, &job, &err);
    PROMISE(w,
            rc == RC_OK && same_job(&job, &x->job->rec) && str_eq(job.payload, x->job->rec.payload),
            "%s is not as it was kept", job_label(w, x->rec.job_id));
    versions_check(w, x->job);
    size_t ended = 0;
    for (size_t i = 0; i < x->attempts.len; i++) {
        const struct model_attempt *want = &x->attempts.items[i];
        if (want->outcome == OUTCOME_NONE)
            continue;
        PROMISE(w,
                ended < count && attempts[ended].token == want->token &&
                    attempts[ended].outcome == want->outcome &&
                    attempts[ended].class == want->class,
                "the attempts of %s are not as they were kept", exec_label(w, x->rec.id));
        ended++;
    }
    PROMISE(w, ended == count, "%s has more attempts than were kept", exec_label(w, x->rec.id));
}

static bool was_forgotten(const struct world *w, uint64_t job_id)
{
    const struct model_job *job = map_get(&w->model.job_by_id, job_id);
    return job != NULL && job->forgotten_turn != 0;
}

void promise_acknowledged(struct world *w)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct job_rec job;
    struct err err;
    for (size_t i = 0; i < w->model.wishes.len; i++) {
        const struct wish *wish = &w->model.wishes.items[i];
        if (!wish->acknowledged || was_forgotten(w, wish->job_id))
            continue;
        enum rc rc = w->reader->ops->job(w->reader, wish->job_id, &arena, &job, &err);
        PROMISE(w,
                rc == RC_OK && str_eq(job.payload, model_job(&w->model, wish->job_id)->rec.payload),
                "j%zu was acknowledged, and is lost", i);
    }
}

static struct filter draw_filter(struct world *w)
{
    const struct model *m = &w->model;
    struct filter f = {0};
    if (pick(w, 3) == 0)
        f.queue = pick(w, 2) == 0 ? STR("default") : STR("mail");
    if (pick(w, 4) == 0)
        f.owner = STR("ci");
    if (pick(w, 4) == 0)
        f.team = STR("data");
    if (pick(w, 4) == 0)
        f.name = STR("ada");
    if (pick(w, 4) == 0)
        f.tags = STR("team:ops");
    if (m->jobs.len > 0 && pick(w, 4) == 0)
        f.job_id = m->jobs.items[pick(w, m->jobs.len)]->rec.id;
    if (m->jobs.len > 0 && pick(w, 4) == 0)
        f.created.after_ms = m->jobs.items[pick(w, m->jobs.len)]->rec.created_ms;
    if (m->jobs.len > 0 && pick(w, 4) == 0)
        f.created.before_ms = m->jobs.items[pick(w, m->jobs.len)]->rec.created_ms;
    return f;
}

void promise_reads(struct world *w)
{
    struct filter f = draw_filter(w);
    size_t limit = 1 + pick(w, 20);
    if (pick(w, 2) == 0) {
        f.states = FILTER_STATE(pick(w, JOB_STATES)) & ~FILTER_STATE(JOB_NONE);
        read_jobs(w, &f, limit);
    } else {
        f.states = FILTER_STATE(pick(w, EXEC_STATES)) & ~FILTER_STATE(EXEC_NONE);
        read_execs(w, &f, limit);
    }
    if (w->model.execs.len > 0)
        read_one(w, w->model.execs.items[pick(w, w->model.execs.len)]);
    struct letter_filter letters = {.queue = f.queue, .name = f.name, .job_id = f.job_id};
    if (pick(w, 4) == 0)
        read_letters(w, &letters, limit);
}

void promise_all_reads(struct world *w)
{
    read_jobs(w, &(struct filter){0}, 50);
    read_execs(w, &(struct filter){0}, 50);
    read_letters(w, &(struct letter_filter){0}, 50);
    for (size_t i = 0; i < w->model.execs.len; i++)
        read_one(w, w->model.execs.items[i]);
}

/* ---- workers */

void promise_alone(struct world *w, const struct sim_worker *worker, uint64_t exec_id)
{
    enum { WAKING_MS = 1000 }; /* who slept past its leases needs a moment to kill what ran */
    const struct model_exec *x = model_exec(&w->model, exec_id);
    if (x == NULL) /* over long ago: the lease was a long time on its way */
        return;
    if (model_wish(&w->model, x->job)->rules.overlap == OVERLAP_PARALLEL || x->job->was_parallel)
        return; /* its executions may; each has leases of its own */
    for (size_t i = 0; i < w->scene.workers; i++) {
        const struct sim_worker *k = &w->workers[i];
        bool dazed = w->boot_ms < k->asleep_until_ms + WAKING_MS;
        for (size_t j = 0; k->alive && !dazed && j < RUNS_MAX; j++)
            PROMISE(
                w,
                k->runs[j].token == 0 || k->runs[j].job_id != x->rec.job_id || k->runs[j].defiant ||
                    past_is_ghost(w, k->runs[j].exec_id, k->runs[j].token),
                "%s starts on %s while %s of the same job still runs on %s", exec_label(w, exec_id),
                worker->label, exec_label(w, k->runs[j].exec_id), k->label);
    }
}
