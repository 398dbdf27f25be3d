/* submit.h - what `belfry submit` is made of: options into a document, files into many. */
#pragma once
#include "cli/cli.h"
#include "wire/json/json.h"

struct submit_args {
    struct cli_common common;
    const char *name;
    const char *queue;
    const char *team;
    int64_t priority; /* -1: not given */
    const char *at;
    const char *in;
    const char *cron;
    const char *every;
    const char *tz;
    bool seconds;
    const char *overlap;
    const char *misfire;
    const char *stagger;
    int64_t retries;
    const char *timeout;
    const char *sla_expected;
    const char *sla_max;
    const char *sla_policy;
    const char *concurrency; /* KEY=N */
    const char *rate;        /* KEY=N/DURATION */
    const char *breaker;     /* NAME, or none */
    struct opt_list env;
    struct opt_list tags;
    struct opt_list after; /* [TYPE:]JOB */
    const char *idempotency_key;
    const char *unique;
    const char *payload;
    const char *handler;
    const char *working_dir;
    const char *file;
    bool wait;
};

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
