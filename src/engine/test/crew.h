/* crew.h - a worker that takes whatever comes: now, or with the poll that it has parked. */
#pragma once
#include "engine/test/fake.h"

struct crew {
    struct fake fake;
    struct asked *poll; /* under way, or parked; NULL: none */
    uint32_t slots;
};

struct crew crew_hire(struct world *w, uint32_t slots);
/* What its poll has brought, if it came back. */
void crew_take(struct crew *c);
/* Takes that, and sees to it that there is a poll; it needs a turn. */
void crew_poll(struct world *w, struct crew *c);
/* Ends the i-th of what it runs. Takes a turn, or two. */
void crew_end(struct world *w, struct crew *c, size_t i, enum outcome outcome);
