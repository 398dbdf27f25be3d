/* load_live.c - executions page by page, and beside each page its jobs.
 *
 * A join would look up each job by a scan of its own, which was half of the database's work. But
 * jobs that were submitted together have numbers side by side: a run of them is one scan. So the
 * jobs of a page are a statement of its own, asked for by runs when the page is here. */
#include "base/id.h"
#include "base/map.h"
#include "store/postgres/postgres.h"
#include "store/sql/row.h"

enum {
    LOAD_PAGE = 1000, /* executions at a time: they stay in the cache, on their way into memory */
    /* From job to job in a run, at most: numbers go round the buckets, and what lies between one
     * and the next was made in the same millisecond. So a run has few jobs that are not of the
     * page. */
    RUN_STEP = 2 << ID_BUCKET_SHIFT
};

struct live_page {
    struct pg_call *execs; /* by id; NULL: there is no such page */
    struct pg_call *jobs;  /* of those, perhaps with a few others */
};

static struct pg_call *ask_execs(struct pg *pg, const struct ownership *own, int64_t until_ms,
                                 uint64_t after)
{
    struct pg_call *use = pg_call(pg, Q_LOAD_LIVE);
    postgres_bind_set(use, own);
    pg_i64(use, until_ms);
    pg_u64(use, after);
    pg_i64(use, LOAD_PAGE);
    return use;
}

static uint64_t job_of(const struct pg_call *execs, size_t at)
{
    struct row row = pg_row(execs, at, NULL);
    (void)row_u64(&row); /* its own id */
    return row_u64(&row);
}

static struct pg_call *ask_jobs(struct pg *pg, const struct pg_call *execs)
{
    struct pg_call *use = pg_call(pg, Q_LOAD_JOBS);
    pg_columns(use, "ii", 0);
    for (size_t i = 0; i < pg_rows(execs);) {
        uint64_t first = job_of(execs, i);
        uint64_t last = first;
        for (i++; i < pg_rows(execs); i++) {
            uint64_t id = job_of(execs, i);
            if (id < last || id - last > RUN_STEP)
                break;
            last = id;
        }
        pg_u64(use, first);
        pg_u64(use, last);
    }
    return use;
}

/* Where the next page begins; 0: there is none (or a row without an id, which cannot be stepped
 * over). */
static uint64_t page_end(const struct pg_call *execs)
{
    if (pg_rows(execs) < LOAD_PAGE)
        return 0;
    struct row last = pg_row(execs, LOAD_PAGE - 1, NULL);
    return row_u64(&last);
}

/* By id, in arena. */
static void read_jobs(const struct pg_call *use, struct arena *arena, struct map *jobs)
{
    struct job_rec *all = ARENA_ARRAY(arena, struct job_rec, pg_rows(use));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct row row = pg_row(use, i, NULL);
        if (postgres_row_live_job(&row, &all[i]))
            map_put(jobs, all[i].id, &all[i]);
    }
}

/* An execution is of no use without its job, and is left out with it. */
static enum rc load_page(const struct live_page *page, const struct load_sink *sink,
                         struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(map_free) struct map jobs = {0};
    read_jobs(page->jobs, &arena, &jobs);
    for (size_t i = 0; i < pg_rows(page->execs); i++) {
        struct row row = pg_row(page->execs, i, NULL);
        struct exec_rec exec;
        bool good = postgres_row_live(&row, &exec);
        const struct job_rec *job = map_get(&jobs, exec.job_id);
        if (!good || job == NULL) {
            if (sink->damaged != NULL)
                sink->damaged(sink->arg, exec.id);
            continue;
        }
        if (sink->job != NULL)
            TRY(sink->job(sink->arg, job, err));
        if (sink->exec != NULL)
            TRY(sink->exec(sink->arg, &exec, err));
    }
    return RC_OK;
}

/* The database must never wait for us, nor we for it: while a page is loaded, its successor's jobs
 * and the page behind that are on their way. The latter goes first, since more can be asked for as
 * soon as it is here. */
enum rc postgres_load_live(struct pg *pg, const struct ownership *own, int64_t until_ms,
                           const struct load_sink *sink, struct err *err)
{
    PG_CLEAR(pg);
    struct live_page page = {0};
    struct pg_call *ahead = ask_execs(pg, own, until_ms, 0);
    TRY(pg_run(pg, err));
    do {
        struct live_page next = {.execs = ahead};
        if (next.execs != NULL) {
            TRY(pg_await(pg, next.execs, err));
            uint64_t after = page_end(next.execs);
            ahead = after == 0 ? NULL : ask_execs(pg, own, until_ms, after);
            next.jobs = ask_jobs(pg, next.execs);
            pg_ask(pg);
        }
        if (page.execs != NULL) {
            TRY(next.execs != NULL ? pg_await(pg, page.jobs, err) : pg_run(pg, err));
            enum rc rc = load_page(&page, sink, err);
            if (rc != RC_OK) {
                pg_rollback(pg); /* others are on their way */
                return rc;
            }
            pg_forget(pg, page.execs);
            pg_forget(pg, page.jobs);
        }
        page = next;
    } while (page.execs != NULL);
    return RC_OK;
}
