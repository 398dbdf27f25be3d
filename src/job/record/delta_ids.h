/* delta_ids.h - what a delta adds to the knowledge about ids: the newest, and how far the time in
 * one is from the time its record says (a clock that stepped, a millisecond that was borrowed).
 * Lists by time start from ids, and must know how much to widen. */
#pragma once
#include "job/record/record.h"

/* The rows of a delta that have an id of their own: T(one, many, id, at_ms), where the record has
 * the time as well, and I(one, many, id). Members are named as seen from the row. */
#define DELTA_IDS(T, I)                                                                            \
    T(job, jobs, job.id, job.created_ms)                                                           \
    T(exec, execs, exec.id, exec.created_ms)                                                       \
    T(sla_event, sla_events, id, at_ms)                                                            \
    T(alert, alerts, id, at_ms)                                                                    \
    T(rejected, rejected, id, at_ms)                                                               \
    I(worker, workers, worker.id)                                                                  \
    I(operation, operations, operation.id)                                                         \
    I(silence, silences, silence.id)

struct ids {
    uint64_t newest;
    int64_t drift_ms;
};

/* Adds an id, and one whose record has a time. */
void ids_add(struct ids *ids, uint64_t id);
void ids_add_at(struct ids *ids, uint64_t id, int64_t at_ms);

/* The ids that are known when the delta is kept, if they were `ids` before. */
struct ids delta_ids(struct ids ids, const struct delta *delta);
