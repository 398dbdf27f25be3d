/* tee.h - runs a command here, as if nobody stood in between, and keeps the end of its output.
 *
 * Standard input is the command's own. What it prints passes through at once and unchanged, each
 * stream to its own, and in order where both are one; the newest PING_OUTPUT_MAX bytes of both
 * together are kept. INT, TERM, HUP, QUIT, USR1 and USR2 are handed on to the command, unless the
 * terminal has sent them, which gives them to the command itself. A reader of the output that goes
 * away is felt by the command as without this: its next write fails. Of output that cannot be
 * written otherwise, as to a full disk, the command hears nothing. */
#pragma once
#include "base/arena.h"

struct tee_end {
    int exit_code;         /* as a shell has it: 127 not found, 126 not executable, 128 + signal */
    struct str output;     /* the newest of it, in the arena */
    uint64_t output_bytes; /* all of it */
};

/* argv ends with NULL. A command that cannot be run is said on standard error, and has an exit code
 * as well. */
struct tee_end tee_run(char *const *argv, struct arena *arena);
