/* spawn_cradle.h - where commands are born.
 *
 * A fork copies the page tables of the spawner, only for exec to throw the copy away: a fifth of
 * what a short command costs. So a child is cloned that shares the spawner's memory until it
 * executes, as with vfork; but unlike there the spawner does not stand still meanwhile, and a child
 * that hangs (a working directory or a program on a dead file server) holds up nobody. The memory
 * that such a child reads, and the stack it runs on, is its cradle. The kernel itself says when a
 * cradle is free: it clears a word in it when the child leaves the shared memory, by exec or by
 * death. Cradles are reused, so there are as many as were ever needed at once. */
#pragma once
#include "worker/spawn/spawn_exec.h"

struct cradle;

/* The cradles of a spawner; a zeroed struct has none. They live as long as the process. */
struct cradles {
    struct cradle *first; /* owned */
};

/* Starts the command of a plan. Returns 0, or an errno and the step that failed; nothing was
 * started then. The descriptors stay the caller's, and may be closed at once. */
int cradles_start(struct cradles *cradles, uint64_t id, const int fds[SPAWN_FDS], int sock,
                  pid_t spawner, pid_t *ret_pid, enum spawn_step *ret_step);
