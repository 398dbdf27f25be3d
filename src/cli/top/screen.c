#include "cli/top/screen.h"
#include "base/when.h"
#include "cli/cells.h"
#include "cli/top/panels.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    LINE_BYTES_MAX = 1 << 14,
    TEXT_BYTES_MAX = 1 << 26,
    HEAD_ROWS = 5,
    PANEL_MIN = 4,  /* lines of a table, its title among them, that make it worth showing */
    QUEUES_MIN = 8, /* … of the queues, before others get any */
    BAR_CELLS = 20,
};

#define REVERSE STR("\x1b[7m")
#define RED STR("\x1b[31m")
#define PLAIN STR("\x1b[0m")

#define NAME_SERIES(name) #name,
const char *const top_series_names[] = {TOP_SERIES(NAME_SERIES)};

struct screen {
    const struct top_data *data;
    const struct top_view *view;
    struct arena *arena;
    struct buf *out;
    size_t lines;
};

/* ---- lines */

/* Sequences that set colours take no cell, and go on where the text is cut. */
static void add_cut(struct buf *out, struct str text, size_t cols)
{
    size_t used = 0;
    bool full = false;
    while (text.len > 0) {
        size_t width = 0;
        size_t len;
        bool is_colour = text.ptr[0] == '\x1b';
        if (is_colour)
            len = str_index(text, 'm') < text.len ? str_index(text, 'm') + 1 : text.len;
        else
            len = cells_next(text, &width);
        full |= cols > 0 && used + width > cols;
        if (is_colour || !full) {
            buf_add(out, str_of(text.ptr, len));
            used += width;
        }
        text = str_from(text, len);
    }
}

static bool is_full(const struct screen *s)
{
    return s->view->rows > 0 && s->lines >= s->view->rows;
}

static void add_line(struct screen *s, struct str text)
{
    if (is_full(s))
        return;
    add_cut(s->out, text, s->view->cols);
    buf_add_char(s->out, '\n');
    s->lines++;
}

/* From one edge to the other, where there are colours. */
static void add_bright(struct screen *s, struct str text, struct str colour)
{
    CLEANUP(buf_free) struct buf line = BUF(LINE_BYTES_MAX);
    struct str shown = s->view->cols == 0 ? text : cells_cut(text, s->view->cols);
    size_t width = cells_width(shown);
    if (!s->view->colour) {
        add_line(s, shown);
        return;
    }
    buf_add(&line, colour);
    buf_add(&line, REVERSE);
    buf_add(&line, shown);
    buf_printf(&line, "%*s", s->view->cols > width ? (int)(s->view->cols - width) : 0, "");
    buf_add(&line, PLAIN);
    add_line(s, buf_str(&line));
}

__attribute__((format(printf, 2, 3))) static void add_printf(struct screen *s, const char *format,
                                                             ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add_line(s, str_c(text));
}

/* ---- the head */

/* The last point that is known: the newest may be a gap. */
static bool series_last(const struct screen *s, size_t which, int64_t *ret_value)
{
    const struct json *points =
        s->data->series[which] == NULL ? NULL : json_get(s->data->series[which], STR("points"));
    for (size_t i = points == NULL || points->kind != JSON_ARRAY ? 0 : points->count; i-- > 0;) {
        const struct json *value = json_get(&points->items[i], STR("value"));
        if (value == NULL || value->kind != JSON_INT)
            continue;
        *ret_value = value->integer;
        return true;
    }
    return false;
}

static struct str series_rate(struct screen *s, size_t which)
{
    int64_t value;
    int64_t step_ms = top_number(s->data->series[which], "step_ms");
    return series_last(s, which, &value) ? top_rate(value, 0, step_ms, s->arena) : STR("-");
}

static struct str series_duration(struct screen *s, size_t which)
{
    int64_t value;
    return series_last(s, which, &value) ? top_duration(value, s->arena) : STR("-");
}

