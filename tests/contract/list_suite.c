/* Lists: keyset pages, newest first, with filters; and the single reads behind them. */
#include "model.h"

#include <stdlib.h>

/* ---- what the model says */

static bool fits(struct str wanted, struct str text)
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

static bool has_tag(struct str tags, struct str tag)
{
    for (size_t at = 0; at + tag.len + 2 <= tags.len; at++) {
        struct str rest = str_from(tags, at);
        if (rest.ptr[0] == '\n' && str_starts(str_from(rest, 1), tag) &&
            rest.ptr[1 + tag.len] == '\n')
            return true;
    }
    return false;
}

static bool job_fits(const struct job_rec *job, const struct filter *f)
{
    return (f->states == 0 || (f->states & FILTER_STATE(job->state)) != 0) &&
           (f->queue.len == 0 || among(f->queue, job->queue)) && fits(f->owner, job->owner) &&
           fits(f->team, job->team) && fits(f->name, job->name) &&
           (f->tags.len == 0 || has_tag(job->tags, f->tags)) &&
           span_fits(f->created, job->created_ms) && span_fits(f->finished, job->finished_ms);
}

static bool exec_fits(const struct exec_rec *exec, const struct filter *f)
{
    return (f->states == 0 || (f->states & FILTER_STATE(exec->state)) != 0) &&
           !(f->unfinished && exec_is_final(exec->state)) &&
           (f->queue.len == 0 || among(f->queue, exec->queue)) &&
           (f->job_id == 0 || exec->job_id == f->job_id) &&
           span_fits(f->created, exec->created_ms) && span_fits(f->started, exec->started_ms) &&
           span_fits(f->finished, exec->finished_ms);
}

static int newest_first(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left > right ? -1 : left < right;
}

struct ids {
    uint64_t *items;
    size_t len;
};

static struct ids expected_jobs(struct world *w, const struct model *m, const struct filter *f)
{
    struct ids ids = {.items = ARENA_ARRAY(&w->arena, uint64_t, m->jobs.len)};
    for (size_t i = 0; i < m->jobs.len; i++) {
        if (job_fits(&m->jobs.items[i], f))
            ids.items[ids.len++] = m->jobs.items[i].id;
    }
    qsort(ids.items, ids.len, sizeof *ids.items, newest_first);
    return ids;
}

static struct ids expected_execs(struct world *w, const struct model *m, const struct filter *f)
{
    struct ids ids = {.items = ARENA_ARRAY(&w->arena, uint64_t, m->execs.len)};
    for (size_t i = 0; i < m->execs.len; i++) {
        if (exec_fits(&m->execs.items[i], f))
            ids.items[ids.len++] = m->execs.items[i].id;
    }
    qsort(ids.items, ids.len, sizeof *ids.items, newest_first);
    return ids;
}

/* ---- what the store says, walked to the end */

static struct job_page job_page(struct world *w, const struct filter *f, const struct page *page)
{
    struct job_page got;
    assert_rc(w->reader->ops->jobs(w->reader, f, page, &w->arena, &got, &w->err), RC_OK);
    assert_true(got.count <= page->limit);
    assert_true(got.next == 0 || page->before == 0 || got.next < page->before); /* it moves on */
    return got;
}

static struct exec_page exec_page(struct world *w, const struct filter *f, const struct page *page)
{
    struct exec_page got;
    assert_rc(w->reader->ops->execs(w->reader, f, page, &w->arena, &got, &w->err), RC_OK);
    assert_true(got.count <= page->limit);
    assert_true(got.next == 0 || page->before == 0 || got.next < page->before);
    return got;
}

static void check_jobs(struct world *w, const struct model *m, const struct filter *f, size_t limit)
{
    struct ids want = expected_jobs(w, m, f);
    struct page page = {.limit = limit};
    size_t seen = 0;
    do {
        struct job_page got = job_page(w, f, &page);
        for (size_t i = 0; i < got.count; i++) {
            assert_true(seen < want.len);
            assert_int_equal(got.jobs[i].id, want.items[seen++]);
            assert_same_job(&got.jobs[i], model_job(m, got.jobs[i].id), BRIEF);
        }
        page.before = got.next;
    } while (page.before != 0);
    assert_int_equal(seen, want.len);
}

