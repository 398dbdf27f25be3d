#include "wire/message/operation_json.h"
#include "base/id.h"
#include "wire/json/fields.h"
#include "wire/json/json_scan.h"
#include "wire/message/letter_json.h"
#include "wire/spec/spec_json.h"

#include <stdlib.h>

enum {
    VALUES_MAX = 100,                /* of one parameter of a filter */
    FILTER_JSON_BYTES_MAX = 1 << 20, /* of its text, which was read from less */
};

/* ---- printing: filters, as their lists have them */

/* Of a field that only documents have it is JSON already. */
static bool is_json(struct str name, struct str value)
{
    struct err err;
    for (unsigned i = 0; i < JOB_FIELD_COUNT; i++) {
        if (job_fields[i].kept != JOB_KEPT_COLUMN && str_eq(job_fields[i].key, name))
            return json_check(value, JSON_ANY_DEPTH, &err) == RC_OK;
    }
    return false;
}

static void put_value(struct json_writer *w, struct str name, struct str value)
{
    if (is_json(name, value))
        json_raw(w, value);
    else
        json_str(w, value);
}

static void put_filter(struct json_writer *w, const struct filter *f, enum filter_of of)
{
    CLEANUP(buf_free) struct buf out = BUF(FILTER_JSON_BYTES_MAX);
    struct str before = {0}; /* the parameter whose array is open */
    filter_print(f, of, &out);
    for (struct str text = buf_str(&out); text.len > 0;) {
        struct str value = str_cut(&text, '\n');
        struct str name = str_cut(&value, '=');
        enum filter_repeats repeats;
        bool one = !filter_repeats(of, name, &repeats) || repeats == FILTER_ONCE;
        if (before.len > 0 && !str_eq(before, name)) {
            json_close_array(w);
            before = (struct str){0};
        }
        if (before.len == 0)
            json_key_str(w, name);
        if (before.len == 0 && !one) {
            json_open_array(w);
            before = name;
        }
        put_value(w, name, value);
    }
    if (before.len > 0)
        json_close_array(w);
}

/* ---- printing: operations */

static void put_refusals(struct json_writer *w, enum operation_kind kind,
                         const struct operation_rec *parts, size_t count)
{
    const char *prefix = operation_is_about_jobs(kind) ? ID_JOB : ID_EXEC;
    size_t left = OPERATION_REFUSALS_MAX;
    json_key(w, "refusals");
    json_open_array(w);
    for (size_t i = 0; i < count; i++) {
        struct str lines = parts[i].refusals;
        for (; lines.len > 0 && left > 0; left--) {
            struct str why = str_cut(&lines, '\n');
            json_open(w);
            json_put_id(w, "id", prefix, operation_id(str_cut(&why, ' '), 0));
            json_put_str(w, "detail", why);
            json_close(w);
        }
    }
    json_close_array(w);
}

enum operation_state operation_state_of(const struct operation_rec *parts, size_t count)
{
    enum operation_state state = OPERATION_DONE;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].state == OPERATION_RUNNING)
            return OPERATION_RUNNING;
        if (parts[i].state > state)
            state = parts[i].state;
    }
    return count < parts->parts ? OPERATION_RUNNING : state;
}

/* What the parts have come to together. */
struct sum {
    uint64_t total, done, refused;
    int64_t finished_ms;
    struct str refusal;
};

static struct sum add_up(const struct operation_rec *parts, size_t count)
{
    struct sum sum = {0};
    for (size_t i = 0; i < count; i++) {
        sum.total += parts[i].total;
        sum.done += parts[i].done;
        sum.refused += parts[i].refused;
        if (parts[i].finished_ms > sum.finished_ms)
            sum.finished_ms = parts[i].finished_ms;
        if (parts[i].refusal.len > 0)
            sum.refusal = parts[i].refusal;
    }
    return sum;
}

/* Ids were counted at the beginning: other servers have theirs a moment later. */
static void put_which(struct json_writer *w, const struct operation_rec *op, bool readable,
                      uint64_t total)
{
    if (op->by_ids || !readable) {
        json_put_null(w, "filter");
        if (op->by_ids)
            json_put_int(w, "ids", (int64_t)total);
        return;
    }
    json_key(w, "filter");
    json_open(w);
    if (op->kind == OPERATION_RETRY || op->kind == OPERATION_DISCARD)
        letter_filter_print(w, &op->filter);
    else
        put_filter(w, &op->meant, operation_filter_of(op->kind));
    json_close(w);
}

