/* record_fields.h - the fields of each record, once: see fields.h.
 *
 * Records that are not here yet (jobs, executions, attempts) have their columns in
 * store/NAME/sql/columns.sql, their readers in store/sql/row.c and their binding in each store. */
#pragma once
#include "job/record/alert.h"
#include "job/record/fields.h"
#include "job/record/record.h"
#include "job/spec.h"

/* clang-format off */

/*     member         column         group     kind */
#define QUEUE_FIELDS(F, T)                                                            \
    F(T, name,        name,          KEY,      F_TEXT)                                \
    F(T, concurrency, concurrency,   EDIT,     F_U32)                                 \
    F(T, paused,      paused,        EDIT,     F_BOOL)                                \
    F(T, paused_ms,   paused_ms,     EDIT,     F_MS)                                  \
    F(T, paused_by,   paused_by,     EDIT,     F_TEXT)                                \
    F(T, changed_ms,  changed_ms,    EDIT,     F_MS)                                  \
    F(T, changed_by,  changed_by,    EDIT,     F_TEXT)

#define TEAM_FIELDS(F, T)                                                             \
    F(T, name,        name,          KEY,      F_TEXT)                                \
    F(T, concurrency, concurrency,   EDIT,     F_U32)                                 \
    F(T, changed_ms,  changed_ms,    EDIT,     F_MS)                                  \
    F(T, changed_by,  changed_by,    EDIT,     F_TEXT)

#define RATE_FIELDS(F, T)                                                             \
    F(T, key,         key,           KEY,      F_TEXT)                                \
    F(T, next_us,     next_us,       PROGRESS, F_RANGE(0, WHEN_MAX_MS * 1000))        \
    F(T, interval_us, interval_us,   PROGRESS, F_RANGE(0, SPEC_DURATION_MAX_MS * 1000))

#define WORKER_FIELDS(F, T)                                                           \
    F(T, id,          id,            KEY,      F_ID)                                  \
    F(T, name,        name,          BIRTH,    F_TEXT)                                \
    F(T, queues,      queues,        BIRTH,    F_TEXT)                                \
    F(T, handlers,    handlers,      BIRTH,    F_TEXT)                                \
    F(T, runs_commands, runs_commands, BIRTH,  F_BOOL)                                \
    F(T, draining,    draining,      PROGRESS, F_BOOL)                                \
    F(T, slots,       slots,         BIRTH,    F_U32)                                 \
    F(T, registered_ms, registered_ms, BIRTH,  F_MS)                                  \
    F(T, boot_id,     boot_id,       BIRTH,    F_TEXT)                                \
    F(T, replaces,    replaces,      BIRTH,    F_U64)

#define ALERT_FIELDS(F, T)                                                            \
    F(T, id,          id,            KEY,      F_ID)                                  \
    F(T, at_ms,       at_ms,         BIRTH,    F_MS)                                  \
    F(T, kind,        kind,          BIRTH,    F_ENUM(ALERT_NONE + 1, ALERT_KINDS - 1)) \
    F(T, level,       level,         BIRTH,    F_ENUM(ALERT_WARNING, ALERT_CRITICAL)) \
    F(T, state,       state,         PROGRESS, F_ENUM(ALERT_KEPT, ALERT_STATES - 1))  \
    F(T, key,         key,           BIRTH,    F_TEXT)                                \
    F(T, text,        text,          BIRTH,    F_TEXT)                                \
    F(T, queue,       queue,         BIRTH,    F_TEXT)                                \
    F(T, job_id,      job_id,        BIRTH,    F_U64)                                 \
    F(T, exec_id,     exec_id,       BIRTH,    F_U64)                                 \
    F(T, repeats,     repeats,       BIRTH,    F_U64)

/* clang-format on */

extern const struct fields queue_fields;
extern const struct fields team_fields;
extern const struct fields rate_fields;
extern const struct fields worker_fields;
extern const struct fields alert_fields;
