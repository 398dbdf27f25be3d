#include "job/record/filter.h"
#include "base/id.h"
#include "base/when.h"
#include "job/spec_scan.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { FILTER_TEXT_MAX = 1 << 20 };

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

/* JOB_FIELD_COUNT: lists of these cannot be restricted by such a field. */
static enum job_field_id find_field(enum filter_of of, struct str name)
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

/* FILTER_COLUMNS: it has none. */
static size_t find_column(enum job_field_id field)
{
    size_t i = 0;
    while (i < FILTER_COLUMNS && filter_columns[i].field != field)
        i++;
    return i;
}

bool filter_repeats(enum filter_of of, struct str name, enum filter_repeats *ret_repeats)
{
    const struct filter_param *param = find_param(of, name);
    enum job_field_id field = find_field(of, name);
    *ret_repeats = param != NULL              ? param->repeats
                   : field == JOB_FIELD_queue ? FILTER_OR
                                              : FILTER_ONCE;
    return param != NULL || field != JOB_FIELD_COUNT;
}

/* ---- lines */

static bool has_line(struct str lines, struct str wanted)
{
    while (lines.len > 0) {
        if (str_eq(str_cut(&lines, '\n'), wanted))
            return true;
    }
    return false;
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
    if (at == lines.len)
        return arena_printf(arena, "%.*s%s%.*s", STR_ARG(lines), lines.len > 0 ? "\n" : "",
                            STR_ARG(line));
    return arena_printf(arena, "%.*s%.*s\n%.*s", STR_ARG(str_head(lines, at)), STR_ARG(line),
                        STR_ARG(str_from(lines, at)));
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
    return f->queue.len == 0 || has_line(f->queue, queue);
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

/* The next character of a pattern, without the \ of a \*; false: it is a * that stands for text. */
static bool pattern_char(struct str *rest, char *ret_c)
{
    bool escaped = rest->len > 1 && rest->ptr[0] == '\\' && rest->ptr[1] == '*';
    bool literal = escaped || rest->ptr[0] != '*';
    *ret_c = rest->ptr[escaped];
    *rest = str_from(*rest, 1u + escaped);
    return literal;
}

/* The text in front of the first * that stands for text; *rest is what stands behind that, with
 * ptr NULL when there is none. */
static struct str literal_head(struct str pattern, struct arena *arena, struct str *ret_rest)
{
    char *text = arena_bytes(arena, pattern.len + 1);
    size_t len = 0;
    while (pattern.len > 0) {
        char c;
        if (!pattern_char(&pattern, &c)) {
            *ret_rest = pattern;
            return str_of(text, len);
        }
        text[len++] = c;
    }
    *ret_rest = (struct str){0};
    return str_of(text, len);
}

static void set_name(struct filter *f, struct str value, struct arena *arena)
{
    struct str rest;
    struct str head = literal_head(value, arena, &rest);
    f->name = rest.ptr == NULL ? head : (struct str){0};
    f->pattern = rest.ptr == NULL ? (struct str){0} : arena_str(arena, value);
}

enum rc filter_set(struct filter *f, enum filter_of of, struct str name, struct str value,
                   struct arena *arena, struct err *err)
{
    const struct filter_param *param = find_param(of, name);
    enum job_field_id field = find_field(of, name);
    size_t column = find_column(field);
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

/* ---- as text */

static void put_line(struct buf *out, struct str name, struct str value)
{
    if (value.len > 0)
        buf_printf(out, "%.*s=%.*s\n", STR_ARG(name), STR_ARG(value));
}

static void put_lines(struct buf *out, struct str name, struct str values)
{
    while (values.len > 0)
        put_line(out, name, str_cut(&values, '\n'));
}

static void put_states(struct buf *out, const struct filter *f, enum filter_of of)
{
    for (unsigned i = 1; i < 32; i++) {
        if ((f->states >> i & 1) == 0 || (of == FILTER_OF_EXECS && i == EXEC_STOPPING))
            continue; /* which is shown as running */
        put_line(out, STR("status"),
                 of == FILTER_OF_JOBS ? job_state_name((enum job_state)i)
                                      : exec_state_name((enum exec_state)i));
    }
}

static void put_moment(struct buf *out, const char *name, int64_t at_ms)
{
    char text[WHEN_TEXT_MAX];
    if (at_ms != 0)
        put_line(out, str_c(name), when_format(text, at_ms));
}

static void put_id(struct buf *out, const char *name, const char *prefix, uint64_t id)
{
    char text[ID_TEXT_MAX];
    if (id != 0)
        put_line(out, str_c(name), id_format(text, prefix, id));
}

/* A whole name as a pattern: its own * are no more than that. */
static void put_name(struct buf *out, struct str name)
{
    if (name.len == 0)
        return;
    buf_add(out, STR("name="));
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '*')
            buf_add_char(out, '\\');
        buf_add_char(out, name.ptr[i]);
    }
    buf_add_char(out, '\n');
}

