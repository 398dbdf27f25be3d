/* err.h - how a call says that it failed, and why.
 *
 * A call that can fail returns `enum rc`, zero when all is well, and fills a `struct err` with a
 * sentence for the person reading the log. Each layer on the way up may add what only it knows
 * (`err_note`); the top layer alone logs or answers. The code decides what the program does next
 * (and which HTTP status a client sees), the sentence is for people. */
#pragma once

#include <stdarg.h>

enum rc {
    RC_OK = 0,
    RC_INVALID,     /* bad input: the caller must change it */
    RC_TOO_LARGE,   /* over a named limit */
    RC_NOT_FOUND,   /* no such thing */
    RC_CONFLICT,    /* exists already, or is in a state that forbids this */
    RC_REUSED,      /* a key that stands for something else */
    RC_PENDING,     /* the same was asked before and is being decided */
    RC_STOPPING,    /* the run in the way is being stopped: try again when it has ended */
    RC_STALE,       /* an old token, poll number or version: another caller was faster */
    RC_DENIED,      /* not allowed */
    RC_BUSY,        /* try again later: a bounded thing is full */
    RC_LIMITED,     /* the same, but waiting does not help: make room, or raise a limit */
    RC_FULL,        /* no room on the disk */
    RC_UNSUPPORTED, /* a feature that is not there */
    RC_TIMEOUT,     /* waited long enough */
    RC_UNREACHABLE, /* the other side cannot be reached */
    RC_IO,          /* the system said no */
    RC_CORRUPT,     /* stored bytes that make no sense */
    RC_DEPOSED,     /* another server owns the partition now */
    RC_UNKNOWN,     /* a commit whose outcome nobody knows yet */
    RC_SHUTDOWN,    /* going away */
};

enum { ERR_TEXT_MAX = 512 };

struct err {
    enum rc rc;
    char text[ERR_TEXT_MAX]; /* NUL-terminated, cut when too long */
};

/* Sets the code and the sentence; returns rc, so that `return err_set(...)` reads well.
 * A NULL err is allowed everywhere: the caller does not care why. */
enum rc err_set(struct err *err, enum rc rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum rc err_vset(struct err *err, enum rc rc, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Puts "format: " in front of the sentence and returns the code that is already there. */
enum rc err_note(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The code as a word for logs and problems: "not_found". */
const char *rc_name(enum rc rc);

/* Returns from the enclosing function when expr fails; the only macro that hides a branch. */
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        enum rc try_rc_ = (expr);                                                                  \
        if (try_rc_ != RC_OK)                                                                      \
            return try_rc_;                                                                        \
    } while (0)

/* Runs fn(&variable) when the variable leaves its scope, on every way out. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
