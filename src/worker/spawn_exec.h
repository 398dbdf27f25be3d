/* spawn_exec.h - the last things a forked child does before it is the command.
 *
 * Runs in the child of the spawner, which is alone in its memory: a directory on a dead file server
 * may hang here for hours without holding up anybody else. That is why the spawner forks and does
 * not vfork; it is small, so the copy is cheap. */
#pragma once
#include "worker/spawn_wire.h"

#include <sys/types.h>

/* Becomes the command: own session and group, default signals, only descriptors 0, 1 and 2, dead
 * when the spawner dies. What fails is told through sock as a SPAWN_FAILED, and the child ends. */
_Noreturn void spawn_exec(uint64_t id, const int fds[SPAWN_FDS], int sock, pid_t spawner);
