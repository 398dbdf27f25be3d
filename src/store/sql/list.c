#include "store/sql/list.h"
#include "base/id.h"

#include <assert.h>

/* ---- windows */

/* The smallest id that could have been made at that moment. */
static uint64_t first_id(int64_t at_ms)
{
    struct id_gen gen = {0};
    return at_ms <= ID_EPOCH_MS ? 0 : id_next(&gen, at_ms, 0);
}

bool window_needs_drift(const struct filter *filter)
{
    return filter->created.after_ms != 0 || filter->created.before_ms != 0;
}

static struct window window_of(const struct filter *filter, const struct page *page,
                               int64_t drift_ms)
{
    assert(page->limit > 0);
    struct window w = {.id_end = INT64_MAX, .scan_max = LIST_SCAN_MAX};
    int64_t end_ms;
    if (filter->created.after_ms > drift_ms)
        w.id_min = first_id(filter->created.after_ms - drift_ms);
    if (filter->created.before_ms != 0 &&
        !__builtin_add_overflow(filter->created.before_ms, drift_ms, &end_ms) &&
        end_ms < id_time_ms(INT64_MAX))
        w.id_end = first_id(end_ms);
    if (page->before != 0 && page->before < w.id_end)
        w.id_end = page->before;
    return w;
}

struct window window_of_jobs(const struct filter *filter, const struct page *page, int64_t drift_ms)
{
    struct window w = window_of(filter, page, drift_ms);
    if (job_list_of(filter) != JOB_LIST_ALL)
        w.scan_max = LIST_SPARSE_MAX;
    if (filter->states != 0 || filter->phases != 0)
        w.scan_max /= 2; /* each takes a look at the newest execution's row, too */
    return w;
}

struct window window_of_execs(const struct filter *filter, const struct page *page,
                              int64_t drift_ms)
{
    struct window w = window_of(filter, page, drift_ms);
    if (exec_list_of(filter) == EXEC_LIST_IN_STATE)
        w.scan_max = LIST_SPARSE_MAX;
    else if (exec_list_has_live(filter) && exec_list_has_history(filter))
        w.scan_max /= 2; /* a page's rows are shared by the two tables */
    return w;
}

struct filter filter_of_ran(const struct ran_query *q)
{
    int64_t after_ms = q->from_ms - RAN_SLOW_MS;
    return (struct filter){
        .created = {.after_ms = after_ms > 0 ? after_ms : 1, .before_ms = q->until_ms}};
}

struct window window_of_ran(const struct ran_query *q, int64_t drift_ms)
{
    struct filter filter = filter_of_ran(q);
    struct window w = window_of(&filter, &(struct page){.limit = q->scan_max}, drift_ms);
    w.scan_max = (int64_t)q->scan_max;
    return w;
}

struct window window_of_live(const struct filter *filter, const struct window *w)
{
    struct window live = *w;
    if (exec_list_of(filter) == EXEC_LIST_IN_STATE)
        live.scan_max = LIST_SCAN_MAX / 2;
    return live;
}

/* ---- filters */

bool list_has_index(size_t column)
{
    return filter_columns[column].field == JOB_FIELD_name || filter_column_is_indexed(column);
}

/* FILTER_COLUMNS: none. */
static size_t finding_column(const struct filter *filter)
{
    size_t i = 0;
    while (i < FILTER_COLUMNS && !(list_has_index(i) && filter_column_text(filter, i).len > 0))
        i++;
    return i;
}

struct str list_found_by(const struct filter *filter, size_t column)
{
    return column == finding_column(filter) ? filter_column_text(filter, column) : STR("");
}

enum job_state list_job_state(const struct filter *filter)
{
    uint32_t states = filter_states(filter, FILTER_OF_JOBS);
    for (int i = JOB_NONE + 1; i < JOB_STATES; i++) {
        if (states == FILTER_STATE(i))
            return (enum job_state)i;
    }
    return JOB_NONE;
}