static void check_execs(struct world *w, const struct model *m, const struct filter *f,
                        size_t limit)
{
    struct ids want = expected_execs(w, m, f);
    struct page page = {.limit = limit};
    size_t seen = 0;
    do {
        struct exec_page got = exec_page(w, f, &page);
        for (size_t i = 0; i < got.count; i++) {
            assert_true(seen < want.len);
            assert_int_equal(got.execs[i].id, want.items[seen++]);
            assert_same_exec(&got.execs[i], model_exec(m, got.execs[i].id), BRIEF);
        }
        page.before = got.next;
    } while (page.before != 0);
    assert_int_equal(seen, want.len);
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

static struct filter random_filter(struct rng *rng, uint64_t states)
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

PROMISE(lists_agree_with_the_model)
{
    struct world *w = *state;
    CLEANUP(model_free) struct model m = {0};
    for (int i = 0; i < 12; i++) {
        model_live(w, &m, 15);
        for (int j = 0; j < 12; j++) {
            size_t limit = 1 + rng_below(&w->rng, 30);
            struct filter jobs = random_filter(&w->rng, JOB_STATES);
            check_jobs(w, &m, &jobs, limit);
            struct filter execs = random_filter(&w->rng, EXEC_STATES);
            if (m.jobs.len > 0 && rng_below(&w->rng, 4) == 0)
                execs.job_id = m.jobs.items[rng_below(&w->rng, m.jobs.len)].id;
            execs.unfinished = rng_below(&w->rng, 4) == 0;
            check_execs(w, &m, &execs, limit);
        }
    }
}

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
        if (!has_tag(tags, str_cut(&wanted, '\n')))
            return false;
    }
    return true;
}

