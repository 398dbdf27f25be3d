#include "wire/message/team_json.h"
#include "wire/json/fields.h"
#include "wire/message/queue_json.h"

void team_view_print(struct json_writer *w, const struct team_view *view)
{
    const struct team_rec *team = &view->team;
    json_open(w);
    json_put_str(w, "name", team->name);
    json_put_int(w, "running", view->running);
    if (team->concurrency > 0)
        json_put_int(w, "concurrency", team->concurrency);
    else
        json_put_null(w, "concurrency");
    json_put_when(w, "changed_at", team->changed_ms);
    json_put_text(w, "changed_by", team->changed_by);
    json_close(w);
}

enum rc team_name_check(struct str name, struct arena *arena, struct field_errors *errors)
{
    const struct fields f = {.arena = arena, .errors = errors};
    const struct field_place at = {.key = STR("team")};
    const struct json text = {.kind = JSON_STRING, .string = name};
    return fields_text(&f, &at, &text, FIELD_WORD, 1, SPEC_NAME_MAX) ? RC_OK : RC_INVALID;
}

enum rc team_limit_parse(const struct json *doc, struct arena *arena, struct team_wish *wish,
                         struct field_errors *errors)
{
    struct queue_wish same = {0};
    TRY(queue_limit_parse(doc, arena, &same, errors));
    wish->set_concurrency = true;
    wish->concurrency = same.concurrency;
    return RC_OK;
}
