#include "job/record/fields.h"

#include <assert.h>
#include <string.h>

static int64_t number_of_u64(const void *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

int64_t field_number(const struct field *field, const void *record)
{
    const char *at = (const char *)record + field->offset;
    int64_t wide;
    uint32_t narrow;
    int32_t with_sign;
    switch (field->kind) {
    case FIELD_U64: return number_of_u64(at);
    case FIELD_BOOL: return *(const bool *)at;
    case FIELD_U32:
    case FIELD_ENUM: memcpy(&narrow, at, sizeof narrow); return narrow;
    case FIELD_I32: memcpy(&with_sign, at, sizeof with_sign); return with_sign;
    case FIELD_I64: memcpy(&wide, at, sizeof wide); return wide;
    case FIELD_TEXT: break;
    }
    assert(false && "a text is no number");
    return 0;
}

void field_set_number(const struct field *field, void *record, int64_t value)
{
    char *at = (char *)record + field->offset;
    uint32_t narrow = (uint32_t)value;
    assert(value >= field->min && value <= field->max);
    switch (field->kind) {
    case FIELD_U64:
    case FIELD_I64: memcpy(at, &value, sizeof value); return;
    case FIELD_U32:
    case FIELD_I32:
    case FIELD_ENUM: memcpy(at, &narrow, sizeof narrow); return;
    case FIELD_BOOL: *(bool *)at = value != 0; return;
    case FIELD_TEXT: break;
    }
    assert(false && "a text is no number");
}

struct str field_text(const struct field *field, const void *record)
{
    struct str text;
    assert(field->kind == FIELD_TEXT);
    memcpy(&text, (const char *)record + field->offset, sizeof text);
    return text;
}

void field_set_text(const struct field *field, void *record, struct str text)
{
    assert(field->kind == FIELD_TEXT);
    memcpy((char *)record + field->offset, &text, sizeof text);
}

bool field_is_nulled(const struct field *field, unsigned nulled, const void *record)
{
    if ((field->groups & nulled) == 0)
        return false;
    return field->kind == FIELD_TEXT ? field_text(field, record).len == 0
                                     : field_number(field, record) == field->usual;
}

static size_t kind_bytes(enum field_kind kind)
{
    switch (kind) {
    case FIELD_U64:
    case FIELD_I64: return sizeof(uint64_t);
    case FIELD_U32:
    case FIELD_I32:
    case FIELD_ENUM: return sizeof(uint32_t);
    case FIELD_BOOL: return sizeof(bool);
    case FIELD_TEXT: break;
    }
    return sizeof(struct str);
}

void fields_take(const struct fields *fields, unsigned groups, void *record, const void *from)
{
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *field = &fields->items[i];
        if (field_is_in(field, groups))
            memcpy((char *)record + field->offset, (const char *)from + field->offset,
                   kind_bytes(field->kind));
    }
}

void fields_copy(const struct fields *fields, void *record, struct arena *arena)
{
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *field = &fields->items[i];
        if (field->kind == FIELD_TEXT)
            field_set_text(field, record, arena_str(arena, field_text(field, record)));
    }
}
