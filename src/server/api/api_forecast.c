/* api_forecast.c - how many runs will become due, and when: what schedules and calendars say.
 *
 * A job with a run ahead has an execution for it, `scheduled`: so the forecast reads those by
 * their moments, not all jobs that there are, and goes on from each by its job's schedule. A
 * calendar is asked about the moment at which a run would become due. An answer is kept for a
 * minute, and what it costs is bounded: one that stopped early says so. */
#include "base/vec.h"
#include "base/when.h"
#include "loop/clock.h"
#include "loop/kept.h"
#include "server/api/api.h"
#include "server/turn/rules.h"
#include "wire/message/calendar_json.h"
#include "wire/spec/spec_json.h"

#include <inttypes.h>

enum {
    RUNS_MAX = 100000,   /* executions that one forecast begins with */
    SLOTS_MAX = 2000000, /* slots that it walks through: about a second */
    STEPS_MAX = 1000,
    DAYS_MAX = 366,
    PAGE_LEN = 500,
};

static const int64_t MINUTE_MS = 60000;
static const int64_t HOUR_MS = 3600000;
static const int64_t DAY_MS = 86400000;

struct step {
    uint64_t fires;
    uint64_t skipped; /* by a calendar */
    uint64_t held;    /* they run when the calendar's time is over */
};

struct named_almanac {
    struct str name;
    struct almanac almanac;
    bool readable;
};

struct forecast {
    int64_t from_ms;
    int64_t until_ms;
    int64_t step_ms;
    struct str queue;
    struct field_errors errors;

    /* On the query thread. */
    struct step steps[STEPS_MAX];
    uint64_t slots;
    uint64_t runs;
    bool truncated;
    VEC(struct named_almanac) almanacs;
};

/* ---- counting */

static const struct named_almanac *find_almanac(struct request *r, struct reader *reader,
                                                struct forecast *f, struct str name)
{
    const struct ical_zones zones = {.find = rules_zone, .arg = r->server->zones};
    for (size_t i = 0; i < f->almanacs.len; i++) {
        if (str_eq(f->almanacs.items[i].name, name))
            return &f->almanacs.items[i];
    }
    CLEANUP(arena_free) struct arena scratch = {0}; /* a document is larger than what it means */
    struct named_almanac *found = VEC_PUSH(r->arena, &f->almanacs);
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
static void read_uses(struct request *r, struct reader *reader, struct forecast *f,
                      const struct rules *rules, struct almanac_use *uses)
{
    for (size_t i = 0; i < rules->calendar_count; i++)
        (void)find_almanac(r, reader, f, rules->calendars[i].name);
    for (size_t i = 0; i < rules->calendar_count; i++) {
        const struct calendar_wish *wish = &rules->calendars[i];
        const struct named_almanac *found = find_almanac(r, reader, f, wish->name);
        uses[i] = (struct almanac_use){.name = found->name};
        if (!found->readable)
            continue;
        uses[i].almanac = &found->almanac;
        uses[i].policy = wish->has_policy ? wish->policy : found->almanac.policy;
    }
}

static void count_due(struct forecast *f, int64_t due_ms, const struct almanac_use *uses,
                      size_t use_count, const struct zone *zone)
{
    if (due_ms < f->from_ms || due_ms >= f->until_ms)
        return;
    struct step *step = &f->steps[(due_ms - f->from_ms) / f->step_ms];
    struct ruling ruling = use_count == 0 ? (struct ruling){.verdict = CALENDAR_FREE}
                                          : almanac_ruling(uses, use_count, zone, due_ms);
    step->fires += ruling.verdict == CALENDAR_FREE;
    step->skipped += ruling.verdict == CALENDAR_SKIPS;
    step->held += ruling.verdict == CALENDAR_HOLDS;
}

/* From the run that is ahead on, by the schedule as it is now. */
static void walk(struct forecast *f, const struct exec_rec *x, const struct schedule *schedule,
                 const struct almanac_use *uses, size_t use_count)
{
    const struct zone *zone = zone_utc();
    count_due(f, x->due_ms, uses, use_count,
              schedule != NULL && schedule->clock.zone != NULL ? schedule->clock.zone : zone);
    if (schedule == NULL || x->origin != ORIGIN_SLOT)
        return;
    if (schedule->clock.zone != NULL)
        zone = schedule->clock.zone;
    struct slot slot = schedule_slot(schedule, x->slot_ms, x->nominal_ms);
    int64_t from_ms = f->from_ms - schedule->stagger_ms;
    bool more = schedule_next(schedule, &slot, &slot);
    if (more && slot.at_ms < from_ms)
        more = schedule_after(schedule, from_ms - 1, &slot);
    while (more && schedule_due_ms(schedule, &slot) < f->until_ms) {
        f->truncated |= ++f->slots > SLOTS_MAX;
        if (f->truncated)
            return;
        count_due(f, schedule_due_ms(schedule, &slot), uses, use_count, zone);
        more = schedule_next(schedule, &slot, &slot);
    }
}

/* One that cannot be read is left out, as the engine leaves it out. */
static void add_run(struct request *r, struct reader *reader, struct forecast *f,
                    const struct sorted_job *run)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct almanac_use uses[SPEC_CALENDARS_MAX];
    struct schedule schedule;
    struct spec spec;
    struct rules rules;
    if (run->job.state != JOB_ACTIVE || spec_read(run->job.spec, &scratch, &spec, NULL) != RC_OK ||
        rules_make(r->server->zones, &spec, &scratch, &rules, NULL) != RC_OK)
        return;
    f->runs++;
    read_uses(r, reader, f, &rules, uses);
    if (rules.schedule == NULL) {
        walk(f, &run->exec, NULL, uses, rules.calendar_count);
        return;
    }
    schedule = *rules.schedule;
    schedule.stagger_ms = schedule_stagger_ms(run->job.id, rules.stagger_ms);
    walk(f, &run->exec, &schedule, uses, rules.calendar_count);
}

