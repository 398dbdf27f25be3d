/* Filters that stores do not answer alone, and the facts that they are answered by. */
#include "list_model.h"

#include <stdlib.h>

/* ---- filters that stores do not answer alone */

/* The newest attempt that has ended. */
static const struct attempt_rec *newest_attempt(const struct model *m, uint64_t exec_id)
{
    const struct attempt_rec *newest = NULL;
    for (size_t i = 0; i < m->attempts.len; i++) {
        const struct attempt_rec *a = &m->attempts.items[i];
        if (a->exec_id == exec_id && a->outcome != OUTCOME_NONE &&
            (newest == NULL || a->token > newest->token))
            newest = a;
    }
    return newest;
}

/* Said again in the plainest way: paused, else by what is under way, else by what lies ahead. */
static enum phase plain_phase(const struct model *m, const struct job_rec *job)
{
    static const struct {
        enum exec_state state;
        enum phase phase;
    } rest[] = {{EXEC_BLOCKED, PHASE_BLOCKED}, {EXEC_SCHEDULED, PHASE_SCHEDULED}};
    const struct exec_rec *current = NULL;
    bool has[EXEC_STATES] = {false};
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct exec_rec *x = &m->execs.items[i];
        if (x->job_id != job->id || exec_is_final(x->state))
            continue;
        has[x->state] = true;
        if (x->state != EXEC_BLOCKED && x->state != EXEC_SCHEDULED &&
            (current == NULL || x->id > current->id))
            current = x;
    }
    if (job->state == JOB_PAUSED)
        return PHASE_PAUSED;
    if (current != NULL)
        return current->state == EXEC_QUEUED     ? PHASE_WAITING
               : current->state == EXEC_RETRYING ? PHASE_RETRYING
                                                 : PHASE_RUNNING;
    for (size_t i = 0; i < COUNT_OF(rest); i++) {
        if (has[rest[i].state])
            return rest[i].phase;
    }
    return job->state == JOB_ACTIVE      ? PHASE_ACTIVE
           : job->state == JOB_COMPLETED ? PHASE_COMPLETED
           : job->state == JOB_FAILED    ? PHASE_FAILED
                                         : PHASE_CANCELLED;
}

/* Each character of the pattern in turn: a star takes all that it may. */
static bool name_fits(struct str pattern, struct str name)
{
    if (pattern.len == 0)
        return name.len == 0;
    if (pattern.ptr[0] != '*')
        return name.len > 0 && name.ptr[0] == pattern.ptr[0] &&
               name_fits(str_from(pattern, 1), str_from(name, 1));
    for (size_t i = 0; i <= name.len; i++) {
        if (name_fits(str_from(pattern, 1), str_from(name, i)))
            return true;
    }
    return false;
}

static bool has_tags(struct str tags, struct str wanted)
{
    while (wanted.len > 0) {
        if (!list_has_tag(tags, str_cut(&wanted, '\n')))
            return false;
    }
    return true;
}

static bool rich_job_fits(const struct model *m, const struct job_rec *job, const struct filter *f)
{
    struct filter plain = *f;
    plain.tags = (struct str){0};
    return list_job_fits(job, &plain) && has_tags(job->tags, f->tags) &&
           (f->pattern.len == 0 || name_fits(f->pattern, job->name)) &&
           (f->phases == 0 || (f->phases >> plain_phase(m, job) & 1) != 0);
}

static bool rich_exec_fits(const struct model *m, const struct exec_rec *exec,
                           const struct filter *f)
{
    static const struct attempt_rec none = {0};
    const struct job_rec *job = model_job(m, exec->job_id);
    const struct attempt_rec *newest = newest_attempt(m, exec->id);
    newest = newest != NULL ? newest : &none;
    uint64_t worker_id = exec->worker_id != 0 ? exec->worker_id : newest->worker_id;
    bool failed = exec->state != EXEC_COMPLETED;
    return list_exec_fits(exec, f) && list_fits(f->name, job->name) &&
           list_fits(f->team, job->team) && list_fits(f->owner, job->owner) &&
           has_tags(job->tags, f->tags) &&
           (f->pattern.len == 0 || name_fits(f->pattern, job->name)) &&
           (f->worker_id == 0 || f->worker_id == worker_id) &&
           (f->class == FAILURE_NONE || (failed && f->class == newest->class)) &&
           (f->fingerprint == 0 || (failed && f->fingerprint == newest->fingerprint));
}

