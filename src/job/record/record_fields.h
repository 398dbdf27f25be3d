/* record_fields.h - the fields of each record, once: see fields.h.
 *
 * Not here are numbers (tallies, counters), where a list costs as much as it saves, and records
 * that no store reads as it writes them: those have their columns in store/NAME/sql/columns.sql,
 * their readers in store/sql/row.c and their binding in each store. CONTRIBUTING.md tells what a
 * new column of a record touches. */
#pragma once
#include "base/id.h"
#include "job/record/alert.h"
#include "job/record/fields.h"
#include "job/record/inbox.h"
#include "job/record/letter.h"
#include "job/record/record.h"
#include "job/sla.h"
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
    F(T, interval_us, interval_us,   PROGRESS, F_RANGE(0, DURATION_MAX_MS * 1000))

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
    F(T, replaces,    replaces,      BIRTH,    F_U64)                                 \
    F(T, cordoned_ms, cordoned_ms,   EDIT,     F_MS)                                  \
    F(T, cordoned_by, cordoned_by,   EDIT,     F_TEXT)                                \
    F(T, cordon_reason, cordon_reason, EDIT,   F_TEXT)

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
    F(T, repeats,     repeats,       BIRTH,    F_U64)                                 \
    F(T, silenced_by, silenced_by,   BIRTH,    F_U64)                                 \
    F(T, acked_ms,    acked_ms,      EDIT,     F_MS)                                  \
    F(T, acked_by,    acked_by,      EDIT,     F_TEXT)                                \
    F(T, ack_note,    ack_note,      EDIT,     F_TEXT)                                \
    F(T, trace,       trace,         BIRTH,    F_TEXT)

#define SILENCE_FIELDS(F, T)                                                          \
    F(T, id,          id,            KEY,      F_ID)                                  \
    F(T, key,         key,           BIRTH,    F_TEXT)                                \
    F(T, until_ms,    until_ms,      BIRTH,    F_MS)                                  \
    F(T, reason,      reason,        BIRTH,    F_TEXT)                                \
    F(T, actor,       actor,         BIRTH,    F_TEXT)                                \
    F(T, created_ms,  created_ms,    BIRTH,    F_MS)

#define BREAKER_FIELDS(F, T)                                                          \
    F(T, target,      target,        KEY,      F_TEXT)                                \
    F(T, state,       state,         PROGRESS, F_ENUM(BREAKER_OPEN, BREAKER_STATES - 1)) \
    F(T, opened_ms,   opened_ms,     PROGRESS, F_MS)                                  \
    F(T, until_ms,    until_ms,      PROGRESS, F_MS)                                  \
    F(T, probe,       probe,         PROGRESS, F_U64)

#define CALENDAR_FIELDS(F, T)                                                         \
    F(T, name,        name,          KEY,      F_TEXT)                                \
    F(T, version,     version,       EDIT,     F_U32)                                 \
    F(T, policy,      policy,        EDIT,     F_ENUM(CALENDAR_SKIP, CALENDAR_POLICIES - 1))      \
    F(T, entry_count, entry_count,   EDIT,     F_U32)                                 \
    F(T, changed_ms,  changed_ms,    EDIT,     F_MS)                                  \
    F(T, changed_by,  changed_by,    EDIT,     F_TEXT)                                \
    F(T, document,    document,      EDIT,     F_TEXT)

#define SLA_EVENT_FIELDS(F, T)                                                        \
    F(T, id,          id,            KEY,      F_ID)                                  \
    F(T, at_ms,       at_ms,         BIRTH,    F_MS)                                  \
    F(T, kind,        kind,          BIRTH,    F_ENUM(SLA_EVENT_WARNING, SLA_EVENT_KINDS - 1)) \
    F(T, policy,      policy,        BIRTH,    F_ENUM(0, SLA_POLICIES - 1))           \
    F(T, exec_id,     exec_id,       BIRTH,    F_ID)                                  \
    F(T, job_id,      job_id,        BIRTH,    F_ID)                                  \
    F(T, attempt,     attempt,       BIRTH,    F_U32)                                 \
    F(T, expected_ms, expected_ms,   BIRTH,    F_MS)                                  \
    F(T, max_ms,      max_ms,        BIRTH,    F_MS)                                  \
    F(T, actual_ms,   actual_ms,     BIRTH,    F_MS)                                  \
    F(T, extended_ms, extended_ms,   BIRTH,    F_MS)                                  \
    F(T, queue,       queue,         BIRTH,    F_TEXT)                                \
    F(T, actor,       actor,         BIRTH,    F_TEXT)                                \
    F(T, reason,      reason,        BIRTH,    F_TEXT)                                \
    F(T, approver,    approver,      BIRTH,    F_TEXT)

