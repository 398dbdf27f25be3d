/* question.h - what a turn must know before it can decide, and memory does not hold.
 *
 * The engine fills in what it asks, the store the answer. Which members count follows from the
 * kind. */
#pragma once
#include "job/record/record.h"

enum question_kind {
    ASK_CLAIM =
        1,       /* take this key; the answer's holder is who has it now. Where its claim has an end
                    * that is still to come, nobody else takes or changes it during this turn */
    ASK_JOB,     /* the job, and its last_exec while that is unfinished */
    ASK_AHEAD,   /* the same, and its newest execution that is scheduled */
    ASK_EXEC,    /* the execution, finished or not, and its job as by ASK_JOB */
    ASK_ATTEMPT, /* the attempt of an execution that had this token */
    ASK_TRAIL,   /* all that happened to a job or to an execution, finished or not */
    ASK_SLOT,    /* the job as by ASK_JOB, and its execution (finished or not) that has the latest
                    * slot of its schedule at or before a moment */
    ASK_DUE,     /* waiting executions with (due_ms, id) in (after, until], earliest first, with
                    * their jobs; at most limit */
    ASK_LETTERS, /* dead letters behind a place that died until until_ms and fit, earliest first;
                    * at most limit, of at most scan_max that are looked at */
    ASK_LIVE,    /* unfinished executions with ids above after_id that an operation takes, with
                  * their jobs, smallest ids first; at most limit, of at most scan_max that
                  * are looked at */
    ASK_OPERATIONS, /* all operations there are, oldest first */
    ASK_OLD,        /* executions that have ended, with ids above after_id, created before until_ms,
                    * smallest ids first; at most limit. A store that would rather have many go at
                    * once may leave out what was created within spare_ms before that */
    ASK_CALENDAR,   /* which unfinished jobs go by a calendar: at most limit of them, growing */
    ASK_WORKER,     /* a worker, whichever server registered it */
    ASK_INBOX,     /* the mail of the owned partitions: submissions, or all the rest, with ids above
                    * after_id, oldest (by id) first; at most limit, and bytes_max of texts, but one
                    * in any case. A row of an unknown kind comes without its body */
    ASK_LEFT_MAIL, /* the same of rows with these ids, as far as they are there */
    ASK_OLD_ALERTS,  /* alerts with ids above after_id, raised before until_ms, smallest ids first;
                      * at most limit */
    ASK_ALERT,       /* one alert */
    ASK_OLD_TALLIES, /* rows of tallies of hours before the hour, by (hour, scope, key, end,
                      * bucket); at most limit */
    ASK_QUEUE,       /* the numbers of a queue in all partitions, those that are not zero */
    ASK_PACE,        /* how long completed runs of a job took: the newest rows of its tally, at
                      * most limit */
    ASK_MET,         /* which dependencies of a job are met, by upstream, and those upstreams as by
                      * ASK_JOB; without those that are deleted */
};

enum {
    LETTERS_SCAN_MAX = 2000, /* some 2 ms of a turn */
    LIVE_SCAN_MAX = 1000,    /* the same, since each comes with its job */
};

/* An execution that has ended, as far as ASK_OLD tells. */
struct old_exec {
    uint64_t id;
    int64_t finished_ms;
    bool is_letter; /* it is among the dead letters */
    bool is_named;  /* a standing rule waits for its job, of which no later slot has ended */
};

/* An alert, as far as ASK_OLD_ALERTS tells. */
struct old_alert {
    uint64_t id;
    int64_t at_ms;
    enum alert_state state;
};

