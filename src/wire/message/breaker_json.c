#include "wire/message/breaker_json.h"
#include "base/id.h"
#include "wire/json/fields.h"

void breaker_view_print(struct json_writer *w, const struct breaker_view *view)
{
    const struct breaker_rec *breaker = &view->breaker;
    json_open(w);
    json_put_str(w, "target", breaker->target);
    json_put_str(w, "state", breaker_state_name(breaker->state));
    json_put_int(w, "calls", view->calls);
    json_put_int(w, "failures", view->failures);
    json_put_int(w, "waiting", (int64_t)view->waiting);
    json_put_when(w, "opened_at", breaker->opened_ms);
    json_put_when(w, "probe_at", breaker->until_ms);
    if (breaker->probe != 0)
        json_put_id(w, "probe", ID_EXEC, breaker->probe);
    json_close(w);
}

void breaker_event_print(struct json_writer *w, const struct event *event)
{
    json_open(w);
    json_put_when(w, "at", event->at_ms);
    json_put_str(w, "target", event->breaker);
    json_put_str(w, "state", breaker_state_name(event->breaker_state));
    json_put_str(w, "actor", event->actor);
    json_close(w);
}

enum rc breaker_target_parse(const struct json *doc, struct arena *arena, struct str *ret_target,
                             struct field_errors *errors)
{
    enum { TARGET_BYTES_MAX = 512 }; /* a name and the word before it are far below */
    static const struct field table[] = {
        {.name = STR_INIT("target"),
         .size = sizeof(struct str),
         .kind = FIELD_TEXT,
         .required = true,
         .min = 1,
         .max = TARGET_BYTES_MAX},
    };
    const struct fields f = {.arena = arena, .errors = errors};
    fields_read(&f, NULL, doc, table, COUNT_OF(table), ret_target);
    return errors->count == 0 ? RC_OK : RC_INVALID;
}
