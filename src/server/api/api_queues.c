/* api_queues.c - queues: how full they are, and what somebody decided about them. */
#include "server/api/named_list.h"
#include "server/cluster/gather.h"
#include "wire/message/queue_json.h"

enum { ANSWER_BYTES_MAX = 4096 };

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
    .kind = CMD_QUEUES,
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

/* False, and answered, when it did not succeed. */
static bool print_queue(struct request *r, struct str *ret_text)
{
    if (r->cmd.reply.rc != RC_OK) {
        request_fail(r, r->cmd.reply.rc, r->cmd.reply.err.text);
        return false;
    }
    struct buf out = request_buf(r, ANSWER_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    queue_view_print(&w, r->cmd.reply.queues);
    *ret_text = buf_str(&out);
    return true;
}

static void answer_queue(struct request *r)
{
    struct str text;
    if (print_queue(r, &text))
        request_answer(r, 200, text);
}

/* What was decided is the same for all servers, what waits is of all of them. */
static void answer_changed(struct request *r)
{
    struct str text;
    struct str path = r->http->path;
    bool has_verb = r->cmd.queue.run != QUEUE_LEAVE;
    while (has_verb && path.ptr[--path.len] != '/')
        continue;
    if (print_queue(r, &text))
        gather_numbers(r, path, text);
}

void api_queue(struct request *r)
{
    if (request_no_params(r) && named_list_path(r, &list, STR("queue"), &r->cmd.queue.name))
        request_to_turn(r, CMD_QUEUE, answer_queue);
}

void api_queue_change(struct request *r)
{
    struct json doc;
    struct field_errors errors = {0};
    if (!request_no_params(r) || !named_list_path(r, &list, STR("queue"), &r->cmd.queue.name) ||
        !request_json(r, false, &doc))
        return;
    if (queue_limit_parse(&doc, r->arena, &r->cmd.queue, &errors) != RC_OK)
        request_fail_fields(r, &errors);
    else
        request_to_turn(r, CMD_QUEUE, answer_changed);
}

static void answer_deleted(struct request *r)
{
    if (r->cmd.reply.rc != RC_OK) {
        request_fail(r, r->cmd.reply.rc, r->cmd.reply.err.text);
        return;
    }
    struct buf out = request_buf(r, ANSWER_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    json_open(&w);
    json_put_str(&w, "name", r->cmd.queue.name);
    json_put_when(&w, "deleted_at", r->cmd.reply.at_ms);
    json_close(&w);
    request_answer(r, 200, buf_str(&out));
}

void api_queue_delete(struct request *r)
{
    if (!request_no_params(r) || !named_list_path(r, &list, STR("queue"), &r->cmd.queue.name))
        return;
    r->cmd.queue.forget = true;
    request_to_turn(r, CMD_QUEUE, answer_deleted);
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
    if (!request_no_params(r) || !named_list_path(r, &list, STR("queue"), &r->cmd.queue.name) ||
        !read_nothing(r))
        return;
    r->cmd.queue.run = pause ? QUEUE_PAUSE : QUEUE_RESUME;
    request_to_turn(r, CMD_QUEUE, answer_changed);
}

void api_queue_pause(struct request *r)
{
    run_or_not(r, true);
}

void api_queue_resume(struct request *r)
{
    run_or_not(r, false);
}
