#include "server/metrics/named_rows.h"
#include "base/arena.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    LABEL_BYTES_MAX = 4096, /* a name has 200 bytes, of which each may need three */
    SEARCH_MS = 1000,
    MISSED_BITS = 1 << 20, /* of a million names two thirds are told apart */
};

static const struct str others = STR_INIT("other");

bool budget_take(struct line_budget *budget, size_t lines)
{
    int_least64_t left = atomic_load(&budget->left);
    do {
        if (left < (int_least64_t)lines)
            return false;
    } while (!atomic_compare_exchange_weak(&budget->left, &left, left - (int_least64_t)lines));
    return true;
}

void budget_give(struct line_budget *budget, size_t lines)
{
    atomic_fetch_add(&budget->left, (int_least64_t)lines);
}

void metric_label_print(struct buf *out, const char *name, struct str value)
{
    buf_printf(out, "%s=\"", name);
    while (value.len > 0) {
        size_t len = str_utf8_len(value);
        char c = value.ptr[0];
        if (len == 0)
            buf_add(out, STR("\xEF\xBF\xBD")); /* the replacement character */
        else if (c == '\n')
            buf_add(out, STR("\\n"));
        else if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else
            buf_add(out, str_of(value.ptr, len));
        value = str_from(value, len == 0 ? 1 : len);
    }
    buf_add_char(out, '"');
}

/* ---- rows */

/* A number that was not told yet is not 0. */
static void forget_gauges(struct named_row *row, enum metric_axis axis)
{
    for (size_t i = 0; i < metric_count; i++) {
        const struct metric *m = &metric_table[i];
        for (size_t k = 0; m->axis == axis && m->kind == METRIC_GAUGE && k < metric_width(m); k++)
            cell_set(&row->cells[m->cell + k], METRIC_NO_VALUE);
    }
}

static struct named_row *row_new(const struct named_rows *s, struct str name, struct str shown)
{
    CLEANUP(buf_free) struct buf labels = BUF(LABEL_BYTES_MAX);
    size_t cells = metric_cells(s->axis) * sizeof(metric_cell);
    metric_label_print(&labels, metric_axis_label(s->axis), shown);
    struct named_row *row = mem_new(sizeof *row + cells + name.len + labels.len);
    char *text = (char *)row + sizeof *row + cells;
    if (name.len > 0)
        memcpy(text, name.ptr, name.len);
    memcpy(text + name.len, labels.ptr, labels.len);
    row->name = str_of(text, name.len);
    row->labels = str_of(text + name.len, labels.len);
    forget_gauges(row, s->axis);
    return row;
}

void named_rows_init(struct named_rows *s, enum metric_axis axis, struct line_budget *budget,
                     metric_cell *dropped)
{
    *s = (struct named_rows){.axis = axis, .budget = budget, .dropped = dropped};
    pthread_mutex_init(&s->lock, NULL);
    s->other = row_new(s, STR(""), others);
}

static void row_free(struct named_row *row)
{
    exemplars_free(&row->exemplars);
    free(row);
}

void named_rows_free(struct named_rows *s)
{
    for (size_t i = 0; i < s->len; i++)
        row_free(s->list[i]);
    row_free(s->other);
    free(s->missed);
    strmap_free(&s->by_name);
    pthread_mutex_destroy(&s->lock);
}

static void forget(struct named_rows *s, size_t at)
{
    struct named_row *row = s->list[at];
    strmap_remove(&s->by_name, row->name);
    pthread_mutex_lock(&s->lock);
    memmove(&s->list[at], &s->list[at + 1], (s->len - at - 1) * sizeof s->list[0]);
    s->len--;
    pthread_mutex_unlock(&s->lock);
    budget_give(s->budget, metric_row_lines(s->axis));
    s->last = NULL;
    row_free(row);
}

/* Makes room, if a row has been of no use for long; looked for once a second at most. */
static void forget_idle(struct named_rows *s, int64_t now_ms)
{
    if (now_ms < s->search_ms)
        return;
    s->search_ms = now_ms + SEARCH_MS;
    for (size_t i = s->len; i-- > 0;) {
        if (now_ms - s->list[i]->used_ms >= ROW_IDLE_MS)
            forget(s, i);
    }
}

static bool has_room(struct named_rows *s)
{
    return s->len < NAMED_ROWS_MAX && budget_take(s->budget, metric_row_lines(s->axis));
}

static struct named_row *add(struct named_rows *s, struct str name)
{
    struct named_row *row = row_new(s, name, name);
    strmap_put(&s->by_name, row->name, row);
    pthread_mutex_lock(&s->lock);
    s->list[s->len++] = row;
    pthread_mutex_unlock(&s->lock);
    return row;
}

/* Names are told apart by some bits of their hash: a million of them take no more memory. */
static struct named_row *miss(struct named_rows *s, struct str name)
{
    size_t bit = str_hash(name) % MISSED_BITS;
    if (s->missed == NULL)
        s->missed = mem_new(MISSED_BITS / 8);
    if ((s->missed[bit / 8] & 1U << bit % 8) == 0)
        cell_add(s->dropped, 1);
    s->missed[bit / 8] |= (uint8_t)(1U << bit % 8);
    if (!s->other_used) {
        pthread_mutex_lock(&s->lock);
        s->other_used = true;
        pthread_mutex_unlock(&s->lock);
    }
    return s->other;
}

/* No two rows may look the same. */
static bool may_have_row(struct str name)
{
    return !str_eq(name, others) && str_is_utf8(name);
}

static struct named_row *find(struct named_rows *s, struct str name, int64_t now_ms)
{
    struct named_row *row = strmap_get(&s->by_name, name);
    if (row != NULL)
        return row;
    if (!may_have_row(name))
        return miss(s, name);
    if (has_room(s))
        return add(s, name);
    forget_idle(s, now_ms);
    return has_room(s) ? add(s, name) : miss(s, name);
}

struct named_row *named_rows_get(struct named_rows *s, struct str name, int64_t now_ms)
{
    if (s->last == NULL || !str_eq(s->last->name, name)) {
        struct named_row *row = find(s, name, now_ms);
        if (row == s->other)
            return row;
        s->last = row;
    }
    s->last->used_ms = now_ms;
    return s->last;
}

static void copy(const struct named_rows *s, struct named_row *row, struct arena *arena,
                 struct metric_row *ret_row)
{
    size_t count = metric_cells(s->axis);
    int64_t *cells = ARENA_ARRAY(arena, int64_t, count);
    for (size_t i = 0; i < count; i++)
        cells[i] = cell_get(&row->cells[i]);
    *ret_row = (struct metric_row){arena_str(arena, row->labels), cells,
                                   exemplars_copy(&row->exemplars, arena)};
}

size_t named_rows_copy(struct named_rows *s, struct arena *arena, struct metric_row **ret_rows)
{
    struct metric_row *rows = ARENA_ARRAY(arena, struct metric_row, NAMED_ROWS_MAX + 1);
    size_t count = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->len; i++)
        copy(s, s->list[i], arena, &rows[count++]);
    if (s->other_used)
        copy(s, s->other, arena, &rows[count++]);
    pthread_mutex_unlock(&s->lock);
    *ret_rows = rows;
    return count;
}
