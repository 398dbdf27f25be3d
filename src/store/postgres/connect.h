/* connect.h - making a connection: by the thread that wants it, or by one of its own.
 *
 * A database that is there and does not answer (stopped, out of memory, behind a cut) holds whoever
 * connects for seconds. The thread of turns has no seconds: it answers workers. A connector tries
 * on a thread of its own, one try at a time, and hands over what it made. */
#pragma once
#include "store/postgres/pg.h"

struct pg_connector;

/* Connects here and now; pg has no connection. */
enum rc pg_open(struct pg *pg, struct err *err);

struct pg_connector *pg_connector_new(const struct pg_place *place, bool replays);
/* Gives pg, which has none, the connection that was made, and RC_OK. Else why there is none:
 * *ret_pending, since a try is under way (this call may have begun it), or since one has failed and
 * the next call begins another. */
enum rc pg_connector_take(struct pg_connector *c, struct pg *pg, bool *ret_pending,
                          struct err *err);
/* Waits for the end of a try that is under way. NULL is fine. */
void pg_connector_free(struct pg_connector *c);
