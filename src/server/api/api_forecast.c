/* api_forecast.c - how many runs will become due, and when: what schedules and calendars say, added
 * up by steps. An answer is kept for a minute. */
#include "base/when.h"
#include "loop/clock.h"
#include "loop/kept.h"
#include "server/api/api.h"
#include "server/api/coming.h"

#include <inttypes.h>

enum {
    SLOTS_MAX = 2000000, /* that one forecast walks through: about a second */
    STEPS_MAX = 1000,
    DAYS_MAX = 366,
};

static const int64_t MINUTE_MS = 60000;
static const int64_t HOUR_MS = 3600000;
static const int64_t DAY_MS = 86400000;

struct step {
    uint64_t fires;
    uint64_t skipped; /* by a calendar */
    uint64_t held;    /* they run when the calendar's time is over */
};

struct forecast {
    struct coming coming; /* first: it is what runs are told */
    int64_t step_ms;
    struct field_errors errors;
    struct step steps[STEPS_MAX];
};

static void count_due(struct coming *c, const struct sorted_job *run, int64_t due_ms,
                      enum verdict verdict)
{
    struct forecast *f = (struct forecast *)(void *)c;
    struct step *step = &f->steps[(due_ms - c->from_ms) / f->step_ms];
    (void)run;
    step->fires += verdict == CALENDAR_FREE;
    step->skipped += verdict == CALENDAR_SKIPS;
    step->held += verdict == CALENDAR_HOLDS;
}

/* ---- the answer */

static void print(struct forecast *f, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    json_open(&w);
    json_put_when(&w, "from", f->coming.from_ms);
    json_put_when(&w, "until", f->coming.until_ms);
    json_put_int(&w, "step_ms", f->step_ms);
    json_put_int(&w, "jobs", (int64_t)f->coming.jobs);
    json_put_bool(&w, "truncated", f->coming.truncated);
    json_key(&w, "steps");
    json_open_array(&w);
    for (int64_t at_ms = f->coming.from_ms; at_ms < f->coming.until_ms; at_ms += f->step_ms) {
        const struct step *step = &f->steps[(at_ms - f->coming.from_ms) / f->step_ms];
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
    struct str key =
        arena_printf(r->arena, "%" PRId64 " %" PRId64 " %" PRId64 " %.*s", f->coming.from_ms,
                     f->coming.until_ms, f->step_ms, STR_ARG(f->coming.queue));
    if (kept_get(r->server->forecasts, key, &r->body))
        return;
    r->rc = coming_walk(r, reader, &f->coming);
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
    if (f->coming.from_ms < now_ms)
        field_error(&f->errors, r->arena, STR("from"),
                    "is over; GET /jobs/{id}/slots has what became of it");
    else if (f->coming.from_ms >= f->coming.until_ms)
        field_error(&f->errors, r->arena, STR("from"), "must be before until");
    else if (f->coming.until_ms - now_ms > DAYS_MAX * DAY_MS)
        field_error(&f->errors, r->arena, STR("until"), "lies more than %d days ahead", DAYS_MAX);
    else if ((f->coming.until_ms - f->coming.from_ms - 1) / f->step_ms >= STEPS_MAX)
        field_error(&f->errors, r->arena, STR("step"), "makes more than %d steps", STEPS_MAX);
}

void api_schedule_forecast(struct request *r)
{
    static const char *const known[] = {"from", "until", "step", "queue", NULL};
    struct forecast *f = ARENA_NEW(r->arena, struct forecast);
    int64_t now_ms = clock_wall_ms() / MINUTE_MS * MINUTE_MS; /* one answer for the minute */
    if (!request_params_known(r, known))
        return;
    f->coming.from_ms = now_ms;
    f->step_ms = HOUR_MS;
    f->coming.slots_max = SLOTS_MAX;
    f->coming.tell = count_due;
    request_moment(r, "from", &f->coming.from_ms, &f->errors);
    f->coming.until_ms = f->coming.from_ms + DAY_MS;
    request_moment(r, "until", &f->coming.until_ms, &f->errors);
    (void)http_request_param(r->http, STR("queue"), &f->coming.queue);
    read_step(r, f);
    check_range(r, f, now_ms);
    if (f->errors.count > 0) {
        request_fail_fields(r, &f->errors);
        return;
    }
    r->own = f;
    request_to_query(r, look_forecast);
}
