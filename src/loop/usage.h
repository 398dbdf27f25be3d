/* usage.h - how every command answers `--help` and arguments that make no sense. */
#pragma once
#include "base/arena.h"
#include "base/opts.h"

enum { USAGE_EXIT = 2 }; /* the exit code for wrong arguments; scripts rely on it */

/* Prints the help page to stdout, and below it what `more` adds (NULL: nothing). Returns the exit
 * code. */
int usage_help(const struct opts *opts, void (*more)(struct buf *out));

/* Says on stderr what is wrong and where to read on. Returns USAGE_EXIT. */
int usage_refuse(const struct opts *opts, const struct err *err);

/* A copy of the arguments, for the command to read. In the originals, which everybody on this
 * machine can see (ps), passwords within URLs become stars. */
char **usage_take_args(int argc, char **argv, struct arena *arena);
