/* list.h - the subcommands that list things: one engine, a description each. */
#pragma once
#include "cli/cli.h"
#include "cli/view.h"
#include "job/filter_params.h"
#include "job/job_fields.h"

/* A line of JOB_FIELDS becomes code where jobs can be listed by it; or jobs and executions. */
#define LISTS_JOBS_NO(code)
#define LISTS_JOBS_JOBS(code) code
#define LISTS_JOBS_BOTH(code) code
#define LISTS_BOTH_NO(code)
#define LISTS_BOTH_JOBS(code)
#define LISTS_BOTH_BOTH(code) code
#define LISTS_JOBS_EXECS(code)
#define LISTS_BOTH_EXECS(code) code
/* A filter that may be given several times is a list; of the fields of jobs that is the queue. */
#define LIST_TYPE_ONCE const char *
#define LIST_TYPE_OR struct opt_list
#define LIST_TYPE_AND struct opt_list
#define LIST_KIND_ONCE OPT_TEXT
#define LIST_KIND_OR OPT_LIST
#define LIST_KIND_AND OPT_LIST
#define LIST_MEMBER(name, kind, bounds, printed, kept, filter, ...)                                \
    LISTS_JOBS_##filter(struct opt_list name;)
#define LIST_PARAM(name, of, repeats, ...) LIST_TYPE_##repeats name;

struct list_args {
    struct cli_common common;
    JOB_FIELDS(LIST_MEMBER)
    FILTER_PARAMS(LIST_PARAM)
    const char *from;
    const char *until;
    const char *sort; /* of jobs */
    struct str own;   /* parameters that only one command has, encoded: "kind=slow"; or empty */
    int64_t limit;
    bool all;
};

enum { LIST_LIMIT_DEFAULT = 50 };

/* clang-format off */
#define LIST_AT(member) offsetof(struct list_args, member)
#define LIST_OPT(name, flag, value)                                                                \
    {flag, 0, OPT_LIST, value, LIST_AT(name), "with this " #name},
#define LIST_JOBS_OPT(name, kind, bounds, printed, kept, filter, since, flag, value, help)         \
    LISTS_JOBS_##filter(LIST_OPT(name, flag, value))
#define LIST_BOTH_OPT(name, kind, bounds, printed, kept, filter, since, flag, value, help)         \
    LISTS_BOTH_##filter(LIST_OPT(name, flag, value))
#define LIST_PARAM_OPT(name, repeats, flag, value, words)                                          \
    {flag, 0, LIST_KIND_##repeats, value, LIST_AT(name), words},
#define LIST_JOBS_PARAM(name, of, repeats, flag, value, words)                                     \
    LISTS_JOBS_##of(LIST_PARAM_OPT(name, repeats, flag, value, words))
#define LIST_BOTH_PARAM(name, of, repeats, flag, value, words)                                     \
    LISTS_BOTH_##of(LIST_PARAM_OPT(name, repeats, flag, value, words))
/* All filters: of `belfry jobs`, and of `belfry executions`. */
#define LIST_JOBS_OPTS JOB_FIELDS(LIST_JOBS_OPT) FILTER_PARAMS(LIST_JOBS_PARAM)
#define LIST_EXECUTIONS_OPTS JOB_FIELDS(LIST_BOTH_OPT) FILTER_PARAMS(LIST_BOTH_PARAM)
#define LIST_LIMIT_OPTS                                                                            \
    {"limit", 0, OPT_NUMBER, "N", LIST_AT(limit), "how many, the newest first (50)"},              \
    {"all", 0, OPT_FLAG, NULL, LIST_AT(all), "all of them"}
/* clang-format on */

struct listing {
    struct opts opts;
    const char *path;    /* "/jobs" */
    const char *of_job;  /* … or "/slots" of a job, which is the only word; else NULL */
    const char *key;     /* "jobs" */
    bool whole;          /* as in struct api_list */
    const char *nothing; /* printed when the list is empty */
    const struct view_field *fields;
    size_t field_count;
};

/* A parameter for each value. */
void list_add_params(struct buf *query, const char *name, const struct opt_list *values,
                     struct arena *arena);
/* Prints the list, as table or JSON. */
enum rc list_print(struct cli *cli, const struct listing *listing, const struct list_args *args,
                   struct err *err);
/* The whole subcommand, when listing is all it does. */
int list_main(const struct listing *listing, int argc, char **argv);
