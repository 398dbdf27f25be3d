/* api_rankings.c - how things went, side by side: by job, queue, owner or team, the ones first that
 * a report is about, with what came of the same stretch of time before it.
 *
 * Numbers come from tallies (job/record/tally.h) that all servers share, so any of them answers for
 * all, and no execution is read. First every key is added up from sums of whole days, without
 * buckets; then the few that are shown are read once more, with theirs. */
#include "base/when.h"
#include "job/record/ranking.h"
#include "loop/clock.h"
#include "server/api/api.h"
#include "wire/message/report_json.h"

#include <string.h>

enum {
    BODY_BYTES_MAX = 4 << 20, /* a thousand lines of 1 KB, and names of 200 bytes */
    DAYS_DEFAULT = 7,
    RATES_DAYS_DEFAULT = 30,
    RATES_MAX = 1000,
    HEADS_MAX = 500, /* jobs that are read at a time, where a filter asks about each */
};

#define DAY_MS (INT64_C(24) * TALLY_HOUR_MS)

/* A call of one of the reports; lives in the request's arena. */
struct ranking_call {
    enum report_kind kind;
    enum tally_scope by; /* never one of SLAs */
    const struct ranking_order *order;
    struct report_range range;
    int64_t since_ms; /* as it was asked for */
    struct str queue; /* with TALLY_JOB: only jobs of this queue, … */
    struct str owner; /* … owner, … */
    struct str team;  /* … and team; empty: of any */
    size_t limit;
};

/* ---- reading the call */

static const struct {
    struct str word;
    enum tally_scope scope;
    enum tally_scope sla;
} scopes[] = {
    {STR_INIT("job"), TALLY_JOB, TALLY_SLA},
    {STR_INIT("queue"), TALLY_QUEUE, TALLY_SLA_QUEUE},
    {STR_INIT("owner"), TALLY_OWNER, TALLY_SLA_OWNER},
    {STR_INIT("team"), TALLY_TEAM, TALLY_SLA_TEAM},
};

static size_t place_of(enum tally_scope scope)
{
    size_t i = 0;
    while (scopes[i].scope != scope)
        i++;
    return i;
}

static enum tally_scope scope_of(const struct ranking_call *call)
{
    return call->kind == REPORT_SLA ? scopes[place_of(call->by)].sla : call->by;
}

/* What is there already is what is usual; TALLY_ALL: it has to be said. */
static void read_scope(struct request *r, enum tally_scope *ret_scope, struct field_errors *errors)
{
    struct str by = STR("");
    if (!http_request_param(r->http, STR("by"), &by) && *ret_scope != TALLY_ALL)
        return;
    for (size_t i = 0; i < COUNT_OF(scopes); i++) {
        if (str_eq(by, scopes[i].word)) {
            *ret_scope = scopes[i].scope;
            return;
        }
    }
    field_error(errors, r->arena, STR("by"), "must be queue, job, owner or team");
}

/* Whole hours are what is counted; of many keys over a long time, whole days. */
static void widen(struct report_range *range)
{
    int64_t step_ms = range->until_ms - range->from_ms > DAY_MS ? DAY_MS : TALLY_HOUR_MS;
    range->from_ms -= range->from_ms % step_ms;
    range->until_ms += step_ms - 1 - (range->until_ms - 1) % step_ms;
}

static void check_range(struct request *r, const char *from, struct report_range *range,
                        struct field_errors *errors)
{
    if (range->from_ms < 0)
        range->from_ms = 0;
    if (range->from_ms >= range->until_ms)
        field_error(errors, r->arena, str_c(from), "must be before the end of the report");
    else
        widen(range);
}

/* A parameter that is a time, a date, or how long ago: "7d". */
static void read_moment(struct request *r, const char *name, int64_t now_ms, int64_t *ret_ms,
                        struct field_errors *errors)
{
    struct str text;
    struct err err;
    int64_t ago_ms;
    if (!http_request_param(r->http, str_c(name), &text))
        return;
    if (text.len > 0 && memchr(text.ptr, '-', text.len) != NULL)
        request_moment(r, name, ret_ms, errors);
    else if (duration_parse(text, &ago_ms, &err) == RC_OK)
        *ret_ms = now_ms - ago_ms;
    else
        field_error(errors, r->arena, str_c(name),
                    "must be a date, a time, or how long ago that is: 2026-11-01, "
                    "2026-11-01T08:00:00Z, 7d");
}

