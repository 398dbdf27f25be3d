#include "plan/world.h"
#include "base/id.h"
#include "loop/zones.h"
#include "server/turn/rules.h"
#include "wire/spec/spec_json.h"

void world_open(struct world *world)
{
    *world = (struct world){.zones = zones_new(NULL)};
    zones_trust_ms(world->zones, 60000);
}

void world_close(struct world *world)
{
    map_free(&world->jobs_by_id);
    strmap_free(&world->jobs_by_name);
    zones_free(world->zones);
    arena_free(&world->arena);
}

/* ---- jobs */

struct world_job *world_job(const struct world *world, uint64_t id)
{
    return map_get(&world->jobs_by_id, id);
}

struct world_job *world_job_named(const struct world *world, struct str name)
{
    return strmap_get(&world->jobs_by_name, name);
}

/* A definition leaves much more behind when it is read than what decides. */
static void keep_rules(struct world *world, const struct spec *spec, struct rules rules,
                       struct world_job *job)
{
    struct arena *arena = &world->arena;
    struct str *texts[] = {&rules.queue,          &rules.handler,    &rules.team,
                           &rules.rate.key,       &rules.unique.key, &rules.breaker.name,
                           &rules.concurrency.key};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        *texts[i] = texts[i]->len > 0 ? arena_str(arena, *texts[i]) : STR("");
    struct calendar_wish *calendars = NULL;
    if (rules.calendar_count > 0)
        calendars = ARENA_ARRAY(arena, struct calendar_wish, rules.calendar_count);
    for (size_t i = 0; i < rules.calendar_count; i++) {
        calendars[i] = rules.calendars[i];
        calendars[i].name = arena_str(arena, calendars[i].name);
    }
    rules.calendars = calendars;
    if (rules.schedule != NULL) {
        struct schedule *schedule = ARENA_NEW(arena, struct schedule);
        *schedule = *rules.schedule;
        rules.schedule = schedule;
    }
    job->rules = rules;
    job->zone = arena_str(arena, spec->zone);
}

void world_add_job(struct world *world, const struct job_rec *rec, int64_t p50_ms)
{
    struct world_job *job = ARENA_NEW(&world->arena, struct world_job);
    CLEANUP(arena_free) struct arena scratch = {0};
    struct spec spec;
    struct rules rules;
    struct err err;
    if (world_job(world, rec->id) != NULL)
        return; /* the next page has it, too */
    *job = (struct world_job){.rec = *rec, .p50_ms = p50_ms};
    if (spec_read(rec->spec, &scratch, &spec, &err) != RC_OK ||
        rules_make(world->zones, &spec, &scratch, &rules, &err) != RC_OK) {
        world->jobs_unread++;
        return;
    }
    keep_rules(world, &spec, rules, job);
    map_put(&world->jobs_by_id, rec->id, job);
    if (rec->name.len > 0)
        strmap_put(&world->jobs_by_name, rec->name, job);
    world->jobs_paused += rec->state == JOB_PAUSED;
    world->jobs_recurring += job->rules.schedule != NULL;
    world->jobs_measured += job->rules.schedule != NULL && p50_ms >= 0;
    *VEC_PUSH(&world->arena, &world->jobs) = job;
}

struct str world_job_title(const struct world_job *job, struct arena *arena)
{
    char id[ID_TEXT_MAX];
    return job->rec.name.len > 0 ? job->rec.name
                                 : arena_str(arena, id_format(id, ID_JOB, job->rec.id));
}

/* ---- what was read at two moments */

static void put_ahead(struct world *world, const struct world_job *job)
{
    struct schedule schedule = *job->rules.schedule;
    struct slot slot;
    schedule.start_ms = job->rec.changed_ms > 0 ? job->rec.changed_ms : job->rec.created_ms;
    schedule.stagger_ms = schedule_stagger_ms(job->rec.id, job->rules.stagger_ms);
    if (!schedule_after(&schedule, world->now_ms, &slot))
        return;
    *VEC_PUSH(&world->arena, &world->runs) = (struct exec_rec){
        .id = job->rec.id + 1, /* no other id is that: a job and its first execution share a turn */
        .job_id = job->rec.id,
        .state = EXEC_SCHEDULED,
        .queue = job->rec.queue,
        .priority = job->rec.priority,
        .origin = ORIGIN_SLOT,
        .slot_ms = slot.at_ms,
        .nominal_ms = slot.nominal_ms,
        .created_ms = world->now_ms,
        .due_ms = schedule_due_ms(&schedule, &slot),
    };
}

/* What is ahead of a job that recurs is one of its slots. */
static bool is_nonsense(const struct exec_rec *x, const struct world_job *job)
{
    return x->state == EXEC_SCHEDULED && job->rules.schedule != NULL && x->slot_ms <= 0;
}

static bool is_newer(const struct exec_rec *x, const struct job_rec *job)
{
    return x->id > job->last_exec;
}

void world_settle(struct world *world)
{
    CLEANUP(map_free) struct map ahead = {0};
    CLEANUP(map_free) struct map taken = {0};
    size_t kept = 0;
    for (size_t i = 0; i < world->runs.len; i++) {
        struct exec_rec *x = &world->runs.items[i];
        struct world_job *job = world_job(world, x->job_id);
        if (job == NULL || map_get(&taken, x->id) != NULL || is_nonsense(x, job))
            continue; /* it ended meanwhile, or moved to the next page */
        map_put(&taken, x->id, job);
        if (x->state == EXEC_SCHEDULED)
            map_put(&ahead, x->job_id, job);
        if (is_newer(x, &job->rec))
            job->rec.last_exec = x->id;
        world->runs.items[kept++] = *x;
    }
    world->runs.len = kept;
    for (size_t i = 0; i < world->jobs.len; i++) {
        const struct world_job *job = world->jobs.items[i];
        if (job->rules.schedule != NULL && !job_is_over(job->rec.state) &&
            map_get(&ahead, job->rec.id) == NULL && map_get(&taken, job->rec.id + 1) == NULL)
            put_ahead(world, job);
    }
    for (size_t i = 0; i < world->dependencies.len; i++) {
        struct world_job *up = world_job(world, world->dependencies.items[i].upstream);
        if (up != NULL)
            up->is_upstream = true;
    }
}
