#include "server/api/api.h"
#include "server/api/job_document.h"
#include "server/call/shown.h"
#include "server/output/output_log.h"
#include "server/turn/idempotency.h"
#include "server/view/exec_traces.h"
#include "server/view/job_view.h"
#include "wire/json/fields.h"
#include "wire/message/record_json.h"
#include "wire/spec/ping_json.h"

enum { SLA_EVENTS_SHOWN_MAX = 100 }; /* the newest; all of them are in the list of their job */

static void look_execution(struct request *r, struct reader *reader)
{
    struct exec_rec exec;
    struct attempt_rec *attempts;
    size_t count;
    struct sla_page page;
    struct str name;
    r->rc =
        reader->ops->exec(reader, r->cmd.target.id, r->arena, &exec, &attempts, &count, &r->err);
    if (r->rc == RC_OK)
        r->rc = reader->ops->sla_events(reader, exec.job_id, exec.id,
                                        &(struct page){.limit = SLA_EVENTS_SHOWN_MAX}, r->arena,
                                        &page, &r->err);
    if (r->rc == RC_OK)
        r->rc = exec_names_read(reader, &exec, 1, r->arena, &name, &r->err);
    if (r->rc != RC_OK)
        return;
    exec_traces_fill(r->server, &exec, 1, r->arena);
    struct json_writer w = JSON_WRITER(&r->body);
    exec_print(&w, &exec, name, attempts, count, page.events, page.count);
    shown_keep(r, 0);
}

void api_execution(struct request *r)
{
    if (shown_read_alone(r, &exec_members) && request_path_id(r, ID_EXEC, &r->cmd.target.id))
        request_to_query(r, look_execution);
}

/* Begins the object that all answers share. */
static struct json_writer begin_answer(struct request *r)
{
    struct json_writer w = request_writer(r);
    json_open(&w);
    r->form.is_replayed = r->cmd.once.replayed;
    json_put_id(&w, "execution_id", ID_EXEC, r->cmd.reply.exec_id);
    json_put_id(&w, "job_id", ID_JOB, r->cmd.reply.job_id);
    json_put_str(&w, "status", exec_state_name(r->cmd.reply.exec_state));
    return w;
}

static void answer_cancelled(struct request *r)
{
    struct json_writer w = begin_answer(r);
    json_put_bool(&w, "stopping", r->cmd.reply.exec_state == EXEC_STOPPING);
    json_put_when(&w, "cancelled_at", r->cmd.reply.at_ms);
    json_close(&w);
    request_answer_body(r, 200);
}

void api_execution_cancel(struct request *r)
{
    if (request_target(r) && request_reason(r))
        request_to_turn(r, answer_cancelled);
}

/* Of what was made. */
static struct json_writer begin_created(struct request *r)
{
    char id[ID_TEXT_MAX];
    r->form.location =
        request_location(r, "executions", id_format(id, ID_EXEC, r->cmd.reply.exec_id));
    return begin_answer(r);
}

static void answer_retried(struct request *r)
{
    struct json_writer w = begin_created(r);
    json_put_id(&w, "retry_of", ID_EXEC, r->cmd.target.id);
    json_close(&w);
    request_answer_body(r, 201);
}

/* The body may be absent: then it runs with what it had. */
static bool read_edit(struct request *r)
{
    static const struct field table[] = {
        {.name = STR_INIT("payload"), .size = sizeof(struct str), .kind = FIELD_RAW},
    };
    struct field_errors errors = {0};
    const struct fields f = {.arena = r->arena, .errors = &errors};
    struct str payload = {0};
    struct json doc;
    struct err err;
    if (!request_json(r, true, &doc))
        return false;
    fields_read(&f, NULL, &doc, table, COUNT_OF(table), &payload);
    if (errors.count > 0) {
        request_fail_fields(r, &errors);
        return false;
    }
    if (job_payload_check(r, payload, &err) != RC_OK) {
        request_fail(r, err.rc, err.text);
        return false;
    }
    r->cmd.target.payload = payload;
    return true;
}

/* Sends it, when the body could be read; that is what its key stands for, as it was meant. */
static void run_once(struct request *r, request_step *done)
{
    if (!request_target(r) || !read_edit(r))
        return;
    r->cmd.once = idempotency_of_call(r, &r->cmd.target.payload, 1);
    request_to_turn(r, done);
}

/* Of an execution, or of one that is a dead letter. */
void api_retry(struct request *r)
{
    run_once(r, answer_retried);
}

static void answer_triggered(struct request *r)
{
    struct json_writer w = begin_created(r);
    json_close(&w);
    request_answer_body(r, 201);
}

void api_job_trigger(struct request *r)
{
    run_once(r, answer_triggered);
}

/* ---- pings */

static void answer_pinged(struct request *r)
{
    struct json_writer w = begin_created(r);
    json_put_when(&w, "recorded_at", r->cmd.reply.at_ms);
    json_close(&w);
    request_answer_body(r, 201);
}

/* The run is recorded; now what it printed is kept, under the name that this turn gave the run. A
 * server that dies in between is asked again with the same Idempotency-Key, and keeps it then: a
 * chunk that is there already stays as it is. */
static void keep_output(struct request *r)
{
    const struct ping *ping = r->cmd.target.ping;
    if (ping->output.len == 0) {
        answer_pinged(r);
        return;
    }
    struct log_chunk *chunk = ARENA_NEW(r->arena, struct log_chunk);
    *chunk = (struct log_chunk){
        .exec_id = r->cmd.reply.exec_id,
        .token = PING_TOKEN,
        .seq = 1,
        .attempt = 1,
        .stream = LOG_STDOUT,
        .at_ms = r->cmd.reply.at_ms,
        .bytes = ping->output,
    };
    r->output = (struct output_call){.chunks = chunk, .count = 1, .of_ping = true};
    request_to_output_log(r, output_log_keep, answer_pinged);
}

void api_job_ping(struct request *r)
{
    struct json doc;
    struct field_errors errors = {0};
    struct ping *ping = ARENA_NEW(r->arena, struct ping);
    if (!request_target(r) || !request_json(r, false, &doc))
        return;
    if (ping_parse(&doc, r->arena, ping, &errors) != RC_OK) {
        request_fail_fields(r, &errors);
        return;
    }
    r->cmd.target.ping = ping;
    r->cmd.once = idempotency_of_call(r, &r->http->body, 1);
    request_to_turn(r, keep_output);
}

/* ---- who may go on */

static void answer_fence(struct request *r)
{
    request_answer_empty(r, 204);
}

void api_execution_fence(struct request *r)
{
    static const char *const names[] = {"token", NULL};
    struct field_errors errors = {0};
    struct str token;
    if (!request_params_known(r, names) || !request_path_id(r, ID_EXEC, &r->cmd.target.id))
        return;
    if (!http_request_param(r->http, STR("token"), &token))
        field_error(&errors, r->arena, STR("token"), "is required");
    else if (!str_to_u64(token, &r->cmd.target.seq) || r->cmd.target.seq == 0)
        field_error(&errors, r->arena, STR("token"), "must be a number from 1 on");
    if (errors.count > 0)
        request_fail_fields(r, &errors);
    else
        request_to_turn(r, answer_fence);
}
