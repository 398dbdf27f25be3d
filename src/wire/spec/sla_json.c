#include "wire/spec/sla_json.h"
#include "base/id.h"
#include "base/when.h"

#include <inttypes.h>

/* ---- in a job document */

void sla_read(const struct fields *f, const struct field_place *at, const struct json *value,
              void *into)
{
    enum { EXPECTED, MAX, POLICY };
    static const struct field sla_fields[] = {
        [EXPECTED] = {FIELD("expected", struct sla, expected_ms), .kind = FIELD_DURATION, .min = 1,
                      .max = DURATION_MAX_MS},
        [MAX] = {FIELD("max", struct sla, max_ms), .kind = FIELD_DURATION, .min = 1,
                 .max = DURATION_MAX_MS},
        [POLICY] = {FIELD("policy", struct sla, policy), .kind = FIELD_ONE_OF,
                    .words = &sla_policy_words},
    };
    struct sla *sla = into;
    uint64_t seen = fields_read(f, at, value, sla_fields, COUNT_OF(sla_fields), sla);
    if (value->kind == JSON_OBJECT && !fields_seen(seen, EXPECTED) && !fields_seen(seen, MAX))
        fields_fail(f, at, "must have expected, max, or both");
    if (sla->max_ms > 0 && sla->expected_ms > sla->max_ms) {
        struct field_place place = {.parent = at, .key = STR("expected")};
        fields_fail(f, &place, "must not be longer than max");
    }
}

static void put_duration(struct json_writer *w, const char *key, int64_t ms)
{
    char text[WHEN_TEXT_MAX];
    if (ms > 0)
        json_put_str(w, key, duration_format(text, ms));
}

void sla_put(struct json_writer *w, const struct sla *sla)
{
    if (!sla_is_set(sla))
        return;
    json_key(w, "sla");
    json_open(w);
    put_duration(w, "expected", sla->expected_ms);
    put_duration(w, "max", sla->max_ms);
    json_put_str(w, "policy", words_name(&sla_policy_words, sla->policy));
    json_close(w);
}

/* ---- how it stands */

void sla_exec_put(struct json_writer *w, const struct exec_rec *exec)
{
    uint32_t marks = exec->sla_marks & ~(uint32_t)(SLA_SLOW | SLA_MISSED); /* not of its SLA */
    if (exec->sla_since_ms == 0 && exec->sla_extra_ms == 0 && marks == 0) {
        json_put_null(w, "sla");
        return;
    }
    json_key(w, "sla");
    json_open(w);
    json_put_when(w, "since", exec->sla_since_ms);
    json_put_int(w, "extended_ms", exec->sla_extra_ms);
    json_put_bool(w, "warned", (marks & SLA_WARNED) != 0);
    json_put_bool(w, "violated", (marks & SLA_VIOLATED) != 0);
    json_put_bool(w, "broken", (marks & SLA_BROKEN) != 0);
    if ((marks & (SLA_EXCEEDED | SLA_COUNTED)) != 0)
        json_put_bool(w, "exceeded_expected", (marks & SLA_EXCEEDED) != 0);
    else
        json_put_null(w, "exceeded_expected"); /* from before that was marked */
    json_close(w);
}

static void put_limit(struct json_writer *w, const char *key, int64_t ms)
{
    if (ms > 0)
        json_put_int(w, key, ms);
    else
        json_put_null(w, key);
}

/* Hundredths of a percent as 12.34; null when there is none. */
static void put_percent(struct json_writer *w, const char *key, bool known, int64_t bp)
{
    char text[32];
    struct buf out = {.ptr = text, .cap = sizeof text, .max = sizeof text};
    if (!known) {
        json_put_null(w, key);
        return;
    }
    buf_printf(&out, "%" PRId64 ".%02d", bp / 100, (int)(bp % 100));
    json_put_raw(w, key, buf_str(&out));
}

void sla_event_print(struct json_writer *w, const struct sla_event_rec *event)
{
    json_open(w);
    json_put_id(w, "sla_event_id", ID_SLA_EVENT, event->id);
    json_put_when(w, "at", event->at_ms);
    json_put_str(w, "kind", sla_event_kind_name(event->kind));
    json_put_id(w, "execution_id", ID_EXEC, event->exec_id);
    json_put_id(w, "job_id", ID_JOB, event->job_id);
    json_put_str(w, "queue", event->queue);
    json_put_int(w, "attempt", event->attempt);
    json_put_str(w, "policy", words_name(&sla_policy_words, event->policy));
    put_limit(w, "expected_ms", event->expected_ms);
    put_limit(w, "max_ms", event->max_ms);
    json_put_int(w, "actual_ms", event->actual_ms);
    json_put_int(w, "overrun_ms", sla_event_overrun_ms(event));
    json_put_int(w, "overrun_percent", sla_event_overrun_percent(event));
    put_percent(w, "sla_violation_percentage", sla_event_is_violation(event),
                sla_event_violation_bp(event));
    json_put_str(w, "action", sla_event_action(event));
    put_limit(w, "extended_ms", event->extended_ms);
    json_put_text(w, "actor", event->actor);
    json_put_text(w, "reason", event->reason);
    json_put_text(w, "approver", event->approver);
    json_close(w);
}

