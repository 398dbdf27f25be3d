#include "server/api/coming.h"
#include "server/turn/rules.h"
#include "wire/message/calendar_json.h"
#include "wire/spec/spec_json.h"

enum {
    RUNS_MAX = 100000, /* executions that one walk begins with */
    PAGE_LEN = 500,
};

struct coming_calendar {
    struct str name;
    struct almanac almanac;
    bool readable;
};

static const struct coming_calendar *find_almanac(struct request *r, struct reader *reader,
                                                  struct coming *c, struct str name)
{
    const struct ical_zones zones = {.find = rules_zone, .arg = r->server->zones};
    for (size_t i = 0; i < c->calendars.len; i++) {
        if (str_eq(c->calendars.items[i].name, name))
            return &c->calendars.items[i];
    }
    CLEANUP(arena_free) struct arena scratch = {0}; /* a document is larger than what it means */
    struct coming_calendar *found = VEC_PUSH(r->arena, &c->calendars);
    struct calendar_rec rec;
    struct ical_facts facts;
    found->name = arena_str(r->arena, name);
    found->readable =
        reader->ops->calendar(reader, found->name, &scratch, &rec, NULL) == RC_OK &&
        calendar_read(rec.document, &zones, &scratch, &found->almanac, &facts, NULL) == RC_OK;
    if (found->readable)
        found->almanac.calendar = calendar_copy(&found->almanac.calendar, r->arena);
    return found;
}

/* The calendars of a job, as they are asked: all are read before one is pointed at. */
static void read_uses(struct request *r, struct reader *reader, struct coming *c,
                      const struct rules *rules, struct almanac_use *uses)
{
    for (size_t i = 0; i < rules->calendar_count; i++)
        (void)find_almanac(r, reader, c, rules->calendars[i].name);
    for (size_t i = 0; i < rules->calendar_count; i++) {
        const struct calendar_wish *wish = &rules->calendars[i];
        const struct coming_calendar *found = find_almanac(r, reader, c, wish->name);
        uses[i] = (struct almanac_use){.name = found->name};
        if (!found->readable)
            continue;
        uses[i].almanac = &found->almanac;
        uses[i].policy = wish->has_policy ? wish->policy : found->almanac.policy;
    }
}

/* A job whose runs are told, and what its calendars are asked with. */
struct told {
    const struct sorted_job *run;
    const struct schedule *schedule; /* NULL: it runs once */
    const struct zone *zone;
    struct almanac_use uses[SPEC_CALENDARS_MAX];
    size_t use_count;
};

static void tell_due(struct coming *c, const struct told *told, int64_t due_ms)
{
    struct ruling ruling = {.verdict = CALENDAR_FREE};
    if (due_ms < c->from_ms || due_ms >= c->until_ms)
        return;
    if (told->use_count > 0)
        ruling = almanac_ruling(told->uses, told->use_count, told->zone, due_ms);
    c->tell(c, told->run, due_ms, ruling.verdict);
}

/* From the run that is ahead on, by the schedule as it is now. */
static void walk(struct coming *c, const struct told *told)
{
    const struct exec_rec *x = &told->run->exec;
    const struct schedule *schedule = told->schedule;
    tell_due(c, told, x->due_ms);
    if (schedule == NULL || x->origin != ORIGIN_SLOT)
        return;
    struct slot slot = schedule_slot(schedule, x->slot_ms, x->nominal_ms);
    int64_t from_ms = c->from_ms - schedule->stagger_ms;
    bool more = schedule_next(schedule, &slot, &slot);
    if (more && slot.at_ms < from_ms)
        more = schedule_after(schedule, from_ms - 1, &slot);
    while (more && schedule_due_ms(schedule, &slot) < c->until_ms) {
        c->truncated |= ++c->slots > c->slots_max;
        if (c->truncated)
            return;
        tell_due(c, told, schedule_due_ms(schedule, &slot));
        more = schedule_next(schedule, &slot, &slot);
    }
}

/* One that cannot be read is left out, as the engine leaves it out. */
static void add_run(struct request *r, struct reader *reader, struct coming *c,
                    const struct sorted_job *run)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct told told = {.run = run, .zone = zone_utc()};
    struct schedule schedule;
    struct spec spec;
    struct rules rules;
    if (run->job.state != JOB_ACTIVE || spec_read(run->job.spec, &scratch, &spec, NULL) != RC_OK ||
        rules_make(r->server->zones, &spec, &scratch, &rules, NULL) != RC_OK)
        return;
    c->jobs++;
    read_uses(r, reader, c, &rules, told.uses);
    told.use_count = rules.calendar_count;
    if (rules.schedule != NULL) {
        schedule = *rules.schedule;
        schedule.stagger_ms = schedule_stagger_ms(run->job.id, rules.stagger_ms);
        told.schedule = &schedule;
        if (schedule.clock.zone != NULL)
            told.zone = schedule.clock.zone;
    }
    walk(c, &told);
}

/* A retry that waits is a run that has begun, and a wait for a ping is none. */
static bool is_asked_for(const struct coming *c, const struct exec_rec *x)
{
    return x->state == EXEC_SCHEDULED && x->origin != ORIGIN_PING &&
           (c->queue.len == 0 || str_eq(c->queue, x->queue));
}

/* In the order in which they become due. Behind the first one that does so too late there is none:
 * of a job that recurs the run ahead is the first of all that are to come. */
enum rc coming_walk(struct request *r, struct reader *reader, struct coming *c)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct sorted_page page = {.more = true};
    for (size_t seen = 0; page.more && !c->truncated; seen += PAGE_LEN) {
        struct sort_place after = page.last;
        arena_reset(&scratch);
        TRY(reader->ops->sorted(reader, SORT_NEXT_RUN, &after, PAGE_LEN, &scratch, &page, &r->err));
        for (size_t i = 0; i < page.count && !c->truncated; i++) {
            if (page.jobs[i].place.due_ms >= c->until_ms)
                return RC_OK;
            if (is_asked_for(c, &page.jobs[i].exec))
                add_run(r, reader, c, &page.jobs[i]);
        }
        c->truncated |= page.more && seen + PAGE_LEN >= RUNS_MAX;
    }
    return RC_OK;
}
