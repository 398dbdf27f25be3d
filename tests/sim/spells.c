#include "spells.h"
#include "base/plant.h"
#include "coverage.h"
#include "keeper.h"
#include "store/store_mem.h"
#include "world.h"

#include <inttypes.h>

enum { LOOK_MS = 100 };

bool sim_server_is_adrift(const struct sim_server *s)
{
    return cuts_part_server(s->world, END_DATABASE, s);
}

bool sim_server_defer(struct sim_server *s, agenda_act *act, uint64_t no)
{
    if (s->world->boot_ms >= s->frozen_until_ms && !s->in_turn)
        return false;
    int64_t at_ms = s->frozen_until_ms;
    agenda_add(s->world, at_ms > s->world->boot_ms ? at_ms : s->world->boot_ms + 1, act, s, no);
    return true;
}

/* Some are over before anybody notices, some outlast every grace. */
static int64_t draw_spell_ms(struct world *w)
{
    const struct scene *s = &w->scene;
    if (pick(w, 4) > 0)
        return pick_ms(w, 1, 3 * s->node_lease_ms);
    return pick_ms(w, 1, s->grace_ms + s->engine.lease_ms);
}

static void cut_off(struct sim_server *s)
{
    struct world *w = s->world;
    int64_t for_ms = draw_spell_ms(w);
    for (int i = 0; i < ENDS; i++) {
        if (i != END_DATABASE && i != end_of_server(w, s))
            cuts_make(w, i, end_of_server(w, s), for_ms);
    }
}

void spells_suffer(struct sim_server *s)
{
    struct world *w = s->world;
    if (fault_strikes(w, FAULT_FREEZE))
        s->frozen_until_ms = w->boot_ms + pick_ms(w, 1, 3 * w->scene.node_lease_ms);
    if (fault_strikes(w, FAULT_ADRIFT))
        cuts_make(w, end_of_server(w, s), END_DATABASE, draw_spell_ms(w));
    if (fault_strikes(w, FAULT_CUT_OFF))
        cut_off(s);
    if (fault_strikes(w, FAULT_SERVER_CRASH) && !s->in_turn)
        sim_server_crash(s);
}

void spells_strike(struct world *w)
{
    struct sim_worker *k = &w->workers[pick(w, w->scene.workers)];
    struct sim_server *s = &w->servers[pick(w, w->server_count)];
    if (fault_strikes(w, FAULT_CUT_WORKER))
        cuts_make(w, end_of_worker(w, k), end_of_server(w, s), draw_spell_ms(w));
    if (fault_strikes(w, FAULT_SPLIT))
        storm_split(w, s, k, draw_spell_ms(w));
    if (fault_strikes(w, FAULT_HANG))
        database_hangs(w, draw_spell_ms(w));
    if (s->up && !s->in_turn && k->alive && fault_strikes(w, FAULT_DIE_TOGETHER)) {
        sim_worker_crash(w, k);
        sim_server_crash(s);
    }
}

static void lose_patience(struct world *w, void *what, uint64_t no)
{
    struct sim_server *s = what;
    (void)no;
    if (!s->in_turn || w->boot_ms >= s->frozen_until_ms)
        return;
    SAY(w, s->name, "its turn is ended by the database");
    saw(SAW_SEVERED);
    store_mem_sever(s->door->inner);
}

void sim_server_freeze_here(struct sim_server *s)
{
    struct world *w = s->world;
    s->frozen_until_ms = w->boot_ms + pick_ms(w, 1, 3 * w->scene.node_lease_ms);
    agenda_add(w, w->boot_ms + w->scene.session_ms, lose_patience, s, 0);
    agenda_live_until(w, s->frozen_until_ms);
    SAY(w, s->name, "goes on with its turn");
    w->door = s->door;
    w->model.turn++; /* others have had theirs since */
}

/* While it waits it looks ten times a second for polls that have waited for long. */
static void look(struct world *w, void *what, uint64_t no)
{
    struct sim_server *s = what;
    if (no != s->wait_no)
        return;
    keeper_wait(s);
    agenda_add(w, w->boot_ms + LOOK_MS, look, s, no);
}

bool sim_server_outwaits(struct sim_server *s, int64_t most_ms)
{
    struct world *w = s->world;
    if (!database_is_hung(w))
        return true;
    saw(SAW_HUNG);
    bool in_turn = s->in_turn;
    int64_t until_ms = w->hangs_until_ms;
    if (most_ms < until_ms - w->boot_ms)
        until_ms = w->boot_ms + most_ms;
    s->in_turn = true;
    if (!PLANTED(hang_answers_nobody))
        agenda_add(w, s->looked_ms + w->scene.engine.lease_ms / 4, look, s, ++s->wait_no);
    if (s->frozen_until_ms < until_ms)
        s->frozen_until_ms = until_ms;
    agenda_live_until(w, until_ms);
    s->wait_no++;
    s->in_turn = in_turn;
    w->door = s->door;
    w->model.turn++; /* others have had theirs since */
    return !database_is_hung(w);
}

void database_hangs(struct world *w, int64_t for_ms)
{
    SAY(w, "database", "hangs for %" PRId64 " ms", for_ms);
    if (w->boot_ms + for_ms > w->hangs_until_ms)
        w->hangs_until_ms = w->boot_ms + for_ms;
}

bool database_is_hung(const struct world *w)
{
    return w->boot_ms < w->hangs_until_ms && !w->healing;
}
