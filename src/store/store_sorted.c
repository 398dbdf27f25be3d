/* store_sorted.c - jobs in another order than the newest first: by name, by their next run.
 *
 * A store walks the index that has the order, a chunk at a time, and knows no filter there; each
 * job is asked about the filter's predicate here. So what fits is said once for all stores, and a
 * page costs what it looks at, whatever it finds. */
#include "base/vec.h"
#include "job/record/runs.h"
#include "job/spec_scan.h"
#include "store/store.h"

enum {
    CHUNK_ROWS = 256,           /* are read at a time at most … */
    ROWS_MAX = LIST_SPARSE_MAX, /* … and as many for a page, since they lie apart, … */
    PAGE_BYTES_MAX = 1 << 24,   /* … until what was read takes so much memory */
};

/* A page that is being made. */
struct walk {
    struct reader *reader;
    enum job_sort sort;
    const struct filter *filter;
    struct arena *arena;
    size_t limit;
    struct sort_place at; /* behind which the walk goes on */
    VEC(struct sorted_job) shown;
    struct str prefix;  /* of the names that fit */
    bool nameless;      /* jobs without a name may fit, too */
    bool looked_enough; /* the store has, for this page */
    bool has_ended;     /* there is nothing behind `at` */
};

/* ---- names */

/* Names that fit stand together where the filter says how they begin. */
static void set_names(struct walk *w)
{
    const struct filter *f = w->filter;
    if (w->sort != SORT_NAME)
        return;
    w->nameless =
        f->name.len == 0 && (f->pattern.len == 0 || filter_name_fits(f->pattern, (struct str){0}));
    if (f->name.len > 0)
        w->prefix = f->name;
    else if (!filter_prefix(f, w->arena, &w->prefix))
        w->prefix = (struct str){0};
    if (w->at.id == 0)
        w->at.name = w->prefix; /* ids are not zero, so this is before the first of that name */
}

static bool among_nameless(const struct walk *w)
{
    return w->sort == SORT_NAME && w->at.name.len == 0 && w->at.id != 0;
}

/* The walk is over for names, and goes on with jobs that have none. */
static void leave_names(struct walk *w)
{
    w->at = (struct sort_place){.id = UINT64_MAX >> 1};
    w->has_ended = !w->nameless;
}

/* ---- chunks */

/* Jobs without a name, from the list of all. */
static enum rc read_nameless(struct walk *w, size_t max, struct sorted_page *ret_chunk,
                             struct err *err)
{
    struct page page = {.before = w->at.id, .limit = max};
    struct job_page all;
    TRY(w->reader->ops->jobs(w->reader, w->filter, &page, w->arena, &all, err));
    *ret_chunk = (struct sorted_page){
        .jobs = ARENA_ARRAY(w->arena, struct sorted_job, all.count + 1),
        .more = all.next != 0,
        .last = {.id = all.next},
    };
    w->looked_enough = all.count < max;
    for (size_t i = 0; i < all.count; i++) {
        if (all.jobs[i].name.len == 0)
            ret_chunk->jobs[ret_chunk->count++] =
                (struct sorted_job){.job = all.jobs[i], .place = {.id = all.jobs[i].id}};
    }
    return RC_OK;
}

static bool may_fit(const struct walk *w, struct str name)
{
    return w->filter->name.len > 0 ? str_eq(name, w->filter->name) : str_starts(name, w->prefix);
}

/* Cuts what stands behind the names that fit. */
static void cut_names(const struct walk *w, struct sorted_page *chunk)
{
    size_t count = 0;
    while (count < chunk->count && may_fit(w, chunk->jobs[count].place.name))
        count++;
    chunk->more &= count == chunk->count;
    chunk->count = count;
}

static enum rc read_chunk(struct walk *w, size_t max, struct sorted_page *ret_chunk,
                          struct err *err)
{
    if (among_nameless(w))
        return read_nameless(w, max, ret_chunk, err);
    TRY(w->reader->ops->sorted(w->reader, w->sort, &w->at, max, w->arena, ret_chunk, err));
    if (w->sort == SORT_NAME)
        cut_names(w, ret_chunk);
    return RC_OK;
}

/* ---- what fits */

