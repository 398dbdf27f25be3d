#include "job/time/ical.h"

/* A file being read. */
struct reader {
    struct ical_source source;
    const struct ical_zones *zones;
    struct calendar_draft *draft;
    struct ical_facts *facts;
    size_t event_count; /* all, taken or not */
    uint64_t counted;
    struct err *err;
};

/* ---- what was left out */

static void warn(struct reader *r, const struct ical_event *event)
{
    struct arena *arena = r->draft->arena;
    if (r->facts->warning_count++ >= ICAL_WARNINGS_MAX)
        return;
    *VEC_PUSH(arena, &r->facts->warnings) = (struct ical_warning){
        .line = event->number,
        .uid = str_head(ical_text(event->uid, arena), ICAL_SHOWN_BYTES_MAX),
        .summary = str_head(ical_text(event->summary, arena), ICAL_SHOWN_BYTES_MAX),
        .message = event->problem,
    };
}

static void look_back(struct reader *r, const struct ical_events *events)
{
    for (size_t i = 0; i < events->items.len; i++) {
        const struct ical_event *event = &events->items.items[i];
        r->facts->event_count += event->taken;
        if (event->problem.len > 0 && !event->cancelled)
            warn(r, event);
    }
}

/* ---- the file */

static enum rc read_event(struct reader *r, struct ical_events *events)
{
    struct ical_line line;
    struct err err;
    if (r->event_count++ == ICAL_EVENTS_MAX)
        return err_set(r->err, RC_TOO_LARGE, "a calendar file has at most %d events",
                       ICAL_EVENTS_MAX);
    struct ical_event *event = VEC_PUSH(events->arena, &events->items);
    event->number = r->source.line;
    for (bool more;;) {
        if (ical_next(&r->source, &line, &more, &err) != RC_OK) {
            ical_event_fail(events, event, &err);
            continue;
        }
        if (!more)
            return ical_fail_end(&r->source, r->err);
        if (ical_is_end(&line))
            return RC_OK;
        if (ical_is_begin(&line, NULL))
            TRY(ical_skip(&r->source, r->err)); /* an alarm */
        else
            ical_event_line(events, event, &line);
    }
}

static void read_fact(struct reader *r, const struct ical_line *line)
{
    if (ical_is(line, "X-WR-CALNAME"))
        r->facts->name = ical_text(line->value, r->draft->arena);
    else if (ical_is(line, "X-WR-TIMEZONE"))
        r->facts->timezone = ical_text(line->value, r->draft->arena);
}

/* Zones may be defined behind the events that name them, and an event may take the place of an
 * occurrence of one that comes later: so nothing is added before all is read. */
static enum rc read_calendar(struct reader *r)
{
    struct arena *arena = r->draft->arena;
    struct ical_events events = {
        .arena = arena,
        .zones = {.system = r->zones, .arena = arena},
        .counted = &r->counted,
    };
    struct ical_line line;
    for (bool more;;) {
        TRY(ical_next(&r->source, &line, &more, r->err));
        if (!more)
            return ical_fail_end(&r->source, r->err);
        if (ical_is_end(&line))
            break;
        if (ical_is_begin(&line, "VEVENT"))
            TRY(read_event(r, &events));
        else if (ical_is_begin(&line, "VTIMEZONE"))
            TRY(ical_timezone_read(&events.zones, &r->source, r->err));
        else if (ical_is_begin(&line, NULL))
            TRY(ical_skip(&r->source, r->err));
        else
            read_fact(r, &line);
    }
    TRY(ical_events_add(&events, r->draft, r->err));
    look_back(r, &events);
    return RC_OK;
}

/* A file may hold several calendars, one behind the other. */
static enum rc read_file(struct reader *r)
{
    struct ical_line line;
    for (bool more, any = false;; any = true) {
        TRY(ical_next(&r->source, &line, &more, r->err));
        if (!more && any)
            return RC_OK;
        if (!more || !ical_is_begin(&line, "VCALENDAR"))
            return err_set(r->err, RC_INVALID, "line %zu: BEGIN:VCALENDAR is missing",
                           r->source.line);
        TRY(read_calendar(r));
    }
}

enum rc ical_read(struct str text, const struct ical_zones *zones, struct calendar_draft *draft,
                  struct ical_facts *ret_facts, struct err *err)
{
    struct err own;
    struct reader r = {
        .source = {.rest = text, .arena = draft->arena},
        .zones = zones,
        .draft = draft,
        .facts = ret_facts,
        .err = err != NULL ? err : &own,
    };
    *ret_facts = (struct ical_facts){0};
    if (text.len > ICAL_BYTES_MAX)
        return err_set(err, RC_TOO_LARGE, "a calendar file has at most %d bytes", ICAL_BYTES_MAX);
    TRY(read_file(&r));
    if (ret_facts->event_count > 0 || ret_facts->warning_count == 0)
        return RC_OK;
    struct str message = ret_facts->warnings.items[0].message;
    return err_set(err, RC_INVALID, "no event of the file can be taken: %.*s", STR_ARG(message));
}
