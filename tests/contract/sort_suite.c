/* Jobs in other orders than the newest first: by name, and by their next run. */
#include "list_model.h"

#include <stdlib.h>

/* ---- what the store says, walked to the end */

static int place_order(const struct sort_place *a, const struct sort_place *b)
{
    bool nameless = a->name.len == 0 && a->due_ms == 0;
    int names = str_cmp(a->name, b->name);
    if (names != 0)
        return a->name.len == 0 ? 1 : b->name.len == 0 ? -1 : names;
    if (a->due_ms != b->due_ms)
        return a->due_ms < b->due_ms ? -1 : 1;
    return (a->id < b->id ? -1 : a->id > b->id) * (nameless ? -1 : 1);
}

static struct sorted_page sorted_page(struct world *w, enum job_sort sort, const struct filter *f,
                                      const struct sort_place *after, size_t limit)
{
    struct sorted_page got;
    assert_rc(store_list_sorted(w->reader, sort, f, after, limit, &w->arena, &got, &w->err), RC_OK);
    assert_true(got.count <= limit);
    for (size_t i = 1; i < got.count; i++)
        assert_true(place_order(&got.jobs[i - 1].place, &got.jobs[i].place) < 0);
    if (got.count > 0 && after->id != 0)
        assert_true(place_order(after, &got.jobs[0].place) < 0);
    if (got.more && after->id != 0)
        assert_true(place_order(after, &got.last) < 0); /* it moves on */
    return got;
}

static void check_sorted(struct world *w, const struct model *m, enum job_sort sort,
                         const struct filter *f, size_t limit, const struct ids *want)
{
    struct sorted_page got = {0};
    size_t seen = 0;
    do {
        struct sort_place after = got.last;
        got = sorted_page(w, sort, f, &after, limit);
        for (size_t i = 0; i < got.count; i++) {
            assert_true(seen < want->len);
            assert_int_equal(got.jobs[i].job.id, want->items[seen++]);
            if (m != NULL)
                assert_same_job(&got.jobs[i].job, model_job(m, got.jobs[i].job.id), BRIEF);
        }
    } while (got.more);
    assert_int_equal(seen, want->len);
}

/* ---- what the model says */

/* The execution that a job which runs once does next: of one that is under way, the retry it waits
 * for is that, too. */
static const struct exec_rec *plain_next(const struct model *m, const struct job_rec *job)
{
    const struct exec_rec *ahead = NULL;
    const struct exec_rec *current = NULL;
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct exec_rec *x = &m->execs.items[i];
        if (x->job_id != job->id || exec_is_final(x->state) || x->state == EXEC_BLOCKED)
            continue;
        const struct exec_rec **newest = x->state == EXEC_SCHEDULED ? &ahead : &current;
        if (*newest == NULL || x->id > (*newest)->id)
            *newest = x;
    }
    const struct exec_rec *next = ahead != NULL ? ahead : current;
    if (next != NULL && next == ahead && ahead->origin == ORIGIN_PING)
        return NULL; /* it waits for a ping, and runs nothing */
    bool waits = next != NULL && (next->state == EXEC_SCHEDULED || next->state == EXEC_RETRYING);
    return job->state != JOB_PAUSED && waits ? next : NULL;
}

struct expected {
    struct sort_place place;
    uint64_t job_id;
};

static int expected_order(const void *a, const void *b)
{
    const struct expected *left = a;
    const struct expected *right = b;
    return place_order(&left->place, &right->place);
}

static struct ids expected_jobs(struct world *w, const struct model *m, enum job_sort sort,
                                const struct filter *f)
{
    struct expected *all = ARENA_ARRAY(&w->arena, struct expected, m->jobs.len + 1);
    struct ids ids = {.items = ARENA_ARRAY(&w->arena, uint64_t, m->jobs.len + 1)};
    for (size_t i = 0; i < m->jobs.len; i++) {
        const struct job_rec *job = &m->jobs.items[i];
        const struct exec_rec *next = plain_next(m, job);
        if (!list_job_fits(job, f) || (sort == SORT_NEXT_RUN && next == NULL))
            continue;
        struct expected *e = &all[ids.len++];
        e->job_id = job->id;
        e->place = sort == SORT_NAME ? (struct sort_place){.name = job->name, .id = job->id}
                                     : (struct sort_place){.due_ms = next->due_ms, .id = next->id};
    }
    qsort(all, ids.len, sizeof *all, expected_order);
    for (size_t i = 0; i < ids.len; i++)
        ids.items[i] = all[i].job_id;
    return ids;
}

