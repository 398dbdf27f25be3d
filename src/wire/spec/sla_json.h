/* sla_json.h - SLAs on the wire: in a job document, in events and reports, in a wish for more
 * time. */
#pragma once
#include "job/command/command.h"
#include "wire/json/fields.h"

/* {"expected": …, "max": …, "policy": …}, as a member of a job document. */
void sla_read(const struct fields *f, const struct field_place *at, const struct json *value,
              void *into);
/* The member `sla` of a document, when there is one. */
void sla_put(struct json_writer *w, const struct sla *sla);

/* How an execution stands: the member `sla`, null when it has none. */
void sla_exec_put(struct json_writer *w, const struct exec_rec *exec);
void sla_event_print(struct json_writer *w, const struct sla_event_rec *event);
/* The event of a stream. */
void sla_stream_print(struct json_writer *w, const struct event *event);

/* A body for extend-sla. */
struct sla_wish {
    int64_t by_ms;
    struct str reason;
    struct str approver;
    uint64_t exec_id; /* 0: the one that runs */
};
enum rc sla_wish_parse(const struct json *doc, struct arena *arena, struct sla_wish *ret_wish,
                       struct field_errors *errors);
/* The answer to that. */
void sla_extended_print(struct json_writer *w, const struct command *cmd);

/* How the executions of a job that ended within a time stand to its SLA. */
struct sla_report {
    int64_t start_ms;
    int64_t end_ms;
    int64_t total; /* that had an SLA, and were neither cancelled nor skipped */
    int64_t violated;
    int64_t duration_ms; /* of all of those, added up */
    int64_t overruns;    /* attempts that took longer than they may, … */
    int64_t overrun_ms;  /* … by so much, added up */
    int64_t percents;    /* those of which is known by how many percent of their limit, … */
    int64_t percent_bp;  /* … in hundredths, added up */
    int64_t exceeded;    /* executions that took longer than expected, in whatever attempt */
    int64_t uncounted;   /* those that ended or began before that was counted: not among them */
    bool cut;            /* there was more than was looked at */
};
void sla_report_print(struct json_writer *w, uint64_t job_id, const struct sla_report *report);
