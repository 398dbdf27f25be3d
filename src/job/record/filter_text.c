/* filter_text.c - filters as text: printed, read back, told apart. */
#include "base/id.h"
#include "base/when.h"
#include "job/record/filter_inside.h"

enum { FILTER_TEXT_MAX = 1 << 20 };

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
    enum job_field_id field = filter_field(of, key);
    size_t column = filter_column_of(field);
    if (field == JOB_FIELD_COUNT)
        return false;
    if (column < FILTER_COLUMNS)
        filter_column_set(f, column, arena_str(arena, value));
    else
        filter_add_document(f, job_fields[field].key, arena_str(arena, value), arena);
    return true;
}

static void keep_texts(struct filter *f, struct arena *arena)
{
    struct filter_value *document = ARENA_ARRAY(arena, struct filter_value, f->document_count);
    for (size_t i = 0; i < FILTER_COLUMNS; i++)
        filter_column_set(f, i, arena_str(arena, filter_column_text(f, i)));
    f->pattern = arena_str(arena, f->pattern);
    f->owner = arena_str(arena, f->owner);
    f->tags = arena_str(arena, f->tags);
    for (size_t i = 0; i < f->document_count; i++)
        document[i] = (struct filter_value){arena_str(arena, f->document[i].key),
                                            arena_str(arena, f->document[i].value)};
    f->document = document;
}

static enum rc read_lines(struct str text, enum filter_of of, struct arena *arena,
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

/* Each line of a set makes the text of that set anew: the caller's arena, which may live for long,
 * gets the last one alone. */
enum rc filter_read(struct str text, enum filter_of of, struct arena *arena,
                    struct filter *ret_filter, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    TRY(read_lines(text, of, &scratch, ret_filter, err));
    keep_texts(ret_filter, arena);
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
    if (f->states != 0) /* which have their names by what the filter is of */
        return false;
    filter_print(f, FILTER_OF_JOBS, &text);
    return text.len == 0;
}
