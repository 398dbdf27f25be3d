/* row.c - what is in a cell of PostgreSQL: see store/sql/cell.h. */
#include "store/postgres/call.h"
#include "store/postgres/text.h"
#include "store/sql/cell.h"

#include <endian.h>
#include <string.h>

enum { OID_BOOL = 16, OID_BYTEA = 17, OID_INT8 = 20, OID_INT2 = 21, OID_INT4 = 23, OID_TEXT = 25 };

static uint64_t be64_at(const char *bytes)
{
    uint64_t big;
    memcpy(&big, bytes, sizeof big);
    return be64toh(big);
}

static uint32_t be32_at(const char *bytes)
{
    uint32_t big;
    memcpy(&big, bytes, sizeof big);
    return be32toh(big);
}

static uint16_t be16_at(const char *bytes)
{
    uint16_t big;
    memcpy(&big, bytes, sizeof big);
    return be16toh(big);
}

/* Integers are big-endian and, as booleans are, as many bytes as their type has. */
static struct cell number_cell(Oid type, const char *bytes, size_t len)
{
    if (type == OID_INT8 && len == 8)
        return (struct cell){.kind = CELL_NUMBER, .number = (int64_t)be64_at(bytes)};
    if (type == OID_INT4 && len == 4)
        return (struct cell){.kind = CELL_NUMBER, .number = (int32_t)be32_at(bytes)};
    if (type == OID_INT2 && len == 2)
        return (struct cell){.kind = CELL_NUMBER, .number = (int16_t)be16_at(bytes)};
    if (type == OID_BOOL && len == 1)
        return (struct cell){.kind = CELL_NUMBER, .number = (unsigned char)*bytes};
    return (struct cell){.kind = CELL_ODD};
}

static struct cell bytes_cell(enum cell_kind kind, struct str bytes)
{
    return (struct cell){.kind = kind, .len = (uint32_t)bytes.len, .bytes = bytes.ptr};
}

static struct cell pg_cell(const struct row *row, int at)
{
    const struct pg_call *use = row->from;
    if (PQgetisnull(use->result, row->number, at)) /* or beyond the last */
        return (struct cell){.kind = CELL_NULL};
    Oid type = PQftype(use->result, at);
    const char *ptr = PQgetvalue(use->result, row->number, at);
    struct str bytes = str_of(ptr, (size_t)PQgetlength(use->result, row->number, at));
    switch (type) {
    case OID_TEXT: return bytes_cell(CELL_TEXT, pg_text_decode(&use->pg->arena, bytes));
    case OID_BYTEA: return bytes_cell(CELL_BLOB, bytes);
    default: return number_cell(type, bytes.ptr, bytes.len);
    }
}

static struct row_origin pg_origin(const struct row *row)
{
    const struct pg_call *use = row->from;
    return (struct row_origin){"database", pg_label(use), postgres_statements[use->query].name};
}

struct row pg_row(const struct pg_call *use, size_t number, struct arena *arena)
{
    static const struct row_kind kind = {pg_cell, pg_origin};
    return (struct row){.kind = &kind, .from = use, .number = (int)number, .arena = arena};
}
