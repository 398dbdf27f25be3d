#include "cli/top/panels.h"
#include "base/map.h"
#include "base/when.h"
#include "cli/cells.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 256 };

/* ---- reading */

static const struct json *at_path(const struct json *doc, struct str path)
{
    while (path.len > 0 && doc != NULL)
        doc = json_get(doc, str_cut(&path, '.'));
    return doc;
}

int64_t top_number(const struct json *doc, const char *path)
{
    const struct json *value = at_path(doc, str_c(path));
    return value != NULL && value->kind == JSON_INT ? value->integer : 0;
}

int64_t top_when_ms(const struct json *doc, const char *key)
{
    const struct json *value = doc == NULL ? NULL : json_get(doc, str_c(key));
    int64_t ms;
    struct err err;
    bool is_text = value != NULL && value->kind == JSON_STRING;
    return is_text && when_parse(value->string, &ms, &err) == RC_OK ? ms : 0;
}

struct str top_text(const struct json *doc, const char *key, struct arena *arena)
{
    const struct json *value = doc == NULL ? NULL : json_get(doc, str_c(key));
    if (value == NULL || value->kind == JSON_NULL)
        return STR("");
    return cells_clean(value->kind == JSON_STRING ? value->string : value->raw, NAME_BYTES_MAX,
                       arena);
}

struct str top_duration(int64_t ms, struct arena *arena)
{
    char text[WHEN_TEXT_MAX];
    if (ms < 1000)
        return arena_printf(arena, "%" PRId64 "ms", ms < 0 ? 0 : ms);
    if (ms < 60000)
        return arena_printf(arena, "%" PRId64 ".%" PRId64 "s", ms / 1000, ms % 1000 / 100);
    int64_t unit_ms = ms < 86400000 ? 1000 : 60000;
    return arena_str(arena, duration_format(text, ms / unit_ms * unit_ms));
}

struct str top_rate(int64_t now, int64_t before, int64_t ms, struct arena *arena)
{
    if (ms <= 0)
        return STR("-");
    /* Totals fall when retention deletes. */
    double rate = now < before ? 0 : (double)(now - before) * 1000 / (double)ms;
    return arena_printf(arena, rate > 0 && rate < 9.95 ? "%.1f" : "%.0f", rate);
}

/* The items of an array. */
static const struct json *items_of(const struct json *doc, const char *key, size_t *ret_count)
{
    const struct json *items = doc == NULL ? NULL : json_get(doc, str_c(key));
    bool is_array = items != NULL && items->kind == JSON_ARRAY;
    *ret_count = is_array ? items->count : 0;
    return is_array ? items->items : NULL;
}

/* In its bytes as they came, not in those that are shown. */
static bool fits(const struct top_view *view, const struct json *doc, const char *key)
{
    const struct json *value = json_get(doc, str_c(key));
    return value != NULL && value->kind == JSON_STRING &&
           memmem(value->string.ptr, value->string.len, view->filter.ptr, view->filter.len) != NULL;
}

static void add_number(struct panel *p, int64_t value, struct arena *arena)
{
    table_add(&p->table, arena_printf(arena, "%" PRId64, value));
}

static void set_columns(struct panel *p, const struct column *columns, size_t count)
{
    memcpy(p->columns, columns, count * sizeof *columns);
    p->table = TABLE(p->columns, count);
}

/* ---- queues */

struct queue_row {
    const struct json *doc;
    const struct json *before;
    struct str name;
    int64_t load;
    int64_t done; /* since the tick before */
    int64_t failed;
    int64_t dead;
    int64_t key; /* that it is sorted by, the largest first */
    bool reversed;
};

static int64_t key_of(const struct queue_row *row, enum top_sort sort)
{
    switch (sort) {
    case TOP_BY_DONE: return row->done;
    case TOP_BY_FAILED: return row->failed;
    case TOP_BY_DEAD: return row->dead;
    case TOP_BY_LOAD: return row->load;
    case TOP_BY_NAME:
    case TOP_SORTS: break;
    }
    return 0;
}

