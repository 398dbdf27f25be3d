/* cluster.h - a PostgreSQL server for one test program: a directory of its own, no TCP port, gone afterwards.
 *
 * PostgreSQL refuses to run as root, so root becomes user `postgres` for it. It does not sync: these tests
 * are about promises that hold while machines stay up. */
#pragma once

struct cluster;

/* Fails the program when PostgreSQL is not installed: a promise that is not tried is none. */
struct cluster *cluster_start(void);
void cluster_stop(struct cluster *cluster);
/* postgres://… of its database; lives as long as the cluster. */
const char *cluster_url(const struct cluster *cluster);
/* Runs SQL text; fails the program when it cannot. */
void cluster_sql(struct cluster *cluster, const char *sql);
