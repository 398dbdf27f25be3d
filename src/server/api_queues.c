/* api_queues.c - queues: how full they are, and what somebody decided about them. */
#include "server/api.h"
#include "wire/queue_json.h"

enum { ANSWER_BYTES_MAX = 4096, LIST_BYTES_MAX = 16 << 20 };

/* The queue in the path, as it was meant. Answers the problem itself when it returns false. */
static bool read_name(struct request *r)
{
    struct field_errors errors = {0};
    if (!http_decode(r->arena, r->id, false, &r->cmd.queue.name))
        field_error(&errors, r->arena, STR("queue"),
                    "has a %% without two hexadecimal digits behind it");
    else
        (void)queue_name_check(r->cmd.queue.name, r->arena, &errors);
    if (errors.count == 0)
        return true;
    request_fail_fields(r, &errors);
    return false;
}

/* ---- one of them */

static void answer_queue(struct request *r)
{
    if (r->cmd.reply.rc != RC_OK) {
        request_fail(r, r->cmd.reply.rc, r->cmd.reply.err.text);
        return;
    }
    struct buf out = request_buf(r, ANSWER_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    queue_view_print(&w, r->cmd.reply.queues);
    request_answer(r, 200, buf_str(&out));
}

void api_queue(struct request *r)
{
    if (request_no_params(r) && read_name(r))
        request_to_turn(r, CMD_QUEUE, answer_queue);
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
        request_to_turn(r, CMD_QUEUE, answer_queue);
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
    request_to_turn(r, CMD_QUEUE, answer_queue);
}

void api_queue_pause(struct request *r)
{
    run_or_not(r, true);
}

void api_queue_resume(struct request *r)
{
    run_or_not(r, false);
}

/* ---- all of them, by name; the cursor is the last name of the page before */

static void print_page(struct request *r, struct json_writer *w, struct str cursor)
{
    const struct queue_view *queues = r->cmd.reply.queues;
    size_t count = r->cmd.reply.queue_count;
    size_t at = 0;
    while (at < count && str_cmp(queues[at].queue.name, cursor) <= 0)
        at++;
    size_t end = count - at > r->page.limit ? at + r->page.limit : count;
    json_key(w, "queues");
    json_open_array(w);
    for (; at < end; at++)
        queue_view_print(w, &queues[at]);
    json_close_array(w);
    json_put_text(w, "next_cursor", end < count ? queues[end - 1].queue.name : STR(""));
}

static void answer_queues(struct request *r)
{
    struct str cursor = STR("");
    if (r->cmd.reply.rc != RC_OK) {
        request_fail(r, r->cmd.reply.rc, r->cmd.reply.err.text);
        return;
    }
    (void)http_request_param(r->http, STR("cursor"), &cursor);
    r->body = BUF(LIST_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    print_page(r, &w, cursor);
    if (r->want_total) {
        json_put_int(&w, "total", (int64_t)r->cmd.reply.queue_count);
        json_put_bool(&w, "total_is_estimate", false);
    }
    json_close(&w);
    request_answer(r, 200, buf_str(&r->body));
}

static void check_cursor(struct request *r, struct field_errors *errors)
{
    struct field_errors of_name = {0};
    struct str cursor;
    if (http_request_param(r->http, STR("cursor"), &cursor) &&
        queue_name_check(cursor, r->arena, &of_name) != RC_OK)
        field_error(errors, r->arena, STR("cursor"), "is not a next_cursor of this list");
}

void api_queues(struct request *r)
{
    static const char *const params[] = {"limit", "cursor", "count", NULL};
    struct field_errors errors = {0};
    if (!request_params_known(r, params))
        return;
    request_page(r, &errors);
    check_cursor(r, &errors);
    if (errors.count > 0)
        request_fail_fields(r, &errors);
    else
        request_to_turn(r, CMD_QUEUES, answer_queues);
}
