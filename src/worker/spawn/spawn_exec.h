/* spawn_exec.h - the last things a new process does before it is the command.
 *
 * Runs in the child, and in memory that it shares with the spawner: it reads what was prepared for
 * it, makes system calls (raw_call.h), writes nothing but its own stack, and calls nothing of libc.
 * A directory on a dead file server may hang here for hours without holding up anybody else. */
#pragma once
#include "worker/spawn/spawn_wire.h"

#include <sys/types.h>

/* All that a child needs; it stays as it is until the child has executed or ended. */
struct spawn_birth {
    uint64_t id;
    int sock;
    pid_t spawner;
    int fds[3]; /* for 0, 1 and 2; none of them is one of these */
    struct spawn_plan plan;
    const char *const *files; /* the first that is there is executed; NULL ends */
};

/* The files that argv[0] may stand for, in the arena: as of execvpe, but PATH is the command's own.
 * Nothing is looked up, that is for the child. */
const char *const *spawn_files(const struct spawn_plan *plan, struct arena *arena);

/* Becomes the command: own session and group, no signal blocked, only descriptors 0, 1 and 2, dead
 * when the spawner dies. A failure is told through sock as a SPAWN_FAILED, and the child ends; so
 * this never returns. Takes a struct spawn_birth, as clone(2) wants it. */
int spawn_exec(void *arg);
