/* list.c - pages, newest first.
 *
 * A list looks at a window of at most scan_max rows: [id_min, id_end). One statement gives the rows
 * of it that fit, up to one more than the page shows; a second one, asked in the same snapshot and only
 * when the page did not fill, the last id of a window that was full: there the next page goes on. */
#include "base/id.h"
#include "base/vec.h"
#include "store/postgres/postgres.h"
#include "store/sql/row.h"

#include <assert.h>

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

/* How far an id's own time may be from created_ms. */
static enum rc read_drift(struct pg *pg, int64_t *ret_drift_ms, struct err *err)
{
    struct pg_call *use = pg_call(pg, Q_READ_DRIFT);
    TRY(pg_run(pg, err));
    struct row row = pg_row(use, 0, NULL);
    *ret_drift_ms = (int64_t)row_u64(&row);
    if (row.bad)
        return err_set(err, RC_CORRUPT, "%s: its partition rows make no sense", pg_label(use));
    return RC_OK;
}

/* Begins the snapshot. A moment becomes an id, widened by the drift; the statements compare created_ms
 * exactly. */
static enum rc window_open(struct window *ret_window, struct pg *pg, const struct filter *filter,
                           const struct page *page, struct err *err)
{
    assert(page->limit > 0);
    struct window w = {.id_end = INT64_MAX, .scan_max = LIST_SCAN_MAX};
    int64_t drift_ms = 0;
    int64_t end_ms;
    TRY(pg_begin_snapshot(pg, err));
    if (filter->created_after_ms != 0 || filter->created_before_ms != 0)
        TRY(read_drift(pg, &drift_ms, err));
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

static void bind_window(struct pg_call *use, const struct window *w)
{
    pg_u64(use, w->id_min);
    pg_u64(use, w->id_end);
    pg_i64(use, w->scan_max);
}

static void bind_created(struct pg_call *use, const struct filter *filter)
{
    pg_i64(use, filter->created_after_ms);
    pg_i64(use, filter->created_before_ms == 0 ? INT64_MAX : filter->created_before_ms);
}

/* The id in the first column, also of a row that makes no sense otherwise. */
static uint64_t id_at(const struct pg_call *use, size_t i)
{
    struct row row = pg_row(use, i, NULL);
    return row_u64(&row);
}

/* The last id of a window that was full, else 0. */
static uint64_t edge_of(const struct pg_call *edge)
{
    return edge == NULL || pg_rows(edge) == 0 ? 0 : id_at(edge, 0);
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

static struct pg_call *use_jobs(struct pg *pg, const enum query ways[], const struct filter *filter,
                                const struct window *w)
{
    enum way way = way_of(filter);
    struct pg_call *use = pg_call(pg, ways[way]);
    if (way == WAY_NAMED)
        pg_text(use, filter->name);
    if (way == WAY_IN_STATE)
        pg_i64(use, filter->state);
    bind_window(use, w);
    return use;
}

static struct str tag_line(const struct filter *filter, struct arena *arena)
{
    if (filter->tag.len == 0)
        return filter->tag;
    return arena_printf(arena, "\n%.*s\n", STR_ARG(filter->tag)); /* as spec_tags_text has it */
}

static struct pg_call *ask_jobs(struct pg *pg, const struct filter *filter, const struct window *w,
                                size_t limit, struct arena *arena)
{
    static const enum query lists[] = {Q_LIST_JOBS, Q_LIST_JOBS_NAMED, Q_LIST_JOBS_IN_STATE};
    struct pg_call *use = use_jobs(pg, lists, filter, w);
    pg_i64(use, filter->state);
    pg_text_or_null(use, filter->queue);
    pg_text_or_null(use, filter->owner);
    pg_text_or_null(use, filter->team);
    pg_text_or_null(use, tag_line(filter, arena));
    bind_created(use, filter);
    pg_u64(use, limit + 1);
    return use;
}

/* What came beyond the page only tells that there is more. A row that makes no sense is left out, and
 * the page shorter. */
static struct job_page take_jobs(const struct pg_call *use, size_t limit, struct arena *arena)
{
    VEC(struct job_rec) jobs = {0};
    for (size_t i = 0; i < pg_rows(use) && i < limit; i++) {
        struct job_rec job;
        struct row row = pg_row(use, i, arena);
        if (row_job(&row, &job))
            *VEC_PUSH(arena, &jobs) = job;
    }
    return (struct job_page){
        .jobs = jobs.items,
        .count = jobs.len,
        .next = pg_rows(use) > limit ? id_at(use, limit - 1) : 0,
    };
}

enum rc postgres_list_jobs(struct reader *reader, const struct filter *filter,
                           const struct page *page, struct arena *arena, struct job_page *ret_page,
                           struct err *err)
{
    static const enum query edges[] = {Q_EDGE_JOBS, Q_EDGE_JOBS_NAMED, Q_EDGE_JOBS_IN_STATE};
    CLEANUP(pg_rollback_at) struct pg *pg = reader_pg(reader);
    struct window w;
    struct pg_call *edge = NULL;
    TRY(window_open(&w, pg, filter, page, err));
    if (way_of(filter) != WAY_ALL)
        w.scan_max = LIST_SPARSE_MAX;
    if (filter->state != 0)
        w.scan_max /= 2; /* each takes a look at the newest execution's row, too */
    const struct pg_call *list = ask_jobs(pg, filter, &w, page->limit, arena);
    TRY(pg_run(pg, err));
    *ret_page = take_jobs(list, page->limit, arena);
    if (ret_page->next == 0)
        edge = use_jobs(pg, edges, filter, &w);
    TRY(pg_commit(pg, err));
    if (ret_page->next == 0)
        ret_page->next = edge_of(edge);
    return RC_OK;
}

/* ---- executions: several places, one order */

/* What one place gave: rows that fit, complete down to and including the id `floor`. */
struct stretch {
    enum query edge_query;
    const struct pg_call *list;
    const struct pg_call *edge; /* NULL: not asked */
    struct exec_rec *execs;     /* in the arena */
    size_t count;
    size_t at;
    uint64_t floor; /* 0: to the very end */
};

/* Where executions are. Those of a job are in two places of each table: the one that was made with it,
 * which is at most one and has no edge, and the others. */
enum { STRETCHES_MAX = 4 };

struct stretches {
    struct stretch items[STRETCHES_MAX];
    size_t len;
};

enum kin { KIN_ALL, KIN_OF_JOB, KIN_IN_STATE };

static const struct place {
    enum kin kin;
    bool live;
    enum query list;
    enum query edge; /* Q_COUNT: none */
} places[] = {
    {KIN_ALL, true, Q_LIST_LIVE, Q_EDGE_LIVE},
    {KIN_ALL, false, Q_LIST_HISTORY, Q_EDGE_HISTORY},
    {KIN_IN_STATE, false, Q_LIST_HISTORY_IN_STATE, Q_EDGE_HISTORY_IN_STATE},
    {KIN_OF_JOB, true, Q_LIST_LIVE_OF_JOB, Q_EDGE_LIVE_OF_JOB},
    {KIN_OF_JOB, true, Q_LIST_LIVE_FIRST, Q_COUNT},
    {KIN_OF_JOB, false, Q_LIST_HISTORY_OF_JOB, Q_EDGE_HISTORY_OF_JOB},
    {KIN_OF_JOB, false, Q_LIST_HISTORY_FIRST, Q_COUNT},
};

/* Of a job; or of an end that is seldom: most executions are completed. */
static enum kin kin_of(const struct filter *filter)
{
    if (filter->job_id != 0)
        return KIN_OF_JOB;
    bool seldom = exec_is_final(filter->state) && filter->state != EXEC_COMPLETED;
    return seldom ? KIN_IN_STATE : KIN_ALL;
}

static struct pg_call *use_execs(struct pg *pg, enum query query, const struct filter *filter,
                                 const struct window *w)
{
    struct pg_call *use = pg_call(pg, query);
    enum kin kin = kin_of(filter);
    if (kin != KIN_ALL)
        pg_u64(use, kin == KIN_OF_JOB ? filter->job_id : filter->state);
    bind_window(use, w);
    return use;
}

/* Up to one execution more than the page shows. */
static void ask_execs(struct stretches *all, struct pg *pg, const struct place *place,
                      const struct filter *filter, const struct window *w, size_t limit)
{
    struct pg_call *use = use_execs(pg, place->list, filter, w);
    pg_i64(use, filter->state);
    pg_i64(use, filter->state == EXEC_RUNNING ? EXEC_STOPPING : filter->state);
    pg_text_or_null(use, filter->queue);
    bind_created(use, filter);
    pg_u64(use, limit + 1);
    all->items[all->len++] = (struct stretch){.list = use, .edge_query = place->edge};
}

static void take_execs(struct stretch *s, size_t limit, struct arena *arena)
{
    VEC(struct exec_rec) execs = {0};
    for (size_t i = 0; i < pg_rows(s->list); i++) {
        struct exec_rec exec;
        struct row row = pg_row(s->list, i, arena);
        if (row_exec(&row, &exec))
            *VEC_PUSH(arena, &execs) = exec;
    }
    s->execs = execs.items;
    s->count = execs.len;
    if (pg_rows(s->list) > limit)
        s->floor = id_at(s->list, limit);
}

/* The newest that is left; NULL: nothing is. */
static const struct exec_rec *next_exec(struct stretches *all)
{
    struct stretch *newest = NULL;
    for (size_t i = 0; i < all->len; i++) {
        struct stretch *s = &all->items[i];
        if (s->at < s->count &&
            (newest == NULL || s->execs[s->at].id > newest->execs[newest->at].id))
            newest = s;
    }
    return newest == NULL ? NULL : &newest->execs[newest->at++];
}

/* Newest first. What lies below a floor of any place waits for the next page, since the other rows of that
 * depth are not known yet. */
static struct exec_page merge(struct stretches *all, size_t limit, struct arena *arena)
{
    uint64_t floor = 0;
    size_t count = 0;
    for (size_t i = 0; i < all->len; i++) {
        floor = all->items[i].floor > floor ? all->items[i].floor : floor;
        count += all->items[i].count;
    }
    struct exec_page page = {
        .execs = ARENA_ARRAY(arena, struct exec_rec, count < limit ? count : limit)};
    for (const struct exec_rec *next; (next = next_exec(all)) != NULL && next->id >= floor;) {
        if (page.count == limit) {
            page.next = page.execs[limit - 1].id;
            return page;
        }
        page.execs[page.count++] = *next;
    }
    page.next = floor;
    return page;
}

static void ask_places(struct stretches *all, struct pg *pg, const struct filter *filter,
                       struct window *w, size_t limit)
{
    bool is_final = filter->state != 0 && exec_is_final(filter->state);
    bool is_live = filter->unfinished || (filter->state != 0 && !is_final);
    if (kin_of(filter) == KIN_IN_STATE)
        w->scan_max = LIST_SPARSE_MAX;
    else if (filter->state == 0 && !is_live)
        w->scan_max /= 2; /* a page's rows are shared by the two tables */
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        if (places[i].kin == kin_of(filter) && !(places[i].live ? is_final : is_live))
            ask_execs(all, pg, &places[i], filter, w, limit);
    }
}

enum rc postgres_list_execs(struct reader *reader, const struct filter *filter,
                            const struct page *page, struct arena *arena,
                            struct exec_page *ret_page, struct err *err)
{
    CLEANUP(pg_rollback_at) struct pg *pg = reader_pg(reader);
    struct window w;
    struct stretches all = {0};
    TRY(window_open(&w, pg, filter, page, err));
    ask_places(&all, pg, filter, &w, page->limit);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < all.len; i++) {
        struct stretch *s = &all.items[i];
        take_execs(s, page->limit, arena);
        if (s->floor == 0 && s->edge_query != Q_COUNT)
            s->edge = use_execs(pg, s->edge_query, filter, &w);
    }
    TRY(pg_commit(pg, err));
    for (size_t i = 0; i < all.len; i++) {
        if (all.items[i].edge != NULL)
            all.items[i].floor = edge_of(all.items[i].edge);
    }
    *ret_page = merge(&all, page->limit, arena);
    return RC_OK;
}

