/* failure.h - why an attempt failed: its class, what that means for the next one, and by what
 * failures are recognised as the same. Pure.
 *
 * A class is decided from facts first (how the process ended, what the system said), and from what
 * was printed last. Facts decide also whether trying again can help; words do not: a job that says
 * "permission denied" and exits with 1 is shown as a permission_error, but keeps its retries, since
 * the guess may be wrong and a wasted attempt is cheaper than a run that was given up. */
#pragma once
#include "base/words.h"

/* Kept by number: append only. */
enum failure_class {
    FAILURE_NONE = 0,      /* it did not fail, or nobody has said how */
    FAILURE_TIMEOUT,       /* ran into a time limit */
    FAILURE_OUT_OF_MEMORY, /* killed for it, or refused */
    FAILURE_PERMISSION,    /* not allowed */
    FAILURE_NETWORK,       /* a connection, a name, a peer */
    FAILURE_NOT_FOUND,     /* the program, a file, a directory is not there */
    FAILURE_DISK,          /* full, or failing */
    FAILURE_KILLED,        /* by a signal from outside */
    FAILURE_CRASHED,       /* by a signal of its own making */
    FAILURE_LOST_WORKER,   /* its worker vanished; only the server can say that */
    FAILURE_USER,          /* its input makes no sense: usage, configuration, data */
    FAILURE_UNKNOWN,       /* none of these */
    FAILURE_CLASSES
};

/* Whether trying again can help. */
enum permanence {
    PERMANENT_BY_CLASS = 0, /* as failure_is_permanent has it */
    PERMANENT_NO,           /* it may */
    PERMANENT_YES,          /* it cannot: the command has said so, and is believed */
};

struct failure {
    enum failure_class class;
    enum permanence permanent;
};

enum {
    FAILURE_TAIL_LINES_MAX = 20, /* of the error output that are kept, without a stack trace */
    FAILURE_TAIL_BYTES_MAX = 8192,
    FAILURE_LINE_BYTES_MAX = 240, /* of a normalised line */
    FAILURE_PRINT_BYTES = 12,     /* of a fingerprint, as text */
    FAILURE_PRINT_MAX = 16,       /* with its NUL */
};

/* "out_of_memory"; FAILURE_NONE is none of them, and has the name "none" all the same. */
extern const struct words failure_words;
struct str failure_name(enum failure_class class);
bool failure_parse(struct str name, enum failure_class *ret_class);

/* By default, trying again helps unless something is missing, forbidden or wrong in what the job
 * was told: permission_error, not_found and user_error are permanent, all others pass. */
bool failure_is_permanent(enum failure_class class);
/* Whether it says something about what the job calls (job/breaker.h). What cannot help to try
 * again, and what is wrong in what the job was told, does not: another job may have more luck with
 * the same target. */
bool failure_blames_target(struct failure failure);

/* ---- deciding */

enum {
    FAILURE_EXIT_RETRY = 75,     /* EX_TEMPFAIL of sysexits.h: asks for a retry */
    FAILURE_EXIT_PERMANENT = 78, /* EX_CONFIG: a retry cannot help */
};

/* How an attempt ended, as far as it is known; the rest is zero, but for the exit code. */
struct failure_facts {
    bool timed_out;
    bool oom_killed; /* the kernel killed for memory while it ran, and it died by SIGKILL */
    int spawn_errno; /* it could not be started */
    bool spawn_own;  /* … because of what it asked for (program, directory), not because of us */
    int32_t exit_code; /* -1: none */
    int32_t signal;
    struct str tail; /* what it printed last */
};

struct failure failure_classify(const struct failure_facts *facts);
/* The class that a line of text suggests; FAILURE_NONE: none. */
enum failure_class failure_guess(struct str line);

/* ---- what it printed last */

/* The part of error output that is worth keeping: the last lines, and with them the whole of a
 * stack trace that they are the end of. Within FAILURE_TAIL_BYTES_MAX. */
struct str failure_tail(struct str output);
/* The stack trace in it, whole lines; empty: there is none. */
struct str failure_trace(struct str tail);
/* The line that says what went wrong: the last one that is no frame of a stack trace. */
struct str failure_line(struct str tail);

/* ---- recognising */

/* The line without what differs from one time to the next: numbers, ids, times, quoted values. Cut
 * to FAILURE_LINE_BYTES_MAX. ret_text has that much room. */
struct str failure_normalise(struct str line, char *ret_text);
/* A number that is the same for the same kind of failure: by class, by exit code or signal, and by
 * the normalised line of the tail, or of the error when nothing was printed. 48 bits, never 0. */
uint64_t failure_fingerprint(enum failure_class class, int32_t exit_code, int32_t signal,
                             struct str tail, struct str error);
/* As people see it: 12 hexadecimal digits. ret_text has room for FAILURE_PRINT_MAX. */
struct str failure_print(uint64_t fingerprint, char *ret_text);
/* The inverse; false for all else, and for zero. */
bool fingerprint_parse(struct str text, uint64_t *ret_fingerprint);
