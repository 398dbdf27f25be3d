#include "wire/message/letter_json.h"
#include "base/id.h"
#include "job/spec.h"
#include "wire/json/fields.h"

static void put_kind(struct json_writer *w, enum failure_class class, uint64_t fingerprint,
                     struct str line)
{
    char print[FAILURE_PRINT_MAX];
    bool known = class != FAILURE_NONE;
    json_put_text(w, "error_class", known ? failure_name(class) : STR(""));
    json_put_text(w, "fingerprint", known ? failure_print(fingerprint, print) : STR(""));
    json_put_text(w, "fingerprint_text", line);
}

void letter_print_fields(struct json_writer *w, const struct letter_rec *letter)
{
    json_put_id(w, "execution_id", ID_EXEC, letter->place.exec_id);
    json_put_id(w, "job_id", ID_JOB, letter->job_id);
    json_put_text(w, "name", letter->name);
    json_put_str(w, "queue", letter->queue);
    json_put_str(w, "owner", letter->owner);
    json_put_str(w, "status", exec_state_name(letter->state));
    json_put_when(w, "died_at", letter->place.died_ms);
    json_put_str(w, "reason", letter_reason_name(letter->reason));
    json_put_text(w, "error", letter->error);
    put_kind(w, letter->class, letter->fingerprint, letter->line);
    json_put_int(w, "attempt_count", letter->attempts);
    json_put_int(w, "lost_count", letter->lost);
}

void letter_print(struct json_writer *w, const struct letter_rec *letter)
{
    json_open(w);
    letter_print_fields(w, letter);
    json_close(w);
}

void letter_filter_print(struct json_writer *w, const struct letter_filter *f)
{
    char print[FAILURE_PRINT_MAX];
    if (f->queue.len > 0)
        json_put_str(w, "queue", f->queue);
    if (f->name.len > 0)
        json_put_str(w, "name", f->name);
    if (f->class != FAILURE_NONE)
        json_put_str(w, "class", failure_name(f->class));
    if (f->fingerprint != 0)
        json_put_str(w, "fingerprint", failure_print(f->fingerprint, print));
    if (f->job_id != 0)
        json_put_id(w, "job", ID_JOB, f->job_id);
    if (f->died_after_ms != 0)
        json_put_when(w, "created_after", f->died_after_ms);
    if (f->died_before_ms != 0)
        json_put_when(w, "created_before", f->died_before_ms);
}

void letter_group_print(struct json_writer *w, const struct letter_group *group)
{
    json_open(w);
    put_kind(w, group->class, group->fingerprint, group->line);
    json_put_int(w, "count", (int64_t)group->count);
    json_put_id(w, "newest_execution_id", ID_EXEC, group->newest.exec_id);
    json_put_when(w, "newest_at", group->newest.died_ms);
    json_put_when(w, "oldest_at", group->oldest_ms);
    json_close(w);
}

/* ---- reading */

static void read_fingerprint(const struct fields *f, const struct field_place *at,
                             const struct json *value, void *into)
{
    if (fields_kind(f, at, value, JSON_STRING) && !fingerprint_parse(value->string, into))
        fields_fail(f, at, "must be %d hexadecimal digits", FAILURE_PRINT_BYTES);
}

static const struct field filter_fields[] = {
    {FIELD("queue", struct letter_filter, queue), .kind = FIELD_WORD, .min = 1,
     .max = SPEC_NAME_MAX},
    {FIELD("name", struct letter_filter, name), .kind = FIELD_LINE, .min = 1, .max = SPEC_NAME_MAX},
    {FIELD("class", struct letter_filter, class), .kind = FIELD_ONE_OF, .words = &failure_words},
    {FIELD("fingerprint", struct letter_filter, fingerprint), .kind = FIELD_OWN,
     .read = read_fingerprint},
    {FIELD("job", struct letter_filter, job_id), .kind = FIELD_ID, .prefix = ID_JOB},
    {FIELD("created_after", struct letter_filter, died_after_ms), .kind = FIELD_WHEN, .min = 1},
    {FIELD("created_before", struct letter_filter, died_before_ms), .kind = FIELD_WHEN, .min = 1},
};

static void read_filter(const struct fields *f, const struct field_place *at,
                        const struct json *value, void *into)
{
    if (!fields_kind(f, at, value, JSON_OBJECT))
        return;
    /* Elsewhere that is a field left out, but letters have it where they have no name or
     * fingerprint: copied from there it would not restrict, and discard what was not meant. */
    for (uint32_t i = 0; i < value->count; i++) {
        const struct field_place place = {.parent = at, .key = value->members[i].key};
        if (value->members[i].value.kind == JSON_NULL)
            fields_fail(f, &place, "must not be null; leave it out");
    }
    fields_read(f, at, value, filter_fields, COUNT_OF(filter_fields), into);
}

static const struct field wish_fields[] = {
    {FIELD("filter", struct letter_wish, filter), .kind = FIELD_OWN, .read = read_filter},
    {FIELD("all", struct letter_wish, all), .kind = FIELD_BOOL},
    {FIELD("dry_run", struct letter_wish, dry_run), .kind = FIELD_BOOL},
};

enum rc letter_wish_parse(const struct json *doc, struct arena *arena, struct letter_wish *ret_wish,
                          struct field_errors *errors)
{
    const struct fields f = {.arena = arena, .errors = errors};
    const struct field_place filter = {.key = STR("filter")};
    const struct field_place all = {.key = STR("all")};
    *ret_wish = (struct letter_wish){.dry_run = false};
    fields_read(&f, NULL, doc, wish_fields, COUNT_OF(wish_fields), ret_wish);
    bool empty = letter_filter_is_empty(&ret_wish->filter);
    if (errors->count == 0 && empty && !ret_wish->all)
        fields_fail(&f, &filter, "restricts nothing; \"all\": true means every dead letter");
    if (errors->count == 0 && !empty && ret_wish->all)
        fields_fail(&f, &all, "is for every dead letter; leave it out, or the filter");
    return errors->count == 0 ? RC_OK : RC_INVALID;
}
