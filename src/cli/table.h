/* table.h - rows of text in columns, as wide as the terminal and no wider.
 *
 * Columns are as wide as their widest cell. When that is too much, the widest of the flexible
 * columns give way and their cells end in an ellipsis; when that is not enough, optional columns
 * are left out, the last ones first. The remaining columns (ids, mainly) are never cut: a cut id is
 * of no use. Widths are those of cells.h. */
#pragma once
#include "base/buf.h"

enum { TABLE_COLUMNS_MAX = 16 };

struct column {
    const char *title;
    bool flexible; /* may be cut */
    bool optional; /* may be left out */
    bool status;   /* its words have colours */
    bool right;    /* numbers */
};

struct table {
    const struct column *columns;
    size_t column_count;
    struct str *cells; /* owned array of borrowed texts, row by row */
    size_t cell_count;
    size_t cell_cap;
};

/* Where a table is printed to. */
struct paper {
    size_t width; /* 0: as wide as it gets */
    bool colour;
};

#define TABLE(columns_, count_) ((struct table){.columns = (columns_), .column_count = (count_)})
void table_free(struct table *t); /* also usable as CLEANUP(table_free) */

/* Cells come row by row, column by column. The text must live as long as the table. */
void table_add(struct table *t, struct str cell);
/* A line of titles and one per row, lines without blanks at their end. */
void table_print(const struct table *t, struct paper paper, struct buf *out);

/* Tells whether stdout is a terminal (COLUMNS, else what it says itself, else 80; colours unless
 * NO_COLOR is set) or a file or pipe, which gets everything, plain. */
struct paper table_paper(void);

/* The word in its colour, when it has one and the paper takes it. */
void table_add_status(struct buf *out, struct paper paper, struct str status);