static int by_order(const void *left, const void *right)
{
    const struct queue_row *a = left;
    const struct queue_row *b = right;
    int order = a->key != b->key ? (a->key > b->key ? -1 : 1) : str_cmp(a->name, b->name);
    return a->reversed ? -order : order;
}

static void index_before(const struct json *before, struct strmap *map, struct arena *arena)
{
    size_t count;
    const struct json *queues = items_of(before, "queues", &count);
    const struct json **places = ARENA_ARRAY(arena, const struct json *, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct json *name = json_get(&queues[i], STR("queue"));
        places[i] = &queues[i];
        if (name != NULL && name->kind == JSON_STRING && strmap_get(map, name->string) == NULL)
            strmap_put(map, name->string, &places[i]);
    }
}

static struct queue_row read_queue(const struct json *doc, const struct strmap *before,
                                   const struct top_view *view)
{
    const struct json *name = json_get(doc, STR("queue"));
    struct queue_row row = {.doc = doc};
    if (name != NULL && name->kind == JSON_STRING)
        row.name = name->string;
    const struct json *const *place = strmap_get(before, row.name);
    row.before = place == NULL ? NULL : *place;
    row.load = top_number(doc, "queued") + top_number(doc, "running");
    row.failed = top_number(doc, "failed") + top_number(doc, "timeout");
    row.dead = top_number(doc, "dead_letters");
    if (row.before != NULL)
        row.done = top_number(doc, "completed") - top_number(row.before, "completed");
    row.key = key_of(&row, view->sort);
    row.reversed = view->reversed;
    return row;
}

static void add_queue(struct panel *p, const struct queue_row *row, int64_t ms, struct arena *arena)
{
    int64_t was = top_number(row->before, "failed") + top_number(row->before, "timeout");
    int64_t since_ms = row->before == NULL ? 0 : ms;
    table_add(&p->table, top_text(row->doc, "queue", arena));
    add_number(p, top_number(row->doc, "queued"), arena);
    add_number(p, top_number(row->doc, "running"), arena);
    add_number(p, top_number(row->doc, "retrying"), arena);
    add_number(p, top_number(row->doc, "scheduled") + top_number(row->doc, "blocked"), arena);
    table_add(&p->table, top_rate(top_number(row->doc, "completed"),
                                  top_number(row->before, "completed"), since_ms, arena));
    table_add(&p->table, top_rate(row->failed, was, since_ms, arena));
    add_number(p, row->failed, arena);
    add_number(p, row->dead, arena);
}

static void make_queues(struct panel *p, const struct top_data *data, const struct top_view *view,
                        struct arena *arena)
{
    static const struct column columns[] = {
        {.title = "QUEUE", .flexible = true},
        {.title = "QUEUED", .right = true},
        {.title = "RUNNING", .right = true},
        {.title = "RETRYING", .right = true, .optional = true},
        {.title = "WAITING", .right = true, .optional = true},
        {.title = "DONE/S", .right = true},
        {.title = "FAIL/S", .right = true, .optional = true},
        {.title = "FAILED", .right = true},
        {.title = "DEAD", .right = true, .optional = true},
    };
    CLEANUP(strmap_free) struct strmap before = {0};
    const struct json *now = data->queues != NULL ? data->queues : data->tick;
    const struct json *then = data->queues != NULL ? data->queues_before : data->before;
    size_t count;
    const struct json *queues = items_of(now, "queues", &count);
    struct queue_row *rows = ARENA_ARRAY(arena, struct queue_row, count + 1);
    int64_t ms = top_when_ms(now, "as_of") - top_when_ms(then, "as_of");
    size_t len = 0;
    set_columns(p, columns, COUNT_OF(columns));
    p->nothing = view->filter.len > 0 ? "no queue fits the filter" : "no queues";
    index_before(then, &before, arena);
    for (size_t i = 0; i < count; i++) {
        if (view->filter.len == 0 || fits(view, &queues[i], "queue"))
            rows[len++] = read_queue(&queues[i], &before, view);
    }
    qsort(rows, len, sizeof *rows, by_order);
    for (size_t i = 0; i < len; i++)
        add_queue(p, &rows[i], then == NULL ? 0 : ms, arena);
}