/* ---- what is told one after the other */

static void bind_page(struct pg_call *use, const struct page *page)
{
    pg_u64(use, page->before == 0 ? INT64_MAX : page->before);
    pg_u64(use, page->limit + 1);
}

enum rc postgres_list_alerts(struct reader *reader, enum alert_state state, const struct page *page,
                             struct arena *arena, struct alert_page *ret_page, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    enum query query = state == ALERT_PENDING ? Q_LIST_ALERTS_PENDING : Q_LIST_ALERTS;
    struct pg_call *use = pg_call(pg, query);
    VEC(struct alert_rec) found = {0};
    bind_page(use, page);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use) && i < page->limit; i++) {
        struct alert_rec alert;
        struct row row = pg_row(use, i, arena);
        if (row_alert(&row, &alert))
            *VEC_PUSH(arena, &found) = alert;
    }
    *ret_page = (struct alert_page){.alerts = found.items, .count = found.len};
    if (pg_rows(use) > page->limit)
        ret_page->next = id_at(use, page->limit - 1);
    return RC_OK;
}

enum rc postgres_list_sla_events(struct reader *reader, uint64_t job_id, uint64_t exec_id,
                                 const struct page *page, struct arena *arena,
                                 struct sla_page *ret_page, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    enum query query = exec_id != 0 ? Q_LIST_SLA_EVENTS_OF_EXEC : Q_LIST_SLA_EVENTS_OF_JOB;
    struct pg_call *use = pg_call(pg, query);
    VEC(struct sla_event_rec) found = {0};
    pg_u64(use, exec_id != 0 ? exec_id : job_id);
    bind_page(use, page);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use) && i < page->limit; i++) {
        struct sla_event_rec event;
        struct row row = pg_row(use, i, arena);
        if (row_sla_event(&row, &event))
            *VEC_PUSH(arena, &found) = event;
    }
    *ret_page = (struct sla_page){.events = found.items, .count = found.len};
    if (pg_rows(use) > page->limit)
        ret_page->next = id_at(use, page->limit - 1);
    return RC_OK;
}
