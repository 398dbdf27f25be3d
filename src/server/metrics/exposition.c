#include "server/metrics/exposition.h"

enum {
    NAME_BYTES_MAX = 256,
};

/* One that is being printed. */
struct family {
    const struct metric *m;
    struct str name; /* with the prefix */
    struct buf *out;
    bool openmetrics;
};

/* ---- values */

static void print_decimals(struct buf *out, int64_t value, int64_t unit)
{
    uint64_t size = value < 0 ? (uint64_t)-value : (uint64_t)value;
    if (value < 0)
        buf_add_char(out, '-');
    buf_add_u64(out, size / (uint64_t)unit);
    uint64_t rest = size % (uint64_t)unit;
    if (rest == 0)
        return;
    buf_add_char(out, '.');
    for (uint64_t digit = (uint64_t)unit / 10; rest > 0; digit /= 10) {
        buf_add_char(out, (char)('0' + rest / digit));
        rest %= digit;
    }
}

static void print_number(struct buf *out, enum metric_scale scale, int64_t value)
{
    switch (scale) {
    case SCALE_HALF: print_decimals(out, value * 5, 10); break;
    case SCALE_MS:
    case SCALE_RUN:
    case SCALE_WAIT:
    case SCALE_PERMILLE: print_decimals(out, value, 1000); break;
    case SCALE_US:
    case SCALE_CALL: print_decimals(out, value, 1000000); break;
    case SCALE_ONE:
    case METRIC_SCALES: buf_add_i64(out, value); break;
    }
}

static void print_value(struct buf *out, enum metric_scale scale, int64_t value)
{
    print_number(out, scale, value);
    buf_add_char(out, '\n');
}

/* ---- lines */

/* NAME_END{LABELS,LABEL="WORD"} before a value. */
static void begin_line(const struct family *f, struct str end, struct str labels, struct str label,
                       struct str word)
{
    struct buf *out = f->out;
    buf_add(out, f->name);
    buf_add(out, end);
    if (labels.len + label.len > 0) {
        buf_add_char(out, '{');
        buf_add(out, labels);
        if (labels.len > 0 && label.len > 0)
            buf_add_char(out, ',');
        if (label.len > 0) {
            buf_add(out, label);
            buf_add(out, STR("=\""));
            buf_add(out, word);
            buf_add_char(out, '"');
        }
        buf_add_char(out, '}');
    }
    buf_add_char(out, ' ');
}

/* Behind the value of a bucket: # {trace_id="…"} 0.041 1794816000.123 */
static void print_exemplar(const struct family *f, const struct metric_row *row, size_t bucket)
{
    enum exemplar_of which = exemplar_of_metric(f->m);
    if (!f->openmetrics || row->exemplars == NULL || which == EXEMPLAR_HISTOGRAMS)
        return;
    const struct exemplar *e = &row->exemplars[which * METRIC_BUCKETS + bucket];
    char trace[TRACE_TEXT_MAX];
    if (e->at_ms == 0)
        return;
    buf_add(f->out, STR(" # {trace_id=\""));
    buf_add(f->out, trace_id_format(trace, e->trace));
    buf_add(f->out, STR("\"} "));
    print_number(f->out, f->m->scale, e->value);
    buf_add_char(f->out, ' ');
    print_decimals(f->out, e->at_ms, 1000);
}

static void print_histogram(const struct family *f, const struct metric_row *row)
{
    const int64_t *cells = &row->cells[f->m->cell];
    int64_t count = 0;
    for (size_t i = 0; i < METRIC_BUCKETS; i++) {
        count += cells[i];
        begin_line(f, STR("_bucket"), row->labels, STR("le"), metric_bound_text(f->m->scale, i));
        buf_add_i64(f->out, count);
        print_exemplar(f, row, i);
        buf_add_char(f->out, '\n');
    }
    begin_line(f, STR("_sum"), row->labels, STR(""), STR(""));
    print_value(f->out, f->m->scale, cells[METRIC_BUCKETS]);
    begin_line(f, STR("_count"), row->labels, STR(""), STR(""));
    buf_add_i64(f->out, count);
    buf_add_char(f->out, '\n');
}

