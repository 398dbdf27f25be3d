/* wal_checkpoint.h - moves what the log has gathered into the database file, beside the turns.
 *
 * SQLite would do so itself, within the commit that makes its log long (a checkpoint): thousands of
 * pages are written and synced then, and every answer and every lease of that turn waits, a quarter
 * of a second on a slow disk. Here a thread does it, by a connection of its own, while turns go on.
 *
 * The log can begin anew only at a moment when all of it was moved, and a busy writer is always a
 * little ahead. So when the log has become eight times as long as it should (128 MB), the writer
 * waits for the thread and moves the rest within its commit, as SQLite would; most of it is moved
 * by then.
 *
 * A crash loses nothing at any moment: moved pages stay in the log until the log begins anew. */
#pragma once
#include "base/err.h"

#include <sqlite3.h>

struct mover;

/* From now on writer, a connection to the file at path, does not checkpoint by itself. */
enum rc mover_start(sqlite3 *writer, const char *path, struct mover **ret_mover, struct err *err);
/* Before the writer's connection is closed. NULL is fine. */
void mover_stop(struct mover *mover);
