/* record_json.h - what the API shows: jobs, executions, workers, numbers and events.
 *
 * Each call writes one JSON value (an object with its braces) as docs/protocol.md has it; the
 * caller decides what stands around it. Records are trusted: their JSON parts (spec, payload,
 * result) were checked on the way in and are written as they are. */
#pragma once
#include "job/command/command.h"
#include "job/log.h"
#include "job/phase.h"
#include "job/warning.h"
#include "wire/json/json.h"

/* The jobs that a job waits for, or did, and those that wait for it. */
struct job_waits {
    const struct dependency_rec *upstreams;
    size_t upstream_count;
    const struct dependency_rec *dependants;
    size_t dependant_count;
    bool more_dependants; /* than those */
};

/* The newest execution of a job whose time has come, with all its attempts. */
struct last_run {
    const struct exec_rec *exec; /* with its result */
    const struct attempt_rec *attempts;
    size_t attempt_count;
};

/* The newest executions of a job that are over, the newest first. */
struct last_outcomes {
    const struct exec_rec *execs;
    size_t count;
};
enum { LAST_OUTCOMES_MAX = 10 };

/* How long runs of a job that recurs usually take. */
struct job_pace {
    bool known; /* one has completed lately */
    uint64_t p50_ms;
};

/* The state of a job, as its definition and its executions tell. */
struct job_view {
    enum phase phase;
    struct str schedule_text;       /* empty: its definition cannot be read */
    int64_t next_run_ms;            /* 0: none that is known */
    int64_t ping_due_ms;            /* by when a ping is expected, or was; 0: none is */
    const struct exec_rec *current; /* under way; of a job that runs once, also ahead. NULL: none */
    const struct exec_rec *last;    /* the newest whose time has come, current or over; gives the
                                     * counters. NULL: not known */
    const struct last_run
        *last_run; /* the same with all there is to it. NULL: none, or not shown */
    const struct last_outcomes *outcomes; /* NULL: not asked for */
    const struct job_pace *pace;          /* NULL: not asked for */
    const struct estimate *estimate;      /* of its start. NULL: not asked for */
    const struct job_waits *waits;        /* NULL: none, or not shown */
    const struct warning *warnings;
    size_t warning_count;
};

/* "warnings": [...], as a job and an explanation have it. */
void warnings_put(struct json_writer *w, const struct warning *warnings, size_t count);

void job_print(struct json_writer *w, const struct job_rec *job, const struct job_view *view);
/* For lists: without payload, transitions and what only executions know. It says what the job waits
 * for where view->waits is there. */
void job_print_short(struct json_writer *w, const struct job_rec *job, const struct job_view *view);

/* Here and below with the name of its job; empty: none. Events about its SLA come newest first, and
 * are printed oldest first. */
void exec_print(struct json_writer *w, const struct exec_rec *exec, struct str job_name,
                const struct attempt_rec *attempts, size_t attempt_count,
                const struct sla_event_rec *events, size_t event_count);
/* For lists: without attempts, result, transitions and events. */
void exec_print_short(struct json_writer *w, const struct exec_rec *exec, struct str job_name);

/* ---- what both have, by name: for answers that show a part of it (`?fields=`) */

enum shown_kept {
    SHOWN_NEVER,  /* of a document, and not shown */
    SHOWN_RECORD, /* told by the record itself */
    SHOWN_APART,  /* in lists as well, but something else has to be read for it */
    SHOWN_OF_ONE, /* not in lists */
    /* Only shown when they are named, since something is read for each job: */
    SHOWN_OUTCOMES, /* its newest outcomes, */
    SHOWN_PACE,     /* or the numbers of its reports. */
    SHOWN_ASKED,    /* Not in lists: the server that decides about the job is asked */
    SHOWN_WAITS,    /* Always of one job, named in lists: its dependencies are read */
};

struct shown_member {
    struct str name;
    enum shown_kept kept;
};

struct shown_members {
    const struct shown_member *all;
    size_t count;
    const char *thing; /* "job" */
};
extern const struct shown_members job_members;
extern const struct shown_members exec_members;

/* NULL: there is none of that name. */
const struct shown_member *shown_find(const struct shown_members *members, struct str name);

/* ---- the others */

/* As of at_ms (wall clock). A worker that was silent for longer than away_ms is shown as `away`. */
void worker_view_print(struct json_writer *w, const struct worker_view *view, int64_t at_ms,
                       int64_t away_ms);
/* The same with what it runs. */
void worker_view_print_whole(struct json_writer *w, const struct worker_view *view, int64_t at_ms,
                             int64_t away_ms);
/* Whether it is given work, and if not since when, by whom and why. */
void worker_cordon_print(struct json_writer *w, const struct worker_rec *worker);

void event_print(struct json_writer *w, const struct event *event);
/* The kind of the event, as a stream names it: "execution", "queue". */
struct str event_kind(const struct event *event);
/* Output as followers see it; bytes that are not UTF-8 are replaced. */
void log_chunk_print(struct json_writer *w, const struct log_chunk *chunk);
