/* tzdata.h - zones whose rules changed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct engine;
struct zone;

struct zone_news {
    const struct zone *old;
    const struct zone *newer;
};

struct zone_changes {
    struct zone_news *news; /* owned: for the next turn that can be kept */
    size_t count;
    bool resettle; /* loaded slots may have been planned by other rules of their zone */
};

/* Within a turn, before anything that is due: carries out what engine_renew_zone said, and, after a
 * start, looks at everything that was loaded. */
void zones_renew(struct engine *e);
/* That turn was committed. */
void zones_renewed(struct engine *e);