#define LETTER_FIELDS(F, T)                                                           \
    F(T, place.died_ms, died_ms,     KEY,      F_MS)                                  \
    F(T, place.exec_id, exec_id,     KEY,      F_ID)                                  \
    F(T, job_id,      job_id,        BIRTH,    F_ID)                                  \
    F(T, state,       state,         BIRTH,    F_ENUM(EXEC_NONE + 1, EXEC_STATES - 1)) \
    F(T, queue,       queue,         BIRTH,    F_TEXT)                                \
    F(T, name,        name,          BIRTH,    F_TEXT)                                \
    F(T, owner,       owner,         BIRTH,    F_TEXT)                                \
    F(T, reason,      reason,        BIRTH,    F_ENUM(LETTER_NONE, LETTER_REASONS - 1)) \
    F(T, class,       class,         BIRTH,    F_ENUM(FAILURE_NONE, FAILURE_CLASSES - 1)) \
    F(T, fingerprint, fingerprint,   BIRTH,    F_U64)                                 \
    F(T, line,        line,          BIRTH,    F_TEXT)                                \
    F(T, error,       error,         BIRTH,    F_TEXT)                                \
    F(T, attempts,    attempts,      BIRTH,    F_U32)                                 \
    F(T, lost,        lost,          BIRTH,    F_U32)

#define OPERATION_FIELDS(F, T)                                                        \
    F(T, id,          id,            KEY,      F_ID)                                  \
    F(T, partition,   partition,     KEY,      F_U32_TO(PARTITIONS_MAX - 1))          \
    F(T, parts,       parts,         BIRTH,    F_U32_TO(PARTITIONS_MAX))              \
    F(T, kind,        kind,          BIRTH,    F_ENUM(OPERATION_RETRY, OPERATION_KINDS - 1)) \
    F(T, state,       state,         PROGRESS, F_ENUM(OPERATION_RUNNING, OPERATION_STATES - 1)) \
    F(T, filter.queue, queue,        BIRTH,    F_TEXT)                                \
    F(T, filter.name, name,          BIRTH,    F_TEXT)                                \
    F(T, filter.class, class,        BIRTH,    F_ENUM(FAILURE_NONE, FAILURE_CLASSES - 1)) \
    F(T, filter.fingerprint, fingerprint, BIRTH, F_U64)                               \
    F(T, filter.job_id, job_id,      BIRTH,    F_U64)                                 \
    F(T, filter.died_after_ms, died_after_ms, BIRTH, F_MS)                            \
    F(T, filter.died_before_ms, died_before_ms, BIRTH, F_MS)                          \
    F(T, which,       which,         BIRTH,    F_TEXT)                                \
    F(T, old.states,  states,        BIRTH,    F_U32)                                 \
    F(T, old.queues,  queues,        BIRTH,    F_TEXT)                                \
    F(T, old.tags,    tags,          BIRTH,    F_TEXT)                                \
    F(T, old.name,    job_name,      BIRTH,    F_TEXT)                                \
    F(T, old.owner,   owner,         BIRTH,    F_TEXT)                                \
    F(T, old.team,    team,          BIRTH,    F_TEXT)                                \
    F(T, old.job_id,  of_job,        BIRTH,    F_U64)                                 \
    F(T, old.created_after_ms, created_after_ms, BIRTH, F_MS)                         \
    F(T, old.created_before_ms, created_before_ms, BIRTH, F_MS)                       \
    F(T, by_ids,      by_ids,        BIRTH,    F_BOOL)                                \
    F(T, by,          actor,         BIRTH,    F_TEXT)                                \
    F(T, created_ms,  created_ms,    BIRTH,    F_MS)                                  \
    F(T, finished_ms, finished_ms,   PROGRESS, F_MS)                                  \
    F(T, counted,     counted,       BIRTH,    F_BOOL)                                \
    F(T, total,       total,         BIRTH,    F_U64)                                 \
    F(T, done,        done,          PROGRESS, F_U64)                                 \
    F(T, refused,     refused,       PROGRESS, F_U64)                                 \
    F(T, at.died_ms,  at_ms,         PROGRESS, F_MS)                                  \
    F(T, at.exec_id,  at_id,         PROGRESS, F_U64)                                 \
    F(T, refusal,     refusal,       PROGRESS, F_TEXT)                                \
    F(T, ids,         ids,           BULK,     F_TEXT)                                \
    F(T, refusals,    refusals,      TRAIL,    F_TEXT)