void operation_print(struct json_writer *w, const struct operation_rec *parts, size_t count,
                     bool refusals)
{
    CLEANUP(arena_free) struct arena arena = {0};
    enum operation_state state = operation_state_of(parts, count);
    const struct sum sum = add_up(parts, count);
    struct operation_rec op = *parts;
    struct err err;
    bool readable = operation_read(&op, &arena, &err) == RC_OK;
    bool over = state != OPERATION_RUNNING;
    json_open(w);
    json_put_id(w, "operation_id", ID_OPERATION, op.id);
    json_put_str(w, "kind", operation_kind_name(op.kind));
    json_put_str(w, "of", operation_subject_name(op.kind));
    json_put_str(w, "status", operation_state_name(state));
    put_which(w, &op, readable, sum.total);
    if (op.counted)
        json_put_int(w, "total", (int64_t)sum.total);
    else if (state == OPERATION_DONE)
        json_put_int(w, "total", (int64_t)(sum.done + sum.refused));
    else
        json_put_null(w, "total");
    json_put_int(w, "done", (int64_t)sum.done);
    json_put_int(w, "refused", (int64_t)sum.refused);
    json_put_text(w, "last_refusal", sum.refusal);
    if (refusals)
        put_refusals(w, op.kind, parts, count);
    json_put_str(w, "actor", op.by);
    json_put_when(w, "created_at", op.created_ms);
    json_put_when(w, "finished_at", over ? sum.finished_ms : 0);
    json_close(w);
}

/* ---- reading: filters, which have the parameters of lists */

static bool text_of(const struct fields *fields, const struct field_place *at,
                    const struct json *value, struct str *ret_text)
{
    bool scalar = value->kind == JSON_INT || value->kind == JSON_BOOL;
    *ret_text = value->kind == JSON_STRING ? value->string : value->raw;
    return scalar || fields_kind(fields, at, value, JSON_STRING);
}

static void read_value(const struct fields *fields, const struct field_place *at, struct str name,
                       const struct json *value, enum filter_of of, struct filter *f)
{
    struct str text;
    struct err err;
    if (!text_of(fields, at, value, &text))
        return;
    if (filter_param_read(f, of, name, text, fields->arena, &err) != RC_OK)
        fields_fail(fields, at, "%s", err.text);
}

static void read_member(const struct fields *fields, const struct field_place *at,
                        const struct json_member *member, enum filter_of of, struct filter *f)
{
    const struct json *value = &member->value;
    enum filter_repeats repeats;
    bool known = filter_repeats(of, member->key, &repeats);
    if (known && value->kind == JSON_NULL) {
        fields_fail(fields, at, "must not be null; leave it out");
        return;
    }
    if (!known || value->kind != JSON_ARRAY || repeats == FILTER_ONCE) {
        read_value(fields, at, member->key, value, of, f);
        return;
    }
    if (value->count == 0 || value->count > VALUES_MAX) {
        fields_fail(fields, at, "must have 1 to %d values", VALUES_MAX);
        return;
    }
    for (size_t i = 0; i < value->count; i++) {
        const struct field_place item = {.parent = at, .index = i};
        read_value(fields, &item, member->key, &value->items[i], of, f);
    }
}

static void read_filter_object(const struct fields *fields, const struct field_place *at,
                               const struct json *object, enum filter_of of, struct filter *f)
{
    if (!fields_kind(fields, at, object, JSON_OBJECT))
        return;
    for (uint32_t i = 0; i < object->count; i++) {
        const struct field_place place = {.parent = at, .key = object->members[i].key};
        read_member(fields, &place, &object->members[i], of, f);
    }
}

static void read_filter(const struct fields *f, const struct field_place *at,
                        const struct json *value, enum filter_of of, struct action_wish *wish)
{
    wish->has_filter = true;
    read_filter_object(f, at, value, of, &wish->filter);
}

static void read_job_filter(const struct fields *f, const struct field_place *at,
                            const struct json *value, void *into)
{
    read_filter(f, at, value, FILTER_OF_JOBS, into);
}

static void read_exec_filter(const struct fields *f, const struct field_place *at,
                             const struct json *value, void *into)
{
    read_filter(f, at, value, FILTER_OF_EXECS, into);
}

/* ---- reading: ids */

