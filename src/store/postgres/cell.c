#include "store/postgres/cell.h"
#include "base/log.h"
#include "base/when.h"
#include "store/postgres/text.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { OID_BOOL = 16, OID_BYTEA = 17, OID_INT8 = 20, OID_INT2 = 21, OID_INT4 = 23, OID_TEXT = 25 };

struct pg_row pg_row_of(const struct pg_use *use, size_t number, struct arena *arena)
{
    return (struct pg_row){.use = use, .number = (int)number, .arena = arena};
}

/* The bytes of the next column; NULL, and a bad row, when there is none or it is NULL. */
static const char *next_cell(struct pg_row *row, Oid *ret_type, size_t *ret_len)
{
    const PGresult *result = pg_result(row->use);
    int at = row->at++;
    *ret_len = 0;
    *ret_type = 0;
    if (at >= PQnfields(result) || PQgetisnull(result, row->number, at)) {
        row->bad = true;
        return NULL;
    }
    *ret_type = PQftype(result, at);
    *ret_len = (size_t)PQgetlength(result, row->number, at);
    return PQgetvalue(result, row->number, at);
}

bool pg_row_is_null(const struct pg_row *row)
{
    return PQgetisnull(pg_result(row->use), row->number, row->at);
}

/* Integers of any width, and booleans: big-endian, as many bytes as their type has. */
static bool is_number(Oid type, size_t len)
{
    return (type == OID_INT8 && len == 8) || (type == OID_INT4 && len == 4) ||
           (type == OID_INT2 && len == 2) || (type == OID_BOOL && len == 1);
}

static uint64_t be64_at(const char *cell)
{
    uint64_t big;
    memcpy(&big, cell, sizeof big);
    return be64toh(big);
}

static uint32_t be32_at(const char *cell)
{
    uint32_t big;
    memcpy(&big, cell, sizeof big);
    return be32toh(big);
}

/* Of a column that is_number said yes to. */
static int64_t number_of(const char *cell, size_t len)
{
    switch (len) {
    case 8: return (int64_t)be64_at(cell);
    case 4: return (int32_t)be32_at(cell);
    case 2: return (int16_t)((unsigned char)cell[0] << 8 | (unsigned char)cell[1]);
    default: return (unsigned char)*cell;
    }
}

int64_t pg_row_range(struct pg_row *row, int64_t min, int64_t max)
{
    Oid type;
    size_t len;
    const char *cell = next_cell(row, &type, &len);
    if (cell == NULL || !is_number(type, len)) {
        row->bad = true;
        return min;
    }
    int64_t value = number_of(cell, len);
    if (value < min || value > max) {
        row->bad = true;
        return min;
    }
    return value;
}

int64_t pg_row_range_or(struct pg_row *row, int64_t usual, int64_t min, int64_t max)
{
    if (!pg_row_is_null(row))
        return pg_row_range(row, min, max);
    row->at++;
    return usual;
}

int64_t pg_row_i64(struct pg_row *row)
{
    return pg_row_range(row, INT64_MIN, INT64_MAX);
}

uint64_t pg_row_u64(struct pg_row *row)
{
    return (uint64_t)pg_row_range(row, 0, INT64_MAX);
}

uint32_t pg_row_u32(struct pg_row *row)
{
    return (uint32_t)pg_row_range(row, 0, UINT32_MAX);
}

uint64_t pg_row_u64_or_null(struct pg_row *row)
{
    return (uint64_t)pg_row_range_or(row, 0, 0, INT64_MAX);
}

int64_t pg_row_ms(struct pg_row *row)
{
    return pg_row_range(row, 0, WHEN_MAX_MS);
}

int32_t pg_row_i32(struct pg_row *row)
{
    return (int32_t)pg_row_range(row, INT32_MIN, INT32_MAX);
}

bool pg_row_bool(struct pg_row *row)
{
    return pg_row_range(row, 0, 1) != 0;
}

uint64_t pg_row_id(struct pg_row *row)
{
    return (uint64_t)pg_row_range(row, 1, INT64_MAX);
}

/* The bytes of a column of the given type. */
static struct str row_bytes(struct pg_row *row, Oid wanted)
{
    Oid type;
    size_t len;
    const char *cell = next_cell(row, &type, &len);
    if (cell == NULL || type != wanted) {
        row->bad = true;
        return (struct str){0};
    }
    return str_of(cell, len);
}

static struct str kept(const struct pg_row *row, struct str bytes)
{
    return row->arena == NULL ? bytes : arena_str(row->arena, bytes);
}

struct str pg_row_text(struct pg_row *row)
{
    return kept(row, pg_text_decode(pg_scratch(row->use), row_bytes(row, OID_TEXT)));
}

struct str pg_row_text_or_null(struct pg_row *row)
{
    if (!pg_row_is_null(row))
        return pg_row_text(row);
    row->at++;
    return (struct str){0};
}

struct str pg_row_blob(struct pg_row *row)
{
    return kept(row, row_bytes(row, OID_BYTEA));
}

bool pg_row_makes_sense(const struct pg_row *row)
{
    char id[24];
    struct pg_row first = {.use = row->use, .number = row->number};
    if (!row->bad)
        return true;
    snprintf(id, sizeof id, "%" PRId64, pg_row_i64(&first));
    log_warn("a row that makes no sense is left out", "database", pg_label(row->use), "query",
             query_name(pg_query(row->use)), "first_column", id, NULL);
    return false;
}
