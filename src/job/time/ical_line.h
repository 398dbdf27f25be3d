/* ical_line.h - the lines of an iCalendar file: unfolded, and taken apart. For `job/time/ical.c`.
 *
 * A line is NAME;PARAM=VALUE;...:VALUE. A long one is folded: the next line begins with a blank,
 * which is not part of it. */
#pragma once
#include "base/arena.h"

struct ical_line {
    size_t number; /* of its first part */
    struct str name;
    struct str params; /* ";TZID=Europe/Berlin", or empty */
    struct str value;
};

/* The rest of a file that is being read. */
struct ical_source {
    struct str rest;
    size_t line; /* how many were read */
    struct arena *arena;
};

/* The next line that is not empty; false at the end. RC_INVALID: it is none, and is behind us. */
enum rc ical_next(struct ical_source *source, struct ical_line *ret_line, bool *ret_more,
                  struct err *err);
/* True for BEGIN and END of a component; NULL: of any. */
bool ical_is_begin(const struct ical_line *line, const char *component);
bool ical_is_end(const struct ical_line *line);
/* Steps over the rest of a component of no interest, with all that is inside of it. RC_INVALID: the
 * file ends before it. */
enum rc ical_skip(struct ical_source *source, struct err *err);
enum rc ical_fail_end(const struct ical_source *source, struct err *err);

/* The value of a parameter, without its quotes; empty when it is not there. */
struct str ical_param(const struct ical_line *line, struct str name);
bool ical_is(const struct ical_line *line, const char *name);
/* Text with its escapes resolved: \n \, \; \\ */
struct str ical_text(struct str value, struct arena *arena);
