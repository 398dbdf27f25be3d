/* ground.h - what a worker stands on: its lock, its spawner, its temporary directory.
 *
 * They come before all else and go after it. The spawner is forked while the process is small and
 * has one thread, shares the lock and removes the directory, so that nothing stays behind when the
 * worker is killed (README.md). */
#pragma once
#include "worker/spawn/pidlock.h"
#include "worker/spawn/spawner.h"

struct ground {
    struct pidlock lock;     /* its descriptor is -1: none */
    char *tmp_dir;           /* owned; NULL: none */
    struct spawner *spawner; /* owned by the worker once that runs */
};

/* Takes the lock (NULL: none), starts the spawner and makes a directory below tmp_root. *g has no
 * lock and is zero otherwise. RC_CONFLICT: another worker has the lock. In every case ground_leave
 * comes after it. */
enum rc ground_lay(struct ground *g, const char *lock_path, const char *tmp_root, struct err *err);
/* Removes the directory, where the spawner was killed before it could, and gives the lock back. */
void ground_leave(struct ground *g);

/* When the worker is gone, so is everything that it started: the spawner sees to it. Waits for the
 * spawner to end; where it does not, kills it and does what it should have done. */
void ground_await_spawner(pid_t spawner);
