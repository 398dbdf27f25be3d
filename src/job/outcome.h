/* outcome.h - how an attempt ended, and what it used.
 *
 * Plain values that a worker reports, a record keeps and a page shows. */
#pragma once
#include "base/str.h"

/* How an attempt ended. Kept by number: append only. */
enum outcome {
    OUTCOME_NONE = 0,
    OUTCOME_SUCCEEDED,
    OUTCOME_FAILED,    /* retried while attempts remain */
    OUTCOME_PERMANENT, /* failed, and trying again cannot help */
    OUTCOME_TIMEOUT,   /* ran into the job's timeout */
    OUTCOME_STOPPED,   /* ended because the server asked */
    OUTCOME_LOST,      /* the lease ended without a report */
    OUTCOME_RETURNED,  /* given back without having run, or by a drain: costs nothing */
    OUTCOMES
};

struct str outcome_name(enum outcome outcome);
bool outcome_parse(struct str name, enum outcome *ret_outcome);

/* A worker's report about an attempt that ended. */
struct usage {
    int32_t exit_code; /* -1: none (signal, handler, never started) */
    int32_t signal;    /* 0: none */
    int64_t cpu_ms;
    int64_t peak_memory_bytes;
    int64_t output_bytes;  /* printed by the command */
    int64_t dropped_bytes; /* of those, not kept */
    uint64_t log_seq;      /* number of the last log chunk: a reader ends only after it */
};