#define VERSION_FIELDS(F, T)                                                          \
    F(T, job_id,      job_id,        KEY,      F_ID)                                  \
    F(T, version,     version,       KEY,      F_U32)                                 \
    F(T, at_ms,       at_ms,         BIRTH,    F_MS)                                  \
    F(T, actor,       actor,         BIRTH,    F_TEXT)                                \
    F(T, spec,        spec,          BIRTH,    F_TEXT)                                \
    F(T, payload,     payload,       BIRTH,    F_TEXT)

/* Jobs as stores keep them; the fields of their documents are in job/job_fields.h. In the order of
 * PostgreSQL's type new_job, where the first step of the trail has its place. */
#define JOB_ROW_FIELDS(F, T)                                                          \
    F(T, id,          id,            IN2(KEY, TOLD), F_ID)                            \
    F(T, version,     version,       PROGRESS, F_U32_USUALLY(1))                      \
    F(T, state,       state,  END, F_ENUM_USUALLY(JOB_NONE + 1, JOB_STATES - 1, JOB_ACTIVE)) \
    F(T, name,        name,          IN2(BIRTH, NULLED), F_TEXT)                      \
    F(T, queue,       queue,         IN2(EDIT, TOLD), F_TEXT)                         \
    F(T, owner,       owner,         IN2(BIRTH, TOLD), F_TEXT)                        \
    F(T, team,        team,          EDIT,     F_TEXT)                                \
    F(T, tags,        tags,          EDIT,     F_TEXT)                                \
    F(T, priority,    priority,      IN2(PROGRESS, TOLD), F_I32_USUALLY(SPEC_PRIORITY_DEFAULT)) \
    F(T, created_ms,  created_ms,    IN2(BIRTH, TOLD), F_MS)                          \
    F(T, finished_ms, finished_ms,   END,      F_MS)                                  \
    F(T, last_exec,   last_exec,     IN2(PROGRESS, TOLD), F_U64)                      \
    F(T, changed_ms,  changed_ms,    EDIT,     F_MS)                                  \
    F(T, trail,       trail,         IN2(TRAIL, TOLD), F_TEXT)                        \
    F(T, spec,        spec,          IN2(DOCUMENT, TOLD), F_TEXT)                     \
    F(T, payload,     payload,       BULK,     F_TEXT)

/* In the order of PostgreSQL's types new_live, changed_live and finished, where the newest step has
 * the place of the trail, and of its views live_all and history_all. A lease that is charged to
 * another target than its job's is told apart (recharged), as is a payload of its own. */
