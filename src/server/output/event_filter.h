/* event_filter.h - which events a reader wants, and may see.
 *
 * A filter names jobs, executions and queues, and kinds of events. An event fits when it is about
 * one of those that are named (or none is), and of one of the kinds (or none is). It is decided
 * before an event is printed, so what nobody wants costs a few comparisons. */
#pragma once
#include "base/arena.h"
#include "base/map.h"
#include "job/command/command.h"
#include "wire/json/problem.h"

enum { FILTER_VALUES_MAX = 100 }; /* in one request */

/* The events that a reader's key lets it see. There are no such limits yet. */
struct event_rights {
    bool all;
};

struct event_filter {
    struct arena arena; /* owned: the names of queues, and the text */
    struct map jobs;    /* owned, as the next two */
    struct map execs;
    struct strmap queues;
    unsigned kinds; /* a bit for each enum event_kind; 0: all */
    struct event_rights rights;
    struct str text; /* the same for the same filter: a query, sorted, without '?' */
};

enum event_kind { EVENT_EXECUTION, EVENT_QUEUE, EVENT_BREAKER, EVENT_SLA, EVENT_KINDS };

/* Adds a value of the parameter `name` (job, execution, queue, type). */
void event_filter_add(struct event_filter *f, const char *name, struct str value,
                      struct field_errors *errors, struct arena *arena);
/* After the last one: makes the text. */
void event_filter_end(struct event_filter *f);
void event_filter_free(struct event_filter *f);

/* It lets everything through, but for what the reader may not see. */
bool event_filter_is_empty(const struct event_filter *f);
/* No job, execution or queue; kinds of events perhaps. */
bool event_filter_names_nothing(const struct event_filter *f);
bool event_filter_fits(const struct event_filter *f, const struct event *event);
/* Whether a reader with these rights may see the event: the one place where that is decided. */
bool event_rights_see(const struct event_rights *rights, const struct event *event);
