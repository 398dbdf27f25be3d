#include "wire/calendar_json.h"
#include "wire/fields.h"

enum { TEXT_BYTES_MAX = 64 };

typedef enum rc add_text(struct calendar_draft *draft, struct str text, struct err *err);

static void read_texts(const struct fields *f, const struct field_place *at,
                       const struct json *value, struct calendar_draft *draft, add_text *add)
{
    struct err err;
    if (!fields_kind(f, at, value, JSON_ARRAY))
        return;
    for (size_t i = 0; i < value->count; i++) {
        struct field_place place = {.parent = at, .index = i};
        if (!fields_text(f, &place, &value->items[i], FIELD_LINE, 1, TEXT_BYTES_MAX))
            continue;
        enum rc rc = add(draft, value->items[i].string, &err);
        if (rc != RC_OK)
            fields_fail(f, rc == RC_TOO_LARGE ? at : &place, "%s", err.text);
        if (rc == RC_TOO_LARGE)
            return;
    }
}

static void read_dates(const struct fields *f, const struct field_place *at,
                       const struct json *value, void *into)
{
    read_texts(f, at, value, into, calendar_add_dates);
}

static void read_weekly(const struct fields *f, const struct field_place *at,
                        const struct json *value, void *into)
{
    read_texts(f, at, value, into, calendar_add_weekly);
}

struct window {
    struct str from;
    struct str to;
};

static enum rc read_window(const struct fields *f, const struct field_place *at,
                           const struct json *value, struct calendar_draft *draft)
{
    static const struct field window_fields[] = {
        {FIELD("from", struct window, from), .kind = FIELD_LINE, .required = true, .min = 1,
         .max = TEXT_BYTES_MAX},
        {FIELD("to", struct window, to), .kind = FIELD_LINE, .required = true, .min = 1,
         .max = TEXT_BYTES_MAX},
    };
    struct window window = {0};
    struct err err;
    fields_read(f, at, value, window_fields, COUNT_OF(window_fields), &window);
    if (window.from.len == 0 || window.to.len == 0)
        return RC_OK; /* reported */
    enum rc rc = calendar_add_window(draft, window.from, window.to, &err);
    if (rc != RC_OK)
        fields_fail(f, at, "%s", err.text);
    return rc;
}

static void read_windows(const struct fields *f, const struct field_place *at,
                         const struct json *value, void *into)
{
    if (!fields_kind(f, at, value, JSON_ARRAY))
        return;
    for (size_t i = 0; i < value->count; i++) {
        struct field_place place = {.parent = at, .index = i};
        if (read_window(f, &place, &value->items[i], into) == RC_TOO_LARGE)
            return;
    }
}

enum rc calendar_parse(const struct json *doc, struct arena *arena, struct calendar *ret_calendar,
                       struct field_errors *errors)
{
    static const struct field calendar_fields[] = {
        {.name = STR_INIT("dates"), .kind = FIELD_OWN, .read = read_dates},
        {.name = STR_INIT("weekly"), .kind = FIELD_OWN, .read = read_weekly},
        {.name = STR_INIT("windows"), .kind = FIELD_OWN, .read = read_windows},
    };
    const struct fields f = {.arena = arena, .errors = errors};
    struct calendar_draft draft = {.arena = arena};
    fields_read(&f, NULL, doc, calendar_fields, COUNT_OF(calendar_fields), &draft);
    if (errors->count > 0)
        return RC_INVALID;
    *ret_calendar = calendar_make(&draft);
    return RC_OK;
}
