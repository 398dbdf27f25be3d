#include "wire/message/alert_json.h"
#include "base/id.h"
#include "wire/json/fields.h"

enum { PAGE_BYTES_MAX = 2048 };

static void print_about(struct json_writer *w, const struct alert_rec *alert)
{
    json_put_text(w, "queue", alert->queue);
    if (alert->job_id != 0)
        json_put_id(w, "job_id", ID_JOB, alert->job_id);
    if (alert->exec_id != 0)
        json_put_id(w, "execution_id", ID_EXEC, alert->exec_id);
    if (alert->trace.len > 0)
        json_put_str(w, "trace_id", alert->trace);
}

static void print_body(struct json_writer *w, const struct alert_rec *alert)
{
    json_put_id(w, "alert_id", ID_ALERT, alert->id);
    json_put_when(w, "at", alert->at_ms);
    json_put_str(w, "kind", alert_kind_name(alert->kind));
    json_put_str(w, "level", alert_level_name(alert->level));
    json_put_str(w, "key", alert->key);
    json_put_str(w, "text", alert->text);
    print_about(w, alert);
    json_put_int(w, "repeats", (int64_t)alert->repeats);
}

void alert_print(struct json_writer *w, const struct alert_rec *alert)
{
    json_open(w);
    print_body(w, alert);
    json_put_str(w, "state", alert_state_name(alert->state));
    if (alert->silenced_by != 0)
        json_put_id(w, "silenced_by", ID_SILENCE, alert->silenced_by);
    else
        json_put_null(w, "silenced_by");
    json_put_when(w, "acknowledged_at", alert->acked_ms);
    json_put_text(w, "acknowledged_by", alert->acked_by);
    json_put_text(w, "note", alert->ack_note);
    json_close(w);
}

/* The page of what it is about, the nearest first. */
static void put_page(struct json_writer *w, const struct alert_rec *alert, struct str pages)
{
    char bytes[PAGE_BYTES_MAX];
    char id[ID_TEXT_MAX];
    struct buf url = {.ptr = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    buf_add(&url, pages);
    if (alert->exec_id != 0) {
        buf_printf(&url, "/executions/%s", (id_format(id, ID_EXEC, alert->exec_id), id));
    } else if (alert->job_id != 0) {
        buf_printf(&url, "/jobs/%s", (id_format(id, ID_JOB, alert->job_id), id));
    } else if (alert->queue.len > 0) {
        buf_add(&url, STR("/queues/"));
        buf_add_encoded(&url, alert->queue);
    } else {
        buf_add(&url, STR("/alerts"));
    }
    json_put_str(w, "url", buf_str(&url));
}

void alert_message_print(struct json_writer *w, const struct alert_rec *alert, struct str pages)
{
    char type[64];
    struct buf text = {.ptr = type, .cap = sizeof type, .max = sizeof type};
    buf_printf(&text, "alert.%.*s", STR_ARG(alert_kind_name(alert->kind)));
    json_open(w);
    json_put_str(w, "type", buf_str(&text));
    json_put_when(w, "timestamp", alert->at_ms);
    json_key(w, "data");
    json_open(w);
    print_body(w, alert);
    if (pages.len > 0)
        put_page(w, alert, pages);
    json_close(w);
    json_close(w);
}

/* ---- acknowledging, and silences */

void silence_print(struct json_writer *w, const struct silence_rec *silence)
{
    json_open(w);
    json_put_id(w, "silence_id", ID_SILENCE, silence->id);
    json_put_str(w, "key", silence->key);
    json_put_when(w, "until", silence->until_ms);
    json_put_text(w, "reason", silence->reason);
    json_put_str(w, "actor", silence->actor);
    json_put_when(w, "created_at", silence->created_ms);
    json_close(w);
}

enum rc alert_ack_parse(const struct json *doc, struct arena *arena, struct str *ret_note,
                        struct field_errors *errors)
{
    struct ack_wish {
        struct str note;
    } wish = {0};
    static const struct field table[] = {
        {FIELD("note", struct ack_wish, note), .kind = FIELD_LINE, .max = ALERT_NOTE_BYTES_MAX},
    };
    const struct fields f = {.arena = arena, .errors = errors};
    fields_read(&f, NULL, doc, table, COUNT_OF(table), &wish);
    *ret_note = wish.note;
    return errors->count == 0 ? RC_OK : RC_INVALID;
}

enum rc silence_parse(const struct json *doc, struct arena *arena, struct silence_wish *ret_wish,
                      struct field_errors *errors)
{
    enum { KEY, UNTIL, FOR, REASON };
    static const struct field table[] = {
        [KEY] = {FIELD("key", struct silence_wish, key), .kind = FIELD_LINE, .required = true,
                 .min = 1, .max = SILENCE_KEY_BYTES_MAX},
        [UNTIL] = {FIELD("until", struct silence_wish, until_ms), .kind = FIELD_WHEN, .min = 1},
        [FOR] = {FIELD("for", struct silence_wish, for_ms), .kind = FIELD_DURATION, .min = 1,
                 .max = SILENCE_MAX_MS},
        [REASON] = {FIELD("reason", struct silence_wish, reason), .kind = FIELD_LINE,
                    .max = SILENCE_REASON_BYTES_MAX},
    };
    const struct fields f = {.arena = arena, .errors = errors};
    const struct field_place until = {.key = STR("until")};
    *ret_wish = (struct silence_wish){0};
    uint64_t seen = fields_read(&f, NULL, doc, table, COUNT_OF(table), ret_wish);
    if (fields_seen(seen, UNTIL) && fields_seen(seen, FOR))
        fields_fail(&f, &until, "cannot be combined with for: a silence has one end");
    else if (!fields_seen(seen, UNTIL) && !fields_seen(seen, FOR) && errors->count == 0)
        fields_fail(&f, &until, "is missing: a time, or for: a duration such as 2h");
    return errors->count == 0 ? RC_OK : RC_INVALID;
}
