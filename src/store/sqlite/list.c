#include "store/sql/list.h"
#include "base/vec.h"
#include "store/sql/row.h"
#include "store/sqlite/sqlite.h"

/* ---- windows */

static enum rc read_drift(struct db *db, const struct filter *filter, int64_t *ret_drift_ms,
                          struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_READ_DRIFT);
    bool found;
    *ret_drift_ms = 0;
    if (!window_needs_drift(filter))
        return RC_OK;
    TRY(stmt_next(&stmt, &found, err));
    struct row row = stmt_row(&stmt, NULL);
    *ret_drift_ms = (int64_t)row_u64(&row);
    if (row.bad)
        return err_set(err, RC_CORRUPT, "%s: its partition row is corrupt", db->path);
    return RC_OK;
}

static void bind_window(struct stmt *stmt, const struct window *w)
{
    stmt_u64(stmt, w->id_min);
    stmt_u64(stmt, w->id_end);
    stmt_i64(stmt, w->scan_max);
}

/* The same, with the values of fields that have an index between its parameters. */
static void bind_found(struct stmt *stmt, const struct filter *filter, const struct window *w)
{
    stmt_u64(stmt, w->id_min);
    stmt_u64(stmt, w->id_end);
    for (size_t i = 0; i < FILTER_COLUMNS; i++) {
        if (list_has_index(i))
            stmt_text_or_null(stmt, list_found_by(filter, i));
    }
    stmt_i64(stmt, w->scan_max);
}

static void bind_indexed(struct stmt *stmt, const struct filter *filter)
{
    for (size_t i = 0; i < FILTER_COLUMNS; i++) {
        if (filter_column_is_indexed(i))
            stmt_text_or_null(stmt, filter_column_text(filter, i));
    }
}

static void bind_span(struct stmt *stmt, struct filter_span span)
{
    span = list_span(span);
    stmt_i64(stmt, span.after_ms);
    stmt_i64(stmt, span.before_ms);
}

/* The last id of a window that was full, else 0. */
static enum rc read_edge(struct stmt *edge, uint64_t *ret_id, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = *edge;
    bool found;
    TRY(stmt_next(&stmt, &found, err));
    struct row row = stmt_row(&stmt, NULL);
    *ret_id = found ? row_u64(&row) : 0;
    return RC_OK;
}

/* ---- jobs */

/* Which list it is, and what that is asked for. */
struct job_query {
    enum job_list list;
    const struct filter *filter;
    struct window window;
    struct name_range names; /* JOB_LIST_PREFIX */
};

/* Few enough names begin so. */
static enum rc has_few_names(struct db *db, const struct name_range *names, bool *ret_few,
                             struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_LOOK_FOR_NAMES);
    bool many;
    stmt_text(&stmt, names->from);
    stmt_text(&stmt, names->to);
    stmt_i64(&stmt, LIST_SCAN_MAX);
    TRY(stmt_next(&stmt, &many, err));
    *ret_few = !many;
    return RC_OK;
}

static enum rc choose_list(struct db *db, struct job_query *q, struct arena *arena, struct err *err)
{
    bool few = false;
    q->list = job_list_of(q->filter);
    if (list_by_prefix(q->filter, arena, &q->names))
        TRY(has_few_names(db, &q->names, &few, err));
    if (!few)
        return RC_OK;
    q->list = JOB_LIST_PREFIX;
    q->window.scan_max = LIST_SPARSE_MAX;
    return RC_OK;
}

static struct stmt job_stmt(struct db *db, const enum sql lists[JOB_LISTS],
                            const struct job_query *q)
{
    struct stmt stmt = db_stmt(db, lists[q->list]);
    if (q->list == JOB_LIST_FOUND) {
        bind_found(&stmt, q->filter, &q->window);
        return stmt;
    }
    if (q->list == JOB_LIST_PREFIX) {
        stmt_text(&stmt, q->names.from);
        stmt_text(&stmt, q->names.to);
    }
    if (q->list == JOB_LIST_IN_STATE)
        stmt_i64(&stmt, list_job_state(q->filter));
    bind_window(&stmt, &q->window);
    return stmt;
}

