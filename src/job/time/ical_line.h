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

/* The next line that is not empty; false at the end, then RC_OK, or when it is none: RC_INVALID. */
enum rc ical_next(struct ical_source *source, struct ical_line *ret_line, bool *ret_more,
                  struct err *err);

/* The value of a parameter, without its quotes; empty when it is not there. */
struct str ical_param(const struct ical_line *line, struct str name);
/* Text with its escapes resolved: \n \, \; \\ */
struct str ical_text(struct str value, struct arena *arena);
