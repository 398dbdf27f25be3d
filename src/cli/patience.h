/* patience.h - how long to wait for a server that has gone away.
 *
 * A user who waits for the end of a job wants a restart of the server to be a pause and not an
 * error. A call that fails to reach it is repeated, after a wait that doubles each time up to a
 * limit, until it succeeds or has failed too often in a row.
 *
 *     struct patience patience = {0};
 *     do
 *         rc = ask(...);
 *     while (rc != RC_OK && patience_wait(&patience, rc)); */
#pragma once
#include "base/err.h"

#include <stdbool.h>

struct patience {
    unsigned failures; /* in a row; set it to 0 when there was some progress */
};

/* After a failure: waits, and returns true when another try makes sense. False, at once, when the
 * failure is not about reaching the server, or when patience has run out. */
bool patience_wait(struct patience *p, enum rc rc);