static void check_rich_jobs(struct world *w, const struct model *m, const struct filter *f,
                            size_t limit)
{
    struct ids want = {.items = ARENA_ARRAY(&w->arena, uint64_t, m->jobs.len + 1)};
    struct page page = {.limit = limit};
    size_t seen = 0;
    for (size_t i = 0; i < m->jobs.len; i++) {
        if (rich_job_fits(m, &m->jobs.items[i], f))
            want.items[want.len++] = m->jobs.items[i].id;
    }
    qsort(want.items, want.len, sizeof *want.items, ids_newest_first);
    do {
        struct job_page got;
        assert_rc(store_list_jobs(w->reader, f, &page, &w->arena, &got, &w->err), RC_OK);
        assert_true(got.count <= limit);
        for (size_t i = 0; i < got.count; i++) {
            assert_true(seen < want.len);
            assert_int_equal(got.jobs[i].id, want.items[seen++]);
        }
        assert_true(got.next == 0 || page.before == 0 || got.next < page.before);
        page.before = got.next;
    } while (page.before != 0);
    assert_int_equal(seen, want.len);
}

static void check_rich_execs(struct world *w, const struct model *m, const struct filter *f,
                             size_t limit)
{
    struct ids want = {.items = ARENA_ARRAY(&w->arena, uint64_t, m->execs.len + 1)};
    struct page page = {.limit = limit};
    size_t seen = 0;
    for (size_t i = 0; i < m->execs.len; i++) {
        if (rich_exec_fits(m, &m->execs.items[i], f))
            want.items[want.len++] = m->execs.items[i].id;
    }
    qsort(want.items, want.len, sizeof *want.items, ids_newest_first);
    do {
        struct exec_page got;
        assert_rc(store_list_execs(w->reader, f, &page, &w->arena, &got, &w->err), RC_OK);
        assert_true(got.count <= limit);
        for (size_t i = 0; i < got.count; i++) {
            assert_true(seen < want.len);
            assert_int_equal(got.execs[i].id, want.items[seen++]);
        }
        assert_true(got.next == 0 || page.before == 0 || got.next < page.before);
        page.before = got.next;
    } while (page.before != 0);
    assert_int_equal(seen, want.len);
}

/* What only store_list_* looks at, some of it. */
static void add_rich(struct world *w, const struct model *m, struct filter *f)
{
    struct rng *rng = &w->rng;
    if (rng_below(rng, 3) == 0) {
        const char *patterns[] = {"n*", "*ly", "week*", "*", "x*", "*gh*l*"};
        f->name = (struct str){0};
        f->pattern = str_c(patterns[rng_below(rng, COUNT_OF(patterns))]);
    }
    if (rng_below(rng, 3) == 0)
        f->tags = STR("env:prod\nteam:ops");
    if (m->attempts.len > 0 && rng_below(rng, 2) == 0) {
        const struct attempt_rec *a = &m->attempts.items[rng_below(rng, m->attempts.len)];
        uint64_t which = rng_below(rng, 3);
        f->class = which == 0 ? a->class : FAILURE_NONE;
        f->fingerprint = which == 1 ? a->fingerprint : 0;
        f->worker_id = which == 2 ? a->worker_id : 0;
    }
}

