/* api_schedule.c - what a cron expression means, before a job has it. */
#include "base/when.h"
#include "job/spec.h"
#include "loop/clock.h"
#include "loop/zones.h"
#include "server/api/api.h"
#include "wire/message/preview_json.h"

/* What was asked for. */
struct asked {
    struct cron_options options;
    struct cron cron;
    struct str prefix; /* the zone in front of the expression */
    struct str timezone;
    struct cron_clock clock;
    uint64_t count;
    int64_t from_ms;
    struct field_errors errors;
};

/* ---- parameters */

static const struct words bool_words = WORDS([false] = "false", [true] = "true");

/* The value of a parameter's word; 0 when there is no such parameter. */
static unsigned read_choice(struct request *r, const char *name, const struct words *words,
                            struct field_errors *errors)
{
    struct str text;
    unsigned value = 0;
    if (http_request_param(r->http, str_c(name), &text) && !words_parse(words, text, &value))
        field_error(errors, r->arena, str_c(name), "must be one of %.*s",
                    STR_ARG(words_text(words, r->arena)));
    return value;
}

static void read_cron(struct request *r, struct asked *q)
{
    struct str text;
    struct err err;
    if (!http_request_param(r->http, STR("cron"), &text))
        field_error(&q->errors, r->arena, STR("cron"), "is required");
    else if (cron_parse(text, &q->options, &q->cron, &q->prefix, &err) != RC_OK)
        field_error(&q->errors, r->arena, STR("cron"), "%s", err.text);
}

static void read_question(struct request *r, struct asked *q)
{
    struct str text;
    struct err err;
    q->count = PREVIEW_RUNS_DEFAULT;
    q->from_ms = clock_wall_ms();
    (void)http_request_param(r->http, STR("name"), &q->options.name);
    (void)http_request_param(r->http, STR("timezone"), &q->timezone);
    q->options.seconds = read_choice(r, "seconds", &bool_words, &q->errors) == 1;
    q->clock.gap = (enum cron_gap)read_choice(r, "gap", &cron_gap_words, &q->errors);
    q->clock.fold = (enum cron_fold)read_choice(r, "fold", &cron_fold_words, &q->errors);
    if (http_request_param(r->http, STR("count"), &text) &&
        (!str_to_u64(text, &q->count) || q->count < 1 || q->count > PREVIEW_RUNS_MAX))
        field_error(&q->errors, r->arena, STR("count"), "must be between 1 and %d",
                    PREVIEW_RUNS_MAX);
    if (http_request_param(r->http, STR("from"), &text) &&
        when_parse(text, &q->from_ms, &err) != RC_OK)
        field_error(&q->errors, r->arena, STR("from"), "%s", err.text);
    read_cron(r, q);
}

/* ---- the answer; on a query thread, since zones are files */

static void look_preview(struct request *r, struct reader *reader)
{
    (void)reader;
    struct asked *q = r->own;
    struct preview preview;
    struct str name;
    r->rc = schedule_zone_name(q->prefix, q->timezone, &name, &r->err);
    if (r->rc == RC_OK)
        r->rc = zones_find(r->server->zones, name, &q->clock.zone, &r->err);
    if (r->rc == RC_INVALID || r->rc == RC_CORRUPT) { /* no zone, or a file that is none we know */
        field_error(&q->errors, r->arena, q->timezone.len > 0 ? STR("timezone") : STR("cron"), "%s",
                    r->err.text);
        r->errors = &q->errors;
    }
    if (r->rc != RC_OK)
        return;
    struct schedule schedule = schedule_cron(q->from_ms, &q->cron, &q->clock);
    preview_make(&schedule, name, q->from_ms, q->count, r->arena, &preview);
    struct json_writer w = JSON_WRITER(&r->body);
    preview_print(&w, &preview);
}

void api_schedule_preview(struct request *r)
{
    static const char *const known[] = {"cron", "timezone", "count", "from", "seconds",
                                        "name", "gap",      "fold",  NULL};
    struct asked *q = ARENA_NEW(r->arena, struct asked);
    if (!request_params_known(r, known))
        return;
    read_question(r, q);
    if (q->errors.count > 0) {
        request_fail_fields(r, &q->errors);
        return;
    }
    r->own = q;
    request_to_query(r, look_preview);
}
