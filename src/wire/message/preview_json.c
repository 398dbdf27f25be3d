#include "wire/message/preview_json.h"
#include "base/when.h"

void preview_put(struct json_writer *w, const struct preview *preview)
{
    char text[WHEN_TEXT_MAX];
    json_put_str(w, "schedule_text", preview->text);
    json_put_str(w, "timezone", preview->zone_name);
    json_key(w, "next_runs");
    json_open_array(w);
    for (size_t i = 0; i < preview->run_count; i++)
        json_when(w, preview->runs[i].at_ms);
    json_close_array(w);
    json_key(w, "next_runs_local");
    json_open_array(w);
    for (size_t i = 0; i < preview->run_count; i++)
        json_str(w, when_format_local(text, preview->runs[i].at_ms, preview->runs[i].offset_s));
    json_close_array(w);
    json_key(w, "notes");
    json_open_array(w);
    for (size_t i = 0; i < preview->note_count; i++) {
        json_open(w);
        json_key(w, "at");
        json_when(w, preview->notes[i].at_ms);
        json_put_str(w, "text", preview->notes[i].text);
        json_close(w);
    }
    json_close_array(w);
}

void preview_print(struct json_writer *w, const struct preview *preview)
{
    json_open(w);
    preview_put(w, preview);
    json_close(w);
}