static void read_range(struct request *r, struct ranking_call *call, struct field_errors *errors)
{
    int64_t now_ms = clock_wall_ms();
    size_t before = errors->count;
    call->range = (struct report_range){now_ms - DAYS_DEFAULT * DAY_MS, now_ms};
    read_moment(r, "until", now_ms, &call->range.until_ms, errors);
    read_moment(r, "since", now_ms, &call->range.from_ms, errors);
    call->since_ms = call->range.from_ms;
    if (errors->count == before)
        check_range(r, "since", &call->range, errors);
}

/* Numbers are of a queue, or of a job, and not of a queue's owners: only a job can be asked for
 * what it belongs to. */
static void read_filter(struct request *r, const char *name, const struct ranking_call *call,
                        struct str *ret_text, struct field_errors *errors)
{
    if (http_request_param(r->http, str_c(name), ret_text) && call->by != TALLY_JOB)
        field_error(errors, r->arena, str_c(name),
                    "goes with by=job only: other numbers are not kept by %s", name);
}

static void read_order(struct request *r, struct ranking_call *call, struct field_errors *errors)
{
    struct str word = STR("");
    (void)http_request_param(r->http, STR("sort"), &word);
    call->order = ranking_order_find(call->kind, word);
    if (call->order == NULL)
        field_error(errors, r->arena, STR("sort"), "must be one of %.*s",
                    STR_ARG(ranking_orders(call->kind, r->arena)));
}

/* ---- adding up; on a query thread */

static void take_row(void *arg, const struct tally *row)
{
    ranking_add(arg, row);
}

static int64_t hour_of(int64_t at_ms)
{
    return at_ms / TALLY_HOUR_MS;
}

static bool fits(const struct ranking_call *call, const struct job_rec *job)
{
    return job->id != 0 && (call->queue.len == 0 || str_eq(call->queue, job->queue)) &&
           (call->owner.len == 0 || str_eq(call->owner, job->owner)) &&
           (call->team.len == 0 || str_eq(call->team, job->team));
}

/* Asks what the jobs of these lines are; one that is gone has the id 0. */
static enum rc read_jobs(struct reader *reader, struct ranked *const *lines, size_t count,
                         struct arena *arena, struct job_rec *ret_jobs, struct err *err)
{
    uint64_t *ids = ARENA_ARRAY(arena, uint64_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct err bad;
        if (id_parse(lines[i]->key, ID_JOB, &ids[i], &bad) != RC_OK)
            ids[i] = 0;
    }
    return count > 0 ? reader->ops->heads(reader, ids, count, arena, ret_jobs, err) : RC_OK;
}

static enum rc leave_out(struct reader *reader, const struct ranking_call *call,
                         struct ranking *ranking, struct err *err)
{
    if (call->queue.len + call->owner.len + call->team.len == 0)
        return RC_OK;
    for (size_t i = 0; i < ranking->lines.len; i += HEADS_MAX) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct ranked **lines = &ranking->lines.items[i];
        size_t left = ranking->lines.len - i;
        size_t count = left < HEADS_MAX ? left : HEADS_MAX;
        struct job_rec *jobs = ARENA_ARRAY(&arena, struct job_rec, count);
        TRY(read_jobs(reader, lines, count, &arena, jobs, err));
        for (size_t j = 0; j < count; j++)
            lines[j]->left_out = !fits(call, &jobs[j]);
    }
    return RC_OK;
}

static enum rc read_names(struct reader *reader, const struct ranking_call *call,
                          struct ranking *ranking, struct err *err)
{
    struct job_rec *jobs = ARENA_ARRAY(ranking->arena, struct job_rec, ranking->shown_count + 1);
    if (call->by != TALLY_JOB)
        return RC_OK;
    TRY(read_jobs(reader, ranking->shown, ranking->shown_count, ranking->arena, jobs, err));
    for (size_t i = 0; i < ranking->shown_count; i++)
        ranking->shown[i]->name = jobs[i].name;
    return RC_OK;
}

static enum rc rank(struct reader *reader, const struct ranking_call *call, struct ranking *ranking,
                    struct err *err)
{
    TRY(reader->ops->tallies(reader, scope_of(call), hour_of(call->range.from_ms),
                             hour_of(call->range.until_ms), take_row, ranking, err));
    TRY(leave_out(reader, call, ranking, err));
    ranking_sort(ranking, call->kind, call->order, call->limit);
    return RC_OK;
}

