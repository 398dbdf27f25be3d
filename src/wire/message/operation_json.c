#include "wire/message/operation_json.h"
#include "base/id.h"
#include "job/spec.h"
#include "job/state.h"
#include "wire/json/fields.h"
#include "wire/message/letter_json.h"

#include <stdlib.h>

/* ---- printing */

static void put_lines(struct json_writer *w, const char *key, struct str lines)
{
    if (lines.len == 0)
        return;
    json_key(w, key);
    json_open_array(w);
    while (lines.len > 0)
        json_str(w, str_cut(&lines, '\n'));
    json_close_array(w);
}

static void put_states(struct json_writer *w, uint32_t states, bool jobs)
{
    if (states == 0)
        return;
    json_key(w, "status");
    json_open_array(w);
    for (uint32_t i = 1; i < 32; i++) {
        if ((states >> i & 1) != 0)
            json_str(w, jobs ? job_state_name((enum job_state)i)
                             : exec_state_name((enum exec_state)i));
    }
    json_close_array(w);
}

static void put_if(struct json_writer *w, const char *key, struct str text)
{
    if (text.len > 0)
        json_put_str(w, key, text);
}

static void put_filter(struct json_writer *w, const struct operation_rec *op)
{
    const struct action_filter *f = &op->which;
    put_states(w, f->states, operation_is_about_jobs(op->kind));
    put_lines(w, "queue", f->queues);
    put_lines(w, "tag", f->tags);
    put_if(w, "name", f->name);
    put_if(w, "owner", f->owner);
    put_if(w, "team", f->team);
    if (f->job_id != 0)
        json_put_id(w, "job", ID_JOB, f->job_id);
    if (f->created_after_ms != 0)
        json_put_when(w, "created_after", f->created_after_ms);
    if (f->created_before_ms != 0)
        json_put_when(w, "created_before", f->created_before_ms);
    letter_filter_print(w, &op->filter);
}

static void put_refusals(struct json_writer *w, const struct operation_rec *parts, size_t count)
{
    const char *prefix = operation_is_about_jobs(parts->kind) ? ID_JOB : ID_EXEC;
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
        if (parts[i].state == OPERATION_CANCELLED)
            state = OPERATION_CANCELLED;
    }
    return count < parts->parts ? OPERATION_RUNNING : state;
}

/* What the parts have come to together. */
struct sum {
    uint64_t total, done, refused;
    size_t ids;
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
        sum.ids += operation_id_count(parts[i].ids);
        if (parts[i].finished_ms > sum.finished_ms)
            sum.finished_ms = parts[i].finished_ms;
        if (parts[i].refusal.len > 0)
            sum.refusal = parts[i].refusal;
    }
    return sum;
}

static void put_which(struct json_writer *w, const struct operation_rec *op, size_t ids)
{
    if (op->by_ids) {
        json_put_null(w, "filter");
        json_put_int(w, "ids", (int64_t)ids);
        return;
    }
    json_key(w, "filter");
    json_open(w);
    put_filter(w, op);
    json_close(w);
}

void operation_print(struct json_writer *w, const struct operation_rec *parts, size_t count)
{
    enum operation_state state = operation_state_of(parts, count);
    const struct sum sum = add_up(parts, count);
    bool over = state != OPERATION_RUNNING;
    json_open(w);
    json_put_id(w, "operation_id", ID_OPERATION, parts->id);
    json_put_str(w, "kind", operation_kind_name(parts->kind));
    json_put_str(w, "of", operation_subject_name(parts->kind));
    json_put_str(w, "status", operation_state_name(state));
    put_which(w, parts, sum.ids);
    if (parts->counted)
        json_put_int(w, "total", (int64_t)sum.total);
    else if (state == OPERATION_DONE)
        json_put_int(w, "total", (int64_t)(sum.done + sum.refused));
    else
        json_put_null(w, "total");
    json_put_int(w, "done", (int64_t)sum.done);
    json_put_int(w, "refused", (int64_t)sum.refused);
    json_put_text(w, "last_refusal", sum.refusal);
    put_refusals(w, parts, count);
    json_put_str(w, "actor", parts->by);
    json_put_when(w, "created_at", parts->created_ms);
    json_put_when(w, "finished_at", over ? sum.finished_ms : 0);
    json_close(w);
}

/* ---- reading: values that may be one or many */

typedef bool take_value(const struct fields *f, const struct field_place *at,
                        const struct json *value, void *into);

static void read_one_or_many(const struct fields *f, const struct field_place *at,
                             const struct json *value, take_value *take, void *into)
{
    enum { VALUES_MAX = 100 };
    if (value->kind != JSON_ARRAY) {
        (void)take(f, at, value, into);
        return;
    }
    if (value->count == 0 || value->count > VALUES_MAX) {
        fields_fail(f, at, "must have 1 to %d values", VALUES_MAX);
        return;
    }
    for (size_t i = 0; i < value->count; i++) {
        const struct field_place item = {.parent = at, .index = i};
        if (!take(f, &item, &value->items[i], into))
            return;
    }
}