/* Up to one job more than the page shows. */
static enum rc scan_jobs(struct db *db, const struct job_query *q, size_t limit,
                         struct arena *arena, struct job_page *ret_page, struct err *err)
{
    static const enum sql lists[JOB_LISTS] = {SQL_LIST_JOBS, SQL_LIST_JOBS_FOUND,
                                              SQL_LIST_JOBS_IN_STATE, SQL_LIST_JOBS_PREFIX};
    const struct filter *filter = q->filter;
    CLEANUP(stmt_end) struct stmt stmt = job_stmt(db, lists, q);
    VEC(struct job_rec) jobs = {0};
    stmt_i64(&stmt, list_states(filter, FILTER_OF_JOBS));
    stmt_text_or_null(&stmt, list_queues(filter, arena));
    stmt_text_or_null(&stmt, filter->owner);
    stmt_text_or_null(&stmt, filter->team);
    bind_indexed(&stmt, filter);
    stmt_text_or_null(&stmt, list_tag(filter, arena));
    bind_span(&stmt, filter->created);
    bind_span(&stmt, filter->finished);
    while (jobs.len <= limit) {
        bool found;
        struct job_rec job;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_job(&row, &job))
            *VEC_PUSH(arena, &jobs) = job;
    }
    *ret_page = (struct job_page){.jobs = jobs.items, .count = jobs.len};
    return RC_OK;
}

enum rc sqlite_list_jobs(struct reader *reader, const struct filter *filter,
                         const struct page *page, struct arena *arena, struct job_page *ret_page,
                         struct err *err)
{
    static const enum sql edges[JOB_LISTS] = {SQL_EDGE_JOBS, SQL_EDGE_JOBS_FOUND,
                                              SQL_EDGE_JOBS_IN_STATE, SQL_EDGE_JOBS_PREFIX};
    CLEANUP(sqlite_snapshot_end) struct db *db = NULL;
    int64_t drift_ms;
    TRY(sqlite_snapshot(reader, &db, err));
    TRY(read_drift(db, filter, &drift_ms, err));
    struct job_query q = {.filter = filter, .window = window_of_jobs(filter, page, drift_ms)};
    TRY(choose_list(db, &q, arena, err));
    TRY(scan_jobs(db, &q, page->limit, arena, ret_page, err));
    if (ret_page->count > page->limit) {
        ret_page->count = page->limit;
        ret_page->next = ret_page->jobs[page->limit - 1].id;
        return RC_OK;
    }
    struct stmt edge = job_stmt(db, edges, &q);
    return read_edge(&edge, &ret_page->next, err);
}

/* ---- jobs in another order */

enum rc sqlite_list_sorted(struct reader *reader, enum job_sort sort,
                           const struct sort_place *after, size_t max, struct arena *arena,
                           struct sorted_page *ret_page, struct err *err)
{
    CLEANUP(sqlite_snapshot_end) struct db *db = NULL;
    bool by_name = sort == SORT_NAME;
    VEC(struct sorted_job) jobs = {0};
    size_t seen = 0;
    bool found;
    *ret_page = (struct sorted_page){0};
    TRY(sqlite_snapshot(reader, &db, err));
    CLEANUP(stmt_end)
    struct stmt stmt = db_stmt(db, by_name ? SQL_LIST_BY_NAME : SQL_LIST_BY_NEXT_RUN);
    if (by_name)
        stmt_text(&stmt, after->name);
    else
        stmt_i64(&stmt, after->due_ms);
    stmt_u64(&stmt, after->id);
    stmt_u64(&stmt, max);
    for (;; seen++) {
        struct sorted_job job;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_sorted_job(&row, sort, &job))
            *VEC_PUSH(arena, &jobs) = job;
        ret_page->last = job.place;
    }
    ret_page->jobs = jobs.items;
    ret_page->count = jobs.len;
    ret_page->more = seen == max;
    return RC_OK;
}

/* ---- executions: two tables, one order */

