/* filter_params.h - the parameters of a filter of jobs or executions, once.
 *
 * Beside them there is one for each field of JOB_FIELDS that has a filter. The parameters that
 * lists take, the reading of a filter (job/record/filter.h) and the flags of the commands that
 * list, with their help, are made from both lists.
 *
 * P(name, of, repeats, flag, value, words)
 * - of: jobs, executions (EXECS), or BOTH.
 * - repeats: given again it is refused (ONCE), one of them has to fit (OR), or all of them (AND).
 * - flag: of the commands that list; value: what help calls it. */
#pragma once

/* clang-format off */
#define FILTER_PARAMS(P)                                                                           \
    P(status,          BOTH,  OR,   "status",          "STATUS",                                   \
      "with this status; may be repeated")                                                         \
    P(phase,           JOBS,  OR,   "phase",           "PHASE", "in this phase; may be repeated")  \
    P(owner,           BOTH,  ONCE, "owner",           "WHO",   "submitted with this key")         \
    P(tag,             BOTH,  AND,  "tag",             "K=V",                                      \
      "with this tag; may be repeated, for all of them")                                           \
    P(job,             EXECS, ONCE, "job",             "ID",    "of this job")                     \
    P(class,           EXECS, ONCE, "class",           "CLASS",                                    \
      "whose newest attempt failed in this way")                                                   \
    P(fingerprint,     EXECS, ONCE, "fingerprint",     "F",                                        \
      "whose newest attempt failed as others with this fingerprint")                               \
    P(worker,          EXECS, ONCE, "worker",          "ID",                                       \
      "that this worker runs, or ran last")                                                        \
    P(created_after,   BOTH,  ONCE, "created-after",   "TIME",  "created then or later")           \
    P(created_before,  BOTH,  ONCE, "created-before",  "TIME",  "created before that")             \
    P(started_after,   EXECS, ONCE, "started-after",   "TIME",  "started then or later")           \
    P(started_before,  EXECS, ONCE, "started-before",  "TIME",  "started before that")             \
    P(finished_after,  BOTH,  ONCE, "finished-after",  "TIME",  "finished then or later")          \
    P(finished_before, BOTH,  ONCE, "finished-before", "TIME",  "finished before that")
/* clang-format on */

#define FILTER_PARAM_ID(name, ...) FILTER_PARAM_##name,
enum filter_param_id { FILTER_PARAMS(FILTER_PARAM_ID) FILTER_PARAM_COUNT };
#undef FILTER_PARAM_ID
