/* facts.c - what lists and pages ask about many at once: one statement for all of them. Rows begin
 * with the place of the id that they are about. */
#include "base/vec.h"
#include "store/postgres/postgres.h"
#include "store/sql/row.h"

static struct pg_call *ask_about(struct pg *pg, enum query query, const uint64_t *ids, size_t count)
{
    struct pg_call *use = pg_call(pg, query);
    pg_columns(use, "i", count);
    for (size_t i = 0; i < count; i++)
        pg_u64(use, ids[i]);
    return use;
}

/* The row behind the place that it begins with. */
static struct row row_about(const struct pg_call *use, size_t number, size_t count,
                            struct arena *arena, size_t *ret_place)
{
    struct row row = pg_row(use, number, arena);
    *ret_place = (size_t)row_range(&row, 1, (int64_t)count) - 1;
    return row;
}

enum rc postgres_read_heads(struct reader *reader, const uint64_t *job_ids, size_t count,
                            struct arena *arena, struct job_rec *ret_jobs, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = ask_about(pg, Q_READ_HEADS, job_ids, count);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < count; i++)
        ret_jobs[i] = (struct job_rec){0};
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct job_rec job;
        size_t place;
        struct row row = row_about(use, i, count, arena, &place);
        if (row_job(&row, &job))
            ret_jobs[place] = job;
    }
    return RC_OK;
}

enum rc postgres_read_newest_attempts(struct reader *reader, const uint64_t *exec_ids, size_t count,
                                      struct arena *arena, struct attempt_rec *ret_attempts,
                                      struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = ask_about(pg, Q_READ_NEWEST_ATTEMPTS, exec_ids, count);
    (void)arena;
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < count; i++)
        ret_attempts[i] = (struct attempt_rec){0};
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct attempt_rec attempt;
        size_t place;
        struct row row = row_about(use, i, count, NULL, &place);
        if (row_attempt_head(&row, &attempt))
            ret_attempts[place] = attempt;
    }
    return RC_OK;
}

/* Rows come job by job, the newest first. */
enum rc postgres_read_runs(struct reader *reader, const uint64_t *job_ids, size_t count,
                           bool unfinished, size_t max, struct arena *arena,
                           struct exec_page *ret_pages, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, unfinished ? Q_READ_UNFINISHED : Q_READ_ENDED);
    pg_u64(use, max);
    pg_columns(use, "i", count);
    for (size_t i = 0; i < count; i++)
        pg_u64(use, job_ids[i]);
    TRY(pg_run(pg, err));
    struct exec_rec *execs = ARENA_ARRAY(arena, struct exec_rec, pg_rows(use) + 1);
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        ret_pages[i] = (struct exec_page){0};
    for (size_t i = 0; i < pg_rows(use); i++) {
        size_t place;
        struct row row = row_about(use, i, count, arena, &place);
        if (!row_exec(&row, &execs[len]))
            continue;
        if (ret_pages[place].count++ == 0)
            ret_pages[place].execs = &execs[len];
        len++;
    }
    return RC_OK;
}
