#include "list_model.h"

#include <stdlib.h>

/* ---- what the model says */

bool list_fits(struct str wanted, struct str text)
{
    return wanted.len == 0 || str_eq(wanted, text);
}

static bool span_fits(struct filter_span span, int64_t at_ms)
{
    if (span.after_ms == 0 && span.before_ms == 0)
        return true;
    return at_ms != 0 && at_ms >= span.after_ms && (span.before_ms == 0 || at_ms < span.before_ms);
}

/* A whole line of those. */
static bool among(struct str lines, struct str text)
{
    while (lines.len > 0) {
        if (str_eq(str_cut(&lines, '\n'), text))
            return true;
    }
    return false;
}

bool list_has_tag(struct str tags, struct str tag)
{
    for (size_t at = 0; at + tag.len + 2 <= tags.len; at++) {
        struct str rest = str_from(tags, at);
        if (rest.ptr[0] == '\n' && str_starts(str_from(rest, 1), tag) &&
            rest.ptr[1 + tag.len] == '\n')
            return true;
    }
    return false;
}

bool list_job_fits(const struct job_rec *job, const struct filter *f)
{
    return (f->states == 0 || (f->states & FILTER_STATE(job->state)) != 0) &&
           (f->queue.len == 0 || among(f->queue, job->queue)) && list_fits(f->owner, job->owner) &&
           list_fits(f->team, job->team) && list_fits(f->name, job->name) &&
           (f->tags.len == 0 || list_has_tag(job->tags, f->tags)) &&
           span_fits(f->created, job->created_ms) && span_fits(f->finished, job->finished_ms);
}

bool list_exec_fits(const struct exec_rec *exec, const struct filter *f)
{
    return (f->states == 0 || (f->states & FILTER_STATE(exec->state)) != 0) &&
           !(f->unfinished && exec_is_final(exec->state)) &&
           (f->queue.len == 0 || among(f->queue, exec->queue)) &&
           (f->job_id == 0 || exec->job_id == f->job_id) &&
           span_fits(f->created, exec->created_ms) && span_fits(f->started, exec->started_ms) &&
           span_fits(f->finished, exec->finished_ms);
}

int ids_newest_first(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left > right ? -1 : left < right;
}

struct ids list_expected_jobs(struct world *w, const struct model *m, const struct filter *f)
{
    struct ids ids = {.items = ARENA_ARRAY(&w->arena, uint64_t, m->jobs.len)};
    for (size_t i = 0; i < m->jobs.len; i++) {
        if (list_job_fits(&m->jobs.items[i], f))
            ids.items[ids.len++] = m->jobs.items[i].id;
    }
    qsort(ids.items, ids.len, sizeof *ids.items, ids_newest_first);
    return ids;
}

struct ids list_expected_execs(struct world *w, const struct model *m, const struct filter *f)
{
    struct ids ids = {.items = ARENA_ARRAY(&w->arena, uint64_t, m->execs.len)};
    for (size_t i = 0; i < m->execs.len; i++) {
        if (list_exec_fits(&m->execs.items[i], f))
            ids.items[ids.len++] = m->execs.items[i].id;
    }
    qsort(ids.items, ids.len, sizeof *ids.items, ids_newest_first);
    return ids;
}

/* ---- random filters */

static struct str maybe(struct rng *rng, const char *a, const char *b)
{
    const char *choices[] = {"", "", a, b};
    return str_c(choices[rng_below(rng, COUNT_OF(choices))]);
}

static int64_t maybe_ms(struct rng *rng)
{
    return rng_below(rng, 2) == 0 ? 0 : T0 + (int64_t)rng_below(rng, 50);
}

struct filter list_random_filter(struct rng *rng, uint64_t states)
{
    struct filter f = {0};
    for (uint64_t count = rng_below(rng, 4); count > 0; count--)
        f.states |= FILTER_STATE(1 + rng_below(rng, states - 1));
    f.queue = maybe(rng, "mail", "mail\nnowhere");
    f.owner = maybe(rng, "key:ci", "key:admin");
    f.team = maybe(rng, "data", "web");
    f.name = maybe(rng, "nightly", "weekly");
    f.tags = maybe(rng, "team:ops", "env:prod");
    f.created = (struct filter_span){maybe_ms(rng), maybe_ms(rng)};
    if (rng_below(rng, 4) == 0)
        f.started = (struct filter_span){maybe_ms(rng), maybe_ms(rng)};
    if (rng_below(rng, 4) == 0)
        f.finished = (struct filter_span){maybe_ms(rng), maybe_ms(rng)};
    return f;
}
