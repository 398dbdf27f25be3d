/* readings.h - numbers that the system has, or other parts of the server: read for each scrape. */
#pragma once
#include "server/call/context.h"
#include "server/metrics/metrics.h"

enum { THREAD_NAMES_MAX = 16 };

/* Processor time by the names of threads. */
struct thread_times {
    struct thread_time {
        char name[32];
        int64_t us;       /* of those that were there when it was last looked */
        int64_t ended_us; /* of others before */
    } all[THREAD_NAMES_MAX];
    size_t count;
};

/* Goes on from what there was: the time of a thread that has ended stays counted. */
void thread_times_add(struct thread_times *total, const struct thread_times *now);

/* Fills in what the table says is written by the scrape, and AXIS_THREAD. */
void readings_take(const struct server *s, struct thread_times *times, struct arena *arena,
                   struct metric_copy *copy);
