/* fault.h - what PostgreSQL complains about, as our codes and sentences.
 *
 * By SQLSTATE, never by its words, which are in the language of the server. */
#pragma once
#include "store/postgres/pg.h"

/* A result that is an error (NULL: the connection says what). `doing` names the statement or
 * step. */
enum rc pg_fault(struct pg *pg, const PGresult *result, const char *doing, struct err *err);
/* The connection broke, or was never made, or nothing came over it for too long. */
enum rc pg_fault_lost(struct pg *pg, const char *doing, struct err *err);
enum rc pg_fault_refused(struct pg *pg, struct err *err);
enum rc pg_fault_silent(struct pg *pg, struct err *err);
/* Whether an error came from a server that was going away: what was under way may have been
 * kept. */
bool pg_fault_is_loss(const PGresult *result);

/* The code that a SQLSTATE has with us. */
enum rc pg_fault_code(const char *sqlstate, const char *constraint);
