#include "late.h"
#include "coverage.h"
#include "world.h"

#include <inttypes.h>

enum { LATE_MAX_MS = 30000 };

static void arrive(struct world *w, void *what, uint64_t no)
{
    const struct late *late = what;
    struct err err;
    (void)no;
    if (!late->settled)
        return; /* its server has died, and nobody relies on it */
    enum rc rc = store_mem_arrives(late->inner, &late->sent, &err);
    PROMISE(w, rc != RC_OK, "turn %" PRIu64 " was called lost, and is kept after all",
            late->sent.turn);
    if (rc == RC_CONFLICT)
        saw(SAW_LATE_COMMIT);
}

void late_send(struct sim_store *s, const struct ownership *owned, uint64_t turn)
{
    struct world *w = s->world;
    if (!w->cluster)
        return; /* who is alone has its database in a file */
    s->late = ARENA_NEW(&w->arena, struct late);
    *s->late = (struct late){.sent = store_mem_send(s->inner, owned, turn), .inner = s->inner};
    agenda_add(w, w->boot_ms + pick_ms(w, 0, LATE_MAX_MS), arrive, s->late, 0);
}

void late_settle(struct sim_store *s, uint64_t turn, enum settled settled)
{
    if (s->late != NULL && s->late->sent.turn == turn)
        s->late->settled |= settled == SETTLED_LOST;
}
