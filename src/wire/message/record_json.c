#include "wire/message/record_json.h"
#include "base/id.h"
#include "base/when.h"
#include "job/job_fields.h"
#include "job/record/trail.h"
#include "job/spec_scan.h"
#include "wire/message/breaker_json.h"
#include "wire/message/explain_json.h"
#include "wire/message/queue_json.h"
#include "wire/spec/depends_json.h"
#include "wire/spec/sla_json.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- small parts */

static void put_id(struct json_writer *w, const char *key, const char *prefix, uint64_t id)
{
    if (id != 0)
        json_put_id(w, key, prefix, id);
    else
        json_put_null(w, key);
}

static void put_duration(struct json_writer *w, int64_t from_ms, int64_t to_ms)
{
    if (from_ms == 0 || to_ms == 0)
        json_put_null(w, "duration_ms");
    else
        json_put_int(w, "duration_ms", to_ms > from_ms ? to_ms - from_ms : 0);
}

static void put_transitions(struct json_writer *w, struct str trail)
{
    struct trail_step step;
    json_key(w, "transitions");
    json_open_array(w);
    while (trail_next(&trail, &step)) {
        json_open(w);
        json_put_when(w, "at", step.at_ms);
        json_put_str(w, "event", step.event);
        json_put_str(w, "status", step.state);
        json_put_str(w, "actor", step.actor);
        json_put_str(w, "reason", step.reason);
        json_close(w);
    }
    json_close_array(w);
}

/* Newline-separated names as an array. */
static void put_names(struct json_writer *w, const char *key, struct str names)
{
    json_key(w, key);
    json_open_array(w);
    while (names.len > 0) {
        struct str name = str_cut(&names, '\n');
        if (name.len > 0)
            json_str(w, name);
    }
    json_close_array(w);
}

/* ---- executions */

/* Which promise it is for. Of a schedule's slots each is in exactly one record: its own, or that of
 * a range which was skipped as a whole. */
static void put_slot(struct json_writer *w, const struct exec_rec *exec)
{
    char text[WHEN_TEXT_MAX];
    bool is_slot = exec->origin == ORIGIN_SLOT;
    json_put_str(w, "origin", origin_name(exec->origin));
    json_put_when(w, "slot", exec->slot_ms);
    if (is_slot) { /* a clock on the wall shows no Z */
        struct str local = when_format(text, exec->nominal_ms);
        json_put_str(w, "nominal_time", str_head(local, local.len - 1));
    } else {
        json_put_null(w, "nominal_time");
    }
    json_put_when(w, "slot_last", exec->slot_last_ms);
    json_put_int(w, "slot_count", exec->slot_count > 0 ? (int64_t)exec->slot_count : is_slot);
}

static void put_exec(struct json_writer *w, const struct exec_rec *exec, struct str job_name)
{
    json_put_id(w, "execution_id", ID_EXEC, exec->id);
    json_put_id(w, "job_id", ID_JOB, exec->job_id);
    json_put_text(w, "job_name", job_name);
    json_put_str(w, "status", exec_state_name(exec->state));
    json_put_bool(w, "stopping",
                  exec->state == EXEC_STOPPING ||
                      (exec->state == EXEC_RUNNING && (exec->sla_marks & SLA_STOP) != 0));
    json_put_str(w, "queue", exec->queue);
    json_put_int(w, "priority", exec->priority);
    put_slot(w, exec);
    json_put_text(w, "trace_id", trace_id_text(exec->trace));
    json_put_when(w, "created_at", exec->created_ms);
    json_put_when(w, "due_at", exec->due_ms);
    json_put_when(w, "started_at", exec->started_ms);
    json_put_when(w, "finished_at", exec->finished_ms);
    put_duration(w, exec->started_ms, exec->finished_ms);
    put_id(w, "retry_of", ID_EXEC, exec->retry_of);
    json_put_int(w, "attempt_count", exec->attempts);
    json_put_int(w, "lost_count", exec->lost);
    json_put_int(w, "returned_count", exec->returned);
    json_put_when(w, "next_attempt_at", exec->state == EXEC_RETRYING ? exec->due_ms : 0);
    json_put_bool(w, "start_late", exec->late);
    sla_exec_put(w, exec);
    put_id(w, "worker_id", ID_WORKER, exec->worker_id);
    json_put_int(w, "token", (int64_t)exec->token);
    json_put_id(w, "idempotency_key", ID_EXEC, exec->id);
    json_put_text(w, "error", exec->error);
}

