#include "job/record/record_fields.h"
#include "job/job_fields.h"
#include "job/spec_scan.h"

#include <assert.h>
#include <stddef.h>

/* The bytes that a kind reads and writes. */
#define KIND_BYTES(kind)                                                                           \
    ((kind) == FIELD_TEXT                                                 ? sizeof(struct str)     \
     : (kind) == FIELD_BOOL                                               ? sizeof(bool)           \
     : (kind) == FIELD_U32 || (kind) == FIELD_I32 || (kind) == FIELD_ENUM ? sizeof(uint32_t)       \
                                                                          : sizeof(uint64_t))

#define CHECK(type, member, column, group, kind, min, max, usual)                                  \
    static_assert(KIND_BYTES(kind) == sizeof(((struct type *)0)->member),                          \
                  #type "." #member " is not of kind " #kind);
#define CHECK_FIELD(type, member, column, group, ...)                                              \
    CHECK(type, member, column, group, __VA_ARGS__)
#define FIELD_ROW(type, member, column, group, ...)                                                \
    {#column, offsetof(struct type, member), FIELD_##group, __VA_ARGS__},

#define RECORD(name, type, LIST)                                                                   \
    LIST(CHECK_FIELD, type)                                                                        \
    static const struct field name##_items[] = {LIST(FIELD_ROW, type)};                            \
    const struct fields name##_fields = {sizeof(struct type), name##_items, COUNT_OF(name##_items)};

RECORD(queue, queue_rec, QUEUE_FIELDS)
RECORD(team, team_rec, TEAM_FIELDS)
RECORD(rate, rate_rec, RATE_FIELDS)
RECORD(worker, worker_rec, WORKER_FIELDS)
RECORD(alert, alert_rec, ALERT_FIELDS)
RECORD(silence, silence_rec, SILENCE_FIELDS)
RECORD(breaker, breaker_rec, BREAKER_FIELDS)
RECORD(calendar, calendar_rec, CALENDAR_FIELDS)
RECORD(sla_event, sla_event_rec, SLA_EVENT_FIELDS)
RECORD(letter, letter_rec, LETTER_FIELDS)
RECORD(operation, operation_rec, OPERATION_FIELDS)
RECORD(version, version_rec, VERSION_FIELDS)
RECORD(job_row, job_rec, JOB_ROW_FIELDS)
RECORD(exec, exec_rec, EXEC_FIELDS)
RECORD(attempt, attempt_rec, ATTEMPT_FIELDS)
RECORD(dependency, dependency_rec, DEPENDENCY_FIELDS)
RECORD(waiter, waiter_rec, WAITER_FIELDS)
RECORD(permit, permit_rec, PERMIT_FIELDS)
RECORD(rejected, rejected_rec, REJECTED_FIELDS)

/* ---- fields of documents that have a column for filters */

#define INDEXED_KEPT_COLUMN(row)
#define INDEXED_KEPT_INDEXED(row) row
#define INDEXED_KEPT_DOCUMENT(row)
#define INDEXED_KEPT_APART(row)
#define INDEXED_FIELD(name) {.column = #name, .groups = FIELD_EDIT, .kind = FIELD_TEXT},
#define INDEXED_ROW(name, kind, bounds, printed, kept, ...) INDEXED_KEPT_##kept(INDEXED_FIELD(name))

/* With a row behind the last one, since an array cannot be empty. */
static const struct field indexed_items[] = {JOB_FIELDS(INDEXED_ROW){0}};
const struct fields job_indexed_fields = {.items = indexed_items,
                                          .len = COUNT_OF(indexed_items) - 1};

struct str job_indexed_value(const struct job_rec *job, size_t field)
{
    assert(field < job_indexed_fields.len);
    return spec_scan(job->spec, str_c(job_indexed_fields.items[field].column));
}

bool job_has_indexed(const struct job_rec *job)
{
    for (size_t i = 0; i < job_indexed_fields.len; i++) {
        if (job_indexed_value(job, i).len > 0)
            return true;
    }
    return false;
}
