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
    return filter->created_after_ms != 0 || filter->created_before_ms != 0;
}

static struct window window_of(const struct filter *filter, const struct page *page,
                               int64_t drift_ms)
{
    assert(page->limit > 0);
    struct window w = {.id_end = INT64_MAX, .scan_max = LIST_SCAN_MAX};
    int64_t end_ms;
    if (filter->created_after_ms > drift_ms)
        w.id_min = first_id(filter->created_after_ms - drift_ms);
    if (filter->created_before_ms != 0 &&
        !__builtin_add_overflow(filter->created_before_ms, drift_ms, &end_ms) &&
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
    if (filter->state != 0)
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

enum job_list job_list_of(const struct filter *filter)
{
    if (finding_column(filter) < FILTER_COLUMNS)
        return JOB_LIST_FOUND;
    bool many = filter->state == JOB_ACTIVE || filter->state == JOB_COMPLETED;
    return filter->state == 0 || many ? JOB_LIST_ALL : JOB_LIST_IN_STATE;
}

enum exec_list exec_list_of(const struct filter *filter)
{
    if (filter->job_id != 0)
        return EXEC_LIST_OF_JOB;
    bool seldom = exec_is_final(filter->state) && filter->state != EXEC_COMPLETED;
    return seldom ? EXEC_LIST_IN_STATE : EXEC_LIST_ALL;
}

bool exec_list_has_live(const struct filter *filter)
{
    return filter->state == 0 || !exec_is_final(filter->state);
}

bool exec_list_has_history(const struct filter *filter)
{
    return !filter->unfinished && (filter->state == 0 || exec_is_final(filter->state));
}

enum exec_state list_state_too(const struct filter *filter)
{
    return filter->state == EXEC_RUNNING ? EXEC_STOPPING : (enum exec_state)filter->state;
}

struct str list_tag(const struct filter *filter, struct arena *arena)
{
    if (filter->tag.len == 0)
        return filter->tag;
    return arena_printf(arena, "\n%.*s\n", STR_ARG(filter->tag)); /* as spec_tags_text has it */
}

int64_t list_created_before_ms(const struct filter *filter)
{
    return filter->created_before_ms == 0 ? INT64_MAX : filter->created_before_ms;
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