static void add_line(const struct fields *f, struct str *lines, struct str line)
{
    *lines = lines->len == 0 ? line
                             : arena_printf(f->arena, "%.*s\n%.*s", STR_ARG(*lines), STR_ARG(line));
}

static bool take_queue(const struct fields *f, const struct field_place *at,
                       const struct json *value, void *into)
{
    if (!fields_text(f, at, value, FIELD_WORD, 1, SPEC_NAME_MAX))
        return false;
    add_line(f, into, value->string);
    return true;
}

static bool take_tag(const struct fields *f, const struct field_place *at, const struct json *value,
                     void *into)
{
    enum { TAG_TEXT_MAX = 1000 };
    if (!fields_text(f, at, value, FIELD_LINE, 1, TAG_TEXT_MAX))
        return false;
    if (str_index(value->string, ':') == value->string.len) {
        fields_fail(f, at, "must be KEY:VALUE");
        return false;
    }
    add_line(f, into, value->string);
    return true;
}

static bool take_job_state(const struct fields *f, const struct field_place *at,
                           const struct json *value, void *into)
{
    enum job_state state;
    if (!fields_kind(f, at, value, JSON_STRING))
        return false;
    if (!job_state_parse(value->string, &state) || job_is_over(state)) {
        fields_fail(f, at, "must be active or paused: nothing is done to jobs that are over");
        return false;
    }
    *(uint32_t *)into |= UINT32_C(1) << state;
    return true;
}

static bool take_exec_state(const struct fields *f, const struct field_place *at,
                            const struct json *value, void *into)
{
    enum exec_state state;
    if (!fields_kind(f, at, value, JSON_STRING))
        return false;
    if (!exec_state_parse(value->string, &state)) {
        fields_fail(f, at, "'%.*s' is not a status", STR_ARG(str_head(value->string, 40)));
        return false;
    }
    *(uint32_t *)into |= UINT32_C(1) << state;
    return true;
}

static void read_queues(const struct fields *f, const struct field_place *at,
                        const struct json *value, void *into)
{
    read_one_or_many(f, at, value, take_queue, into);
}

static void read_tags(const struct fields *f, const struct field_place *at,
                      const struct json *value, void *into)
{
    read_one_or_many(f, at, value, take_tag, into);
}

static void read_job_states(const struct fields *f, const struct field_place *at,
                            const struct json *value, void *into)
{
    read_one_or_many(f, at, value, take_job_state, into);
}

static void read_exec_states(const struct fields *f, const struct field_place *at,
                             const struct json *value, void *into)
{
    read_one_or_many(f, at, value, take_exec_state, into);
}

/* ---- reading: the filter */

static void read_fingerprint(const struct fields *f, const struct field_place *at,
                             const struct json *value, void *into)
{
    if (fields_kind(f, at, value, JSON_STRING) && !fingerprint_parse(value->string, into))
        fields_fail(f, at, "must be %d hexadecimal digits", FAILURE_PRINT_BYTES);
}

#define OF_BOTH                                                                                    \
    {FIELD("queue", struct action_wish, filter.queues), .kind = FIELD_OWN, .read = read_queues},   \
        {FIELD("tag", struct action_wish, filter.tags), .kind = FIELD_OWN, .read = read_tags},     \
        {FIELD("name", struct action_wish, filter.name), .kind = FIELD_LINE, .min = 1,             \
         .max = SPEC_NAME_MAX + 1},                                                                \
        {FIELD("owner", struct action_wish, filter.owner), .kind = FIELD_LINE, .min = 1,           \
         .max = SPEC_NAME_MAX},                                                                    \
        {FIELD("team", struct action_wish, filter.team), .kind = FIELD_WORD, .min = 1,             \
         .max = SPEC_NAME_MAX},                                                                    \
        {FIELD("created_after", struct action_wish, filter.created_after_ms), .kind = FIELD_WHEN,  \
         .min = 1},                                                                                \
    {                                                                                              \
        FIELD("created_before", struct action_wish, filter.created_before_ms), .kind = FIELD_WHEN, \
                                                                               .min = 1            \
    }

static const struct field of_job_fields[] = {
    {FIELD("status", struct action_wish, filter.states), .kind = FIELD_OWN,
     .read = read_job_states},
    OF_BOTH,
};

