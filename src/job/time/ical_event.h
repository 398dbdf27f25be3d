/* ical_event.h - what the events of an iCalendar file add to a calendar. For `job/time/ical.c`.
 *
 * An event is a set of occurrences: its DTSTART, those of its RRULE and its RDATEs, without its
 * EXDATEs and without those that another event of the same UID takes the place of (RECURRENCE-ID).
 * It is taken whole or not at all: one that is not understood has a problem, and adds nothing. */
#pragma once
#include "job/time/calendar.h"
#include "job/time/ical_zone.h"

/* As far as it matters. A line whose number is 0 was not there. */
struct ical_event {
    size_t number;      /* of the line it begins with */
    struct str uid;     /* as written */
    struct str summary; /* as written */
    struct str problem; /* empty: none so far */
    struct ical_line start;
    struct ical_line end;
    struct ical_line duration;
    struct ical_line rule;
    struct ical_line recurrence;  /* RECURRENCE-ID */
    VEC(struct ical_line) more;   /* RDATE */
    VEC(struct ical_line) except; /* EXDATE */
    bool cancelled;
    bool taken; /* it takes time, and was added */
};

enum { ICAL_EVENTS_MAX = 20000 };

struct ical_events {
    struct arena *arena;
    VEC(struct ical_event) items;
    struct ical_timezones zones;
    uint64_t *counted; /* what reading has cost, in all calendars of the file */
};

/* A line of the event; a problem of it becomes that of the event. */
void ical_event_line(struct ical_events *all, struct ical_event *event,
                     const struct ical_line *line);
/* The problem in err becomes that of the event, unless it has one. */
void ical_event_fail(struct ical_events *all, struct ical_event *event, const struct err *err);

/* Adds what all of them mean together. RC_TOO_LARGE when it is too much. */
enum rc ical_events_add(struct ical_events *all, struct calendar_draft *draft, struct err *err);
