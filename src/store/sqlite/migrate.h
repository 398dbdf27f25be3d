/* migrate.h - brings a file to the newest version.
 *
 * Migrations are numbered, forward only, and each runs in a transaction of its own: a process that
 * dies in the middle leaves the version it started from. PRAGMA user_version is the version; every
 * migration ends by setting its own number. */
#pragma once
#include "base/embed.h"
#include "store/sqlite/db.h"

/* Runs what is missing. RC_UNSUPPORTED when the file is newer than this program. */
enum rc migrate(struct db *db, const struct embedded *migrations, struct err *err);
