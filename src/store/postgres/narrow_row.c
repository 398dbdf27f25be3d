#include "store/postgres/narrow_row.h"
#include "job/record/record_fields.h"
#include "store/usage_text.h"

/* What a row does not tell is usual: "&& …" for each such field. */
#define IS_USUAL(record, member, column, group, ...)                                               \
    IS_USUAL_OF(record->member, FIELD_##group, __VA_ARGS__)
#define IS_USUAL_OF(value, groups, kind, min, max, usual)                                          \
    &&(((groups)&FIELD_TOLD) != 0 || IS_##kind(value, usual))
#define IS_FIELD_U64(value, usual) (value) == (usual)
#define IS_FIELD_I64 IS_FIELD_U64
#define IS_FIELD_U32 IS_FIELD_U64
#define IS_FIELD_I32 IS_FIELD_U64
#define IS_FIELD_ENUM IS_FIELD_U64
#define IS_FIELD_BOOL IS_FIELD_U64
#define IS_FIELD_TEXT(value, usual) (value).len == 0

bool plain_job(const struct job_change *change)
{
    const struct job_rec *job = &change->job;
    return change->kind == CHANGE_INSERT JOB_ROW_FIELDS(IS_USUAL, job) && !job_has_indexed(job);
}

bool plain_exec(const struct exec_rec *exec)
{
    return exec->first && exec->origin == ORIGIN_ONCE && exec->retry_of == 0 &&
           exec->nominal_ms == 0 && exec->lost == 0 && exec->returned == 0 && exec->unseen == 0 &&
           !exec->late && exec->sla_since_ms == 0 && exec->sla_extra_ms == 0 &&
           exec->sla_marks == 0 && !exec->effect_done && !exec->recharged && exec->error.len == 0;
}

bool plain_end(const struct exec_change *change)
{
    const struct exec_rec *exec = &change->exec;
    const struct attempt_rec *attempt = change->ends_attempt;
    char usage[USAGE_TEXT_MAX];
    return plain_exec(exec) && exec->due_ms == 0 && exec->result.len == 0 &&
           exec->slot_last_ms == 0 && exec->slot_count == 0 && change->ends_job != NULL &&
           attempt != NULL && attempt->class == FAILURE_NONE &&
           attempt->error.len + attempt->tail.len == 0 &&
           usage_print(&attempt->usage, usage).len == 0;
}
