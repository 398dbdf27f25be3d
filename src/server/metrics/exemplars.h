/* exemplars.h - of each bucket of a queue's histograms, the newest execution in it whose trace is
 * sampled: OpenMetrics shows it behind the bucket, so that a page of numbers leads to a trace.
 *
 * One thread notes them and any thread copies, without a lock: each has a number that is odd while
 * it is written, and a copy that met a writer is left out. A row has room for them from the first
 * one on; where no traces are sampled there is none. */
#pragma once
#include "job/trace/trace.h"
#include "server/metrics/metric_table.h"

#include <stdatomic.h>

enum exemplar_of { EXEMPLAR_DURATION, EXEMPLAR_LAG, EXEMPLAR_WAIT, EXEMPLAR_HISTOGRAMS };

struct exemplar {
    struct trace_id trace;
    int64_t value; /* in the unit of the histogram's scale */
    int64_t at_ms; /* 0: there is none */
};

struct exemplars; /* of one row */
typedef _Atomic(struct exemplars *) exemplars_place;

/* From the thread that counts. */
void exemplar_note(exemplars_place *place, enum exemplar_of which, size_t bucket,
                   const struct exemplar *exemplar);
/* From any thread that sees to it that the row stays: METRIC_BUCKETS for each histogram, in the
 * arena; NULL: there are none. */
const struct exemplar *exemplars_copy(exemplars_place *place, struct arena *arena);
void exemplars_free(exemplars_place *place);
/* Which of them are those of this metric; EXEMPLAR_HISTOGRAMS: it has none. */
enum exemplar_of exemplar_of_metric(const struct metric *m);