#define EXEC_FIELDS(F, T)                                                             \
    F(T, id,          id,            IN3(KEY, BIRTH, TOLD), F_ID)                     \
    F(T, job_id,      job_id,        IN2(BIRTH, TOLD), F_ID)                          \
    F(T, queue,       queue,         IN3(BIRTH, MOVED, TOLD), F_TEXT)                 \
    F(T, priority, priority, IN3(BIRTH, MOVED, TOLD), F_I32_USUALLY(SPEC_PRIORITY_DEFAULT)) \
    F(T, retry_of,    retry_of,      IN2(BIRTH, NULLED_PG), F_U64)                    \
    F(T, first,       first,         BIRTH,    F_BOOL_USUALLY(true))                  \
    F(T, origin,      origin,        BIRTH,    F_ENUM_USUALLY(0, ORIGINS - 1, ORIGIN_ONCE)) \
    F(T, slot_ms,     slot_ms,       IN3(BIRTH, MOVED, TOLD), F_MS)                   \
    F(T, nominal_ms,  nominal_ms,    IN3(BIRTH, MOVED, NULLED_PG), F_MS)              \
    F(T, created_ms,  created_ms,    IN2(BIRTH, TOLD), F_MS)                          \
    F(T, trace,       trace,         IN2(BIRTH, NULLED), F_TEXT)                      \
    F(T, state,       state,         IN2(PROGRESS, TOLD), F_ENUM(EXEC_NONE + 1, EXEC_STATES - 1)) \
    F(T, due_ms,      due_ms,        IN2(PROGRESS, TOLD), F_MS)                       \
    F(T, ready_ms,    ready_ms,      IN2(PROGRESS, TOLD), F_MS)                       \
    F(T, started_ms,  started_ms,    IN2(PROGRESS, TOLD), F_MS)                       \
    F(T, attempts,    attempts,      IN3(PROGRESS, TOLD, NULLED_PG), F_U32)           \
    F(T, lost,        lost,          IN2(PROGRESS, NULLED_PG), F_U32)                 \
    F(T, returned,    returned,      IN2(PROGRESS, NULLED_PG), F_U32)                 \
    F(T, late,        late,          PROGRESS, F_BOOL)                                \
    F(T, sla_since_ms, sla_since_ms, IN2(PROGRESS, NULLED_PG), F_MS)                  \
    F(T, sla_extra_ms, sla_extra_ms, IN2(PROGRESS, NULLED_PG), F_RANGE(0, DURATION_MAX_MS)) \
    F(T, sla_marks,   sla_marks,     PROGRESS, F_U32_TO(SLA_MARKS))                   \
    F(T, token,       token,         IN2(PROGRESS, TOLD), F_U64)                      \
    F(T, worker_id,   worker_id,     IN2(PROGRESS, TOLD), F_U64)                      \
    F(T, effect_done, effect_done,   PROGRESS, F_BOOL)                                \
    F(T, error,       error,         ERROR,    F_TEXT)                                \
    F(T, trail,       trail,         IN2(TRAIL, TOLD), F_TEXT)                        \
    F(T, finished_ms, finished_ms,   IN2(END, TOLD), F_MS)                            \
    F(T, result,      result,        BULK,     F_TEXT)                                \
    F(T, slot_last_ms, slot_last_ms, IN2(END, NULLED_PG), F_MS)                       \
    F(T, slot_count,  slot_count,    IN2(END, NULLED_PG), F_U64)                      \
    F(T, own_payload, own_payload,   FOUND,    F_BOOL)                                \
    F(T, unseen,      unseen,        MARK,     F_U32)                                 \
    F(T, proven,      proven,        MARK,     F_BOOL)                                \
    F(T, charged,     charged,       ASIDE,    F_TEXT)                                \
    F(T, payload,     payload,       ASIDE,    F_TEXT)

/* What it used comes last, since an attempt that ended with its execution has that in one text
 * (row_attempt). That one is bound by hand, where NULL stands for what most have, in each store's
 * commit_exec.c. */
#define ATTEMPT_FIELDS(F, T)                                                          \
    F(T, exec_id,     exec_id,       KEY,      F_ID)                                  \
    F(T, token,       token,         KEY,      F_U64)                                 \
    F(T, number,      number,        BIRTH,    F_U32)                                 \
    F(T, worker_id,   worker_id,     BIRTH,    F_U64)                                 \
    F(T, started_ms,  started_ms,    BIRTH,    F_MS)                                  \
    F(T, ended_ms,    ended_ms,      BIRTH,    F_MS)                                  \
    F(T, outcome,     outcome,       BIRTH,    F_ENUM(OUTCOME_NONE + 1, OUTCOMES - 1)) \
    F(T, error,       error,         BIRTH,    F_TEXT)                                \
    F(T, class,       class,         BIRTH,    F_ENUM(FAILURE_NONE, FAILURE_CLASSES - 1)) \
    F(T, fingerprint, fingerprint,   BIRTH,    F_U64)                                 \
    F(T, tail,        tail,          BIRTH,    F_TEXT)                                \
    F(T, usage.exit_code, exit_code, BIRTH,    F_I32)                                 \
    F(T, usage.signal, signal,       BIRTH,    F_I32)                                 \
    F(T, usage.cpu_ms, cpu_ms,       BIRTH,    F_I64)                                 \
    F(T, usage.peak_memory_bytes, peak_memory_bytes, BIRTH, F_I64)                    \
    F(T, usage.output_bytes, output_bytes, BIRTH, F_I64)                              \
    F(T, usage.dropped_bytes, dropped_bytes, BIRTH, F_I64)                            \
    F(T, usage.log_seq, log_seq,     BIRTH,    F_U64)