static void add_title(struct screen *s)
{
    const struct json *tick = s->data->tick;
    struct str time = top_text(tick, "time", s->arena);
    struct str clock = time.len >= 19 ? str_of(time.ptr + 11, 8) : STR("--:--:--");
    struct str url = cells_clean(s->view->url, 200, s->arena);
    if (s->view->lost.len > 0) {
        struct str why = cells_clean(s->view->lost, 200, s->arena);
        add_bright(s,
                   arena_printf(s->arena,
                                "belfry top  LOST THE SERVER, trying again (as of %.*s): %.*s",
                                STR_ARG(clock), STR_ARG(why)),
                   RED);
        return;
    }
    struct str up = top_duration(top_number(tick, "uptime_ms"), s->arena);
    add_bright(s,
               arena_printf(s->arena, "belfry top  %.*s UTC  up %.*s  %.*s", STR_ARG(clock),
                            STR_ARG(up), STR_ARG(url)),
               STR(""));
}

static void add_counts(struct screen *s)
{
    const struct json *t = s->data->tick;
    add_printf(s,
               "runs     queued %" PRId64 "  running %" PRId64 "  retrying %" PRId64
               "  waiting %" PRId64 "  failed %" PRId64 "  dead %" PRId64 "  jobs %" PRId64,
               top_number(t, "executions.queued"), top_number(t, "executions.running"),
               top_number(t, "executions.retrying"),
               top_number(t, "executions.scheduled") + top_number(t, "executions.blocked"),
               top_number(t, "executions.failed") + top_number(t, "executions.timeout"),
               top_number(t, "dead_letters"), top_number(t, "jobs.active"));
}

static void add_rates(struct screen *s)
{
    struct str in = series_rate(s, TOP_submitted);
    struct str started = series_rate(s, TOP_started);
    struct str done = series_rate(s, TOP_completed);
    struct str failed = series_rate(s, TOP_failed);
    struct str p50 = series_duration(s, TOP_start_lag_p50);
    struct str p99 = series_duration(s, TOP_start_lag_p99);
    struct str oldest = series_duration(s, TOP_oldest_age);
    add_printf(s,
               "per sec  in %.*s  started %.*s  done %.*s  failed %.*s  lag p50 %.*s p99 %.*s  "
               "oldest %.*s",
               STR_ARG(in), STR_ARG(started), STR_ARG(done), STR_ARG(failed), STR_ARG(p50),
               STR_ARG(p99), STR_ARG(oldest));
}

static size_t workers_with(const struct screen *s, const char *status)
{
    const struct json *workers =
        s->data->workers == NULL ? NULL : json_get(s->data->workers, STR("workers"));
    size_t count = 0;
    for (size_t i = 0; workers != NULL && workers->kind == JSON_ARRAY && i < workers->count; i++) {
        const struct json *is = json_get(&workers->items[i], STR("status"));
        count += is != NULL && is->kind == JSON_STRING && str_eq(is->string, str_c(status));
    }
    return count;
}

static void add_workers(struct screen *s)
{
    char bar[BAR_CELLS + 1];
    int64_t slots = top_number(s->data->tick, "workers.slots");
    int64_t busy = top_number(s->data->tick, "workers.busy");
    size_t full = slots <= 0 ? 0 : (size_t)(busy < slots ? busy * BAR_CELLS / slots : BAR_CELLS);
    memset(bar, '.', BAR_CELLS);
    memset(bar, '#', full);
    bar[BAR_CELLS] = '\0';
    size_t gone = workers_with(s, "away");
    size_t kept = workers_with(s, "cordoned") + workers_with(s, "draining");
    add_printf(
        s, "workers  active %zu%s  busy %" PRId64 " of %" PRId64 " slots [%s]",
        workers_with(s, "active"),
        arena_printf(s->arena, "%.*s%.*s",
                     STR_ARG(gone == 0 ? STR("") : arena_printf(s->arena, "  away %zu", gone)),
                     STR_ARG(kept == 0 ? STR("") : arena_printf(s->arena, "  cordoned %zu", kept)))
            .ptr,
        busy, slots, bar);
}

/* "a 6  b 5  c silent" */
static void add_nodes(struct screen *s, struct buf *line)
{
    const struct json *nodes =
        s->data->cluster == NULL ? NULL : json_get(s->data->cluster, STR("nodes"));
    size_t count = nodes == NULL || nodes->kind != JSON_ARRAY ? 0 : nodes->count;
    for (size_t i = 0; i < count; i++) {
        struct str name = top_text(&nodes->items[i], "name", s->arena);
        struct str status = top_text(&nodes->items[i], "status", s->arena);
        bool active = str_eq(status, STR("active"));
        if (count > 1)
            buf_printf(line, "  %.*s %" PRId64 "%s%.*s", STR_ARG(name),
                       top_number(&nodes->items[i], "partitions"), active ? "" : " ",
                       STR_ARG(active ? STR("") : status));
    }
}

