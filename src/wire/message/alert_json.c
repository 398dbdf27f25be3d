#include "wire/message/alert_json.h"
#include "base/id.h"

static void print_about(struct json_writer *w, const struct alert_rec *alert)
{
    json_put_text(w, "queue", alert->queue);
    if (alert->job_id != 0)
        json_put_id(w, "job_id", ID_JOB, alert->job_id);
    if (alert->exec_id != 0)
        json_put_id(w, "execution_id", ID_EXEC, alert->exec_id);
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
    json_close(w);
}

void alert_message_print(struct json_writer *w, const struct alert_rec *alert)
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
    json_close(w);
    json_close(w);
}