void sla_stream_print(struct json_writer *w, const struct event *event)
{
    json_open(w);
    json_put_when(w, "at", event->at_ms);
    json_put_id(w, "execution_id", ID_EXEC, event->exec_id);
    json_put_id(w, "job_id", ID_JOB, event->job_id);
    json_put_str(w, "queue", event->queue);
    json_put_str(w, "kind", sla_event_kind_name(event->sla));
    json_put_str(w, "policy", words_name(&sla_policy_words, event->sla_policy));
    put_limit(w, "limit_ms", event->sla_limit_ms);
    json_put_int(w, "actual_ms", event->sla_actual_ms);
    json_put_str(w, "status", exec_state_name(event->state));
    json_close(w);
}

/* ---- more time */

enum rc sla_wish_parse(const struct json *doc, struct arena *arena, struct sla_wish *ret_wish,
                       struct field_errors *errors)
{
    static const struct field table[] = {
        {FIELD("by", struct sla_wish, by_ms), .kind = FIELD_DURATION, .required = true, .min = 1,
         .max = DURATION_MAX_MS},
        {FIELD("reason", struct sla_wish, reason), .kind = FIELD_LINE, .required = true, .min = 1,
         .max = SLA_REASON_MAX},
        {FIELD("approver", struct sla_wish, approver), .kind = FIELD_LINE, .required = true,
         .min = 1, .max = SLA_APPROVER_MAX},
        {FIELD("execution", struct sla_wish, exec_id), .kind = FIELD_ID, .prefix = ID_EXEC},
    };
    const struct fields f = {.arena = arena, .errors = errors};
    *ret_wish = (struct sla_wish){0};
    fields_read(&f, NULL, doc, table, COUNT_OF(table), ret_wish);
    return errors->count == 0 ? RC_OK : RC_INVALID;
}

static void put_moment(struct json_writer *w, const char *key, int64_t since_ms, int64_t limit_ms)
{
    if (limit_ms > 0)
        json_put_when(w, key, since_ms + limit_ms);
    else
        json_put_null(w, key);
}

void sla_extended_print(struct json_writer *w, const struct command *cmd)
{
    const struct sla_view *sla = &cmd->reply.sla;
    json_open(w);
    json_put_id(w, "job_id", ID_JOB, cmd->reply.job_id);
    json_put_id(w, "execution_id", ID_EXEC, cmd->reply.exec_id);
    json_put_str(w, "status", exec_state_name(cmd->reply.exec_state));
    json_put_int(w, "extended_ms", sla->extended_ms);
    put_moment(w, "expected_at", sla->since_ms, sla->expected_ms);
    put_moment(w, "max_at", sla->since_ms, sla->max_ms);
    json_close(w);
}

/* ---- the report */

static void put_average(struct json_writer *w, const char *key, int64_t sum, int64_t count)
{
    if (count > 0)
        json_put_int(w, key, sum / count);
    else
        json_put_null(w, key);
}

/* A share as 0.9987: four digits, without a detour over floating point. */
static void put_rate(struct json_writer *w, const char *key, int64_t part, int64_t whole)
{
    char text[32];
    struct buf out = {.ptr = text, .cap = sizeof text, .max = sizeof text};
    if (whole == 0) {
        json_put_null(w, key);
        return;
    }
    int64_t rate = part * 10000 / whole;
    buf_printf(&out, "%d.%04d", (int)(rate / 10000), (int)(rate % 10000));
    json_put_raw(w, key, buf_str(&out));
}

void sla_report_print(struct json_writer *w, uint64_t job_id, const struct sla_report *report)
{
    json_open(w);
    json_put_id(w, "job_id", ID_JOB, job_id);
    json_put_when(w, "start_date", report->start_ms);
    json_put_when(w, "end_date", report->end_ms);
    json_put_int(w, "total", report->total);
    json_put_int(w, "met", report->total - report->violated);
    json_put_int(w, "violated", report->violated);
    put_rate(w, "rate", report->total - report->violated, report->total);
    put_average(w, "average_duration_ms", report->duration_ms, report->total);
    put_average(w, "average_overrun_ms", report->overrun_ms, report->overruns);
    put_percent(w, "average_violation_percentage", report->percents > 0,
                report->percents > 0 ? report->percent_bp / report->percents : 0);
    json_put_int(w, "exceeded_expected", report->exceeded);
    json_put_int(w, "uncounted_expected", report->uncounted);
    json_put_bool(w, "cut", report->cut);
    json_close(w);
}