static bool rich_job_fits(const struct model *m, const struct job_rec *job, const struct filter *f)
{
    struct filter plain = *f;
    plain.tags = (struct str){0};
    return job_fits(job, &plain) && has_tags(job->tags, f->tags) &&
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
    return exec_fits(exec, f) && fits(f->name, job->name) && fits(f->team, job->team) &&
           fits(f->owner, job->owner) && has_tags(job->tags, f->tags) &&
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
    qsort(want.items, want.len, sizeof *want.items, newest_first);
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
    qsort(want.items, want.len, sizeof *want.items, newest_first);
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
            struct filter jobs = random_filter(&w->rng, JOB_STATES);
            add_rich(w, &m, &jobs);
            for (uint64_t count = rng_below(&w->rng, 3); count > 0; count--)
                jobs.phases |= 1u << (1 + rng_below(&w->rng, PHASES - 1));
            check_rich_jobs(w, &m, &jobs, limit);
            struct filter execs = random_filter(&w->rng, EXEC_STATES);
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
    for (int ended = 0; ended < 2; ended++) {
        struct exec_page *runs = ARENA_ARRAY(&w->arena, struct exec_page, count);
        assert_rc(
            w->reader->ops->runs(w->reader, ids, count, ended == 0, 3, &w->arena, runs, &w->err),
            RC_OK);
        assert_int_equal(runs[m.jobs.len].count, 0);
        for (size_t i = 0; i < m.jobs.len; i++) {
            struct filter f = {.job_id = ids[i], .unfinished = ended == 0};
            f.states = ended == 0 ? 0 : FILTER_FINAL;
            struct ids want = expected_execs(w, &m, &f);
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

static void assert_known_attempt(const struct model *m, const struct attempt_rec *got)
{
    const struct attempt_rec *want = NULL;
    for (size_t i = 0; i < m->attempts.len; i++) {
        if (m->attempts.items[i].exec_id == got->exec_id &&
            m->attempts.items[i].token == got->token)
            want = &m->attempts.items[i];
    }
    assert_non_null(want);
    assert_int_equal(got->number, want->number);
    assert_int_equal(got->worker_id, want->worker_id);
    assert_int_equal(got->started_ms, want->started_ms);
    assert_int_equal(got->ended_ms, want->ended_ms);
    assert_int_equal(got->outcome, want->outcome);
    assert_int_equal(got->usage.exit_code, want->usage.exit_code);
    assert_int_equal(got->usage.signal, want->usage.signal);
    assert_int_equal(got->usage.cpu_ms, want->usage.cpu_ms);
    assert_int_equal(got->usage.peak_memory_bytes, want->usage.peak_memory_bytes);
    assert_int_equal(got->usage.output_bytes, want->usage.output_bytes);
    assert_int_equal(got->usage.dropped_bytes, want->usage.dropped_bytes);
    assert_int_equal(got->usage.log_seq, want->usage.log_seq);
    assert_str(got->error, want->error);
}

PROMISE(single_reads_agree_with_the_model)
{
    struct world *w = *state;
    CLEANUP(model_free) struct model m = {0};
    model_live(w, &m, 60);
    for (size_t i = 0; i < m.jobs.len; i++) {
        struct job_rec job = read_job(w, m.jobs.items[i].id);
        assert_same_job(&job, &m.jobs.items[i], WHOLE);
    }
    size_t attempts_seen = 0;
    for (size_t i = 0; i < m.execs.len; i++) {
        struct exec_rec exec;
        struct attempt_rec *attempts;
        size_t count;
        assert_rc(w->reader->ops->exec(w->reader, m.execs.items[i].id, &w->arena, &exec, &attempts,
                                       &count, &w->err),
                  RC_OK);
        assert_same_exec(&exec, &m.execs.items[i], WHOLE);
        attempts_seen += count;
        for (size_t j = 0; j < count; j++)
            assert_known_attempt(&m, &attempts[j]);
    }
    assert_int_equal(attempts_seen, m.attempts.len);
}

/* Pages are walked while new rows arrive and old ones end: what was there when the walk began and
 * never left is seen once, in order, and nothing is seen twice. */
PROMISE(rows_that_arrive_meanwhile_shift_nothing)
{
    struct world *w = *state;
    CLEANUP(model_free) struct model m = {0};
    model_live(w, &m, 40);
    struct ids want = expected_execs(w, &m, &(struct filter){0});
    struct page page = {.limit = 3};
    size_t seen = 0;
    uint64_t last = UINT64_MAX;
    do {
        struct exec_page got = exec_page(w, &(struct filter){0}, &page);
        for (size_t i = 0; i < got.count; i++) {
            assert_true(got.execs[i].id < last);
            last = got.execs[i].id;
            assert_int_equal(got.execs[i].id, want.items[seen++]);
        }
        page.before = got.next;
        model_live(w, &m, 1);
    } while (page.before != 0);
    assert_int_equal(seen, want.len);
}

PROMISE(a_running_filter_shows_stopping_ones_too)
{
    struct world *w = *state;
    uint64_t running = world_submit(w, EXEC_RUNNING);
    uint64_t stopping = world_submit(w, EXEC_STOPPING);
    world_submit(w, EXEC_QUEUED);
    struct page page = {.limit = 10};
    struct exec_page got = exec_page(w, &(struct filter){.states = FILTER_RUNNING}, &page);
    assert_int_equal(got.count, 2);
    assert_int_equal(got.execs[0].id, stopping);
    assert_int_equal(got.execs[1].id, running);
    got = exec_page(w, &(struct filter){.states = FILTER_STATE(EXEC_STOPPING)}, &page);
    assert_int_equal(got.count, 1);
}

PROMISE(an_unfinished_filter_leaves_out_what_is_over)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change changes[] = {
        new_exec(w, &job, EXEC_COMPLETED), new_exec(w, &job, EXEC_BLOCKED),
        new_exec(w, &job, EXEC_SKIPPED), new_exec(w, &job, EXEC_SCHEDULED)};
    world_commit(w,
                 (struct delta){.jobs = &job, .job_count = 1, .execs = changes, .exec_count = 4});
    world_submit(w, EXEC_QUEUED);
    struct filter f = {.job_id = job.job.id, .unfinished = true};
    struct exec_page got = exec_page(w, &f, &(struct page){.limit = 9});
    assert_int_equal(got.count, 2);
    assert_int_equal(got.next, 0);
    assert_int_equal(got.execs[0].state, EXEC_SCHEDULED);
    assert_int_equal(got.execs[1].state, EXEC_BLOCKED);
    f.states = FILTER_STATE(EXEC_SKIPPED);
    assert_int_equal(exec_page(w, &f, &(struct page){.limit = 9}).count, 0);
}

PROMISE(a_full_page_at_the_end_says_so)
{
    struct world *w = *state;
    for (int i = 0; i < 4; i++)
        world_submit(w, i % 2 == 0 ? EXEC_QUEUED : EXEC_COMPLETED);
    assert_int_equal(job_page(w, &(struct filter){0}, &(struct page){.limit = 4}).next, 0);
    assert_int_equal(exec_page(w, &(struct filter){0}, &(struct page){.limit = 4}).next, 0);
    assert_true(exec_page(w, &(struct filter){0}, &(struct page){.limit = 3}).next != 0);
    struct page far = {.limit = 4, .before = UINT64_MAX};
    assert_int_equal(job_page(w, &(struct filter){0}, &far).count, 4);
}

enum { BATCH = 1000, BATCHES = 22, RARE = 20 };
_Static_assert(BATCH *BATCHES > LIST_SCAN_MAX, "more than a page may look at");

/* Enough rows that a page has to end early. The oldest of them are rare, half of those unfinished;
 * all others are finished. So one table ends where the other has hardly begun. */
static void submit_many(struct world *w, struct str rare)
{
    struct job_change *jobs = ARENA_ARRAY(&w->arena, struct job_change, BATCH);
    struct exec_change *execs = ARENA_ARRAY(&w->arena, struct exec_change, BATCH);
    struct delta delta = {.jobs = jobs, .job_count = BATCH, .execs = execs, .exec_count = BATCH};
    for (int i = 0; i < BATCHES; i++) {
        for (int j = 0; j < BATCH; j++) {
            bool is_rare = i == 0 && j < RARE;
            jobs[j] = new_job(w);
            if (is_rare)
                jobs[j].job.queue = rare;
            execs[j] = new_exec(w, &jobs[j], is_rare && j % 2 == 0 ? EXEC_QUEUED : EXEC_COMPLETED);
        }
        world_commit(w, delta);
    }
}

PROMISE(what_is_rare_is_found_by_following_the_pages)
{
    struct world *w = *state;
    struct filter rare = {.queue = STR("rare")};
    submit_many(w, rare.queue);
    size_t seen = 0;
    struct page page = {.limit = 3};
    do {
        struct job_page got = job_page(w, &rare, &page);
        seen += got.count;
        page.before = got.next;
    } while (page.before != 0);
    assert_int_equal(seen, RARE);
    seen = 0;
    uint64_t last = UINT64_MAX;
    do {
        struct exec_page got = exec_page(w, &rare, &page);
        for (size_t i = 0; i < got.count; i++, seen++) {
            assert_true(got.execs[i].id < last);
            last = got.execs[i].id;
        }
        page.before = got.next;
    } while (page.before != 0);
    assert_int_equal(seen, RARE);
}

/* ---- jobs that failed more than once */

enum {
    FAILED = LIST_SPARSE_MAX + 300,
    STUBBORN = LIST_SPARSE_MAX / 2 + 100
}; /* more than a page sees */

/* Each runs once more, or for the first time, and fails in the commit behind that: its execution tells. */
static void fail_all(struct world *w, struct job_change *jobs, size_t count, enum job_state end)
{
    struct exec_change *execs = ARENA_ARRAY(&w->arena, struct exec_change, count);
    struct delta delta = {.jobs = jobs, .job_count = count, .execs = execs, .exec_count = count};
    for (size_t i = 0; i < count; i++) {
        execs[i] = new_exec(w, &jobs[i], EXEC_RUNNING);
        execs[i].exec.first = jobs[i].kind == CHANGE_INSERT;
        jobs[i].job.state = JOB_ACTIVE;
        jobs[i].job.finished_ms = 0;
        jobs[i].job.last_exec = execs[i].exec.id;
        jobs[i].with_exec = false;
    }
    world_commit(w, delta);
    for (size_t i = 0; i < count; i++) {
        execs[i] = next_change(&execs[i].exec, CHANGE_FINISH, EXEC_FAILED);
        execs[i].exec.finished_ms = T0 + 1;
        execs[i].ends_job = &jobs[i];
        jobs[i].kind = CHANGE_UPDATE;
        jobs[i].job.state = end;
        jobs[i].job.finished_ms = T0 + 1;
        jobs[i].with_exec = true;
    }
    world_commit(w, delta);
}

/* All of the state that the pages show are these, the newest first. */
static void assert_listed(struct world *w, enum job_state state, const struct job_change *jobs,
                          size_t count, size_t limit)
{
    struct filter filter = {.states = FILTER_STATE(state)};
    struct page page = {.limit = limit};
    size_t left = count;
    do {
        struct job_page got = job_page(w, &filter, &page);
        for (size_t i = 0; i < got.count; i++) {
            assert_true(left > 0);
            assert_int_equal(got.jobs[i].id, jobs[--left].job.id);
            assert_int_equal(got.jobs[i].state, state);
        }
        page.before = got.next;
    } while (page.before != 0);
    assert_int_equal(left, 0);
}

PROMISE(jobs_that_failed_twice_are_listed_to_the_last)
{
    struct world *w = *state;
    struct job_change *jobs = ARENA_ARRAY(&w->arena, struct job_change, FAILED);
    for (size_t i = 0; i < FAILED; i++)
        jobs[i] = new_job(w);
    fail_all(w, jobs, FAILED, JOB_FAILED);
    assert_listed(w, JOB_FAILED, jobs, FAILED, 100);
    fail_all(w, jobs, FAILED, JOB_FAILED);
    assert_listed(w, JOB_FAILED, jobs, FAILED, 100);
    assert_listed(w, JOB_FAILED, jobs, FAILED, LIST_SPARSE_MAX);
    fail_all(w, jobs, FAILED, JOB_CANCELLED); /* what failed before is cancelled now */
    assert_listed(w, JOB_CANCELLED, jobs, FAILED, 100);
    assert_listed(w, JOB_FAILED, jobs, 0, 100);
}

/* One with more ends than a page looks at, between others whose own rows say that they failed. */
PROMISE(one_that_fails_all_the_time_hides_no_others)
{
    struct world *w = *state;
    enum { OTHERS = 650, PLACE = 640 };
    struct job_change *jobs = ARENA_ARRAY(&w->arena, struct job_change, OTHERS);
    for (size_t i = 0; i < OTHERS; i++) {
        jobs[i] = new_job(w);
        jobs[i].job.state = i == PLACE ? JOB_ACTIVE : JOB_FAILED;
    }
    world_commit(w, (struct delta){.jobs = jobs, .job_count = OTHERS});
    jobs[PLACE].kind = CHANGE_UPDATE;
    for (size_t i = 0; i < STUBBORN; i++)
        fail_all(w, &jobs[PLACE], 1, JOB_FAILED);
    for (size_t i = 0; i < PLACE; i += 100) {
        jobs[i].kind = CHANGE_UPDATE; /* behind it there are ends, too */
        fail_all(w, &jobs[i], 1, JOB_FAILED);
    }
    assert_listed(w, JOB_FAILED, jobs, OTHERS, 100);
}