/* The numbers of all lines shown, with buckets, over a range. */
static enum rc read_details(struct reader *reader, const struct ranking_call *call,
                            const struct ranking *ranking, struct report_range range,
                            struct tally_sum **ret_sums, struct err *err)
{
    struct str *keys = ARENA_ARRAY(ranking->arena, struct str, ranking->shown_count + 1);
    struct tally_sum *sums =
        ARENA_ARRAY(ranking->arena, struct tally_sum, ranking->shown_count + 1);
    for (size_t i = 0; i < ranking->shown_count; i++)
        keys[i] = ranking->shown[i]->key;
    *ret_sums = sums;
    return reader->ops->tally(reader, scope_of(call), keys, ranking->shown_count,
                              hour_of(range.from_ms), hour_of(range.until_ms), sums, err);
}

/* ---- printing */

static void print_range(struct json_writer *w, const struct report_range *range)
{
    json_put_when(w, "from", range->from_ms);
    json_put_when(w, "until", range->until_ms);
}

static struct ranked ranked_of(const struct tally_sum *sum)
{
    struct ranked line = {.completed = sum->completed,
                          .deduplicated = sum->deduplicated,
                          .failed = sum->failed,
                          .sum_ms = sum->sum_ms};
    memcpy(line.sla, sum->sla, sizeof line.sla);
    return line;
}

static void print_sum(struct json_writer *w, const char *key, enum report_kind kind,
                      const struct ranked *sum)
{
    json_key(w, key);
    json_open(w);
    report_print_numbers(w, kind, sum);
    json_close(w);
}

/* before: NULL when nothing is known of the time before. */
static void print_line(struct json_writer *w, const struct ranking_call *call,
                       const struct ranked *line, const struct tally_sum *sum,
                       const struct tally_sum *before)
{
    struct ranked now = ranked_of(sum);
    json_open(w);
    json_put_str(w, "key", line->key);
    if (call->by == TALLY_JOB && line->name.len > 0)
        json_put_str(w, "name", line->name);
    else if (call->by == TALLY_JOB)
        json_put_null(w, "name");
    report_print_numbers(w, call->kind, &now);
    report_print_details(w, call->kind, sum);
    if (before == NULL) {
        json_put_null(w, "previous");
    } else {
        struct ranked then = ranked_of(before);
        print_sum(w, "previous", call->kind, &then);
    }
    json_close(w);
}

/* What the numbers leave out, as a sentence each. */
static void print_notes(struct json_writer *w, const struct ranking_call *call,
                        const struct ranking *ranking)
{
    json_key(w, "notes");
    json_open_array(w);
    if (call->by == TALLY_JOB)
        json_str(w, STR("only recurring jobs are counted; a job that runs once counts for its "
                        "queue, owner and team"));
    if (ranking->is_cut)
        json_str(w, STR("there are more keys than a report tells apart; the rest is among the "
                        "others"));
    else if (ranked_slas(&ranking->beyond) > 0)
        json_str(w, STR("an hour has SLAs of 1000 names; those of more are among the others"));
    json_close_array(w);
}

static void print_head(struct json_writer *w, const struct ranking_call *call,
                       const struct report_range *before, int64_t counted_ms)
{
    json_put_str(w, "report", report_kind_name(call->kind));
    json_put_str(w, "by", scopes[place_of(call->by)].word);
    json_put_str(w, "sort", call->order->word);
    print_range(w, &call->range);
    json_key(w, "previous");
    if (before == NULL) {
        json_null(w);
    } else {
        json_open(w);
        print_range(w, before);
        json_close(w);
    }
    json_key(w, "counted_since");
    if (counted_ms > call->since_ms)
        json_when(w, counted_ms);
    else
        json_null(w);
}

/* ---- the call */

/* The same stretch of time before it; false when nothing, or not everything, was counted then. */
static bool range_before(const struct ranking_call *call, int64_t counted_ms,
                         struct report_range *ret_before)
{
    const struct report_range *range = &call->range;
    *ret_before = (struct report_range){2 * range->from_ms - range->until_ms, range->from_ms};
    return ret_before->from_ms >= 0 && ret_before->from_ms >= counted_ms;
}

