#include "base/test/test.h"
#include "job/spec.h"

#include <string.h>

TEST(every_flag_belongs_to_one_field)
{
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        for (size_t k = 0; k < i; k++) {
            if (job_fields[i].flag != NULL && job_fields[k].flag != NULL)
                assert_string_not_equal(job_fields[i].flag, job_fields[k].flag);
        }
    }
}

TEST(a_flag_of_a_list_has_a_name_and_a_value)
{
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        if (job_fields[i].filter != JOB_FILTER_NO)
            assert_true(job_fields[i].flag != NULL && job_fields[i].value != NULL);
    }
}

TEST(what_restricts_executions_has_a_column)
{
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        if (job_fields[i].filter == JOB_FILTER_BOTH)
            assert_int_equal(job_fields[i].kept, JOB_KEPT_COLUMN);
    }
}

TEST(what_is_indexed_restricts_lists_of_jobs)
{
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        if (job_fields[i].kept == JOB_KEPT_INDEXED)
            assert_int_equal(job_fields[i].filter, JOB_FILTER_JOBS);
    }
}

TEST(what_restricts_lists_is_plain_and_kept_with_the_job)
{
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        if (job_fields[i].filter != JOB_FILTER_NO)
            assert_true(job_fields[i].kind < JOB_KIND_RAW && job_fields[i].kept != JOB_KEPT_APART);
    }
}

TEST(a_plain_field_has_bounds_or_words)
{
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        const struct job_field *field = &job_fields[i];
        if (field->kind == JOB_KIND_ONE_OF)
            assert_true(field->words != NULL && field->words->names[0] != NULL);
        else if (field->kind <= JOB_KIND_SPAN)
            assert_true(field->min < field->max);
    }
}

/* What the table of the docs says in the line of a field. */
static void assert_line(const char *line)
{
    CLEANUP(buf_free) struct buf out = BUF(1 << 16);
    job_fields_print(&out);
    buf_add_char(&out, '\0');
    assert_false(out.overflow);
    if (strstr(out.ptr, line) == NULL)
        fail_msg("no line %s in\n%s", line, out.ptr);
}

TEST(the_table_of_the_docs_tells_what_a_field_may_be)
{
    assert_line("\n| `queue` | letters, digits and `_.:-`, 1 to 200 bytes | `--queue Q` | "
                "jobs, executions | 0.1.0 | queue that the job waits in (default) |\n");
    assert_line("\n| `priority` | whole number, 0 to 1000 | `--priority N` |  | 0.1.0 | ");
    assert_line("\n| `overlap` | one of skip, queue, parallel and replace | ");
    assert_line("\n| `timeout` | duration, 1ms to 3660d | ");
    assert_line("\n| `description` | text, at most 4096 bytes |  |  | 0.1.0 | ");
}

TEST(a_bar_does_not_end_a_cell_of_the_table)
{
    assert_line(" | `--breaker NAME\\|none` | ");
}
