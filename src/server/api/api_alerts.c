/* api_alerts.c - acknowledging alerts, and silences. The list of alerts is one of api_lists.c. */
#include "loop/clock.h"
#include "server/api/api.h"
#include "wire/message/alert_json.h"

enum { LIST_BYTES_MAX = 16 << 20 }; /* as many silences as there may be, with long reasons */

static void answer_acked(struct request *r)
{
    struct json_writer w = request_writer(r);
    alert_print(&w, &r->cmd.reply.alert);
    request_answer_body(r, 200);
}

void api_alert_ack(struct request *r)
{
    struct field_errors errors = {0};
    struct json doc;
    if (!request_target(r) || !request_json(r, true, &doc))
        return;
    if (alert_ack_parse(&doc, r->arena, &r->cmd.target.reason, &errors) != RC_OK)
        request_fail_fields(r, &errors);
    else
        request_to_turn(r, answer_acked);
}

/* ---- silences */

static void answer_silence(struct request *r)
{
    char id[ID_TEXT_MAX];
    struct json_writer w = request_writer(r);
    silence_print(&w, &r->cmd.reply.silence);
    r->form.location =
        request_location(r, "alerts/silences", id_format(id, ID_SILENCE, r->cmd.reply.silence.id));
    request_answer_body(r, 201);
}

void api_silence_create(struct request *r)
{
    struct field_errors errors = {0};
    struct json doc;
    if (!request_no_params(r) || !request_json(r, false, &doc))
        return;
    if (silence_parse(&doc, r->arena, &r->cmd.silence_wish, &errors) != RC_OK)
        request_fail_fields(r, &errors);
    else
        request_to_turn(r, answer_silence);
}

static void answer_lifted(struct request *r)
{
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_id(&w, "silence_id", ID_SILENCE, r->cmd.reply.silence.id);
    json_put_str(&w, "key", r->cmd.reply.silence.key);
    json_put_when(&w, "lifted_at", r->cmd.reply.at_ms);
    json_close(&w);
    request_answer_body(r, 200);
}

void api_silence_delete(struct request *r)
{
    if (request_no_params(r) && request_path_id(r, ID_SILENCE, &r->cmd.target.id))
        request_to_turn(r, answer_lifted);
}

/* ---- look; on a query thread */

/* One that has ended may not be forgotten yet: it is over all the same. */
static bool read_silences(struct request *r, struct reader *reader,
                          struct silence_rec **ret_silences, size_t *ret_count)
{
    int64_t now_ms = clock_wall_ms();
    size_t found;
    *ret_count = 0;
    r->rc = reader->ops->silences(reader, r->arena, ret_silences, &found, &r->err);
    for (size_t i = 0; r->rc == RC_OK && i < found; i++) {
        if (silence_holds(&(*ret_silences)[i], now_ms))
            (*ret_silences)[(*ret_count)++] = (*ret_silences)[i];
    }
    return r->rc == RC_OK;
}

static void look_silences(struct request *r, struct reader *reader)
{
    struct silence_rec *silences;
    size_t count;
    if (!read_silences(r, reader, &silences, &count))
        return;
    r->body = BUF(LIST_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    json_key(&w, "silences");
    json_open_array(&w);
    for (size_t i = 0; i < count; i++)
        silence_print(&w, &silences[i]);
    json_close_array(&w);
    json_close(&w);
}

void api_silences(struct request *r)
{
    if (request_no_params(r))
        request_to_query(r, look_silences);
}

static void look_silence(struct request *r, struct reader *reader)
{
    struct silence_rec *silences;
    size_t count;
    size_t at = 0;
    if (!read_silences(r, reader, &silences, &count))
        return;
    while (at < count && silences[at].id != r->cmd.target.id)
        at++;
    if (at == count) {
        r->rc = err_set(&r->err, RC_NOT_FOUND,
                        "there is no silence %s; it was lifted, or has ended by itself",
                        ID_TEXT(ID_SILENCE, r->cmd.target.id));
        return;
    }
    struct json_writer w = JSON_WRITER(&r->body);
    silence_print(&w, &silences[at]);
}

void api_silence(struct request *r)
{
    if (request_no_params(r) && request_path_id(r, ID_SILENCE, &r->cmd.target.id))
        request_to_query(r, look_silence);
}
