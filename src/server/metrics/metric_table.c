#include "server/metrics/metric_table.h"

#include <assert.h>

#define METRIC_ROW(kind_id, scale_id, axis_id, label_id, id, by, ending, text)                     \
    {                                                                                              \
        .kind = METRIC_##kind_id,                                                                  \
        .scale = SCALE_##scale_id,                                                                 \
        .axis = axis_id,                                                                           \
        .label = LABEL_##label_id,                                                                 \
        .cell = CELL_##id,                                                                         \
        .name = STR_INIT(ending),                                                                  \
        .writer = #by,                                                                             \
        .words = (text),                                                                           \
    },
#define OF_QUEUE(id, kind, scale, label, by, name, text)                                           \
    METRIC_ROW(kind, scale, AXIS_QUEUE, label, id, by, name, text)
#define OF_HANDLER(id, kind, scale, label, by, name, text)                                         \
    METRIC_ROW(kind, scale, AXIS_HANDLER, label, id, by, name, text)
#define OF_TARGET(id, kind, scale, label, by, name, text)                                          \
    METRIC_ROW(kind, scale, AXIS_TARGET, label, id, by, name, text)
#define OF_TEAM(id, kind, scale, label, by, name, text)                                            \
    METRIC_ROW(kind, scale, AXIS_TEAM, label, id, by, name, text)
#define OF_SERVER(id, kind, scale, label, by, name, text)                                          \
    METRIC_ROW(kind, scale, AXIS_SERVER, label, id, by, name, text)
#define OF_ROUTE(id, kind, scale, label, by, name, text)                                           \
    METRIC_ROW(kind, scale, AXIS_ROUTE, label, id, by, name, text)
#define OF_THREAD(id, kind, scale, label, by, name, text)                                          \
    METRIC_ROW(kind, scale, AXIS_THREAD, label, id, by, name, text)
#define ROWS_OF(axis, list, label) list(OF_##axis)

const struct metric metric_table[] = {METRIC_LISTS(ROWS_OF)};
const size_t metric_count = COUNT_OF(metric_table);

bool metric_is_common(const struct metric *m)
{
    return str_starts(m->name, STR("process_"));
}

/* ---- labels */

size_t metric_width(const struct metric *m)
{
#define LABEL_WIDTH(id, width, label) [LABEL_##id] = (width),
    static const size_t widths[METRIC_LABEL_COUNT] = {METRIC_LABELS(LABEL_WIDTH)};
    return widths[m->label];
}

struct str metric_label_name(enum metric_label label)
{
#define LABEL_NAME(id, width, label) [LABEL_##id] = STR_INIT(label),
    static const struct str names[METRIC_LABEL_COUNT] = {METRIC_LABELS(LABEL_NAME)};
    return names[label];
}

struct str metric_word(enum metric_label label, size_t i)
{
    static const struct str phases[TURN_PHASES] = {STR_INIT("gather"), STR_INIT("admit"),
                                                   STR_INIT("decide"), STR_INIT("commit"),
                                                   STR_INIT("publish")};
    static const struct str states[WAIT_STATES] = {STR_INIT("scheduled"), STR_INIT("queued"),
                                                   STR_INIT("running"), STR_INIT("retrying"),
                                                   STR_INIT("blocked")};
    static const struct str outcomes[RUN_ENDS] = {STR_INIT("completed"), STR_INIT("failed"),
                                                  STR_INIT("retried"), STR_INIT("cancelled"),
                                                  STR_INIT("lost")};
    static const struct str workers[WORKER_STATES] = {STR_INIT("idle"), STR_INIT("busy"),
                                                      STR_INIT("cordoned"), STR_INIT("draining"),
                                                      STR_INIT("silent")};
    static const struct str classes[HTTP_CLASSES] = {STR_INIT("2xx"), STR_INIT("3xx"),
                                                     STR_INIT("4xx"), STR_INIT("5xx")};
    static const struct str files[FILE_KINDS] = {STR_INIT("database"), STR_INIT("wal"),
                                                 STR_INIT("output"), STR_INIT("output_wal")};
    static const struct str limits[GAUGE_LIMITS] = {[GAUGE_LIMIT_CONCURRENCY] =
                                                        STR_INIT("concurrency"),
                                                    [GAUGE_LIMIT_RATE] = STR_INIT("rate"),
                                                    [GAUGE_LIMIT_TEAM] = STR_INIT("team")};
    static const struct str beats[BEAT_ENDS] = {STR_INIT("sent"), STR_INIT("failed"),
                                                STR_INIT("withheld")};
    static const struct str drops[TRACE_DROPS] = {STR_INIT("queue_full"), STR_INIT("refused"),
                                                  STR_INIT("unreachable"), STR_INIT("stopped")};
    switch (label) {
    case LABEL_BEAT: return beats[i];
    case LABEL_SPANS: return drops[i];
    case LABEL_ALERT: return i == 0 ? STR("") : alert_kind_name((enum alert_kind)i);
    case LABEL_PHASE: return phases[i];
    case LABEL_STATE: return states[i];
    case LABEL_OUTCOME: return outcomes[i];
    case LABEL_WORKER: return workers[i];
    case LABEL_WHY: return takeover_why_name((enum takeover_why)i);
    case LABEL_LIMIT: return limits[i];
    case LABEL_CLASS: return classes[i];
    case LABEL_AXIS: /* one row of the server has no room to miss, and routes are known */
        return i == AXIS_SERVER || i == AXIS_THREAD ? STR("")
               : i == AXIS_ROUTE                    ? STR("route")
                                                    : str_c(metric_axis_label((enum metric_axis)i));
    case LABEL_FILE: return files[i];
    case LABEL_VERSION: return STR(BELFRY_VERSION);
    case LABEL_NONE:
    case METRIC_LABEL_COUNT: break;
    }
    return STR("");
}

