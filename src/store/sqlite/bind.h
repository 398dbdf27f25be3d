/* bind.h - a record's fields bound in straight-line code, for the rows that most turns write.
 *
 * It binds as stmt_record does: static ALWAYS_INLINE void bind_job(stmt, job, step, groups)
 * { JOB_ROW_FIELDS(BIND, job) }. With groups that are constants nothing is left of the list but
 * the calls; in the place of the trail goes its newest step. */
#pragma once
#include "job/record/record_fields.h"
#include "store/sqlite/db.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

#define BIND(record, member, column, group, ...) BIND_OF(record->member, FIELD_##group, __VA_ARGS__)
#define BIND_OF(member, in, kind, min, max, usual)                                                 \
    if (((in)&groups) == 0)                                                                        \
        ;                                                                                          \
    else if (((in)&FIELD_NULLED) != 0 && FIELD_IS_USUAL(kind)(member, usual))                      \
        stmt_null(stmt);                                                                           \
    else                                                                                           \
        BIND_##kind(member, in);
#define BIND_FIELD_U64(member, in) stmt_u64(stmt, member)
#define BIND_FIELD_I64(member, in) stmt_i64(stmt, member)
#define BIND_FIELD_U32(member, in) stmt_i64(stmt, member)
#define BIND_FIELD_I32(member, in) stmt_i64(stmt, member)
#define BIND_FIELD_ENUM(member, in) stmt_i64(stmt, member)
#define BIND_FIELD_BOOL(member, in) stmt_i64(stmt, member)
#define BIND_FIELD_TEXT(member, in) stmt_text(stmt, ((in)&FIELD_TRAIL) != 0 ? step : member)