/* Why it failed, and by what others like it are found. */
static void put_failure(struct json_writer *w, const struct attempt_rec *attempt)
{
    char print[FAILURE_PRINT_MAX];
    char line_bytes[FAILURE_LINE_BYTES_MAX];
    bool failed = attempt->class != FAILURE_NONE;
    struct str line = failure_line(attempt->tail);
    line = failure_normalise(line.len > 0 ? line : attempt->error, line_bytes);
    json_put_text(w, "error_class", failed ? failure_name(attempt->class) : STR(""));
    json_put_text(w, "fingerprint", failed ? failure_print(attempt->fingerprint, print) : STR(""));
    json_put_text(w, "fingerprint_text", failed ? line : STR(""));
    json_put_text(w, "error_tail", attempt->tail);
    json_put_text(w, "stack_trace", failure_trace(attempt->tail));
}

static void put_exit_code(struct json_writer *w, const struct usage *usage)
{
    if (usage->exit_code >= 0)
        json_put_int(w, "exit_code", usage->exit_code);
    else
        json_put_null(w, "exit_code");
}

static void print_attempt(struct json_writer *w, const struct attempt_rec *attempt)
{
    const struct usage *usage = &attempt->usage;
    json_open(w);
    json_put_int(w, "attempt", attempt->number);
    json_put_int(w, "token", (int64_t)attempt->token);
    put_id(w, "worker_id", ID_WORKER, attempt->worker_id);
    json_put_str(w, "outcome", outcome_name(attempt->outcome));
    json_put_when(w, "started_at", attempt->started_ms);
    json_put_when(w, "ended_at", attempt->ended_ms);
    put_duration(w, attempt->started_ms, attempt->ended_ms);
    put_exit_code(w, usage);
    if (usage->signal != 0)
        json_put_int(w, "signal", usage->signal);
    else
        json_put_null(w, "signal");
    json_put_int(w, "cpu_ms", usage->cpu_ms);
    json_put_int(w, "peak_memory_bytes", usage->peak_memory_bytes);
    json_put_int(w, "output_bytes", usage->output_bytes);
    json_put_int(w, "dropped_bytes", usage->dropped_bytes);
    json_put_text(w, "error", attempt->error);
    put_failure(w, attempt);
    json_close(w);
}

static void put_attempts(struct json_writer *w, const struct attempt_rec *attempts, size_t count)
{
    json_key(w, "attempts");
    json_open_array(w);
    for (size_t i = 0; i < count; i++)
        print_attempt(w, &attempts[i]);
    json_close_array(w);
}

static void put_result(struct json_writer *w, const struct exec_rec *exec)
{
    if (exec->result.len > 0)
        json_put_raw(w, "result", exec->result);
    else
        json_put_null(w, "result");
}

void exec_print_short(struct json_writer *w, const struct exec_rec *exec, struct str job_name)
{
    json_open(w);
    put_exec(w, exec, job_name);
    json_close(w);
}

/* What went wrong last stands beside the attempts: most readers want no more. */
static void print_last(struct json_writer *w, const struct last_run *run, struct str job_name)
{
    static const struct attempt_rec none = {.usage = {.exit_code = -1}};
    const struct attempt_rec *newest =
        run->attempt_count > 0 ? &run->attempts[run->attempt_count - 1] : &none;
    bool failed = newest->class != FAILURE_NONE;
    json_open(w);
    put_exec(w, run->exec, job_name);
    put_exit_code(w, &newest->usage);
    json_put_text(w, "error_class", failed ? failure_name(newest->class) : STR(""));
    json_put_text(w, "error_tail", newest->tail);
    put_result(w, run->exec);
    put_attempts(w, run->attempts, run->attempt_count);
    json_close(w);
}

void exec_print(struct json_writer *w, const struct exec_rec *exec, struct str job_name,
                const struct attempt_rec *attempts, size_t attempt_count,
                const struct sla_event_rec *events, size_t event_count)
{
    json_open(w);
    put_exec(w, exec, job_name);
    if (exec->payload.len > 0)
        json_put_raw(w, "payload", exec->payload);
    else
        json_put_null(w, "payload");
    put_result(w, exec);
    put_attempts(w, attempts, attempt_count);
    json_key(w, "sla_events");
    json_open_array(w);
    for (size_t i = event_count; i-- > 0;)
        sla_event_print(w, &events[i]);
    json_close_array(w);
    put_transitions(w, exec->trail);
    json_close(w);
}

/* ---- jobs */

