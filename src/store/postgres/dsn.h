/* dsn.h - where the database is, as a URL says it.
 *
 * postgres://USER:PASSWORD@HOST1:PORT,HOST2:PORT/DATABASE?NAME=VALUE, with all that libpq knows
 * (also from PGPASSWORD, PGSERVICE and ~/.pgpass). Settings that the URL leaves open get values fit
 * for a server that must notice when the other side is gone, and must find the primary among
 * several hosts. */
#pragma once
#include "base/str.h"

#include <stdatomic.h>

struct pg_place {
    char **names;  /* owned, closed by NULL, as are the values: for PQconnectdbParams */
    char **values; /* owned */
    atomic_uint_least64_t *trips; /* borrowed: answers that were waited for; NULL: not counted */
    char *label; /* owned; "HOST1:PORT,HOST2:PORT/DATABASE" for people: no user, no password */
};

/* RC_INVALID when libpq can make nothing of it; the sentence does not repeat the URL. */
enum rc pg_place_parse(const char *url, struct pg_place *ret_place, struct err *err);
void pg_place_free(struct pg_place *place);
