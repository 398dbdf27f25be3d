/* list.c - pages, newest first: see store/sql/list.h. */
#include "store/sql/list.h"
#include "base/vec.h"
#include "store/postgres/postgres.h"
#include "store/sql/row.h"

/* Begins the snapshot. */
static enum rc read_drift(struct pg *pg, const struct filter *filter, int64_t *ret_drift_ms,
                          struct err *err)
{
    TRY(pg_begin_snapshot(pg, err));
    *ret_drift_ms = 0;
    if (!window_needs_drift(filter))
        return RC_OK;
    struct pg_call *use = pg_call(pg, Q_READ_DRIFT);
    TRY(pg_run(pg, err));
    struct row row = pg_row(use, 0, NULL);
    *ret_drift_ms = (int64_t)row_u64(&row);
    if (row.bad)
        return err_set(err, RC_CORRUPT, "%s: its partition rows are corrupt", pg_label(use));
    return RC_OK;
}

static void bind_window(struct pg_call *use, const struct window *w)
{
    pg_u64(use, w->id_min);
    pg_u64(use, w->id_end);
    pg_i64(use, w->scan_max);
}

/* The same, with the values of fields that have an index between its parameters. */
static void bind_found(struct pg_call *use, const struct filter *filter, const struct window *w)
{
    pg_u64(use, w->id_min);
    pg_u64(use, w->id_end);
    for (size_t i = 0; i < FILTER_COLUMNS; i++) {
        if (list_has_index(i))
            pg_text_or_null(use, list_found_by(filter, i));
    }
    pg_i64(use, w->scan_max);
}

static void bind_indexed(struct pg_call *use, const struct filter *filter)
{
    for (size_t i = 0; i < FILTER_COLUMNS; i++) {
        if (filter_column_is_indexed(i))
            pg_text_or_null(use, filter_column_text(filter, i));
    }
}

static void bind_span(struct pg_call *use, struct filter_span span)
{
    span = list_span(span);
    pg_i64(use, span.after_ms);
    pg_i64(use, span.before_ms);
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

/* Which list it is, and what that is asked for. */
struct job_query {
    enum job_list list;
    const struct filter *filter;
    struct window window;
    struct name_range names; /* JOB_LIST_PREFIX */
};

/* By the beginning of names where few enough begin so. */
static enum rc choose_list(struct pg *pg, struct job_query *q, struct arena *arena, struct err *err)
{
    q->list = job_list_of(q->filter);
    if (!list_by_prefix(q->filter, arena, &q->names))
        return RC_OK;
    struct pg_call *use = pg_call(pg, Q_LOOK_FOR_NAMES);
    pg_text(use, q->names.from);
    pg_text(use, q->names.to);
    pg_i64(use, LIST_SCAN_MAX);
    TRY(pg_run(pg, err));
    if (pg_rows(use) > 0)
        return RC_OK;
    q->list = JOB_LIST_PREFIX;
    q->window.scan_max = LIST_SPARSE_MAX;
    return RC_OK;
}

static struct pg_call *use_jobs(struct pg *pg, const enum query lists[JOB_LISTS],
                                const struct job_query *q)
{
    struct pg_call *use = pg_call(pg, lists[q->list]);
    if (q->list == JOB_LIST_FOUND) {
        bind_found(use, q->filter, &q->window);
        return use;
    }
    if (q->list == JOB_LIST_PREFIX) {
        pg_text(use, q->names.from);
        pg_text(use, q->names.to);
    }
    if (q->list == JOB_LIST_IN_STATE)
        pg_i64(use, list_job_state(q->filter));
    bind_window(use, &q->window);
    return use;
}

static struct pg_call *ask_jobs(struct pg *pg, const struct job_query *q, size_t limit,
                                struct arena *arena)
{
    static const enum query lists[JOB_LISTS] = {Q_LIST_JOBS, Q_LIST_JOBS_FOUND,
                                                Q_LIST_JOBS_IN_STATE, Q_LIST_JOBS_PREFIX};
    const struct filter *filter = q->filter;
    struct pg_call *use = use_jobs(pg, lists, q);
    pg_i64(use, list_states(filter, FILTER_OF_JOBS));
    pg_text_or_null(use, list_queues(filter, arena));
    pg_text_or_null(use, filter->owner);
    pg_text_or_null(use, filter->team);
    bind_indexed(use, filter);
    pg_text_or_null(use, list_tag(filter, arena));
    bind_span(use, filter->created);
    bind_span(use, filter->finished);
    pg_u64(use, limit + 1);
    return use;
}

/* A row beyond the page only tells that there is more. A row that makes no sense is left out, and
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
    static const enum query edges[JOB_LISTS] = {Q_EDGE_JOBS, Q_EDGE_JOBS_FOUND,
                                                Q_EDGE_JOBS_IN_STATE, Q_EDGE_JOBS_PREFIX};
    CLEANUP(pg_rollback_at) struct pg *pg = reader_pg(reader);
    struct pg_call *edge = NULL;
    int64_t drift_ms;
    TRY(read_drift(pg, filter, &drift_ms, err));
    struct job_query q = {.filter = filter, .window = window_of_jobs(filter, page, drift_ms)};
    TRY(choose_list(pg, &q, arena, err));
    const struct pg_call *list = ask_jobs(pg, &q, page->limit, arena);
    TRY(pg_run(pg, err));
    *ret_page = take_jobs(list, page->limit, arena);
    if (ret_page->next == 0)
        edge = use_jobs(pg, edges, &q);
    TRY(pg_commit(pg, err));
    if (ret_page->next == 0)
        ret_page->next = edge_of(edge);
    return RC_OK;
}

/* ---- jobs in another order */

enum rc postgres_list_sorted(struct reader *reader, enum job_sort sort,
                             const struct sort_place *after, size_t max, struct arena *arena,
                             struct sorted_page *ret_page, struct err *err)
{
    CLEANUP(pg_clear_at) struct pg *pg = reader_pg(reader);
    struct pg_call *use = pg_call(pg, sort == SORT_NAME ? Q_LIST_BY_NAME : Q_LIST_BY_NEXT_RUN);
    VEC(struct sorted_job) jobs = {0};
    *ret_page = (struct sorted_page){0};
    if (sort == SORT_NAME)
        pg_text(use, after->name);
    else
        pg_i64(use, after->due_ms);
    pg_u64(use, after->id);
    pg_u64(use, max);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct sorted_job job;
        struct row row = pg_row(use, i, arena);
        if (row_sorted_job(&row, sort, &job))
            *VEC_PUSH(arena, &jobs) = job;
        ret_page->last = job.place;
    }
    ret_page->jobs = jobs.items;
    ret_page->count = jobs.len;
    ret_page->more = pg_rows(use) == max;
    return RC_OK;
}

