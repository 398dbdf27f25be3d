#include "base/id.h"
#include "base/vec.h"
#include "store/sql/row.h"
#include "store/sqlite/sqlite.h"

#include <assert.h>

/* A list looks at a window of at most scan_max rows, newest first: [id_min, id_end). */
struct window {
    uint64_t id_min;
    uint64_t id_end;
    int64_t scan_max;
};

/* The smallest id that could have been made at that moment. */
static uint64_t first_id(int64_t at_ms)
{
    struct id_gen gen = {0};
    return at_ms <= ID_EPOCH_MS ? 0 : id_next(&gen, at_ms, 0);
}

/* How far an id's own time may be from created_ms: see `struct ids` in commit.c. */
static enum rc read_drift(struct db *db, int64_t *ret_drift_ms, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_READ_DRIFT);
    bool found;
    TRY(stmt_next(&stmt, &found, err));
    struct row row = stmt_row(&stmt, NULL);
    *ret_drift_ms = (int64_t)row_u64(&row);
    if (row.bad)
        return err_set(err, RC_CORRUPT, "%s: its partition row makes no sense", db->path);
    return RC_OK;
}

/* A moment becomes an id, widened by the drift; the statements compare created_ms exactly. */
static enum rc window_open(struct window *ret_window, struct db *db, const struct filter *filter,
                           const struct page *page, struct err *err)
{
    assert(page->limit > 0);
    struct window w = {.id_end = INT64_MAX, .scan_max = LIST_SCAN_MAX};
    int64_t drift_ms;
    int64_t end_ms;
    TRY(read_drift(db, &drift_ms, err));
    if (filter->created_after_ms > drift_ms)
        w.id_min = first_id(filter->created_after_ms - drift_ms);
    if (filter->created_before_ms != 0 &&
        !__builtin_add_overflow(filter->created_before_ms, drift_ms, &end_ms) &&
        end_ms < id_time_ms(INT64_MAX))
        w.id_end = first_id(end_ms);
    if (page->before != 0 && page->before < w.id_end)
        w.id_end = page->before;
    *ret_window = w;
    return RC_OK;
}

static void bind_window(struct stmt *stmt, const struct window *w)
{
    stmt_u64(stmt, w->id_min);
    stmt_u64(stmt, w->id_end);
    stmt_i64(stmt, w->scan_max);
}

