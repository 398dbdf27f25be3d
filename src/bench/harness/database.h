/* database.h - a database of our own on somebody's PostgreSQL server, for one measurement.
 *
 * The server that is given may hold data that matters, so nothing of it is touched: a new database
 * is made on it, belfry's schema comes into that, and it is dropped in the end. What is counted
 * there is counted with SQL of its own, as ledger.h says. */
#pragma once
#include "bench/harness/ledger.h"

struct database;

/* url: postgres://…, of a role that may create databases. here: no new one, but that which the url
 * names; what it holds already is not counted, and stays. */
enum rc database_make(const char *url, bool here, struct database **ret_database, struct err *err);
/* Drops it, whoever is still connected, when it is ours. NULL is fine. */
void database_free(struct database *d);

/* The same server, the new database. */
const char *database_url(const struct database *d);
enum rc database_read(struct database *d, struct ledger *ret_ledger, struct err *err);
/* Tells the planner what is in the tables just now, as autovacuum does from time to time. */
enum rc database_analyze(struct database *d, struct err *err);
/* Opens a transaction that sees the database as it is now, until database_free: what dies meanwhile
 * stays. */
enum rc database_hold(struct database *d, struct err *err);
/* Processor time of the whole PostgreSQL server so far, in ticks of the kernel; 0 when it does not
 * run on this machine. */
int64_t database_cpu_us(const struct database *d);