static void put_outcomes(struct json_writer *w, const struct last_outcomes *outcomes)
{
    json_key(w, "last_outcomes");
    json_open_array(w);
    for (size_t i = 0; i < outcomes->count; i++) {
        const struct exec_rec *exec = &outcomes->execs[i];
        json_open(w);
        json_put_id(w, "execution_id", ID_EXEC, exec->id);
        json_put_str(w, "status", exec_state_name(exec->state));
        json_put_when(w, "finished_at", exec->finished_ms);
        put_duration(w, exec->started_ms, exec->finished_ms);
        json_close(w);
    }
    json_close_array(w);
}

static void put_job(struct json_writer *w, const struct job_rec *job, const struct job_view *view)
{
    json_put_id(w, "job_id", ID_JOB, job->id);
    json_put_str(w, "status", job_state_name(job->state));
    json_put_str(w, "phase", phase_name(view->phase));
    json_put_int(w, "version", job->version);
    json_put_str(w, "owner", job->owner);
    json_put_when(w, "created_at", job->created_ms);
    json_put_when(w, "finished_at", job->finished_ms);
    json_put_when(w, "changed_at", job->changed_ms);
    put_id(w, "last_execution_id", ID_EXEC, view->last == NULL ? job->last_exec : view->last->id);
    json_put_text(w, "schedule_text", view->schedule_text);
    json_put_when(w, "next_run_at", view->next_run_ms);
    json_put_when(w, "ping_due_at", view->ping_due_ms);
    if (view->estimate != NULL)
        estimate_put(w, view->estimate);
    if (view->outcomes != NULL)
        put_outcomes(w, view->outcomes);
    if (view->pace != NULL && view->pace->known)
        json_put_int(w, "p50_duration_ms", (int64_t)view->pace->p50_ms);
    else if (view->pace != NULL)
        json_put_null(w, "p50_duration_ms");
}

/* The definition. What a table shows of every job is there even when the definition has no such
 * field. */
static void put_spec(struct json_writer *w, const struct job_rec *job)
{
    static const char *const shown[] = {"name", "description", "team", "timeout"};
    for (size_t i = 0; i < COUNT_OF(shown); i++) {
        if (spec_scan(job->spec, str_c(shown[i])).len == 0)
            json_put_null(w, shown[i]);
    }
    json_raw_members(w, job->spec);
}

/* As people say it: "90s", "1h30m"; what is longer than a minute to the second. */
static struct str words_ms(char text[WHEN_TEXT_MAX], int64_t ms)
{
    return duration_format(text, ms > 60000 ? ms / 1000 * 1000 : ms);
}

static void put_warning(struct json_writer *w, const struct warning *warning)
{
    char sentence[256];
    char p95[WHEN_TEXT_MAX];
    char interval[WHEN_TEXT_MAX];
    struct buf text = {.ptr = sentence, .cap = sizeof sentence, .max = sizeof sentence};
    buf_printf(&text,
               "its runs take about %.*s (p95 of the newest %" PRIu64
               "), longer than the %.*s between two slots",
               STR_ARG(words_ms(p95, warning->p95_ms)), warning->runs,
               STR_ARG(words_ms(interval, warning->interval_ms)));
    json_open(w);
    json_put_str(w, "code", warning_kind_name(warning->kind));
    json_put_str(w, "text", buf_str(&text));
    json_put_int(w, "p95_ms", warning->p95_ms);
    json_put_int(w, "interval_ms", warning->interval_ms);
    json_put_int(w, "runs", (int64_t)warning->runs);
    json_close(w);
}

void warnings_put(struct json_writer *w, const struct warning *warnings, size_t count)
{
    json_key(w, "warnings");
    json_open_array(w);
    for (size_t i = 0; i < count; i++)
        put_warning(w, &warnings[i]);
    json_close_array(w);
}

static void put_runs(struct json_writer *w, const struct job_rec *job, const struct job_view *view)
{
    static const struct exec_rec none = {.state = EXEC_NONE};
    const struct exec_rec *last = view->last == NULL ? &none : view->last;
    json_key(w, "current_execution");
    if (view->current != NULL)
        exec_print_short(w, view->current, job->name);
    else
        json_null(w);
    json_key(w, "last_execution");
    if (view->last_run != NULL)
        print_last(w, view->last_run, job->name);
    else
        json_null(w);
    json_put_int(w, "retry_count", last->attempts > 0 ? last->attempts - 1 : 0);
    json_put_int(w, "lost_count", last->lost);
}

void job_print_short(struct json_writer *w, const struct job_rec *job, const struct job_view *view)
{
    json_open(w);
    put_job(w, job, view);
    if (view->waits != NULL)
        dependencies_put(w, "depends_on", false, view->waits->upstreams,
                         view->waits->upstream_count);
    put_spec(w, job);
    json_close(w);
}