PROMISE(sorted_lists_agree_with_the_model)
{
    struct world *w = *state;
    CLEANUP(model_free) struct model m = {0};
    for (int i = 0; i < 12; i++) {
        model_live(w, &m, 15);
        for (int j = 0; j < 12; j++) {
            enum job_sort sort = j % 2 == 0 ? SORT_NAME : SORT_NEXT_RUN;
            struct filter f = {0};
            if (j % 3 != 0)
                f = list_random_filter(&w->rng, JOB_STATES);
            struct ids want = expected_jobs(w, &m, sort, &f);
            check_sorted(w, &m, sort, &f, 1 + rng_below(&w->rng, 30), &want);
        }
    }
}

/* ---- by name */

static uint64_t add_job(struct world *w, const char *name, const char *spec)
{
    struct job_change job = new_job(w);
    struct exec_change exec = new_exec(w, &job, EXEC_QUEUED);
    job.job.name = str_c(name);
    job.job.spec = str_c(spec);
    job.job.last_exec = exec.exec.id;
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    return job.job.id;
}

static const char plain_spec[] = "{\"command\":[\"true\"]}";

static void assert_listed(struct world *w, enum job_sort sort, struct filter f,
                          const uint64_t *want, size_t count)
{
    struct ids ids = {.items = ARENA_ARRAY(&w->arena, uint64_t, count + 1), .len = count};
    for (size_t i = 0; i < count; i++)
        ids.items[i] = want[i];
    check_sorted(w, NULL, sort, &f, 2, &ids);
    check_sorted(w, NULL, sort, &f, 500, &ids);
}

PROMISE(jobs_without_a_name_come_last_and_newest_first)
{
    struct world *w = *state;
    uint64_t first = add_job(w, "", plain_spec);
    uint64_t b = add_job(w, "beta", plain_spec);
    uint64_t a = add_job(w, "alpha", plain_spec);
    uint64_t upper = add_job(w, "Zeta", plain_spec);
    uint64_t same = add_job(w, "alpha", plain_spec);
    uint64_t accent = add_job(w, "\xc3\xa4pfel", plain_spec);
    uint64_t last = add_job(w, "", plain_spec);
    assert_listed(w, SORT_NAME, (struct filter){0},
                  (uint64_t[]){upper, a, same, b, accent, last, first}, 7);
    assert_listed(w, SORT_NAME, (struct filter){.name = STR("alpha")}, (uint64_t[]){a, same}, 2);
    assert_listed(w, SORT_NAME, (struct filter){.name = STR("alph")}, NULL, 0);
    assert_listed(w, SORT_NAME, (struct filter){.pattern = STR("alph*")}, (uint64_t[]){a, same}, 2);
    assert_listed(w, SORT_NAME, (struct filter){.pattern = STR("*eta")}, (uint64_t[]){upper, b}, 2);
    assert_listed(w, SORT_NAME, (struct filter){.pattern = STR("*")},
                  (uint64_t[]){upper, a, same, b, accent, last, first}, 7);
}

enum { MANY = 1200 };

/* Of one name, and due at one moment. */
static uint64_t *add_many(struct world *w, enum exec_state state)
{
    struct job_change *jobs = ARENA_ARRAY(&w->arena, struct job_change, MANY);
    struct exec_change *execs = ARENA_ARRAY(&w->arena, struct exec_change, MANY);
    uint64_t *ids = ARENA_ARRAY(&w->arena, uint64_t, MANY);
    for (size_t i = 0; i < MANY; i++) {
        jobs[i] = new_job(w);
        jobs[i].job.name = STR("same");
        execs[i] = new_exec(w, &jobs[i], state);
        jobs[i].job.last_exec = execs[i].exec.id;
        ids[i] = jobs[i].job.id;
    }
    world_commit(
        w, (struct delta){.jobs = jobs, .job_count = MANY, .execs = execs, .exec_count = MANY});
    return ids;
}

