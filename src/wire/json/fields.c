#include "wire/json/fields.h"
#include "base/id.h"
#include "base/later.h"
#include "base/when.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- reporting */

enum { PATH_BYTES_MAX = 256 };

/* "retry.max_retries", "command[2]": from the outermost place inwards. */
static void add_path(struct buf *out, const struct field_place *at)
{
    if (at == NULL)
        return;
    add_path(out, at->parent);
    if (at->key.ptr == NULL) {
        buf_add_char(out, '[');
        buf_add_u64(out, at->index);
        buf_add_char(out, ']');
        return;
    }
    if (out->len > 0)
        buf_add_char(out, '.');
    buf_add(out, str_head(at->key, PATH_BYTES_MAX / 4));
}

void fields_fail(const struct fields *f, const struct field_place *at, const char *format, ...)
{
    if (f->errors->count == FIELD_ERRORS_MAX) /* a hostile document has a million problems */
        return;
    char bytes[PATH_BYTES_MAX];
    struct buf path = {.ptr = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    add_path(&path, at);
    char message[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    field_error(f->errors, f->arena, buf_str(&path), "%s", message);
}

bool fields_kind(const struct fields *f, const struct field_place *at, const struct json *value,
                 enum json_kind kind)
{
    if (value->kind == kind)
        return true;
    fields_fail(f, at, "must be %s, not %s", json_kind_name(kind), json_value_name(value));
    return false;
}

/* ---- text */

static bool is_word_char(unsigned char c)
{
    unsigned char letter = c | 0x20;
    return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == ':' || c == '-';
}

static bool is_allowed(enum field_kind kind, unsigned char c)
{
    switch (kind) {
    case FIELD_WORD: return is_word_char(c);
    case FIELD_PATH: return is_word_char(c) || c == '/';
    default: return true;
    }
}

static const char *allowed_text(enum field_kind kind)
{
    switch (kind) {
    case FIELD_WORD: return "may have letters, digits and _ . : - only";
    case FIELD_PATH: return "may have letters, digits and _ . : - / only";
    default: return "must not have control characters";
    }
}

bool fields_text(const struct fields *f, const struct field_place *at, const struct json *value,
                 enum field_kind kind, int64_t min, int64_t max)
{
    if (!fields_kind(f, at, value, JSON_STRING))
        return false;
    struct str text = value->string;
    if (text.len < (uint64_t)min) {
        fields_fail(f, at, "must not be empty");
        return false;
    }
    if (text.len > (uint64_t)max) {
        fields_fail(f, at, "must be at most %" PRId64 " bytes long", max);
        return false;
    }
    for (size_t i = 0; kind != FIELD_TEXT && i < text.len; i++) {
        bool bad = kind == FIELD_LINE ? !f->stored && str_control_len(str_from(text, i)) > 0
                                      : !is_allowed(kind, (unsigned char)text.ptr[i]);
        if (bad) {
            fields_fail(f, at, "%s", allowed_text(kind));
            return false;
        }
    }
    return true;
}

static void read_text(const struct fields *f, const struct field_place *at,
                      const struct json *value, const struct field *field, void *into)
{
    if (fields_text(f, at, value, field->kind, field->min, field->max))
        *(struct str *)into = value->string;
}

/* ---- numbers and what looks like text but is a number */

static void read_int(const struct fields *f, const struct field_place *at, const struct json *value,
                     const struct field *field, void *into)
{
    if (value->kind == JSON_DOUBLE)
        fields_fail(f, at, "must be a whole number");
    else if (!fields_kind(f, at, value, JSON_INT))
        return;
    else if (value->integer < field->min || value->integer > field->max)
        fields_fail(f, at, "must be between %" PRId64 " and %" PRId64, field->min, field->max);
    else if (field->size == sizeof(int64_t))
        *(int64_t *)into = value->integer;
    else
        *(int32_t *)into = (int32_t)value->integer;
}

static void read_bool(const struct fields *f, const struct field_place *at,
                      const struct json *value, void *into)
{
    if (fields_kind(f, at, value, JSON_BOOL))
        *(bool *)into = value->boolean;
}

static void read_id(const struct fields *f, const struct field_place *at, const struct json *value,
                    const struct field *field, void *into)
{
    uint64_t id;
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    if (id_parse(value->string, field->prefix, &id, NULL))
        fields_fail(f, at, "must be an id: %s and %d digits", field->prefix, ID_DIGITS);
    else if (id == 0) /* in structs it means that the field was left out */
        fields_fail(f, at, "must be an id, and nothing has the id zero");
    else
        *(uint64_t *)into = id;
}

static void read_when(const struct fields *f, const struct field_place *at,
                      const struct json *value, const struct field *field, void *into)
{
    int64_t at_ms;
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    if (when_parse(value->string, &at_ms, NULL))
        fields_fail(f, at, "must be a time as in 2026-11-16T03:00:00Z (RFC 3339)");
    else if (field->min > 0 && at_ms < field->min)
        fields_fail(f, at, "must be after 1970-01-01T00:00:00Z");
    else
        *(int64_t *)into = at_ms;
}

static void read_duration(const struct fields *f, const struct field_place *at,
                          const struct json *value, const struct field *field, void *into)
{
    int64_t ms;
    char text[WHEN_TEXT_MAX];
    if (!fields_kind(f, at, value, JSON_STRING))
        return;
    if (duration_parse(value->string, &ms, NULL))
        fields_fail(f, at, "must be a duration with a unit as in 90s, 15m, 1h30m or 2d");
    else if (ms < field->min)
        fields_fail(f, at, "must be at least %s", duration_format(text, field->min).ptr);
    else if (ms > field->max)
        fields_fail(f, at, "must be at most %s", duration_format(text, field->max).ptr);
    else
        *(int64_t *)into = ms;
}

static void read_one_of(const struct fields *f, const struct field_place *at,
                        const struct json *value, const struct field *field, unsigned *into)
{
    assert(field->size == sizeof *into);
    if (!fields_kind(f, at, value, JSON_STRING) || words_parse(field->words, value->string, into))
        return;
    fields_fail(f, at, "must be one of %.*s", STR_ARG(words_text(field->words, f->arena)));
}

/* ---- arrays */

/* The number of items, or 0 (and a report) when there are too many or it is no array. */
static size_t count_items(const struct fields *f, const struct field_place *at,
                          const struct json *value, const struct field *field)
{
    if (!fields_kind(f, at, value, JSON_ARRAY))
        return 0;
    if (value->count <= (uint64_t)field->max)
        return value->count;
    fields_fail(f, at, "must have at most %" PRId64 " items", field->max);
    return 0;
}

static void keep_array(const struct field *field, void *base, void *items, size_t count)
{
    memcpy((char *)base + field->offset, &items, sizeof items);
    memcpy((char *)base + field->count_offset, &count, sizeof count);
}

static void read_words(const struct fields *f, const struct field_place *at,
                       const struct json *value, const struct field *field, void *base)
{
    size_t count = count_items(f, at, value, field);
    enum field_kind kind = field->kind == FIELD_WORDS ? FIELD_WORD : FIELD_PATH;
    struct str *words = ARENA_ARRAY(f->arena, struct str, count);
    for (size_t i = 0; i < count; i++) {
        struct field_place place = {.parent = at, .index = i};
        if (fields_text(f, &place, &value->items[i], kind, 1, FIELD_WORD_BYTES_MAX))
            words[i] = value->items[i].string;
    }
    keep_array(field, base, words, count);
}

static void read_list(const struct fields *f, const struct field_place *at,
                      const struct json *value, const struct field *field, void *base)
{
    const struct field_list *list = field->items;
    size_t count = count_items(f, at, value, field);
    char *items = arena_array(f->arena, list->item_bytes, count);
    for (size_t i = 0; i < count; i++) {
        struct field_place place = {.parent = at, .index = i};
        void *item = items + i * list->item_bytes;
        if (list->blank != NULL)
            memcpy(item, list->blank, list->item_bytes);
        fields_read(f, &place, &value->items[i], list->fields, list->field_count, item);
    }
    keep_array(field, base, items, count);
}

/* ---- objects */

void fields_value(const struct fields *f, const struct field_place *at, const struct json *value,
                  const struct field *field, void *base)
{
    void *into = (char *)base + field->offset;
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_LINE:
    case FIELD_WORD:
    case FIELD_PATH: read_text(f, at, value, field, into); break;
    case FIELD_WORDS:
    case FIELD_PATHS: read_words(f, at, value, field, base); break;
    case FIELD_INT: read_int(f, at, value, field, into); break;
    case FIELD_BOOL: read_bool(f, at, value, into); break;
    case FIELD_ID: read_id(f, at, value, field, into); break;
    case FIELD_WHEN: read_when(f, at, value, field, into); break;
    case FIELD_DURATION: read_duration(f, at, value, field, into); break;
    case FIELD_ONE_OF: read_one_of(f, at, value, field, into); break;
    case FIELD_RAW: *(struct str *)into = value->raw; break;
    case FIELD_LIST: read_list(f, at, value, field, base); break;
    case FIELD_OWN: field->read(f, at, value, into); break;
    case FIELD_LATER: fields_fail(f, at, LATER_WORDS); break;
    }
}

/* The index of the field called name, or count. Members mostly come in the order of the table, so
 * the search begins behind the last one found. */
static size_t find_field(const struct field *fields, size_t count, size_t hint, struct str name)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = hint + i < count ? hint + i : hint + i - count;
        if (str_eq(fields[at].name, name))
            return at;
    }
    return count;
}

