/* crontab.h - a crontab, read: its entries as they would run, and what cannot be had elsewhere.
 *
 * Reads what cron reads. A line is blank, a comment, a variable (NAME=value, for the entries below
 * it), or an entry: five fields or an @word, in /etc/crontab a user, then the command up to the end
 * of the line. An unescaped % ends the command; what follows it is the command's standard input, in
 * which every further % is a new line; \% is a plain one.
 *
 * All of the text is read: a line that makes no sense is refused by a remark with its number, and
 * costs the others nothing. A thing that cron did for an entry and belfry does not do (mail, a user
 * of its own) is a remark too, once for each such thing and not once per entry.
 *
 * Pure: no I/O, no clock. All texts point into the source or live in the arena. */
#pragma once
#include "base/arena.h"
#include "job/spec.h"

enum {
    CRONTAB_BYTES_MAX = 1 << 20,
    CRONTAB_ENTRIES_MAX = 10000,
    CRONTAB_VARIABLES_MAX = 100, /* in force at once: every entry carries a copy */
};

struct crontab_entry {
    size_t line;     /* the first is 1 */
    struct str name; /* unique in this crontab: "PREFIX:PROGRAM", the next one "PREFIX:PROGRAM#2" */
    struct str description; /* the comment right above it; may be empty */
    struct str cron;        /* as it was written, one blank between fields */
    struct str timezone;    /* CRON_TZ, else TZ, else the default */
    struct str user;        /* of a system crontab, else empty */
    struct str shell;       /* "/bin/sh" unless SHELL says otherwise */
    struct str command;     /* for the shell */
    struct str input;       /* for its standard input; ends with a newline unless it is empty */
    struct str home;        /* where cron would have gone first; empty when HOME was not set */
    const struct pair *env; /* with SHELL, HOME and TZ, as cron does */
    size_t env_count;
};

struct crontab_remark {
    size_t line;
    bool refused; /* the line; else something of it was not kept */
    struct str text;
};

struct crontab {
    const struct crontab_entry *entries;
    size_t entry_count;
    const struct crontab_remark *remarks; /* by line */
    size_t remark_count;
    size_t refused_count; /* of the remarks */
};

struct crontab_options {
    bool system;         /* there is a column for the user */
    struct str timezone; /* by which entries go when the crontab says nothing */
    struct str prefix;   /* of names */
};

/* RC_TOO_LARGE when the text, or the number of its entries, is over the limit. */
enum rc crontab_parse(struct str text, const struct crontab_options *options, struct arena *arena,
                      struct crontab *ret_crontab, struct err *err);
