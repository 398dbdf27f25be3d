#include "wire/message/queue_json.h"
#include "wire/json/fields.h"

static void put_limit(struct json_writer *w, uint32_t concurrency)
{
    if (concurrency > 0)
        json_put_int(w, "concurrency", concurrency);
    else
        json_put_null(w, "concurrency");
}

/* All that has yet to run, for whatever it waits. */
static int64_t depth(const struct queue_view *view)
{
    int64_t depth = 0;
    for (int i = EXEC_NONE + 1; i < EXEC_STATES; i++) {
        if (!exec_is_final((enum exec_state)i) && !exec_is_leased((enum exec_state)i))
            depth += view->execs[i];
    }
    return depth;
}

void queue_view_print(struct json_writer *w, const struct queue_view *view)
{
    const struct queue_rec *queue = &view->queue;
    json_open(w);
    json_put_str(w, "name", queue->name);
    json_put_int(w, "depth", depth(view));
    json_put_int(w, "queued", view->execs[EXEC_QUEUED]);
    json_put_int(w, "scheduled", view->execs[EXEC_SCHEDULED]);
    json_put_int(w, "retrying", view->execs[EXEC_RETRYING]);
    json_put_int(w, "running", view->running);
    json_put_int(w, "oldest_age_ms", view->waited_ms);
    put_limit(w, queue->concurrency);
    json_put_bool(w, "paused", queue->paused);
    json_put_when(w, "paused_at", queue->paused_ms);
    json_put_text(w, "paused_by", queue->paused_by);
    json_put_when(w, "changed_at", queue->changed_ms);
    json_put_text(w, "changed_by", queue->changed_by);
    json_close(w);
}

void queue_event_print(struct json_writer *w, const struct event *event)
{
    static const struct str names[] = {
        [QUEUE_PAUSED] = STR_INIT("pause"),
        [QUEUE_RESUMED] = STR_INIT("resume"),
        [QUEUE_LIMITED] = STR_INIT("limit"),
        [QUEUE_DELETED] = STR_INIT("delete"),
    };
    json_open(w);
    json_put_when(w, "at", event->at_ms);
    json_put_str(w, "queue", event->queue);
    json_put_str(w, "event", names[event->queue_event]);
    json_put_str(w, "actor", event->actor);
    json_put_bool(w, "paused", event->paused);
    put_limit(w, event->concurrency);
    json_close(w);
}

enum rc queue_name_check(struct str name, struct arena *arena, struct field_errors *errors)
{
    const struct fields f = {.arena = arena, .errors = errors};
    const struct field_place at = {.key = STR("queue")};
    const struct json text = {.kind = JSON_STRING, .string = name};
    return fields_text(&f, &at, &text, FIELD_WORD, 1, SPEC_NAME_MAX) ? RC_OK : RC_INVALID;
}

/* A null takes the limit away, while saying nothing would leave everybody guessing: so this is not
 * the usual optional field. */
enum rc queue_limit_parse(const struct json *doc, struct arena *arena, struct queue_wish *wish,
                          struct field_errors *errors)
{
    static const struct field limit_fields[] = {
        {FIELD("concurrency", struct queue_wish, concurrency), .kind = FIELD_INT, .min = 1,
         .max = SPEC_LIMIT_MAX},
    };
    const struct fields f = {.arena = arena, .errors = errors};
    const struct field_place at = {.key = STR("concurrency")};
    wish->set_concurrency = true;
    wish->concurrency = 0;
    fields_read(&f, NULL, doc, limit_fields, COUNT_OF(limit_fields), wish);
    if (doc->kind == JSON_OBJECT && json_get(doc, STR("concurrency")) == NULL)
        fields_fail(&f, &at, "is required: a number, or null for no limit");
    return errors->count == 0 ? RC_OK : RC_INVALID;
}
