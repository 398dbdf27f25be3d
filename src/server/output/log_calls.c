#include "server/output/log_calls.h"
#include "loop/clock.h"
#include "server/cluster/forward.h"
#include "server/output/log_reader.h"
#include "server/output/output_log.h"
#include "store/store.h"
#include "wire/http/sse.h"

#include <stdlib.h>

/* What is asked for, and on its way. */
struct log_call {
    struct lines_call lines;
    struct lines_run run;  /* of an execution */
    struct follow *follow; /* NULL: lines are answered */
    uint64_t runs_max;     /* of a job */
};

/* The thread that knows lines finds its part of it there, too. */
static struct log_call *call_of(const struct request *r)
{
    return CONTAINER_OF((struct lines_call *)r->own, struct log_call, lines);
}

/* ---- parameters */

/* "TOKEN.SEQ" of the newest piece that the reader has. */
static bool parse_place(struct str text, struct log_place *ret_place)
{
    return str_to_u64(str_cut(&text, '.'), &ret_place->token) && str_to_u64(text, &ret_place->seq);
}

/* "TOKEN.SEQ.SKIP.COUNT": behind the newest line that the reader has. */
static bool parse_line_place(struct str text, struct line_place *ret_place)
{
    uint64_t *const parts[] = {&ret_place->token, &ret_place->seq, &ret_place->skip,
                               &ret_place->count};
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        struct str part = str_cut(&text, '.');
        if (!str_to_u64(part, parts[i]) || *parts[i] > INT64_MAX)
            return false;
    }
    return text.ptr == NULL && (ret_place->token == 0 || ret_place->seq > 0);
}

static void read_number(struct request *r, const char *name, uint64_t min, uint64_t max,
                        uint64_t *ret_value, struct field_errors *errors)
{
    struct str text;
    uint64_t value;
    if (!http_request_param(r->http, str_c(name), &text))
        return;
    if (str_to_u64(text, &value) && value >= min && value <= max)
        *ret_value = value;
    else
        field_error(errors, r->arena, str_c(name), "must be a number from %llu to %llu",
                    (unsigned long long)min, (unsigned long long)max);
}

static unsigned read_stream(struct request *r, struct field_errors *errors)
{
    struct str text;
    enum log_stream stream;
    if (!http_request_param(r->http, STR("stream"), &text))
        return 0;
    if (log_stream_parse(text, &stream))
        return stream;
    field_error(errors, r->arena, STR("stream"), "must be stdout, stderr or note");
    return 0;
}

static bool read_flag(struct request *r, const char *name, const char *yes, const char *no,
                      struct field_errors *errors)
{
    struct str text;
    if (!http_request_param(r->http, str_c(name), &text) || str_eq(text, str_c(no)))
        return false;
    if (!str_eq(text, str_c(yes)))
        field_error(errors, r->arena, str_c(name), "must be %s or %s", yes, no);
    return true;
}

/* "LINE", or "ATTEMPT.LINE" as `next_from` has it. */
static bool parse_from(struct str text, struct lines_call *call)
{
    uint64_t attempt = 0;
    if (str_index(text, '.') < text.len &&
        (!str_to_u64(str_cut(&text, '.'), &attempt) || attempt < 1 || attempt > UINT32_MAX))
        return false;
    call->from_attempt = (uint32_t)attempt;
    return str_to_u64(text, &call->from) && call->from >= 1 && call->from <= INT64_MAX;
}

/* *ret_begins: not at the beginning. */
static void read_lines_params(struct request *r, struct lines_call *call, bool *ret_begins,
                              struct field_errors *errors)
{
    struct str text;
    uint64_t attempt = 0;
    read_number(r, "attempt", 1, UINT32_MAX, &attempt, errors);
    call->attempt = (uint32_t)attempt;
    call->stream = read_stream(r, errors);
    call->from = 1;
    *ret_begins = http_request_param(r->http, STR("from"), &text);
    if (*ret_begins && !parse_from(text, call))
        field_error(errors, r->arena, STR("from"),
                    "must be a line's number, from 1, or ATTEMPT.NUMBER");
    if (call->from_attempt != 0 && call->attempt != 0 && call->from_attempt != call->attempt)
        field_error(errors, r->arena, STR("from"), "is of another attempt than `attempt`");
    call->from_end = http_request_param(r->http, STR("tail"), &text);
    if (call->from_end && *ret_begins)
        field_error(errors, r->arena, STR("tail"), "cannot be given together with `from`");
    read_number(r, "tail", 0, LINES_MAX, &call->tail, errors);
    *ret_begins = *ret_begins || call->from_end;
    if (call->from_attempt == 0)
        call->from_attempt = call->attempt;
}

