/* series.h - how the numbers of this server went over the last hour.
 *
 * Every ten seconds of the wall clock (in a cluster the database's, so that the samples of all
 * servers lie side by side) one sample is kept of everything, and of each of the 200 busiest
 * queues: how much waits, runs and was begun, and how long starts took. A sample says which
 * partitions it is about; one during which they changed is about none. So what a restart or a
 * takeover has cost is a gap, and not a number that is too small. In memory only, some five
 * megabytes at most: about older times the hourly numbers of reports tell. Part of the tail's
 * thread. */
#pragma once
#include "base/sketch.h"
#include "server/output/output_log.h"

enum {
    SERIES_STEP_MS = 10000,
    SERIES_SAMPLES = 360, /* an hour */
    SERIES_QUEUES = 200,
    SERIES_LAG_STEPS = 6, /* of a queue lags are kept by the minute … */
    SERIES_LAGS = 32,     /* … and in these buckets */
};

enum series_metric {
    SERIES_DEPTH,      /* what has yet to run, for whatever it waits */
    SERIES_OLDEST_AGE, /* milliseconds that the first in line has waited */
    SERIES_RUNNING,
    SERIES_SUBMITTED, /* executions that were made */
    SERIES_STARTED,
    SERIES_COMPLETED,
    SERIES_FAILED,
    SERIES_VALUES,
    SERIES_LAG_P50 = SERIES_VALUES, /* milliseconds from being ready to being given to a worker */
    SERIES_LAG_P99,
    SERIES_METRICS
};

struct str series_metric_name(enum series_metric metric);
bool series_metric_parse(struct str name, enum series_metric *ret_metric);
/* The middle of a bucket of a queue's lags. */
int64_t series_lag_ms(size_t bucket);

struct series;

/* What a request asks for. */
struct series_call {
    enum series_metric metric;
    struct str queue; /* empty: everything */
};

struct series *series_new(struct output_log *t);
void series_free(struct series *s); /* NULL is fine */
void series_event(struct series *s, const struct event *event);
/* This server decides about these partitions from now on. */
void series_moved(struct series *s, uint64_t partitions);
/* Closes a sample when it is time. */
void series_look(struct series *s);
/* Closes the one that is open, with the numbers at its end (NULL: nobody could say, and there is a
 * gap), and begins number next_step. A queue that was idle in every sample that is kept gives up
 * its place when all are taken. */
void series_close(struct series *s, const struct stats_view *numbers, int64_t next_step);
int64_t series_next_ms(const struct series *s); /* boot clock: when to look */

/* Prints what the call asks for: {"known": BOOL, "rows": [[STEP, PARTITIONS, …], …]}. Behind the
 * two are one value, or pairs of a bucket and how often. A queue without a place was idle in the
 * samples after the last in which some queue found none: it has rows of zeros there. */
void series_print(const struct series *s, const struct series_call *call, struct buf *out);