static void put_columns(struct buf *out, const struct filter *f)
{
    for (size_t i = 0; i < FILTER_COLUMNS; i++) {
        enum job_field_id field = filter_columns[i].field;
        if (field == JOB_FIELD_name)
            put_name(out, f->name);
        else
            put_lines(out, job_fields[field].key, filter_column_text(f, i));
    }
}

void filter_print(const struct filter *f, enum filter_of of, struct buf *out)
{
    char print[FAILURE_PRINT_MAX];
    put_states(out, f, of);
    for (unsigned i = 1; i < PHASES; i++) {
        if (f->phases >> i & 1)
            put_line(out, STR("phase"), phase_name((enum phase)i));
    }
    put_columns(out, f);
    put_line(out, STR("name"), f->pattern);
    put_line(out, STR("owner"), f->owner);
    put_lines(out, STR("tag"), f->tags);
    for (size_t i = 0; i < f->document_count; i++)
        put_line(out, f->document[i].key, f->document[i].value);
    put_id(out, "job", ID_JOB, f->job_id);
    put_id(out, "worker", ID_WORKER, f->worker_id);
    if (f->class != FAILURE_NONE)
        put_line(out, STR("class"), failure_name(f->class));
    if (f->fingerprint != 0)
        put_line(out, STR("fingerprint"), failure_print(f->fingerprint, print));
    put_moment(out, "created_after", f->created.after_ms);
    put_moment(out, "created_before", f->created.before_ms);
    put_moment(out, "started_after", f->started.after_ms);
    put_moment(out, "started_before", f->started.before_ms);
    put_moment(out, "finished_after", f->finished.after_ms);
    put_moment(out, "finished_before", f->finished.before_ms);
    if (f->unfinished)
        put_line(out, STR("unfinished"), STR("true"));
}

/* A field in the document, or in a column of its own for the sake of filters: its value was made
 * canonical before it was printed. */
static bool read_canonical(struct filter *f, enum filter_of of, struct str key, struct str value,
                           struct arena *arena)
{
    enum job_field_id field = find_field(of, key);
    size_t column = find_column(field);
    if (field == JOB_FIELD_COUNT)
        return false;
    if (column < FILTER_COLUMNS)
        filter_column_set(f, column, arena_str(arena, value));
    else
        filter_add_document(f, job_fields[field].key, arena_str(arena, value), arena);
    return true;
}

enum rc filter_read(struct str text, enum filter_of of, struct arena *arena,
                    struct filter *ret_filter, struct err *err)
{
    *ret_filter = (struct filter){0};
    while (text.len > 0) {
        struct str value = str_cut(&text, '\n');
        struct str name = str_cut(&value, '=');
        if (str_eq(name, STR("unfinished"))) {
            ret_filter->unfinished = true;
            continue;
        }
        enum rc rc = filter_set(ret_filter, of, name, value, arena, err);
        if (rc == RC_NOT_FOUND && read_canonical(ret_filter, of, name, value, arena))
            rc = RC_OK;
        if (rc != RC_OK)
            return err_set(err, rc, "a filter with %.*s=%.*s cannot be read", STR_ARG(name),
                           STR_ARG(value));
    }
    return RC_OK;
}

uint64_t filter_hash(const struct filter *f, enum filter_of of)
{
    CLEANUP(buf_free) struct buf text = BUF(FILTER_TEXT_MAX);
    filter_print(f, of, &text);
    buf_printf(&text, "%d", (int)of);
    return str_hash(buf_str(&text));
}

