/* dir.h - the directory that a store lives in, and the lock that keeps it to one server. */
#pragma once
#include "base/err.h"

/* Makes the directory (only its owner may look inside) and locks it until *ret_fd is closed.
 * RC_BUSY when another server has it. The lock goes with the process, so there is no stale one to
 * clean up; the pid in the file is for people. */
enum rc dir_lock(const char *dir, int *ret_fd, struct err *err);

/* dir/name, owned by the caller; made with mode 0600 when missing. SQLite gives its own files
 * beside it (-wal, -shm) the same mode. */
enum rc dir_file(const char *dir, const char *name, char **ret_path, struct err *err);
