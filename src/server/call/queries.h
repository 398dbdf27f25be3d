/* queries.h - the threads that read: each has a connection of its own and sees committed turns. */
#pragma once
#include "server/call/request.h"

enum rc queries_start(struct server *server, struct queries **ret_queries, struct err *err);
/* From any thread: r->look runs on one of the threads, then r comes home. RC_BUSY, RC_SHUTDOWN. */
enum rc queries_send(struct queries *q, struct request *r);
/* The server will end: a database that hangs is waited for three seconds more, and requests that
 * ask it then are answered that it is busy. */
void queries_hurry(struct queries *q);
/* Serves what waits, takes nothing new, and ends the threads. */
void queries_stop(struct queries *q);
/* After stop, when nobody can send any more. */
void queries_free(struct queries *q);
