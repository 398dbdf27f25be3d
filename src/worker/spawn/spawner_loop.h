/* spawner_loop.h - the spawner process itself; see spawner.h for what it is good for.
 *
 * One thread, one poll(2), no libuv: little code, little memory, and nothing to be in a strange
 * state after a fork. Being the only one who reaps, it may name its children by process id: an id
 * is not given away before we have reaped it. */
#pragma once
#include "worker/spawn/spawn_wire.h"

/* Serves the socket until its other end closes, then kills all commands, removes tmp_dir and exits.
 * Of the descriptors it was forked with it keeps sock, keep_fd (-1: none; a lock that is told when
 * nothing is left, see pidlock.h) and standard error. All signals must be blocked, and stay so. */
_Noreturn void spawner_loop(int sock, int keep_fd, const char *tmp_dir,
                            const struct spawn_deadlines *deadlines);
