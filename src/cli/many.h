/* many.h - one action on many jobs or executions, for the commands that do it to one:
 * `belfry cancel --filter queue=mail,status=paused`, `belfry cancel JOB JOB`. */
#pragma once
#include "cli/cli.h"
#include "wire/json/json.h"

struct many_args {
    const char *filter; /* KEY=VALUE,… */
    bool all;
    bool executions; /* instead of jobs, where both can be meant */
    bool dry_run;
    bool yes;
};

/* clang-format off */
#define MANY_OPTS(at)                                                                              \
    {"filter", 0, OPT_TEXT, "KEY=VALUE,...", (at) + offsetof(struct many_args, filter),            \
     "all that fit: status, queue, name, owner, team, tag, created_after, ..."},                   \
    {"all", 0, OPT_FLAG, NULL, (at) + offsetof(struct many_args, all), "every one there is"},      \
    {"dry-run", 0, OPT_FLAG, NULL, (at) + offsetof(struct many_args, dry_run),                     \
     "with these: only say how many, and the first ten"},                                          \
    {"yes", 'y', OPT_FLAG, NULL, (at) + offsetof(struct many_args, yes), "with these: do not ask"}
/* clang-format on */

/* The user asked for many, not for one. */
bool many_is_meant(const struct cli *cli, const struct many_args *args);
/* Refuses a flag that only one of them can have. */
enum rc many_refuses(bool given, const char *flag, struct err *err);
/* Asks for it, follows the operation to its end and says what became of it. */
enum rc many_act(struct cli *cli, const char *action, bool executions, const struct many_args *args,
                 struct err *err);
/* Waits for the end of an operation, and shows how far it has come. */
enum rc many_follow(struct cli *cli, struct json *operation, struct err *err);
/* Asks the user at the terminal; *ret_go is whether the answer was yes. */
enum rc many_ask(const char *question, bool *ret_go, struct err *err);
