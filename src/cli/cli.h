/* cli.h - what every subcommand shares: arguments, the way to the server, errors, exit codes.
 *
 * A subcommand is a table of options and a function. `cli_main` reads the options, finds the server
 * and the key, calls the function, and turns what it returns into a message on stderr and an exit
 * code; the function itself only calls the API and prints answers to stdout.
 *
 *     int cancel_command(int argc, char **argv)
 *     {
 *         struct cancel_args args = {0};
 *         return cli_main(&opts, argc, argv, &args.common, cancel);
 *     }
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/opts.h"

/* Part of the interface: scripts rely on them. X(name, number, brief, words): brief is for the help
 * page, words are for the docs. */
/* clang-format off */
#define CLI_EXITS(X)                                                                               \
    X(OK,          0, "ok",                   "done")                                              \
    X(FAILED,      1, "failed",               "refused or not possible; the message says why")     \
    X(USAGE,       2, "usage",                "a wrong option or argument, or a bad document")     \
    X(NOT_FOUND,   3, "not found",            "no such job, execution or other thing")             \
    X(DENIED,      4, "denied",               "no key, an unknown one, or not allowed to")         \
    X(UNREACHABLE, 5, "server not reachable", "the server gave no answer, or not in time")
/* clang-format on */

enum {
#define CLI_EXIT(name, number, brief, words) CLI_##name = (number),
    CLI_EXITS(CLI_EXIT)
#undef CLI_EXIT
};

/* The table as Markdown. */
void cli_exits_print(struct buf *out);

/* Options of every subcommand; the first member of each one's own struct. */
struct cli_common {
    const char *url;
    const char *token_file;
    unsigned format; /* enum cli_format */
    bool help;
};

enum cli_format { CLI_TABLE, CLI_JSON, CLI_CSV };

/* clang-format off */
#define CLI_COMMON_AT(member) offsetof(struct cli_common, member)
#define CLI_PRINT_OPTS                                                                             \
    {"output", 'o', OPT_CHOICE, "table|json", CLI_COMMON_AT(format), "how to print (table)"},      \
    OPT_HELP(struct cli_common, help)
#define CLI_SERVER_OPTS                                                                            \
    {"url", 0, OPT_TEXT, "URL", CLI_COMMON_AT(url),                                                \
     "the server (BELFRY_URL, http://127.0.0.1:7420)"},                                            \
    {"token-file", 0, OPT_TEXT, "FILE", CLI_COMMON_AT(token_file),                                 \
     "the key (BELFRY_TOKEN, admin.key in the data directory)"}
#define CLI_COMMON_OPTS CLI_SERVER_OPTS, CLI_PRINT_OPTS
/* clang-format on */

/* One run of a subcommand. */
struct cli {
    struct arena arena; /* lives as long as the run; nothing is given back before */
    struct str url;
    struct str token; /* empty when there is none: the server says what it thinks of that */
    enum cli_format format;
    struct opt_words words; /* arguments that are no options */
    int exit_code;          /* when all goes well; CLI_OK unless the subcommand says otherwise */
    bool refused;           /* the server said no; a hint about options would mislead */
    struct str details;     /* lines for below the error's sentence, each ended by \n */
};

/* args is what was handed to cli_main. */
typedef enum rc cli_run(struct cli *cli, const void *args, struct err *err);

/* args holds the defaults; it is what the subcommand's own struct begins with. */
int cli_main(const struct opts *opts, int argc, char **argv, struct cli_common *args, cli_run *run);

/* For a subcommand that does something before it looks for a server, in place of cli_main: finds
 * the server and the key. cli_end frees what a run holds. */
enum rc cli_start(struct cli *cli, const struct cli_common *args, struct err *err);
void cli_end(struct cli *cli);

/* The job or execution that the only word on the command line stands for (api_target). */
struct cli_target {
    struct str id;
    bool is_execution; /* else a job */
};

/* RC_INVALID when it is an execution: what is called `action` is done to jobs. */
enum rc cli_is_job(const struct cli_target *target, const char *action, struct err *err);
/* RC_INVALID when there are words although the subcommand takes none. */
enum rc cli_no_words(const struct cli *cli, struct err *err);

/* As file_read. A missing file is RC_IO: "not found" is about what the server has. */
enum rc cli_read_file(struct cli *cli, const char *path, size_t max_bytes, struct str *ret_text,
                      struct err *err);
/* The argument of --payload: JSON, or @ and the name of a file with it. */
enum rc cli_payload(struct cli *cli, const char *arg, struct str *ret_json, struct err *err);

/* To stdout, through a buffer. */
void cli_print(struct str text);
void cli_print_line(struct str text);
void cli_flush(void);
/* RC_IO when something that was printed so far could not be written: its reader is gone, or the
 * disk is full. cli_main asks at the end; a command that prints for a long time asks in between,
 * and ends then. */
enum rc cli_written(struct err *err);
