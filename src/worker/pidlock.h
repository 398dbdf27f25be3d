/* pidlock.h - a file that only one worker holds, with its process id in it.
 *
 * The lock belongs to the open file, which the worker's spawner shares: it is free again only when
 * the last command of a dead worker is gone. So a worker that finds it held by a process that no
 * longer exists waits: what holds it then is a spawner that is cleaning up. */
#pragma once
#include "base/err.h"

/* Locks the file, making it if need be, and writes our process id into it. The descriptor is the
 * caller's; closing it gives the lock back. RC_CONFLICT when a living process holds it. */
enum rc pidlock_take(const char *path, int *ret_fd, struct err *err);