/* ---- lines */

static void answer_lines(struct request *r)
{
    r->form.type = LINES_TYPE;
    request_answer_body(r, 200);
}

static void read_attempts(const struct exec_rec *exec, const struct attempt_rec *attempts,
                          size_t count, struct lines_run *ret_run)
{
    *ret_run = (struct lines_run){
        .exec_id = exec->id,
        .status = exec_state_name(exec->state),
        .final = exec_is_final(exec->state),
        .live_token = exec->token,
        .attempts = attempts,
        .attempt_count = count,
    };
    ret_run->settled = ret_run->final && clock_wall_ms() - exec->finished_ms > LAST_CHUNK_WAIT_MS;
    if (count == 0)
        return;
    ret_run->last_token = attempts[count - 1].token;
    ret_run->last_seq = attempts[count - 1].usage.log_seq;
    if (ret_run->last_token == exec->token) /* it has ended */
        ret_run->live_token = 0;
}

static enum rc look_run(struct request *r, struct reader *reader, uint64_t exec_id,
                        struct lines_run *ret_run)
{
    struct exec_rec exec;
    struct attempt_rec *attempts;
    size_t count;
    TRY(reader->ops->exec(reader, exec_id, r->arena, &exec, &attempts, &count, &r->err));
    read_attempts(&exec, attempts, count, ret_run);
    return RC_OK;
}

static void look_execution(struct request *r, struct reader *reader)
{
    struct log_call *call = call_of(r);
    r->rc = look_run(r, reader, call->run.exec_id, &call->run);
}

static void send_lines(struct request *r)
{
    request_to_output_log(r, output_log_lines, answer_lines);
}

/* ---- text and events */

static void follow(struct request *r)
{
    struct log_call *call = call_of(r);
    r->follow = call->follow;
    /* It comes home only when there is nothing to follow, with the reason. */
    request_to_output_log(r, output_log_follow, NULL);
}

static void follow_from(struct request *r)
{
    struct log_call *call = call_of(r);
    call->follow->from = call->lines.place;
    follow(r);
}

static void find_place(struct request *r)
{
    struct log_call *call = call_of(r);
    call->lines.find_place = true;
    request_to_output_log(r, output_log_lines, follow_from);
}

/* Of a stream that broke off: goes on behind what the reader has, whatever else it asked for. True:
 * it does. */
static bool read_last_id(struct request *r, struct follow *f, struct field_errors *errors)
{
    struct str last = http_request_header(r->http, STR("Last-Event-ID"));
    if (last.len == 0)
        return false;
    bool ok =
        f->kind == FOLLOW_LINES ? parse_line_place(last, &f->from) : parse_place(last, &f->place);
    if (!ok)
        field_error(errors, r->arena, STR("Last-Event-ID"), "must be an id of this stream");
    return true;
}

static struct follow *follow_new(struct request *r, const struct lines_call *lines, bool events,
                                 bool by_lines)
{
    struct follow *f = ARENA_NEW(r->arena, struct follow);
    f->kind = !events ? FOLLOW_TEXT : by_lines ? FOLLOW_LINES : FOLLOW_OUTPUT;
    f->attempt = lines->attempt;
    f->stream = lines->stream;
    f->head_only = r->http->method == HTTP_METHOD_HEAD;
    return f;
}

static const char *type_of(const struct log_call *call)
{
    if (call->follow == NULL)
        return LINES_TYPE;
    return call->follow->kind == FOLLOW_TEXT ? "text/plain" : SSE_TYPE;
}