/* by: the job or the state that the list is of. */
static struct stmt exec_stmt(struct db *db, enum sql sql, enum exec_list list, uint64_t by,
                             const struct window *w)
{
    struct stmt stmt = db_stmt(db, sql);
    if (list != EXEC_LIST_ALL)
        stmt_u64(&stmt, by);
    bind_window(&stmt, w);
    return stmt;
}

/* Up to one execution more than the page shows. */
static enum rc scan_execs(struct stmt *list, const struct filter *filter, size_t limit,
                          struct arena *arena, struct stretch *ret_stretch, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = *list;
    VEC(struct exec_rec) execs = {0};
    stmt_i64(&stmt, list_states(filter, FILTER_OF_EXECS));
    stmt_text_or_null(&stmt, list_queues(filter, arena));
    bind_span(&stmt, filter->created);
    bind_span(&stmt, filter->started);
    bind_span(&stmt, filter->finished);
    while (execs.len <= limit) {
        bool found;
        struct exec_rec exec;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            break;
        struct row row = stmt_row(&stmt, arena);
        if (row_exec(&row, &exec))
            *VEC_PUSH(arena, &execs) = exec;
    }
    *ret_stretch = (struct stretch){.execs = execs.items, .count = execs.len};
    return RC_OK;
}

/* Executions that have not ended are not asked for by an end. */
struct exec_table {
    enum sql lists[EXEC_LISTS];
    enum sql edges[EXEC_LISTS];
};

static const struct exec_table live_table = {
    {SQL_LIST_LIVE, SQL_LIST_LIVE_OF_JOB},
    {SQL_EDGE_LIVE, SQL_EDGE_LIVE_OF_JOB},
};
static const struct exec_table history_table = {
    {SQL_LIST_HISTORY, SQL_LIST_HISTORY_OF_JOB, SQL_LIST_HISTORY_IN_STATE},
    {SQL_EDGE_HISTORY, SQL_EDGE_HISTORY_OF_JOB, SQL_EDGE_HISTORY_IN_STATE},
};

static enum rc read_stretch(struct db *db, const struct exec_table *table, enum exec_list list,
                            uint64_t by, const struct filter *filter, const struct window *w,
                            size_t limit, struct arena *arena, struct stretch *ret_stretch,
                            struct err *err)
{
    struct stmt rows = exec_stmt(db, table->lists[list], list, by, w);
    TRY(scan_execs(&rows, filter, limit, arena, ret_stretch, err));
    if (ret_stretch->count > limit) {
        ret_stretch->floor = ret_stretch->execs[limit].id;
        return RC_OK;
    }
    struct stmt edge = exec_stmt(db, table->edges[list], list, by, w);
    return read_edge(&edge, &ret_stretch->floor, err);
}

static enum rc read_live(struct db *db, const struct filter *filter, const struct window *w,
                         size_t limit, struct arena *arena, struct stretch *ret_stretch,
                         struct err *err)
{
    bool of_job = exec_list_of(filter) == EXEC_LIST_OF_JOB;
    struct window live = window_of_live(filter, w);
    *ret_stretch = (struct stretch){0};
    if (!exec_list_has_live(filter))
        return RC_OK;
    return read_stretch(db, &live_table, of_job ? EXEC_LIST_OF_JOB : EXEC_LIST_ALL, filter->job_id,
                        filter, &live, limit, arena, ret_stretch, err);
}

/* Into one stretch, or one for each end that is seldom. */
static enum rc read_history(struct db *db, const struct filter *filter, const struct window *w,
                            size_t limit, struct arena *arena,
                            struct stretch ret_stretches[LIST_SELDOM_MAX], size_t *ret_count,
                            struct err *err)
{
    enum exec_list list = exec_list_of(filter);
    enum exec_state state = EXEC_NONE;
    *ret_count = 0;
    if (list != EXEC_LIST_IN_STATE) {
        *ret_count = exec_list_has_history(filter);
        return *ret_count == 0 ? RC_OK
                               : read_stretch(db, &history_table, list, filter->job_id, filter, w,
                                              limit, arena, &ret_stretches[0], err);
    }
    while ((state = list_next_seldom(filter, state)) != EXEC_NONE)
        TRY(read_stretch(db, &history_table, list, state, filter, w, limit, arena,
                         &ret_stretches[(*ret_count)++], err));
    return RC_OK;
}

