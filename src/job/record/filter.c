#include "job/record/filter.h"
#include "base/id.h"
#include "base/when.h"
#include "job/record/filter_inside.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- tables */

#define PARAM_ROW(name_, of_, repeats_, ...)                                                       \
    [FILTER_PARAM_##                                                                               \
        name_] = {.name = STR_INIT(#name_), .of = FILTER_OF_##of_, .repeats = FILTER_##repeats_},
const struct filter_param filter_params[FILTER_PARAM_COUNT] = {FILTER_PARAMS(PARAM_ROW)};

#define COLUMN_OF(name_) {.field = JOB_FIELD_##name_, .offset = offsetof(struct filter, name_)},
#define COLUMN_ROW(name, kind, bounds, printed, kept, filter, ...)                                 \
    FILTER_IN_##filter(FILTER_KEPT_##kept(COLUMN_OF(name)))
const struct filter_column filter_columns[FILTER_COLUMNS] = {JOB_FIELDS(COLUMN_ROW)};

struct str filter_column_text(const struct filter *filter, size_t column)
{
    return *(const struct str *)((const char *)filter + filter_columns[column].offset);
}

void filter_column_set(struct filter *filter, size_t column, struct str text)
{
    *(struct str *)((char *)filter + filter_columns[column].offset) = text;
}

bool filter_column_is_indexed(size_t column)
{
    return job_fields[filter_columns[column].field].kept == JOB_KEPT_INDEXED;
}

static const struct filter_param *find_param(enum filter_of of, struct str name)
{
    for (size_t i = 0; i < FILTER_PARAM_COUNT; i++) {
        if ((filter_params[i].of & of) != 0 && str_eq(filter_params[i].name, name))
            return &filter_params[i];
    }
    return NULL;
}

enum job_field_id filter_field(enum filter_of of, struct str name)
{
    for (unsigned i = 0; i < JOB_FIELD_COUNT; i++) {
        enum job_filter filter = job_fields[i].filter;
        bool fits =
            filter == JOB_FILTER_BOTH || (filter == JOB_FILTER_JOBS && (of & FILTER_OF_JOBS) != 0);
        if (fits && str_eq(job_fields[i].key, name))
            return (enum job_field_id)i;
    }
    return JOB_FIELD_COUNT;
}

size_t filter_column_of(enum job_field_id field)
{
    size_t i = 0;
    while (i < FILTER_COLUMNS && filter_columns[i].field != field)
        i++;
    return i;
}

bool filter_repeats(enum filter_of of, struct str name, enum filter_repeats *ret_repeats)
{
    const struct filter_param *param = find_param(of, name);
    enum job_field_id field = filter_field(of, name);
    *ret_repeats = param != NULL              ? param->repeats
                   : field == JOB_FIELD_queue ? FILTER_OR
                                              : FILTER_ONCE;
    return param != NULL || field != JOB_FIELD_COUNT;
}

/* ---- lines */

static void copy(char *to, size_t *len, struct str text)
{
    if (text.len > 0)
        memcpy(to + *len, text.ptr, text.len);
    *len += text.len;
}

/* Keeps them sorted and different, so that the same set is the same text. */
static struct str add_line(struct str lines, struct str line, struct arena *arena)
{
    struct str rest = lines;
    size_t at = 0;
    while (rest.len > 0) {
        struct str next = str_cut(&rest, '\n');
        int order = str_cmp(next, line);
        if (order == 0)
            return lines;
        if (order > 0)
            break;
        at = lines.len - rest.len;
    }
    char *text = arena_bytes(arena, lines.len + line.len + 1);
    size_t len = 0;
    copy(text, &len, str_head(lines, at));
    if (at == lines.len && at > 0)
        text[len++] = '\n';
    copy(text, &len, line);
    if (at < lines.len)
        text[len++] = '\n';
    copy(text, &len, str_from(lines, at));
    return str_of(text, len);
}

static size_t count_lines(struct str lines)
{
    size_t count = 0;
    for (; lines.len > 0; count++)
        (void)str_cut(&lines, '\n');
    return count;
}

/* ---- making one */

bool filter_has_queue(const struct filter *f, struct str queue)
{
    return f->queue.len == 0 || filter_has_line(f->queue, queue);
}

static enum rc set_state(struct filter *f, enum filter_of of, struct str value, struct err *err)
{
    enum job_state job;
    enum exec_state exec;
    if (of == FILTER_OF_JOBS && job_state_parse(value, &job))
        f->states |= FILTER_STATE(job);
    else if (of == FILTER_OF_EXECS && exec_state_parse(value, &exec))
        f->states |= exec == EXEC_RUNNING ? FILTER_RUNNING : FILTER_STATE(exec);
    else
        return err_set(err, RC_INVALID, "'%.*s' is not a status", STR_ARG(value));
    return RC_OK;
}

static enum rc set_phase(struct filter *f, struct str value, struct arena *arena, struct err *err)
{
    unsigned phase;
    if (!words_parse(&phase_words, value, &phase))
        return err_set(err, RC_INVALID, "must be one of %.*s",
                       STR_ARG(words_text(&phase_words, arena)));
    f->phases |= 1u << phase;
    return RC_OK;
}

static enum rc set_tag(struct filter *f, struct str value, struct arena *arena, struct err *err)
{
    if (str_index(value, ':') == value.len)
        return err_set(err, RC_INVALID, "must be key:value");
    f->tags = add_line(f->tags, value, arena);
    if (count_lines(f->tags) > FILTER_TAGS_MAX)
        return err_set(err, RC_INVALID, "may be given %d times at most", FILTER_TAGS_MAX);
    return RC_OK;
}

/* An id of zero would not restrict. */
static enum rc set_id(const char *prefix, struct str value, uint64_t *ret_id, struct err *err)
{
    TRY(id_parse(value, prefix, ret_id, err));
    return *ret_id != 0 ? RC_OK : err_set(err, RC_INVALID, "nothing has the id zero");
}

static enum rc set_class(struct filter *f, struct str value, struct arena *arena, struct err *err)
{
    if (!failure_parse(value, &f->class) || f->class == FAILURE_NONE)
        return err_set(err, RC_INVALID, "must be one of %.*s",
                       STR_ARG(words_text(&failure_words, arena)));
    return RC_OK;
}

static enum rc set_print(struct filter *f, struct str value, struct err *err)
{
    if (!fingerprint_parse(value, &f->fingerprint))
        return err_set(err, RC_INVALID, "must be %d hexadecimal digits", FAILURE_PRINT_BYTES);
    return RC_OK;
}

static enum rc set_moment(int64_t *ret_ms, struct str value, struct err *err)
{
    TRY(when_parse(value, ret_ms, err));
    if (*ret_ms < 0)
        return err_set(err, RC_INVALID, "must not be before 1970");
    if (*ret_ms == 0)
        *ret_ms = 1; /* 0 would be no bound at all */
    return RC_OK;
}

static enum rc set_param(struct filter *f, enum filter_of of, enum filter_param_id id,
                         struct str value, struct arena *arena, struct err *err)
{
    switch (id) {
    case FILTER_PARAM_status: return set_state(f, of, value, err);
    case FILTER_PARAM_phase: return set_phase(f, value, arena, err);
    case FILTER_PARAM_owner: f->owner = arena_str(arena, value); return RC_OK;
    case FILTER_PARAM_tag: return set_tag(f, value, arena, err);
    case FILTER_PARAM_job: return set_id(ID_JOB, value, &f->job_id, err);
    case FILTER_PARAM_class: return set_class(f, value, arena, err);
    case FILTER_PARAM_fingerprint: return set_print(f, value, err);
    case FILTER_PARAM_worker: return set_id(ID_WORKER, value, &f->worker_id, err);
    case FILTER_PARAM_created_after: return set_moment(&f->created.after_ms, value, err);
    case FILTER_PARAM_created_before: return set_moment(&f->created.before_ms, value, err);
    case FILTER_PARAM_started_after: return set_moment(&f->started.after_ms, value, err);
    case FILTER_PARAM_started_before: return set_moment(&f->started.before_ms, value, err);
    case FILTER_PARAM_finished_after: return set_moment(&f->finished.after_ms, value, err);
    case FILTER_PARAM_finished_before: return set_moment(&f->finished.before_ms, value, err);
    case FILTER_PARAM_COUNT: break;
    }
    assert(false);
    return RC_INVALID;
}

static void set_name(struct filter *f, struct str value, struct arena *arena)
{
    struct str rest;
    struct str head = filter_literal_head(value, arena, &rest);
    f->name = rest.ptr == NULL ? head : (struct str){0};
    f->pattern = rest.ptr == NULL ? (struct str){0} : arena_str(arena, value);
}

enum rc filter_set(struct filter *f, enum filter_of of, struct str name, struct str value,
                   struct arena *arena, struct err *err)
{
    const struct filter_param *param = find_param(of, name);
    enum job_field_id field = filter_field(of, name);
    size_t column = filter_column_of(field);
    if (param == NULL && (column == FILTER_COLUMNS || filter_column_is_indexed(column)))
        return err_set(err, RC_NOT_FOUND, "is not a parameter of this call");
    if (value.len == 0)
        return err_set(err, RC_INVALID, "must not be empty");
    if (!str_is_utf8(value) || str_index(value, '\n') < value.len)
        return err_set(err, RC_INVALID, "must be one line of UTF-8");
    if (param != NULL)
        return set_param(f, of, (enum filter_param_id)(param - filter_params), value, arena, err);
    if (field == JOB_FIELD_name)
        set_name(f, value, arena);
    else if (field == JOB_FIELD_queue)
        f->queue = add_line(f->queue, value, arena);
    else
        filter_column_set(f, column, arena_str(arena, value));
    return RC_OK;
}

void filter_add_document(struct filter *f, struct str key, struct str value, struct arena *arena)
{
    struct filter_value *all = ARENA_ARRAY(arena, struct filter_value, f->document_count + 1);
    for (size_t i = 0; i < f->document_count; i++)
        all[i] = f->document[i];
    all[f->document_count++] = (struct filter_value){key, value};
    f->document = all;
}

static bool span_ends_early(struct filter_span span)
{
    return span.before_ms != 0 && span.before_ms <= span.after_ms;
}

/* A list that nothing can fit would look at every row to say so. */
static enum rc check_states(const struct filter *f, enum filter_of of, struct str *ret_name,
                            struct err *err)
{
    if (filter_states(f, of) != 0)
        return RC_OK;
    *ret_name = f->phases != 0 ? STR("phase") : STR("status");
    if (f->phases != 0)
        return err_set(err, RC_INVALID,
                       "cannot be combined with that status or end: no job has both");
    return err_set(err, RC_INVALID,
                   "cannot be combined with finished_after and finished_before: what has this "
                   "status has not finished");
}

enum rc filter_check(const struct filter *f, enum filter_of of, struct str *ret_name,
                     struct err *err)
{
    const struct {
        const char *name;
        const char *first;
        struct filter_span span;
    } spans[] = {{"created_before", "created_after", f->created},
                 {"started_before", "started_after", f->started},
                 {"finished_before", "finished_after", f->finished}};
    for (size_t i = 0; i < COUNT_OF(spans); i++) {
        *ret_name = str_c(spans[i].name);
        if (span_ends_early(spans[i].span))
            return err_set(err, RC_INVALID, "must be later than %s", spans[i].first);
    }
    *ret_name = STR("job");
    if (f->job_id != 0 && (filter_needs(f, FILTER_OF_EXECS) & FILTER_NEEDS_JOB) != 0)
        return err_set(err, RC_INVALID,
                       "cannot be combined with name, team, owner or tag: it says which job");
    *ret_name = STR("class");
    if ((f->class != FAILURE_NONE || f->fingerprint != 0) &&
        f->states == FILTER_STATE(EXEC_COMPLETED))
        return err_set(err, RC_INVALID,
                       "and fingerprint cannot be combined with status=completed: those did not "
                       "fail");
    return check_states(f, of, ret_name, err);
}