enum job_list job_list_of(const struct filter *filter)
{
    if (finding_column(filter) < FILTER_COLUMNS)
        return JOB_LIST_FOUND;
    enum job_state only = list_job_state(filter);
    bool many = only == JOB_ACTIVE || only == JOB_COMPLETED;
    return only == JOB_NONE || many ? JOB_LIST_ALL : JOB_LIST_IN_STATE;
}

bool list_by_prefix(const struct filter *filter, struct arena *arena, struct name_range *ret_range)
{
    if (job_list_of(filter) == JOB_LIST_FOUND || !filter_prefix(filter, arena, &ret_range->from))
        return false;
    ret_range->to = filter_prefix_end(ret_range->from, arena);
    return ret_range->to.len > 0;
}

enum exec_state list_next_seldom(const struct filter *filter, enum exec_state after)
{
    uint32_t seldom =
        filter_states(filter, FILTER_OF_EXECS) & FILTER_FINAL & ~FILTER_STATE(EXEC_COMPLETED);
    for (int i = after + 1; i < EXEC_STATES; i++) {
        if (seldom >> i & 1)
            return (enum exec_state)i;
    }
    return EXEC_NONE;
}

enum exec_list exec_list_of(const struct filter *filter)
{
    if (filter->job_id != 0)
        return EXEC_LIST_OF_JOB;
    uint32_t ended = filter_states(filter, FILTER_OF_EXECS) & FILTER_FINAL;
    bool seldom = ended != 0 && (ended & FILTER_STATE(EXEC_COMPLETED)) == 0;
    return seldom ? EXEC_LIST_IN_STATE : EXEC_LIST_ALL;
}

bool exec_list_has_live(const struct filter *filter)
{
    uint32_t states = filter_states(filter, FILTER_OF_EXECS);
    return (states & ~FILTER_FINAL & (FILTER_STATE(EXEC_STATES) - 1)) != 0;
}

bool exec_list_has_history(const struct filter *filter)
{
    return (filter_states(filter, FILTER_OF_EXECS) & FILTER_FINAL) != 0;
}

int64_t list_states(const struct filter *filter, enum filter_of of)
{
    uint32_t states = filter_states(filter, of);
    return states == UINT32_MAX ? 0 : (int64_t)states | FILTER_STATE(JOB_NONE);
}

/* Lines, as a row's own text stands between two newlines. */
static struct str between_lines(struct str text, struct arena *arena)
{
    return text.len == 0 ? text : arena_printf(arena, "\n%.*s\n", STR_ARG(text));
}

struct str list_queues(const struct filter *filter, struct arena *arena)
{
    return between_lines(filter->queue, arena);
}

struct str list_tag(const struct filter *filter, struct arena *arena)
{
    struct str rest = filter->tags;
    return between_lines(str_cut(&rest, '\n'), arena); /* as spec_tags_text has it */
}

struct filter_span list_span(struct filter_span span)
{
    if (span.before_ms == 0)
        span.before_ms = INT64_MAX;
    else if (span.after_ms == 0)
        span.after_ms = 1; /* what has no such moment has a zero */
    return span;
}

/* ---- several tables, one page */

/* The newest that is left; NULL: nothing is. */
static const struct exec_rec *next_exec(struct stretch *all, size_t len)
{
    struct stretch *newest = NULL;
    for (size_t i = 0; i < len; i++) {
        struct stretch *s = &all[i];
        if (s->at < s->count &&
            (newest == NULL || s->execs[s->at].id > newest->execs[newest->at].id))
            newest = s;
    }
    return newest == NULL ? NULL : &newest->execs[newest->at++];
}

struct exec_page stretch_merge(struct stretch *all, size_t len, size_t limit, struct arena *arena)
{
    uint64_t floor = 0;
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        floor = all[i].floor > floor ? all[i].floor : floor;
        count += all[i].count;
    }
    struct exec_page page = {
        .execs = ARENA_ARRAY(arena, struct exec_rec, count < limit ? count : limit)};
    for (const struct exec_rec *next; (next = next_exec(all, len)) != NULL && next->id >= floor;) {
        if (page.count == limit) {
            page.next = page.execs[limit - 1].id;
            return page;
        }
        page.execs[page.count++] = *next;
    }
    page.next = floor;
    return page;
}
