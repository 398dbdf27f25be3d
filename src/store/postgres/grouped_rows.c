#include "store/postgres/grouped_rows.h"
#include "store/postgres/narrow_row.h"

enum {
    GROUPS_MAX = 16, /* a busy turn has some for what begins, what is leased and what ends */
    GROUP_WORTH = 16 /* rows; a statement of its own costs as much as a few of them */
};

/* Which row is in which group; GROUPS_MAX: in none. */
struct groups {
    uint8_t *of;
    size_t len; /* rows */
    size_t first[GROUPS_MAX];
    size_t count[GROUPS_MAX + 1];
};

static void groups_begin(struct groups *g, struct arena *arena, size_t rows)
{
    *g = (struct groups){.of = ARENA_ARRAY(arena, uint8_t, rows), .len = rows};
}

/* Rows join in their order, so the first one of a group is what the others were compared with. */
static void groups_put(struct groups *g, size_t row, unsigned at)
{
    if (at < GROUPS_MAX && g->count[at] == 0)
        g->first[at] = row;
    g->count[at]++;
    g->of[row] = (uint8_t)at;
}

static bool is_told(const struct groups *g, size_t row)
{
    return g->of[row] < GROUPS_MAX && g->count[g->of[row]] >= GROUP_WORTH;
}

static const bool *groups_told(const struct groups *g, struct arena *arena)
{
    bool *told = ARENA_ARRAY(arena, bool, g->len);
    for (size_t i = 0; i < g->len; i++)
        told[i] = is_told(g, i);
    return told;
}

/* ---- jobs */

static bool jobs_alike(const struct job_change *a, const struct job_change *b)
{
    const struct job_rec *x = &a->job;
    const struct job_rec *y = &b->job;
    return x->created_ms == y->created_ms && x->priority == y->priority &&
           str_eq(x->queue, y->queue) && str_eq(x->owner, y->owner) && str_eq(a->step, b->step) &&
           str_eq(x->spec, y->spec);
}

static unsigned find_job_group(const struct groups *g, const struct delta *delta, size_t row)
{
    unsigned at = 0;
    if (!plain_job(&delta->jobs[row]))
        return GROUPS_MAX;
    while (at < GROUPS_MAX && g->count[at] > 0 &&
           !jobs_alike(&delta->jobs[g->first[at]], &delta->jobs[row]))
        at++;
    return at;
}

static void insert_jobs(struct pg *pg, const struct delta *delta, const struct groups *g,
                        unsigned number)
{
    struct pg_call *use = pg_call(pg, Q_INSERT_ALIKE_JOBS);
    const struct job_change *model = &delta->jobs[g->first[number]];
    pg_i64(use, model->job.created_ms);
    pg_i64(use, model->job.priority);
    pg_text(use, model->job.queue);
    pg_text(use, model->job.owner);
    pg_text(use, model->step);
    pg_text(use, model->job.spec);
    pg_columns(use, "ii", g->count[number]);
    for (size_t i = 0; i < g->len; i++) {
        if (g->of[i] != number)
            continue;
        pg_u64(use, delta->jobs[i].job.id);
        pg_u64(use, delta->jobs[i].job.last_exec);
    }
}

const bool *alike_keep_jobs(struct pg *pg, const struct delta *delta)
{
    struct groups g;
    if (delta->job_count < GROUP_WORTH)
        return NULL;
    groups_begin(&g, &pg->arena, delta->job_count);
    for (size_t i = 0; i < delta->job_count; i++)
        groups_put(&g, i, find_job_group(&g, delta, i));
    for (unsigned at = 0; at < GROUPS_MAX; at++) {
        if (g.count[at] >= GROUP_WORTH)
            insert_jobs(pg, delta, &g, at);
    }
    return groups_told(&g, &pg->arena);
}

/* ---- executions */

static bool births_alike(const struct exec_rec *x, const struct exec_rec *y)
{
    return x->slot_ms == y->slot_ms && x->created_ms == y->created_ms &&
           x->priority == y->priority && str_eq(x->queue, y->queue);
}

static bool progress_alike(const struct exec_rec *x, const struct exec_rec *y)
{
    return x->state == y->state && x->due_ms == y->due_ms && x->ready_ms == y->ready_ms &&
           x->started_ms == y->started_ms && x->attempts == y->attempts && x->token == y->token &&
           x->worker_id == y->worker_id;
}

static bool ends_alike(const struct exec_change *a, const struct exec_change *b)
{
    const struct attempt_rec *x = a->ends_attempt;
    const struct attempt_rec *y = b->ends_attempt;
    return a->exec.finished_ms == b->exec.finished_ms && x->worker_id == y->worker_id &&
           x->started_ms == y->started_ms && x->ended_ms == y->ended_ms && x->number == y->number &&
           x->outcome == y->outcome && a->ends_job->job.state == b->ends_job->job.state &&
           str_eq(a->ends_job->step, b->ends_job->step);
}