/* ---- executions: several places, one order */

/* Where executions are. Those of a job are in two places of each table: the one that was made with
 * it, which is at most one and has no edge, and the others. Those that have not ended are not found
 * by how they did. */
static const struct place {
    enum exec_list of;
    bool live;
    enum query list;
    enum query edge; /* Q_COUNT: none */
} places[] = {
    {EXEC_LIST_ALL, true, Q_LIST_LIVE, Q_EDGE_LIVE},
    {EXEC_LIST_ALL, false, Q_LIST_HISTORY, Q_EDGE_HISTORY},
    {EXEC_LIST_IN_STATE, true, Q_LIST_LIVE, Q_EDGE_LIVE},
    {EXEC_LIST_IN_STATE, false, Q_LIST_HISTORY_IN_STATE, Q_EDGE_HISTORY_IN_STATE},
    {EXEC_LIST_OF_JOB, true, Q_LIST_LIVE_OF_JOB, Q_EDGE_LIVE_OF_JOB},
    {EXEC_LIST_OF_JOB, true, Q_LIST_LIVE_FIRST, Q_COUNT},
    {EXEC_LIST_OF_JOB, false, Q_LIST_HISTORY_OF_JOB, Q_EDGE_HISTORY_OF_JOB},
    {EXEC_LIST_OF_JOB, false, Q_LIST_HISTORY_FIRST, Q_COUNT},
};

/* A place that is looked at. */
struct look {
    const struct place *place;
    uint64_t by; /* the job or the state that it is of; 0: neither */
    struct window window;
    const struct pg_call *list;
    const struct pg_call *edge; /* NULL: not asked */
};

enum { LOOKS_MAX = 1 + LIST_SELDOM_MAX };

static struct pg_call *use_execs(struct pg *pg, enum query query, const struct look *look)
{
    struct pg_call *use = pg_call(pg, query);
    if (look->by != 0)
        pg_u64(use, look->by);
    bind_window(use, &look->window);
    return use;
}

/* Up to one execution more than the page shows. */
static void ask_execs(struct pg *pg, struct look *look, const struct filter *filter, size_t limit,
                      struct arena *arena)
{
    struct pg_call *use = use_execs(pg, look->place->list, look);
    pg_i64(use, list_states(filter, FILTER_OF_EXECS));
    pg_text_or_null(use, list_queues(filter, arena));
    bind_span(use, filter->created);
    bind_span(use, filter->started);
    bind_span(use, filter->finished);
    pg_u64(use, limit + 1);
    look->list = use;
}

/* Adds the looks at one place: one, or one for each end that is seldom. */
static size_t looks_at(struct look *looks, const struct place *place, const struct filter *filter,
                       const struct window *w)
{
    struct look look = {.place = place, .window = *w};
    enum exec_state state = EXEC_NONE;
    size_t len = 0;
    if (place->live)
        look.window = window_of_live(filter, w);
    if (place->of == EXEC_LIST_OF_JOB)
        look.by = filter->job_id;
    if (place->of != EXEC_LIST_IN_STATE || place->live) {
        looks[0] = look;
        return 1;
    }
    while ((state = list_next_seldom(filter, state)) != EXEC_NONE) {
        look.by = state;
        looks[len++] = look;
    }
    return len;
}

