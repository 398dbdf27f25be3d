/* run_files.h - the files of one attempt: a directory, in it the payload and what the attempt
 * before has left, and the result to come. */
#pragma once
#include "base/arena.h"
#include "job/poll.h"
#include "worker/run/run_spares.h"

#include <uv.h>

/* Paths live in the arena they were made with. */
struct run_files {
    const char *dir;
    const char *payload; /* exists also without a payload, then empty: a command can just read it */
    const char *result;  /* for the command to write */
    const char *checkpoint; /* to read and write; exists when the attempt before has left one */
};

/* Makes the directory (mode 0700) below tmp_dir, of a spare one if there is any, writes the
 * checkpoint (if it is not empty) and the payload, and opens that for reading; the descriptor is
 * the caller's. Files that were made before it failed are left to run_files_remove. */
enum rc run_files_make(const char *tmp_dir, struct run_spares *spares,
                       const struct poll_lease *lease, struct str checkpoint, struct arena *arena,
                       struct run_files *ret_files, int *ret_payload_fd, struct err *err);
/* The result that the command wrote, checked, in the arena; empty when it wrote none. The error
 * continues "the result was dropped: ". */
enum rc run_files_result(const struct run_files *files, struct arena *arena, struct str *ret_result,
                         struct err *err);
/* Removes all; files that a command left beside the result are removed in the background. */
void run_files_remove(const struct run_files *files, const char *tmp_dir, struct run_spares *spares,
                      uv_loop_t *loop);
