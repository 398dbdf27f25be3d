/* view.h - the API's values as people read them.
 *
 * A `struct view_field` says where in an answer a value is, what kind it is, and what people call
 * it. Lists use fields as columns, pages as labelled lines. */
#pragma once
#include "cli/table.h"
#include "wire/json/json.h"

enum view_kind {
    VIEW_TEXT,     /* as it is; numbers and booleans too */
    VIEW_STATUS,   /* one word, in colour */
    VIEW_WHEN,     /* "2026-11-16 08:00:00Z" */
    VIEW_DURATION, /* milliseconds as "41ms", "3.2s", "5m12s" */
    VIEW_MICROS,   /* microseconds as "850us", "1.9ms", "3.2s" */
    VIEW_BYTES,    /* "9.0 MiB" */
    VIEW_WHY,      /* of a whole execution: its error, or what was skipped and why */
    VIEW_WORK,     /* of a whole job: its command, or the handler it is for */
    VIEW_WORDS,    /* a list of texts: "mail, reports" */
    VIEW_PAIRS,    /* an object of texts: "env=prod, team=a" */
    VIEW_JSON,     /* as it came */
    VIEW_RATE,     /* a part of one as "12.3%" */
    VIEW_COUNT,    /* a number; nothing when it is 0 */
};

struct view_field {
    struct column column;
    enum view_kind kind;
    const char *key; /* "status", or "retry.max_retries" */
};

/* A tab, a line break or an escape sequence in somebody's text must not tear the table: they become
 * spaces. */
struct str view_one_line(struct str text, struct arena *arena);
/* One line, without control characters, in the arena; empty when the value is absent or null. */
struct str view_text(const struct view_field *field, const struct json *object,
                     struct arena *arena);

/* A table under construction from objects. */
struct view {
    const struct view_field *fields;
    size_t count;
    struct column columns[TABLE_COLUMNS_MAX];
    struct table table; /* its columns are the ones above: do not copy a view */
    struct arena *arena;
};

void view_start(struct view *v, const struct view_field *fields, size_t count, struct arena *arena);
void view_free(struct view *v); /* also usable as CLEANUP(view_free) */
void view_add_row(struct view *v, const struct json *object);
/* To stdout, as it wants it; prints `nothing` instead when there are no rows. */
void view_print(const struct view *v, const char *nothing);

/* "label  value", one line per field that has a value, to stdout. */
void view_print_page(const struct view_field *fields, size_t count, const struct json *object,
                     struct arena *arena);