static size_t ask_places(struct look *looks, struct pg *pg, const struct filter *filter,
                         const struct window *w, size_t limit, struct arena *arena)
{
    size_t len = 0;
    for (const struct place *p = places; p < places + COUNT_OF(places); p++) {
        bool has_any = p->live ? exec_list_has_live(filter) : exec_list_has_history(filter);
        if (p->of == exec_list_of(filter) && has_any)
            len += looks_at(looks + len, p, filter, w);
    }
    for (size_t i = 0; i < len; i++)
        ask_execs(pg, &looks[i], filter, limit, arena);
    return len;
}

static struct stretch take_execs(const struct pg_call *list, size_t limit, struct arena *arena)
{
    VEC(struct exec_rec) execs = {0};
    for (size_t i = 0; i < pg_rows(list); i++) {
        struct exec_rec exec;
        struct row row = pg_row(list, i, arena);
        if (row_exec(&row, &exec))
            *VEC_PUSH(arena, &execs) = exec;
    }
    return (struct stretch){
        .execs = execs.items,
        .count = execs.len,
        .floor = pg_rows(list) > limit ? id_at(list, limit) : 0,
    };
}

enum rc postgres_list_execs(struct reader *reader, const struct filter *filter,
                            const struct page *page, struct arena *arena,
                            struct exec_page *ret_page, struct err *err)
{
    CLEANUP(pg_rollback_at) struct pg *pg = reader_pg(reader);
    struct look looks[LOOKS_MAX];
    struct stretch stretches[LOOKS_MAX];
    int64_t drift_ms;
    TRY(read_drift(pg, filter, &drift_ms, err));
    struct window w = window_of_execs(filter, page, drift_ms);
    size_t len = ask_places(looks, pg, filter, &w, page->limit, arena);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < len; i++) {
        stretches[i] = take_execs(looks[i].list, page->limit, arena);
        if (stretches[i].floor == 0 && looks[i].place->edge != Q_COUNT)
            looks[i].edge = use_execs(pg, looks[i].place->edge, &looks[i]);
    }
    TRY(pg_commit(pg, err));
    for (size_t i = 0; i < len; i++) {
        if (looks[i].edge != NULL)
            stretches[i].floor = edge_of(looks[i].edge);
    }
    *ret_page = stretch_merge(stretches, len, page->limit, arena);
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

/* ---- when executions ran */

static void tell_ran(const struct pg_call *list, ran_sink *sink, void *arg)
{
    for (size_t i = 0; i < pg_rows(list); i++) {
        struct ran_rec ran;
        struct row row = pg_row(list, i, NULL);
        if (row_ran(&row, &ran))
            sink(arg, &ran);
    }
}

static struct pg_call *use_slow(struct pg *pg, enum query query, const struct ran_query *q)
{
    struct pg_call *use = pg_call(pg, query);
    pg_i64(use, q->from_ms);
    pg_u64(use, q->scan_max);
    return use;
}

/* All three places in one round trip, and whether there is more in each. */
enum rc postgres_read_ran(struct reader *reader, const struct ran_query *q, ran_sink *sink,
                          void *arg, bool *ret_whole, struct err *err)
{
    CLEANUP(pg_rollback_at) struct pg *pg = reader_pg(reader);
    const struct filter filter = filter_of_ran(q);
    struct look all = {.window = {.id_end = INT64_MAX, .scan_max = (int64_t)q->scan_max}};
    int64_t drift_ms;
    TRY(read_drift(pg, &filter, &drift_ms, err));
    struct look past = {.window = window_of_ran(q, drift_ms)};
    struct pg_call *live = use_execs(pg, Q_RAN_LIVE, &all);
    pg_i64(live, q->until_ms);
    struct pg_call *soon = use_execs(pg, Q_RAN_SOON, &past);
    pg_i64(soon, q->from_ms);
    pg_i64(soon, q->until_ms);
    struct pg_call *slow = use_slow(pg, Q_RAN_SLOW, q);
    pg_i64(slow, q->until_ms);
    const struct pg_call *edges[] = {use_execs(pg, Q_EDGE_LIVE, &all),
                                     use_execs(pg, Q_EDGE_HISTORY, &past),
                                     use_slow(pg, Q_EDGE_SLOW, q)};
    TRY(pg_commit(pg, err));
    tell_ran(live, sink, arg);
    tell_ran(soon, sink, arg);
    tell_ran(slow, sink, arg);
    *ret_whole = edge_of(edges[0]) == 0 && edge_of(edges[1]) == 0 && edge_of(edges[2]) == 0;
    return RC_OK;
}