static int by_number(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* Each id once, in their order. */
static struct str ids_text(const struct fields *f, uint64_t *ids, size_t count)
{
    size_t max = count * ID_DIGITS;
    struct buf out = {.ptr = arena_bytes(f->arena, max), .cap = max, .max = max};
    qsort(ids, count, sizeof *ids, by_number);
    for (size_t i = 0; i < count; i++) {
        char text[ID_TEXT_MAX];
        if (i == 0 || ids[i] != ids[i - 1])
            buf_add(&out, id_format(text, "", ids[i]));
    }
    return buf_str(&out);
}

static void read_ids(const struct fields *f, const struct field_place *at, const struct json *value,
                     const char *prefix, struct action_wish *wish)
{
    if (!fields_kind(f, at, value, JSON_ARRAY))
        return;
    if (value->count == 0 || value->count > OPERATION_IDS_MAX) {
        fields_fail(f, at, "must have 1 to %d ids", OPERATION_IDS_MAX);
        return;
    }
    uint64_t *ids = ARENA_ARRAY(f->arena, uint64_t, value->count);
    for (size_t i = 0; i < value->count; i++) {
        const struct field_place item = {.parent = at, .index = i};
        struct err err;
        if (!fields_kind(f, &item, &value->items[i], JSON_STRING))
            return;
        if (id_parse(value->items[i].string, prefix, &ids[i], &err) != RC_OK || ids[i] == 0) {
            fields_fail(f, &item, "must be an id: %s and %d digits", prefix, ID_DIGITS);
            return;
        }
    }
    wish->by_ids = true;
    wish->ids = ids_text(f, ids, value->count);
}

static void read_job_ids(const struct fields *f, const struct field_place *at,
                         const struct json *value, void *into)
{
    read_ids(f, at, value, ID_JOB, into);
}

static void read_exec_ids(const struct fields *f, const struct field_place *at,
                          const struct json *value, void *into)
{
    read_ids(f, at, value, ID_EXEC, into);
}

/* ---- reading: the whole */

static const struct words job_actions =
    WORDS([OPERATION_PAUSE_JOBS] = "pause", [OPERATION_RESUME_JOBS] = "resume",
          [OPERATION_CANCEL_JOBS] = "cancel", [OPERATION_TRIGGER_JOBS] = "trigger");
static const struct words exec_actions =
    WORDS([OPERATION_CANCEL_EXECS] = "cancel", [OPERATION_RETRY_EXECS] = "retry");

static const struct field job_wish_fields[] = {
    {FIELD("action", struct action_wish, kind), .kind = FIELD_ONE_OF, .words = &job_actions,
     .required = true},
    {.name = STR_INIT("filter"), .kind = FIELD_OWN, .read = read_job_filter},
    {.name = STR_INIT("ids"), .kind = FIELD_OWN, .read = read_job_ids},
    {FIELD("all", struct action_wish, all), .kind = FIELD_BOOL},
    {FIELD("dry_run", struct action_wish, dry_run), .kind = FIELD_BOOL},
};

static const struct field exec_wish_fields[] = {
    {FIELD("action", struct action_wish, kind), .kind = FIELD_ONE_OF, .words = &exec_actions,
     .required = true},
    {.name = STR_INIT("filter"), .kind = FIELD_OWN, .read = read_exec_filter},
    {.name = STR_INIT("ids"), .kind = FIELD_OWN, .read = read_exec_ids},
    {FIELD("all", struct action_wish, all), .kind = FIELD_BOOL},
    {FIELD("dry_run", struct action_wish, dry_run), .kind = FIELD_BOOL},
};

/* What would never fit would be an answer of zero to a question that was meant otherwise. */
static void check_filter(const struct fields *f, const struct action_wish *wish)
{
    const struct field_place filter = {.key = STR("filter")};
    struct field_place param = {.parent = &filter};
    struct err err;
    if (operation_filter_check(wish->kind, &wish->filter, &param.key, &err) != RC_OK)
        fields_fail(f, &param, "%s", err.text);
}

static void check_whole(const struct fields *f, const struct action_wish *wish)
{
    const struct field_place filter = {.key = STR("filter")};
    const struct field_place all = {.key = STR("all")};
    const struct field_place ids = {.key = STR("ids")};
    if (operation_filter_text(wish->kind, &wish->filter, f->arena).len == 0) {
        fields_fail(f, &filter, "is too long: its values together must be below %d KiB",
                    OPERATION_FILTER_BYTES_MAX / 1024);
        return;
    }
    bool empty = operation_filter_is_empty(&wish->filter);
    if (wish->by_ids && (wish->has_filter || wish->all))
        fields_fail(f, &ids, "says which; leave out the filter and \"all\"");
    else if (!wish->by_ids && empty && !wish->all)
        fields_fail(f, &filter, "restricts nothing; \"all\": true means every one");
    else if (!empty && wish->all)
        fields_fail(f, &all, "is for every one; leave it out, or the filter");
}

enum rc action_wish_parse(const struct json *doc, bool of_jobs, struct arena *arena,
                          struct action_wish *ret_wish, struct field_errors *errors)
{
    const struct fields f = {.arena = arena, .errors = errors};
    *ret_wish = (struct action_wish){.dry_run = false};
    fields_read(&f, NULL, doc, of_jobs ? job_wish_fields : exec_wish_fields,
                COUNT_OF(job_wish_fields), ret_wish);
    if (errors->count == 0) {
        check_filter(&f, ret_wish);
        check_whole(&f, ret_wish);
    }
    return errors->count == 0 ? RC_OK : RC_INVALID;
}