struct question {
    enum question_kind kind;
    struct claim claim; /* ASK_CLAIM */
    int64_t now_ms;     /* ASK_CLAIM: a claim in the way that ended by then is none */
    uint64_t id;        /* ASK_JOB, ASK_AHEAD, ASK_EXEC, ASK_TRAIL, ASK_SLOT, ASK_WORKER, ASK_ALERT;
                         * ASK_ATTEMPT: the execution; ASK_MET: the dependant */
    uint64_t token;     /* ASK_ATTEMPT */
    int64_t after_ms;   /* ASK_DUE */
    uint64_t after_id;  /* the same, ASK_OLD, ASK_OLD_ALERTS and ASK_INBOX */
    int64_t until_ms;   /* ASK_DUE, ASK_LETTERS, ASK_OLD, ASK_OLD_ALERTS; ASK_SLOT: the moment */
    int64_t spare_ms;   /* ASK_OLD */
    int64_t hour;       /* ASK_OLD_TALLIES */
    size_t limit;
    bool submissions;     /* ASK_INBOX */
    enum inbox_from from; /* the same, with after_id 0: a round begins */
    size_t bytes_max;     /* the same; 0: INBOX_PAGE_BYTES */
    const uint64_t *ids;  /* ASK_LEFT_MAIL: growing */
    size_t id_count;
    struct letter_filter filter; /* ASK_LETTERS */
    uint64_t partitions; /* ASK_LETTERS, ASK_LIVE: bits, of those we own only these; 0: all */
    const struct operation_rec *operation; /* ASK_LIVE */
    size_t scan_max;                       /* ASK_LETTERS, ASK_LIVE; question_scan_max */
    struct letter_place place;
    struct str name; /* ASK_CALENDAR, ASK_QUEUE; ASK_PACE: the key of the tally */
    struct answer {
        uint64_t holder;            /* ASK_CLAIM: == claim.holder when it was free */
        struct str note;            /* ASK_CLAIM: of a claim that was there already */
        const struct job_rec *jobs; /* one, or none when there is no such job; ASK_DUE: many;
                                     * ASK_MET: the upstream of each dependency */
        size_t job_count;
        const struct exec_rec *newest;     /* with a job: its last_exec; NULL: that has ended */
        const struct exec_rec *exec;       /* the one asked for; NULL: there is none */
        const struct attempt_rec *attempt; /* ASK_ATTEMPT: NULL when there is none */
        const struct exec_rec *live;       /* ASK_DUE; ASK_LIVE: as many as jobs, which come again
                                            * for each */
        size_t live_count;
        struct str trail;                 /* ASK_TRAIL: empty when there is no such thing */
        bool more;                        /* a limit was reached */
        const struct letter_rec *letters; /* ASK_EXEC: one when it is a dead letter, else NULL */
        size_t letter_count;
        struct letter_place place; /* ASK_LETTERS, ASK_LIVE: the last one that was looked at */
        const struct operation_brief *operations;
        size_t operation_count;
        uint64_t after_id; /* ASK_INBOX: the last that was looked at, and 0 without `more`;
                                    * ASK_OLD: what has an id behind this one, */
        uint64_t to_id;    /* and up to this one, was looked at; 0: it needs not be told `past` */
        const struct old_exec *old;
        size_t old_count;
        const uint64_t *ids; /* ASK_CALENDAR: job ids */
        size_t id_count;
        const struct worker_rec *worker; /* ASK_WORKER: NULL when there is none */
        const struct inbox_rec *mail;    /* ASK_INBOX, ASK_LEFT_MAIL */
        size_t mail_count;
        const struct old_alert *old_alerts;
        size_t old_alert_count;
        const struct alert_rec *alert; /* ASK_ALERT: NULL when there is none */
        const struct tally *tallies;   /* without their numbers */
        size_t tally_count;
        const struct sketch *pace;      /* ASK_PACE: of the durations */
        const struct counter *counters; /* ASK_QUEUE */
        size_t counter_count;
        const struct dependency_rec *met; /* ASK_MET: as many as jobs */
    } answer;
};

/* How many things a store looks at for a question: as many as it says, if it says so, and at most
 * the constant above. */
static inline size_t question_scan_max(const struct question *q, size_t max)
{
    return q->scan_max > 0 && q->scan_max < max ? q->scan_max : max;
}