enum rc sqlite_list_execs(struct reader *reader, const struct filter *filter,
                          const struct page *page, struct arena *arena, struct exec_page *ret_page,
                          struct err *err)
{
    CLEANUP(sqlite_snapshot_end) struct db *db = NULL;
    struct stretch stretches[1 + LIST_SELDOM_MAX];
    size_t count;
    int64_t drift_ms;
    TRY(sqlite_snapshot(reader, &db, err));
    TRY(read_drift(db, filter, &drift_ms, err));
    struct window w = window_of_execs(filter, page, drift_ms);
    if (exec_list_of(filter) == EXEC_LIST_OF_JOB)
        w.scan_max = LIST_SPARSE_MAX; /* rows lie apart, and no index tells how they ended */
    TRY(read_live(db, filter, &w, page->limit, arena, &stretches[0], err));
    TRY(read_history(db, filter, &w, page->limit, arena, &stretches[1], &count, err));
    *ret_page = stretch_merge(stretches, 1 + count, page->limit, arena);
    return RC_OK;
}

/* ---- when executions ran */

static enum rc tell_ran(struct stmt *rows, ran_sink *sink, void *arg, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = *rows;
    bool found;
    for (;;) {
        struct ran_rec ran;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            return RC_OK;
        struct row row = stmt_row(&stmt, NULL);
        if (row_ran(&row, &ran))
            sink(arg, &ran);
    }
}

static enum rc tell_slow(struct db *db, const struct ran_query *q, ran_sink *sink, void *arg,
                         uint64_t *ret_edge, struct err *err)
{
    struct stmt slow = db_stmt(db, SQL_RAN_SLOW);
    stmt_i64(&slow, q->from_ms);
    stmt_u64(&slow, q->scan_max);
    stmt_i64(&slow, q->until_ms);
    TRY(tell_ran(&slow, sink, arg, err));
    struct stmt edge = db_stmt(db, SQL_EDGE_SLOW);
    stmt_i64(&edge, q->from_ms);
    stmt_u64(&edge, q->scan_max);
    return read_edge(&edge, ret_edge, err);
}

enum rc sqlite_read_ran(struct reader *reader, const struct ran_query *q, ran_sink *sink, void *arg,
                        bool *ret_whole, struct err *err)
{
    CLEANUP(sqlite_snapshot_end) struct db *db = NULL;
    const struct filter filter = filter_of_ran(q);
    const struct window all = {.id_end = INT64_MAX, .scan_max = (int64_t)q->scan_max};
    uint64_t live_edge;
    uint64_t soon_edge;
    uint64_t slow_edge;
    int64_t drift_ms;
    TRY(sqlite_snapshot(reader, &db, err));
    TRY(read_drift(db, &filter, &drift_ms, err));
    struct window w = window_of_ran(q, drift_ms);
    struct stmt live = exec_stmt(db, SQL_RAN_LIVE, EXEC_LIST_ALL, 0, &all);
    stmt_i64(&live, q->until_ms);
    TRY(tell_ran(&live, sink, arg, err));
    struct stmt edge = exec_stmt(db, SQL_EDGE_LIVE, EXEC_LIST_ALL, 0, &all);
    TRY(read_edge(&edge, &live_edge, err));
    struct stmt soon = exec_stmt(db, SQL_RAN_SOON, EXEC_LIST_ALL, 0, &w);
    stmt_i64(&soon, q->from_ms);
    stmt_i64(&soon, q->until_ms);
    TRY(tell_ran(&soon, sink, arg, err));
    edge = exec_stmt(db, SQL_EDGE_HISTORY, EXEC_LIST_ALL, 0, &w);
    TRY(read_edge(&edge, &soon_edge, err));
    TRY(tell_slow(db, q, sink, arg, &slow_edge, err));
    *ret_whole = live_edge == 0 && soon_edge == 0 && slow_edge == 0;
    return RC_OK;
}
