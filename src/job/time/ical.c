#include "job/time/ical.h"
#include "job/time/ical_line.h"
#include "job/time/ical_value.h"

enum { DAY_S = 86400 };

/* One event, as far as it matters. A line whose number is 0 was not there. */
struct event {
    size_t number; /* the line it begins with */
    struct ical_line start;
    struct ical_line end;
    struct ical_line duration;
    struct ical_line rule;
    bool cancelled;
};

/* A file being read. */
struct reader {
    struct ical_source source;
    const struct ical_zones *zones;
    struct calendar_draft *draft;
    struct ical_facts *facts;
    struct err *err;
};

/* When something begins or ends, with the zone it was said in. */
struct point {
    struct ical_time time;
    const struct zone *zone; /* NULL: of who asks */
};

/* ---- values of an event */

static enum rc read_point(struct reader *r, const struct ical_line *line, struct point *ret_point)
{
    struct str tzid = ical_param(line, STR("TZID"));
    *ret_point = (struct point){.zone = NULL};
    if (!ical_time_parse(line->value, &ret_point->time))
        return err_set(r->err, RC_INVALID,
                       "line %zu: %.*s must be a time as in 20261225 or 20261120T220000Z",
                       line->number, STR_ARG(line->name));
    if (ret_point->time.kind == ICAL_UTC)
        ret_point->zone = zone_utc();
    if (ret_point->time.kind != ICAL_FLOATING || tzid.len == 0)
        return RC_OK;
    ret_point->time.kind = ICAL_ZONED;
    ret_point->zone = r->zones->find(r->zones->arg, tzid);
    if (ret_point->zone != NULL)
        return RC_OK;
    return err_set(r->err, RC_INVALID, "line %zu: there is no time zone '%.*s'", line->number,
                   STR_ARG(str_head(tzid, 100)));
}

/* An event lasts from DTSTART until DTEND, or so long, or for its day; without any of them no
 * time. */
static enum rc read_end(struct reader *r, const struct event *event, const struct point *start,
                        struct point *ret_end)
{
    int64_t length_s = start->time.kind == ICAL_DATE ? DAY_S : 0;
    *ret_end = *start;
    if (event->end.number != 0) {
        TRY(read_point(r, &event->end, ret_end));
        if ((ret_end->zone == NULL) != (start->zone == NULL) ||
            (ret_end->time.kind == ICAL_DATE) != (start->time.kind == ICAL_DATE))
            return err_set(r->err, RC_INVALID, "line %zu: DTEND must be of the kind of DTSTART",
                           event->end.number);
        return RC_OK;
    }
    if (event->duration.number != 0 && !ical_duration_parse(event->duration.value, &length_s))
        return err_set(r->err, RC_INVALID, "line %zu: DURATION must be as in P1DT12H or PT30M",
                       event->duration.number);
    ret_end->time.local_s += length_s;
    return RC_OK;
}

/* A local end that comes twice is the second one: nothing that was asked for is left out. */
static struct calendar_span span_of(const struct point *start, const struct point *end)
{
    if (start->zone == NULL)
        return (struct calendar_span){start->time.local_s, end->time.local_s};
    return (struct calendar_span){
        .begin_s = zone_from_local(start->zone, start->time.local_s).first_s,
        .end_s = zone_from_local(end->zone, end->time.local_s).last_s,
    };
}

static enum rc add_span(struct reader *r, const struct point *start, const struct point *end)
{
    struct calendar_span span = span_of(start, end);
    if (span.end_s <= span.begin_s) /* all of it in a gap */
        return RC_OK;
    return start->zone == NULL ? calendar_add_local(r->draft, span, r->err)
                               : calendar_add_moments(r->draft, span, r->err);
}

/* ---- events that come again */

/* UNTIL includes its day, and is in UTC when DTSTART has a zone. */
static int64_t last_of(const struct ical_rule *rule)
{
    const struct ical_time *until = &rule->until;
    if (until->kind == ICAL_DATE)
        return until->local_s + DAY_S - 1;
    if (until->kind != ICAL_UTC || rule->rule.zone == NULL)
        return until->local_s;
    return until->local_s + zone_span(rule->rule.zone, until->local_s).offset_s;
}

/* DTSTART is the first one, and counted, also where the rule would not have it. */
static enum rc add_rule(struct reader *r, const struct event *event, const struct point *start,
                        const struct point *end)
{
    struct ical_rule rule;
    int64_t ignored;
    if (ical_rule_parse(event->rule.value, &start->time, &rule, r->err))
        return err_note(r->err, "line %zu: RRULE", event->rule.number);
    if (end->zone != start->zone)
        return err_set(r->err, RC_INVALID,
                       "line %zu: DTEND must be in the zone of DTSTART when there is an RRULE",
                       event->end.number);
    rule.rule.zone = start->zone;
    rule.rule.start_s = start->time.local_s;
    rule.rule.last_s = rule.has_until ? last_of(&rule) : ZONE_EVER_S;
    rule.rule.length_s = end->time.local_s - start->time.local_s;
    struct calendar_rule endless = rule.rule;
    endless.last_s = ZONE_EVER_S;
    if (!calendar_rule_covers(&endless, start->time.local_s, &ignored)) {
        TRY(add_span(r, start, end));
        if (rule.count == 1)
            return RC_OK;
        rule.count -= rule.count > 0;
    }
    if (rule.count > 0)
        rule.rule.last_s = calendar_rule_begin(&rule.rule, rule.count);
    return calendar_add_rule(r->draft, &rule.rule, r->err);
}

