/* outage.h - what a server knows about a store that takes nothing.
 *
 * A full disk, a locked or failing database, files that were moved away: all of them pass, or wait
 * for a person. Meanwhile commands that must be kept are refused with the reason, running leases
 * are renewed in memory for a grace, and the store is tried again and again. It counts as well only
 * when it has taken a real commit. One line in the log says that it began and one that it is over,
 * however many turns fail in between. Belongs to the turn thread; the clock is a parameter. */
#pragma once
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    OUTAGE_TRY_US = 200000,   /* between two tries */
    OUTAGE_SAY_US = 60000000, /* between two lines about a store that comes and goes */
};

struct outage {
    bool on;
    bool said; /* its beginning is in the log, so its end will be */
    struct err why;
    int64_t since_us;
    int64_t next_try_us;
    int64_t next_say_us;
};

/* A try has failed: an outage begins, or goes on. */
void outage_note(struct outage *o, const struct err *why, int64_t now_us);
/* The store has taken a commit. Harmless without an outage. */
void outage_end(struct outage *o, int64_t now_us);

/* Time for another try. Always, without an outage. */
bool outage_may_try(const struct outage *o, int64_t now_us);
/* True while leases are renewed all the same. */
bool outage_has_grace(const struct outage *o, int64_t grace_ms, int64_t now_us);
