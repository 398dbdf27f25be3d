/* list.h - pages of jobs and executions, newest first: the part that all SQL stores have in common.
 *
 * A list looks at a window of at most scan_max rows, [id_min, id_end). One statement gives the rows
 * of it that fit, up to one more than the page shows. A second one, asked in the same snapshot and
 * only when the page did not fill, gives the last id of a window that was full: there the next page
 * goes on. A store binds and reads; which statement it is, how far it looks and how several tables
 * become one page is said here. */
#pragma once
#include "store/store.h"

/* ---- windows */

struct window {
    uint64_t id_min;
    uint64_t id_end;
    int64_t scan_max;
};

/* Whether the window depends on how far the time of an id may be from created_ms (the drift, which
 * is the largest that the store ever saw). */
bool window_needs_drift(const struct filter *filter);
/* A moment becomes an id, widened by the drift; the statements compare created_ms exactly. */
struct window window_of_jobs(const struct filter *filter, const struct page *page,
                             int64_t drift_ms);
struct window window_of_execs(const struct filter *filter, const struct page *page,
                              int64_t drift_ms);

/* ---- filters */

/* By which index jobs are found: of a field, in a state that few jobs have, else all. */
enum job_list { JOB_LIST_ALL, JOB_LIST_FOUND, JOB_LIST_IN_STATE, JOB_LISTS };
enum job_list job_list_of(const struct filter *filter);
/* Whether the field of a column of the filter has an index: the name, and what is kept INDEXED. */
bool list_has_index(size_t column);
/* JOB_LIST_FOUND: the value of such a field where jobs are found by it, which is the first that the
 * filter has; else empty. */
struct str list_found_by(const struct filter *filter, size_t column);

/* The same for executions: of a job, or of an end that is seldom; most executions are completed. */
enum exec_list { EXEC_LIST_ALL, EXEC_LIST_OF_JOB, EXEC_LIST_IN_STATE, EXEC_LISTS };
enum exec_list exec_list_of(const struct filter *filter);
/* Which of the two tables may have any. */
bool exec_list_has_live(const struct filter *filter);
bool exec_list_has_history(const struct filter *filter);

/* Parameters that the statements call :state_too, :tag (empty: any) and :created_before_ms. */
enum exec_state list_state_too(const struct filter *filter);
struct str list_tag(const struct filter *filter, struct arena *arena);
int64_t list_created_before_ms(const struct filter *filter);

/* ---- several tables, one page */

/* The rows of one table that fit, newest first, complete down to and including the id `floor`. */
struct stretch {
    struct exec_rec *execs;
    size_t count;
    uint64_t floor; /* 0: to the very end */
    size_t at;      /* of the merge */
};

/* Rows below the floor of any table wait for the next page, since the other rows of that depth are
 * not known yet. */
struct exec_page stretch_merge(struct stretch *all, size_t len, size_t limit, struct arena *arena);
