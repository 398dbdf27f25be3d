/* list.h - the subcommands that list things: one engine, a description each. */
#pragma once
#include "cli/cli.h"
#include "cli/view.h"
#include "job/job_fields.h"

/* A line of JOB_FIELDS becomes code where jobs can be listed by it; or jobs and executions. */
#define LISTS_JOBS_NO(code)
#define LISTS_JOBS_JOBS(code) code
#define LISTS_JOBS_BOTH(code) code
#define LISTS_BOTH_NO(code)
#define LISTS_BOTH_JOBS(code)
#define LISTS_BOTH_BOTH(code) code
#define LIST_MEMBER(name, kind, bounds, printed, kept, filter, ...)                                \
    LISTS_JOBS_##filter(const char *name;)

struct list_args {
    struct cli_common common;
    const char *status;
    JOB_FIELDS(LIST_MEMBER)
    const char *owner;
    const char *tag;
    const char *job;
    const char *class;
    const char *fingerprint;
    const char *from;
    const char *until;
    int64_t limit;
    bool all;
};

enum { LIST_LIMIT_DEFAULT = 50 };

/* clang-format off */
#define LIST_AT(member) offsetof(struct list_args, member)
#define LIST_OPT(name, flag, value)                                                                \
    , {flag, 0, OPT_TEXT, value, LIST_AT(name), "with this " #name}
#define LIST_JOBS_OPT(name, kind, bounds, printed, kept, filter, since, flag, value, help)         \
    LISTS_JOBS_##filter(LIST_OPT(name, flag, value))
#define LIST_BOTH_OPT(name, kind, bounds, printed, kept, filter, since, flag, value, help)         \
    LISTS_BOTH_##filter(LIST_OPT(name, flag, value))
#define LIST_STATUS_OPT {"status", 0, OPT_TEXT, "STATUS", LIST_AT(status), "with this status"}
/* The filters by status and by fields of jobs: of `belfry jobs`, and of `belfry executions`. */
#define LIST_JOBS_OPTS LIST_STATUS_OPT JOB_FIELDS(LIST_JOBS_OPT)
#define LIST_EXECUTIONS_OPTS LIST_STATUS_OPT JOB_FIELDS(LIST_BOTH_OPT)
#define LIST_LIMIT_OPTS                                                                            \
    {"limit", 0, OPT_NUMBER, "N", LIST_AT(limit), "how many, the newest first (50)"},              \
    {"all", 0, OPT_FLAG, NULL, LIST_AT(all), "all of them"}
/* clang-format on */

struct listing {
    struct opts opts;
    const char *path;    /* "/jobs" */
    const char *key;     /* "jobs" */
    bool whole;          /* as in struct api_list */
    const char *nothing; /* printed when the list is empty */
    const struct view_field *fields;
    size_t field_count;
};

/* Prints the list, as table or JSON. */
enum rc list_print(struct cli *cli, const struct listing *listing, const struct list_args *args,
                   struct err *err);
/* The whole subcommand, when listing is all it does. */
int list_main(const struct listing *listing, int argc, char **argv);
