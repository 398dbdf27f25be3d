#include "job/record/operation.h"
#include "base/id.h"
#include "job/record/record_fields.h"

#include <assert.h>

/* ---- names */

static const struct {
    struct str name;
    struct str subject;
} kinds[OPERATION_KINDS] = {
    [OPERATION_RETRY] = {STR_INIT("retry"), STR_INIT("dead_letters")},
    [OPERATION_DISCARD] = {STR_INIT("discard"), STR_INIT("dead_letters")},
    [OPERATION_PAUSE_JOBS] = {STR_INIT("pause"), STR_INIT("jobs")},
    [OPERATION_RESUME_JOBS] = {STR_INIT("resume"), STR_INIT("jobs")},
    [OPERATION_CANCEL_JOBS] = {STR_INIT("cancel"), STR_INIT("jobs")},
    [OPERATION_TRIGGER_JOBS] = {STR_INIT("trigger"), STR_INIT("jobs")},
    [OPERATION_CANCEL_EXECS] = {STR_INIT("cancel"), STR_INIT("executions")},
    [OPERATION_RETRY_EXECS] = {STR_INIT("retry"), STR_INIT("executions")},
};

struct str operation_kind_name(enum operation_kind kind)
{
    assert(kind > 0 && kind < OPERATION_KINDS && kinds[kind].name.len > 0);
    return kinds[kind].name;
}

struct str operation_subject_name(enum operation_kind kind)
{
    assert(kind > 0 && kind < OPERATION_KINDS && kinds[kind].subject.len > 0);
    return kinds[kind].subject;
}

struct str operation_state_name(enum operation_state state)
{
    static const struct str names[OPERATION_STATES] = {
        [OPERATION_RUNNING] = STR_INIT("running"),
        [OPERATION_DONE] = STR_INIT("done"),
        [OPERATION_CANCELLED] = STR_INIT("cancelled"),
        [OPERATION_FAILED] = STR_INIT("failed"),
    };
    assert(state > 0 && state < OPERATION_STATES);
    return names[state];
}

bool operation_is_about_jobs(enum operation_kind kind)
{
    return kind >= OPERATION_PAUSE_JOBS && kind <= OPERATION_TRIGGER_JOBS;
}

bool operation_is_about_letters(enum operation_kind kind)
{
    return kind == OPERATION_RETRY || kind == OPERATION_DISCARD || kind == OPERATION_RETRY_EXECS;
}

enum filter_of operation_filter_of(enum operation_kind kind)
{
    return operation_is_about_jobs(kind) ? FILTER_OF_JOBS : FILTER_OF_EXECS;
}

/* ---- ids */

size_t operation_id_count(struct str ids)
{
    return ids.len / ID_DIGITS;
}

uint64_t operation_id(struct str ids, size_t index)
{
    uint64_t id;
    struct str text = str_head(str_from(ids, index * ID_DIGITS), ID_DIGITS);
    return id_parse(text, "", &id, NULL) == RC_OK ? id : 0;
}

/* ---- as a text: a value behind the other, each with its length before it */

static bool is_zero(const struct field *field, const struct operation_rec *op)
{
    return field->kind == FIELD_TEXT ? field_text(field, op).len == 0
                                     : field_number(field, op) == 0;
}

struct str operation_text(const struct operation_rec *op, struct arena *arena)
{
    CLEANUP(buf_free) struct buf out = BUF(4 << 20);
    for (size_t i = 0; i < operation_fields.len; i++) {
        const struct field *field = &operation_fields.items[i];
        if (is_zero(field, op))
            continue;
        char number[24];
        struct buf digits = {.ptr = number, .cap = sizeof number, .max = sizeof number};
        struct str value;
        if (field->kind == FIELD_TEXT) {
            value = field_text(field, op);
        } else {
            buf_add_i64(&digits, field_number(field, op));
            value = buf_str(&digits);
        }
        buf_printf(&out, "%s %zu ", field->column, value.len);
        buf_add(&out, value);
        buf_add_char(&out, '\n');
    }
    return arena_str(arena, buf_str(&out));
}

static const struct field *find_field(struct str column)
{
    for (size_t i = 0; i < operation_fields.len; i++) {
        if (str_eq(str_c(operation_fields.items[i].column), column))
            return &operation_fields.items[i];
    }
    return NULL;
}

static bool set_field(const struct field *field, struct operation_rec *op, struct str value)
{
    int64_t number;
    if (field->kind == FIELD_TEXT) {
        field_set_text(field, op, value);
        return true;
    }
    if (!str_to_i64(value, &number) || number < field->min || number > field->max)
        return false;
    field_set_number(field, op, number);
    return true;
}

bool operation_parse(struct str text, struct operation_rec *ret_op)
{
    *ret_op = (struct operation_rec){0};
    while (text.len > 0) {
        const struct field *field = find_field(str_cut(&text, ' '));
        uint64_t len;
        if (!str_to_u64(str_cut(&text, ' '), &len) || len >= text.len || field == NULL ||
            !set_field(field, ret_op, str_head(text, len)))
            return false;
        text = str_from(text, len + 1);
    }
    return ret_op->id != 0 && ret_op->kind != 0 && ret_op->parts != 0;
}