static bool execs_alike(const struct delta *delta, const struct str *trails, size_t i, size_t k)
{
    const struct exec_change *a = &delta->execs[i];
    const struct exec_change *b = &delta->execs[k];
    if (a->kind != b->kind || !progress_alike(&a->exec, &b->exec) || !str_eq(a->step, b->step))
        return false;
    if (a->kind == CHANGE_UPDATE)
        return true;
    return births_alike(&a->exec, &b->exec) &&
           (a->kind == CHANGE_INSERT || (str_eq(trails[i], trails[k]) && ends_alike(a, b)));
}

static bool may_be_alike(const struct exec_change *change, struct str trail)
{
    switch (change->kind) {
    case CHANGE_INSERT:
    case CHANGE_UPDATE: return plain_exec(&change->exec);
    case CHANGE_FINISH: return trail.ptr != NULL && plain_end(change);
    case CHANGE_RECORD: return false;
    }
    return false;
}

static unsigned find_exec_group(const struct groups *g, const struct delta *delta,
                                const struct str *trails, size_t row)
{
    unsigned at = 0;
    if (!may_be_alike(&delta->execs[row], trails[row]))
        return GROUPS_MAX;
    while (at < GROUPS_MAX && g->count[at] > 0 && !execs_alike(delta, trails, g->first[at], row))
        at++;
    return at;
}

static void bind_births(struct pg_call *use, const struct exec_rec *model)
{
    pg_i64(use, model->slot_ms);
    pg_i64(use, model->created_ms);
    pg_i64(use, model->priority);
    pg_text(use, model->queue);
}

static void bind_progress(struct pg_call *use, const struct exec_rec *model, struct str trail)
{
    pg_i64(use, model->due_ms);
    pg_i64(use, model->ready_ms);
    pg_i64(use, model->started_ms);
    pg_u64(use, model->token);
    pg_u64(use, model->worker_id);
    pg_i64_or_null(use, model->attempts);
    pg_i64(use, model->state);
    pg_text(use, trail);
}

static void bind_ends(struct pg_call *use, const struct exec_change *model)
{
    const struct attempt_rec *attempt = model->ends_attempt;
    pg_i64(use, model->exec.finished_ms);
    pg_u64(use, attempt->worker_id);
    pg_i64(use, attempt->started_ms);
    pg_i64(use, attempt->ended_ms);
    pg_i64(use, attempt->number);
    pg_i64(use, attempt->outcome);
    pg_i64(use, model->ends_job->job.state);
    pg_text(use, model->ends_job->step);
}

static struct pg_call *use_group(struct pg *pg, const struct exec_change *model, struct str trail,
                                 size_t count)
{
    struct pg_call *use;
    switch (model->kind) {
    case CHANGE_UPDATE:
        use = pg_call(pg, Q_UPDATE_ALIKE_LIVE);
        pg_u64(use, count);
        bind_progress(use, &model->exec, model->step);
        return use;
    case CHANGE_FINISH:
        use = pg_call(pg, Q_FINISH_ALIKE);
        bind_births(use, &model->exec);
        bind_progress(use, &model->exec, pg_joined(use, trail, model->step));
        bind_ends(use, model);
        return use;
    default:
        use = pg_call(pg, Q_INSERT_ALIKE_LIVE);
        bind_births(use, &model->exec);
        bind_progress(use, &model->exec, model->step);
        return use;
    }
}

static void keep_group(struct pg *pg, const struct delta *delta, const struct str *trails,
                       const struct groups *g, unsigned number)
{
    const struct exec_change *model = &delta->execs[g->first[number]];
    bool updates = model->kind == CHANGE_UPDATE; /* which finds the row by its id */
    struct pg_call *use = use_group(pg, model, trails[g->first[number]], g->count[number]);
    pg_columns(use, updates ? "i" : "ii", g->count[number]);
    for (size_t i = 0; i < g->len; i++) {
        if (g->of[i] != number)
            continue;
        pg_u64(use, delta->execs[i].exec.id);
        if (!updates)
            pg_u64(use, delta->execs[i].exec.job_id);
    }
}

const bool *alike_keep_execs(struct pg *pg, const struct delta *delta, const struct str *trails)
{
    struct groups g;
    if (delta->exec_count < GROUP_WORTH)
        return NULL;
    groups_begin(&g, &pg->arena, delta->exec_count);
    for (size_t i = 0; i < delta->exec_count; i++)
        groups_put(&g, i, find_exec_group(&g, delta, trails, i));
    for (unsigned at = 0; at < GROUPS_MAX; at++) {
        if (g.count[at] >= GROUP_WORTH)
            keep_group(pg, delta, trails, &g, at);
    }
    return groups_told(&g, &pg->arena);
}