static void put_waits(struct json_writer *w, const struct job_waits *waits)
{
    static const struct job_waits none = {0};
    waits = waits == NULL ? &none : waits;
    dependencies_put(w, "depends_on", false, waits->upstreams, waits->upstream_count);
    dependencies_put(w, "dependants", true, waits->dependants, waits->dependant_count);
    json_put_bool(w, "more_dependants", waits->more_dependants);
}

void job_print(struct json_writer *w, const struct job_rec *job, const struct job_view *view)
{
    json_open(w);
    put_job(w, job, view);
    put_runs(w, job, view);
    put_waits(w, view->waits);
    warnings_put(w, view->warnings, view->warning_count);
    put_transitions(w, job->trail);
    put_spec(w, job);
    if (job->payload.len > 0)
        json_put_raw(w, "payload", job->payload);
    json_close(w);
}

/* ---- by name */

/* clang-format off */
#define MEMBERS_OF_JOBS(M)                                                                         \
    M(job_id, RECORD) M(status, RECORD) M(phase, APART) M(version, RECORD) M(owner, RECORD)        \
    M(created_at, RECORD) M(finished_at, RECORD) M(changed_at, RECORD)                             \
    M(last_execution_id, APART) M(schedule_text, APART) M(next_run_at, APART)                      \
    M(ping_due_at, APART) M(last_outcomes, OUTCOMES) M(p50_duration_ms, PACE)                      \
    M(estimated_start_time, ASKED) M(estimated_start_reason, ASKED)                                \
    M(current_execution, OF_ONE) M(last_execution, OF_ONE) M(retry_count, OF_ONE)                  \
    M(lost_count, OF_ONE) M(depends_on, WAITS) M(dependants, OF_ONE) M(more_dependants, OF_ONE)   \
    M(warnings, OF_ONE) M(transitions, OF_ONE) M(payload, OF_ONE)
#define MEMBERS_OF_EXECS(M)                                                                        \
    M(execution_id, RECORD) M(job_id, RECORD) M(job_name, APART) M(status, RECORD)                 \
    M(stopping, RECORD) M(queue, RECORD) M(priority, RECORD) M(origin, RECORD) M(slot, RECORD)     \
    M(nominal_time, RECORD) M(slot_last, RECORD) M(slot_count, RECORD) M(trace_id, RECORD)         \
    M(created_at, RECORD)                                                                          \
    M(due_at, RECORD) M(started_at, RECORD) M(finished_at, RECORD) M(duration_ms, RECORD)          \
    M(retry_of, RECORD) M(attempt_count, RECORD) M(lost_count, RECORD) M(returned_count, RECORD)   \
    M(next_attempt_at, RECORD) M(start_late, RECORD) M(sla, RECORD) M(worker_id, RECORD)           \
    M(token, RECORD) M(idempotency_key, RECORD) M(error, RECORD)                                   \
    M(payload, OF_ONE) M(result, OF_ONE) M(attempts, OF_ONE) M(sla_events, OF_ONE)                 \
    M(transitions, OF_ONE)
