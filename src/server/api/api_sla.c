/* api_sla.c - more time for what runs, and how often a job took longer than it may. */
#include "loop/clock.h"
#include "server/api/api.h"
#include "server/call/resolve.h"
#include "wire/spec/sla_json.h"

enum {
    RUNS_MAX = 1000,  /* executions of a job that runs once, and events, that a report looks at */
    REPORT_DAYS = 30, /* when nobody says since when */
};

#define DAY_MS INT64_C(86400000)

/* ---- more time */

static void answer_extended(struct request *r)
{
    struct json_writer w = request_writer(r);
    sla_extended_print(&w, &r->cmd);
    request_answer_body(r, 200);
}

static void extend(struct request *r)
{
    struct json doc;
    struct sla_wish wish;
    struct field_errors errors = {0};
    if (!request_json(r, false, &doc))
        return;
    if (sla_wish_parse(&doc, r->arena, &wish, &errors) != RC_OK) {
        request_fail_fields(r, &errors);
        return;
    }
    r->cmd.target.by_ms = wish.by_ms;
    r->cmd.target.reason = wish.reason;
    r->cmd.target.approver = wish.approver;
    r->cmd.target.exec_id = wish.exec_id;
    request_to_turn(r, answer_extended);
}

void api_job_extend_sla(struct request *r)
{
    struct resolve_texts texts = {0};
    struct json doc;
    if (!request_no_params(r) || !request_path_id(r, ID_JOB, &r->cmd.target.id) ||
        !request_json(r, false, &doc))
        return;
    resolve_add_member(r, &texts, &doc, STR("execution"), true, "execution");
    resolve_body(r, &texts, extend);
}

/* ---- the report */

/* A job that recurs has numbers by the hour; false when it has none. */
static enum rc add_tallies(struct request *r, struct reader *reader, struct sla_report *report,
                           bool *ret_recurs)
{
    struct tally_sum *sum = ARENA_NEW(r->arena, struct tally_sum);
    char id[ID_TEXT_MAX];
    struct str key = arena_str(r->arena, id_format(id, ID_JOB, r->cmd.target.id));
    int64_t from = report->start_ms / TALLY_HOUR_MS;
    int64_t until = report->end_ms / TALLY_HOUR_MS;
    TRY(reader->ops->tally(reader, TALLY_JOB, &key, 1, from, until, sum, &r->err));
    *ret_recurs = sum->completed + sum->deduplicated + sum->failed > 0;
    if (!*ret_recurs)
        return RC_OK;
    TRY(reader->ops->tally(reader, TALLY_SLA, &key, 1, from, until, sum, &r->err));
    report->violated = (int64_t)sum->sla[TALLY_SLA_BROKEN].count;
    report->total = report->violated + (int64_t)sum->sla[TALLY_SLA_MET].count;
    report->duration_ms =
        (int64_t)(sum->sla[TALLY_SLA_MET].sum_ms + sum->sla[TALLY_SLA_BROKEN].sum_ms);
    report->overruns = (int64_t)sum->sla[TALLY_SLA_OVERRUN].count;
    report->overrun_ms = (int64_t)sum->sla[TALLY_SLA_OVERRUN].sum_ms;
    report->percents = (int64_t)sum->sla[TALLY_SLA_PERCENT].count;
    report->percent_bp = (int64_t)sum->sla[TALLY_SLA_PERCENT].sum_ms;
    report->exceeded = (int64_t)sum->sla[TALLY_SLA_EXCEEDED].count;
    report->uncounted =
        report->total - report->exceeded - (int64_t)sum->sla[TALLY_SLA_EXPECTED].count;
    return RC_OK;
}

static bool counts(const struct exec_rec *exec, const struct sla_report *report)
{
    return exec->sla_since_ms > 0 && tally_counts(exec->state) &&
           exec->finished_ms >= report->start_ms && exec->finished_ms < report->end_ms;
}

/* Others have few executions: their first, and what was run again. */
static enum rc add_execs(struct request *r, struct reader *reader, struct sla_report *report)
{
    struct filter filter = {.job_id = r->cmd.target.id};
    struct page page = {.limit = RUNS_MAX};
    struct exec_page found;
    TRY(reader->ops->execs(reader, &filter, &page, r->arena, &found, &r->err));
    for (size_t i = 0; i < found.count; i++) {
        const struct exec_rec *exec = &found.execs[i];
        if (!counts(exec, report))
            continue;
        report->total++;
        report->violated += (exec->sla_marks & SLA_BROKEN) != 0;
        report->exceeded += (exec->sla_marks & SLA_EXCEEDED) != 0;
        report->uncounted += (exec->sla_marks & (SLA_EXCEEDED | SLA_COUNTED)) == 0;
        if (exec->finished_ms > exec->sla_since_ms)
            report->duration_ms += exec->finished_ms - exec->sla_since_ms;
    }
    report->cut |= found.next != 0;
    return RC_OK;
}

static enum rc add_overruns(struct request *r, struct reader *reader, struct sla_report *report)
{
    struct page page = {.limit = RUNS_MAX};
    struct sla_page found;
    TRY(reader->ops->sla_events(reader, r->cmd.target.id, 0, &page, r->arena, &found, &r->err));
    for (size_t i = 0; i < found.count; i++) {
        const struct sla_event_rec *event = &found.events[i];
        if (event->kind != SLA_EVENT_END || event->at_ms < report->start_ms ||
            event->at_ms >= report->end_ms)
            continue;
        report->overruns++;
        report->overrun_ms += sla_event_overrun_ms(event);
        report->percents++;
        report->percent_bp += sla_event_violation_bp(event);
    }
    report->cut |= found.next != 0;
    return RC_OK;
}

static void look_compliance(struct request *r, struct reader *reader)
{
    struct sla_report *report = r->own;
    struct job_rec job;
    bool recurs = false;
    r->rc = reader->ops->job(reader, r->cmd.target.id, r->arena, &job, &r->err);
    if (r->rc == RC_OK)
        r->rc = add_tallies(r, reader, report, &recurs);
    if (r->rc == RC_OK && !recurs)
        r->rc = add_execs(r, reader, report);
    if (r->rc == RC_OK && !recurs)
        r->rc = add_overruns(r, reader, report);
    if (r->rc != RC_OK)
        return;
    struct json_writer w = JSON_WRITER(&r->body);
    sla_report_print(&w, job.id, report);
}

void api_job_sla_compliance(struct request *r)
{
    static const char *const known[] = {"start_date", "end_date", NULL};
    struct sla_report *report = ARENA_NEW(r->arena, struct sla_report);
    struct field_errors errors = {0};
    if (!request_params_known(r, known) || !request_path_id(r, ID_JOB, &r->cmd.target.id))
        return;
    report->end_ms = clock_wall_ms() + 1; /* with what ended just now */
    request_moment(r, "end_date", &report->end_ms, &errors);
    report->start_ms = report->end_ms - REPORT_DAYS * DAY_MS;
    if (report->start_ms < 0)
        report->start_ms = 0;
    request_moment(r, "start_date", &report->start_ms, &errors);
    if (errors.count == 0 && report->start_ms >= report->end_ms)
        field_error(&errors, r->arena, STR("start_date"), "must be before end_date");
    if (errors.count > 0) {
        request_fail_fields(r, &errors);
        return;
    }
    /* Whole hours are what is counted. */
    report->start_ms -= report->start_ms % TALLY_HOUR_MS;
    report->end_ms += TALLY_HOUR_MS - 1 - (report->end_ms - 1) % TALLY_HOUR_MS;
    r->own = report;
    request_to_query(r, look_compliance);
}
