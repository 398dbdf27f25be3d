#include "server/api/job_document.h"
#include "base/when.h"
#include "server/turn/rules.h"
#include "wire/message/explain_json.h"
#include "wire/message/preview_json.h"
#include "wire/spec/spec_json.h"

bool job_intake(struct request *r)
{
    if (!atomic_load(&r->server->draining))
        return true;
    request_fail(r, RC_SHUTDOWN, "the server is shutting down");
    return false;
}

enum rc job_payload_check(const struct request *r, struct str payload, struct err *err)
{
    uint64_t max = r->server->options->payload_bytes_max;
    if (payload.len <= max)
        return RC_OK;
    return err_set(err, RC_TOO_LARGE, "the payload has %zu bytes; at most %llu are taken",
                   payload.len, (unsigned long long)max);
}

static enum rc read_document(struct request *r, const struct json *doc, uint64_t timeout_ms,
                             struct spec *ret_spec, struct submission *ret_item,
                             struct field_errors *errors, struct err *err)
{
    TRY(spec_parse(doc, r->arena, ret_spec, errors));
    if (ret_spec->timeout_ms == 0)
        ret_spec->timeout_ms = (int64_t)timeout_ms;
    TRY(job_payload_check(r, ret_spec->payload, err));
    struct rules rules;
    if (rules_make(r->server->zones, ret_spec, r->arena, &rules, err) != RC_OK) {
        field_error(errors, r->arena, STR("schedule.timezone"), "%s", err->text);
        return RC_INVALID;
    }
    *ret_item = rules_submission(ret_spec, &rules, r->who->name, r->arena);
    return RC_OK;
}

enum rc job_document_read(struct request *r, const struct json *doc, struct spec *ret_spec,
                          struct submission *ret_item, struct field_errors *errors, struct err *err)
{
    return read_document(r, doc, r->server->options->engine.timeout_default_ms, ret_spec, ret_item,
                         errors, err);
}

enum rc job_document_read_patched(struct request *r, const struct json *doc, struct spec *ret_spec,
                                  struct submission *ret_item, struct field_errors *errors,
                                  struct err *err)
{
    return read_document(r, doc, 0, ret_spec, ret_item, errors, err);
}

void job_document_refuse(struct request *r, enum rc rc, const struct field_errors *errors,
                         const struct err *err)
{
    if (rc == RC_INVALID && errors->count > 0) /* else it is about no field */
        request_fail_fields(r, errors);
    else
        request_fail(r, rc, err->text);
}

/* Behind what the clock does to the runs: what their calendars will do to them. */
static void add_calendar_notes(struct request *r, const struct submission *item,
                               struct preview *preview)
{
    size_t total = preview->note_count + item->note_count;
    struct preview_note *notes = ARENA_ARRAY(r->arena, struct preview_note, total);
    if (item->note_count == 0)
        return;
    for (size_t i = 0; i < preview->note_count; i++)
        notes[i] = preview->notes[i];
    for (size_t i = 0; i < item->note_count; i++) {
        const struct ruling *ruling = &item->notes[i].ruling;
        char until[WHEN_TEXT_MAX];
        notes[preview->note_count++] = (struct preview_note){
            item->notes[i].at_ms,
            arena_printf(r->arena, "the calendar '%.*s' will %s it, as it stands now, until %s",
                         STR_ARG(ruling->calendar),
                         ruling->verdict == CALENDAR_SKIPS ? "skip" : "hold",
                         when_format(until, ruling->until_ms).ptr)};
    }
    preview->notes = notes;
}

/* The same words and runs that a preview would have shown. An interval counts from its last
 * slot. */
static void put_slots(struct json_writer *w, struct request *r, const struct spec *spec,
                      const struct submission *item, int64_t from_ms, int64_t due_ms)
{
    struct preview preview;
    struct schedule schedule = *item->rules.schedule;
    size_t count = due_ms > 0 ? PREVIEW_RUNS_DEFAULT : 0;
    schedule.stagger_ms = schedule_stagger_ms(item->job_id, item->rules.stagger_ms);
    if (schedule.kind == SCHEDULE_EVERY && due_ms > 0)
        from_ms = due_ms - schedule.stagger_ms - schedule.every_ms;
    schedule.start_ms = from_ms;
    struct str zone = spec->when == WHEN_CRON ? spec->zone : STR("UTC");
    preview_make(&schedule, zone, from_ms, count, r->arena, &preview);
    add_calendar_notes(r, item, &preview);
    preview_put(w, &preview);
}

void job_document_put_plan(struct json_writer *w, struct request *r, const struct spec *spec,
                           const struct submission *item, int64_t from_ms, int64_t due_ms)
{
    if (spec_has_slots(spec)) {
        put_slots(w, r, spec, item, from_ms, due_ms);
        return;
    }
    json_put_str(w, "schedule_text", spec_schedule_text(spec, from_ms, r->arena));
    if (spec->when == WHEN_PING) {
        json_put_when(w, "ping_due_at", due_ms);
        due_ms = 0; /* nothing of it runs */
    }
    json_key(w, "next_runs");
    json_open_array(w);
    if (due_ms > 0)
        json_when(w, due_ms);
    json_close_array(w);
}

void job_document_put_created(struct json_writer *w, struct request *r, const struct spec *spec,
                              const struct submission *item)
{
    char id[ID_TEXT_MAX];
    if (!item->existing)
        r->form.location = request_location(r, "jobs", id_format(id, ID_JOB, item->job_id));
    json_put_id(w, "job_id", ID_JOB, item->job_id);
    json_put_id(w, "execution_id", ID_EXEC, item->exec_id);
    json_put_str(w, "status", job_state_name(item->state));
    json_put_when(w, "created_at", item->created_ms);
    if (item->existing) {
        json_put_bool(w, "existing", true);
        return;
    }
    estimate_put(w, &item->estimate);
    job_document_put_plan(w, r, spec, item, item->created_ms, item->due_ms);
}
