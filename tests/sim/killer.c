#include "killer.h"
#include "coverage.h"
#include "promises.h"
#include "world.h"

#include <inttypes.h>

enum {
    SUSPECT_FROM = 2, /* deaths in silence; as engine/ready/silence.c has it, these two */
    SUSPECT_FOR_GOOD_FROM = 8,
};

bool killer_is(struct world *w, uint64_t exec_id)
{
    const struct model_exec *x = model_exec(&w->model, exec_id);
    if (w->scene.killer_ms == 0 || w->healing || x == NULL || model_recurs(x))
        return false;
    if (w->killer == 0)
        w->killer = x->rec.id;
    return w->killer == x->rec.id;
}

static struct sim_server *owner_of(struct world *w, uint64_t id)
{
    uint32_t partition = partition_of(CLUSTER_PARTITIONS, id);
    for (size_t i = 0; i < w->server_count; i++) {
        struct sim_server *s = &w->servers[i];
        if (s->up && !s->in_turn && s->turn.owned.epochs[partition] == w->model.epochs[partition])
            return s;
    }
    return NULL;
}

/* The number is the run's, among all of that worker. */
static void strike(struct world *w, void *what, uint64_t no)
{
    struct sim_worker *k = what;
    struct sim_server *s = owner_of(w, w->killer);
    struct model_exec *x = model_exec(&w->model, w->killer);
    bool runs = false;
    for (size_t i = 0; k->alive && i < RUNS_MAX; i++)
        runs |= k->runs[i].exec_id == w->killer && k->runs[i].no == no;
    if (!runs || w->healing || s == NULL || x == NULL)
        return;
    saw(SAW_KILLED);
    SAY(w, "killer", "%s takes down %s and %s, for time %" PRIu32, exec_label(w, w->killer),
        k->label, s->name, x->kills + 1);
    x->kills++;
    sim_worker_crash(w, k);
    sim_server_crash(s);
}

void killer_starts(struct world *w, struct sim_worker *k, const struct sim_run *run)
{
    const struct model_exec *x = model_exec(&w->model, run->exec_id);
    bool slow = w->scene.killer_ms >= w->scene.engine.probation_ms;
    uint32_t most = w->scene.engine.lost_max + (slow ? SUSPECT_FOR_GOOD_FROM : SUSPECT_FROM);
    PROMISE(w, x->kills < most,
            "%s has taken down its worker and its server %" PRIu32 " times, and runs",
            exec_label(w, run->exec_id), x->kills);
    agenda_add(w, w->boot_ms + pick_ms(w, w->scene.killer_ms / 2, w->scene.killer_ms), strike, k,
               run->no);
}
