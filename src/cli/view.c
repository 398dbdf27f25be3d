#include "cli/view.h"
#include "base/when.h"
#include "cli/cli.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    PRINT_BYTES_MAX = 1 << 30,
    TEXT_BYTES_MAX = 1 << 20, /* of one value; a table is not read for more */
};

/* ---- values */

static const struct json *find(const struct json *object, struct str path)
{
    while (path.len > 0)
        object = json_get(object, str_cut(&path, '.'));
    return object;
}

struct str view_one_line(struct str text, struct arena *arena)
{
    struct buf line = {.ptr = arena_bytes(arena, text.len), .cap = text.len, .max = text.len};
    while (text.len > 0) {
        size_t control = str_control_len(text);
        buf_add_char(&line, control > 0 ? ' ' : text.ptr[0]);
        text = str_from(text, control > 0 ? control : 1);
    }
    return buf_str(&line);
}

static struct str scalar_text(const struct json *value)
{
    return value->kind == JSON_STRING ? value->string : value->raw;
}

/* "2026-11-16T08:00:00.000Z" without what nobody reads: the letter T and the milliseconds. */
static struct str when_text(const struct json *value, struct arena *arena)
{
    struct str text = scalar_text(value);
    if (text.len < sizeof "2026-11-16T08:00:00" - 1)
        return text;
    return arena_printf(arena, "%.10s %.8sZ", text.ptr, text.ptr + 11);
}

static struct str milliseconds_text(const struct json *value, struct arena *arena)
{
    if (value->kind != JSON_INT)
        return scalar_text(value);
    int64_t ms = value->integer;
    if (ms < 1000)
        return arena_printf(arena, "%" PRId64 "ms", ms);
    if (ms < 60000)
        return arena_printf(arena, "%" PRId64 ".%" PRId64 "s", ms / 1000, ms % 1000 / 100);
    char text[WHEN_TEXT_MAX];
    return arena_str(arena, duration_format(text, ms / 1000 * 1000));
}

static struct str microseconds_text(const struct json *value, struct arena *arena)
{
    if (value->kind != JSON_INT)
        return scalar_text(value);
    int64_t us = value->integer;
    if (us < 1000)
        return arena_printf(arena, "%" PRId64 "us", us);
    if (us < 10000)
        return arena_printf(arena, "%" PRId64 ".%" PRId64 "ms", us / 1000, us % 1000 / 100);
    if (us < 1000000)
        return arena_printf(arena, "%" PRId64 "ms", us / 1000);
    return arena_printf(arena, "%" PRId64 ".%" PRId64 "s", us / 1000000, us % 1000000 / 100000);
}

static struct str bytes_text(const struct json *value, struct arena *arena)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    if (value->kind != JSON_INT)
        return scalar_text(value);
    size_t unit = 0;
    double amount = (double)value->integer;
    for (; amount >= 1024 && unit + 1 < COUNT_OF(units); unit++)
        amount /= 1024;
    return arena_printf(arena, unit == 0 ? "%.0f %s" : "%.1f %s", amount, units[unit]);
}

/* "12.3%"; 0.00042 and 0.99958 shall not look like nothing and all: two digits near both ends. */
static struct str rate_text(const struct json *value, struct arena *arena)
{
    if (value->kind != JSON_INT && value->kind != JSON_DOUBLE)
        return scalar_text(value);
    double percent = 100 * (value->kind == JSON_INT ? (double)value->integer : value->number);
    bool near_end = (percent > 0 && percent < 1) || (percent > 99 && percent < 100);
    return arena_printf(arena, near_end ? "%.2f%%" : "%.1f%%", percent);
}

/* The items of an array with `between` between them, or the members of an object as key=value. */
static struct str joined_text(const struct json *value, const char *between, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = BUF(TEXT_BYTES_MAX);
    if (value->kind != JSON_ARRAY && value->kind != JSON_OBJECT)
        return scalar_text(value);
    for (size_t i = 0; i < value->count; i++) {
        if (i > 0)
            buf_add(&text, str_c(between));
        if (value->kind == JSON_OBJECT) {
            buf_add(&text, value->members[i].key);
            buf_add_char(&text, '=');
        }
        buf_add(&text, scalar_text(value->kind == JSON_OBJECT ? &value->members[i].value
                                                              : &value->items[i]));
    }
    return arena_str(arena, buf_str(&text));
}