bool filter_is_empty(const struct filter *f)
{
    CLEANUP(buf_free) struct buf text = BUF(FILTER_TEXT_MAX);
    filter_print(f, FILTER_OF_JOBS, &text);
    return text.len == 0 && f->states == 0;
}

/* ---- asking it */

uint32_t filter_states(const struct filter *f, enum filter_of of)
{
    uint32_t states = f->states == 0 ? UINT32_MAX : f->states;
    uint32_t phases = 0;
    for (unsigned i = 1; i < PHASES; i++)
        phases |= f->phases >> i & 1 ? phase_states((enum phase)i) : 0;
    bool has_ended = (f->finished.after_ms | f->finished.before_ms) != 0;
    if (of == FILTER_OF_JOBS && f->phases != 0)
        states &= phases;
    if (of == FILTER_OF_JOBS && has_ended)
        states &=
            FILTER_STATE(JOB_COMPLETED) | FILTER_STATE(JOB_FAILED) | FILTER_STATE(JOB_CANCELLED);
    if (of == FILTER_OF_EXECS && (f->class != FAILURE_NONE || f->fingerprint != 0))
        states &= ~FILTER_STATE(EXEC_COMPLETED);
    if (of == FILTER_OF_EXECS && has_ended)
        states &= FILTER_FINAL;
    if (of == FILTER_OF_EXECS && f->unfinished)
        states &= ~FILTER_FINAL;
    return states;
}

unsigned filter_needs(const struct filter *f, enum filter_of of)
{
    unsigned needs = 0;
    bool asks_job = f->name.len + f->pattern.len + f->team.len + f->owner.len + f->tags.len > 0;
    bool asks_attempt = f->class != FAILURE_NONE || f->fingerprint != 0 || f->worker_id != 0;
    if (of == FILTER_OF_JOBS)
        return f->phases != 0 ? FILTER_NEEDS_PHASE : 0;
    needs |= asks_job ? FILTER_NEEDS_JOB : 0;
    needs |= asks_attempt ? FILTER_NEEDS_ATTEMPT : 0;
    return needs;
}

struct filter filter_plain(const struct filter *f, enum filter_of of)
{
    struct filter plain = *f;
    if (of == FILTER_OF_JOBS) {
        plain.phases = 0;
        return plain;
    }
    plain.name = plain.pattern = plain.team = plain.owner = plain.tags = (struct str){0};
    plain.class = FAILURE_NONE;
    plain.fingerprint = plain.worker_id = 0;
    return plain;
}

static bool text_fits(struct str wanted, struct str text)
{
    return wanted.len == 0 || str_eq(wanted, text);
}

static bool span_fits(struct filter_span span, int64_t at_ms)
{
    if (span.after_ms == 0 && span.before_ms == 0)
        return true;
    return at_ms != 0 && at_ms >= span.after_ms && (span.before_ms == 0 || at_ms < span.before_ms);
}

static bool tags_fit(struct str wanted, struct str tags)
{
    while (wanted.len > 0) {
        if (!has_line(tags, str_cut(&wanted, '\n')))
            return false;
    }
    return true;
}

/* Each * takes as little as it can; when the rest does not fit, the last one takes one more. */
bool filter_name_fits(struct str pattern, struct str name)
{
    struct str again_pattern = {0};
    struct str again_name = {0};
    for (;;) {
        char c;
        if (pattern.len == 0 && name.len == 0)
            return true;
        struct str before = pattern;
        bool literal = pattern.len > 0 && pattern_char(&pattern, &c);
        if (before.len > 0 && !literal) {
            again_pattern = before;
            again_name = name;
            continue;
        }
        if (literal && name.len > 0 && name.ptr[0] == c) {
            name = str_from(name, 1);
            continue;
        }
        if (again_pattern.len == 0 || again_name.len == 0)
            return false;
        again_name = str_from(again_name, 1);
        name = again_name;
        pattern = str_from(again_pattern, 1);
    }
}

/* Filters that jobs and executions share. */
static bool job_fits(const struct filter *f, const struct job_rec *job)
{
    return text_fits(f->name, job->name) && text_fits(f->team, job->team) &&
           text_fits(f->owner, job->owner) && tags_fit(f->tags, job->tags) &&
           (f->pattern.len == 0 || filter_name_fits(f->pattern, job->name));
}