/* ---- runs */

struct run_row {
    const struct json *doc;
    int64_t at_ms;
};

static int longest_first(const void *left, const void *right)
{
    const struct run_row *a = left;
    const struct run_row *b = right;
    return a->at_ms == b->at_ms ? 0 : a->at_ms < b->at_ms ? -1 : 1;
}

static int newest_first(const void *left, const void *right)
{
    return -longest_first(left, right);
}

static struct run_row *read_runs(const struct json *list, const struct top_view *view,
                                 const char *when, struct arena *arena, size_t *ret_count)
{
    size_t count;
    const struct json *runs = items_of(list, "executions", &count);
    struct run_row *rows = ARENA_ARRAY(arena, struct run_row, count + 1);
    *ret_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (view->filter.len == 0 || fits(view, &runs[i], "queue") ||
            fits(view, &runs[i], "job_name"))
            rows[(*ret_count)++] = (struct run_row){&runs[i], top_when_ms(&runs[i], when)};
    }
    return rows;
}

/* The job's name; of one without the execution says which it is anyway. */
static void add_run(struct panel *p, const struct json *doc, struct str when, struct arena *arena)
{
    struct str name = top_text(doc, "job_name", arena);
    table_add(&p->table, top_text(doc, "execution_id", arena));
    table_add(&p->table, when);
    table_add(&p->table, name.len > 0 ? name : top_text(doc, "job_id", arena));
    table_add(&p->table, top_text(doc, "queue", arena));
}

static void make_running(struct panel *p, const struct top_data *data, const struct top_view *view,
                         struct arena *arena)
{
    static const struct column columns[] = {
        {.title = "LONGEST RUNNING"},
        {.title = "FOR", .right = true},
        {.title = "JOB", .flexible = true},
        {.title = "QUEUE", .flexible = true},
        {.title = "ATTEMPT", .right = true, .optional = true},
        {.title = "WORKER", .optional = true},
    };
    size_t count;
    struct run_row *rows = read_runs(data->running, view, "started_at", arena, &count);
    int64_t now_ms = top_when_ms(data->tick, "time");
    set_columns(p, columns, COUNT_OF(columns));
    p->nothing = "nothing runs";
    if (top_text(data->running, "next_cursor", arena).len > 0) /* older ones are not in it */
        p->columns[0].title = "LONGEST OF THE NEWEST";
    qsort(rows, count, sizeof *rows, longest_first);
    for (size_t i = 0; i < count; i++) {
        add_run(p, rows[i].doc, top_duration(now_ms - rows[i].at_ms, arena), arena);
        add_number(p, top_number(rows[i].doc, "attempt_count"), arena);
        table_add(&p->table, top_text(rows[i].doc, "worker_id", arena));
    }
}

/* "14:03:02" */
static struct str clock_text(int64_t at_ms, struct arena *arena)
{
    char text[WHEN_TEXT_MAX];
    struct str when = when_format(text, at_ms);
    return at_ms == 0 || when.len < 19 ? STR("") : arena_str(arena, str_of(when.ptr + 11, 8));
}

static void make_failures(struct panel *p, const struct top_data *data, const struct top_view *view,
                          struct arena *arena)
{
    static const struct column columns[] = {
        {.title = "NEWEST FAILURES"},         {.title = "AT"},
        {.title = "JOB", .flexible = true},   {.title = "QUEUE", .flexible = true},
        {.title = "ERROR", .flexible = true}, {.title = "TOOK", .right = true, .optional = true},
    };
    size_t count;
    struct run_row *rows = read_runs(data->failures, view, "finished_at", arena, &count);
    set_columns(p, columns, COUNT_OF(columns));
    p->nothing = "no failures";
    qsort(rows, count, sizeof *rows, newest_first);
    for (size_t i = 0; i < count; i++) {
        add_run(p, rows[i].doc, clock_text(rows[i].at_ms, arena), arena);
        table_add(&p->table, top_text(rows[i].doc, "error", arena));
        table_add(&p->table, top_duration(top_number(rows[i].doc, "duration_ms"), arena));
    }
}

