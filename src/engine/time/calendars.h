/* calendars.h - times at which jobs are not to run. */
#pragma once
#include "base/arena.h"
#include "base/heap.h"
#include "base/map.h"
#include "engine/core/engine.h"
#include "job/time/almanac.h"

struct exec;
struct job;
struct touched;

/* The contents of a calendar, read. Never changed: a new version of the calendar is another one. */
struct book {
    struct arena arena; /* owned: of what follows */
    struct almanac almanac;
    uint32_t version;
    int64_t changed_ms;
    struct str changed_by;
};

struct calendar_values {
    struct book *book; /* owned; so is the one before, until the turn has ended. NULL: there is no
                        * such calendar (any more), or its record makes no sense */
};

/* A calendar by its name; gone with its book and the last definition that names it. */
struct named_calendar {
    struct calendar_values v;
    uint32_t users;   /* definitions */
    uint32_t reading; /* the newest of engine.readings that had it */
    struct touched *touched;
    struct str name;
};

/* The calendars that a job goes by. */
struct calendar_list {
    size_t count;
    struct calendar_ref {
        struct named_calendar *calendar;
        bool has_policy;
        enum calendar_policy policy;
    } items[];
};

struct calendars {
    struct strmap by_name; /* struct named_calendar */
    size_t book_count;     /* calendars with a book */
    struct heap held;      /* executions that a calendar holds, by (looked, id) */
    uint32_t changes;      /* so far; a held execution that has not seen them all is looked at */
};

/* ---- of definitions */

/* The calendars of a new definition; NULL: none. Unknown names are kept, and hold. */
struct calendar_list *calendars_join(struct engine *e, const struct rules *rules);
void calendars_leave(struct engine *e, struct calendar_list *list); /* NULL is fine */
/* The same list for another definition. */
struct calendar_list *calendars_copy(const struct calendar_list *list);
/* RC_INVALID when one of them is unknown. */
enum rc calendars_check(const struct engine *e, const struct rules *rules, struct err *err);

/* ---- of executions */

/* The ruling of a job's calendars about a moment. */
struct ruling calendars_rule(const struct job *job, int64_t at_ms);
/* The same in words, for a record: "calendar 'holidays', until 2026-12-26T00:00:00.000Z". */
struct str ruling_words(struct arena *arena, const struct ruling *ruling);
/* The execution's due time is when a calendar lets it go. */
bool exec_is_held(const struct exec *x);
/* Makes the execution wait, scheduled, until the ruling is over. */
void calendar_hold(struct engine *e, struct exec *x, const struct ruling *ruling);
/* For a job that runs once: true when its calendars keep x from starting now; x is then held or
 * skipped. */
bool calendar_stops(struct engine *e, struct exec *x);
/* Looks again, after a change, at held executions. Bounded: the rest comes with the next turn. */
void calendars_look(struct engine *e);
bool calendars_want_turn(const struct engine *e);
/* The job may go by others from now on: this turn looks at what they held. */
void calendars_edited(struct engine *e, struct job *job);
/* Adds to the reply how the next slots of a new job will fare. */
void calendars_preview(struct engine *e, struct command *cmd, struct submission *item,
                       const struct job *job);

/* ---- of calendars */

/* Notes for the delta which calendars the job goes by from now on. */
void calendars_seal(struct engine *e, const struct touched *t);
struct calendar_change calendar_changed(const struct touched *t);
void calendar_set(struct engine *e, struct named_calendar *calendar,
                  const struct calendar_values *to);
void calendar_forget_if_unused(struct engine *e, struct named_calendar *calendar);
void calendars_free(struct engine *e);
void book_free(struct book *book);
void ask_calendar(struct engine *e, struct command *cmd, struct question_list *list);
void decide_calendar(struct engine *e, struct command *cmd);