/* A retry that waits is a run that has begun. */
static bool is_asked_for(const struct forecast *f, const struct exec_rec *x)
{
    return x->state == EXEC_SCHEDULED && (f->queue.len == 0 || str_eq(f->queue, x->queue));
}

/* In the order in which they become due. Behind the first one that does so too late there is none:
 * of a job that recurs the run ahead is the first of all that are to come. */
static enum rc add_runs(struct request *r, struct reader *reader, struct forecast *f)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct sorted_page page = {.more = true};
    for (size_t seen = 0; page.more && !f->truncated; seen += PAGE_LEN) {
        struct sort_place after = page.last;
        arena_reset(&scratch);
        TRY(reader->ops->sorted(reader, SORT_NEXT_RUN, &after, PAGE_LEN, &scratch, &page, &r->err));
        for (size_t i = 0; i < page.count && !f->truncated; i++) {
            if (page.jobs[i].place.due_ms >= f->until_ms)
                return RC_OK;
            if (is_asked_for(f, &page.jobs[i].exec))
                add_run(r, reader, f, &page.jobs[i]);
        }
        f->truncated |= page.more && seen + PAGE_LEN >= RUNS_MAX;
    }
    return RC_OK;
}

/* ---- the answer */

static void print(struct forecast *f, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    json_open(&w);
    json_put_when(&w, "from", f->from_ms);
    json_put_when(&w, "until", f->until_ms);
    json_put_int(&w, "step_ms", f->step_ms);
    json_put_int(&w, "jobs", (int64_t)f->runs);
    json_put_bool(&w, "truncated", f->truncated);
    json_key(&w, "steps");
    json_open_array(&w);
    for (int64_t at_ms = f->from_ms; at_ms < f->until_ms; at_ms += f->step_ms) {
        const struct step *step = &f->steps[(at_ms - f->from_ms) / f->step_ms];
        json_open(&w);
        json_put_when(&w, "at", at_ms);
        json_put_int(&w, "fires", (int64_t)step->fires);
        json_put_int(&w, "skipped", (int64_t)step->skipped);
        json_put_int(&w, "held", (int64_t)step->held);
        json_close(&w);
    }
    json_close_array(&w);
    json_close(&w);
}

static void look_forecast(struct request *r, struct reader *reader)
{
    struct forecast *f = r->own;
    struct str key = arena_printf(r->arena, "%" PRId64 " %" PRId64 " %" PRId64 " %.*s", f->from_ms,
                                  f->until_ms, f->step_ms, STR_ARG(f->queue));
    if (kept_get(r->server->forecasts, key, &r->body))
        return;
    r->rc = add_runs(r, reader, f);
    if (r->rc != RC_OK)
        return;
    print(f, &r->body);
    kept_put(r->server->forecasts, key, buf_str(&r->body));
}

static void read_step(struct request *r, struct forecast *f)
{
    struct str text;
    struct err err;
    if (http_request_param(r->http, STR("step"), &text) &&
        duration_parse(text, &f->step_ms, &err) != RC_OK)
        field_error(&f->errors, r->arena, STR("step"), "%s", err.text);
    else if (f->step_ms < MINUTE_MS || f->step_ms > DAYS_MAX * DAY_MS)
        field_error(&f->errors, r->arena, STR("step"), "must be between 1m and %dd", DAYS_MAX);
}

static void check_range(struct request *r, struct forecast *f, int64_t now_ms)
{
    if (f->errors.count > 0)
        return;
    if (f->from_ms < now_ms)
        field_error(&f->errors, r->arena, STR("from"),
                    "is over; GET /jobs/{id}/slots has what became of it");
    else if (f->from_ms >= f->until_ms)
        field_error(&f->errors, r->arena, STR("from"), "must be before until");
    else if (f->until_ms - now_ms > DAYS_MAX * DAY_MS)
        field_error(&f->errors, r->arena, STR("until"), "lies more than %d days ahead", DAYS_MAX);
    else if ((f->until_ms - f->from_ms - 1) / f->step_ms >= STEPS_MAX)
        field_error(&f->errors, r->arena, STR("step"), "makes more than %d steps", STEPS_MAX);
}

void api_schedule_forecast(struct request *r)
{
    static const char *const known[] = {"from", "until", "step", "queue", NULL};
    struct forecast *f = ARENA_NEW(r->arena, struct forecast);
    int64_t now_ms = clock_wall_ms() / MINUTE_MS * MINUTE_MS; /* one answer for the minute */
    if (!request_params_known(r, known))
        return;
    f->from_ms = now_ms;
    f->step_ms = HOUR_MS;
    request_moment(r, "from", &f->from_ms, &f->errors);
    f->until_ms = f->from_ms + DAY_MS;
    request_moment(r, "until", &f->until_ms, &f->errors);
    (void)http_request_param(r->http, STR("queue"), &f->queue);
    read_step(r, f);
    check_range(r, f, now_ms);
    if (f->errors.count > 0) {
        request_fail_fields(r, &f->errors);
        return;
    }
    r->own = f;
    request_to_query(r, look_forecast);
}
