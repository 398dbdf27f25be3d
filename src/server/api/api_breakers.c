/* api_breakers.c - targets that keep failing: a look at them, and going on before their rest is
 * over. */
#include "server/api/api.h"
#include "wire/message/breaker_json.h"

enum { LIST_BYTES_MAX = 16 << 20 };

static void answer_breakers(struct request *r)
{
    r->body = BUF(LIST_BYTES_MAX);
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
