/* list.h - the subcommands that list things: one engine, a description each. */
#pragma once
#include "cli/cli.h"
#include "cli/view.h"

struct list_args {
    struct cli_common common;
    const char *status;
    const char *queue;
    const char *owner;
    const char *team;
    const char *name;
    const char *tag;
    const char *job;
    const char *class;
    const char *fingerprint;
    int64_t limit;
    bool all;
};

enum { LIST_LIMIT_DEFAULT = 50 };

/* clang-format off */
#define LIST_AT(member) offsetof(struct list_args, member)
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