/* ---- workers and servers */

static void make_workers(struct panel *p, const struct top_data *data, const struct top_view *view,
                         struct arena *arena)
{
    static const struct column columns[] = {
        {.title = "WORKER"},
        {.title = "STATUS", .status = true},
        {.title = "BUSY", .right = true},
        {.title = "SLOTS", .right = true},
        {.title = "NAME", .flexible = true},
        {.title = "SEEN", .optional = true},
    };
    size_t count;
    const struct json *workers = items_of(data->workers, "workers", &count);
    (void)view;
    set_columns(p, columns, COUNT_OF(columns));
    p->nothing = "no workers";
    for (size_t i = 0; i < count; i++) {
        table_add(&p->table, top_text(&workers[i], "worker_id", arena));
        table_add(&p->table, top_text(&workers[i], "status", arena));
        add_number(p, top_number(&workers[i], "busy"), arena);
        add_number(p, top_number(&workers[i], "slots"), arena);
        table_add(&p->table, top_text(&workers[i], "name", arena));
        table_add(&p->table, clock_text(top_when_ms(&workers[i], "seen_at"), arena));
    }
}

static struct str micros(int64_t us, struct arena *arena)
{
    return arena_printf(arena, "%" PRId64 ".%" PRId64 "ms", us / 1000, us % 1000 / 100);
}

static void make_servers(struct panel *p, const struct top_data *data, const struct top_view *view,
                         struct arena *arena)
{
    static const struct column columns[] = {
        {.title = "SERVER", .flexible = true},
        {.title = "STATUS", .status = true},
        {.title = "PARTITIONS", .right = true},
        {.title = "COMMITS/MIN", .right = true},
        {.title = "P50", .right = true},
        {.title = "P99", .right = true},
        {.title = "VERSION", .flexible = true, .optional = true},
    };
    size_t count;
    const struct json *nodes = items_of(data->cluster, "nodes", &count);
    (void)view;
    if (count < 2)
        return; /* the line about the database says it all */
    set_columns(p, columns, COUNT_OF(columns));
    p->nothing = "";
    for (size_t i = 0; i < count; i++) {
        table_add(&p->table, top_text(&nodes[i], "name", arena));
        table_add(&p->table, top_text(&nodes[i], "status", arena));
        add_number(p, top_number(&nodes[i], "partitions"), arena);
        add_number(p, top_number(&nodes[i], "commits.count"), arena);
        table_add(&p->table, micros(top_number(&nodes[i], "commits.p50_us"), arena));
        table_add(&p->table, micros(top_number(&nodes[i], "commits.p99_us"), arena));
        table_add(&p->table, top_text(&nodes[i], "version", arena));
    }
}

/* ---- any of them */

void panel_make(struct panel *p, enum top_panel kind, const struct top_data *data,
                const struct top_view *view, struct arena *arena)
{
    static void (*const makers[])(struct panel *, const struct top_data *, const struct top_view *,
                                  struct arena *) = {
        [PANEL_QUEUES] = make_queues,   [PANEL_FAILURES] = make_failures,
        [PANEL_RUNNING] = make_running, [PANEL_WORKERS] = make_workers,
        [PANEL_SERVERS] = make_servers,
    };
    static_assert(COUNT_OF(makers) == PANELS, "each panel is made");
    *p = (struct panel){.nothing = ""};
    makers[kind](p, data, view, arena);
}

void panel_free(struct panel *p)
{
    table_free(&p->table);
}

size_t panel_rows(const struct panel *p)
{
    return p->table.column_count == 0 ? 0 : p->table.cell_count / p->table.column_count;
}
