/* follow.h - the output of an execution, as it happens, until it is over.
 *
 * Reads the server's event stream. When the connection breaks (a restart of the server, a reader
 * that was too slow) it connects again and goes on behind the last event it saw, so nothing is
 * printed twice and nothing is missed. */
#pragma once
#include "cli/cli.h"

enum follow_print {
    FOLLOW_TEXT,  /* stdout to stdout; stderr and the worker's notes to stderr */
    FOLLOW_JSON,  /* every line of it as an object on stdout */
    FOLLOW_QUIET, /* only wait */
};

struct follow {
    struct str execution_id;
    const char *stream; /* NULL: all */
    int64_t attempt;    /* 0: all */
    int64_t tail;       /* begin so many lines before the end; -1: at the beginning */
    enum follow_print print;
};

/* Returns when the execution is final and its last byte was printed. */
enum rc follow_output(struct cli *cli, const struct follow *follow, struct err *err);

/* Does what `--wait` promises: streams the output and makes the command's exit code that of this
 * program (128 and the number for a signal; 1 when it was cancelled, ran out of time, or has none).
 * With -o json it prints the finished execution instead. */
enum rc follow_to_exit(struct cli *cli, struct str execution_id, struct err *err);

/* POSTs to a path that makes an execution, and prints its id or, when `wait`, follows it so. */
enum rc follow_new(struct cli *cli, struct str path, struct str body, bool wait, struct err *err);
/* The body of a call that runs something again with this --payload (NULL: none). */
enum rc follow_retry_body(struct cli *cli, const char *payload, struct str *ret_body,
                          struct err *err);