static void report_missing(const struct fields *f, const struct field_place *at,
                           const struct field *fields, size_t count, uint64_t seen)
{
    for (size_t i = 0; i < count; i++) {
        if (fields[i].required && !fields_seen(seen, (unsigned)i)) {
            struct field_place place = {.parent = at, .key = fields[i].name};
            fields_fail(f, &place, "is required");
        }
    }
}

uint64_t fields_read(const struct fields *f, const struct field_place *at,
                     const struct json *object, const struct field *fields, size_t count,
                     void *into)
{
    assert(count <= FIELDS_MAX);
    uint64_t seen = 0;
    size_t hint = 0;
    if (!fields_kind(f, at, object, JSON_OBJECT))
        return 0;
    for (uint32_t i = 0; i < object->count; i++) {
        const struct json_member *member = &object->members[i];
        struct field_place place = {.parent = at, .key = member->key};
        size_t found = find_field(fields, count, hint, member->key);
        if (found == count) {
            if (!f->lenient)
                fields_fail(f, &place, "unknown field");
            continue;
        }
        const struct field *field = &fields[found];
        hint = found + 1;
        if (member->value.kind == JSON_NULL && !field->required && field->kind != FIELD_LATER)
            continue;
        seen |= UINT64_C(1) << found;
        fields_value(f, &place, &member->value, field, into);
    }
    report_missing(f, at, fields, count, seen);
    return seen;
}