/* The slowest of all servers. */
static int64_t commit_us(const struct screen *s, const char *path)
{
    const struct json *nodes =
        s->data->cluster == NULL ? NULL : json_get(s->data->cluster, STR("nodes"));
    int64_t slowest = 0;
    for (size_t i = 0; nodes != NULL && nodes->kind == JSON_ARRAY && i < nodes->count; i++) {
        int64_t us = top_number(&nodes->items[i], path);
        slowest = us > slowest ? us : slowest;
    }
    return slowest;
}

/* An outage that goes on has no end yet. */
static bool store_is_away(const struct screen *s)
{
    const struct json *outages =
        s->data->cluster == NULL ? NULL : json_get(s->data->cluster, STR("outages"));
    for (size_t i = 0; outages != NULL && outages->kind == JSON_ARRAY && i < outages->count; i++) {
        if (top_when_ms(&outages->items[i], "until") == 0)
            return true;
    }
    return false;
}

static void add_cluster(struct screen *s)
{
    CLEANUP(buf_free) struct buf line = BUF(LINE_BYTES_MAX);
    const struct json *missing =
        s->data->tick == NULL ? NULL : json_get(s->data->tick, STR("missing"));
    int64_t ms = top_when_ms(s->data->tick, "as_of") - top_when_ms(s->data->before, "as_of");
    struct str rate = top_rate(top_number(s->data->tick, "store.commits"),
                               top_number(s->data->before, "store.commits"),
                               s->data->before == NULL ? 0 : ms, s->arena);
    int64_t p50_us = commit_us(s, "commits.p50_us");
    int64_t p99_us = commit_us(s, "commits.p99_us");
    buf_printf(&line,
               "database %scommits %.*s/s  p50 %" PRId64 ".%" PRId64 "ms  p99 %" PRId64 ".%" PRId64
               "ms",
               store_is_away(s) ? "TAKES NOTHING  " : "", STR_ARG(rate), p50_us / 1000,
               p50_us % 1000 / 100, p99_us / 1000, p99_us % 1000 / 100);
    if (missing != NULL && missing->kind == JSON_ARRAY && missing->count > 0)
        buf_printf(&line, "  NO ANSWER of %u", missing->count);
    add_nodes(s, &line);
    add_line(s, buf_str(&line));
}

/* ---- tables */

/* Lines for each table, out of so many: the queues first, then the others in their order, each at
 * least a few lines or none; what is left goes round. */
static void share_rows(size_t left, const size_t *wanted, size_t *ret_given)
{
    for (size_t i = 0; i < PANELS; i++) {
        size_t least = i == PANEL_QUEUES ? QUEUES_MIN : PANEL_MIN;
        least = wanted[i] < least ? wanted[i] : least;
        bool fits = least <= left;
        ret_given[i] = fits ? least : i == PANEL_QUEUES ? left : 0;
        left -= ret_given[i];
    }
    for (bool any = true; any && left > 0;) {
        any = false;
        for (size_t i = 0; i < PANELS && left > 0; i++) {
            if (ret_given[i] == 0 || ret_given[i] >= wanted[i])
                continue;
            ret_given[i]++;
            left--;
            any = true;
        }
    }
}

/* So many lines of it, from a row on. */
static void add_panel(struct screen *s, const struct panel *p, size_t first, size_t lines)
{
    CLEANUP(buf_free) struct buf text = BUF(TEXT_BYTES_MAX);
    size_t rows = panel_rows(p);
    struct table part = p->table;
    if (lines == 0 || p->table.column_count == 0)
        return;
    first = first < rows ? first : rows;
    size_t count = lines - 1 < rows - first ? lines - 1 : rows - first;
    if (part.cells != NULL)
        part.cells += first * part.column_count;
    part.cell_count = count * part.column_count;
    table_print(&part, (struct paper){s->view->cols, s->view->colour}, &text);
    struct str rest = buf_str(&text);
    add_bright(s, str_cut(&rest, '\n'), STR(""));
    while (rest.len > 0)
        add_line(s, str_cut(&rest, '\n'));
    if (rows == 0 && lines > 1)
        add_line(s, str_c(p->nothing));
}

/* The least that shows everything. */
static size_t lines_of(const struct panel *p)
{
    size_t rows = panel_rows(p);
    return p->table.column_count == 0 ? 0 : 1 + (rows == 0 ? 1 : rows);
}