static enum rc print_report(struct request *r, struct reader *reader, struct err *err)
{
    const struct ranking_call *call = r->own;
    CLEANUP(ranking_free) struct ranking ranking = ranking_new(r->arena);
    struct tally_sum *sums;
    struct tally_sum *sums_before = NULL;
    struct report_range before;
    int64_t counted_ms = 0;
    if (call->kind == REPORT_SLA && call->by != TALLY_JOB)
        TRY(reader->ops->sla_since(reader, &counted_ms, err));
    TRY(rank(reader, call, &ranking, err));
    TRY(read_names(reader, call, &ranking, err));
    TRY(read_details(reader, call, &ranking, call->range, &sums, err));
    bool compares = range_before(call, counted_ms, &before);
    if (compares)
        TRY(read_details(reader, call, &ranking, before, &sums_before, err));
    r->body = BUF(BODY_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    print_head(&w, call, compares ? &before : NULL, counted_ms);
    print_notes(&w, call, &ranking);
    json_key(&w, "rows");
    json_open_array(&w);
    for (size_t i = 0; i < ranking.shown_count; i++)
        print_line(&w, call, ranking.shown[i], &sums[i], compares ? &sums_before[i] : NULL);
    json_close_array(&w);
    json_put_int(&w, "other_keys", (int64_t)ranking.others_count);
    print_sum(&w, "others", call->kind, &ranking.others);
    print_sum(&w, "total", call->kind, &ranking.total);
    json_close(&w);
    return RC_OK;
}

static void look_report(struct request *r, struct reader *reader)
{
    r->rc = print_report(r, reader, &r->err);
}

static void start_report(struct request *r, enum report_kind kind)
{
    static const char *const params[] = {"since", "until", "by",   "queue", "owner",
                                         "team",  "limit", "sort", NULL};
    struct field_errors errors = {0};
    struct ranking_call *call = ARENA_NEW(r->arena, struct ranking_call);
    if (!request_params_known(r, params))
        return;
    call->kind = kind;
    call->by = TALLY_QUEUE;
    read_scope(r, &call->by, &errors);
    read_range(r, call, &errors);
    read_filter(r, "queue", call, &call->queue, &errors);
    read_filter(r, "owner", call, &call->owner, &errors);
    read_filter(r, "team", call, &call->team, &errors);
    read_order(r, call, &errors);
    request_page(r, &errors);
    call->limit = r->list.page.limit;
    r->own = call;
    if (errors.count > 0)
        request_fail_fields(r, &errors);
    else
        request_to_query(r, look_report);
}

void api_report_failures(struct request *r)
{
    start_report(r, REPORT_FAILURES);
}

void api_report_successes(struct request *r)
{
    start_report(r, REPORT_SUCCESSES);
}

void api_report_sla(struct request *r)
{
    start_report(r, REPORT_SLA);
}

void api_report_slowest(struct request *r)
{
    start_report(r, REPORT_SLOWEST);
}

/* ---- all keys and their rates */

static enum rc print_rates(struct request *r, struct reader *reader, struct err *err)
{
    const struct ranking_call *call = r->own;
    CLEANUP(ranking_free) struct ranking ranking = ranking_new(r->arena);
    TRY(rank(reader, call, &ranking, err));
    r->body = BUF(BODY_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    print_range(&w, &call->range);
    json_key(&w, "success_rates");
    json_open_array(&w);
    for (size_t i = 0; i < ranking.shown_count; i++) {
        const struct ranked *line = ranking.shown[i];
        report_print_rate(&w, line->key,
                          &(struct tally_sum){.completed = line->completed,
                                              .deduplicated = line->deduplicated,
                                              .failed = line->failed});
    }
    json_close_array(&w);
    json_put_bool(&w, "complete", ranking.others_count == 0 && !ranking.is_cut);
    json_close(&w);
    return RC_OK;
}

static void look_rates(struct request *r, struct reader *reader)
{
    r->rc = print_rates(r, reader, &r->err);
}

void api_success_rates(struct request *r)
{
    static const char *const params[] = {"by", "start_date", "end_date", NULL};
    struct field_errors errors = {0};
    struct ranking_call *call = ARENA_NEW(r->arena, struct ranking_call);
    if (!request_params_known(r, params))
        return;
    call->kind = REPORT_SUCCESSES;
    call->by = TALLY_ALL;
    call->order = ranking_order_find(REPORT_FAILURES, STR("failed"));
    call->limit = RATES_MAX;
    read_scope(r, &call->by, &errors);
    call->range.until_ms = clock_wall_ms();
    request_moment(r, "end_date", &call->range.until_ms, &errors);
    call->range.from_ms = call->range.until_ms - RATES_DAYS_DEFAULT * DAY_MS;
    request_moment(r, "start_date", &call->range.from_ms, &errors);
    if (errors.count == 0)
        check_range(r, "start_date", &call->range, &errors);
    r->own = call;
    if (errors.count > 0)
        request_fail_fields(r, &errors);
    else
        request_to_query(r, look_rates);
}
