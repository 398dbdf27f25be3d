#include "clocks.h"
#include "base/id.h"
#include "clock_day.h"
#include "server/cluster/company.h"
#include "world.h"

int64_t clocks_wall_ms(const struct world *w, int clock)
{
    return WORLD_BEGIN_MS + w->boot_ms + w->clock_day.wrong_ms[clock];
}

int clocks_counting(const struct world *w)
{
    return w->cluster ? CLOCK_DATABASE : 0;
}

/* ---- what a server makes of it */

static struct time_reading read_own(const struct sim_server *s)
{
    const struct world *w = s->world;
    int machine = w->cluster ? (int)(s - w->servers) : 0; /* alone both are on one */
    return (struct time_reading){
        .boot_us = w->boot_ms * 1000,
        .offset_us = (clocks_wall_ms(w, machine) - w->boot_ms) * 1000,
        .synced = w->clock_day.synced,
    };
}

static struct time_rules rules_of(const struct world *w)
{
    return (struct time_rules){.step_ms = w->scene.clock_step_ms, .trust_sync = true};
}

static struct moment moment_of(const struct sim_server *s)
{
    const struct timeline *line = &s->time.timing.line;
    int64_t boot_ms = s->world->boot_ms;
    return (struct moment){
        .wall_ms = boot_ms + timeline_offset_us(line, boot_ms * 1000) / 1000,
        .boot_ms = boot_ms,
        .stepped_ms = line->stepped_us / 1000,
        .shaken_ms = line->shaken_ms,
        .unsure = !line->sure,
    };
}

struct moment world_now(const struct world *w)
{
    if (w->clock_day.by != NULL)
        return moment_of(w->clock_day.by);
    return (struct moment){.wall_ms = w->boot_ms + w->skew_ms, .boot_ms = w->boot_ms};
}

struct moment sim_server_now(struct sim_server *s)
{
    struct world *w = s->world;
    if (w->scene.clocks && s->time.timing.line.on)
        w->clock_day.by = s;
    return world_now(w);
}

/* ---- samples */

void clocks_begin(struct sim_server *s, uint64_t newest_id)
{
    struct time_reading own = read_own(s);
    struct time_rules rules = rules_of(s->world);
    if (!s->world->scene.clocks)
        return;
    timing_begin(&s->time.timing, &rules, newest_id == 0 ? TIMELINE_NO_ID : id_time_ms(newest_id),
                 &own);
    clock_day_started(s);
}

void clocks_look(struct sim_server *s)
{
    struct time_reading own = read_own(s);
    if (!s->world->scene.clocks || !timing_is_due(&s->time.timing, own.boot_us))
        return;
    if (timing_look(&s->time.timing, &own))
        clock_day_stepped(s);
}

void clocks_answered(struct sim_server *s, const struct cluster_view *view, bool had_gap)
{
    struct world *w = s->world;
    struct sim_timing *t = &s->time;
    struct time_reading own = read_own(s);
    struct time_rules rules = rules_of(w);
    struct time_answer answer = {view->now_ms, own.boot_us, own.boot_us};
    if (!w->scene.clocks)
        return;
    struct time_company company =
        company_look(view, s->member.me.start, w->scene.node_lease_ms, &t->leader_ms);
    int64_t newest_ms = view->newest_id == 0 ? TIMELINE_NO_ID : id_time_ms(view->newest_id);
    bool stepped = false;
    if (!t->knows)
        timing_enter(&t->timing, &rules, newest_ms, &answer, &company, &own);
    else if (had_gap)
        stepped = timing_back(&t->timing, &answer, &company, &own);
    else
        stepped = timing_sample(&t->timing, &answer, &company, &own);
    if (!t->knows)
        clock_day_started(s);
    if (stepped)
        clock_day_stepped(s);
    t->knows = true;
}

int64_t clocks_row_ms(const struct sim_server *s)
{
    return s->time.knows && s->time.timing.line.sure ? moment_of(s).wall_ms : 0;
}
