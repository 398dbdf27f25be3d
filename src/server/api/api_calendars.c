/* api_calendars.c - calendars: times at which jobs are not to run. */
#include "server/api/api.h"
#include "server/turn/rules.h"
#include "wire/message/calendar_json.h"

#define ICAL_TYPE "text/calendar"

enum { LIST_BYTES_MAX = 4 << 20 };

static bool read_name(struct request *r, struct str *ret_name)
{
    return request_path_name(r, "calendar", calendar_name_check, ret_name);
}

/* ---- put */

/* What the server has read of it, between the steps. */
struct putting {
    struct almanac almanac;
    struct ical_facts facts;
};

static void answer_put(struct request *r)
{
    const struct putting *put = r->own;
    const struct calendar_rec rec = {
        .name = r->cmd.calendar.name,
        .version = r->cmd.reply.calendar_version,
        .policy = put->almanac.policy,
        .entry_count = put->almanac.entry_count,
        .changed_ms = r->cmd.reply.at_ms,
        .changed_by = r->cmd.actor,
    };
    struct json_writer w = request_writer(r);
    calendar_rec_print(&w, &rec, &put->facts);
    if (rec.version == 1)
        r->form.location = r->http->path;
    request_answer_body(r, rec.version == 1 ? 201 : 200);
}

static void put_document(struct request *r, const struct json *doc)
{
    struct field_errors errors = {0};
    const struct ical_zones zones = {.find = rules_zone, .arg = r->server->zones};
    struct putting *put = ARENA_NEW(r->arena, struct putting);
    if (doc->raw.len > CALENDAR_DOCUMENT_BYTES_MAX) {
        request_problem(r, 413, "the document has %zu bytes; at most %d are taken", doc->raw.len,
                        CALENDAR_DOCUMENT_BYTES_MAX);
        return;
    }
    if (calendar_parse(doc, &zones, r->arena, &put->almanac, &put->facts, &errors) != RC_OK) {
        request_fail_fields(r, &errors);
        return;
    }
    r->cmd.calendar.document = doc->raw;
    r->own = put;
    request_to_turn(r, answer_put);
}

/* A file of another program, as the document that says the same; what it cannot say stands in the
 * parameters. */
static void put_ical(struct request *r)
{
    CLEANUP(buf_free) struct buf text = BUF(LIST_BYTES_MAX * 2);
    struct json_writer w = JSON_WRITER(&text);
    struct json doc;
    struct err err;
    static const char *const params[] = {"policy", "timezone", NULL};
    if (!request_params_known(r, params) || !request_unpack(r))
        return;
    if (r->http->body.len > ICAL_BYTES_MAX) {
        request_problem(r, 413, "the file has %zu bytes; at most %d are taken", r->http->body.len,
                        ICAL_BYTES_MAX);
        return;
    }
    json_open(&w);
    for (size_t i = 0; params[i] != NULL; i++) {
        struct str value;
        if (http_request_param(r->http, str_c(params[i]), &value))
            json_put_str(&w, params[i], value);
    }
    json_put_str(&w, "ical", r->http->body);
    json_close(&w);
    if (json_parse(arena_str(r->arena, buf_str(&text)), r->arena, &doc, &err) != RC_OK)
        request_fail(r, err.rc, err.text);
    else
        put_document(r, &doc);
}

void api_calendar_put(struct request *r)
{
    struct str type = http_request_header(r->http, STR("Content-Type"));
    struct json doc;
    if (!read_name(r, &r->cmd.calendar.name))
        return;
    if (str_eq_nocase(str_trim(str_cut(&type, ';')), STR(ICAL_TYPE)))
        put_ical(r);
    else if (request_no_params(r) && request_json(r, false, &doc))
        put_document(r, &doc);
}

/* ---- delete */

static void answer_deleted(struct request *r)
{
    struct json_writer w = request_writer(r);
    json_open(&w);
    json_put_str(&w, "name", r->cmd.calendar.name);
    json_put_when(&w, "deleted_at", r->cmd.reply.at_ms);
    json_close(&w);
    request_answer_body(r, 200);
}

void api_calendar_delete(struct request *r)
{
    if (!request_no_params(r) || !read_name(r, &r->cmd.calendar.name))
        return;
    r->cmd.calendar.forget = true;
    request_to_turn(r, answer_deleted);
}

/* ---- look; on a query thread */

static void look_calendar(struct request *r, struct reader *reader)
{
    const struct str *name = r->own;
    const struct ical_zones zones = {.find = rules_zone, .arg = r->server->zones};
    struct calendar_rec rec;
    struct almanac almanac;
    struct ical_facts facts = {0};
    r->rc = reader->ops->calendar(reader, *name, r->arena, &rec, &r->err);
    if (r->rc != RC_OK)
        return;
    /* One that cannot be read any more is shown nevertheless: by it one sees why. */
    (void)calendar_read(rec.document, &zones, r->arena, &almanac, &facts, NULL);
    struct json_writer w = JSON_WRITER(&r->body);
    calendar_rec_print(&w, &rec, &facts);
}

void api_calendar(struct request *r)
{
    struct str *name = ARENA_NEW(r->arena, struct str);
    if (!request_no_params(r) || !read_name(r, name))
        return;
    r->own = name;
    request_to_query(r, look_calendar);
}

static void look_calendars(struct request *r, struct reader *reader)
{
    struct calendar_rec *calendars;
    size_t count;
    r->rc = reader->ops->calendars(reader, r->arena, &calendars, &count, &r->err);
    if (r->rc != RC_OK)
        return;
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    json_key(&w, "calendars");
    json_open_array(&w);
    for (size_t i = 0; i < count; i++)
        calendar_rec_print(&w, &calendars[i], NULL);
    json_close_array(&w);
    json_close(&w);
}

void api_calendars(struct request *r)
{
    if (request_no_params(r))
        request_to_query(r, look_calendars);
}
