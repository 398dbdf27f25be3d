/* data_dir.h - one server at a time in a data directory, and who was there before.
 *
 * Keys and the worker beside the server live in the directory, so two servers with the same one
 * would end each other's worker. Its lock is held as long as the process lives. Beside the lock
 * stands the name under which a server joined its cluster from here: the next holder of the lock,
 * under the same kernel and on a file system of this machine, knows that this one is dead, and need
 * not wait for it. A copy of the directory says nothing: its lock is another file than the one that
 * was signed. */
#pragma once
#include "base/arena.h"
#include "base/err.h"

struct data_dir {
    int fd;              /* of the lock; -1: not held */
    struct str replaces; /* the start that was here before and is dead for sure; empty: not known */
    struct str boot_id;
};

/* Takes the lock; texts live in the arena. RC_BUSY: another server has it. */
enum rc data_dir_lock(const char *path, struct arena *arena, struct data_dir *ret_dir,
                      struct err *err);
/* From now on this start is the one that is here. A start that dies before that leaves its
 * predecessor's name, which is as dead as before. */
enum rc data_dir_sign(const struct data_dir *dir, struct str start, struct err *err);
void data_dir_unlock(struct data_dir *dir); /* harmless when it is not held */
