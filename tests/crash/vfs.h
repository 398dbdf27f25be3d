/* vfs.h - SQLite's files on a disk that forgets.
 *
 * Registered as SQLite's default, so the store under test is opened the very way a server opens it,
 * and nothing in the program knows about tests. Locks and the shared memory of the write-ahead log
 * are kept for the connections of one process. As SQLite's own files on Unix do, a new log or
 * journal syncs its directory with its first sync, and deleting does when SQLite asks for it. */
#pragma once
#include "disk.h"

/* One at a time. `seed` decides what SQLite gets when it asks for randomness. */
void vfs_mount(struct disk *disk, uint64_t seed);
void vfs_unmount(void);
