#include "job/job_fields.h"
#include "base/when.h"
#include "job/spec.h"

#include <inttypes.h>

#define ROW(name, kind_, bounds, printed_, kept_, filter_, since_, flag_, value_, help_)           \
    [JOB_FIELD_##name] = {.key = STR_INIT(#name),                                                  \
                          .kind = JOB_KIND_##kind_,                                                \
                          .printed = JOB_PRINTED_##printed_,                                       \
                          .kept = JOB_KEPT_##kept_,                                                \
                          .filter = JOB_FILTER_##filter_,                                          \
                          .since = since_,                                                         \
                          .flag = flag_,                                                           \
                          .value = value_,                                                         \
                          .help = help_,                                                           \
                          bounds},
const struct job_field job_fields[JOB_FIELD_COUNT] = {JOB_FIELDS(ROW)};

static void put_range(struct buf *out, const struct job_field *field, const char *unit)
{
    if (field->min > 0)
        buf_printf(out, "%" PRId64 " to %" PRId64 "%s", field->min, field->max, unit);
    else
        buf_printf(out, "at most %" PRId64 "%s", field->max, unit);
}

/* What a value may be: "one of skip and queue". */
static void put_values(struct buf *out, const struct job_field *field)
{
    char least[WHEN_TEXT_MAX];
    char most[WHEN_TEXT_MAX];
    switch (field->kind) {
    case JOB_KIND_TEXT:
    case JOB_KIND_LINE:
    case JOB_KIND_WORD:
        buf_add(out, field->kind == JOB_KIND_TEXT   ? STR("text, ")
                     : field->kind == JOB_KIND_LINE ? STR("one line, ")
                                                    : STR("letters, digits and `_.:-`, "));
        put_range(out, field, " bytes");
        break;
    case JOB_KIND_INT:
        buf_printf(out, "whole number, %" PRId64 " to %" PRId64, field->min, field->max);
        break;
    case JOB_KIND_SPAN:
        buf_printf(out, "duration, %s to %s", duration_format(least, field->min).ptr,
                   duration_format(most, field->max).ptr);
        break;
    case JOB_KIND_BOOL: buf_add(out, STR("true or false")); break;
    case JOB_KIND_ONE_OF:
        buf_add(out, STR("one of "));
        words_join(field->words, ", ", " and ", out);
        break;
    case JOB_KIND_RAW: buf_add(out, STR("any JSON")); break;
    case JOB_KIND_OWN:
    case JOB_KIND_OWN_MANY: buf_add(out, STR("see below")); break;
    }
}

/* A cell of a table must not have a bar in it. */
static void put_cell(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '|')
            buf_add_char(out, '\\');
        buf_add_char(out, text.ptr[i]);
    }
}

static void put_flag(struct buf *out, const struct job_field *field)
{
    if (field->flag == NULL)
        return;
    buf_printf(out, "`--%s", field->flag);
    if (field->value != NULL) {
        buf_add_char(out, ' ');
        put_cell(out, str_c(field->value));
    }
    buf_add_char(out, '`');
}

void job_fields_print(struct buf *out)
{
    static const char *const filters[] = {
        [JOB_FILTER_NO] = "", [JOB_FILTER_JOBS] = "jobs", [JOB_FILTER_BOTH] = "jobs, executions"};
    buf_add(out, STR("| field | values | flag of `submit` | filters | since | |\n"
                     "|---|---|---|---|---|---|\n"));
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        const struct job_field *field = &job_fields[i];
        buf_printf(out, "| `%.*s` | ", STR_ARG(field->key));
        put_values(out, field);
        buf_add(out, STR(" | "));
        put_flag(out, field);
        buf_printf(out, " | %s | %s | ", filters[field->filter], field->since);
        put_cell(out, str_c(field->help));
        buf_add(out, STR(" |\n"));
    }
}
