/* cell.h - the cells of a database's row, one after the other, with distrust.
 *
 * A row may come from another version of belfry or from a damaged disk. A value that makes no sense
 * in its place (a NULL, a negative id, a number where text should be) marks the row as bad; who
 * reads goes on to the end and asks then.
 *
 * A store says what is in a cell (struct row_kind); what may be in it is said here and in row.h,
 * for every store that keeps rows. Inline, since a server begins with reading very many of them: a
 * call less per cell is more than it costs that a store is asked through a pointer. */
#pragma once
#include "base/arena.h"
#include "base/when.h"

enum cell_kind {
    CELL_NULL,
    CELL_NUMBER, /* of any width; a boolean is 0 or 1 */
    CELL_TEXT,
    CELL_BLOB,
    CELL_ODD, /* of a type that no column of ours has */
};

/* Two words, so that it travels in registers. */
struct cell {
    enum cell_kind kind;
    uint32_t len; /* of bytes */
    union {
        int64_t number;
        const char *bytes;
    };
};

struct row {
    const struct row_kind *kind;
    const void *from;    /* borrowed: what the store has its cells from */
    int number;          /* which of its rows, where they are numbered */
    int at;              /* the column to be read next */
    struct arena *arena; /* text is copied there; NULL: it is valid as long as the store says */
    bool bad;
};

/* For the log. */
struct row_origin {
    const char *noun; /* "file", "database" */
    const char *name;
    const char *query;
};

struct row_kind {
    struct cell (*cell)(const struct row *row, int at); /* a NULL beyond the last */
    struct row_origin (*origin)(const struct row *row);
};

static inline struct cell row_cell(struct row *row)
{
    return row->kind->cell(row, row->at++);
}

/* Of the column to be read next. */
static inline bool row_is_null(const struct row *row)
{
    return row->kind->cell(row, row->at).kind == CELL_NULL;
}

/* ---- numbers */

static inline int64_t cell_range(struct cell cell, struct row *row, int64_t min, int64_t max)
{
    if (cell.kind == CELL_NUMBER && cell.number >= min && cell.number <= max)
        return cell.number;
    row->bad = true;
    return min;
}

static inline int64_t row_range(struct row *row, int64_t min, int64_t max)
{
    return cell_range(row_cell(row), row, min, max);
}

/* For a column that is NULL where it has what is usual. */
static inline int64_t row_range_or(struct row *row, int64_t usual, int64_t min, int64_t max)
{
    struct cell cell = row_cell(row);
    return cell.kind == CELL_NULL ? usual : cell_range(cell, row, min, max);
}

static inline int64_t row_i64(struct row *row)
{
    return row_range(row, INT64_MIN, INT64_MAX);
}

static inline uint64_t row_u64(struct row *row)
{
    return (uint64_t)row_range(row, 0, INT64_MAX);
}

static inline uint64_t row_u64_or_null(struct row *row) /* NULL becomes 0 */
{
    return (uint64_t)row_range_or(row, 0, 0, INT64_MAX);
}

static inline uint32_t row_u32(struct row *row)
{
    return (uint32_t)row_range(row, 0, UINT32_MAX);
}

static inline int32_t row_i32(struct row *row)
{
    return (int32_t)row_range(row, INT32_MIN, INT32_MAX);
}

static inline uint64_t row_id(struct row *row) /* which is not 0 */
{
    return (uint64_t)row_range(row, 1, INT64_MAX);
}

static inline bool row_bool(struct row *row)
{
    return row_range(row, 0, 1) != 0;
}

static inline int64_t row_ms(struct row *row) /* a moment that can be printed, or 0 */
{
    return row_range(row, 0, WHEN_MAX_MS);
}

/* ---- bytes */

static inline struct str cell_bytes(struct cell cell, struct row *row, enum cell_kind wanted)
{
    if (cell.kind != wanted) {
        row->bad = true;
        return (struct str){0};
    }
    struct str bytes = str_of(cell.bytes, cell.len);
    return row->arena == NULL ? bytes : arena_str(row->arena, bytes);
}

static inline struct str row_text(struct row *row)
{
    return cell_bytes(row_cell(row), row, CELL_TEXT);
}

static inline struct str row_text_or_null(struct row *row) /* NULL becomes empty */
{
    struct cell cell = row_cell(row);
    return cell.kind == CELL_NULL ? (struct str){0} : cell_bytes(cell, row, CELL_TEXT);
}

static inline struct str row_blob(struct row *row)
{
    return cell_bytes(row_cell(row), row, CELL_BLOB);
}
