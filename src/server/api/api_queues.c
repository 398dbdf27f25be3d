/* api_queues.c - queues: how full they are, and what somebody decided about them. And targets that
 * keep failing, whose work may go on before their rest is over. */
#include "server/api/named_list.h"
#include "server/cluster/gather.h"
#include "wire/message/breaker_json.h"
#include "wire/message/queue_json.h"

enum { BREAKERS_BYTES_MAX = 16 << 20 };

/* ---- all of them */

static size_t count(const struct request *r)
{
    return r->cmd.reply.queue_count;
}

static struct str name_of(const struct request *r, size_t i)
{
    return r->cmd.reply.queues[i].queue.name;
}

static void print(const struct request *r, struct json_writer *w, size_t i)
{
    queue_view_print(w, &r->cmd.reply.queues[i]);
}

static const struct named_list list = {
    .key = "queues",
    .check = queue_name_check,
    .count = count,
    .name = name_of,
    .print = print,
};

void api_queues(struct request *r)
{
    named_list_answer(r, &list);
}

/* ---- one of them */

static bool read_name(struct request *r)
{
    return request_path_name(r, "queue", queue_name_check, &r->cmd.queue.name);
}

static struct str print_queue(struct request *r)
{
    struct json_writer w = request_writer(r);
    queue_view_print(&w, r->cmd.reply.queues);
    return buf_str(&r->body);
}

static void answer_queue(struct request *r)
{
    request_answer(r, 200, print_queue(r));
}

/* What was decided is the same for all servers, what waits is of all of them. */
static void answer_changed(struct request *r)
{
    struct str path = r->http->path;
    bool has_verb = r->cmd.queue.run != QUEUE_LEAVE;
    while (has_verb && path.ptr[--path.len] != '/')
        continue;
    gather_numbers(r, path, print_queue(r));
}

void api_queue(struct request *r)
{
    if (request_no_params(r) && read_name(r))
        request_to_turn(r, answer_queue);
}

void api_queue_change(struct request *r)
{
    struct json doc;
    struct field_errors errors = {0};
    if (!request_no_params(r) || !read_name(r) || !request_json(r, false, &doc))
        return;
    if (queue_limit_parse(&doc, r->arena, &r->cmd.queue, &errors) != RC_OK)
        request_fail_fields(r, &errors);
    else
        request_to_turn(r, answer_changed);
}

static void answer_deleted(struct request *r)
{
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_str(&w, "name", r->cmd.queue.name);
    json_put_when(&w, "deleted_at", r->cmd.reply.at_ms);
    json_close(&w);
    request_answer_body(r, 200);
}

void api_queue_delete(struct request *r)
{
    if (!request_no_params(r) || !read_name(r))
        return;
    r->cmd.queue.forget = true;
    request_to_turn(r, answer_deleted);
}

/* The body may be absent or {}: there is nothing to say besides. */
static bool read_nothing(struct request *r)
{
    struct json doc;
    struct field_errors errors = {0};
    if (!request_json(r, true, &doc))
        return false;
    for (size_t i = 0; i < doc.count; i++)
        field_error(&errors, r->arena, doc.members[i].key, "unknown field");
    if (errors.count == 0)
        return true;
    request_fail_fields(r, &errors);
    return false;
}

static void run_or_not(struct request *r, bool pause)
{
    if (!request_no_params(r) || !read_name(r) || !read_nothing(r))
        return;
    r->cmd.queue.run = pause ? QUEUE_PAUSE : QUEUE_RESUME;
    request_to_turn(r, answer_changed);
}

void api_queue_pause(struct request *r)
{
    run_or_not(r, true);
}

void api_queue_resume(struct request *r)
{
    run_or_not(r, false);
}

/* ---- breakers */

static void answer_breakers(struct request *r)
{
    r->body = BUF(BREAKERS_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    json_key(&w, "breakers");
    json_open_array(&w);
    for (size_t i = 0; i < r->cmd.reply.breaker_count; i++)
        breaker_view_print(&w, &r->cmd.reply.breakers[i]);
    json_close_array(&w);
    json_close(&w);
    request_answer_body(r, 200);
}

void api_breakers(struct request *r)
{
    if (request_no_params(r))
        request_to_turn(r, answer_breakers);
}

static void answer_reset(struct request *r)
{
    struct json_writer w = request_writer(r);
    breaker_view_print(&w, r->cmd.reply.breakers);
    request_answer_body(r, 200);
}

void api_breaker_reset(struct request *r)
{
    struct json doc;
    struct field_errors errors = {0};
    if (!request_no_params(r) || !request_json(r, false, &doc))
        return;
    if (breaker_target_parse(&doc, r->arena, &r->cmd.breaker.target, &errors) != RC_OK)
        request_fail_fields(r, &errors);
    else
        request_to_turn(r, answer_reset);
}