/* ---- axes */

const char *metric_axis_label(enum metric_axis axis)
{
#define AXIS_LABEL(axis, list, label) [AXIS_##axis] = (label),
    static const char *const labels[METRIC_AXES] = {METRIC_LISTS(AXIS_LABEL)};
    return labels[axis];
}

size_t metric_cells(enum metric_axis axis)
{
#define AXIS_CELLS(axis, list, label) [AXIS_##axis] = axis##_CELLS,
    static const size_t cells[METRIC_AXES] = {METRIC_LISTS(AXIS_CELLS)};
    return cells[axis];
}

size_t metric_row_lines(enum metric_axis axis)
{
    size_t lines = 0;
    for (size_t i = 0; i < metric_count; i++) {
        const struct metric *m = &metric_table[i];
        if (m->axis == axis)
            lines += m->kind == METRIC_HISTOGRAM ? METRIC_HISTOGRAM_LINES : metric_width(m);
    }
    return lines;
}

size_t metric_head_lines(void)
{
    return 3 * metric_count + 1; /* HELP, TYPE, UNIT, and the end */
}

/* ---- buckets */

#define BOUNDS                                                                                     \
    static const struct {                                                                          \
        int64_t ends[METRIC_BUCKETS];                                                              \
        const char *texts[METRIC_BUCKETS];                                                         \
    } bounds[METRIC_SCALES]

/* Attempts: what dashboards ask for, and two for what runs long. Waits: the fine ones are what a
 * server that has nothing else to do takes, and objectives are 5 and 30 s. */
BOUNDS = {
    [SCALE_RUN] = {{100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 120000, 300000, 900000,
                    3600000, INT64_MAX},
                   {"0.1", "0.25", "0.5", "1.0", "2.5", "5.0", "10.0", "30.0", "60.0", "120.0",
                    "300.0", "900.0", "3600.0", "+Inf"}},
    [SCALE_WAIT] = {{5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 300000,
                     INT64_MAX},
                    {"0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1.0", "2.5", "5.0",
                     "10.0", "30.0", "300.0", "+Inf"}},
    [SCALE_CALL] = {{500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000,
                     2500000, 10000000, INT64_MAX},
                    {"0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25",
                     "0.5", "1.0", "2.5", "10.0", "+Inf"}},
};

const int64_t *metric_bounds(enum metric_scale scale)
{
    return bounds[scale].ends;
}

struct str metric_bound_text(enum metric_scale scale, size_t bucket)
{
    return str_c(bounds[scale].texts[bucket]);
}

size_t metric_bucket(enum metric_scale scale, int64_t value)
{
    const int64_t *ends = bounds[scale].ends;
    size_t i = 0;
    while (value > ends[i])
        i++;
    return i;
}

/* ---- for docs/metrics.md */

static const char *kind_name(enum metric_kind kind)
{
    static const char *const names[] = {
        [METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge", [METRIC_HISTOGRAM] = "histogram"};
    return names[kind];
}

static void print_labels(struct buf *out, const struct metric *m)
{
    const char *axis = metric_axis_label(m->axis);
    struct str label = metric_label_name(m->label);
    buf_printf(out, "%s%s%.*s", axis, axis[0] != '\0' && label.len > 0 ? ", " : "", STR_ARG(label));
}

void metric_table_print(struct buf *out)
{
    buf_add(out, STR("| metric | kind | labels | meaning | written by |\n|---|---|---|---|---|\n"));
    for (size_t i = 0; i < metric_count; i++) {
        const struct metric *m = &metric_table[i];
        buf_printf(out, "| `%.*s` | %s | ", STR_ARG(m->name), kind_name(m->kind));
        print_labels(out, m);
        buf_printf(out, " | %s | %s |\n", m->words, m->writer);
    }
}