PROMISE(lists_by_facts_from_elsewhere_agree_with_the_model)
{
    struct world *w = *state;
    CLEANUP(model_free) struct model m = {0};
    for (int i = 0; i < 8; i++) {
        model_live(w, &m, 15);
        for (int j = 0; j < 12; j++) {
            size_t limit = 1 + rng_below(&w->rng, 30);
            struct filter jobs = list_random_filter(&w->rng, JOB_STATES);
            add_rich(w, &m, &jobs);
            for (uint64_t count = rng_below(&w->rng, 3); count > 0; count--)
                jobs.phases |= 1u << (1 + rng_below(&w->rng, PHASES - 1));
            check_rich_jobs(w, &m, &jobs, limit);
            struct filter execs = list_random_filter(&w->rng, EXEC_STATES);
            add_rich(w, &m, &execs);
            check_rich_execs(w, &m, &execs, limit);
        }
    }
}

/* ---- facts about many */

PROMISE(facts_about_many_are_those_of_each)
{
    struct world *w = *state;
    CLEANUP(model_free) struct model m = {0};
    model_live(w, &m, 60);
    size_t count = m.jobs.len + 1;
    uint64_t *ids = ARENA_ARRAY(&w->arena, uint64_t, count);
    struct job_rec *heads = ARENA_ARRAY(&w->arena, struct job_rec, count);
    for (size_t i = 0; i < m.jobs.len; i++)
        ids[i] = m.jobs.items[m.jobs.len - 1 - i].id;
    ids[m.jobs.len] = 1; /* there is no such job */
    assert_rc(w->reader->ops->heads(w->reader, ids, count, &w->arena, heads, &w->err), RC_OK);
    assert_int_equal(heads[m.jobs.len].id, 0);
    struct job_rec *now = ARENA_ARRAY(&w->arena, struct job_rec, count);
    assert_rc(w->reader->ops->standings(w->reader, ids, count, &w->arena, now, &w->err), RC_OK);
    assert_int_equal(now[m.jobs.len].id, 0);
    for (size_t i = 0; i < m.jobs.len; i++)
        assert_same_job(&now[i], model_job(&m, ids[i]), BRIEF);
    for (int ended = 0; ended < 2; ended++) {
        struct exec_page *runs = ARENA_ARRAY(&w->arena, struct exec_page, count);
        assert_rc(
            w->reader->ops->runs(w->reader, ids, count, ended == 0, 3, &w->arena, runs, &w->err),
            RC_OK);
        assert_int_equal(runs[m.jobs.len].count, 0);
        for (size_t i = 0; i < m.jobs.len; i++) {
            struct filter f = {.job_id = ids[i], .unfinished = ended == 0};
            f.states = ended == 0 ? 0 : FILTER_FINAL;
            struct ids want = list_expected_execs(w, &m, &f);
            const struct job_rec *job = model_job(&m, ids[i]);
            assert_int_equal(heads[i].id, ids[i]);
            assert_str(heads[i].name, job->name);
            assert_str(heads[i].tags, job->tags);
            assert_int_equal(runs[i].count, want.len < 3 ? want.len : 3);
            for (size_t k = 0; k < runs[i].count; k++)
                assert_same_exec(&runs[i].execs[k], model_exec(&m, want.items[k]), BRIEF);
        }
    }
}

PROMISE(newest_attempts_of_many_are_those_of_each)
{
    struct world *w = *state;
    CLEANUP(model_free) struct model m = {0};
    model_live(w, &m, 60);
    uint64_t *ids = ARENA_ARRAY(&w->arena, uint64_t, m.execs.len);
    struct attempt_rec *got = ARENA_ARRAY(&w->arena, struct attempt_rec, m.execs.len);
    for (size_t i = 0; i < m.execs.len; i++)
        ids[i] = m.execs.items[i].id;
    assert_rc(w->reader->ops->newest_attempts(w->reader, ids, m.execs.len, &w->arena, got, &w->err),
              RC_OK);
    for (size_t i = 0; i < m.execs.len; i++) {
        const struct attempt_rec *want = newest_attempt(&m, ids[i]);
        assert_int_equal(got[i].exec_id, want == NULL ? 0 : ids[i]);
        if (want == NULL)
            continue;
        assert_int_equal(got[i].token, want->token);
        assert_int_equal(got[i].worker_id, want->worker_id);
        assert_int_equal(got[i].class, want->class);
        assert_int_equal(got[i].fingerprint, want->fingerprint);
    }
}
