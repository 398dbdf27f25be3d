/* row.c - what is in a cell of SQLite: see store/sql/cell.h. */
#include "store/sql/cell.h"
#include "store/sqlite/db.h"

/* However the bytes are encoded. */
static struct cell bytes_cell(enum cell_kind kind, sqlite3_value *value)
{
    const char *bytes = sqlite3_value_blob(value);
    return (struct cell){.kind = kind, .len = (uint32_t)sqlite3_value_bytes(value), .bytes = bytes};
}

/* As a value, which needs the lookup of a column once: without a mutex in the connection it may be
 * read as it is. */
static struct cell stmt_cell(const struct row *row, int at)
{
    const struct stmt *stmt = row->from;
    sqlite3_value *value = sqlite3_column_value(stmt->handle, at);
    int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER)
        return (struct cell){.kind = CELL_NUMBER, .number = sqlite3_value_int64(value)};
    if (type == SQLITE_TEXT)
        return bytes_cell(CELL_TEXT, value);
    if (type == SQLITE_BLOB)
        return bytes_cell(CELL_BLOB, value);
    return (struct cell){.kind = type == SQLITE_NULL ? CELL_NULL : CELL_ODD};
}

static struct row_origin stmt_origin(const struct row *row)
{
    const struct stmt *stmt = row->from;
    return (struct row_origin){"file", stmt->db->path, sqlite_statements[stmt->sql].name};
}

struct row stmt_row(const struct stmt *stmt, struct arena *arena)
{
    static const struct row_kind kind = {stmt_cell, stmt_origin};
    return (struct row){.kind = &kind, .from = stmt, .arena = arena};
}
