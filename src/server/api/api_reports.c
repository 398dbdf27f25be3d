/* api_reports.c - how one thing went: failures and successes of a job, a queue, an owner, a team,
 * or of all, over a range of hours (api_rankings.c has many side by side). Numbers come from
 * tallies (job/record/tally.h); what is shown as recent is a short list. */
#include "base/when.h"
#include "loop/clock.h"
#include "server/api/api.h"
#include "server/view/exec_traces.h"
#include "server/view/job_view.h"
#include "wire/message/record_json.h"
#include "wire/message/report_json.h"

enum {
    REPORT_BYTES_MAX = 1 << 20,
    RECENT_MAX = 10,
    RUNS_MAX = 1000, /* executions of a job that runs once: its first, and what was run again */
    DAYS_DEFAULT = 30,
};

/* What a report is about; lives in the request's arena. */
struct report {
    enum tally_scope scope;
    struct str key;
    uint64_t job_id;
    struct report_range range;
    bool failures; /* else successes */
};

/* ---- the range */

static int64_t hour_of(int64_t at_ms)
{
    return at_ms / TALLY_HOUR_MS;
}

static void read_range(struct request *r, struct report_range *range, struct field_errors *errors)
{
    range->until_ms = clock_wall_ms();
    request_moment(r, "end_date", &range->until_ms, errors);
    range->from_ms = range->until_ms - INT64_C(86400000) * DAYS_DEFAULT;
    request_moment(r, "start_date", &range->from_ms, errors);
    if (range->from_ms < 0)
        range->from_ms = 0;
    if (range->from_ms >= range->until_ms)
        field_error(errors, r->arena, STR("start_date"), "must be before end_date");
    /* Whole hours are what is counted. */
    range->from_ms = hour_of(range->from_ms) * TALLY_HOUR_MS;
    range->until_ms = hour_of(range->until_ms + TALLY_HOUR_MS - 1) * TALLY_HOUR_MS;
}

/* ---- what is told; on a query thread */

/* A job that runs once has few executions, and no tally of its own. */
static enum rc sum_runs(struct reader *reader, const struct report *report, struct arena *arena,
                        struct tally_sum *sum, struct err *err)
{
    struct filter filter = {.job_id = report->job_id};
    struct page all = {.limit = RUNS_MAX};
    struct exec_page page;
    TRY(reader->ops->execs(reader, &filter, &all, arena, &page, err));
    for (size_t i = 0; i < page.count; i++) {
        const struct exec_rec *x = &page.execs[i];
        if (!tally_counts(x->state) || x->finished_ms < report->range.from_ms ||
            x->finished_ms >= report->range.until_ms)
            continue;
        uint64_t took_ms = (uint64_t)(x->finished_ms - x->started_ms);
        struct tally row = {.end = x->state, .count = 1, .sum_ms = took_ms};
        row.bucket = x->state == EXEC_COMPLETED ? (uint32_t)sketch_bucket(took_ms) : FAILURE_NONE;
        tally_add(sum, &row);
    }
    return RC_OK;
}

static enum rc add_up(struct reader *reader, const struct report *report, struct arena *arena,
                      struct tally_sum *ret_sum, struct err *err)
{
    TRY(reader->ops->tally(reader, report->scope, &report->key, 1, hour_of(report->range.from_ms),
                           hour_of(report->range.until_ms), ret_sum, err));
    if (report->scope == TALLY_JOB &&
        ret_sum->completed + ret_sum->deduplicated + ret_sum->failed == 0)
        return sum_runs(reader, report, arena, ret_sum, err);
    return RC_OK;
}

