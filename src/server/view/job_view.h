/* job_view.h - what a job does and when it runs next, read from its definition and its executions.
 *
 * A job that runs once has one execution that matters, the newest. One with a schedule has one
 * ahead, perhaps some under way, and all that are over; which is which is told by their states,
 * since a job's own row is not written anew for each slot. */
#pragma once
#include "store/store.h"
#include "wire/message/record_json.h"

/* Everything in arena. A definition that cannot be read leaves its words out. */
enum rc job_view_read(struct reader *reader, const struct job_rec *job, struct arena *arena,
                      struct job_view *ret_view, struct err *err);
/* For lists: the same for many at once, without warnings, and without attempts. */
enum rc job_views_read_short(struct reader *reader, const struct job_rec *jobs, size_t count,
                             struct arena *arena, struct job_view *ret_views, struct err *err);
/* Adds to views the newest outcomes of each. */
enum rc job_outcomes_read(struct reader *reader, const struct job_rec *jobs, size_t count,
                          struct arena *arena, struct job_view *views, struct err *err);
/* Adds to views how long runs of each took within the last JOB_PACE_DAYS. */
enum { JOB_PACE_DAYS = 35 /* so that a job that runs once a month has a run in it */ };
enum rc job_paces_read(struct reader *reader, const struct job_rec *jobs, size_t count,
                       int64_t now_ms, struct arena *arena, struct job_view *views,
                       struct err *err);
/* Adds to views what each waits for. */
enum rc job_upstreams_read(struct reader *reader, const struct job_rec *jobs, size_t count,
                           struct arena *arena, struct job_view *views, struct err *err);

/* The names of the jobs of these executions; empty: it has none, or is gone. */
enum rc exec_names_read(struct reader *reader, const struct exec_rec *execs, size_t count,
                        struct arena *arena, struct str *ret_names, struct err *err);