/* clang-format on */
#define MEMBER_ROW(name, kept) {STR_INIT(#name), SHOWN_##kept},
/* Of a definition: all that is in its canonical text. */
#define MEMBER_IN_TEXT_COLUMN SHOWN_RECORD
#define MEMBER_IN_TEXT_INDEXED SHOWN_RECORD
#define MEMBER_IN_TEXT_DOCUMENT SHOWN_RECORD
#define MEMBER_IN_TEXT_APART SHOWN_NEVER
#define MEMBER_FIELD(name, kind, bounds, printed, kept, ...)                                       \
    {STR_INIT(#name), MEMBER_IN_TEXT_##kept},

static const struct shown_member of_jobs[] = {MEMBERS_OF_JOBS(MEMBER_ROW) JOB_FIELDS(MEMBER_FIELD)};
static const struct shown_member of_execs[] = {MEMBERS_OF_EXECS(MEMBER_ROW)};
const struct shown_members job_members = {of_jobs, COUNT_OF(of_jobs), "job"};
const struct shown_members exec_members = {of_execs, COUNT_OF(of_execs), "execution"};

const struct shown_member *shown_find(const struct shown_members *members, struct str name)
{
    for (size_t i = 0; i < members->count; i++) {
        const struct shown_member *m = &members->all[i];
        if (m->kept != SHOWN_NEVER && str_eq(m->name, name))
            return m;
    }
    return NULL;
}

/* ---- workers */

static struct str worker_status(const struct worker_view *view, int64_t away_ms)
{
    if (view->silent_ms > away_ms)
        return STR("away");
    if (view->worker.draining)
        return STR("draining");
    return view->worker.cordoned_ms > 0 ? STR("cordoned") : STR("active");
}

static void put_cordon(struct json_writer *w, const struct worker_rec *worker)
{
    json_put_when(w, "cordoned_at", worker->cordoned_ms);
    json_put_text(w, "cordoned_by", worker->cordoned_by);
    json_put_text(w, "cordon_reason", worker->cordon_reason);
}

static void put_worker(struct json_writer *w, const struct worker_view *view, int64_t at_ms,
                       int64_t away_ms)
{
    const struct worker_rec *worker = &view->worker;
    json_put_id(w, "worker_id", ID_WORKER, worker->id);
    json_put_str(w, "name", worker->name);
    json_put_str(w, "status", worker_status(view, away_ms));
    json_put_int(w, "slots", worker->slots);
    json_put_int(w, "busy", view->busy);
    json_put_int(w, "free", view->busy < worker->slots ? worker->slots - view->busy : 0);
    put_names(w, "queues", worker->queues);
    put_names(w, "handlers", worker->handlers);
    json_put_bool(w, "commands", worker->runs_commands);
    put_cordon(w, worker);
    json_put_when(w, "registered_at", worker->registered_ms);
    json_put_when(w, "seen_at", at_ms - view->silent_ms);
}

void worker_view_print(struct json_writer *w, const struct worker_view *view, int64_t at_ms,
                       int64_t away_ms)
{
    json_open(w);
    put_worker(w, view, at_ms, away_ms);
    json_close(w);
}

static void put_run(struct json_writer *w, const struct worker_run *run)
{
    json_open(w);
    json_put_id(w, "execution_id", ID_EXEC, run->exec_id);
    json_put_id(w, "job_id", ID_JOB, run->job_id);
    json_put_text(w, "job_name", run->job_name);
    json_put_str(w, "queue", run->queue);
    json_put_int(w, "attempt", run->attempt);
    json_put_when(w, "started_at", run->started_ms);
    json_put_when(w, "lease_until", run->lease_until_ms);
    json_put_bool(w, "stopping", run->stopping);
    json_close(w);
}

void worker_view_print_whole(struct json_writer *w, const struct worker_view *view, int64_t at_ms,
                             int64_t away_ms)
{
    json_open(w);
    put_worker(w, view, at_ms, away_ms);
    json_put_bool(w, "draining", view->worker.draining);
    json_key(w, "executions");
    json_open_array(w);
    for (size_t i = 0; i < view->run_count; i++)
        put_run(w, &view->runs[i]);
    json_close_array(w);
    json_close(w);
}

void worker_cordon_print(struct json_writer *w, const struct worker_rec *worker)
{
    json_open(w);
    json_put_id(w, "worker_id", ID_WORKER, worker->id);
    json_put_str(w, "status",
                 worker->draining          ? STR("draining")
                 : worker->cordoned_ms > 0 ? STR("cordoned")
                                           : STR("active"));
    put_cordon(w, worker);
    json_close(w);
}

/* ---- streams */

struct str event_kind(const struct event *event)
{
    if (event->breaker.len > 0)
        return STR("breaker");
    if (event->sla != 0)
        return STR("sla");
    return event->queue_event == QUEUE_EVENT_NONE ? STR("execution") : STR("queue");
}

void event_print(struct json_writer *w, const struct event *event)
{
    char trace[TRACE_TEXT_MAX];
    if (event->breaker.len > 0) {
        breaker_event_print(w, event);
        return;
    }
    if (event->sla != 0) {
        sla_stream_print(w, event);
        return;
    }
    if (event->queue_event != QUEUE_EVENT_NONE) {
        queue_event_print(w, event);
        return;
    }
    json_open(w);
    json_put_when(w, "at", event->at_ms);
    json_put_id(w, "execution_id", ID_EXEC, event->exec_id);
    json_put_id(w, "job_id", ID_JOB, event->job_id);
    json_put_str(w, "queue", event->queue);
    json_put_str(w, "event", exec_event_name(event->event));
    json_put_str(w, "status", exec_state_name(event->state));
    if (trace_id_is_set(event->trace))
        json_put_str(w, "trace_id", trace_id_format(trace, event->trace));
    json_close(w);
}

void log_chunk_print(struct json_writer *w, const struct log_chunk *chunk)
{
    json_open(w);
    json_put_int(w, "attempt", chunk->attempt);
    json_put_str(w, "stream", log_stream_name(chunk->stream));
    json_put_when(w, "at", chunk->at_ms);
    json_put_str(w, "text", chunk->bytes);
    json_close(w);
}