PROMISE(many_jobs_of_one_name_and_one_moment_are_paged_through)
{
    struct world *w = *state;
    struct ids all = {.items = add_many(w, EXEC_SCHEDULED), .len = MANY};
    for (enum job_sort sort = SORT_NAME; sort <= SORT_NEXT_RUN; sort++) {
        check_sorted(w, NULL, sort, &(struct filter){0}, 70, &all);
        check_sorted(w, NULL, sort, &(struct filter){0}, MANY, &all);
    }
}

/* What fits nothing costs a page, and the cursor goes on. */
PROMISE(a_sorted_page_looks_at_some_rows_and_ends)
{
    struct world *w = *state;
    struct filter nowhere = {.queue = STR("nowhere")};
    struct ids none = {0};
    add_many(w, EXEC_SCHEDULED);
    for (enum job_sort sort = SORT_NAME; sort <= SORT_NEXT_RUN; sort++) {
        struct sorted_page got = sorted_page(w, sort, &nowhere, &(struct sort_place){0}, 10);
        assert_int_equal(got.count, 0);
        assert_true(got.more);
        check_sorted(w, NULL, sort, &nowhere, 10, &none);
    }
}

/* ---- by the next run */

static uint64_t add_runs(struct world *w, enum job_state state, const char *spec,
                         const enum exec_state *states, const int64_t *due_ms, size_t count)
{
    struct job_change job = new_job(w);
    struct exec_change execs[4];
    job.job.state = state;
    job.job.spec = str_c(spec);
    for (size_t i = 0; i < count; i++) {
        execs[i] = new_exec(w, &job, states[i]);
        execs[i].exec.due_ms = due_ms[i];
        job.job.last_exec = execs[i].exec.id;
    }
    world_commit(w,
                 (struct delta){.jobs = &job, .job_count = 1, .execs = execs, .exec_count = count});
    return job.job.id;
}

#define RUNS(...)                                                                                  \
    (const enum exec_state[])                                                                      \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define DUE(...)                                                                                   \
    (const int64_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

PROMISE(a_job_stands_where_its_next_run_does)
{
    static const char cron[] = "{\"command\":[\"true\"],\"schedule\":{\"cron\":\"* * * * *\"}}";
    static const char every[] = "{\"command\":[\"true\"],\"schedule\":{\"every\":\"1h\"}}";
    static const char at[] =
        "{\"command\":[\"true\"],\"schedule\":{\"at\":\"2030-01-01T00:00:00Z\"}}";
    struct world *w = *state;
    uint64_t late = add_runs(w, JOB_ACTIVE, at, RUNS(EXEC_SCHEDULED), DUE(T0 + 90), 1);
    uint64_t both = add_runs(w, JOB_ACTIVE, cron, RUNS(EXEC_RETRYING, EXEC_SCHEDULED),
                             DUE(T0 + 10, T0 + 50), 2);
    uint64_t retry = add_runs(w, JOB_ACTIVE, plain_spec, RUNS(EXEC_RETRYING), DUE(T0 + 20), 1);
    uint64_t runs =
        add_runs(w, JOB_ACTIVE, every, RUNS(EXEC_RUNNING, EXEC_SCHEDULED), DUE(0, T0 + 30), 2);
    add_runs(w, JOB_PAUSED, cron, RUNS(EXEC_SCHEDULED), DUE(T0 + 5), 1);
    add_runs(w, JOB_ACTIVE, cron, RUNS(EXEC_RETRYING), DUE(T0 + 6), 1); /* the last of its slots */
    add_runs(w, JOB_ACTIVE, plain_spec, RUNS(EXEC_QUEUED), DUE(0), 1);
    add_runs(w, JOB_ACTIVE, plain_spec, RUNS(EXEC_RUNNING), DUE(0), 1);
    assert_listed(w, SORT_NEXT_RUN, (struct filter){0}, (uint64_t[]){retry, runs, both, late}, 4);
    assert_listed(w, SORT_NEXT_RUN, (struct filter){.phases = 1u << PHASE_RUNNING},
                  (uint64_t[]){runs}, 1);
    assert_listed(w, SORT_NEXT_RUN, (struct filter){.phases = 1u << PHASE_SCHEDULED},
                  (uint64_t[]){late}, 1);
}