/* A job of which two executions wait for their moment, a retry and the next slot, stands where its
 * next run does; one that is paused nowhere. */
static bool stands_here(const struct sorted_job *job, const struct exec_page *runs)
{
    const struct exec_rec *next =
        runs_next(job->job.state, spec_scan_recurs(job->job.spec), runs->execs, runs->count);
    return next != NULL && next->id == job->place.id;
}

static bool needs_runs(const struct walk *w)
{
    return w->sort == SORT_NEXT_RUN || w->filter->phases != 0;
}

/* Leaves in the chunk what the jobs' own rows let through. */
static void keep_plain(const struct walk *w, struct sorted_page *chunk)
{
    struct filter plain = filter_plain(w->filter, FILTER_OF_JOBS);
    size_t kept = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        struct filter_facts facts = {.job = &chunk->jobs[i].job};
        if (filter_fits(&plain, &facts))
            chunk->jobs[kept++] = chunk->jobs[i];
    }
    chunk->count = kept;
}

/* … and what their executions do. */
static enum rc keep_by_runs(const struct walk *w, struct sorted_page *chunk, struct err *err)
{
    uint64_t *ids = ARENA_ARRAY(w->arena, uint64_t, chunk->count + 1);
    struct exec_page *runs = ARENA_ARRAY(w->arena, struct exec_page, chunk->count + 1);
    size_t kept = 0;
    for (size_t i = 0; i < chunk->count; i++)
        ids[i] = chunk->jobs[i].job.id;
    if (chunk->count > 0)
        TRY(w->reader->ops->runs(w->reader, ids, chunk->count, true, RUNS_UNFINISHED_MAX, w->arena,
                                 runs, err));
    for (size_t i = 0; i < chunk->count; i++) {
        const struct sorted_job *job = &chunk->jobs[i];
        struct filter_facts facts = {.job = &job->job};
        facts.phase = runs_phase(job->job.state, runs[i].execs, runs[i].count);
        if ((w->sort != SORT_NEXT_RUN || stands_here(job, &runs[i])) &&
            filter_fits(w->filter, &facts))
            chunk->jobs[kept++] = *job;
    }
    chunk->count = kept;
    return RC_OK;
}

/* Shows those that fit, and moves on: behind the chunk, or behind the last that the page has room
 * for. */
static enum rc show_chunk(struct walk *w, struct sorted_page *chunk, struct err *err)
{
    keep_plain(w, chunk);
    if (needs_runs(w))
        TRY(keep_by_runs(w, chunk, err));
    for (size_t i = 0; i < chunk->count; i++) {
        if (w->shown.len == w->limit) {
            w->at = w->shown.items[w->limit - 1].place;
            return RC_OK;
        }
        *VEC_PUSH(w->arena, &w->shown) = chunk->jobs[i];
    }
    if (chunk->more)
        w->at = chunk->last;
    else if (w->sort == SORT_NAME && !among_nameless(w))
        leave_names(w);
    else
        w->has_ended = true;
    return RC_OK;
}

enum rc store_list_sorted(struct reader *reader, enum job_sort sort, const struct filter *filter,
                          const struct sort_place *after, size_t limit, struct arena *arena,
                          struct sorted_page *ret_page, struct err *err)
{
    struct walk w = {.reader = reader,
                     .sort = sort,
                     .filter = filter,
                     .arena = arena,
                     .limit = limit,
                     .at = *after};
    size_t bytes_max = arena->used_bytes + PAGE_BYTES_MAX;
    size_t max = limit < CHUNK_ROWS ? limit + 1 : CHUNK_ROWS; /* enough where all of them fit */
    set_names(&w);
    for (size_t rows = 0; !w.has_ended && w.shown.len < limit && rows < ROWS_MAX; rows += max) {
        struct sorted_page chunk;
        if (rows > 0)
            max = CHUNK_ROWS;
        TRY(read_chunk(&w, max, &chunk, err));
        TRY(show_chunk(&w, &chunk, err));
        if (w.looked_enough || arena->used_bytes >= bytes_max)
            break;
    }
    *ret_page = (struct sorted_page){w.shown.items, w.shown.len, !w.has_ended, w.at};
    return RC_OK;
}