void log_call_execution(struct request *r)
{
    static const char *const known[] = {"stream", "attempt", "follow", "format",
                                        "from",   "tail",    "limit",  NULL};
    struct field_errors errors = {0};
    struct log_call *call = ARENA_NEW(r->arena, struct log_call);
    uint64_t exec_id;
    uint64_t limit = LINES_USUAL;
    bool begins;
    struct str ignored;
    if (!request_params_known(r, known) || !request_path_id(r, ID_EXEC, &exec_id))
        return;
    bool by_lines = read_flag(r, "format", "ndjson", "text", &errors);
    bool events = read_flag(r, "follow", "true", "false", &errors);
    read_lines_params(r, &call->lines, &begins, &errors);
    if (call->lines.from_end)
        limit = LINES_MAX;
    read_number(r, "limit", 1, LINES_MAX, &limit, &errors);
    if (events || !by_lines) {
        call->follow = follow_new(r, &call->lines, events, by_lines);
        call->follow->exec_id = exec_id;
        begins = !read_last_id(r, call->follow, &errors) && begins;
        if (http_request_param(r->http, STR("limit"), &ignored))
            field_error(&errors, r->arena, STR("limit"), "goes with format=ndjson, without follow");
    }
    call->run.exec_id = exec_id;
    call->lines.runs = &call->run;
    call->lines.count = 1;
    call->lines.limit = limit;
    r->own = &call->lines;
    if (errors.count > 0)
        request_fail_fields(r, &errors);
    else if (!request_accepts(r, type_of(call)) || (events && forward_to_owner(r, exec_id)))
        return; /* refused, or with the only server that hears of the end */
    else if (call->follow == NULL)
        request_to_query_first(r, look_execution, send_lines);
    else if (begins)
        request_to_query_first(r, look_execution, find_place);
    else
        follow(r);
}

/* ---- of a job */

static int by_start(const void *a, const void *b)
{
    const struct exec_rec *left = *(const struct exec_rec *const *)a;
    const struct exec_rec *right = *(const struct exec_rec *const *)b;
    if (left->started_ms != right->started_ms)
        return left->started_ms < right->started_ms ? -1 : 1;
    return left->id < right->id ? -1 : left->id > right->id;
}

/* Its newest executions that have started, the newest last. */
static enum rc find_started(struct request *r, struct reader *reader, uint64_t job_id,
                            const struct exec_rec ***ret_list, size_t *ret_count)
{
    const struct exec_rec **list =
        ARENA_ARRAY(r->arena, const struct exec_rec *, 2 * LOG_RUNS_LOOKED_AT);
    size_t count = 0;
    for (int unfinished = 0; unfinished < 2; unfinished++) {
        struct exec_page page;
        TRY(reader->ops->runs(reader, &job_id, 1, unfinished == 1, LOG_RUNS_LOOKED_AT, r->arena,
                              &page, &r->err));
        for (size_t i = 0; i < page.count && i < LOG_RUNS_LOOKED_AT; i++) {
            if (page.execs[i].started_ms > 0)
                list[count++] = &page.execs[i];
        }
    }
    if (count > 0)
        qsort(list, count, sizeof *list, by_start);
    *ret_list = list;
    *ret_count = count;
    return RC_OK;
}

static enum rc look_at_runs(struct request *r, struct reader *reader, struct log_call *call)
{
    struct job_rec job;
    uint64_t job_id = r->cmd.target.id;
    const struct exec_rec **started;
    size_t count;
    TRY(reader->ops->heads(reader, &job_id, 1, r->arena, &job, &r->err));
    if (job.id == 0)
        return err_set(&r->err, RC_NOT_FOUND, "there is no job %s", ID_TEXT(ID_JOB, job_id));
    TRY(find_started(r, reader, job_id, &started, &count));
    if (count > call->runs_max) {
        started += count - call->runs_max;
        count = call->runs_max;
    }
    call->lines.runs = ARENA_ARRAY(r->arena, struct lines_run, count);
    for (size_t i = 0; i < count; i++)
        TRY(look_run(r, reader, started[i]->id, &call->lines.runs[i]));
    call->lines.count = count;
    return RC_OK;
}

static void look_job(struct request *r, struct reader *reader)
{
    r->rc = look_at_runs(r, reader, call_of(r));
}

void log_call_job(struct request *r)
{
    static const char *const known[] = {"runs", "tail", "stream", NULL};
    struct field_errors errors = {0};
    struct log_call *call = ARENA_NEW(r->arena, struct log_call);
    if (!request_params_known(r, known) || !request_path_id(r, ID_JOB, &r->cmd.target.id))
        return;
    call->runs_max = LOG_RUNS_USUAL;
    call->lines = (struct lines_call){.named = true,
                                      .from_end = true,
                                      .tail = LOG_RUN_TAIL_USUAL,
                                      .limit = LINES_MAX,
                                      .stream = read_stream(r, &errors)};
    read_number(r, "runs", 1, LOG_RUNS_MAX, &call->runs_max, &errors);
    read_number(r, "tail", 1, LOG_RUN_TAIL_MAX, &call->lines.tail, &errors);
    r->own = &call->lines;
    if (errors.count > 0)
        request_fail_fields(r, &errors);
    else if (request_accepts(r, LINES_TYPE))
        request_to_query_first(r, look_job, send_lines);
}