/* Newest first: those that failed, then those that timed out. */
static enum rc print_recent(struct json_writer *w, struct reader *reader, struct request *r,
                            struct err *err)
{
    const struct report *report = r->own;
    struct arena *arena = r->arena;
    static const enum exec_state ends[] = {EXEC_FAILED, EXEC_TIMEOUT};
    size_t left = RECENT_MAX;
    json_key(w, "recent");
    json_open_array(w);
    for (size_t i = 0; i < COUNT_OF(ends) && left > 0; i++) {
        struct filter filter = {.states = FILTER_STATE(ends[i]), .job_id = report->job_id};
        struct page newest = {.limit = left};
        struct exec_page page;
        if (report->scope == TALLY_QUEUE)
            filter.queue = report->key;
        TRY(reader->ops->execs(reader, &filter, &newest, arena, &page, err));
        struct str *names = ARENA_ARRAY(arena, struct str, page.count + 1);
        TRY(exec_names_read(reader, page.execs, page.count, arena, names, err));
        exec_traces_fill(r->server, page.execs, page.count, arena);
        for (size_t j = 0; j < page.count; j++)
            exec_print_short(w, &page.execs[j], names[j]);
        left -= page.count;
    }
    json_close_array(w);
    return RC_OK;
}

static enum rc print_report(struct request *r, struct reader *reader, struct err *err)
{
    const struct report *report = r->own;
    struct tally_sum *sum = ARENA_NEW(r->arena, struct tally_sum);
    struct job_rec job;
    if (report->scope == TALLY_JOB)
        TRY(reader->ops->job(reader, report->job_id, r->arena, &job, err));
    TRY(add_up(reader, report, r->arena, sum, err));
    r->body = BUF(REPORT_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    report_print_head(&w, &report->range, sum);
    if (!report->failures) {
        report_print_successes(&w, sum);
    } else {
        report_print_failures(&w, sum);
        if (report->scope <= TALLY_JOB) /* lists know no owners and teams of executions */
            TRY(print_recent(&w, reader, r, err));
    }
    json_close(&w);
    return RC_OK;
}

static void look_report(struct request *r, struct reader *reader)
{
    r->rc = print_report(r, reader, &r->err);
}

/* ---- the calls */

static void start_report(struct request *r, struct report report)
{
    static const char *const params[] = {"start_date", "end_date", NULL};
    struct field_errors errors = {0};
    if (!request_params_known(r, params))
        return;
    read_range(r, &report.range, &errors);
    if (errors.count > 0) {
        request_fail_fields(r, &errors);
        return;
    }
    struct report *own = ARENA_NEW(r->arena, struct report);
    *own = report;
    r->own = own;
    request_to_query(r, look_report);
}

static void report_job(struct request *r, bool failures)
{
    char id[ID_TEXT_MAX];
    uint64_t job_id;
    if (!request_path_id(r, ID_JOB, &job_id))
        return;
    struct str key = arena_str(r->arena, id_format(id, ID_JOB, job_id));
    start_report(r, (struct report){TALLY_JOB, key, job_id, .failures = failures});
}

static void report_named(struct request *r, enum tally_scope scope, bool failures)
{
    struct str key;
    if (!http_decode(r->arena, r->id, false, &key))
        request_problem(r, 400, "the name has a %% without two hexadecimal digits behind it");
    else
        start_report(r, (struct report){scope, key, .failures = failures});
}

void api_job_failures(struct request *r)
{
    report_job(r, true);
}

void api_job_successes(struct request *r)
{
    report_job(r, false);
}

void api_queue_failures(struct request *r)
{
    report_named(r, TALLY_QUEUE, true);
}

void api_queue_successes(struct request *r)
{
    report_named(r, TALLY_QUEUE, false);
}

void api_owner_failures(struct request *r)
{
    report_named(r, TALLY_OWNER, true);
}

void api_owner_successes(struct request *r)
{
    report_named(r, TALLY_OWNER, false);
}

void api_team_failures(struct request *r)
{
    report_named(r, TALLY_TEAM, true);
}

void api_team_successes(struct request *r)
{
    report_named(r, TALLY_TEAM, false);
}

void api_failures(struct request *r)
{
    start_report(r, (struct report){TALLY_ALL, STR(""), .failures = true});
}

void api_successes(struct request *r)
{
    start_report(r, (struct report){TALLY_ALL, STR(""), .failures = false});
}