static const struct field of_exec_fields[] = {
    {FIELD("status", struct action_wish, filter.states), .kind = FIELD_OWN,
     .read = read_exec_states},
    OF_BOTH,
    {FIELD("job", struct action_wish, filter.job_id), .kind = FIELD_ID, .prefix = ID_JOB},
    {FIELD("class", struct action_wish, letters.class), .kind = FIELD_ONE_OF,
     .words = &failure_words},
    {FIELD("fingerprint", struct action_wish, letters.fingerprint), .kind = FIELD_OWN,
     .read = read_fingerprint},
};

static void read_filter(const struct fields *f, const struct field_place *at,
                        const struct json *value, bool of_jobs, struct action_wish *wish)
{
    if (!fields_kind(f, at, value, JSON_OBJECT))
        return;
    wish->has_filter = true;
    /* A null would not restrict, and act upon what was not meant. */
    for (uint32_t i = 0; i < value->count; i++) {
        const struct field_place place = {.parent = at, .key = value->members[i].key};
        if (value->members[i].value.kind == JSON_NULL)
            fields_fail(f, &place, "must not be null; leave it out");
    }
    fields_read(f, at, value, of_jobs ? of_job_fields : of_exec_fields,
                of_jobs ? COUNT_OF(of_job_fields) : COUNT_OF(of_exec_fields), wish);
}

static void read_job_filter(const struct fields *f, const struct field_place *at,
                            const struct json *value, void *into)
{
    read_filter(f, at, value, true, into);
}

static void read_exec_filter(const struct fields *f, const struct field_place *at,
                             const struct json *value, void *into)
{
    read_filter(f, at, value, false, into);
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

static uint32_t bit(enum exec_state state)
{
    return UINT32_C(1) << state;
}

/* What would never fit would be an answer of zero to a question that was meant otherwise. */
static void check_states(const struct fields *f, const struct action_wish *wish)
{
    const struct field_place filter = {.key = STR("filter")};
    const struct field_place status = {.parent = &filter, .key = STR("status")};
    const uint32_t dead = bit(EXEC_FAILED) | bit(EXEC_TIMEOUT);
    uint32_t over = 0;
    for (uint32_t i = 1; i < EXEC_STATES; i++)
        over |= exec_is_final((enum exec_state)i) ? UINT32_C(1) << i : 0;
    if (wish->kind == OPERATION_CANCEL_EXECS && (wish->filter.states & over) != 0)
        fields_fail(f, &status, "must be one that is not over: nothing else can be cancelled");
    if (wish->kind == OPERATION_RETRY_EXECS && (wish->filter.states & ~dead) != 0)
        fields_fail(f, &status, "must be failed or timeout: dead letters are run again");
}

static void check_fields(const struct fields *f, const struct action_wish *wish)
{
    const struct field_place filter = {.key = STR("filter")};
    const struct field_place tag = {.parent = &filter, .key = STR("tag")};
    const struct field_place team = {.parent = &filter, .key = STR("team")};
    bool retry = wish->kind == OPERATION_RETRY_EXECS;
    if (retry && wish->filter.tags.len > 0)
        fields_fail(f, &tag, "does not go with retry: dead letters do not know it");
    if (retry && wish->filter.team.len > 0)
        fields_fail(f, &team, "does not go with retry: dead letters do not know it");
    if (!retry && !letter_filter_is_empty(&wish->letters))
        fields_fail(f, &filter, "has class or fingerprint, which are of dead letters: of retry");
}

static void check_whole(const struct fields *f, const struct action_wish *wish)
{
    const struct field_place filter = {.key = STR("filter")};
    const struct field_place all = {.key = STR("all")};
    const struct field_place ids = {.key = STR("ids")};
    bool empty = action_filter_is_empty(&wish->filter) && letter_filter_is_empty(&wish->letters);
    if (wish->by_ids && (wish->has_filter || wish->all))
        fields_fail(f, &ids, "says which; leave out the filter and \"all\"");
    else if (!wish->by_ids && empty && !wish->all)
        fields_fail(f, &filter, "restricts nothing; \"all\": true means every one");
    else if (!empty && wish->all)
        fields_fail(f, &all, "is for every one; leave it out, or the filter");
    if (wish->filter.created_before_ms != 0 &&
        wish->filter.created_before_ms <= wish->filter.created_after_ms)
        fields_fail(f, &filter, "ends before it begins: created_before must be the later one");
}

enum rc action_wish_parse(const struct json *doc, bool of_jobs, struct arena *arena,
                          struct action_wish *ret_wish, struct field_errors *errors)
{
    const struct fields f = {.arena = arena, .errors = errors};
    *ret_wish = (struct action_wish){.dry_run = false};
    fields_read(&f, NULL, doc, of_jobs ? job_wish_fields : exec_wish_fields,
                COUNT_OF(job_wish_fields), ret_wish);
    if (errors->count == 0) {
        check_states(&f, ret_wish);
        check_fields(&f, ret_wish);
        check_whole(&f, ret_wish);
    }
    return errors->count == 0 ? RC_OK : RC_INVALID;
}