static size_t add_panels(struct screen *s, size_t *ret_last)
{
    static const enum top_panel order[] = {PANEL_QUEUES, PANEL_RUNNING, PANEL_FAILURES,
                                           PANEL_WORKERS, PANEL_SERVERS};
    struct panel panels[PANELS];
    size_t wanted[PANELS];
    size_t given[PANELS];
    size_t left = s->view->rows > HEAD_ROWS + 1 ? s->view->rows - HEAD_ROWS - 1 : 0;
    for (size_t i = 0; i < PANELS; i++) {
        panel_make(&panels[i], (enum top_panel)i, s->data, s->view, s->arena);
        wanted[i] = given[i] = lines_of(&panels[i]);
    }
    if (s->view->rows > 0)
        share_rows(left, wanted, given);
    size_t queues = panel_rows(&panels[PANEL_QUEUES]);
    size_t shown = given[PANEL_QUEUES] > 0 ? given[PANEL_QUEUES] - 1 : 0;
    size_t last = queues > shown ? queues - shown : 0;
    for (size_t i = 0; i < PANELS; i++) {
        bool is_queues = order[i] == PANEL_QUEUES;
        if (s->view->rows == 0)
            add_line(s, STR(""));
        add_panel(s, &panels[order[i]],
                  !is_queues              ? 0
                  : s->view->first < last ? s->view->first
                                          : last,
                  given[order[i]]);
    }
    for (size_t i = 0; i < PANELS; i++)
        panel_free(&panels[i]);
    *ret_last = last;
    return queues;
}

/* ---- keys */

static const char *sort_name(enum top_sort sort)
{
    static const char *const names[] = {
        [TOP_BY_LOAD] = "load", [TOP_BY_DONE] = "done/s", [TOP_BY_FAILED] = "failed",
        [TOP_BY_DEAD] = "dead", [TOP_BY_NAME] = "name",
    };
    return names[sort];
}

static void add_keys(struct screen *s, size_t queues)
{
    const struct top_view *v = s->view;
    struct str filter = cells_clean(v->filter, 200, s->arena);
    int64_t all = top_number(s->data->tick, "queue_count");
    while (s->lines + 1 < v->rows)
        add_line(s, STR(""));
    if (v->typing) {
        add_line(s, arena_printf(s->arena, "filter: %.*s_", STR_ARG(filter)));
        return;
    }
    struct str of = all > (int64_t)queues
                        ? arena_printf(s->arena, "%zu of %" PRId64 " queues", queues, all)
                        : arena_printf(s->arena, "%zu queues", queues);
    add_line(s, arena_printf(s->arena,
                             "q quit  s sort (%s%s)  r reverse  / filter%s%.*s  ? keys  %.*s",
                             sort_name(v->sort), v->reversed ? ", reversed" : "",
                             filter.len > 0 ? ": " : "", STR_ARG(filter), STR_ARG(of)));
}

static void add_help(struct screen *s)
{
    static const char *const lines[] = {
        "",
        "q, Ctrl-C        leave",
        "s, S             sort queues by the next column, or the one before: load (queued and",
        "                 running), done per second, failed, dead letters, name",
        "r                the other way round",
        "/                filter by a part of the name of a queue or job; Enter keeps it",
        "Escape           no filter",
        "Up, Down, k, j   other queues; Page Up, Page Down, b, space: many of them; g: the first",
        "?, h             this page, and back",
        "",
        "Rates at the top are of the last ten seconds, those of queues since the last screen.",
        "Of more than 5000 queues the 50 are shown that changed most.",
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        add_line(s, str_c(lines[i]));
    while (s->lines + 1 < s->view->rows)
        add_line(s, STR(""));
    add_line(s, STR("? back"));
}

size_t screen_print(const struct top_data *data, const struct top_view *view, struct arena *arena,
                    struct buf *out)
{
    struct screen s = {.data = data, .view = view, .arena = arena, .out = out};
    size_t last = 0;
    add_title(&s);
    if (view->help) {
        add_help(&s);
        return 0;
    }
    add_counts(&s);
    add_rates(&s);
    add_workers(&s);
    add_cluster(&s);
    size_t queues = add_panels(&s, &last);
    if (view->rows > 0)
        add_keys(&s, queues);
    return last;
}
