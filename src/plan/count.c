#include "plan/count.h"
#include "base/heap.h"
#include "loop/zones.h"
#include "server/turn/rules.h"
#include "wire/message/calendar_json.h"

#include <stdlib.h>

/* Where the walk along a job's firings stands. */
struct walk {
    struct heap_node place; /* by its next moment */
    uint64_t job_id;
    const struct rules *rules;
    struct schedule schedule;
    const struct zone *zone;
    struct slot slot;
    int64_t due_ms;
    struct almanac_use uses[SPEC_CALENDARS_MAX];
};

struct count {
    const struct world *world;
    struct score *score;
    struct arena arena;
    struct almanac *almanacs; /* as many as calendars */
    bool *readable;
    struct map changed; /* struct change, by job */
    struct heap walks;
};

/* ---- calendars */

static void read_almanacs(struct count *c)
{
    const struct ical_zones zones = {.find = rules_zone, .arg = c->world->zones};
    c->almanacs = ARENA_ARRAY(&c->arena, struct almanac, c->world->calendars.len + 1);
    c->readable = ARENA_ARRAY(&c->arena, bool, c->world->calendars.len + 1);
    for (size_t i = 0; i < c->world->calendars.len; i++) {
        struct ical_facts facts;
        c->readable[i] = calendar_read(c->world->calendars.items[i].document, &zones, &c->arena,
                                       &c->almanacs[i], &facts, NULL) == RC_OK;
    }
}

static struct almanac_use use_of(const struct count *c, const struct calendar_wish *wish)
{
    struct almanac_use use = {.name = wish->name};
    for (size_t i = 0; i < c->world->calendars.len; i++) {
        if (!c->readable[i] || !str_eq(c->world->calendars.items[i].name, wish->name))
            continue;
        use.almanac = &c->almanacs[i];
        use.policy = wish->has_policy ? wish->policy : c->almanacs[i].policy;
    }
    return use;
}

static enum fate fate_of(const struct walk *w)
{
    if (w->rules->calendar_count == 0)
        return FATE_RUNS;
    switch (almanac_ruling(w->uses, w->rules->calendar_count, w->zone, w->due_ms).verdict) {
    case CALENDAR_SKIPS: return FATE_SKIPPED;
    case CALENDAR_HOLDS: return FATE_HELD;
    case CALENDAR_FREE: break;
    }
    return FATE_RUNS;
}

/* ---- walking */

static void put(struct count *c, struct walk *w)
{
    if (w->due_ms < c->score->window.until_ms)
        heap_push(&c->walks, &w->place, (uint64_t)w->due_ms, w->job_id);
}

static struct walk *walk_new(struct count *c, uint64_t job_id, const struct rules *rules)
{
    struct walk *w = ARENA_NEW(&c->arena, struct walk);
    *w = (struct walk){.job_id = job_id, .rules = rules, .zone = zone_utc()};
    for (size_t i = 0; i < rules->calendar_count; i++)
        w->uses[i] = use_of(c, &rules->calendars[i]);
    if (rules->schedule == NULL)
        return w;
    w->schedule = *rules->schedule;
    w->schedule.start_ms = c->world->now_ms;
    w->schedule.stagger_ms = schedule_stagger_ms(job_id, rules->stagger_ms);
    if (w->schedule.clock.zone != NULL)
        w->zone = w->schedule.clock.zone;
    return w;
}

/* From a slot that is ahead; intervals count from it. Slots before the window are passed over. */
static void begin_at(struct count *c, struct walk *w, const struct slot *slot)
{
    int64_t from_ms = c->score->window.from_ms - w->schedule.stagger_ms;
    bool more = true;
    w->slot = *slot;
    if (w->schedule.kind == SCHEDULE_EVERY)
        w->schedule.start_ms = slot->at_ms - w->schedule.every_ms;
    if (slot->at_ms < from_ms)
        more = schedule_after(&w->schedule, from_ms - 1, &w->slot);
    w->due_ms = schedule_due_ms(&w->schedule, &w->slot);
    if (more)
        put(c, w);
}

static void begin_anew(struct count *c, uint64_t job_id, const struct submission *item)
{
    struct walk *w = walk_new(c, job_id, &item->rules);
    struct slot slot;
    if (item->rules.schedule == NULL) {
        w->due_ms = item->when == WHEN_AT && item->when_ms > c->world->now_ms ? item->when_ms
                    : item->when == WHEN_DELAY ? c->world->now_ms + item->when_ms
                                               : c->world->now_ms;
        put(c, w);
    } else if (schedule_after(&w->schedule, c->world->now_ms, &slot)) {
        begin_at(c, w, &slot);
    }
}

static void begin_run(struct count *c, const struct exec_rec *x, const struct rules *rules)
{
    struct walk *w = walk_new(c, x->job_id, rules);
    if (rules->schedule != NULL && x->origin == ORIGIN_SLOT) {
        struct slot slot = schedule_slot(&w->schedule, x->slot_ms, x->nominal_ms);
        begin_at(c, w, &slot);
        return;
    }
    w->due_ms = x->due_ms;
    put(c, w);
}

static void begin_world(struct count *c)
{
    for (size_t i = 0; i < c->world->runs.len; i++) {
        const struct exec_rec *x = &c->world->runs.items[i];
        const struct world_job *job = world_job(c->world, x->job_id);
        if (x->state != EXEC_SCHEDULED || job->rec.state != JOB_ACTIVE)
            continue;
        const struct change *change = map_get(&c->changed, x->job_id);
        if (change != NULL && change->replan)
            begin_anew(c, x->job_id, &change->item);
        else
            begin_run(c, x, change != NULL ? &change->item.rules : &job->rules);
    }
}

/* New jobs have no id yet: any that is free will do. */
static void begin_changes(struct count *c, struct changes *changes)
{
    for (size_t i = 0; changes != NULL && i < changes->items.len; i++) {
        struct change *change = &changes->items.items[i];
        uint64_t id = change->job != NULL ? change->job->rec.id : i + 1;
        score_define(c->score, id, change->name, &change->item.rules, change->job == NULL);
        map_put(&c->changed, id, change);
        if (change->job == NULL)
            begin_anew(c, id, &change->item);
    }
}

static void step(struct count *c, struct walk *w)
{
    score_firing(c->score, w->job_id, w->due_ms, fate_of(w));
    heap_remove(&c->walks, &w->place);
    if (w->rules->schedule == NULL || !schedule_next(&w->schedule, &w->slot, &w->slot))
        return;
    w->due_ms = schedule_due_ms(&w->schedule, &w->slot);
    put(c, w);
}

static void count_free(struct count *c)
{
    heap_free(&c->walks);
    map_free(&c->changed);
    arena_free(&c->arena);
}

enum rc count_run(const struct world *world, struct changes *changes, uint64_t firings_max,
                  struct score *score, struct player_end *ret_end, struct err *err)
{
    CLEANUP(count_free) struct count c = {.world = world, .score = score};
    const struct heap_item *first;
    (void)err;
    *ret_end = (struct player_end){.why = STOP_END, .at_ms = score->window.until_ms};
    read_almanacs(&c);
    begin_changes(&c, changes);
    begin_world(&c);
    while ((first = heap_min(&c.walks)) != NULL) {
        struct walk *w = CONTAINER_OF(first->node, struct walk, place);
        if (score->firings >= firings_max) {
            ret_end->why = STOP_FIRINGS;
            ret_end->at_ms = w->due_ms;
            break;
        }
        step(&c, w);
    }
    return RC_OK;
}
