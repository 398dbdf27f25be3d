/* sorted.h - jobs in another order than the newest first: what stores and readers say. */
#pragma once
#include "job/record/record.h"

/* Other orders of jobs. By name: those that have one, bytes compared, of the same name the oldest
 * first. By the next run: the one that is due first, first. */
enum job_sort { SORT_NEWEST, SORT_NAME, SORT_NEXT_RUN, JOB_SORTS };

/* Where a job stands in one. A page goes on behind such a place; all zero is before the first. */
struct sort_place {
    struct str name; /* SORT_NAME; empty with an id: among those without a name, newest first */
    int64_t due_ms;  /* SORT_NEXT_RUN */
    uint64_t id;     /* of the job; SORT_NEXT_RUN: of the execution that is ahead */
};

struct sorted_job {
    struct job_rec job;   /* spec, no payload, no trail */
    struct exec_rec exec; /* SORT_NEXT_RUN: the one that waits for its moment; no trail */
    struct sort_place place;
};

struct sorted_page {
    struct sorted_job *jobs;
    size_t count;
    bool more;              /* there may be, behind … */
    struct sort_place last; /* … the last place that was looked at */
};
