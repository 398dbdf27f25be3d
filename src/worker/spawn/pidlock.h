/* pidlock.h - a file that only one worker holds, with its process id in it.
 *
 * The lock belongs to the open file, which the worker's spawner shares: it is free again only when
 * the last command of a dead worker is gone. So a worker that finds it held by a process that no
 * longer exists waits: the holder then is a spawner that is cleaning up.
 *
 * Beside it, in PATH.id, stands what the servers call the worker. With both the next one can prove
 * that it is dead, so that nobody has to wait for its leases: the lock is free, the spawner has
 * written into it that nothing was left, and this is the same machine that has not been started
 * anew since. When the spawner was killed, too, its commands may live on, and nothing is proven. */
#pragma once
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct pidlock {
    int fd; /* closing it gives the lock back */
    uint64_t
        dead; /* the worker that held it before, and is dead for sure with all it ran; 0: none */
};

/* Locks the file, making it if need be, and writes our process id into it. RC_CONFLICT when a
 * living process holds it. */
enum rc pidlock_take(const char *path, struct pidlock *ret_lock, struct err *err);
/* False when the file is gone, or another one is in its place. */
bool pidlock_is_there(const char *path, const struct pidlock *lock);
/* Says what the servers call us. A failure costs the next worker its proof, and is logged. */
void pidlock_name(const char *path, uint64_t worker_id);
/* All that the holder has started is gone. Called by its spawner. */
void pidlock_mark_clean(int fd);