static void bind_created(struct stmt *stmt, const struct filter *filter)
{
    stmt_i64(stmt, filter->created_after_ms);
    stmt_i64(stmt, filter->created_before_ms == 0 ? INT64_MAX : filter->created_before_ms);
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

/* Which jobs a window is over. */
enum way { WAY_ALL, WAY_NAMED, WAY_IN_STATE };

/* By a name, or by a state that few jobs have; else by looking at all. */
static enum way way_of(const struct filter *filter)
{
    if (filter->name.len > 0)
        return WAY_NAMED;
    bool many = filter->state == JOB_ACTIVE || filter->state == JOB_COMPLETED;
    return filter->state == 0 || many ? WAY_ALL : WAY_IN_STATE;
}

static struct stmt job_stmt(struct db *db, const enum sql ways[], const struct filter *filter,
                            const struct window *w)
{
    enum way way = way_of(filter);
    struct stmt stmt = db_stmt(db, ways[way]);
    if (way == WAY_NAMED)
        stmt_text(&stmt, filter->name);
    if (way == WAY_IN_STATE)
        stmt_i64(&stmt, filter->state);
    bind_window(&stmt, w);
    return stmt;
}

static struct str tag_line(const struct filter *filter, struct arena *arena)
{
    if (filter->tag.len == 0)
        return filter->tag;
    return arena_printf(arena, "\n%.*s\n", STR_ARG(filter->tag)); /* as spec_tags_text has it */
}

/* Up to one job more than the page shows. */
static enum rc scan_jobs(struct db *db, const struct filter *filter, const struct window *w,
                         size_t limit, struct arena *arena, struct job_page *ret_page,
                         struct err *err)
{
    static const enum sql lists[] = {SQL_LIST_JOBS, SQL_LIST_JOBS_NAMED, SQL_LIST_JOBS_IN_STATE};
    CLEANUP(stmt_end) struct stmt stmt = job_stmt(db, lists, filter, w);
    VEC(struct job_rec) jobs = {0};
    stmt_i64(&stmt, filter->state);
    stmt_text_or_null(&stmt, filter->queue);
    stmt_text_or_null(&stmt, filter->owner);
    stmt_text_or_null(&stmt, filter->team);
    stmt_text_or_null(&stmt, tag_line(filter, arena));
    bind_created(&stmt, filter);
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
    static const enum sql edges[] = {SQL_EDGE_JOBS, SQL_EDGE_JOBS_NAMED, SQL_EDGE_JOBS_IN_STATE};
    CLEANUP(sqlite_snapshot_end) struct db *db = NULL;
    struct window w;
    TRY(sqlite_snapshot(reader, &db, err));
    TRY(window_open(&w, db, filter, page, err));
    if (way_of(filter) != WAY_ALL)
        w.scan_max = LIST_SPARSE_MAX;
    if (filter->state != 0)
        w.scan_max /= 2; /* each takes a look at the newest execution's row, too */
    TRY(scan_jobs(db, filter, &w, page->limit, arena, ret_page, err));
    if (ret_page->count > page->limit) {
        ret_page->count = page->limit;
        ret_page->next = ret_page->jobs[page->limit - 1].id;
        return RC_OK;
    }
    struct stmt edge = job_stmt(db, edges, filter, &w);
    return read_edge(&edge, &ret_page->next, err);
}

/* ---- executions: two tables, one order */

/* What one table gave: rows that fit, complete down to and including the id `floor`. */
struct stretch {
    struct exec_rec *execs; /* in the arena */
    size_t count;
    uint64_t floor; /* 0: to the very end */
};

/* Of a job; or of an end that is seldom: most executions are completed. */
enum kin { KIN_ALL, KIN_OF_JOB, KIN_IN_STATE };

static enum kin kin_of(const struct filter *filter)
{
    if (filter->job_id != 0)
        return KIN_OF_JOB;
    bool seldom = exec_is_final(filter->state) && filter->state != EXEC_COMPLETED;
    return seldom ? KIN_IN_STATE : KIN_ALL;
}

static struct stmt exec_stmt(struct db *db, const enum sql kins[], const struct filter *filter,
                             const struct window *w)
{
    enum kin kin = kin_of(filter);
    struct stmt stmt = db_stmt(db, kins[kin]);
    if (kin != KIN_ALL)
        stmt_u64(&stmt, kin == KIN_OF_JOB ? filter->job_id : filter->state);
    bind_window(&stmt, w);
    return stmt;
}

/* Up to one execution more than the page shows. */
static enum rc scan_execs(struct stmt *list, const struct filter *filter, size_t limit,
                          struct arena *arena, struct stretch *ret_stretch, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = *list;
    VEC(struct exec_rec) execs = {0};
    stmt_i64(&stmt, filter->state);
    stmt_i64(&stmt, filter->state == EXEC_RUNNING ? EXEC_STOPPING : filter->state);
    stmt_text_or_null(&stmt, filter->queue);
    bind_created(&stmt, filter);
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

/* Statements, by kin. What has not ended is not asked for by an end. */
struct exec_table {
    enum sql lists[3];
    enum sql edges[3];
};

static const struct exec_table live_table = {
    {SQL_LIST_LIVE, SQL_LIST_LIVE_OF_JOB},
    {SQL_EDGE_LIVE, SQL_EDGE_LIVE_OF_JOB},
};
static const struct exec_table history_table = {
    {SQL_LIST_HISTORY, SQL_LIST_HISTORY_OF_JOB, SQL_LIST_HISTORY_IN_STATE},
    {SQL_EDGE_HISTORY, SQL_EDGE_HISTORY_OF_JOB, SQL_EDGE_HISTORY_IN_STATE},
};

static enum rc read_stretch(struct db *db, const struct exec_table *table,
                            const struct filter *filter, const struct window *w, size_t limit,
                            struct arena *arena, struct stretch *ret_stretch, struct err *err)
{
    struct stmt list = exec_stmt(db, table->lists, filter, w);
    TRY(scan_execs(&list, filter, limit, arena, ret_stretch, err));
    if (ret_stretch->count > limit) {
        ret_stretch->floor = ret_stretch->execs[limit].id;
        return RC_OK;
    }
    struct stmt edge = exec_stmt(db, table->edges, filter, w);
    return read_edge(&edge, &ret_stretch->floor, err);
}

/* Newest first. What lies below a floor of either table waits for the next page, since the other
 * rows of that depth are not known yet. */
static struct exec_page merge(struct stretch *a, struct stretch *b, size_t limit,
                              struct arena *arena)
{
    uint64_t floor = a->floor > b->floor ? a->floor : b->floor;
    size_t max = a->count + b->count < limit ? a->count + b->count : limit;
    struct exec_page page = {.execs = ARENA_ARRAY(arena, struct exec_rec, max)};
    size_t i = 0;
    size_t j = 0;
    while (i < a->count || j < b->count) {
        bool from_a = j == b->count || (i < a->count && a->execs[i].id > b->execs[j].id);
        const struct exec_rec *next = from_a ? &a->execs[i++] : &b->execs[j++];
        if (next->id < floor)
            break;
        if (page.count == limit) {
            page.next = page.execs[limit - 1].id;
            return page;
        }
        page.execs[page.count++] = *next;
    }
    page.next = floor;
    return page;
}

enum rc sqlite_list_execs(struct reader *reader, const struct filter *filter,
                          const struct page *page, struct arena *arena, struct exec_page *ret_page,
                          struct err *err)
{
    CLEANUP(sqlite_snapshot_end) struct db *db = NULL;
    struct window w;
    struct stretch live = {0};
    struct stretch history = {0};
    bool is_final = filter->state != 0 && exec_is_final(filter->state);
    bool is_live = filter->unfinished || (filter->state != 0 && !is_final);
    TRY(sqlite_snapshot(reader, &db, err));
    TRY(window_open(&w, db, filter, page, err));
    if (kin_of(filter) == KIN_IN_STATE)
        w.scan_max = LIST_SPARSE_MAX;
    else if (filter->state == 0 && !is_live)
        w.scan_max /= 2; /* a page's rows are shared by the two tables */
    if (!is_final)
        TRY(read_stretch(db, &live_table, filter, &w, page->limit, arena, &live, err));
    if (!is_live)
        TRY(read_stretch(db, &history_table, filter, &w, page->limit, arena, &history, err));
    *ret_page = merge(&live, &history, page->limit, arena);
    return RC_OK;
}
