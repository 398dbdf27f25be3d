/* opts.h - command line options, described once.
 *
 * A command describes its options in a table: name, letter, kind, where the value goes, and a line
 * of help. Parsing, error messages and the help page all come from that table. Pure: words in,
 * values out; the caller decides what to print and how to exit.
 *
 *     struct copy_args { bool force; int64_t depth; const char *into; bool help; };
 *     static const struct opt table[] = {
 *         {"force", 'f', OPT_FLAG, NULL, offsetof(struct copy_args, force), "replace what exists"},
 *         {"depth", 0, OPT_NUMBER, "N", offsetof(struct copy_args, depth), "levels to go down"},
 *         {"into", 0, OPT_TEXT, "DIR", offsetof(struct copy_args, into), "where to"},
 *         OPT_HELP(struct copy_args, help),
 *     };
 *
 * Understood are `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, and `--`, which ends the
 * options. Options and other words may be mixed. A single `-` is a word. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"

enum opt_kind {
    OPT_FLAG,   /* bool; takes no value */
    OPT_TEXT,   /* const char *, borrowed from argv */
    OPT_LIST,   /* struct opt_list; may be given many times */
    OPT_NUMBER, /* int64_t from 0 to OPT_NUMBER_MAX; narrower limits are the command's to check */
    OPT_CHOICE, /* unsigned: the index of the word in `value`, as in "table|json" */
    OPT_LATER,  /* a promised option whose feature is not there yet: refused, saying so */
};

enum { OPT_NUMBER_MAX = 1000000000 };

struct opt {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    enum opt_kind kind;
    const char *value; /* what help calls the value; NULL for a flag */
    size_t offset;     /* of the value in the struct handed to opts_parse */
    const char *help;  /* one line; NULL: left out of the help page */
};

/* clang-format off */
#define OPT_HELP(type, member)                                                                     \
    {"help", 'h', OPT_FLAG, NULL, offsetof(type, member), "print this page"}
/* clang-format on */

struct opt_list {
    const char **items; /* in the arena given to opts_parse */
    size_t count;
};

/* What is not an option, in order. */
struct opt_words {
    const char **items;
    size_t count;
    size_t dashes_at; /* how many of them stood before `--`; count when there was none */
};

/* A command as its user sees it. */
struct opts {
    const char *command; /* "submit" */
    const char *usage;   /* what follows it: "[options] -- COMMAND [ARG...]" */
    const char *about;   /* what it does: a few lines for the help page */
    const struct opt *table;
    size_t count;
};

/* Reads argv[1] and on; argv[0] is the command. *values holds the defaults before and what was
 * given after. RC_INVALID with a sentence that names the option when something is unknown or wrong,
 * or when an option that takes one value is given twice; RC_UNSUPPORTED for OPT_LATER. */
enum rc opts_parse(const struct opts *opts, int argc, char *const *argv, void *values,
                   struct opt_words *ret_words, struct arena *arena, struct err *err);

/* The help page: usage, about, and a line per option. */
void opts_help(const struct opts *opts, struct buf *out);

/* The place of word in choices ("table|json"), or -1. */
int opts_choice(const char *choices, struct str word);
