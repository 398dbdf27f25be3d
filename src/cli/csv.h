/* csv.h - rows for spreadsheets and scripts, as RFC 4180 says: fields between commas, quoted where
 * they must be, and lines that end with CR LF.
 *
 *     struct csv csv = {.out = &text};
 *     csv_add_text(&csv, name);
 *     csv_add_value(&csv, STR("17"));
 *     csv_end_row(&csv); */
#pragma once
#include "base/buf.h"

struct csv {
    struct buf *out; /* borrowed */
    size_t fields;   /* of the row so far */
};

/* Adds a text. A spreadsheet takes text that begins with = + - @, a tab or CR for a formula, so it
 * gets an apostrophe before it, by which spreadsheets know a plain text. */
void csv_add_text(struct csv *csv, struct str text);
/* Adds a number, or a word of our own; empty: nothing is known. */
void csv_add_value(struct csv *csv, struct str value);
void csv_end_row(struct csv *csv);