static bool document_fits(const struct filter *f, struct str spec)
{
    for (size_t i = 0; i < f->document_count; i++) {
        struct str value = spec_scan(spec, f->document[i].key);
        if (!str_eq(value.len > 0 ? value : STR("null"), f->document[i].value))
            return false;
    }
    for (size_t i = 0; i < FILTER_COLUMNS; i++) {
        struct str wanted = filter_column_text(f, i);
        if (filter_column_is_indexed(i) && wanted.len > 0 &&
            !str_eq(wanted, spec_scan(spec, job_fields[filter_columns[i].field].key)))
            return false;
    }
    return true;
}

static bool attempt_fits(const struct filter *f, const struct filter_facts *facts)
{
    static const struct attempt_rec none = {0};
    const struct attempt_rec *newest = facts->attempt != NULL ? facts->attempt : &none;
    uint64_t worker_id = facts->exec->worker_id != 0 ? facts->exec->worker_id : newest->worker_id;
    bool failed = facts->exec->state != EXEC_COMPLETED;
    return (f->worker_id == 0 || f->worker_id == worker_id) &&
           (f->class == FAILURE_NONE || (failed && f->class == newest->class)) &&
           (f->fingerprint == 0 || (failed && f->fingerprint == newest->fingerprint));
}

static bool exec_fits(const struct filter *f, const struct filter_facts *facts)
{
    const struct exec_rec *exec = facts->exec;
    unsigned needs = filter_needs(f, FILTER_OF_EXECS);
    return filter_has_state(f, exec->state) && !(f->unfinished && exec_is_final(exec->state)) &&
           filter_has_queue(f, exec->queue) && (f->job_id == 0 || f->job_id == exec->job_id) &&
           span_fits(f->created, exec->created_ms) && span_fits(f->started, exec->started_ms) &&
           span_fits(f->finished, exec->finished_ms) &&
           ((needs & FILTER_NEEDS_ATTEMPT) == 0 || attempt_fits(f, facts)) &&
           ((needs & FILTER_NEEDS_JOB) == 0 || (facts->job != NULL && job_fits(f, facts->job)));
}

bool filter_fits(const struct filter *f, const struct filter_facts *facts)
{
    if (facts->exec != NULL)
        return exec_fits(f, facts);
    const struct job_rec *job = facts->job;
    return filter_has_state(f, job->state) && filter_has_queue(f, job->queue) &&
           span_fits(f->created, job->created_ms) && span_fits(f->finished, job->finished_ms) &&
           job_fits(f, job) && document_fits(f, job->spec) &&
           (f->phases == 0 || (f->phases >> facts->phase & 1) != 0);
}

/* ---- beginnings of names */

bool filter_prefix(const struct filter *f, struct arena *arena, struct str *ret_prefix)
{
    struct str rest;
    if (f->pattern.len == 0)
        return false;
    *ret_prefix = literal_head(f->pattern, arena, &rest);
    return rest.ptr != NULL && rest.len == 0 && ret_prefix->len > 0;
}

/* The next character by its number, in the place of the last one; false: there is none. */
static bool next_char(char *last, size_t *len)
{
    static const unsigned char first_byte[] = {0, 0x80, 0xc0, 0xe0, 0xf0};
    uint32_t code = (unsigned char)last[0];
    if (*len > 1) {
        code &= 0xffu >> (*len + 1);
        for (size_t i = 1; i < *len; i++)
            code = code << 6 | ((unsigned char)last[i] & 0x3f);
    }
    if (code == 0x10ffff)
        return false;
    code = code == 0xd7ff ? 0xe000 : code + 1; /* surrogates are no characters */
    *len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = *len; i-- > 0; code >>= 6)
        last[i] = (char)(i > 0 ? 0x80 | (code & 0x3f) : *len > 1 ? first_byte[*len] | code : code);
    return true;
}

struct str filter_prefix_end(struct str prefix, struct arena *arena)
{
    char *end = arena_bytes(arena, prefix.len + 4);
    memcpy(end, prefix.ptr, prefix.len);
    for (size_t at = prefix.len; at > 0;) {
        do
            at--;
        while (at > 0 && ((unsigned char)end[at] & 0xc0) == 0x80);
        size_t len = prefix.len - at;
        if (next_char(end + at, &len))
            return str_of(end, at + len);
        prefix.len = at;
    }
    return (struct str){0};
}