static struct str work_text(const struct json *job, struct arena *arena)
{
    const struct json *command = json_get(job, STR("command"));
    const struct json *handler = json_get(job, STR("handler"));
    if (command != NULL && command->kind != JSON_NULL)
        return joined_text(command, " ", arena);
    if (handler != NULL && handler->kind == JSON_STRING)
        return arena_printf(arena, "handler %.*s", STR_ARG(handler->string));
    return STR("");
}

/* "59 slots skipped: missed, and its misfire policy says so" */
static struct str why_text(const struct json *execution, struct arena *arena)
{
    const struct json *error = json_get(execution, STR("error"));
    const struct json *count = json_get(execution, STR("slot_count"));
    struct str text = error != NULL && error->kind == JSON_STRING ? error->string : (struct str){0};
    if (count == NULL || count->kind != JSON_INT || count->integer <= 1)
        return text;
    return arena_printf(arena, "%" PRId64 " slots skipped: %.*s", count->integer, STR_ARG(text));
}

static struct str value_text(enum view_kind kind, const struct json *value, struct arena *arena)
{
    switch (kind) {
    case VIEW_WHEN: return when_text(value, arena);
    case VIEW_DURATION: return milliseconds_text(value, arena);
    case VIEW_MICROS: return microseconds_text(value, arena);
    case VIEW_BYTES: return bytes_text(value, arena);
    case VIEW_RATE: return rate_text(value, arena);
    case VIEW_WHY: return why_text(value, arena);
    case VIEW_WORK: return work_text(value, arena);
    case VIEW_WORDS:
    case VIEW_PAIRS: return joined_text(value, ", ", arena);
    case VIEW_COUNT:
        return value->kind == JSON_INT && value->integer == 0 ? STR("") : scalar_text(value);
    case VIEW_TEXT:
    case VIEW_STATUS:
    case VIEW_JSON: break;
    }
    return scalar_text(value);
}

struct str view_text(const struct view_field *field, const struct json *object, struct arena *arena)
{
    const struct json *value = find(object, str_c(field->key));
    if (value == NULL || value->kind == JSON_NULL)
        return STR("");
    return view_one_line(value_text(field->kind, value, arena), arena);
}

/* ---- tables and pages */

void view_start(struct view *v, const struct view_field *fields, size_t count, struct arena *arena)
{
    assert(count <= TABLE_COLUMNS_MAX);
    *v = (struct view){.fields = fields, .count = count, .arena = arena};
    for (size_t i = 0; i < count; i++) {
        v->columns[i] = fields[i].column;
        v->columns[i].status = fields[i].kind == VIEW_STATUS;
    }
    v->table = TABLE(v->columns, count);
}

void view_free(struct view *v)
{
    table_free(&v->table);
}

void view_add_row(struct view *v, const struct json *object)
{
    for (size_t i = 0; i < v->count; i++)
        table_add(&v->table, view_text(&v->fields[i], object, v->arena));
}

void view_print(const struct view *v, const char *nothing)
{
    if (v->table.cell_count == 0) {
        cli_print_line(str_c(nothing));
        return;
    }
    CLEANUP(buf_free) struct buf out = BUF(PRINT_BYTES_MAX);
    table_print(&v->table, table_paper(), &out);
    cli_print(buf_str(&out));
}

void view_print_page(const struct view_field *fields, size_t count, const struct json *object,
                     struct arena *arena)
{
    CLEANUP(buf_free) struct buf out = BUF(PRINT_BYTES_MAX);
    struct paper paper = table_paper();
    int label_width = 0;
    for (size_t i = 0; i < count; i++) {
        int width = (int)strlen(fields[i].column.title);
        label_width = width > label_width ? width : label_width;
    }
    for (size_t i = 0; i < count; i++) {
        struct str text = view_text(&fields[i], object, arena);
        if (text.len == 0)
            continue;
        buf_printf(&out, "%-*s  ", label_width, fields[i].column.title);
        if (fields[i].kind == VIEW_STATUS)
            table_add_status(&out, paper, text);
        else
            buf_add(&out, text);
        buf_add_char(&out, '\n');
    }
    cli_print(buf_str(&out));
}