static enum rc take_event(struct reader *r, const struct event *event)
{
    struct point start;
    struct point end;
    if (event->cancelled)
        return RC_OK;
    if (event->start.number == 0)
        return err_set(r->err, RC_INVALID, "line %zu: the event has no DTSTART", event->number);
    if (event->end.number != 0 && event->duration.number != 0)
        return err_set(r->err, RC_INVALID, "line %zu: DTEND and DURATION exclude each other",
                       event->end.number);
    TRY(read_point(r, &event->start, &start));
    TRY(read_end(r, event, &start, &end));
    struct calendar_span span = span_of(&start, &end);
    bool same_zone = end.zone == start.zone;
    int64_t length_s =
        same_zone ? end.time.local_s - start.time.local_s : span.end_s - span.begin_s;
    if (length_s < 0)
        return err_set(r->err, RC_INVALID, "line %zu: the event ends before it begins",
                       event->number);
    if (length_s == 0)
        return RC_OK;
    r->facts->event_count++;
    return event->rule.number != 0 ? add_rule(r, event, &start, &end) : add_span(r, &start, &end);
}

/* ---- the file */

static enum rc keep(struct reader *r, struct ical_line *to, const struct ical_line *line)
{
    if (to->number != 0)
        return err_set(r->err, RC_INVALID, "line %zu: %.*s is there twice", line->number,
                       STR_ARG(line->name));
    *to = *line;
    return RC_OK;
}

static enum rc read_property(struct reader *r, struct event *event, const struct ical_line *line)
{
    static const char *const refused[] = {"EXDATE", "RDATE", "EXRULE", "RECURRENCE-ID"};
    if (str_eq_nocase(line->name, STR("DTSTART")))
        return keep(r, &event->start, line);
    if (str_eq_nocase(line->name, STR("DTEND")))
        return keep(r, &event->end, line);
    if (str_eq_nocase(line->name, STR("DURATION")))
        return keep(r, &event->duration, line);
    if (str_eq_nocase(line->name, STR("RRULE")))
        return keep(r, &event->rule, line);
    if (str_eq_nocase(line->name, STR("STATUS")))
        event->cancelled = str_eq_nocase(line->value, STR("CANCELLED"));
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        if (str_eq_nocase(line->name, str_c(refused[i])))
            return err_set(r->err, RC_INVALID, "line %zu: %s is not understood", line->number,
                           refused[i]);
    }
    return RC_OK;
}

static enum rc next_line(struct reader *r, struct ical_line *ret_line)
{
    bool more;
    TRY(ical_next(&r->source, ret_line, &more, r->err));
    if (more)
        return RC_OK;
    return err_set(r->err, RC_INVALID, "line %zu: the file ends before its END:VCALENDAR",
                   r->source.line);
}

static bool is_mark(const struct ical_line *line, struct str mark, const char *component)
{
    return str_eq_nocase(line->name, mark) &&
           (component == NULL || str_eq_nocase(line->value, str_c(component)));
}

/* Skips a component of no interest, up to its end and with all that is inside of it. */
static enum rc skip_component(struct reader *r)
{
    struct ical_line line;
    for (size_t depth = 1; depth > 0;) {
        TRY(next_line(r, &line));
        if (is_mark(&line, STR("BEGIN"), NULL))
            depth++;
        else if (is_mark(&line, STR("END"), NULL))
            depth--;
    }
    return RC_OK;
}

static enum rc read_event(struct reader *r, size_t number)
{
    struct event event = {.number = number};
    struct ical_line line;
    for (;;) {
        TRY(next_line(r, &line));
        if (is_mark(&line, STR("END"), NULL))
            return take_event(r, &event);
        if (is_mark(&line, STR("BEGIN"), NULL))
            TRY(skip_component(r)); /* an alarm */
        else
            TRY(read_property(r, &event, &line));
    }
}

static void read_fact(struct reader *r, const struct ical_line *line)
{
    if (str_eq_nocase(line->name, STR("X-WR-CALNAME")))
        r->facts->name = ical_text(line->value, r->draft->arena);
    else if (str_eq_nocase(line->name, STR("X-WR-TIMEZONE")))
        r->facts->timezone = ical_text(line->value, r->draft->arena);
}

static enum rc read_calendar(struct reader *r)
{
    struct ical_line line;
    for (;;) {
        TRY(next_line(r, &line));
        if (is_mark(&line, STR("END"), NULL))
            return RC_OK;
        if (is_mark(&line, STR("BEGIN"), "VEVENT"))
            TRY(read_event(r, line.number));
        else if (is_mark(&line, STR("BEGIN"), NULL))
            TRY(skip_component(r));
        else
            read_fact(r, &line);
    }
}

/* A file may hold several calendars, one behind the other. */
enum rc ical_read(struct str text, const struct ical_zones *zones, struct calendar_draft *draft,
                  struct ical_facts *ret_facts, struct err *err)
{
    struct reader r = {
        .source = {.rest = text, .arena = draft->arena},
        .zones = zones,
        .draft = draft,
        .facts = ret_facts,
        .err = err,
    };
    struct ical_line line;
    *ret_facts = (struct ical_facts){0};
    if (text.len > ICAL_BYTES_MAX)
        return err_set(err, RC_TOO_LARGE, "a calendar file has at most %d bytes", ICAL_BYTES_MAX);
    for (bool more, any = false;; any = true) {
        TRY(ical_next(&r.source, &line, &more, err));
        if (!more && any)
            return RC_OK;
        if (!more || !is_mark(&line, STR("BEGIN"), "VCALENDAR"))
            return err_set(err, RC_INVALID, "line %zu: BEGIN:VCALENDAR is missing", r.source.line);
        TRY(read_calendar(&r));
    }
}
