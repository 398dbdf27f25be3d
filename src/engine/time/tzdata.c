/* tzdata.c - zones with other rules: a law was changed, and the system's files say so.
 *
 * Definitions are never changed, so those that go by the old zone get another in their place, as
 * with an edit, but without a new version: nothing that was submitted differs. The slot ahead of
 * each is put where it belongs by the new rules. The work of an undone turn is done again by the
 * next. Slots beyond the horizon are looked at when they are read. */
#include "engine/time/tzdata.h"
#include "base/mem.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/submit/definition.h"
#include "engine/time/slots.h"

#include <stdlib.h>

void engine_renew_zone(struct engine *e, const struct zone *old, const struct zone *newer)
{
    size_t count = e->zones.count + 1;
    e->zones.news = mem_resize(e->zones.news, count * sizeof *e->zones.news);
    e->zones.news[e->zones.count] = (struct zone_news){old, newer};
    e->zones.count = count;
}

/* Undo puts back the definition from before the turn, and commit frees that one; one in between is
 * nobody's any more. */
static void renew_job(struct engine *e, struct job *job, const struct zone *newer)
{
    const struct touched *t = touch_job(e, job);
    struct definition *old = job->v.def;
    struct job_values to = job->v;
    to.def = definition_in_zone(e, old, newer);
    job_set_values(e, job, &to);
    if (old != t->before.job.def)
        definition_free(e, old);
}

static void renew_jobs(struct engine *e, const struct zone_news *news)
{
    MAP_EACH(&e->jobs, slot)
    {
        struct job *job = slot->value;
        const struct schedule *s = job->v.def->schedule;
        if (s != NULL && s->kind == SCHEDULE_CRON && s->clock.zone == news->old)
            renew_job(e, job, news->newer);
    }
}

void zones_renew(struct engine *e)
{
    if (!e->zones.resettle && e->zones.count == 0)
        return;
    for (size_t i = 0; i < e->zones.count; i++)
        renew_jobs(e, &e->zones.news[i]);
    struct exec **stray = ARENA_ARRAY(e->turn.arena, struct exec *, e->execs.len);
    size_t count = 0;
    MAP_EACH(&e->execs, slot)
    {
        if (slot_strays(e, slot->value))
            stray[count++] = slot->value;
    }
    execs_sort(stray, count);
    for (size_t i = 0; i < count; i++)
        slot_resettle(e, stray[i]);
}

void zones_renewed(struct engine *e)
{
    free(e->zones.news);
    e->zones.news = NULL;
    e->zones.count = 0;
    e->zones.resettle = false;
}
