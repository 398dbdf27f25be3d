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

/* Of executions that ran, as far as they ended within RAN_SLOW_MS of when they were made; and the
 * filter by which the drift is asked for. */
struct filter filter_of_ran(const struct ran_query *q);
struct window window_of_ran(const struct ran_query *q, int64_t drift_ms);

/* Of the unfinished ones, where those that have ended are found by how they did. */
struct window window_of_live(const struct filter *filter, const struct window *w);

/* ---- filters */

/* By which index jobs are found: of a field, in a state that few jobs have, else all. */
enum job_list { JOB_LIST_ALL, JOB_LIST_FOUND, JOB_LIST_IN_STATE, JOB_LIST_PREFIX, JOB_LISTS };
enum job_list job_list_of(const struct filter *filter);
/* Whether the field of a column of the filter has an index: the name, and what is kept INDEXED. */
bool list_has_index(size_t column);
/* JOB_LIST_FOUND: the value of such a field where jobs are found by it, which is the first that the
 * filter has; else empty. */
struct str list_found_by(const struct filter *filter, size_t column);

/* JOB_LIST_PREFIX: jobs whose names begin in one way stand together in the index by name, but in
 * the order of their names. So all of them are sorted, and it is taken only when they are at most
 * LIST_SCAN_MAX, which a store finds out first. False: the filter has no such pattern, or
 * something else that is found by an index. */
struct name_range {
    struct str from;
    struct str to; /* exclusive */
};
bool list_by_prefix(const struct filter *filter, struct arena *arena, struct name_range *ret_range);

/* The same for executions: of a job, or of ends that are seldom, one list for each; most executions
 * are completed. */
enum exec_list { EXEC_LIST_ALL, EXEC_LIST_OF_JOB, EXEC_LIST_IN_STATE, EXEC_LISTS };
enum { LIST_SELDOM_MAX = 6 };
/* The first of such ends behind another one that the filter asks for; EXEC_NONE: no more. */
enum exec_state list_next_seldom(const struct filter *filter, enum exec_state after);
/* The state that JOB_LIST_IN_STATE is about. */
enum job_state list_job_state(const struct filter *filter);
enum exec_list exec_list_of(const struct filter *filter);
/* Which of the two tables may have any. */
bool exec_list_has_live(const struct filter *filter);
bool exec_list_has_history(const struct filter *filter);

/* Parameters that the statements call :states, :queues and :tag (empty: any), and the two ends of a
 * span of time. */
int64_t list_states(const struct filter *filter, enum filter_of of);
struct str list_queues(const struct filter *filter, struct arena *arena);
struct str list_tag(const struct filter *filter, struct arena *arena);
struct filter_span list_span(struct filter_span span);

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
