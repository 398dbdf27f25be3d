/* migrate.h - brings schema belfry to the newest version.
 *
 * Migrations are numbered, forward only, and run in one transaction under a lock that the whole
 * cluster shares: a process that dies in the middle leaves the version it started from, and two
 * that start together do it once. meta.version is the version. */
#pragma once
#include "store/postgres/pg.h"

/* How many migrations this program knows: the version that it works with. */
int64_t pg_migrate_newest(void);
/* Reads the version; 0 when there is no schema. */
enum rc pg_migrate_version(struct pg *pg, int64_t *ret_version, struct err *err);
/* Runs what is missing. RC_UNSUPPORTED when the schema is newer than this program, RC_DENIED when
 * the user may not. *ret_from: what was there. */
enum rc pg_migrate(const struct pg_place *place, uint32_t partitions, const char *role,
                   int64_t *ret_from, struct err *err);