#define DEPENDENCY_FIELDS(F, T)                                                       \
    F(T, upstream,    upstream,      KEY,      F_ID)                                  \
    F(T, dependant,   dependant,     KEY,      F_ID)                                  \
    F(T, type,        type,          BIRTH,    F_ENUM(DEPENDS_SUCCESS, DEPENDS_TYPES - 1)) \
    F(T, state,       state,         PROGRESS, F_ENUM(DEPENDENCY_WAITING, DEPENDENCY_STATES - 1))

#define WAITER_FIELDS(F, T)                                                           \
    F(T, upstream,    upstream,      KEY,      F_ID)                                  \
    F(T, exec_id,     exec_id,       KEY,      F_ID)                                  \
    F(T, dependant,   dependant,     BIRTH,    F_ID)                                  \
    F(T, type,        type,          BIRTH,    F_ENUM(DEPENDS_SUCCESS, DEPENDS_TYPES - 1)) \
    F(T, slot_ms,     slot_ms,       BIRTH,    F_MS)

#define PERMIT_FIELDS(F, T)                                                           \
    F(T, key,         key,           KEY,      F_TEXT)                                \
    F(T, exec_id,     exec_id,       KEY,      F_ID)                                  \
    F(T, bucket,      bucket,        BIRTH,    F_U32_TO(ID_BUCKETS - 1))              \
    F(T, granted,     granted,       PROGRESS, F_BOOL)                                \
    F(T, max,         max,           PROGRESS, F_I64)                                 \
    F(T, rank,        rank,          PROGRESS, F_I64)                                 \
    F(T, ask,         ask,           PROGRESS, F_U64)                                 \
    F(T, asked_ms,    asked_ms,      PROGRESS, F_MS)

#define REJECTED_FIELDS(F, T)                                                         \
    F(T, id,          id,            KEY,      F_ID)                                  \
    F(T, at_ms,       at_ms,         BIRTH,    F_MS)                                  \
    F(T, inbox_id,    inbox_id,      BIRTH,    F_U64)                                 \
    F(T, team,        team,          BIRTH,    F_TEXT)                                \
    F(T, actor,       actor,         BIRTH,    F_TEXT)                                \
    F(T, reason,      reason,        BIRTH,    F_TEXT)                                \
    F(T, head,        head,          BIRTH,    F_TEXT)

/* clang-format on */

extern const struct fields queue_fields;
extern const struct fields team_fields;
extern const struct fields rate_fields;
extern const struct fields worker_fields;
extern const struct fields alert_fields;
extern const struct fields silence_fields;
extern const struct fields breaker_fields;
extern const struct fields calendar_fields;
extern const struct fields sla_event_fields;
extern const struct fields letter_fields;
extern const struct fields operation_fields;
extern const struct fields version_fields;
extern const struct fields job_row_fields;
extern const struct fields exec_fields;
extern const struct fields attempt_fields;
extern const struct fields dependency_fields;
extern const struct fields waiter_fields;
extern const struct fields permit_fields;
extern const struct fields rejected_fields;

/* The fields of a document that are kept INDEXED (job/job_fields.h), in the order of that list.
 * There is no struct of them: the values are read from the job's canonical text. */
extern const struct fields job_indexed_fields;
/* The value of one of them, as the canonical text has it; empty: the job has none. */
struct str job_indexed_value(const struct job_rec *job, size_t field);
bool job_has_indexed(const struct job_rec *job);
