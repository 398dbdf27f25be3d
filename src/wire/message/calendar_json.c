#include "wire/message/calendar_json.h"
#include "job/spec.h"
#include "wire/json/fields.h"

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

/* The contents of a document. */
struct document {
    struct calendar_draft draft;
    const struct ical_zones *zones;
    struct almanac almanac;
    struct str description;
    struct str timezone;
    struct str ical;
};

static void read_timezone(const struct fields *f, const struct field_place *at,
                          const struct json *value, void *into)
{
    struct document *d = into;
    if (!fields_text(f, at, value, FIELD_LINE, 1, TEXT_BYTES_MAX))
        return;
    d->timezone = value->string;
    d->almanac.zone = d->zones->find(d->zones->arg, d->timezone);
    if (d->almanac.zone == NULL)
        fields_fail(f, at, "there is no time zone '%.*s'", STR_ARG(d->timezone));
}

/* Last, since it may name the zone that the document left open. */
static void read_ical(const struct fields *f, struct document *d, struct ical_facts *facts)
{
    const struct field_place at = {.key = STR("ical")};
    struct err err;
    if (ical_read(d->ical, d->zones, &d->draft, facts, &err) != RC_OK) {
        fields_fail(f, &at, "%s", err.text);
        return;
    }
    if (d->timezone.len > 0 || facts->timezone.len == 0)
        return;
    d->almanac.zone = ical_zone_named(d->zones, facts->timezone);
    if (d->almanac.zone == NULL)
        fields_fail(f, &at, "X-WR-TIMEZONE: there is no time zone '%.*s'",
                    STR_ARG(facts->timezone));
}

enum rc calendar_parse(const struct json *doc, const struct ical_zones *zones, struct arena *arena,
                       struct almanac *ret_almanac, struct ical_facts *ret_facts,
                       struct field_errors *errors)
{
    static const struct field calendar_fields[] = {
        {FIELD("dates", struct document, draft), .kind = FIELD_OWN, .read = read_dates},
        {FIELD("weekly", struct document, draft), .kind = FIELD_OWN, .read = read_weekly},
        {FIELD("windows", struct document, draft), .kind = FIELD_OWN, .read = read_windows},
        {FIELD("policy", struct document, almanac.policy), .kind = FIELD_ONE_OF,
         .words = &calendar_policy_words},
        {.name = STR_INIT("timezone"), .kind = FIELD_OWN, .read = read_timezone},
        {FIELD("description", struct document, description), .kind = FIELD_TEXT,
         .max = SPEC_TEXT_MAX},
        {FIELD("ical", struct document, ical), .kind = FIELD_TEXT, .min = 1, .max = ICAL_BYTES_MAX},
    };
    const struct fields f = {.arena = arena, .errors = errors};
    struct document d = {.draft.arena = arena, .zones = zones};
    fields_read(&f, NULL, doc, calendar_fields, COUNT_OF(calendar_fields), &d);
    *ret_facts = (struct ical_facts){0};
    if (d.ical.len > 0)
        read_ical(&f, &d, ret_facts);
    if (errors->count > 0)
        return RC_INVALID;
    d.almanac.entry_count = (uint32_t)d.draft.entry_count;
    d.almanac.calendar = calendar_make(&d.draft);
    *ret_almanac = d.almanac;
    return RC_OK;
}

enum rc calendar_read(struct str text, const struct ical_zones *zones, struct arena *arena,
                      struct almanac *ret_almanac, struct ical_facts *ret_facts, struct err *err)
{
    struct json doc;
    struct field_errors errors = {.count = 0};
    TRY(json_parse(text, arena, &doc, err));
    if (calendar_parse(&doc, zones, arena, ret_almanac, ret_facts, &errors) == RC_OK)
        return RC_OK;
    struct str why = field_errors_text(&errors, arena);
    return err_set(err, RC_INVALID, "%.*s", STR_ARG(why));
}

enum rc calendar_name_check(struct str name, struct arena *arena, struct field_errors *errors)
{
    const struct fields f = {.arena = arena, .errors = errors};
    const struct field_place at = {.key = STR("calendar")};
    const struct json text = {.kind = JSON_STRING, .string = name};
    return fields_text(&f, &at, &text, FIELD_WORD, 1, SPEC_NAME_MAX) ? RC_OK : RC_INVALID;
}

static void put_warnings(struct json_writer *w, const struct ical_facts *facts)
{
    json_key(w, "warnings");
    json_open_array(w);
    for (size_t i = 0; i < facts->warnings.len; i++) {
        const struct ical_warning *warning = &facts->warnings.items[i];
        json_open(w);
        json_put_int(w, "line", (int64_t)warning->line);
        json_put_text(w, "uid", warning->uid);
        json_put_text(w, "summary", warning->summary);
        json_put_str(w, "message", warning->message);
        json_close(w);
    }
    json_close_array(w);
    json_put_int(w, "warning_count", (int64_t)facts->warning_count);
}

void calendar_rec_print(struct json_writer *w, const struct calendar_rec *rec,
                        const struct ical_facts *facts)
{
    json_open(w);
    json_put_str(w, "name", rec->name);
    json_put_str(w, "policy", words_name(&calendar_policy_words, rec->policy));
    json_put_int(w, "entry_count", rec->entry_count);
    json_put_int(w, "version", rec->version);
    json_put_when(w, "changed_at", rec->changed_ms);
    json_put_text(w, "changed_by", rec->changed_by);
    if (facts != NULL && facts->warning_count > 0)
        put_warnings(w, facts);
    if (rec->document.len > 0)
        json_put_raw(w, "document", rec->document);
    json_close(w);
}
