/* submit.h - what `belfry submit` is made of: options into a document, files into many. */
#pragma once
#include "cli/cli.h"
#include "job/job_fields.h"
#include "wire/json/json.h"

/* The value that the flag of a job field was given, by the field's kind. */
union submit_value {
    const char *text;     /* NULL: not given */
    int64_t number;       /* INT; -1: not given */
    bool on;              /* BOOL */
    struct opt_list list; /* OWN_MANY */
};

struct submit_args {
    struct cli_common common;
    union submit_value fields[JOB_FIELD_COUNT];
    /* Flags of fields that have several. */
    const char *at;
    const char *in;
    const char *cron;
    const char *every;
    const char *tz;
    bool seconds;
    int64_t retries; /* -1: not given */
    const char *sla_expected;
    const char *sla_max;
    const char *sla_policy;
    const char *misfire;
    const char *unique_keep;
    const char *expect_every;
    const char *expect_grace;
    /* About the submission, not the job. */
    const char *file;
    bool wait;
};

/* Before options are read: none is given. */
struct submit_args submit_nothing(void);
/* Whether a flag was given that describes a job. */
bool submit_describes(struct cli *cli, const struct submit_args *args);

/* The job document that options and words describe, in the run's arena. RC_INVALID when they make
 * no sense; most limits are the server's to know. */
enum rc submit_document(struct cli *cli, const struct submit_args *args, struct str *ret_document,
                        struct err *err);

/* Submits what stands in args->file: one document, or one per line. A refused job costs the others
 * nothing: it is reported on stderr and makes the exit code CLI_FAILED. */
enum rc submit_file(struct cli *cli, const struct submit_args *args, struct err *err);

/* POSTs one document; prints the id or, with --wait, what the command prints. */
enum rc submit_one(struct cli *cli, const struct submit_args *args, struct str document,
                   struct err *err);