static void print_row(const struct family *f, const struct metric_row *row)
{
    const struct metric *m = f->m;
    struct str label = metric_label_name(m->label);
    if (m->kind == METRIC_HISTOGRAM) {
        print_histogram(f, row);
        return;
    }
    for (size_t i = 0; i < metric_width(m); i++) {
        int64_t value = row->cells[m->cell + i];
        struct str word = metric_word(m->label, i);
        if (value == METRIC_NO_VALUE || (label.len > 0 && word.len == 0))
            continue;
        begin_line(f, STR(""), row->labels, label, word);
        print_value(f->out, m->scale, value);
    }
}

/* ---- families */

static bool has_unit(struct str name)
{
    static const struct str units[] = {STR_INIT("_seconds"), STR_INIT("_bytes")};
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (name.len > units[i].len && str_eq(str_from(name, name.len - units[i].len), units[i]))
            return true;
    }
    return false;
}

static struct str unit_of(struct str name)
{
    size_t at = name.len;
    while (name.ptr[at - 1] != '_')
        at--;
    return str_from(name, at);
}

/* OpenMetrics has the family of a counter without the ending that its series have. */
static struct str family_name(const struct family *f, bool openmetrics)
{
    static const struct str total = STR_INIT("_total");
    if (openmetrics && f->m->kind == METRIC_COUNTER)
        return str_of(f->name.ptr, f->name.len - total.len);
    return f->name;
}

static void print_head(const struct family *f, bool openmetrics)
{
    static const char *const types[] = {
        [METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge", [METRIC_HISTOGRAM] = "histogram"};
    struct str name = family_name(f, openmetrics);
    buf_printf(f->out, "# HELP %.*s %s\n# TYPE %.*s %s\n", STR_ARG(name), f->m->words,
               STR_ARG(name), types[f->m->kind]);
    if (openmetrics && has_unit(name)) {
        struct str unit = unit_of(name);
        buf_printf(f->out, "# UNIT %.*s %.*s\n", STR_ARG(name), STR_ARG(unit));
    }
}

static void print_family(const struct exposition *x, const struct metric *m,
                         const struct metric_copy *copy, struct buf *out)
{
    char bytes[NAME_BYTES_MAX];
    struct buf name = {.ptr = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    const struct metric_rows *rows = &copy->axes[m->axis];
    if (!metric_is_common(m))
        buf_add(&name, x->prefix);
    buf_add(&name, m->name);
    const struct family f = {m, buf_str(&name), out, x->openmetrics};
    print_head(&f, x->openmetrics);
    for (size_t i = 0; i < rows->count; i++)
        print_row(&f, &rows->rows[i]);
}

static int64_t count_lines(const struct buf *out, size_t from)
{
    int64_t lines = 0;
    const char *end = out->ptr + out->len;
    for (const char *at = out->ptr + from; (at = memchr(at, '\n', (size_t)(end - at))) != NULL;
         at++)
        lines++;
    return lines;
}

/* How many lines there are is told by one of them, which comes last for that. */
void exposition_print(const struct exposition *x, struct metric_copy *copy, struct buf *out)
{
    struct metric_row server = {.cells = copy->server};
    const struct metric *last = NULL;
    copy->axes[AXIS_SERVER] = (struct metric_rows){&server, 1};
    for (size_t i = 0; i < metric_count; i++) {
        const struct metric *m = &metric_table[i];
        if (m->axis == AXIS_SERVER && m->cell == CELL_LINES)
            last = m;
        else
            print_family(x, m, copy, out);
    }
    copy->server[CELL_LINES] = count_lines(out, 0) + 3 + x->openmetrics;
    print_family(x, last, copy, out);
    if (x->openmetrics)
        buf_add(out, STR("# EOF\n"));
}
