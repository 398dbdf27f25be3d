#include "store/postgres/narrow_row.h"
#include "job/record/record_fields.h"
#include "store/usage_text.h"

/* What a row does not tell is usual: "&& …" for each such field of the groups. */
#define IS_USUAL(record, member, column, group, ...)                                               \
    IS_USUAL_OF(record->member, FIELD_##group, __VA_ARGS__)
#define IS_USUAL_OF(member, in, kind, min, max, usual)                                             \
    &&(((in)&FIELD_TOLD) != 0 || ((in)&GROUPS) == 0 || FIELD_IS_USUAL(kind)(member, usual))

bool plain_job(const struct job_change *change)
{
    enum { GROUPS = FIELD_ROW | FIELD_BULK };
    const struct job_rec *job = &change->job;
    return change->kind == CHANGE_INSERT JOB_ROW_FIELDS(IS_USUAL, job) && !job_has_indexed(job);
}

/* Where nothing is unseen, nothing is proven. */
bool plain_exec(const struct exec_rec *exec)
{
    enum { GROUPS = FIELD_LIVE };
    return exec->unseen == 0 && !exec->recharged EXEC_FIELDS(IS_USUAL, exec);
}

static bool plain_last(const struct exec_rec *exec)
{
    enum { GROUPS = FIELD_END | FIELD_BULK };
    return exec->due_ms == 0 EXEC_FIELDS(IS_USUAL, exec);
}

bool plain_end(const struct exec_change *change)
{
    const struct exec_rec *exec = &change->exec;
    const struct attempt_rec *attempt = change->ends_attempt;
    char usage[USAGE_TEXT_MAX];
    return plain_exec(exec) && plain_last(exec) && change->ends_job != NULL && attempt != NULL &&
           attempt->class == FAILURE_NONE && attempt->error.len + attempt->tail.len == 0 &&
           usage_print(&attempt->usage, usage).len == 0;
}
