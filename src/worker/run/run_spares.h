/* run_spares.h - directories of attempts that have ended, kept for attempts to come.
 *
 * To make and remove a directory costs a journaling file system several times what renaming it
 * twice does (ext4: 60 µs and 20 µs), and a worker does it for every command. So one that is empty
 * in the end gets a name that no command has seen, and waits. A process that a command has left
 * behind finds nothing under the old name, as if the directory were gone. Only for the loop's
 * thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { RUN_SPARES_MAX = 64 }; /* as many may end before the next one starts */

/* A zeroed struct has none. The directories go with the tmp_dir they are in. */
struct run_spares {
    unsigned numbers[RUN_SPARES_MAX]; /* in their names */
    size_t count;
    unsigned last; /* number that was given */
};

/* Makes `dir`, below tmp_dir, of one that was kept. False: there is none, or that exists. */
bool run_spares_take(struct run_spares *spares, const char *tmp_dir, const char *dir);
/* Keeps dir, which is gone then. False: it stays where it is, because there are enough, or because
 * it is not as tmpdir_make made it. */
bool run_spares_keep(struct run_spares *spares, const char *tmp_dir, const char *dir);
