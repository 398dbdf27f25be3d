/* report.h - figures on paper: a table for people, or one JSON object for programs.
 *
 * A report has sections, a section has named values. Both forms say the same under the same names;
 * the table puts spaces where the names have underscores. */
#pragma once
#include "base/buf.h"
#include "wire/json/json.h"

enum report_format { REPORT_TABLE, REPORT_JSON };

struct report {
    enum report_format format;
    struct buf out;
    struct json_writer json;
    bool in_section;
};

void report_begin(struct report *r, enum report_format format);
/* Prints what there is; a table's sections were printed as they came. */
void report_end(struct report *r);

/* Ends the section before. */
void report_section(struct report *r, const char *name);
void report_text(struct report *r, const char *name, struct str value);
void report_count(struct report *r, const char *name, uint64_t value);
/* decimals: how many of them mean something. */
void report_figure(struct report *r, const char *name, double value, int decimals);
